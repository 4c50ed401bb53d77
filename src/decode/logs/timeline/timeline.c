#include "decode/logs/timeline/timeline.h"

#include "base/collections/hash.h"
#include "decode/logs/named_task.h"
#include "decode/logs/timeline/line_table.h"
#include "model/column.h"

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void widen(int64_t *start_ms, int64_t *end_ms, int64_t time_ms)
{
    if (time_ms == PYRO_NONE)
        return;
    if (*start_ms == PYRO_NONE || time_ms < *start_ms)
        *start_ms = time_ms;
    if (*end_ms == PYRO_NONE || time_ms > *end_ms)
        *end_ms = time_ms;
}

/* The application that a record belongs to: by its id, else by its file. `fresh`: another run begins in the file. NULL:
 * no memory. */
static struct pyro_line_application *application_of(struct pyro_line_timeline *timeline,
                                                    const struct pyro_log_file *file, bool fresh)
{
    struct pyro_slice key = file->application.ptr ? file->application : file->path;
    if (timeline->file == file && !fresh && timeline->current >= 0)
        return &timeline->applications.items[timeline->current];
    uint64_t *place = pyro_map_put(&timeline->application_places, pyro_hash_slice(key), NULL);
    if (!place)
        return NULL;
    timeline->file = file;
    if (*place == 0 || fresh) {
        struct pyro_line_application *added = pyro_vec_push(&timeline->applications, timeline->allocator);
        if (!added)
            return NULL;
        added->path = pyro_intern_slice(timeline->pool, file->path);
        added->id = pyro_intern_slice(timeline->pool, file->application);
        added->start_ms = added->end_ms = PYRO_NONE;
        *place = timeline->applications.count;
    }
    timeline->current = (int32_t)*place - 1;
    return &timeline->applications.items[timeline->current];
}

static uint64_t key_of(int32_t application, int64_t id)
{
    return pyro_hash_mix((uint64_t)id ^ pyro_hash_mix((uint64_t)(uint32_t)application + 1));
}

/* NULL: no memory, or the limit is reached (then left_out counts). */
static struct pyro_line_task *task_of(struct pyro_line_timeline *timeline, const struct pyro_log_task *task)
{
    uint64_t key = key_of(timeline->current, task->tid);
    const uint64_t *known = pyro_map_get(&timeline->task_places, key);
    if (known)
        return &timeline->tasks.items[*known - 1];
    if (timeline->tasks.count == PYRO_LOG_TASKS_MOST) {
        timeline->left_out++;
        return NULL;
    }
    uint64_t *place = pyro_map_put(&timeline->task_places, key, NULL);
    struct pyro_line_task *added = place ? pyro_vec_push(&timeline->tasks, timeline->allocator) : NULL;
    if (!added) {
        timeline->failed = true;
        return NULL;
    }
    *place = timeline->tasks.count;
    *added = (struct pyro_line_task){.application = timeline->current,
                                     .executor = -1,
                                     .id = task->tid,
                                     .stage = task->stage,
                                     .stage_attempt = task->stage_attempt,
                                     .index = task->index,
                                     .attempt = task->attempt,
                                     .start_ms = PYRO_NONE,
                                     .end_ms = PYRO_NONE};
    return added;
}

static struct pyro_line_job *job_of(struct pyro_line_timeline *timeline, int64_t id)
{
    uint64_t key = key_of(timeline->current, id);
    const uint64_t *known = pyro_map_get(&timeline->job_places, key);
    if (known)
        return &timeline->jobs.items[*known - 1];
    if (timeline->jobs.count == PYRO_LOG_JOBS_MOST) {
        timeline->left_out++;
        return NULL;
    }
    uint64_t *place = pyro_map_put(&timeline->job_places, key, NULL);
    struct pyro_line_job *added = place ? pyro_vec_push(&timeline->jobs, timeline->allocator) : NULL;
    if (!added) {
        timeline->failed = true;
        return NULL;
    }
    *place = timeline->jobs.count;
    *added = (struct pyro_line_job){.application = timeline->current,
                                    .id = id,
                                    .partitions = PYRO_NONE,
                                    .final_stage = PYRO_NONE,
                                    .start_ms = PYRO_NONE,
                                    .end_ms = PYRO_NONE};
    return added;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static struct pyro_slice behind(struct pyro_slice text, size_t head)
{
    return head < text.len ? (struct pyro_slice){text.ptr + head, text.len - head} : PYRO_SLICE_LITERAL("");
}

static struct pyro_slice first_line(struct pyro_slice text)
{
    const char *newline = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    return newline ? (struct pyro_slice){text.ptr, (size_t)(newline - text.ptr)} : text;
}

/* "... executor 1, partition 0, ..." and "(executor 1)" of the driver; else the log's own. */
static void set_executor(struct pyro_line_timeline *timeline, struct pyro_line_task *task,
                         const struct pyro_log_file *file, struct pyro_slice rest, bool driver)
{
    struct pyro_slice id = driver ? PYRO_SLICE_NULL : file->executor;
    const char *at = driver ? pyro_slice_find(rest, "executor ") : NULL;
    if (at) {
        const char *end = at + 9, *stop = rest.ptr + rest.len;
        while (end < stop && *end != ',' && *end != ')' && *end != ' ' && *end != ':')
            end++;
        id = (struct pyro_slice){at + 9, (size_t)(end - at) - 9};
    }
    if (!id.ptr || id.len == 0 || task->executor >= 0)
        return;
    uint32_t number = pyro_intern(timeline->pool, id);
    timeline->failed |= number == UINT32_MAX;
    task->executor = (int32_t)number;
}

static void start_task(struct pyro_line_timeline *timeline, const struct pyro_log_file *file,
                       const struct pyro_log_record *record, const struct pyro_log_task *named, bool driver)
{
    struct pyro_line_task *task = task_of(timeline, named);
    if (!task)
        return;
    if (driver || !task->by_driver_start) {
        task->start_ms = record->time_ms;
        task->by_driver_start |= driver;
    }
    set_executor(timeline, task, file, behind(first_line(record->message), named->end), driver);
}

static void end_task(struct pyro_line_timeline *timeline, const struct pyro_log_file *file,
                     const struct pyro_log_record *record, const struct pyro_log_task *named, bool driver,
                     enum pyro_line_status status)
{
    struct pyro_line_task *task = task_of(timeline, named);
    struct pyro_slice rest = behind(first_line(record->message), named->end);
    if (!task)
        return;
    if (driver || !task->by_driver_end) {
        task->end_ms = record->time_ms;
        task->status = status;
        task->by_driver_end |= driver;
    }
    if (driver && task->start_ms == PYRO_NONE && pyro_slice_starts_with(rest, ") in ")) { /* "... in 125 ms on host" */
        int64_t took_ms;
        if (record->time_ms != PYRO_NONE && pyro_log_number_read(behind(rest, 5), &took_ms) > 0)
            task->start_ms = pyro_sub_saturating(record->time_ms, took_ms);
    }
    set_executor(timeline, task, file, rest, driver);
}

/* The driver says where or how long, the executor what it sends. */
static void read_task(struct pyro_line_timeline *timeline, const struct pyro_log_file *file,
                      const struct pyro_log_record *record)
{
    static const struct {
        const char *words;
        bool starts, driver;
        enum pyro_line_status status;
    } lines[] = {{"Starting task ", true, true, PYRO_LINE_UNKNOWN},
                 {"Running task ", true, false, PYRO_LINE_UNKNOWN},
                 {"Finished task ", false, false, PYRO_LINE_SUCCEEDED},
                 {"Lost task ", false, true, PYRO_LINE_FAILED},
                 {"Exception in task ", false, false, PYRO_LINE_FAILED},
                 {"Executor killed task ", false, false, PYRO_LINE_FAILED},
                 {"Executor interrupted and killed task ", false, false, PYRO_LINE_FAILED}};
    struct pyro_log_task task;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        if (!pyro_slice_starts_with(record->message, lines[i].words) || !pyro_log_task_read(record->message, &task))
            continue;
        bool took = pyro_slice_starts_with(behind(record->message, task.end), ") in ");
        if (lines[i].starts)
            start_task(timeline, file, record, &task, lines[i].driver);
        else
            end_task(timeline, file, record, &task, lines[i].driver || took, lines[i].status);
        return;
    }
}

static void begin_job(struct pyro_line_timeline *timeline, int64_t id, bool map, struct pyro_slice rest,
                      int64_t time_ms)
{
    struct pyro_line_job *job = job_of(timeline, id);
    const char *with = pyro_slice_find(rest, ") with ");
    timeline->last_job = job ? (uint64_t)(job - timeline->jobs.items) + 1 : 0;
    if (!job)
        return;
    job->start_ms = time_ms;
    job->map = map;
    if (with && pyro_slice_starts_with(rest, " (")) {
        job->name = pyro_intern_slice(timeline->pool, (struct pyro_slice){rest.ptr + 2, (size_t)(with - rest.ptr) - 2});
        pyro_log_number_read(behind(rest, (size_t)(with - rest.ptr) + 7), &job->partitions);
    }
}

/* "Got job 0 (collect at etl.py:3) with 8 output partitions", "Got map stage job 1 (...) ...", "Job 0 finished: collect
 * at etl.py:3, took 1.2 s" */
static void read_job(struct pyro_line_timeline *timeline, const struct pyro_log_record *record)
{
    struct pyro_slice text = first_line(record->message);
    bool map = pyro_slice_starts_with(text, "Got map stage job ");
    bool got = map || pyro_slice_starts_with(text, "Got job ");
    int64_t id;
    struct pyro_slice rest = behind(text, map ? 18 : got ? 8 : 4);
    size_t len = pyro_log_number_read(rest, &id);
    rest = behind(rest, len);
    bool failed = pyro_slice_starts_with(rest, " failed");
    if (len == 0 || (!got && !failed && !pyro_slice_starts_with(rest, " finished")))
        return;
    if (got) {
        begin_job(timeline, id, map, rest, record->time_ms);
        return;
    }
    struct pyro_line_job *job = job_of(timeline, id);
    if (job) {
        job->end_ms = record->time_ms;
        job->status = failed ? PYRO_LINE_FAILED : PYRO_LINE_SUCCEEDED;
    }
}

/* Behind "Got job" and "Got map stage job": "Final stage: ResultStage 4 (...)", "Final stage: ShuffleMapStage 3
 * (collect at etl.py:3)". */
static void read_final_stage(struct pyro_line_timeline *timeline, struct pyro_slice text)
{
    static const char words[] = "Final stage: ShuffleMapStage ", result[] = "Final stage: ResultStage ";
    struct pyro_line_job *job = timeline->last_job ? &timeline->jobs.items[timeline->last_job - 1] : NULL;
    size_t head = pyro_slice_starts_with(text, words)    ? sizeof(words) - 1
                  : pyro_slice_starts_with(text, result) ? sizeof(result) - 1
                                                         : 0;
    int64_t stage;
    if (!job || !head || pyro_log_number_read(behind(text, head), &stage) == 0)
        return;
    job->final_stage = stage;
    if (!job->map)
        return;
    uint64_t *place = pyro_map_put(&timeline->map_stages, key_of(timeline->current, stage), NULL);
    timeline->failed |= !place;
    if (place)
        *place = timeline->last_job;
}

/* "ShuffleMapStage 3 (collect at etl.py:3) finished in 0.5 s", "... failed in 0.5 s due to ...": what such a job waits
 * for. */
static void read_map_stage(struct pyro_line_timeline *timeline, const struct pyro_log_record *record)
{
    static const char words[] = "ShuffleMapStage ";
    struct pyro_slice text = first_line(record->message);
    int64_t stage;
    if (!pyro_slice_starts_with(text, words) || pyro_log_number_read(behind(text, sizeof(words) - 1), &stage) == 0)
        return;
    const uint64_t *place = pyro_map_get(&timeline->map_stages, key_of(timeline->current, stage));
    bool finished = pyro_slice_find(text, ") finished in ") != NULL;
    if (!place || (!finished && !pyro_slice_find(text, ") failed in ")))
        return;
    struct pyro_line_job *job = &timeline->jobs.items[*place - 1];
    job->end_ms = record->time_ms;
    job->status = finished ? PYRO_LINE_SUCCEEDED : PYRO_LINE_FAILED;
}

static bool read_name(struct pyro_line_timeline *timeline, struct pyro_line_application *application,
                      const struct pyro_log_record *record)
{
    static const char words[] = "Submitted application: ";
    if (!pyro_slice_starts_with(record->message, words))
        return true;
    application->name = pyro_intern_slice(timeline->pool, behind(first_line(record->message), sizeof(words) - 1));
    return application->name.ptr != NULL;
}

enum pyro_status pyro_line_timeline_take(void *context, const struct pyro_log_file *file,
                                         const struct pyro_log_record *record, struct pyro_error *error)
{
    struct pyro_line_timeline *timeline = context;
    /* Masters and workers say the same of themselves. */
    bool begins = pyro_slice_starts_with(record->message, "Running Spark version ") &&
                  (!record->logger.ptr || pyro_slice_ends_with(record->logger, "SparkContext"));
    /* A file that two runs of the same name wrote to: their jobs begin with 0 again. */
    bool fresh = begins && timeline->file == file && timeline->begun;
    struct pyro_line_application *application = application_of(timeline, file, fresh);
    if (!application)
        return pyro_no_memory(error);
    timeline->begun = begins || (timeline->begun && timeline->begun_file == file);
    timeline->begun_file = file;
    widen(&application->start_ms, &application->end_ms, record->time_ms);
    bool ok = true;
    switch (record->message.len > 0 ? *record->message.ptr : '\0') {
    case 'S':
        ok = read_name(timeline, application, record);
        read_task(timeline, file, record);
        read_map_stage(timeline, record);
        break;
    case 'F':
        read_task(timeline, file, record);
        read_final_stage(timeline, first_line(record->message));
        break;
    case 'R':
    case 'L':
    case 'E':
        read_task(timeline, file, record);
        break;
    case 'G':
    case 'J':
        if (pyro_slice_starts_with(record->message, "Got ") || pyro_slice_starts_with(record->message, "Job "))
            read_job(timeline, record);
        break;
    default:
        break;
    }
    return ok && !timeline->failed && !pyro_intake_failed(&timeline->intake) ? PYRO_OK : pyro_no_memory(error);
}
