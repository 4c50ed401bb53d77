/* One description of a history's parts serves three ways: each function below writes what it is given, fills it, or
 * shows the texts in it. */
#include "model/history/pack.h"

#include "base/memory/allocator.h"
#include "base/strings/intern.h"
#include "model/column.h"

struct pack {
    struct pyro_strbuf *to; /* NULL: reading, or visiting */
    pyro_history_visit *visit;
    void *context;
    struct pyro_slice from; /* what is left to read */
    struct pyro_string_pool *texts;
    bool failed;
};

static bool reading(const struct pack *pack)
{
    return !pack->to && !pack->visit;
}

static void number(struct pack *pack, int64_t *value)
{
    int64_t zero = 0;
    if (pack->visit)
        return;
    if (pack->to) {
        pyro_varint_put(pack->to, &zero, *value);
        return;
    }
    *value = 0;
    if (pack->failed || !pyro_varint_take(&pack->from, value)) {
        *value = 0;
        pack->failed = true;
    }
}

/* A number that is less than `limit`. */
static int64_t below(struct pack *pack, int64_t value, int64_t limit)
{
    number(pack, &value);
    if (reading(pack) && (value < 0 || value >= limit)) {
        pack->failed = true;
        value = 0;
    }
    return value;
}

static void row(struct pack *pack, uint32_t *value, size_t limit)
{
    *value = (uint32_t)below(pack, *value, limit < UINT32_MAX ? (int64_t)limit : (int64_t)UINT32_MAX);
}

static void flag(struct pack *pack, bool *value)
{
    *value = below(pack, *value, 2) != 0;
}

/* How many items follow: each takes a byte at least. */
static size_t count(struct pack *pack, size_t value)
{
    return (size_t)below(pack, (int64_t)value, (int64_t)pack->from.len + 1);
}

static void text(struct pack *pack, struct pyro_slice *value)
{
    int64_t place = 0;
    if (pack->visit) {
        pack->visit(pack->context, value);
        return;
    }
    if (pack->to && value->ptr) {
        uint32_t kept = pyro_intern(pack->texts, *value);
        pack->failed |= kept == UINT32_MAX;
        place = (int64_t)kept + 1;
    }
    place = below(pack, place, (int64_t)pyro_string_pool_count(pack->texts) + 1);
    if (!pack->to)
        *value = place ? pyro_string_pool_text(pack->texts, (uint32_t)place - 1) : PYRO_SLICE_NULL;
}

static void numbers(struct pack *pack, int64_t *values, size_t many)
{
    for (size_t i = 0; i < many && !pack->failed; i++)
        number(pack, &values[i]);
}

/* A vector: its count, then `each` for every item, which is zeroed before it is read. */
#define VECTOR(pack, vec, each)                                                                                        \
    do {                                                                                                               \
        size_t many_ = count((pack), (vec)->count);                                                                    \
        for (size_t i_ = 0; i_ < many_ && !(pack)->failed; i_++) {                                                     \
            if (reading(pack) && !pyro_vec_push((vec), NULL)) {                                                        \
                (pack)->failed = true;                                                                                 \
                break;                                                                                                 \
            }                                                                                                          \
            each((pack), &(vec)->items[i_]);                                                                           \
        }                                                                                                              \
    } while (0)

static void pair(struct pack *pack, struct pyro_history_pair *value)
{
    text(pack, &value->key);
    text(pack, &value->value);
}

static void reason(struct pack *pack, struct pyro_history_count *value)
{
    text(pack, &value->reason);
    number(pack, &value->count);
}

static void accumulable(struct pack *pack, struct pyro_history_accumulable *value)
{
    number(pack, &value->id);
    text(pack, &value->name);
    text(pack, &value->update);
    text(pack, &value->value);
}

static void peaks(struct pack *pack, struct pyro_history_peaks *value)
{
    flag(pack, &value->set);
    if (value->set)
        numbers(pack, value->values, PYRO_HISTORY_PEAKS);
}

static void job(struct pack *pack, struct pyro_history_job *value)
{
    int64_t *const all[] = {&value->id,
                            &value->submitted_ms,
                            &value->completed_ms,
                            &value->tasks,
                            &value->active_tasks,
                            &value->completed_tasks,
                            &value->failed_tasks,
                            &value->killed_tasks,
                            &value->skipped_tasks,
                            &value->active_stages,
                            &value->failed_stages,
                            &value->completed_indices,
                            &value->completed_stages,
                            &value->skipped_stages};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        number(pack, all[i]);
    text(pack, &value->name);
    text(pack, &value->description);
    text(pack, &value->group);
    value->status = (enum pyro_history_job_status)below(pack, value->status, PYRO_JOB_UNKNOWN + 1);
    VECTOR(pack, &value->tags, text);
    VECTOR(pack, &value->stage_ids, number);
    VECTOR(pack, &value->killed, reason);
}

static void share(struct pack *pack, struct pyro_history_share *value)
{
    text(pack, &value->executor);
    number(pack, &value->task_ms);
    number(pack, &value->failed);
    number(pack, &value->succeeded);
    number(pack, &value->killed);
    numbers(pack, value->metrics, PYRO_HISTORY_METRICS);
    flag(pack, &value->excluded);
    peaks(pack, &value->peaks);
}

static void any_row(struct pack *pack, uint32_t *value)
{
    row(pack, value, UINT32_MAX);
}

static void stage(struct pack *pack, struct pyro_history_stage *value)
{
    int64_t *const all[] = {&value->id,
                            &value->attempt,
                            &value->partitions,
                            &value->submitted_ms,
                            &value->completed_ms,
                            &value->first_launch_ms,
                            &value->profile,
                            &value->mergers,
                            &value->active,
                            &value->completed,
                            &value->failed,
                            &value->killed,
                            &value->completed_indices,
                            &value->speculative,
                            &value->speculative_active,
                            &value->speculative_completed,
                            &value->speculative_failed,
                            &value->speculative_killed};
    struct pyro_slice *const texts[] = {&value->name, &value->description, &value->details, &value->failure,
                                        &value->pool};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        number(pack, all[i]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        text(pack, texts[i]);
    value->status = (enum pyro_history_stage_status)below(pack, value->status, PYRO_STAGE_SKIPPED + 1);
    flag(pack, &value->live);
    flag(pack, &value->push_enabled);
    numbers(pack, value->metrics, PYRO_HISTORY_METRICS);
    VECTOR(pack, &value->rdd_ids, number);
    VECTOR(pack, &value->jobs, any_row);
    VECTOR(pack, &value->accumulables, accumulable);
    VECTOR(pack, &value->killed_reasons, reason);
    VECTOR(pack, &value->shares, share);
    VECTOR(pack, &value->tasks, any_row);
    peaks(pack, &value->peaks);
}

static void resource(struct pack *pack, struct pyro_history_resource *value)
{
    text(pack, &value->name);
    VECTOR(pack, &value->addresses, text);
}

static void executor(struct pack *pack, struct pyro_history_executor *value)
{
    int64_t *const all[] = {
        &value->cores,           &value->max_tasks,     &value->active_tasks, &value->failed_tasks,
        &value->completed_tasks, &value->tasks,         &value->duration_ms,  &value->resubmitted_ms,
        &value->gc_ms,           &value->input_bytes,   &value->shuffle_read, &value->shuffle_write,
        &value->rdd_blocks,      &value->memory_used,   &value->disk_used,    &value->max_memory,
        &value->added_ms,        &value->removed_ms,    &value->on_heap,      &value->off_heap,
        &value->used_on_heap,    &value->used_off_heap, &value->profile};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        number(pack, all[i]);
    text(pack, &value->id);
    text(pack, &value->host);
    text(pack, &value->host_port);
    text(pack, &value->remove_reason);
    flag(pack, &value->active);
    flag(pack, &value->excluded);
    flag(pack, &value->memory_known);
    VECTOR(pack, &value->logs, pair);
    VECTOR(pack, &value->attributes, pair);
    VECTOR(pack, &value->resources, resource);
    VECTOR(pack, &value->excluded_stages, number);
    peaks(pack, &value->peaks);
}

static void request(struct pack *pack, struct pyro_history_request *value)
{
    int64_t bits;
    memcpy(&bits, &value->task_amount, sizeof(bits));
    number(pack, &bits);
    memcpy(&value->task_amount, &bits, sizeof(bits));
    number(pack, &value->amount);
    text(pack, &value->name);
    text(pack, &value->script);
    text(pack, &value->vendor);
}

static void profile(struct pack *pack, struct pyro_history_profile *value)
{
    number(pack, &value->id);
    VECTOR(pack, &value->executor, request);
    VECTOR(pack, &value->task, request);
}

static void known_text(struct pack *pack, uint32_t *value)
{
    row(pack, value, pyro_string_pool_count(pack->texts));
}

static void block(struct pack *pack, struct pyro_history_block *value)
{
    text(pack, &value->name);
    number(pack, &value->memory);
    number(pack, &value->disk);
    VECTOR(pack, &value->executors, known_text);
    flag(pack, &value->gone);
}

static void holder(struct pack *pack, struct pyro_history_holder *value)
{
    known_text(pack, &value->executor);
    number(pack, &value->memory);
    number(pack, &value->disk);
    number(pack, &value->on_heap);
    number(pack, &value->off_heap);
    flag(pack, &value->gone);
}

static void rdd(struct pack *pack, struct pyro_history_rdd *value)
{
    if (reading(pack)) {
        pyro_map_init(&value->block_rows, NULL);
        pyro_map_init(&value->holder_rows, NULL);
    }
    number(pack, &value->id);
    number(pack, &value->partitions);
    number(pack, &value->cached);
    number(pack, &value->memory);
    number(pack, &value->disk);
    text(pack, &value->name);
    text(pack, &value->level);
    flag(pack, &value->gone);
    VECTOR(pack, &value->blocks, block);
    VECTOR(pack, &value->holders, holder);
}

static void process(struct pack *pack, struct pyro_history_process *value)
{
    text(pack, &value->id);
    text(pack, &value->host_port);
    number(pack, &value->cores);
    number(pack, &value->added_ms);
    VECTOR(pack, &value->logs, pair);
}

/* ---- SQL ---- */

static void sql_job(struct pack *pack, struct pyro_history_sql_job *value)
{
    number(pack, &value->id);
    value->status = (int)below(pack, value->status, PYRO_JOB_UNKNOWN + 1);
}

static void sql_node(struct pack *pack, struct pyro_history_sql_node *value)
{
    text(pack, &value->name);
    number(pack, &value->cluster);
    row(pack, &value->metric, UINT32_MAX);
    row(pack, &value->metric_count, UINT32_MAX);
}

static void sql_metric(struct pack *pack, struct pyro_history_sql_metric *value)
{
    text(pack, &value->name);
    text(pack, &value->type);
    number(pack, &value->accumulator);
}

static void sql_edge(struct pack *pack, struct pyro_history_sql_edge *value)
{
    number(pack, &value->from);
    number(pack, &value->to);
}

/* Accumulators and what their values are in words. */
static void sql_values(struct pack *pack, struct pyro_map *values)
{
    size_t many = pack->visit ? 0 : count(pack, values->count), slot = 0;
    for (size_t i = 0; i < many && !pack->failed; i++) {
        while (pack->to && !values->used[slot])
            slot++;
        int64_t key = pack->to ? (int64_t)values->slots[slot].key : 0;
        int64_t value = pack->to ? (int64_t)values->slots[slot++].value : 0;
        number(pack, &key);
        value = below(pack, value, (int64_t)pyro_string_pool_count(pack->texts) + 1);
        uint64_t *place = pack->to ? NULL : pyro_map_put(values, (uint64_t)key, NULL);
        pack->failed |= !pack->to && !place;
        if (place)
            *place = (uint64_t)value;
    }
}

static void sql(struct pack *pack, struct pyro_history_sql *value)
{
    if (reading(pack))
        pyro_history_sql_init(value, 0);
    number(pack, &value->id);
    number(pack, &value->submitted_ms);
    number(pack, &value->completed_ms);
    flag(pack, &value->completed);
    flag(pack, &value->has_graph);
    flag(pack, &value->dropped);
    text(pack, &value->description);
    text(pack, &value->plan);
    text(pack, &value->error);
    VECTOR(pack, &value->jobs, sql_job);
    VECTOR(pack, &value->stages, number);
    VECTOR(pack, &value->nodes, sql_node);
    VECTOR(pack, &value->metrics, sql_metric);
    VECTOR(pack, &value->edges, sql_edge);
    sql_values(pack, &value->values);
    int64_t nodes = (int64_t)value->nodes.count;
    for (size_t i = 0; i < value->nodes.count; i++) {
        const struct pyro_history_sql_node *node = &value->nodes.items[i];
        pack->failed |= (uint64_t)node->metric + node->metric_count > value->metrics.count || node->cluster < -1 ||
                        node->cluster >= nodes;
    }
    for (size_t i = 0; i < value->edges.count; i++)
        pack->failed |= value->edges.items[i].from < 0 || value->edges.items[i].from >= nodes ||
                        value->edges.items[i].to < 0 || value->edges.items[i].to >= nodes;
}

/* ---- All of it ---- */

static void parts(struct pack *pack, struct pyro_history *history)
{
    int64_t bytes = (int64_t)history->bytes, bad_lines = (int64_t)history->bad_lines;
    number(pack, &bytes);
    number(pack, &bad_lines);
    history->bytes = (uint64_t)bytes;
    history->bad_lines = (uint64_t)bad_lines;
    number(pack, &history->start_ms);
    number(pack, &history->end_ms);
    flag(pack, &history->has_environment);
    flag(pack, &history->with_sql);
    for (int i = 0; i < PYRO_SECTIONS; i++)
        VECTOR(pack, &history->sections[i], pair);
    VECTOR(pack, &history->jobs, job);
    VECTOR(pack, &history->stages, stage);
    VECTOR(pack, &history->executors, executor);
    VECTOR(pack, &history->profiles, profile);
    VECTOR(pack, &history->rdds, rdd);
    VECTOR(pack, &history->processes, process);
    VECTOR(pack, &history->sql, sql);
    VECTOR(pack, &history->places, any_row);
    VECTOR(pack, &history->running, number);
}

void pyro_history_each_text(struct pyro_history *history, pyro_history_visit *visit, void *context)
{
    struct pack pack = {.visit = visit, .context = context, .texts = history->strings};
    parts(&pack, history);
}

bool pyro_history_pack(const struct pyro_history *history, struct pyro_strbuf *to)
{
    /* Numbers of texts stay what they are; texts outside the pool follow them. */
    struct pyro_string_pool *texts = pyro_string_pool_new(NULL);
    struct pyro_strbuf body;
    pyro_strbuf_init(&body, NULL);
    struct pack pack = {.to = &body, .texts = texts, .failed = !texts, .from = {"", (size_t)INT64_MAX - 1}};
    for (uint32_t i = 0; texts && i < pyro_string_pool_count(history->strings); i++)
        pack.failed |= pyro_intern(texts, pyro_string_pool_text(history->strings, i)) != i;
    if (!pack.failed)
        parts(&pack, pyro_unconst(history)); /* writing changes nothing */
    bool ok = !pack.failed && pyro_task_table_pack(&history->ended, &body);
    int64_t zero = 0;
    pyro_varint_put(to, &zero, texts ? (int64_t)pyro_string_pool_count(texts) : 0);
    for (uint32_t i = 0; ok && i < pyro_string_pool_count(texts); i++) {
        struct pyro_slice one = pyro_string_pool_text(texts, i);
        zero = 0;
        pyro_varint_put(to, &zero, (int64_t)one.len);
        pyro_strbuf_add_slice(to, one);
    }
    pyro_strbuf_add_slice(to, pyro_strbuf_slice(&body));
    ok = ok && !body.failed && !to->failed;
    pyro_strbuf_done(&body);
    pyro_string_pool_release(texts);
    return ok;
}

static bool unpack_texts(struct pyro_string_pool *strings, struct pyro_slice *from)
{
    int64_t many = 0;
    if (!pyro_varint_take(from, &many) || many < 1 || (uint64_t)many > from->len || many >= UINT32_MAX)
        return false;
    for (int64_t i = 0; i < many; i++) {
        int64_t len = 0;
        if (!pyro_varint_take(from, &len) || len < 0 || (uint64_t)len > from->len)
            return false;
        if (pyro_intern(strings, (struct pyro_slice){from->ptr, (size_t)len}) != (uint32_t)i)
            return false;
        pyro_slice_drop(from, (size_t)len);
    }
    return true;
}

static bool put_row(struct pyro_map *map, uint64_t key, size_t place)
{
    uint64_t *value = pyro_map_put(map, key, NULL);
    if (!value || *value)
        return false; /* the same key again */
    *value = place + 1;
    return true;
}

static bool index_rows(struct pyro_history *history)
{
    bool ok = true;
    for (size_t i = 0; ok && i < history->jobs.count; i++)
        ok = put_row(&history->job_rows, (uint64_t)history->jobs.items[i].id, i);
    for (size_t i = 0; ok && i < history->stages.count; i++) {
        const struct pyro_history_stage *one = &history->stages.items[i];
        ok = one->id >= 0 && one->id <= INT32_MAX && one->attempt >= 0 && one->attempt <= INT32_MAX &&
             put_row(&history->stage_rows, (uint64_t)one->id << 32 | (uint64_t)one->attempt, i);
    }
    for (size_t i = 0; ok && i < history->executors.count; i++) {
        struct pyro_slice id = history->executors.items[i].id;
        ok = id.ptr && put_row(&history->executor_rows, pyro_intern(history->strings, id), i);
    }
    for (size_t i = 0; ok && i < history->rdds.count; i++) {
        /* An RDD that was unpersisted may be there again: the newest counts. */
        uint64_t *value = pyro_map_put(&history->rdd_rows, (uint64_t)history->rdds.items[i].id, NULL);
        ok = value != NULL;
        if (value)
            *value = i + 1;
    }
    for (size_t i = 0; ok && i < history->sql.count; i++)
        ok = put_row(&history->sql_rows, (uint64_t)history->sql.items[i].id, i);
    return ok;
}

static bool are_running_rows_sound(const struct pyro_history *history)
{
    static const enum pyro_task_column texts[] = {PYRO_TASK_executor, PYRO_TASK_host, PYRO_TASK_locality,
                                                  PYRO_TASK_reason};
    int64_t limit = pyro_string_pool_count(history->strings);
    if (history->running.count % PYRO_TASK_START_COLUMNS)
        return false;
    for (size_t at = 0; at < history->running.count; at += PYRO_TASK_START_COLUMNS)
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
            int64_t value = history->running.items[at + texts[i]];
            if (value != PYRO_NONE && (value < 0 || value >= limit))
                return false;
        }
    return true;
}

/* Rows that point to other rows. */
static bool are_rows_sound(const struct pyro_history *history)
{
    size_t running = history->running.count / PYRO_TASK_START_COLUMNS;
    for (size_t i = 0; i < history->places.count; i++) {
        uint32_t place = history->places.items[i], at = place & ~PYRO_HISTORY_RUNNING;
        if (at >= (place & PYRO_HISTORY_RUNNING ? running : history->ended.count))
            return false;
    }
    for (size_t i = 0; i < history->stages.count; i++) {
        const struct pyro_history_stage *one = &history->stages.items[i];
        for (size_t k = 0; k < one->tasks.count; k++)
            if (one->tasks.items[k] >= history->places.count)
                return false;
        for (size_t k = 0; k < one->jobs.count; k++)
            if (one->jobs.items[k] >= history->jobs.count)
                return false;
    }
    return are_running_rows_sound(history);
}

struct pyro_history *pyro_history_unpack(struct pyro_slice from)
{
    struct pyro_history *history = pyro_history_new();
    if (!history)
        return NULL;
    bool ok = unpack_texts(history->strings, &from);
    struct pack pack = {.from = from, .texts = history->strings, .failed = !ok};
    if (ok)
        parts(&pack, history);
    ok = ok && !pack.failed &&
         pyro_task_table_unpack(&history->ended, &pack.from, pyro_string_pool_count(history->strings)) &&
         pack.from.len == 0 && index_rows(history) && are_rows_sound(history) && pyro_history_seal(history);
    if (!ok) {
        pyro_history_release(history);
        return NULL;
    }
    return history;
}
