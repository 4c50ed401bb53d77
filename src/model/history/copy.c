/* What ends the building of a history: sealing it, and snapshots of one that still grows. */
#include "base/collections/memo.h"
#include "base/strings/intern.h"
#include "model/history/history.h"

/* A vector's items into an empty one, with no room to spare. */
#define COPY(to, from)                                                                                                 \
    ((from)->count == 0 || (((to)->items = pyro_allocate(NULL, (from)->count * sizeof(*(from)->items))) &&             \
                            (memcpy((to)->items, (from)->items, (from)->count * sizeof(*(from)->items)),               \
                             (to)->count = (to)->capacity = (from)->count)))
/* Forgets a vector that was copied with the struct around it. */
#define EMPTY(vec) ((vec)->items = NULL, (vec)->count = (vec)->capacity = 0)

static bool copy_jobs(struct pyro_history *copy, const struct pyro_history *history)
{
    bool ok = COPY(&copy->jobs, &history->jobs);
    for (size_t i = 0; i < copy->jobs.count; i++) {
        struct pyro_history_job *to = &copy->jobs.items[i];
        const struct pyro_history_job *from = &history->jobs.items[i];
        EMPTY(&to->tags), EMPTY(&to->stage_ids), EMPTY(&to->killed);
        ok = ok && COPY(&to->tags, &from->tags) && COPY(&to->stage_ids, &from->stage_ids) &&
             COPY(&to->killed, &from->killed);
    }
    return ok;
}

static bool copy_stages(struct pyro_history *copy, const struct pyro_history *history)
{
    bool ok = COPY(&copy->stages, &history->stages);
    for (size_t i = 0; i < copy->stages.count; i++) {
        struct pyro_history_stage *to = &copy->stages.items[i];
        const struct pyro_history_stage *from = &history->stages.items[i];
        EMPTY(&to->rdd_ids), EMPTY(&to->jobs), EMPTY(&to->accumulables);
        EMPTY(&to->killed_reasons), EMPTY(&to->shares), EMPTY(&to->tasks);
        ok = ok && COPY(&to->rdd_ids, &from->rdd_ids) && COPY(&to->jobs, &from->jobs) &&
             COPY(&to->accumulables, &from->accumulables) && COPY(&to->killed_reasons, &from->killed_reasons) &&
             COPY(&to->shares, &from->shares) && COPY(&to->tasks, &from->tasks);
    }
    return ok;
}

static bool copy_executor(struct pyro_history_executor *to, const struct pyro_history_executor *from)
{
    bool ok = COPY(&to->logs, &from->logs) && COPY(&to->attributes, &from->attributes) &&
              COPY(&to->excluded_stages, &from->excluded_stages) && COPY(&to->resources, &from->resources);
    for (size_t i = 0; i < to->resources.count; i++) {
        EMPTY(&to->resources.items[i].addresses);
        ok = ok && COPY(&to->resources.items[i].addresses, &from->resources.items[i].addresses);
    }
    return ok;
}

static bool copy_executors(struct pyro_history *copy, const struct pyro_history *history)
{
    bool ok = COPY(&copy->executors, &history->executors);
    for (size_t i = 0; i < copy->executors.count; i++) {
        struct pyro_history_executor *to = &copy->executors.items[i];
        EMPTY(&to->logs), EMPTY(&to->attributes), EMPTY(&to->excluded_stages), EMPTY(&to->resources);
        EMPTY(&to->held);
        ok = copy_executor(to, &history->executors.items[i]) && ok;
    }
    return ok;
}

static bool copy_rdds(struct pyro_history *copy, const struct pyro_history *history)
{
    bool ok = COPY(&copy->rdds, &history->rdds);
    for (size_t i = 0; i < copy->rdds.count; i++) {
        struct pyro_history_rdd *to = &copy->rdds.items[i];
        const struct pyro_history_rdd *from = &history->rdds.items[i];
        EMPTY(&to->blocks), EMPTY(&to->holders);
        pyro_map_init(&to->block_rows, NULL);
        pyro_map_init(&to->holder_rows, NULL);
        ok = ok && COPY(&to->holders, &from->holders) && COPY(&to->blocks, &from->blocks);
        for (size_t b = 0; b < to->blocks.count; b++) {
            EMPTY(&to->blocks.items[b].executors);
            ok = ok && COPY(&to->blocks.items[b].executors, &from->blocks.items[b].executors);
        }
    }
    return ok;
}

static bool copy_rest(struct pyro_history *copy, const struct pyro_history *history)
{
    bool ok = copy_rdds(copy, history) && COPY(&copy->processes, &history->processes);
    for (size_t i = 0; i < copy->processes.count; i++) {
        EMPTY(&copy->processes.items[i].logs);
        ok = ok && COPY(&copy->processes.items[i].logs, &history->processes.items[i].logs);
    }
    ok = COPY(&copy->profiles, &history->profiles) && ok;
    for (size_t i = 0; i < copy->profiles.count; i++) {
        struct pyro_history_profile *to = &copy->profiles.items[i];
        EMPTY(&to->executor), EMPTY(&to->task);
        ok = ok && COPY(&to->executor, &history->profiles.items[i].executor) &&
             COPY(&to->task, &history->profiles.items[i].task);
    }
    for (int i = 0; i < PYRO_SECTIONS; i++)
        ok = ok && COPY(&copy->sections[i], &history->sections[i]);
    return ok;
}

static bool copy_sql(struct pyro_history *copy, const struct pyro_history *history)
{
    bool ok = COPY(&copy->sql, &history->sql);
    for (size_t i = 0; i < copy->sql.count; i++) {
        struct pyro_history_sql *to = &copy->sql.items[i];
        const struct pyro_history_sql *from = &history->sql.items[i];
        EMPTY(&to->jobs), EMPTY(&to->stages), EMPTY(&to->nodes), EMPTY(&to->metrics), EMPTY(&to->edges);
        pyro_map_init(&to->values, NULL);
        ok = ok && COPY(&to->jobs, &from->jobs) && COPY(&to->stages, &from->stages) && COPY(&to->nodes, &from->nodes) &&
             COPY(&to->metrics, &from->metrics) && COPY(&to->edges, &from->edges) &&
             pyro_map_copy(&to->values, &from->values);
    }
    return ok;
}

struct pyro_history *pyro_history_snapshot(const struct pyro_history *history)
{
    struct pyro_history *copy = pyro_history_new();
    struct pyro_string_pool *strings = copy ? pyro_string_pool_snapshot(history->strings) : NULL;
    if (!strings) {
        pyro_history_release(copy);
        return NULL;
    }
    pyro_string_pool_release(copy->strings);
    copy->strings = strings;
    copy->bytes = history->bytes;
    copy->bad_lines = history->bad_lines;
    copy->start_ms = history->start_ms;
    copy->end_ms = history->end_ms;
    copy->answered = history->answered;
    copy->has_environment = history->has_environment;
    copy->with_sql = history->with_sql;
    /* All vectors are copied, or at least emptied, before the first failure is looked at: releasing needs them so. */
    bool ok = copy_jobs(copy, history);
    ok = copy_stages(copy, history) && ok;
    ok = copy_executors(copy, history) && ok;
    ok = copy_rest(copy, history) && ok;
    ok = copy_sql(copy, history) && ok;
    ok = ok && COPY(&copy->places, &history->places) && COPY(&copy->running, &history->running) &&
         pyro_map_copy(&copy->job_rows, &history->job_rows) && pyro_map_copy(&copy->stage_rows, &history->stage_rows) &&
         pyro_map_copy(&copy->executor_rows, &history->executor_rows) &&
         pyro_map_copy(&copy->rdd_rows, &history->rdd_rows) && pyro_map_copy(&copy->sql_rows, &history->sql_rows) &&
         pyro_task_table_snapshot(&history->ended, &copy->ended) && pyro_history_seal(copy);
    if (!ok) {
        pyro_history_release(copy);
        return NULL;
    }
    return copy;
}

static size_t map_bytes(const struct pyro_map *map)
{
    return map->slot_count * (sizeof(*map->slots) + 1);
}

#define BYTES(vec) ((vec)->capacity * sizeof(*(vec)->items))

bool pyro_history_seal(struct pyro_history *history)
{
    enum { SUMMARIES_SHARE = 32, SUMMARIES_MOST = 4 << 20 };
    if (history->failed || !pyro_task_table_seal(&history->ended))
        return false;
    pyro_vec_fit(&history->jobs, NULL);
    pyro_vec_fit(&history->stages, NULL);
    pyro_vec_fit(&history->places, NULL);
    pyro_vec_fit(&history->running, NULL);
    size_t bytes = sizeof(*history) + pyro_task_table_bytes(&history->ended) + BYTES(&history->places) +
                   BYTES(&history->running) + BYTES(&history->jobs) + BYTES(&history->stages) +
                   BYTES(&history->executors) + map_bytes(&history->job_rows) + map_bytes(&history->stage_rows) +
                   pyro_string_pool_bytes(history->strings);
    for (size_t i = 0; i < history->stages.count; i++) {
        struct pyro_history_stage *stage = &history->stages.items[i];
        pyro_vec_fit(&stage->shares, NULL);
        pyro_vec_fit(&stage->tasks, NULL);
        bytes += BYTES(&stage->shares) + BYTES(&stage->tasks) + BYTES(&stage->rdd_ids) + BYTES(&stage->jobs) +
                 BYTES(&stage->accumulables) + BYTES(&stage->killed_reasons);
    }
    for (size_t i = 0; i < history->jobs.count; i++)
        bytes += BYTES(&history->jobs.items[i].stage_ids) + BYTES(&history->jobs.items[i].tags);
    for (size_t i = 0; i < history->sql.count; i++) {
        const struct pyro_history_sql *sql = &history->sql.items[i];
        bytes += sizeof(*sql) + BYTES(&sql->jobs) + BYTES(&sql->stages) + BYTES(&sql->nodes) + BYTES(&sql->metrics) +
                 BYTES(&sql->edges) + map_bytes(&sql->values);
    }
    size_t kept = bytes / SUMMARIES_SHARE < SUMMARIES_MOST ? bytes / SUMMARIES_SHARE : SUMMARIES_MOST;
    pyro_memo_free(history->summaries);
    history->summaries = pyro_memo_new(kept);
    history->memory = bytes + kept;
    return true;
}
