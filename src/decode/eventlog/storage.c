/* RDDs and what is cached of them: RDDInfo, SparkListenerBlockUpdated, UnpersistRDD. */
#include <stdio.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/block_manager_id.h"
#include "decode/eventlog/decoders.h"
#include "decode/eventlog/rdd_info.h"
#include "decode/eventlog/stage_info.h"

PYRO_JSON_KEYS(keys, (ID, "RDD ID"), (NAME, "Name"), (SCOPE, "Scope"), (CALL_SITE, "Callsite"), (PARENTS, "Parent IDs"),
               (LEVEL, "Storage Level"), (BARRIER, "Barrier"), (DETERMINISTIC, "DeterministicLevel"),
               (PARTITIONS, "Number of Partitions"), (CACHED, "Number of Cached Partitions"), (MEMORY, "Memory Size"),
               (DISK, "Disk Size"));

struct level {
    bool disk, memory, off_heap, deserialized;
    int64_t replication;
};

static void decode_level(struct pyro_json_reader *json, struct level *level)
{
    PYRO_JSON_KEYS(level_keys, (LEVEL_USE_DISK, "Use Disk"), (LEVEL_USE_MEMORY, "Use Memory"),
                   (LEVEL_USE_OFF_HEAP, "Use Off Heap"), (LEVEL_DESERIALIZED, "Deserialized"),
                   (LEVEL_REPLICATION, "Replication"));
    struct pyro_json_object object;
    if (pyro_json_peek(json) != '{') {
        pyro_json_skip(json); /* Spark 1.0 writes a text */
        return;
    }
    pyro_json_enter_object(json, &object);
    for (int key; (key = PYRO_JSON_NEXT(json, &object, level_keys)) != PYRO_JSON_END;) {
        bool *flag = key == LEVEL_USE_DISK       ? &level->disk
                     : key == LEVEL_USE_MEMORY   ? &level->memory
                     : key == LEVEL_USE_OFF_HEAP ? &level->off_heap
                     : key == LEVEL_DESERIALIZED ? &level->deserialized
                                                 : NULL;
        if (flag)
            pyro_json_take_bool(json, flag);
        else if (key == LEVEL_REPLICATION)
            pyro_json_take_int(json, &level->replication);
        else
            pyro_json_skip(json);
    }
}

/* As in Spark's StorageLevel; MEMORY_AND_DISK_DESER is what SQL tables call MEMORY_AND_DISK. */
static struct pyro_slice level_name(struct pyro_builder *builder, const struct level *level)
{
    char name[48];
    const char *medium = level->off_heap                ? "OFF_HEAP"
                         : level->memory && level->disk ? "MEMORY_AND_DISK"
                         : level->memory                ? "MEMORY_ONLY"
                                                        : "DISK_ONLY";
    snprintf(name, sizeof(name), "%s%s%s", medium,
             level->memory && !level->off_heap && !level->deserialized ? "_SER" : "",
             level->replication > 1 ? "_2" : "");
    return pyro_intern_slice(builder->app->strings, pyro_slice_from(name));
}

/* The name where the scope looks as Spark writes it, with nothing to decode in it; else a null slice. */
static struct pyro_slice usual_scope_name(struct pyro_slice raw)
{
    static const char head[] = "{\\\"id\\\":\\\"", between[] = "\\\",\\\"name\\\":\\\"", tail[] = "\\\"}";
    enum { HEAD = sizeof(head) - 1, BETWEEN = sizeof(between) - 1, TAIL = sizeof(tail) - 1 };
    size_t at = HEAD;
    if (!pyro_slice_starts_with(raw, head) || !pyro_slice_ends_with(raw, tail))
        return PYRO_SLICE_NULL;
    while (at < raw.len && raw.ptr[at] >= '0' && raw.ptr[at] <= '9')
        at++;
    if (raw.len - at < BETWEEN + TAIL || memcmp(raw.ptr + at, between, BETWEEN) != 0)
        return PYRO_SLICE_NULL;
    struct pyro_slice name = {raw.ptr + at + BETWEEN, raw.len - at - BETWEEN - TAIL};
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '\\' || (unsigned char)name.ptr[i] >= 0x80)
            return PYRO_SLICE_NULL;
    return name;
}

/* The scope is JSON inside a string: {"id":"3","name":"mapPartitions"}. */
static struct pyro_slice scope_name(struct pyro_builder *builder, struct pyro_slice raw, const struct pyro_scan *scan)
{
    PYRO_JSON_KEYS(scope_keys, (SCOPE_ID, "id"), (SCOPE_NAME, "name"));
    struct pyro_slice name = PYRO_SLICE_NULL;
    struct pyro_strbuf padded;
    struct pyro_json_reader json;
    struct pyro_json_object object;
    if (!raw.ptr)
        return name;
    name = usual_scope_name(raw);
    if (name.ptr) {
        name = pyro_intern_slice(builder->app->strings, name);
        builder->failed |= !name.ptr;
        return name;
    }
    pyro_strbuf_init(&padded, builder->allocator);
    if (pyro_strbuf_reserve(&padded, 3 * raw.len + PYRO_SCAN_PADDING)) { /* a bad byte becomes three */
        pyro_text_decode(&padded, raw, &builder->app->integrity.replaced_characters);
        pyro_json_reader_start(&json, padded.data, padded.data + padded.len, scan);
        if (pyro_json_enter_object(&json, &object)) {
            for (int key; (key = PYRO_JSON_NEXT(&json, &object, scope_keys)) != PYRO_JSON_END;) {
                if (key == SCOPE_NAME && pyro_json_peek(&json) == '"')
                    pyro_build_text(builder, &json, &name);
                else
                    pyro_json_skip(&json);
            }
        }
    } else {
        builder->failed = true;
    }
    pyro_strbuf_done(&padded);
    return name;
}

static void raise(int64_t *column, int64_t value)
{
    if (value != PYRO_NONE && value > *column)
        *column = value;
}

/* Every stage names its RDDs again: their texts are read once. */
static bool is_described(const struct pyro_builder *builder, int64_t rdd)
{
    const uint64_t *row = pyro_map_get(&builder->rdds, (uint64_t)rdd);
    return row && builder->app->rdds.items[*row - 1].stage != PYRO_NONE;
}

/* Notes at which stages an RDD was persisted. */
static void mark_cached(struct pyro_builder *builder, struct pyro_rdd *rdd, const struct level *level, int64_t stage)
{
    if (!level->disk && !level->memory && !level->off_heap)
        return;
    rdd->cached_from = rdd->cached == 1 && rdd->cached_from < stage ? rdd->cached_from : stage;
    rdd->cached_to = rdd->cached == 1 && rdd->cached_to > stage ? rdd->cached_to : stage;
    rdd->cached = 1;
    if (!rdd->level.ptr)
        rdd->level = level_name(builder, level);
}

/* The id of the RDD, or PYRO_NONE. */
static int64_t decode_rdd(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_stage *of,
                          bool submission)
{
    struct pyro_rdd found;
    struct pyro_slice scope = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    struct level level = {0};
    int64_t stage = of->id;
    bool barrier = false;
    pyro_row_init(PYRO_TABLE_rdds, &found);
    if (!pyro_json_enter_object(json, &object))
        return PYRO_NONE;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        int64_t *number = key == ID           ? &found.id
                          : key == PARTITIONS ? &found.partitions
                          : key == CACHED     ? &found.cached_partitions
                          : key == MEMORY     ? &found.memory_bytes
                          : key == DISK       ? &found.disk_bytes
                                              : NULL;
        if (number)
            pyro_json_take_int(json, number);
        else if ((key == NAME || key == CALL_SITE || key == PARENTS) && is_described(builder, found.id))
            pyro_json_skip(json);
        else if (key == PARENTS && pyro_json_peek(json) == '[')
            pyro_decode_id_list(json, builder, &found.parent_ids, &found.parent_count);
        else if (key == NAME)
            pyro_build_text(builder, json, &found.name);
        else if (key == CALL_SITE)
            pyro_build_text(builder, json, &found.call_site);
        else if (key == SCOPE)
            pyro_json_take_string(json, &scope, NULL);
        else if (key == LEVEL)
            decode_level(json, &level);
        else if (key == BARRIER)
            pyro_json_take_bool(json, &barrier);
        else
            pyro_json_skip(json);
    }
    of->barrier |= barrier && !json->error;
    if (json->error || builder->failed || found.id == PYRO_NONE)
        return PYRO_NONE;
    struct pyro_rdd *rdd = pyro_build_rdd(builder, found.id);
    if (!rdd)
        return PYRO_NONE;
    if (rdd->stage == PYRO_NONE) { /* the first stage that names it */
        rdd->stage = stage;
        rdd->name = found.name;
        rdd->call_site = found.call_site;
        rdd->partitions = found.partitions;
        rdd->operation = scope_name(builder, scope, json->scan);
        rdd->parent_ids = found.parent_ids;
        rdd->parent_count = found.parent_count;
    }
    mark_cached(builder, rdd, &level, stage);
    rdd->stages += submission;
    raise(&rdd->cached_partitions, found.cached_partitions);
    raise(&rdd->memory_bytes, found.memory_bytes);
    raise(&rdd->disk_bytes, found.disk_bytes);
    return found.id;
}

static int newest_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Gives the stage its newest RDDs: those that it is about. */
static void keep_ids(struct pyro_builder *builder, struct pyro_stage *stage, int64_t *ids, size_t count)
{
    if (count == 0 || builder->failed)
        return;
    qsort(ids, count, sizeof(*ids), newest_first);
    count = count < PYRO_STAGE_RDDS ? count : PYRO_STAGE_RDDS;
    int64_t *kept = pyro_string_pool_alloc(builder->app->strings, count * sizeof(*kept));
    if (!kept) {
        builder->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        kept[i] = ids[count - 1 - i];
    stage->rdd_ids = kept;
    stage->rdd_count = (uint32_t)count;
}

bool pyro_decode_rdds(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_stage *stage,
                      bool submission)
{
    PYRO_VEC(int64_t) ids = {0};
    char next = pyro_json_peek(json);
    if (next != '[') { /* Spark 1.0 has a single RDD here */
        if (next == '{')
            decode_rdd(json, builder, stage, submission);
        return !json->error && !builder->failed;
    }
    pyro_json_enter_array(json);
    for (bool first = true; pyro_json_next_element(json, &first) && !builder->failed;) {
        int64_t id = decode_rdd(json, builder, stage, submission), *place = NULL;
        if (id != PYRO_NONE && (place = pyro_vec_push(&ids, builder->allocator)))
            *place = id;
        builder->failed |= id != PYRO_NONE && !place;
    }
    if (!json->error)
        keep_ids(builder, stage, ids.items, ids.count);
    pyro_vec_done(&ids, builder->allocator);
    return !json->error && !builder->failed;
}

bool pyro_decode_unpersist_rdd(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(unpersist_keys, (UNPERSIST_EVENT, "Event"), (UNPERSIST_RDD_ID, "RDD ID"));
    struct pyro_json_object object;
    int64_t id = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, unpersist_keys)) != PYRO_JSON_END;) {
        if (key == UNPERSIST_RDD_ID)
            pyro_json_take_int(json, &id);
        else
            pyro_json_skip(json);
    }
    struct pyro_rdd *rdd = json->error || id == PYRO_NONE ? NULL : pyro_build_rdd(builder, id);
    if (rdd)
        rdd->unpersisted = 1;
    return !json->error && !builder->failed;
}

/* ---- Block updates ---- */

struct block {
    struct pyro_slice executor, id;
    bool in_memory, on_disk;
    int64_t replication; /* 0: its executor, which is decommissioned, has moved it to another one */
    int64_t memory_bytes, disk_bytes;
};

static void decode_block_level(struct pyro_json_reader *json, struct block *block)
{
    PYRO_JSON_KEYS(level_keys, (LEVEL_USE_DISK, "Use Disk"), (LEVEL_USE_MEMORY, "Use Memory"),
                   (LEVEL_REPLICATION, "Replication"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, level_keys)) != PYRO_JSON_END;) {
        if (key == LEVEL_USE_DISK)
            pyro_json_take_bool(json, &block->on_disk);
        else if (key == LEVEL_USE_MEMORY)
            pyro_json_take_bool(json, &block->in_memory);
        else if (key == LEVEL_REPLICATION)
            pyro_json_take_int(json, &block->replication);
        else
            pyro_json_skip(json);
    }
}

static void decode_block(struct pyro_json_reader *json, struct pyro_builder *builder, struct block *block)
{
    PYRO_JSON_KEYS(block_keys, (BLOCK_BLOCK_MANAGER_ID, "Block Manager ID"), (BLOCK_BLOCK_ID, "Block ID"),
                   (BLOCK_STORAGE_LEVEL, "Storage Level"), (BLOCK_MEMORY_SIZE, "Memory Size"),
                   (BLOCK_DISK_SIZE, "Disk Size"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, block_keys)) != PYRO_JSON_END;) {
        if (key == BLOCK_BLOCK_MANAGER_ID)
            pyro_decode_block_manager_id(json, builder, &block->executor);
        else if (key == BLOCK_BLOCK_ID)
            pyro_json_take_string(json, &block->id, NULL);
        else if (key == BLOCK_STORAGE_LEVEL)
            decode_block_level(json, block);
        else if (key == BLOCK_MEMORY_SIZE)
            pyro_json_take_int(json, &block->memory_bytes);
        else if (key == BLOCK_DISK_SIZE)
            pyro_json_take_int(json, &block->disk_bytes);
        else
            pyro_json_skip(json);
    }
}

/* "rdd_RDD_PARTITION"; other blocks (broadcasts, shuffles, results) are not kept. */
static bool parse_block_id(struct pyro_slice id, int64_t *rdd, int64_t *partition)
{
    char text[64];
    int used = 0;
    long long numbers[2];
    if (!id.ptr || id.len >= sizeof(text))
        return false;
    memcpy(text, id.ptr, id.len);
    text[id.len] = '\0';
    if (sscanf(text, "rdd_%18lld_%18lld%n", &numbers[0], &numbers[1], &used) != 2 || (size_t)used != id.len)
        return false;
    *rdd = numbers[0];
    *partition = numbers[1];
    return true;
}

/* Sets what a block takes now and returns the change of the sum that it belongs to. */
static int64_t replace(struct pyro_builder *builder, struct pyro_map *map, uint64_t block, int64_t bytes, bool *was)
{
    uint64_t *place = pyro_map_put(map, block, NULL);
    if (!place) {
        builder->failed = true;
        return 0;
    }
    int64_t before = (int64_t)*place;
    *was = before > 0;
    *place = (uint64_t)bytes;
    return bytes - before;
}

static int64_t not_negative(int64_t value, bool there)
{
    /* Sizes beyond a petabyte are damage. */
    return there && value > 0 && value < (int64_t)1 << 50 ? value : 0;
}

static void add_change(int64_t *sum, int64_t change)
{
    if (__builtin_add_overflow(*sum, change, sum))
        *sum = change > 0 ? INT64_MAX : 0;
}

static void apply_block(struct pyro_builder *builder, const struct block *block, int64_t rdd_id, int64_t partition)
{
    struct pyro_rdd *rdd = pyro_build_rdd(builder, rdd_id);
    size_t row = rdd ? (size_t)(rdd - builder->app->rdds.items) : 0;
    while (rdd && builder->cached.count <= row)
        if (!pyro_vec_push(&builder->cached, builder->allocator))
            rdd = NULL;
    if (!rdd) {
        builder->failed = true;
        return;
    }
    uint64_t executor = pyro_intern(builder->app->strings, block->executor);
    uint64_t id = pyro_hash_mix(pyro_hash_mix((uint64_t)rdd_id ^ executor << 40) ^ (uint64_t)partition);
    struct pyro_cached *cached = &builder->cached.items[row];
    bool was_in_memory = false, was_on_disk = false, moved = block->replication == 0;
    add_change(&cached->memory_bytes,
               replace(builder, &builder->cached_memory, id,
                       not_negative(block->memory_bytes, block->in_memory && !moved), &was_in_memory));
    add_change(&cached->disk_bytes, replace(builder, &builder->cached_disk, id,
                                            not_negative(block->disk_bytes, block->on_disk && !moved), &was_on_disk));
    raise(&rdd->memory_bytes, cached->memory_bytes);
    raise(&rdd->disk_bytes, cached->disk_bytes);
    rdd->dropped_blocks += was_in_memory && !block->in_memory && !rdd->unpersisted;
}

bool pyro_decode_block_updated(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(event_keys, (EVENT_EVENT, "Event"), (EVENT_BLOCK_UPDATED_INFO, "Block Updated Info"));
    struct block block = {.replication = 1};
    struct pyro_json_object object;
    int64_t rdd, partition;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, event_keys)) != PYRO_JSON_END;) {
        if (key == EVENT_BLOCK_UPDATED_INFO)
            decode_block(json, builder, &block);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    if (parse_block_id(block.id, &rdd, &partition))
        apply_block(builder, &block, rdd, partition);
    return !builder->failed;
}
