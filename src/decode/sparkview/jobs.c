/* Jobs and stages. */
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "base/strings/intern.h"
#include "decode/sparkview/listener.h"

#define GET pyro_tree_get

static struct pyro_history_stage *enter_stage(struct pyro_listener *listener, int64_t id, int64_t attempt)
{
    struct pyro_history *history = listener->history;
    if (id < 0 || attempt < 0 || id > INT32_MAX || attempt > INT32_MAX)
        return NULL;
    uint64_t *row = pyro_map_put(&history->stage_rows, (uint64_t)id << 32 | (uint64_t)attempt, NULL);
    if (row && *row)
        return &history->stages.items[*row - 1];
    struct pyro_stage_progress *progress = row ? pyro_vec_push(&listener->stages, NULL) : NULL;
    struct pyro_history_stage *stage = progress ? pyro_vec_push(&history->stages, NULL) : NULL;
    history->failed |= !stage;
    if (!stage)
        return NULL;
    pyro_id_set_init(&progress->indices, NULL);
    *row = history->stages.count;
    stage->id = id;
    stage->attempt = attempt;
    stage->status = PYRO_STAGE_PENDING;
    stage->live = true; /* and no stage becomes it again */
    stage->pool = PYRO_SLICE_LITERAL("default");
    return stage;
}

static void read_info(struct pyro_listener *listener, const struct pyro_tree *info, struct pyro_history_stage *stage)
{
    stage->name = pyro_listener_text(listener, GET(info, "Stage Name"));
    if (!listener->brief)
        stage->details = pyro_listener_text(listener, GET(info, "Details"));
    stage->partitions = pyro_tree_int(GET(info, "Number of Tasks"), 0);
    stage->submitted_ms = pyro_tree_int(GET(info, "Submission Time"), 0);
    stage->completed_ms = pyro_tree_int(GET(info, "Completion Time"), 0);
    stage->failure = pyro_listener_text(listener, GET(info, "Failure Reason"));
    stage->profile = pyro_tree_int(GET(info, "Resource Profile Id"), 0);
    stage->push_enabled = pyro_tree_bool(GET(info, "Shuffle Push Enabled"));
    stage->mergers = pyro_tree_int(GET(info, "Shuffle Push Mergers Count"), 0);
    stage->accumulables.count = stage->rdd_ids.count = 0;
    pyro_listener_accumulables(listener, GET(info, "Accumulables"), &stage->accumulables);
    const struct pyro_tree *rdds = GET(info, "RDD Info");
    for (const struct pyro_tree *rdd = rdds ? rdds->first : NULL; rdd; rdd = rdd->next) {
        int64_t *id = pyro_vec_push(&stage->rdd_ids, NULL);
        listener->history->failed |= !id;
        if (id)
            *id = pyro_tree_int(GET(rdd, "RDD ID"), 0);
    }
}

/* The attempt that an event's info names, with what it says; NULL: none, or no memory. */
static struct pyro_history_stage *live_stage(struct pyro_listener *listener, const struct pyro_tree *info)
{
    struct pyro_history_stage *stage = enter_stage(listener, pyro_tree_int(GET(info, "Stage ID"), -1),
                                                   pyro_tree_int(GET(info, "Stage Attempt ID"), 0));
    if (stage && stage->live)
        read_info(listener, info, stage);
    return stage;
}

static bool lists(const struct pyro_history_job *job, int64_t stage)
{
    for (size_t i = 0; i < job->stage_ids.count; i++)
        if (job->stage_ids.items[i] == stage)
            return true;
    return false;
}

static void link_job(struct pyro_listener *listener, struct pyro_history_stage *stage, size_t row)
{
    uint32_t *added = pyro_vec_push(&stage->jobs, NULL);
    listener->history->failed |= !added;
    if (added)
        *added = (uint32_t)row;
}

static int compare_texts(const void *a, const void *b)
{
    return pyro_slice_compare(*(const struct pyro_slice *)a, *(const struct pyro_slice *)b);
}

static void read_properties(struct pyro_listener *listener, const struct pyro_tree *properties,
                            struct pyro_history_job *job)
{
    job->description = pyro_listener_text(listener, GET(properties, "spark.job.description"));
    job->group = pyro_listener_text(listener, GET(properties, "spark.jobGroup.id"));
    struct pyro_slice tags = pyro_listener_text(listener, GET(properties, "spark.job.tags"));
    while (tags.len) {
        const char *comma = memchr(tags.ptr, ',', tags.len);
        size_t len = comma ? (size_t)(comma - tags.ptr) : tags.len;
        struct pyro_slice *tag = len ? pyro_vec_push(&job->tags, NULL) : NULL;
        listener->history->failed |= len && !tag;
        if (tag)
            *tag = (struct pyro_slice){tags.ptr, len};
        tags = (struct pyro_slice){tags.ptr + len + (comma ? 1 : 0), tags.len - len - (comma ? 1 : 0)};
    }
    if (job->tags.count)
        qsort(job->tags.items, job->tags.count, sizeof(*job->tags.items), compare_texts);
    size_t kept = 0; /* each once */
    for (size_t i = 0; i < job->tags.count; i++)
        if (kept == 0 || !pyro_slice_eq(job->tags.items[kept - 1], job->tags.items[i]))
            job->tags.items[kept++] = job->tags.items[i];
    job->tags.count = kept;
}

/* The job's stages belong to an SQL execution. */
static void follow_sql(struct pyro_listener *listener, const struct pyro_tree *event, int64_t job)
{
    const struct pyro_tree *execution =
        listener->with_sql ? GET(GET(event, "Properties"), "spark.sql.execution.id") : NULL;
    size_t row = execution ? pyro_sql_job_start(&listener->sql, pyro_tree_int(execution, -1), job) : SIZE_MAX;
    const struct pyro_tree *infos = GET(event, "Stage Infos"), *ids = GET(event, "Stage IDs");
    if (row == SIZE_MAX)
        return;
    for (const struct pyro_tree *one = infos ? infos->first : ids ? ids->first : NULL; one; one = one->next)
        pyro_sql_job_stage(&listener->sql, row, pyro_tree_int(infos ? GET(one, "Stage ID") : one, 0),
                           pyro_tree_int(GET(one, "Number of Tasks"), 0));
    pyro_sql_job_started(&listener->sql, row);
}

void pyro_history_on_job_start(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history *history = listener->history;
    int64_t id = pyro_tree_int(GET(event, "Job ID"), -1);
    uint64_t *row = pyro_map_put(&history->job_rows, (uint64_t)id, NULL);
    if (row && *row)
        return; /* the same event again */
    struct pyro_job_progress *progress = row ? pyro_vec_push(&listener->jobs, NULL) : NULL;
    uint32_t *running = progress ? pyro_vec_push(&listener->running_jobs, NULL) : NULL;
    struct pyro_history_job *job = running ? pyro_vec_push(&history->jobs, NULL) : NULL;
    history->failed |= !job;
    if (!job)
        return;
    pyro_id_set_init(&progress->indices, NULL);
    pyro_id_set_init(&progress->completed_stages, NULL);
    pyro_id_set_init(&progress->skipped_stages, NULL);
    *row = history->jobs.count;
    size_t job_row = history->jobs.count - 1;
    *running = (uint32_t)job_row;
    job->id = id;
    job->submitted_ms = pyro_tree_int(GET(event, "Submission Time"), 0);
    read_properties(listener, GET(event, "Properties"), job);
    const struct pyro_tree *ids = GET(event, "Stage IDs"), *infos = GET(event, "Stage Infos");
    for (const struct pyro_tree *one = infos ? infos->first : ids ? ids->first : NULL; one; one = one->next) {
        int64_t *stage_id = pyro_vec_push(&job->stage_ids, NULL);
        history->failed |= !stage_id;
        if (stage_id)
            *stage_id = pyro_tree_int(infos ? GET(one, "Stage ID") : one, 0);
    }
    follow_sql(listener, event, id);
    int64_t last = -1;
    for (const struct pyro_tree *info = infos ? infos->first : NULL; info; info = info->next) {
        if (!GET(info, "Completion Time"))
            job->tasks = pyro_add_wrapping(job->tasks, pyro_tree_int(GET(info, "Number of Tasks"), 0));
        struct pyro_history_stage *stage = live_stage(listener, info);
        if (!stage)
            continue;
        link_job(listener, stage, job_row);
        if (stage->id >= last) {
            last = stage->id;
            job->name = pyro_listener_text(listener, GET(info, "Stage Name"));
        }
    }
}

static void stop_running(struct pyro_listener *listener, size_t row)
{
    uint32_t *rows = listener->running_jobs.items;
    size_t kept = 0;
    for (size_t i = 0; i < listener->running_jobs.count; i++)
        if (rows[i] != row)
            rows[kept++] = rows[i];
    listener->running_jobs.count = kept;
}

void pyro_history_on_job_end(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history *history = listener->history;
    struct pyro_history_job *job = pyro_history_job(history, pyro_tree_int(GET(event, "Job ID"), -1));
    if (!job || job->status != PYRO_JOB_RUNNING)
        return;
    struct pyro_job_progress *progress = &listener->jobs.items[job - history->jobs.items];
    stop_running(listener, (size_t)(job - history->jobs.items));
    /* Stages that never began are skipped now. */
    for (size_t i = 0; i < job->stage_ids.count; i++) {
        struct pyro_history_stage *stage = pyro_history_stage(history, job->stage_ids.items[i], 0);
        if (!stage || !stage->live || stage->status != PYRO_STAGE_PENDING)
            continue;
        stage->status = PYRO_STAGE_SKIPPED;
        stage->live = false;
        pyro_listener_add(listener, &progress->skipped_stages, stage->id, &job->skipped_stages);
        job->skipped_tasks = pyro_add_wrapping(job->skipped_tasks, stage->partitions);
        pyro_retained_stage(&listener->retained, (size_t)(stage - history->stages.items), true);
    }
    bool succeeded = pyro_tree_is(GET(GET(event, "Job Result"), "Result"), "JobSucceeded");
    job->status = succeeded ? PYRO_JOB_SUCCEEDED : PYRO_JOB_FAILED;
    job->completed_ms = pyro_tree_int(GET(event, "Completion Time"), 0);
    pyro_retained_job(&listener->retained, (size_t)(job - history->jobs.items), true);
    pyro_sql_job_end(&listener->sql, job->id, succeeded);
}

void pyro_history_on_stage_submitted(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history *history = listener->history;
    const struct pyro_tree *info = GET(event, "Stage Info"), *properties = GET(event, "Properties");
    struct pyro_history_stage *stage = live_stage(listener, info);
    if (!stage || !stage->live)
        return;
    pyro_sql_stage_submitted(&listener->sql, stage->id, stage->attempt);
    stage->status = PYRO_STAGE_ACTIVE;
    struct pyro_slice pool = pyro_listener_text(listener, GET(properties, "spark.scheduler.pool"));
    if (pool.ptr)
        stage->pool = pool;
    stage->description = pyro_listener_text(listener, GET(properties, "spark.job.description"));
    stage->jobs.count = 0;
    for (size_t i = 0; i < listener->running_jobs.count; i++) {
        struct pyro_history_job *job = &history->jobs.items[listener->running_jobs.items[i]];
        if (!lists(job, stage->id))
            continue;
        link_job(listener, stage, listener->running_jobs.items[i]);
        job->active_stages++;
    }
    pyro_listener_rdds(listener, GET(info, "RDD Info"));
}

/* ---- Executors that ended ---- */

void pyro_listener_remember(struct pyro_listener *listener, struct pyro_history_executor *executor)
{
    const struct pyro_history *history = listener->history;
    bool remembered = executor->remembered;
    while (listener->first_live < history->stages.count && !history->stages.items[listener->first_live].live)
        listener->first_live++;
    executor->remembered = false;
    for (size_t i = listener->first_live; i < history->stages.count && !executor->remembered; i++)
        executor->remembered =
            history->stages.items[i].live && history->stages.items[i].submitted_ms < executor->removed_ms;
    listener->remembered += (size_t)executor->remembered - (size_t)remembered;
}

static void forget_executors(struct pyro_listener *listener)
{
    struct pyro_history *history = listener->history;
    for (size_t i = 0, left = listener->remembered; i < history->executors.count && left > 0; i++) {
        if (history->executors.items[i].remembered) {
            left--;
            pyro_listener_remember(listener, &history->executors.items[i]);
        }
    }
}

static void complete_stage(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history *history = listener->history;
    struct pyro_history_stage *stage = live_stage(listener, GET(event, "Stage Info"));
    if (!stage || !stage->live)
        return;
    stage->status = stage->failure.ptr    ? PYRO_STAGE_FAILED
                    : stage->submitted_ms ? PYRO_STAGE_COMPLETE
                                          : PYRO_STAGE_SKIPPED;
    for (size_t i = 0; i < stage->jobs.count; i++) {
        struct pyro_history_job *job = &history->jobs.items[stage->jobs.items[i]];
        struct pyro_job_progress *progress = &listener->jobs.items[stage->jobs.items[i]];
        if (stage->status == PYRO_STAGE_COMPLETE) {
            pyro_listener_add(listener, &progress->completed_stages, stage->id, &job->completed_stages);
        } else if (stage->status == PYRO_STAGE_SKIPPED) {
            pyro_listener_add(listener, &progress->skipped_stages, stage->id, &job->skipped_stages);
            job->skipped_tasks = pyro_add_wrapping(job->skipped_tasks, stage->partitions);
        } else {
            job->failed_stages++;
        }
        job->active_stages--;
    }
    for (size_t i = 0; i < stage->shares.count; i++) {
        struct pyro_history_executor *executor =
            stage->shares.items[i].excluded ? pyro_listener_live_executor(listener, stage->shares.items[i].executor)
                                            : NULL;
        for (size_t k = 0; executor && k < executor->excluded_stages.count; k++)
            if (executor->excluded_stages.items[k] == stage->id)
                executor->excluded_stages.items[k--] =
                    executor->excluded_stages.items[--executor->excluded_stages.count];
    }
    stage->live = stage->active > 0;
    pyro_retained_stage(&listener->retained, (size_t)(stage - history->stages.items), !stage->live);
}

void pyro_history_on_stage_completed(struct pyro_listener *listener, const struct pyro_tree *event)
{
    complete_stage(listener, event);
    forget_executors(listener);
}
