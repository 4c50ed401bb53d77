/* The event lines of an application, from what its text logs say. */
#include <stdlib.h>

#include "base/saturate.h"
#include "decode/rest/reading.h"
#include "load/logged/logged.h"
#include "report/shared/escape.h"

struct writing {
    struct pyro_logged *logged;
    struct pyro_rest_reading lines; /* writes event lines */
    struct pyro_strbuf text;
    PYRO_VEC(int64_t) waiting; /* stages of the current job that no later one is taken to read yet */
};

static void add_text(struct writing *writing, const char *name, struct pyro_slice text)
{
    if (!text.ptr)
        return;
    pyro_strbuf_clear(&writing->text);
    pyro_add_json(&writing->text, text);
    writing->lines.lines.failed |= writing->text.failed;
    pyro_rest_add_raw(&writing->lines, name, pyro_strbuf_slice(&writing->text));
}

/* ---- Executors --------------------------------------------------------------------------------------------------- */

struct step {
    size_t executor;
    int64_t time_ms, more;
};

/* Ends first: a line says the second only. */
static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->executor != b->executor)
        return a->executor < b->executor ? -1 : 1;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    return (a->more > b->more) - (a->more < b->more);
}

/* The driver starts the next task before it writes that one has finished. */
enum { WRITTEN_LATE_MS = 200 };

/* The most tasks that each executor ran at once, and those that no log of their own tells of. */
static bool count_cores(struct pyro_logged *logged)
{
    const struct pyro_line_result *lines = &logged->lines;
    size_t made = 0;
    struct step *steps = pyro_allocate(logged->allocator, (2 * lines->task_count + 1) * sizeof(*steps));
    for (size_t i = 0; steps && i < lines->task_count; i++) {
        const struct pyro_line_task *task = &lines->tasks[i];
        struct pyro_slice id = pyro_line_executor(logged->timeline, task);
        if (task->application != logged->application || !id.ptr || task->start_ms == PYRO_NONE)
            continue;
        struct pyro_logged_executor *row = pyro_logged_executor(logged, id, true);
        if (!row)
            break;
        if (row->first_ms == PYRO_NONE || task->start_ms < row->first_ms)
            row->first_ms = task->start_ms;
        size_t executor = (size_t)(row - logged->executors.items);
        int64_t end_ms =
            pyro_sub_saturating(task->end_ms == PYRO_NONE ? logged->end_ms : task->end_ms, WRITTEN_LATE_MS);
        row->cores += row->cores == 0;
        steps[made++] = (struct step){executor, task->start_ms, 1};
        steps[made++] = (struct step){executor, end_ms > task->start_ms ? end_ms : task->start_ms, -1};
    }
    if (steps && made > 0)
        qsort(steps, made, sizeof(*steps), compare_steps);
    int64_t now = 0;
    for (size_t i = 0; i < made; i++) {
        struct pyro_logged_executor *row = &logged->executors.items[steps[i].executor];
        now = (i == 0 || steps[i].executor != steps[i - 1].executor ? 0 : now) + steps[i].more;
        row->cores = now > row->cores ? now : row->cores;
    }
    pyro_release(logged->allocator, steps);
    return steps && !logged->failed;
}

static enum pyro_status write_executor(struct writing *writing, const struct pyro_logged_executor *executor)
{
    struct pyro_rest_reading *lines = &writing->lines;
    const struct pyro_logged *logged = writing->logged;
    int64_t cores = executor->cores;
    if (logged->slots > 0 && logged->slots < INT32_MAX && !pyro_slice_is(executor->id, "driver"))
        cores = logged->slots;
    pyro_rest_line(lines, "SparkListenerExecutorAdded");
    pyro_rest_add_time(lines, "Timestamp",
                       executor->registered_ms != PYRO_NONE ? executor->registered_ms
                       : executor->first_ms != PYRO_NONE    ? executor->first_ms
                                                            : logged->start_ms);
    add_text(writing, "Executor ID", executor->id);
    pyro_rest_add(lines, ",\"Executor Info\":{");
    add_text(writing, "Host", executor->host);
    if (cores > 0)
        pyro_rest_add_int(lines, "Total Cores", cores);
    pyro_rest_add(lines, "}");
    PYRO_TRY(pyro_rest_line_end(lines));
    if (executor->lost_ms == PYRO_NONE)
        return PYRO_OK;
    pyro_rest_line(lines, "SparkListenerExecutorRemoved");
    pyro_rest_add_time(lines, "Timestamp", executor->lost_ms);
    add_text(writing, "Executor ID", executor->id);
    add_text(writing, "Removed Reason", executor->reason);
    return pyro_rest_line_end(lines);
}

/* ---- Jobs and stages --------------------------------------------------------------------------------------------- */

/* Spark numbers the stages of a job when the job begins, its final stage last: a stage is one of the first job whose
 * final stage has no smaller number. Both arrays are in the order of their numbers. */
static const struct pyro_line_job *job_of(const struct pyro_logged *logged, const struct pyro_line_stage *stage,
                                          size_t *at)
{
    const struct pyro_line_result *lines = &logged->lines;
    while (*at < lines->job_count &&
           (lines->jobs[*at].application != logged->application || lines->jobs[*at].final_stage == PYRO_NONE ||
            lines->jobs[*at].final_stage < stage->id))
        (*at)++;
    return *at < lines->job_count ? &lines->jobs[*at] : NULL;
}

static enum pyro_status write_job(struct writing *writing, const struct pyro_line_job *job, size_t *at)
{
    const struct pyro_line_result *result = &writing->logged->lines;
    struct pyro_rest_reading *lines = &writing->lines;
    bool any = false;
    int64_t last = PYRO_NONE;
    pyro_rest_line(lines, "SparkListenerJobStart");
    pyro_rest_add_int(lines, "Job ID", job->id);
    pyro_rest_add_time(lines, "Submission Time", job->start_ms);
    pyro_rest_add(lines, ",\"Stage IDs\":[");
    for (; job->final_stage != PYRO_NONE && *at < result->stage_count; (*at)++) {
        const struct pyro_line_stage *stage = &result->stages[*at];
        if (stage->application == job->application && stage->id > job->final_stage)
            break;
        if (stage->application != job->application || stage->id == last)
            continue;
        last = stage->id;
        pyro_strbuf_printf(&lines->lines, "%s%lld", any ? "," : "", (long long)last);
        any = true;
    }
    if (job->final_stage != PYRO_NONE && last != job->final_stage) /* none of its tasks has run */
        pyro_strbuf_printf(&lines->lines, "%s%lld", any ? "," : "", (long long)job->final_stage);
    pyro_rest_add(lines, "]");
    return pyro_rest_line_end(lines);
}

static enum pyro_status write_job_end(struct writing *writing, const struct pyro_line_job *job)
{
    struct pyro_rest_reading *lines = &writing->lines;
    if (job->end_ms == PYRO_NONE || job->status == PYRO_LINE_UNKNOWN)
        return PYRO_OK;
    pyro_rest_line(lines, "SparkListenerJobEnd");
    pyro_rest_add_int(lines, "Job ID", job->id);
    pyro_rest_add_time(lines, "Completion Time", job->end_ms);
    if (job->status == PYRO_LINE_SUCCEEDED) {
        pyro_rest_add(lines, ",\"Job Result\":{\"Result\":\"JobSucceeded\"}");
        return pyro_rest_line_end(lines);
    }
    struct pyro_slice reason = PYRO_SLICE_LITERAL("the log does not say why");
    const uint64_t *row = pyro_map_get(&writing->logged->stage_rows, (uint64_t)job->final_stage);
    if (row && writing->logged->stages.items[*row - 1].reason.ptr)
        reason = writing->logged->stages.items[*row - 1].reason;
    pyro_rest_add(lines, ",\"Job Result\":{\"Result\":\"JobFailed\",\"Exception\":{");
    add_text(writing, "Message", reason);
    pyro_rest_add(lines, "}}");
    return pyro_rest_line_end(lines);
}

struct stage_times {
    int64_t submitted_ms, ended_ms, tasks;
    struct pyro_slice reason;
};

/* What the driver says of it, else when its tasks ran. */
static struct stage_times times_of(const struct pyro_logged *logged, const struct pyro_line_stage *stage)
{
    const struct pyro_logged_stage *known = pyro_logged_stage(logged, stage->id, stage->attempt);
    struct stage_times times = {stage->start_ms, stage->end_ms,
                                stage->tasks < INT32_MAX ? (int64_t)stage->tasks : INT32_MAX, PYRO_SLICE_NULL};
    if (!known)
        return times;
    if (known->submitted_ms != PYRO_NONE &&
        (times.submitted_ms == PYRO_NONE || known->submitted_ms < times.submitted_ms))
        times.submitted_ms = known->submitted_ms;
    times.ended_ms = known->ended_ms != PYRO_NONE ? known->ended_ms : times.ended_ms;
    times.tasks = known->tasks < INT32_MAX ? known->tasks : times.tasks;
    times.reason = known->reason;
    return times;
}

static void begin_stage(struct writing *writing, const char *event, const struct pyro_line_stage *stage,
                        const struct pyro_line_job *job, const struct stage_times *times)
{
    struct pyro_rest_reading *lines = &writing->lines;
    pyro_rest_line(lines, event);
    pyro_rest_add(lines, ",\"Stage Info\":{");
    pyro_rest_add_int(lines, "Stage ID", stage->id);
    pyro_rest_add_int(lines, "Stage Attempt ID", stage->attempt);
    add_text(writing, "Stage Name", job ? job->name : PYRO_SLICE_NULL);
    pyro_rest_add_int(lines, "Number of Tasks", times->tasks);
    pyro_rest_add_time(lines, "Submission Time", times->submitted_ms);
}

/* A stage is submitted as soon as its parents have ended. It is taken to read what its job's earlier stages had written
 * by then, and no other stage was taken to read. */
static bool add_parents(struct writing *writing, const struct pyro_line_stage *stage, const struct pyro_line_job *job,
                        const struct stage_times *times)
{
    enum { LOOKED_AT = 64 };
    struct pyro_rest_reading *lines = &writing->lines;
    const struct pyro_logged *logged = writing->logged;
    size_t kept = 0, first = writing->waiting.count > LOOKED_AT ? writing->waiting.count - LOOKED_AT : 0;
    bool any = false;
    pyro_rest_add(lines, ",\"Parent IDs\":[");
    for (size_t i = first; job && i < writing->waiting.count; i++) {
        int64_t id = writing->waiting.items[i];
        const uint64_t *row = pyro_map_get(&logged->stage_rows, (uint64_t)id);
        const struct pyro_logged_stage *other = row ? &logged->stages.items[*row - 1] : NULL;
        bool reads = id != stage->id && other && other->ended_ms != PYRO_NONE && times->submitted_ms != PYRO_NONE &&
                     other->ended_ms <= times->submitted_ms;
        if (!reads) {
            writing->waiting.items[first + kept++] = id;
            continue;
        }
        pyro_strbuf_printf(&lines->lines, "%s%lld", any ? "," : "", (long long)id);
        any = true;
    }
    pyro_rest_add(lines, "]");
    if (!job)
        return true;
    writing->waiting.count = first + kept;
    int64_t *added = stage->attempt == 0 ? pyro_vec_push(&writing->waiting, logged->allocator) : NULL;
    if (added)
        *added = stage->id;
    return added || stage->attempt != 0;
}

static enum pyro_status write_submitted(struct writing *writing)
{
    const struct pyro_logged *logged = writing->logged;
    const struct pyro_line_job *job = NULL;
    size_t at = 0;
    for (size_t i = 0; i < logged->lines.stage_count; i++) {
        const struct pyro_line_stage *stage = &logged->lines.stages[i];
        if (stage->application != logged->application)
            continue;
        const struct pyro_line_job *own = job_of(logged, stage, &at);
        const struct stage_times times = times_of(logged, stage);
        if (own != job)
            writing->waiting.count = 0;
        job = own;
        begin_stage(writing, "SparkListenerStageSubmitted", stage, job, &times);
        if (!add_parents(writing, stage, job, &times))
            return pyro_rest_no_memory(&writing->lines);
        pyro_rest_add(&writing->lines, "}");
        PYRO_TRY(pyro_rest_line_end(&writing->lines));
    }
    return PYRO_OK;
}

static enum pyro_status write_completed(struct writing *writing)
{
    const struct pyro_logged *logged = writing->logged;
    size_t at = 0;
    for (size_t i = 0; i < logged->lines.stage_count; i++) {
        const struct pyro_line_stage *stage = &logged->lines.stages[i];
        const struct stage_times times = times_of(logged, stage);
        if (stage->application != logged->application || times.ended_ms == PYRO_NONE)
            continue;
        begin_stage(writing, "SparkListenerStageCompleted", stage, job_of(logged, stage, &at), &times);
        pyro_rest_add_time(&writing->lines, "Completion Time", times.ended_ms);
        add_text(writing, "Failure Reason", times.reason);
        pyro_rest_add(&writing->lines, "}");
        PYRO_TRY(pyro_rest_line_end(&writing->lines));
    }
    return PYRO_OK;
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static void begin_task(struct writing *writing, const char *event, const struct pyro_line_task *task)
{
    pyro_rest_line(&writing->lines, event);
    pyro_rest_add_int(&writing->lines, "Stage ID", task->stage);
    pyro_rest_add_int(&writing->lines, "Stage Attempt ID", task->stage_attempt);
}

static void add_info(struct writing *writing, const struct pyro_line_task *task, int64_t launch_ms)
{
    struct pyro_rest_reading *lines = &writing->lines;
    struct pyro_slice executor = pyro_line_executor(writing->logged->timeline, task);
    const struct pyro_logged_executor *known =
        executor.ptr ? pyro_logged_executor(writing->logged, executor, false) : NULL;
    pyro_rest_add(lines, ",\"Task Info\":{");
    pyro_rest_add_int(lines, "Task ID", task->id);
    pyro_rest_add_int(lines, "Index", task->index);
    pyro_rest_add_int(lines, "Attempt", task->attempt);
    pyro_rest_add_time(lines, "Launch Time", launch_ms);
    add_text(writing, "Executor ID", executor);
    add_text(writing, "Host", known ? known->host : PYRO_SLICE_NULL);
}

/* Why it failed, as far as the driver says it. */
static void add_reason(struct writing *writing, const struct pyro_line_task *task)
{
    const struct pyro_logged *logged = writing->logged;
    const uint64_t *row = pyro_map_get(&logged->reason_rows, (uint64_t)task->id);
    struct pyro_slice status =
        task->status == PYRO_LINE_SUCCEEDED ? PYRO_SLICE_LITERAL("\"SUCCESS\"") : PYRO_SLICE_LITERAL("\"FAILED\"");
    pyro_strbuf_clear(&writing->text);
    if (row)
        pyro_add_json(&writing->text, logged->reasons.items[*row - 1]);
    pyro_rest_add_reason(&writing->lines, status, row ? pyro_strbuf_slice(&writing->text) : PYRO_SLICE_NULL);
}

static enum pyro_status write_task(struct writing *writing, const struct pyro_line_task *task)
{
    struct pyro_rest_reading *lines = &writing->lines;
    int64_t launch_ms = task->start_ms != PYRO_NONE ? task->start_ms : task->end_ms;
    bool failed = task->status == PYRO_LINE_FAILED;
    if (launch_ms == PYRO_NONE)
        return PYRO_OK;
    begin_task(writing, "SparkListenerTaskStart", task);
    add_info(writing, task, launch_ms);
    pyro_rest_add(lines, "}");
    PYRO_TRY(pyro_rest_line_end(lines));
    if (task->end_ms == PYRO_NONE || task->status == PYRO_LINE_UNKNOWN)
        return PYRO_OK;
    begin_task(writing, "SparkListenerTaskEnd", task);
    add_reason(writing, task);
    add_info(writing, task, launch_ms);
    pyro_rest_add_int(lines, "Finish Time", task->end_ms > launch_ms ? task->end_ms : launch_ms);
    pyro_rest_add_raw(lines, "Failed", failed ? PYRO_SLICE_LITERAL("true") : PYRO_SLICE_LITERAL("false"));
    pyro_rest_add_raw(lines, "Killed", PYRO_SLICE_LITERAL("false"));
    pyro_rest_add(lines, "}");
    return pyro_rest_line_end(lines);
}

/* ---- The application --------------------------------------------------------------------------------------------- */

static enum pyro_status write_start(struct writing *writing)
{
    struct pyro_rest_reading *lines = &writing->lines;
    const struct pyro_logged *logged = writing->logged;
    if (logged->version.ptr) {
        pyro_rest_line(lines, "SparkListenerLogStart");
        add_text(writing, "Spark Version", logged->version);
        PYRO_TRY(pyro_rest_line_end(lines));
    }
    pyro_rest_line(lines, "SparkListenerApplicationStart");
    add_text(writing, "App Name", logged->name.ptr ? logged->name : logged->id);
    add_text(writing, "App ID", logged->id);
    pyro_rest_add_time(lines, "Timestamp", logged->start_ms);
    return pyro_rest_line_end(lines);
}

static enum pyro_status write_all(struct writing *writing)
{
    struct pyro_logged *logged = writing->logged;
    const struct pyro_line_result *result = &logged->lines;
    size_t at = 0;
    if (!count_cores(logged))
        return pyro_rest_no_memory(&writing->lines);
    PYRO_TRY(write_start(writing));
    for (size_t i = 0; i < logged->executors.count; i++)
        PYRO_TRY(write_executor(writing, &logged->executors.items[i]));
    for (size_t i = 0; i < result->job_count; i++)
        if (result->jobs[i].application == logged->application && result->jobs[i].start_ms != PYRO_NONE)
            PYRO_TRY(write_job(writing, &result->jobs[i], &at));
    PYRO_TRY(write_submitted(writing));
    for (size_t i = 0; i < result->task_count; i++)
        if (result->tasks[i].application == logged->application)
            PYRO_TRY(write_task(writing, &result->tasks[i]));
    PYRO_TRY(write_completed(writing));
    for (size_t i = 0; i < result->job_count; i++)
        if (result->jobs[i].application == logged->application)
            PYRO_TRY(write_job_end(writing, &result->jobs[i]));
    if (logged->end_ms != PYRO_NONE) {
        pyro_rest_line(&writing->lines, "SparkListenerApplicationEnd");
        pyro_rest_add_time(&writing->lines, "Timestamp", logged->end_ms);
        PYRO_TRY(pyro_rest_line_end(&writing->lines));
    }
    return pyro_rest_flush(&writing->lines);
}

enum pyro_status pyro_logged_write(struct pyro_logged *logged, pyro_logged_put *put, void *context,
                                   struct pyro_error *error)
{
    struct pyro_error own = {.size = sizeof(own)};
    const struct pyro_rest_source source = {.allocator = logged->allocator, .put = put, .context = context};
    struct writing writing = {.logged = logged,
                              .lines = {.source = &source, .error = pyro_error_is_usable(error) ? error : &own}};
    pyro_strbuf_init(&writing.lines.lines, logged->allocator);
    pyro_strbuf_init(&writing.text, logged->allocator);
    enum pyro_status status = write_all(&writing);
    pyro_strbuf_done(&writing.lines.lines);
    pyro_strbuf_done(&writing.text);
    pyro_vec_done(&writing.waiting, logged->allocator);
    return status;
}
