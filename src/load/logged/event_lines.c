/* The event lines of an application, from what its text logs say. */
#include "decode/rest/rest_reading.h"
#include "load/logged/event_order.h"
#include "text/escape.h"

struct writing {
    struct pyro_logged *logged;
    struct pyro_logged_order order;
    struct pyro_rest_reading lines; /* writes event lines */
    struct pyro_strbuf text;
};

static void add_text(struct writing *writing, const char *name, struct pyro_slice text)
{
    pyro_compact_text(&writing->lines.lines, name, text);
}

/* ---- Executors --------------------------------------------------------------------------------------------------- */

static enum pyro_status write_added(struct writing *writing, const struct pyro_logged_executor *executor)
{
    struct pyro_rest_reading *lines = &writing->lines;
    const struct pyro_logged *logged = writing->logged;
    int64_t cores = executor->cores;
    if (logged->slots > 0 && logged->slots < INT32_MAX && !pyro_slice_is(executor->id, "driver"))
        cores = logged->slots;
    pyro_rest_line(lines, "SparkListenerExecutorAdded");
    pyro_rest_add_time(lines, "Timestamp", pyro_logged_added_ms(logged, executor));
    add_text(writing, "Executor ID", executor->id);
    pyro_rest_begin(lines, "Executor Info", '{');
    add_text(writing, "Host", executor->host);
    if (cores > 0)
        pyro_rest_add_int(lines, "Total Cores", cores);
    pyro_rest_end(lines, '}');
    return pyro_rest_line_end(lines);
}

static enum pyro_status write_removed(struct writing *writing, const struct pyro_logged_executor *executor)
{
    struct pyro_rest_reading *lines = &writing->lines;
    pyro_rest_line(lines, "SparkListenerExecutorRemoved");
    pyro_rest_add_time(lines, "Timestamp", executor->lost_ms);
    add_text(writing, "Executor ID", executor->id);
    add_text(writing, "Removed Reason", executor->reason);
    return pyro_rest_line_end(lines);
}

/* ---- Jobs and stages --------------------------------------------------------------------------------------------- */

/* The members that every event of a stage has. */
static void add_stage(struct writing *writing, int64_t id, int64_t attempt, const struct pyro_line_job *job,
                      int64_t tasks, struct pyro_slice parents)
{
    struct pyro_rest_reading *lines = &writing->lines;
    pyro_rest_add_int(lines, "Stage ID", id);
    pyro_rest_add_int(lines, "Stage Attempt ID", attempt);
    add_text(writing, "Stage Name", job ? job->name : PYRO_SLICE_NULL);
    pyro_rest_add_int(lines, "Number of Tasks", tasks);
    pyro_rest_begin(lines, "Parent IDs", '[');
    if (parents.ptr)
        pyro_strbuf_add_slice(&lines->lines, parents);
    pyro_rest_end(lines, ']');
}

static void list_stage(struct writing *writing, const struct pyro_line_job *job, int64_t id, int64_t tasks,
                       struct pyro_slice parents, bool with_info)
{
    struct pyro_rest_reading *lines = &writing->lines;
    if (!with_info) {
        pyro_compact_int(&lines->lines, NULL, id);
        return;
    }
    pyro_rest_begin(lines, NULL, '{');
    add_stage(writing, id, 0, job, tasks, parents);
    pyro_rest_end(lines, '}');
}

/* The stages of a job that had tasks, and its final one. Parents whose results already existed are not known. */
static void list_stages(struct writing *writing, size_t row, bool with_info)
{
    const struct pyro_logged *logged = writing->logged;
    const struct pyro_line_result *result = &logged->lines;
    const struct pyro_line_job *job = &result->jobs[row];
    int64_t last = PYRO_NONE;
    if (job->final_stage == PYRO_NONE)
        return;
    for (size_t i = writing->order.first_stages[row]; i < result->stage_count; i++) {
        const struct pyro_line_stage *stage = &result->stages[i];
        if (stage->application == job->application && stage->id > job->final_stage)
            break;
        if (stage->application != job->application || stage->id == last)
            continue;
        last = stage->id;
        list_stage(writing, job, last, pyro_logged_stage_times(logged, stage).tasks, writing->order.stages[i].parents,
                   with_info);
    }
    if (last == job->final_stage)
        return;
    list_stage(writing, job, job->final_stage, job->partitions != PYRO_NONE ? job->partitions : 0, PYRO_SLICE_NULL,
               with_info);
}

static enum pyro_status write_job_start(struct writing *writing, size_t row)
{
    const struct pyro_line_job *job = &writing->logged->lines.jobs[row];
    struct pyro_rest_reading *lines = &writing->lines;
    pyro_rest_line(lines, "SparkListenerJobStart");
    pyro_rest_add_int(lines, "Job ID", job->id);
    pyro_rest_add_time(lines, "Submission Time", job->start_ms);
    pyro_rest_begin(lines, "Stage Infos", '[');
    list_stages(writing, row, true);
    pyro_rest_end(lines, ']');
    pyro_rest_begin(lines, "Stage IDs", '[');
    list_stages(writing, row, false);
    pyro_rest_end(lines, ']');
    return pyro_rest_line_end(lines);
}

static enum pyro_status write_job_end(struct writing *writing, const struct pyro_line_job *job)
{
    struct pyro_rest_reading *lines = &writing->lines;
    pyro_rest_line(lines, "SparkListenerJobEnd");
    pyro_rest_add_int(lines, "Job ID", job->id);
    pyro_rest_add_time(lines, "Completion Time", job->end_ms);
    if (job->status == PYRO_LINE_SUCCEEDED) {
        pyro_rest_add_succeeded_job(lines);
        return pyro_rest_line_end(lines);
    }
    struct pyro_slice reason = PYRO_SLICE_LITERAL("the log does not say why");
    const uint64_t *row = pyro_map_get(&writing->logged->stage_rows, (uint64_t)job->final_stage);
    if (row && writing->logged->stages.items[*row - 1].reason.ptr)
        reason = writing->logged->stages.items[*row - 1].reason;
    pyro_rest_begin_failed_job(lines);
    add_text(writing, "Message", reason);
    pyro_rest_end_failed_job(lines);
    return pyro_rest_line_end(lines);
}

static enum pyro_status write_stage(struct writing *writing, size_t row, bool completed)
{
    struct pyro_rest_reading *lines = &writing->lines;
    const struct pyro_line_stage *stage = &writing->logged->lines.stages[row];
    const struct pyro_logged_place *place = &writing->order.stages[row];
    const struct pyro_logged_stage_times times = pyro_logged_stage_times(writing->logged, stage);
    const struct pyro_line_job *job = place->job == SIZE_MAX ? NULL : &writing->logged->lines.jobs[place->job];
    pyro_rest_line(lines, completed ? "SparkListenerStageCompleted" : "SparkListenerStageSubmitted");
    pyro_rest_begin(lines, "Stage Info", '{');
    add_stage(writing, stage->id, stage->attempt, job, times.tasks, place->parents);
    pyro_rest_add_time(lines, "Submission Time", times.submitted_ms);
    if (completed) {
        pyro_rest_add_time(lines, "Completion Time", times.ended_ms);
        add_text(writing, "Failure Reason", times.reason);
    }
    pyro_rest_end(lines, '}');
    return pyro_rest_line_end(lines);
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
    pyro_rest_begin(lines, "Task Info", '{');
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

static enum pyro_status write_task_start(struct writing *writing, const struct pyro_line_task *task)
{
    begin_task(writing, "SparkListenerTaskStart", task);
    add_info(writing, task, pyro_logged_launch_ms(task));
    pyro_rest_end(&writing->lines, '}');
    return pyro_rest_line_end(&writing->lines);
}

static enum pyro_status write_task_end(struct writing *writing, const struct pyro_line_task *task)
{
    struct pyro_rest_reading *lines = &writing->lines;
    int64_t launch_ms = pyro_logged_launch_ms(task);
    bool failed = task->status == PYRO_LINE_FAILED;
    begin_task(writing, "SparkListenerTaskEnd", task);
    add_reason(writing, task);
    add_info(writing, task, launch_ms);
    pyro_rest_add_int(lines, "Finish Time", task->end_ms > launch_ms ? task->end_ms : launch_ms);
    pyro_rest_add_raw(lines, "Failed", failed ? PYRO_SLICE_LITERAL("true") : PYRO_SLICE_LITERAL("false"));
    pyro_rest_add_raw(lines, "Killed", PYRO_SLICE_LITERAL("false"));
    pyro_rest_end(lines, '}');
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

static enum pyro_status write_event(struct writing *writing, const struct pyro_logged_event *event)
{
    const struct pyro_logged *logged = writing->logged;
    switch ((enum pyro_logged_kind)event->kind) {
    case PYRO_LOGGED_EXECUTOR_ADDED:
        return write_added(writing, &logged->executors.items[event->row]);
    case PYRO_LOGGED_JOB_START:
        return write_job_start(writing, event->row);
    case PYRO_LOGGED_STAGE_SUBMITTED:
    case PYRO_LOGGED_STAGE_COMPLETED:
        return write_stage(writing, event->row, event->kind == PYRO_LOGGED_STAGE_COMPLETED);
    case PYRO_LOGGED_TASK_START:
        return write_task_start(writing, &logged->lines.tasks[event->row]);
    case PYRO_LOGGED_TASK_END:
        return write_task_end(writing, &logged->lines.tasks[event->row]);
    case PYRO_LOGGED_JOB_END:
        return write_job_end(writing, &logged->lines.jobs[event->row]);
    case PYRO_LOGGED_EXECUTOR_REMOVED:
        return write_removed(writing, &logged->executors.items[event->row]);
    }
    return PYRO_OK;
}

static enum pyro_status write_all(struct writing *writing)
{
    struct pyro_logged *logged = writing->logged;
    if (!pyro_logged_count_cores(logged) || !pyro_logged_order(logged, &writing->order))
        return pyro_rest_no_memory(&writing->lines);
    PYRO_TRY(write_start(writing));
    for (size_t i = 0; i < writing->order.count; i++)
        PYRO_TRY(write_event(writing, &writing->order.events[i]));
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
    pyro_logged_order_done(logged, &writing.order);
    return status;
}
