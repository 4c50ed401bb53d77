/* Jobs and SQL executions: which stage attempts count as theirs, and sums over these. */
#include "analyze/analyze.h"
#include "analyze/job_interval.h"
#include "analyze/row_index.h"
#include "analyze/scratch.h"
#include "base/numbers/saturate.h"

/* First submission of the attempts of one stage id, PYRO_NONE when none ran. */
static int64_t first_submission(const struct pyro_app *app, const struct pyro_index *stages, size_t entry, size_t count)
{
    int64_t first = PYRO_NONE;
    for (size_t i = entry; i < entry + count; i++) {
        int64_t submitted = app->stages.items[stages->entries[i].row].submitted_ms;
        if (submitted != PYRO_NONE && (first == PYRO_NONE || submitted < first))
            first = submitted;
    }
    return first;
}

/* Gives each stage a job: the first that lists it and ran when it was first submitted, else the first that lists it.
 * `owners` gets job rows for all its attempts; `settled` says that a job was found in whose time it ran. */
static void attribute(const struct pyro_app *app, const struct pyro_index *jobs, const struct pyro_index *stages,
                      int32_t *owners, bool *settled)
{
    for (size_t i = 0; i < app->stages.count; i++)
        owners[i] = -1;
    for (size_t k = 0; k < jobs->count; k++) { /* by id */
        const struct pyro_job *job = &app->jobs.items[jobs->entries[k].row];
        int64_t begin, end;
        pyro_job_interval(app, stages, job, &begin, &end);
        for (uint32_t s = 0; s < job->stage_id_count; s++) {
            size_t entry, count = pyro_index_find(stages, job->stage_ids[s], &entry);
            if (count == 0 || settled[entry])
                continue;
            int64_t submitted = first_submission(app, stages, entry, count);
            settled[entry] = submitted != PYRO_NONE && begin <= submitted && submitted <= end;
            if (!settled[entry] && owners[stages->entries[entry].row] >= 0)
                continue;
            for (size_t i = entry; i < entry + count; i++)
                owners[stages->entries[i].row] = (int32_t)jobs->entries[k].row;
        }
    }
}

/* Stages that a job lists and did not run: their output already existed. While it runs, those that ran for another.
 */
static int64_t count_skipped(const struct pyro_app *app, size_t row, const struct pyro_index *stages,
                             const int32_t *owners)
{
    const struct pyro_job *job = &app->jobs.items[row];
    int64_t skipped = 0;
    for (uint32_t s = 0; s < job->stage_id_count; s++) {
        if (s > 0 && job->stage_ids[s] == job->stage_ids[s - 1])
            continue;
        size_t entry, count = pyro_index_find(stages, job->stage_ids[s], &entry);
        bool mine = false, ran = false;
        for (size_t i = entry; i < entry + count && !mine; i++) {
            ran = ran || app->stages.items[stages->entries[i].row].submitted_ms != PYRO_NONE;
            mine = owners[stages->entries[i].row] == (int32_t)row &&
                   app->stages.items[stages->entries[i].row].submitted_ms != PYRO_NONE;
        }
        skipped += !mine && (ran || job->completed_ms != PYRO_NONE);
    }
    return skipped;
}

static void sum_job(struct pyro_job *job, const struct pyro_stage *stage)
{
    job->tasks = pyro_add_saturating(job->tasks, stage->tasks);
    job->failed_tasks = pyro_add_saturating(job->failed_tasks, stage->failed_tasks);
    job->run_ms = pyro_add_saturating(job->run_ms, stage->run_ms);
}

static void sum_sql(struct pyro_sql_execution *sql, const struct pyro_stage *stage)
{
    sql->stages += stage->submitted_ms != PYRO_NONE;
    sql->tasks = pyro_add_saturating(sql->tasks, stage->tasks);
    sql->task_ms = pyro_add_saturating(sql->task_ms, stage->task_ms);
    sql->run_ms = pyro_add_saturating(sql->run_ms, stage->run_ms);
}

static struct pyro_sql_execution *find_sql(struct pyro_app *app, const struct pyro_index *index, int64_t id)
{
    size_t entry;
    if (id == PYRO_NONE || pyro_index_find(index, id, &entry) == 0)
        return NULL;
    return &app->sql.items[index->entries[entry].row];
}

/* Batches of streams in real-time mode (Spark 4.1 and later): the plan says so. */
static void mark_real_time(struct pyro_app *app, const struct pyro_index *sql_index)
{
    for (size_t i = 0; i < app->sql.count; i++)
        app->sql.items[i].real_time = false;
    for (size_t i = 0; i < app->sql_nodes.count; i++) {
        if (!pyro_slice_starts_with(app->sql_nodes.items[i].name, "RealTimeStreamScan"))
            continue;
        struct pyro_sql_execution *sql = find_sql(app, sql_index, app->sql_nodes.items[i].sql);
        if (sql)
            sql->real_time = true;
    }
}

static void sum_stages(struct pyro_app *app, const struct pyro_index *stages, const struct pyro_index *sql_index,
                       const int32_t *owners)
{
    for (size_t i = 0; i < app->sql.count; i++) {
        struct pyro_sql_execution *sql = &app->sql.items[i];
        sql->jobs = sql->stages = sql->tasks = sql->task_ms = sql->run_ms = 0;
    }
    for (size_t i = 0; i < app->jobs.count; i++) {
        struct pyro_job *job = &app->jobs.items[i];
        job->tasks = job->failed_tasks = job->run_ms = 0;
        job->stages = job->stage_id_count;
        job->skipped_stages = count_skipped(app, i, stages, owners);
        struct pyro_sql_execution *sql = find_sql(app, sql_index, job->sql);
        if (sql)
            sql->jobs++;
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        struct pyro_stage *stage = &app->stages.items[i];
        if (owners[i] >= 0) {
            struct pyro_job *job = &app->jobs.items[owners[i]];
            stage->job = job->id;
            stage->sql = job->sql;
            sum_job(job, stage);
        }
        struct pyro_sql_execution *sql = find_sql(app, sql_index, stage->sql);
        stage->real_time = sql && sql->real_time;
        if (sql)
            sum_sql(sql, stage);
    }
}

enum pyro_status pyro_analyze_jobs(struct pyro_app *app, struct pyro_error *error)
{
    struct pyro_index jobs = {0}, stages = {0}, sql = {0};
    int32_t *owners = pyro_scratch(app, app->stages.count, sizeof(*owners));
    bool *settled = pyro_scratch(app, app->stages.count, sizeof(*settled));
    bool done = owners && settled && pyro_index_jobs(&jobs, app) && pyro_index_stages(&stages, app) &&
                pyro_index_sql(&sql, app);
    if (done) {
        attribute(app, &jobs, &stages, owners, settled);
        mark_real_time(app, &sql);
        sum_stages(app, &stages, &sql, owners);
    }
    jobs.allocator = stages.allocator = sql.allocator = app->allocator;
    pyro_index_done(&jobs);
    pyro_index_done(&stages);
    pyro_index_done(&sql);
    pyro_release(app->allocator, owners);
    pyro_release(app->allocator, settled);
    return done ? PYRO_OK : pyro_no_memory(error);
}
