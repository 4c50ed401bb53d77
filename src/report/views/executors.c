/* pyrometer.executors/1: what each executor did, and how busy it was step by step. */
#include <math.h>

#include "analyze/accounts/marks.h"
#include "analyze/task_rows.h"
#include "analyze/task_slots.h"
#include "report/views/views.h"

enum { STEPS = 400, STEPS_LEAST = 20, CELLS = 1000000 };

/* An amount over time, in steps: what lies in whole steps is kept as where it begins and ends. */
struct series {
    double *part, *change; /* steps + 1 each */
};

struct usage {
    const struct pyro_view_request *request;
    const struct pyro_app *app;
    struct pyro_window window;
    uint64_t step, steps;
    struct series total, *busy, *gc; /* task time in ms; of executors: of CPUs, and garbage collection in it */
    double *slots;                   /* slots x ms */
};

static bool series_init(const struct usage *usage, struct series *series)
{
    series->part = pyro_arena_array(usage->request->arena, 2 * (usage->steps + 1), sizeof(double));
    series->change = series->part ? series->part + usage->steps + 1 : NULL;
    return series->part != NULL;
}

/* `weight` in every millisecond of [from, to). */
static void series_add(const struct usage *usage, struct series *series, uint64_t from, uint64_t to, double weight)
{
    if (from >= to)
        return;
    uint64_t first = from / usage->step, last = to / usage->step;
    if (first == last) {
        series->part[first] += weight * (double)(to - from);
        return;
    }
    series->part[first] += weight * (double)((first + 1) * usage->step - from);
    series->part[last] += weight * (double)(to - last * usage->step);
    series->change[first + 1] += weight;
    series->change[last] -= weight;
}

/* From changes to amounts in `part`. */
static void series_finish(const struct usage *usage, struct series *series)
{
    double level = 0;
    for (uint64_t i = 0; i < usage->steps; i++) {
        level += series->change[i];
        series->part[i] += level * (double)usage->step;
    }
}

static uint64_t step_length(const struct usage *usage, uint64_t i)
{
    uint64_t from = i * usage->step;
    return usage->window.length - from < usage->step ? usage->window.length - from : usage->step;
}

static bool usage_init(const struct pyro_view_request *request, struct usage *usage)
{
    const struct pyro_app *app = request->app;
    size_t executors = app->executors.count;
    uint64_t most = executors ? CELLS / executors : STEPS;
    most = most > STEPS ? STEPS : most < STEPS_LEAST ? STEPS_LEAST : most;
    *usage = (struct usage){.request = request, .app = app, .window = pyro_app_window(app)};
    usage->step = usage->window.length / most + (usage->window.length % most != 0);
    usage->step = usage->step ? usage->step : 1;
    usage->steps = usage->window.length / usage->step + (usage->window.length % usage->step != 0);
    usage->busy = pyro_arena_array(request->arena, executors + 1, sizeof(*usage->busy));
    usage->gc = pyro_arena_array(request->arena, executors + 1, sizeof(*usage->gc));
    bool ok = usage->busy && usage->gc && series_init(usage, &usage->total);
    for (size_t i = 0; ok && i < executors; i++)
        ok = series_init(usage, &usage->busy[i]) && series_init(usage, &usage->gc[i]);
    return ok;
}

static bool add_tasks(struct usage *usage)
{
    const struct pyro_app *app = usage->app;
    int64_t(*buffer)[PYRO_READ_ROWS] = pyro_arena_array(usage->request->arena, 3, sizeof(*buffer));
    uint32_t *cpus = pyro_stage_cpus(app);
    bool ok = buffer && cpus;
    for (size_t first = 0; ok && first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_run_times(app, first, count, buffer);
        pyro_task_read(&app->tasks, PYRO_TASK_gc_ms, first, count, buffer[2]);
        for (size_t i = 0; i < count; i++) {
            uint64_t from = pyro_window_at(&usage->window, buffer[0][i]);
            uint64_t to = pyro_window_at(&usage->window, buffer[1][i]);
            int64_t executor = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, first + i),
                    stage = pyro_task_get(&app->tasks, PYRO_TASK_stage_row, first + i);
            double gc = buffer[2][i] > 0 ? (double)buffer[2][i] : 0;
            double length = (double)buffer[1][i] - (double)buffer[0][i];
            uint32_t held = cpus[stage < 0 ? app->stages.count : (size_t)stage];
            series_add(usage, &usage->total, from, to, 1);
            if (executor < 0 || from >= to)
                continue;
            series_add(usage, &usage->busy[executor], from, to, held);
            series_add(usage, &usage->gc[executor], from, to, held * fmin(gc / length, 1));
        }
    }
    pyro_release(app->allocator, cpus);
    return ok;
}

static bool add_slots(struct usage *usage)
{
    const struct pyro_app *app = usage->app;
    struct series slots;
    if (!series_init(usage, &slots))
        return false;
    for (size_t i = 0; i < app->executors.count; i++) {
        uint64_t from, to;
        pyro_executor_interval(&usage->window, &app->executors.items[i], &from, &to);
        series_add(usage, &slots, from, to, (double)pyro_executor_slots(app, &app->executors.items[i], NULL));
    }
    series_finish(usage, &slots);
    usage->slots = slots.part;
    return true;
}

/* Thousandths of `part` in `whole`, at most 1000; PYRO_NONE where there is no whole. */
static int64_t share(double part, double whole)
{
    return whole > 0 ? (int64_t)llround(fmin(fmax(part / whole, 0), 1) * 1000) : PYRO_NONE;
}

static void write_series(struct pyro_json_writer *json, const struct usage *usage, size_t row)
{
    const struct pyro_executor *executor = &usage->app->executors.items[row];
    double cores = (double)pyro_executor_cores(executor);
    uint64_t from, to;
    pyro_executor_interval(&usage->window, executor, &from, &to);
    pyro_json_line(json);
    pyro_json_begin_numbers(json, "busy_share");
    for (uint64_t i = 0; i < usage->steps; i++) {
        uint64_t begin = i * usage->step, end = begin + step_length(usage, i);
        begin = from > begin ? from : begin;
        end = to < end ? to : end;
        double whole = begin < end ? cores * (double)(end - begin) : 0;
        pyro_json_thousandths(json, share(usage->busy[row].part[i], whole));
    }
    pyro_json_end_numbers(json);
    pyro_json_line(json);
    pyro_json_begin_numbers(json, "gc_share");
    for (uint64_t i = 0; i < usage->steps; i++)
        pyro_json_thousandths(json, share(usage->gc[row].part[i], usage->busy[row].part[i]));
    pyro_json_end_numbers(json);
}

static void write_executor(struct pyro_json_writer *json, const struct usage *usage, size_t row)
{
    const struct pyro_executor *executor = &usage->app->executors.items[row];
    const struct pyro_numbers *numbers = &usage->app->numbers;
    bool driver = pyro_slice_is(executor->id, "driver");
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "id", executor->id);
    pyro_json_text(json, "host", executor->host);
    pyro_json_int(json, "cores", executor->cores);
    pyro_json_int(json, "added_ms", executor->added_ms);
    pyro_json_int(json, "requested_ms", executor->requested_ms);
    pyro_json_int(json, "registered_ms", executor->registered_ms);
    pyro_json_int(json, "removed_ms", executor->removed_ms);
    pyro_json_text(json, "remove_reason", executor->remove_reason);
    pyro_json_int(json, "tasks", executor->tasks);
    pyro_json_int(json, "failed_tasks", executor->failed_tasks);
    pyro_json_int(json, "busy_ms", executor->busy_ms);
    pyro_json_int(json, "run_ms", executor->run_ms);
    pyro_json_int(json, "cpu_ms", executor->cpu_ms);
    pyro_json_int(json, "gc_ms", executor->gc_ms);
    pyro_json_int(json, "heap_peak_bytes", executor->heap_peak_bytes);
    pyro_json_int(json, "heap_limit_bytes",
                  driver ? numbers->driver_heap_limit_bytes : numbers->executor_heap_limit_bytes);
    pyro_json_int(json, "execution_peak_bytes", executor->execution_peak_bytes);
    pyro_json_int(json, "storage_peak_bytes", executor->storage_peak_bytes);
    pyro_json_int(json, "input_bytes", executor->input_bytes);
    pyro_json_int(json, "shuffle_read_bytes", executor->shuffle_read_bytes);
    pyro_json_int(json, "shuffle_write_bytes", executor->shuffle_write_bytes);
    pyro_json_int(json, "memory_spill_bytes", executor->memory_spill_bytes);
    pyro_json_int(json, "disk_spill_bytes", executor->disk_spill_bytes);
    write_series(json, usage, row);
    pyro_json_end(json, '}');
}

static void write_total(struct pyro_json_writer *json, const struct usage *usage)
{
    pyro_json_line(json);
    pyro_json_begin(json, "total", '{');
    pyro_json_line(json);
    pyro_json_begin_numbers(json, "running_tasks");
    for (uint64_t i = 0; i < usage->steps; i++)
        pyro_json_thousandths(json, llround(usage->total.part[i] / (double)step_length(usage, i) * 1000));
    pyro_json_end_numbers(json);
    pyro_json_line(json);
    pyro_json_begin_numbers(json, "slots");
    for (uint64_t i = 0; i < usage->steps; i++)
        pyro_json_thousandths(json, llround(usage->slots[i] / (double)step_length(usage, i) * 1000));
    pyro_json_end_numbers(json);
    pyro_json_end(json, '}');
}

enum pyro_status pyro_view_executors(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                     struct pyro_error *error)
{
    struct usage usage;
    if (!usage_init(request, &usage) || !add_tasks(&usage) || !add_slots(&usage))
        return pyro_view_no_memory(error);
    series_finish(&usage, &usage.total);
    for (size_t i = 0; i < request->app->executors.count; i++) {
        series_finish(&usage, &usage.busy[i]);
        series_finish(&usage, &usage.gc[i]);
    }
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "schema", "pyrometer.executors/1");
    pyro_json_int(json, "start_ms", request->app->application.start_ms);
    pyro_json_count(json, "step_ms", usage.step);
    pyro_json_count(json, "steps", usage.steps);
    pyro_json_line(json);
    pyro_json_begin(json, "executors", '[');
    for (size_t i = 0; i < request->app->executors.count; i++)
        write_executor(json, &usage, i);
    pyro_json_end(json, ']');
    write_total(json, &usage);
    pyro_json_end(json, '}');
    return PYRO_OK;
}
