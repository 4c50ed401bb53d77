#include "model/history/history.h"

#include "base/collections/memo.h"
#include "base/strings/intern.h"

struct pyro_history *pyro_history_new(void)
{
    struct pyro_history *history = pyro_allocate(NULL, sizeof(*history));
    if (!history)
        return NULL;
    *history = (struct pyro_history){.references = 1, .end_ms = -1, .strings = pyro_string_pool_new(NULL)};
    if (!history->strings) {
        pyro_release(NULL, history);
        return NULL;
    }
    struct pyro_map *const maps[] = {&history->job_rows, &history->stage_rows, &history->executor_rows,
                                     &history->rdd_rows, &history->sql_rows};
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        pyro_map_init(maps[i], NULL);
    pyro_task_table_init(&history->ended, NULL);
    return history;
}

struct pyro_history *pyro_history_retain(struct pyro_history *history)
{
    __atomic_add_fetch(&history->references, 1, __ATOMIC_RELAXED);
    return history;
}

void pyro_history_job_done(struct pyro_history_job *job)
{
    pyro_vec_done(&job->tags, NULL);
    pyro_vec_done(&job->stage_ids, NULL);
    pyro_vec_done(&job->killed, NULL);
}

void pyro_history_stage_done(struct pyro_history_stage *stage)
{
    pyro_vec_done(&stage->rdd_ids, NULL);
    pyro_vec_done(&stage->jobs, NULL);
    pyro_vec_done(&stage->accumulables, NULL);
    pyro_vec_done(&stage->killed_reasons, NULL);
    pyro_vec_done(&stage->shares, NULL);
    pyro_vec_done(&stage->tasks, NULL);
}

void pyro_history_executor_done(struct pyro_history_executor *executor)
{
    pyro_vec_done(&executor->logs, NULL);
    pyro_vec_done(&executor->attributes, NULL);
    for (size_t r = 0; r < executor->resources.count; r++)
        pyro_vec_done(&executor->resources.items[r].addresses, NULL);
    pyro_vec_done(&executor->resources, NULL);
    pyro_vec_done(&executor->excluded_stages, NULL);
    pyro_vec_done(&executor->held, NULL);
}

static void free_rows(struct pyro_history *history)
{
    for (size_t i = 0; i < history->jobs.count; i++)
        pyro_history_job_done(&history->jobs.items[i]);
    pyro_vec_done(&history->jobs, NULL);
    for (size_t i = 0; i < history->stages.count; i++)
        pyro_history_stage_done(&history->stages.items[i]);
    pyro_vec_done(&history->stages, NULL);
    for (size_t i = 0; i < history->executors.count; i++)
        pyro_history_executor_done(&history->executors.items[i]);
    pyro_vec_done(&history->executors, NULL);
}

void pyro_history_release(struct pyro_history *history)
{
    if (!history || __atomic_sub_fetch(&history->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int i = 0; i < PYRO_SECTIONS; i++)
        pyro_vec_done(&history->sections[i], NULL);
    free_rows(history);
    pyro_vec_done(&history->places, NULL);
    pyro_vec_done(&history->running, NULL);
    pyro_task_table_done(&history->ended);
    for (size_t i = 0; i < history->profiles.count; i++) {
        pyro_vec_done(&history->profiles.items[i].executor, NULL);
        pyro_vec_done(&history->profiles.items[i].task, NULL);
    }
    pyro_vec_done(&history->profiles, NULL);
    for (size_t i = 0; i < history->rdds.count; i++) {
        struct pyro_history_rdd *rdd = &history->rdds.items[i];
        for (size_t b = 0; b < rdd->blocks.count; b++)
            pyro_vec_done(&rdd->blocks.items[b].executors, NULL);
        pyro_vec_done(&rdd->blocks, NULL);
        pyro_vec_done(&rdd->holders, NULL);
        pyro_map_done(&rdd->block_rows);
        pyro_map_done(&rdd->holder_rows);
    }
    pyro_vec_done(&history->rdds, NULL);
    for (size_t i = 0; i < history->processes.count; i++)
        pyro_vec_done(&history->processes.items[i].logs, NULL);
    pyro_vec_done(&history->processes, NULL);
    pyro_map_done(&history->job_rows);
    pyro_map_done(&history->stage_rows);
    pyro_map_done(&history->executor_rows);
    pyro_map_done(&history->rdd_rows);
    for (size_t i = 0; i < history->sql.count; i++)
        pyro_history_sql_done(&history->sql.items[i]);
    pyro_vec_done(&history->sql, NULL);
    pyro_map_done(&history->sql_rows);
    pyro_memo_free(history->summaries);
    pyro_string_pool_release(history->strings);
    pyro_release(NULL, history);
}

struct pyro_history_job *pyro_history_job(const struct pyro_history *history, int64_t id)
{
    const uint64_t *row = pyro_map_get(&history->job_rows, (uint64_t)id);
    return row ? &history->jobs.items[*row - 1] : NULL;
}

struct pyro_history_stage *pyro_history_stage(const struct pyro_history *history, int64_t id, int64_t attempt)
{
    /* Both are 32-bit numbers in Spark; what exceeds that is not a stage. */
    if (id < 0 || attempt < 0 || id > INT32_MAX || attempt > INT32_MAX)
        return NULL;
    const uint64_t *row = pyro_map_get(&history->stage_rows, (uint64_t)id << 32 | (uint64_t)attempt);
    return row ? &history->stages.items[*row - 1] : NULL;
}

struct pyro_history_sql *pyro_history_sql(const struct pyro_history *history, int64_t id)
{
    const uint64_t *row = pyro_map_get(&history->sql_rows, (uint64_t)id);
    return row && *row ? &history->sql.items[*row - 1] : NULL;
}

struct pyro_history_executor *pyro_history_executor(const struct pyro_history *history, uint32_t text)
{
    const uint64_t *row = pyro_map_get(&history->executor_rows, text);
    return row && *row ? &history->executors.items[*row - 1] : NULL;
}
