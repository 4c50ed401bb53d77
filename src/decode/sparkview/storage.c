/* Cached RDDs and their blocks, where the log has block updates; as Spark counts them. */
#include <stdio.h>
#include <stdlib.h>

#include "decode/sparkview/listener.h"

#define GET pyro_tree_get

enum { NO_BLOCK = UINT32_MAX };

struct level {
    bool disk, memory, off_heap, valid;
    int64_t replicas;
};

static struct level read_level(const struct pyro_tree *level)
{
    struct level found = {.disk = pyro_tree_bool(GET(level, "Use Disk")),
                          .memory = pyro_tree_bool(GET(level, "Use Memory")),
                          .off_heap = pyro_tree_bool(GET(level, "Use Off Heap")) ||
                                      pyro_tree_bool(GET(level, "Use ExternalBlockStore")) ||
                                      pyro_tree_bool(GET(level, "Use Tachyon")),
                          .replicas = pyro_tree_int(GET(level, "Replication"), 1)};
    found.valid = (found.disk || found.memory) && found.replicas > 0;
    return found;
}

/* The level's words as Spark's UI writes them. */
static struct pyro_slice name_level(struct pyro_listener *listener, const struct pyro_tree *node,
                                    const struct level *level)
{
    char text[120];
    const char *memory = !level->memory ? "" : level->off_heap ? "Memory (off heap) " : "Memory ";
    int len = snprintf(text, sizeof(text), "%s%s%s%lldx Replicated", level->disk ? "Disk " : "", memory,
                       pyro_tree_bool(GET(node, "Deserialized")) ? "Deserialized " : "Serialized ",
                       (long long)level->replicas);
    return pyro_listener_keep(listener, (struct pyro_slice){text, (size_t)len});
}

/* ---- RDDs ---- */

void pyro_listener_rdds(struct pyro_listener *listener, const struct pyro_tree *rdds)
{
    struct pyro_history *history = listener->history;
    for (const struct pyro_tree *node = rdds ? rdds->first : NULL; node; node = node->next) {
        struct level level = read_level(GET(node, "Storage Level"));
        uint64_t *row = level.valid
                            ? pyro_map_put(&history->rdd_rows, (uint64_t)pyro_tree_int(GET(node, "RDD ID"), 0), NULL)
                            : NULL;
        history->failed |= level.valid && !row;
        if (!row || (*row && !history->rdds.items[*row - 1].gone))
            continue;
        struct pyro_history_rdd *rdd = pyro_vec_push(&history->rdds, NULL);
        history->failed |= !rdd;
        if (!rdd)
            return;
        *row = history->rdds.count;
        rdd->id = pyro_tree_int(GET(node, "RDD ID"), 0);
        rdd->name = pyro_listener_text(listener, GET(node, "Name"));
        rdd->partitions = pyro_tree_int(GET(node, "Number of Partitions"), 0);
        rdd->level = name_level(listener, GET(node, "Storage Level"), &level);
        pyro_map_init(&rdd->block_rows, NULL);
        pyro_map_init(&rdd->holder_rows, NULL);
    }
}

static struct pyro_history_rdd *find_rdd(const struct pyro_history *history, int64_t id)
{
    const uint64_t *row = pyro_map_get(&history->rdd_rows, (uint64_t)id);
    return row && *row && !history->rdds.items[*row - 1].gone ? &history->rdds.items[*row - 1] : NULL;
}

/* ---- Blocks ---- */

/* Nothing becomes negative. */
static void add(int64_t *value, int64_t more)
{
    if (__builtin_add_overflow(*value, more, value))
        *value = more > 0 ? INT64_MAX : 0;
    if (*value < 0)
        *value = 0;
}

struct update {
    struct level level;
    int64_t memory, disk; /* by how much more is used */
    struct pyro_slice block;
    int64_t partition;
};

static void count_in_executor(struct pyro_history_executor *executor, const struct update *update)
{
    if (executor->memory_known)
        add(update->level.off_heap ? &executor->used_off_heap : &executor->used_on_heap, update->memory);
    add(&executor->memory_used, update->memory);
    add(&executor->disk_used, update->disk);
}

/* Remembers where the executor holds something, for its removal. */
static void note(struct pyro_listener *listener, struct pyro_history_executor *executor,
                 const struct pyro_history_rdd *rdd, uint32_t block)
{
    uint64_t *place = pyro_vec_push(&executor->held, NULL);
    listener->history->failed |= !place;
    if (place)
        *place = (uint64_t)(rdd - listener->history->rdds.items) << 32 | block;
}

static struct pyro_history_block *enter_block(struct pyro_listener *listener, struct pyro_history_rdd *rdd,
                                              const struct update *update)
{
    uint64_t *row = pyro_map_put(&rdd->block_rows, (uint64_t)update->partition, NULL);
    if (row && *row && !rdd->blocks.items[*row - 1].gone)
        return &rdd->blocks.items[*row - 1];
    struct pyro_history_block *block = row ? pyro_vec_push(&rdd->blocks, NULL) : NULL;
    listener->history->failed |= !block;
    if (!block)
        return NULL;
    block->name = pyro_listener_keep(listener, update->block);
    *row = rdd->blocks.count;
    rdd->cached++;
    return block;
}

static size_t find_holder(const struct pyro_history_block *block, uint32_t executor)
{
    size_t i = 0;
    while (i < block->executors.count && block->executors.items[i] != executor)
        i++;
    return i;
}

static void take_from(struct pyro_history_block *block, size_t place)
{
    block->executors.count--;
    memmove(&block->executors.items[place], &block->executors.items[place + 1],
            (block->executors.count - place) * sizeof(*block->executors.items));
}

static void drop_block(struct pyro_history_rdd *rdd, struct pyro_history_block *block)
{
    block->gone = true;
    rdd->cached--;
}

/* By how many more blocks the executor holds. */
static int update_block(struct pyro_listener *listener, struct pyro_history_rdd *rdd,
                        struct pyro_history_executor *executor, uint32_t executor_row, const struct update *update)
{
    struct pyro_history_block *block = enter_block(listener, rdd, update);
    if (!block)
        return 0;
    size_t place = find_holder(block, executor_row);
    bool held = place < block->executors.count;
    int delta = update->level.valid ? (held ? 0 : 1) : -1;
    if (update->level.valid && !held) {
        uint32_t *added = pyro_vec_push(&block->executors, NULL);
        listener->history->failed |= !added;
        if (added)
            *added = executor_row;
        if (executor)
            note(listener, executor, rdd, (uint32_t)(block - rdd->blocks.items));
    } else if (!update->level.valid && held) {
        take_from(block, place);
    }
    if (block->executors.count) {
        add(&block->memory, update->memory);
        add(&block->disk, update->disk);
    } else {
        drop_block(rdd, block);
    }
    return delta;
}

static void update_holder(struct pyro_listener *listener, struct pyro_history_rdd *rdd,
                          struct pyro_history_executor *executor, uint32_t executor_row, const struct update *update)
{
    uint64_t *row = pyro_map_put(&rdd->holder_rows, executor_row, NULL);
    if (row && !*row) {
        struct pyro_history_holder *added = pyro_vec_push(&rdd->holders, NULL);
        if (added) {
            added->executor = executor_row;
            *row = rdd->holders.count;
            note(listener, executor, rdd, NO_BLOCK);
        }
    }
    listener->history->failed |= !row || !*row;
    if (listener->history->failed)
        return;
    struct pyro_history_holder *holder = &rdd->holders.items[*row - 1];
    add(&holder->memory, update->memory);
    add(&holder->disk, update->disk);
    if (executor->memory_known)
        add(update->level.off_heap ? &holder->off_heap : &holder->on_heap, update->memory);
}

static void drop_holder(struct pyro_history_rdd *rdd, uint32_t executor_row)
{
    uint64_t *row = pyro_map_get(&rdd->holder_rows, executor_row);
    if (row && *row) {
        rdd->holders.items[*row - 1].gone = true;
        *row = 0;
    }
}

/* What the executors of an RDD have left is shown as of the last change of one of its own blocks. */
static void note_rest(struct pyro_history_executor *executor)
{
    executor->memory_left = executor->max_memory - executor->memory_used;
    executor->on_heap_left = executor->on_heap - executor->used_on_heap;
    executor->off_heap_left = executor->off_heap - executor->used_off_heap;
}

static void update_rdd(struct pyro_listener *listener, struct pyro_history_rdd *rdd,
                       struct pyro_history_executor *executor, uint32_t executor_row, const struct update *update)
{
    int delta = update_block(listener, rdd, executor, executor_row, update);
    if (executor) {
        if (executor->rdd_blocks + delta > 0)
            update_holder(listener, rdd, executor, executor_row, update);
        else
            drop_holder(rdd, executor_row);
        note_rest(executor);
        executor->rdd_blocks += delta;
    }
    add(&rdd->memory, update->memory);
    add(&rdd->disk, update->disk);
}

/* "rdd_7_3": false when it is none. */
static bool parse_block(struct pyro_slice name, int64_t *ret_rdd, int64_t *ret_partition)
{
    char text[64];
    int used = 0;
    long long rdd, partition;
    if (name.len >= sizeof(text))
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    if (sscanf(text, "rdd_%lld_%lld%n", &rdd, &partition, &used) != 2 || text[used])
        return false;
    *ret_rdd = rdd;
    *ret_partition = partition;
    return rdd >= 0 && partition >= 0;
}

void pyro_history_on_block_updated(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history *history = listener->history;
    const struct pyro_tree *info = GET(event, "Block Updated Info"), *name = GET(info, "Block ID");
    struct update update = {.level = read_level(GET(info, "Storage Level")),
                            .block = name ? name->text : PYRO_SLICE_NULL};
    int64_t rdd_id = -1;
    bool of_rdd = name && parse_block(name->text, &rdd_id, &update.partition);
    if (!of_rdd && (!name || !pyro_slice_starts_with(name->text, "broadcast_")))
        return;
    update.memory = pyro_tree_int(GET(info, "Memory Size"), 0) * (update.level.memory ? 1 : -1);
    update.disk = pyro_tree_int(GET(info, "Disk Size"), 0) * (update.level.disk ? 1 : -1);
    struct pyro_slice id = pyro_listener_text(listener, GET(GET(info, "Block Manager ID"), "Executor ID"));
    uint32_t number = pyro_listener_number(listener, id);
    struct pyro_history_executor *executor = number == UINT32_MAX ? NULL : pyro_history_executor(history, number);
    /* A removed one holds nothing any more. */
    if (executor && !executor->active)
        executor = NULL;
    if (executor)
        count_in_executor(executor, &update);
    struct pyro_history_rdd *rdd = of_rdd ? find_rdd(history, rdd_id) : NULL;
    if (rdd)
        update_rdd(listener, rdd, executor, number, &update);
}

/* ---- Ends ---- */

static void subtract_share(struct pyro_history_rdd *rdd, struct pyro_history_block *block, uint32_t executor_row)
{
    size_t place = find_holder(block, executor_row);
    int64_t count = (int64_t)block->executors.count;
    if (block->gone || place == block->executors.count)
        return;
    if (count == 1) {
        add(&rdd->memory, -block->memory);
        add(&rdd->disk, -block->disk);
        take_from(block, place);
        drop_block(rdd, block);
        return;
    }
    add(&rdd->memory, -(block->memory / count));
    add(&rdd->disk, -(block->disk / count));
    take_from(block, place);
    add(&block->memory, -(block->memory / count));
    add(&block->disk, -(block->disk / count));
}

void pyro_listener_lose_blocks(struct pyro_listener *listener, struct pyro_history_executor *executor)
{
    uint32_t number = pyro_listener_number(listener, executor->id);
    for (size_t i = 0; i < executor->held.count; i++) {
        struct pyro_history_rdd *rdd = &listener->history->rdds.items[executor->held.items[i] >> 32];
        uint32_t block = (uint32_t)executor->held.items[i];
        if (rdd->gone)
            continue;
        drop_holder(rdd, number);
        if (block != NO_BLOCK)
            subtract_share(rdd, &rdd->blocks.items[block], number);
    }
    executor->held.count = 0;
}

static struct pyro_history_executor *find_active(const struct pyro_history *history, uint32_t number)
{
    struct pyro_history_executor *executor = pyro_history_executor(history, number);
    return executor && executor->active ? executor : NULL;
}

void pyro_history_on_unpersist_rdd(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history_rdd *rdd = find_rdd(listener->history, pyro_tree_int(GET(event, "RDD ID"), -1));
    if (!rdd)
        return;
    for (size_t i = 0; i < rdd->blocks.count; i++) {
        const struct pyro_history_block *block = &rdd->blocks.items[i];
        for (size_t e = 0; !block->gone && e < block->executors.count; e++) {
            struct pyro_history_executor *executor = find_active(listener->history, block->executors.items[e]);
            if (executor)
                executor->rdd_blocks--;
        }
    }
    bool off_heap = pyro_slice_find(rdd->level, "off heap") != NULL;
    for (size_t i = 0; i < rdd->holders.count; i++) {
        const struct pyro_history_holder *holder = &rdd->holders.items[i];
        struct pyro_history_executor *executor = holder->gone ? NULL : find_active(listener->history, holder->executor);
        if (!executor)
            continue;
        if (executor->memory_known && off_heap)
            add(&executor->used_off_heap, -holder->off_heap);
        else if (executor->memory_known)
            add(&executor->used_on_heap, -holder->on_heap);
        add(&executor->memory_used, -holder->memory);
        add(&executor->disk_used, -holder->disk);
    }
    rdd->gone = true;
}
