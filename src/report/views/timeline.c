/* pyrometer.timeline/1: when executors, jobs, stages and tasks ran, and when only the driver did. */
#include "report/views/timeline.h"
#include "analyze/accounts/marks.h"
#include "base/collections/map.h"

struct timeline {
    const struct pyro_view_request *request;
    const struct pyro_app *app;
    int64_t start;
    struct pyro_view_tasks tasks;
    uint32_t *executor; /* of each task: index in the document's list */
    uint32_t *slots;
    /* Executors that tasks name and no event added: number of the text, of a task that ran there. */
    uint32_t *strangers;
    size_t stranger_count;
};

/* Finds the executor of each task; those that no event added come behind the known ones. */
static bool place_tasks(struct timeline *timeline)
{
    const struct pyro_app *app = timeline->app;
    struct pyro_map numbers;
    pyro_map_init(&numbers, app->allocator);
    bool ok = true;
    for (size_t i = 0; ok && i < timeline->tasks.count; i++) {
        uint32_t row = timeline->tasks.rows[i];
        int64_t known = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, row);
        bool added = false;
        if (known >= 0 && known < (int64_t)app->executors.count) {
            timeline->executor[i] = (uint32_t)known;
            continue;
        }
        uint64_t *number =
            pyro_map_put(&numbers, (uint64_t)pyro_task_get(&app->tasks, PYRO_TASK_executor, row), &added);
        ok = number != NULL;
        if (added && ok) {
            *number = timeline->stranger_count;
            timeline->strangers[timeline->stranger_count++] = row;
        }
        if (ok)
            timeline->executor[i] = (uint32_t)(app->executors.count + *number);
    }
    pyro_map_done(&numbers);
    return ok;
}

static bool prepare(struct timeline *timeline)
{
    const struct pyro_view_request *request = timeline->request;
    if (!pyro_view_tasks_load(request, -1, &timeline->tasks))
        return false;
    size_t count = timeline->tasks.count + 1;
    timeline->executor = pyro_arena_array(request->arena, count, sizeof(*timeline->executor));
    timeline->slots = pyro_arena_array(request->arena, count, sizeof(*timeline->slots));
    timeline->strangers = pyro_arena_array(request->arena, count, sizeof(*timeline->strangers));
    return timeline->executor && timeline->slots && timeline->strangers && place_tasks(timeline) &&
           pyro_view_slots(request, &timeline->tasks, timeline->executor,
                           timeline->app->executors.count + timeline->stranger_count, timeline->slots);
}

/* Rows are laid out with all tasks there; then the shortest go. */
static bool thin(struct timeline *timeline)
{
    struct pyro_view_tasks all = timeline->tasks;
    if (all.count <= timeline->request->most_tasks)
        return true;
    uint32_t *rows = pyro_arena_array(timeline->request->arena, all.count, sizeof(*rows));
    if (!rows)
        return false;
    memcpy(rows, all.rows, all.count * sizeof(*rows));
    if (!pyro_view_tasks_thin(timeline->request, &timeline->tasks))
        return false;
    for (size_t i = 0, from = 0; i < timeline->tasks.count; i++, from++) {
        while (rows[from] != timeline->tasks.rows[i])
            from++;
        timeline->executor[i] = timeline->executor[from];
        timeline->slots[i] = timeline->slots[from];
    }
    return true;
}

/* ---- The driver alone ---- */

enum { WORK_START, WORK_END };

/* Instants in which the wall account counts the driver: an executor came already, no stage is active, no task runs. */
static bool find_gaps(const struct timeline *timeline, struct pyro_marks *marks)
{
    const struct pyro_app *app = timeline->app;
    struct pyro_window window = pyro_app_window(app);
    uint64_t from, to, first = app->executors.count ? window.length : 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        pyro_executor_interval(&window, &app->executors.items[i], &from, &to);
        first = from < first ? from : first;
    }
    if (first > 0) {
        pyro_marks_add(marks, 0, WORK_START, 0);
        pyro_marks_add(marks, first, WORK_END, 0);
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        if (!pyro_stage_interval(&window, &app->stages.items[i], &from, &to) || from == to)
            continue;
        pyro_marks_add(marks, from, WORK_START, 0);
        pyro_marks_add(marks, to, WORK_END, 0);
    }
    for (size_t i = 0; i < timeline->tasks.count; i++) {
        int64_t launch = pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, timeline->tasks.rows[i]);
        from = pyro_window_at(&window, launch);
        to = pyro_window_at(&window, launch + pyro_view_task_duration(app, timeline->tasks.rows[i]));
        if (from >= to)
            continue;
        pyro_marks_add(marks, from, WORK_START, 0);
        pyro_marks_add(marks, to, WORK_END, 0);
    }
    return pyro_marks_finish(marks);
}

static void write_gaps(struct pyro_json_writer *json, const struct timeline *timeline, const struct pyro_marks *marks)
{
    struct pyro_window window = pyro_app_window(timeline->app);
    uint64_t open = 0, since = 0;
    pyro_json_line(json);
    pyro_json_begin(json, "driver_gaps", '[');
    for (size_t i = 0; i <= marks->list.count; i++) {
        uint64_t at = i < marks->list.count ? marks->list.items[i].at : window.length;
        if (open == 0 && at > since) {
            pyro_json_line(json);
            pyro_json_begin(json, NULL, '{');
            pyro_json_int(json, "from_ms", (int64_t)((uint64_t)window.start + since));
            pyro_json_int(json, "to_ms", (int64_t)((uint64_t)window.start + at));
            pyro_json_end(json, '}');
        }
        if (i == marks->list.count)
            break;
        open += marks->list.items[i].kind == WORK_START ? 1 : (uint64_t)-1;
        since = at;
    }
    pyro_json_end(json, ']');
}

/* ---- Rows ---- */

static void write_executors(struct pyro_json_writer *json, const struct timeline *timeline)
{
    const struct pyro_app *app = timeline->app;
    pyro_json_line(json);
    pyro_json_begin(json, "executors", '[');
    for (size_t i = 0; i < app->executors.count + timeline->stranger_count; i++) {
        const struct pyro_executor *known = i < app->executors.count ? &app->executors.items[i] : NULL;
        uint32_t task = known ? 0 : timeline->strangers[i - app->executors.count];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "id",
                       known ? known->id : pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, task)));
        pyro_json_text(json, "host",
                       known ? known->host : pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_host, task)));
        pyro_json_int(json, "cores", known ? known->cores : PYRO_NONE);
        pyro_json_int(json, "added_ms", known ? known->added_ms : PYRO_NONE);
        pyro_json_int(json, "removed_ms", known ? known->removed_ms : PYRO_NONE);
        pyro_json_text(json, "remove_reason", known ? known->remove_reason : PYRO_SLICE_NULL);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_jobs(struct pyro_json_writer *json, const struct pyro_app *app)
{
    pyro_json_line(json);
    pyro_json_begin(json, "jobs", '[');
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "id", job->id);
        pyro_json_text(json, "name", job->name);
        pyro_json_int(json, "submitted_ms", job->submitted_ms);
        pyro_json_int(json, "completed_ms", job->completed_ms);
        pyro_json_text(json, "status", job->status);
        pyro_json_int(json, "sql", job->sql);
        pyro_json_begin_numbers(json, "stages");
        for (uint32_t k = 0; k < job->stage_id_count; k++)
            pyro_json_number(json, job->stage_ids[k]);
        pyro_json_end_numbers(json);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_stages(struct pyro_json_writer *json, const struct pyro_app *app)
{
    pyro_json_line(json);
    pyro_json_begin(json, "stages", '[');
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "id", stage->id);
        pyro_json_int(json, "attempt", stage->attempt);
        pyro_json_text(json, "name", stage->name);
        pyro_json_int(json, "submitted_ms", stage->submitted_ms);
        pyro_json_int(json, "completed_ms", stage->completed_ms);
        pyro_json_text(json, "status", stage->status);
        pyro_json_int(json, "tasks", stage->tasks);
        pyro_json_int(json, "job", stage->job);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

/* ---- Tasks ---- */

enum column { STAGE, ATTEMPT, EXECUTOR, SLOT, LAUNCH, DURATION, STATUS, INDEX, COLUMNS };

static int64_t task_value(const struct timeline *timeline, enum column column, size_t i)
{
    const struct pyro_app *app = timeline->app;
    uint32_t row = timeline->tasks.rows[i];
    switch (column) {
    case STAGE:
        return pyro_task_get(&app->tasks, PYRO_TASK_stage, row);
    case ATTEMPT:
        return pyro_task_get(&app->tasks, PYRO_TASK_stage_attempt, row);
    case EXECUTOR:
        return timeline->executor[i];
    case SLOT:
        return timeline->slots[i];
    case LAUNCH:
        return pyro_view_span(timeline->start, pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row));
    case DURATION:
        return pyro_view_task_duration(app, row);
    case STATUS:
        return pyro_view_task_status(app, row);
    default:
        return pyro_task_get(&app->tasks, PYRO_TASK_index, row);
    }
}

static void write_tasks(struct pyro_json_writer *json, const struct timeline *timeline)
{
    static const char *const names[COLUMNS] = {"stage",     "attempt",     "executor", "slot",
                                               "launch_ms", "duration_ms", "status",   "index"};
    pyro_json_line(json);
    pyro_json_begin(json, "tasks", '{');
    pyro_json_count(json, "count", timeline->tasks.all);
    pyro_json_count(json, "shown", timeline->tasks.count);
    pyro_json_begin(json, "columns", '{');
    for (unsigned column = 0; column < COLUMNS; column++) {
        pyro_json_line(json);
        pyro_json_begin_numbers(json, names[column]);
        for (size_t i = 0; i < timeline->tasks.count; i++)
            pyro_json_number(json, task_value(timeline, column, i));
        pyro_json_end_numbers(json);
    }
    pyro_json_end(json, '}');
    pyro_json_end(json, '}');
}

enum pyro_status pyro_view_timeline(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                    struct pyro_error *error)
{
    const struct pyro_app *app = request->app;
    struct timeline timeline = {.request = request, .app = app, .start = pyro_view_start(app)};
    struct pyro_marks gaps;
    pyro_marks_init(&gaps, app->allocator, 0);
    bool ok = prepare(&timeline) && find_gaps(&timeline, &gaps) && thin(&timeline);
    if (ok) {
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "schema", "pyrometer.timeline/1");
        pyro_json_int(json, "start_ms", app->application.start_ms);
        pyro_json_int(json, "end_ms", app->application.end_ms);
        write_executors(json, &timeline);
        write_jobs(json, app);
        write_stages(json, app);
        write_gaps(json, &timeline, &gaps);
        write_tasks(json, &timeline);
        ok = pyro_timeline_tracks(json, request);
        pyro_json_end(json, '}');
    }
    pyro_marks_done(&gaps);
    return ok ? PYRO_OK : pyro_view_no_memory(error);
}
