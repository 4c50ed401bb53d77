/* pyrometer.stage/1: the tasks of one stage attempt column by column, quantiles over them, and what slowed the slow. */
#include "analyze/accounts/marks.h"
#include "analyze/analyze.h"
#include "analyze/task_rows.h"
#include "analyze/tracks/stage_waits.h"
#include "base/collections/map.h"
#include "base/numbers/saturate.h"
#include "report/trace/trace.h"
#include "report/views/views.h"
#include "rules/tasks/task_outliers.h"

/* ---- Numbers of a task ---- */

typedef int64_t metric(const struct pyro_app *app, uint32_t row);

#define COLUMN(function, column)                                                                                       \
    static int64_t function(const struct pyro_app *app, uint32_t row)                                                  \
    {                                                                                                                  \
        return pyro_task_get(&app->tasks, PYRO_TASK_##column, row);                                                    \
    }
COLUMN(run, run_ms)
COLUMN(gc, gc_ms)
COLUMN(deserialize, deserialize_ms)
COLUMN(fetch_wait, fetch_wait_ms)
COLUMN(input, input_bytes)
COLUMN(output, output_bytes)
COLUMN(shuffle_written, shuffle_write_bytes)
COLUMN(memory_spill, memory_spill_bytes)
COLUMN(disk_spill, disk_spill_bytes)
COLUMN(peak_memory, peak_execution_memory_bytes)
COLUMN(input_records, input_records)
COLUMN(output_records, output_records)
COLUMN(shuffle_read_records, shuffle_read_records)
COLUMN(shuffle_write_records, shuffle_write_records)
#undef COLUMN

static int64_t whole_ms(int64_t ns)
{
    return ns == PYRO_NONE ? PYRO_NONE : pyro_ns_to_ms(ns);
}

static int64_t cpu(const struct pyro_app *app, uint32_t row)
{
    return whole_ms(pyro_task_get(&app->tasks, PYRO_TASK_cpu_ns, row));
}

static int64_t shuffle_write(const struct pyro_app *app, uint32_t row)
{
    return whole_ms(pyro_task_get(&app->tasks, PYRO_TASK_shuffle_write_ns, row));
}

static int64_t shuffle_read(const struct pyro_app *app, uint32_t row)
{
    int64_t remote = pyro_task_get(&app->tasks, PYRO_TASK_shuffle_remote_bytes, row);
    int64_t local = pyro_task_get(&app->tasks, PYRO_TASK_shuffle_local_bytes, row);
    if (remote == PYRO_NONE || local == PYRO_NONE)
        return remote == PYRO_NONE ? local : remote;
    return pyro_add_saturating(remote, local);
}

static int64_t duration(const struct pyro_app *app, uint32_t row)
{
    return pyro_view_task_duration(app, row);
}

static int64_t scheduler_delay(const struct pyro_app *app, uint32_t row)
{
    return pyro_task_split(app, row).scheduler_delay;
}

static int64_t result(const struct pyro_app *app, uint32_t row)
{
    struct pyro_task_split split = pyro_task_split(app, row);
    return pyro_add_saturating(split.result_serialize, split.getting_result);
}

static const struct {
    const char *name;
    metric *value;
} metrics[] = {
#define METRIC(name, value) {#name, value},
#include "report/views/stage_metrics.def"
#undef METRIC
};
enum { METRICS = sizeof(metrics) / sizeof(*metrics) };

/* ---- Quantiles ---- */

/* Tasks that quantiles are taken over: the successful ones, all where none succeeded. */
static size_t select_tasks(const struct pyro_app *app, const struct pyro_view_tasks *tasks, uint32_t *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < tasks->count; i++)
        if (pyro_view_task_status(app, tasks->rows[i]) == 0)
            rows[count++] = tasks->rows[i];
    if (count)
        return count;
    memcpy(rows, tasks->rows, tasks->count * sizeof(*rows));
    return tasks->count;
}

static void write_quantiles(struct pyro_json_writer *json, const struct pyro_app *app, const uint32_t *rows,
                            size_t count, struct pyro_mark *marks, int64_t *values)
{
    static const struct {
        const char *name;
        unsigned percent;
    } quantiles[] = {{"min", 0}, {"p25", 25}, {"median", 50}, {"p75", 75}, {"p95", 95}, {"max", 100}};
    pyro_json_line(json);
    pyro_json_begin(json, "quantiles", '{');
    for (unsigned m = 0; m < METRICS; m++) {
        size_t known = 0;
        for (size_t i = 0; i < count; i++) {
            int64_t value = metrics[m].value(app, rows[i]);
            if (value != PYRO_NONE) /* order-preserving as unsigned */
                marks[known++] = (struct pyro_mark){(uint64_t)value ^ ((uint64_t)1 << 63), 0, 0};
        }
        pyro_marks_sort(marks, marks + count, known);
        for (size_t i = 0; i < known; i++)
            values[i] = (int64_t)(marks[i].at ^ ((uint64_t)1 << 63));
        pyro_json_line(json);
        pyro_json_begin(json, metrics[m].name, '{');
        for (unsigned q = 0; q < sizeof(quantiles) / sizeof(*quantiles); q++)
            pyro_json_int(json, quantiles[q].name,
                          known ? pyro_quantile(values, known, quantiles[q].percent) : PYRO_NONE);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, '}');
}

/* ---- Columns ---- */

/* Texts that tasks refer to by number in the document: in the order of their first task. */
struct names {
    uint32_t *of_task; /* number of each task's text */
    int64_t *texts;    /* numbers for pyro_app_text() */
    size_t count;
};

static bool name_tasks(const struct pyro_view_request *request, const struct pyro_view_tasks *tasks,
                       enum pyro_task_column column, struct names *ret)
{
    struct pyro_map numbers;
    pyro_map_init(&numbers, request->app->allocator);
    ret->of_task = pyro_arena_array(request->arena, tasks->count + 1, sizeof(*ret->of_task));
    ret->texts = pyro_arena_array(request->arena, tasks->count + 1, sizeof(*ret->texts));
    bool ok = ret->of_task && ret->texts;
    for (size_t i = 0; ok && i < tasks->count; i++) {
        int64_t text = pyro_task_get(&request->app->tasks, column, tasks->rows[i]);
        bool added = false;
        uint64_t *number = pyro_map_put(&numbers, (uint64_t)text, &added);
        ok = number != NULL;
        if (ok && added) {
            *number = ret->count;
            ret->texts[ret->count++] = text;
        }
        if (ok)
            ret->of_task[i] = (uint32_t)*number;
    }
    pyro_map_done(&numbers);
    return ok;
}

static void write_names(struct pyro_json_writer *json, const char *key, const struct pyro_app *app,
                        const struct names *names)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < names->count; i++)
        pyro_json_text(json, NULL, pyro_app_text(app, names->texts[i]));
    pyro_json_end(json, ']');
}

static void write_numbered(struct pyro_json_writer *json, const char *key, const struct names *names, size_t count)
{
    pyro_json_line(json);
    pyro_json_begin_numbers(json, key);
    for (size_t i = 0; i < count; i++)
        pyro_json_number(json, names->of_task[i]);
    pyro_json_end_numbers(json);
}

static void write_column(struct pyro_json_writer *json, const char *key, const struct pyro_app *app,
                         const struct pyro_view_tasks *tasks, metric *value)
{
    pyro_json_line(json);
    pyro_json_begin_numbers(json, key);
    for (size_t i = 0; i < tasks->count; i++)
        pyro_json_number(json, value(app, tasks->rows[i]));
    pyro_json_end_numbers(json);
}

static int64_t task_id(const struct pyro_app *app, uint32_t row)
{
    return pyro_task_get(&app->tasks, PYRO_TASK_id, row);
}

static int64_t task_index(const struct pyro_app *app, uint32_t row)
{
    return pyro_task_get(&app->tasks, PYRO_TASK_index, row);
}

static int64_t task_attempt(const struct pyro_app *app, uint32_t row)
{
    return pyro_task_get(&app->tasks, PYRO_TASK_attempt, row);
}

static int64_t launch(const struct pyro_app *app, uint32_t row)
{
    return pyro_view_span(pyro_view_start(app), pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row));
}

static int64_t speculative(const struct pyro_app *app, uint32_t row)
{
    return pyro_task_get(&app->tasks, PYRO_TASK_speculative, row) == 1;
}

struct document {
    const struct pyro_stage *stage;
    struct pyro_view_tasks tasks;
    struct names executors, hosts, localities;
    struct pyro_outlier *outliers;
    size_t outlier_count;
    uint32_t *rows; /* of tasks that quantiles are over */
    size_t row_count;
    struct pyro_mark *marks;
    int64_t *values;
    const struct pyro_stage_waits *waits; /* its own */
};

static void write_columns(struct pyro_json_writer *json, const struct pyro_app *app, const struct document *document)
{
    const struct pyro_view_tasks *tasks = &document->tasks;
    pyro_json_line(json);
    pyro_json_begin(json, "columns", '{');
    write_column(json, "task", app, tasks, task_id);
    write_column(json, "index", app, tasks, task_index);
    write_column(json, "attempt", app, tasks, task_attempt);
    write_numbered(json, "executor", &document->executors, tasks->count);
    write_numbered(json, "host", &document->hosts, tasks->count);
    write_column(json, "launch_ms", app, tasks, launch);
    for (unsigned m = 0; m < METRICS; m++)
        write_column(json, metrics[m].name, app, tasks, metrics[m].value);
    write_column(json, "status", app, tasks, pyro_view_task_status);
    write_numbered(json, "locality", &document->localities, tasks->count);
    write_column(json, "speculative", app, tasks, speculative);
    pyro_json_end(json, '}');
    write_names(json, "executors", app, &document->executors);
    write_names(json, "hosts", app, &document->hosts);
    write_names(json, "localities", app, &document->localities);
}

static void write_outliers(struct pyro_json_writer *json, const struct pyro_app *app, const struct document *document)
{
    pyro_json_line(json);
    pyro_json_begin(json, "outliers", '[');
    for (size_t i = 0; i < document->outlier_count; i++) {
        const struct pyro_outlier *outlier = &document->outliers[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "task", pyro_task_get(&app->tasks, PYRO_TASK_id, outlier->row));
        pyro_json_int(json, "index", pyro_task_get(&app->tasks, PYRO_TASK_index, outlier->row));
        pyro_json_int(json, "duration_ms", pyro_view_task_duration(app, (uint32_t)outlier->row));
        pyro_json_real(json, "times_median",
                       outlier->median_ms > 0 ? outlier->duration_ms / outlier->median_ms : (double)__builtin_nan(""));
        pyro_json_string(json, "cause", outlier->cause);
        pyro_json_text(json, "text", outlier->text);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

/* Only where tasks of the stage were traced. */
static void write_waits(struct pyro_json_writer *json, const struct document *document)
{
    const struct pyro_stage_waited *waited = document->waits->stages;
    if (!waited || waited->traced_ns == 0)
        return;
    pyro_json_line(json);
    pyro_json_begin(json, "waits", '{');
    pyro_json_int(json, "traced_ns", waited->traced_ns);
    pyro_json_count(json, "tasks", waited->tasks);
    pyro_trace_json_states(json, "roots_ns", waited->by_root_ns);
    pyro_trace_json_waits(json, document->waits, waited);
    pyro_json_end(json, '}');
}

static bool prepare(const struct pyro_view_request *request, size_t row, struct document *document)
{
    const struct pyro_stage_key key = {document->stage->id, document->stage->attempt};
    document->waits = pyro_stage_waits_of(request->app->tracks, key, request->arena);
    if (!pyro_view_tasks_load(request, (ptrdiff_t)row, &document->tasks))
        return false;
    size_t count = document->tasks.count + 1;
    document->rows = pyro_arena_array(request->arena, count, sizeof(*document->rows));
    document->marks = pyro_arena_array(request->arena, 2 * count, sizeof(*document->marks));
    document->values = pyro_arena_array(request->arena, count, sizeof(*document->values));
    if (!document->rows || !document->marks || !document->values || !document->waits)
        return false;
    document->row_count = select_tasks(request->app, &document->tasks, document->rows);
    return pyro_stage_outliers(request->diagnosis, row, request->arena, &document->outliers,
                               &document->outlier_count) &&
           pyro_view_tasks_thin(request, &document->tasks) &&
           name_tasks(request, &document->tasks, PYRO_TASK_executor, &document->executors) &&
           name_tasks(request, &document->tasks, PYRO_TASK_host, &document->hosts) &&
           name_tasks(request, &document->tasks, PYRO_TASK_locality, &document->localities);
}

enum pyro_status pyro_view_stage(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                 struct pyro_error *error)
{
    const struct pyro_app *app = request->app;
    ptrdiff_t row = pyro_app_find_stage(app, request->ids[0], request->ids[1]);
    if (row < 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the application has no stage %lld, attempt %lld",
                              (long long)request->ids[0], (long long)request->ids[1]);
    const struct pyro_stage *stage = &app->stages.items[row];
    struct document document = {.stage = stage};
    if (!prepare(request, (size_t)row, &document))
        return pyro_view_no_memory(error);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "schema", "pyrometer.stage/1");
    pyro_json_line(json);
    pyro_json_int(json, "id", stage->id);
    pyro_json_int(json, "attempt", stage->attempt);
    pyro_json_text(json, "name", stage->name);
    pyro_json_text(json, "call_site", stage->call_site);
    pyro_json_text(json, "status", stage->status);
    pyro_json_text(json, "failure", stage->failure);
    pyro_json_int(json, "job", stage->job);
    pyro_json_int(json, "sql", stage->sql);
    pyro_json_int(json, "submitted_ms", stage->submitted_ms);
    pyro_json_int(json, "completed_ms", stage->completed_ms);
    pyro_json_int(json, "start_ms", app->application.start_ms);
    pyro_json_int(json, "partitions", stage->partitions);
    pyro_json_int(json, "tasks", stage->tasks);
    pyro_json_count(json, "shown", document.tasks.count);
    pyro_json_begin_numbers(json, "parents");
    for (uint32_t i = 0; i < stage->parent_count; i++)
        pyro_json_number(json, stage->parent_ids[i]);
    pyro_json_end_numbers(json);
    write_quantiles(json, app, document.rows, document.row_count, document.marks, document.values);
    write_columns(json, app, &document);
    write_outliers(json, app, &document);
    write_waits(json, &document);
    pyro_json_end(json, '}');
    return PYRO_OK;
}
