#include "export/telemetry/run_metrics.h"

#include <math.h>

#include "analyze/accounts/phases.h"
#include "analyze/app_facts.h"

const struct pyro_run_metric_row pyro_run_metric_rows[PYRO_METRIC_COUNT] = {
#define PYRO_RUN_METRIC(id, name, unit, counter, label, value, doc)                                                    \
    [PYRO_METRIC_##id] = {name, unit, counter, label, value, doc},
#include "export/telemetry/run_metrics.def"
#undef PYRO_RUN_METRIC
};

struct series {
    const struct pyro_app *app;
    struct pyro_window window;
    const int64_t *times;
    size_t count;
    double *values;
};

static double *values_of(const struct series *series, enum pyro_run_metric metric)
{
    return series->values + metric * series->count;
}

/* The first time that is not before it; `count` where there is none. */
static size_t place_of(const struct series *series, int64_t time_ms)
{
    size_t low = 0, high = series->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->times[middle] < time_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void add_task(const struct series *series, size_t row)
{
    static const struct {
        enum pyro_run_metric metric;
        enum pyro_task_column column;
        double unit;
    } sums[] = {
        {PYRO_METRIC_RUN, PYRO_TASK_run_ms, 1e3},
        {PYRO_METRIC_CPU, PYRO_TASK_cpu_ns, 1e9},
        {PYRO_METRIC_GC, PYRO_TASK_gc_ms, 1e3},
        {PYRO_METRIC_DESERIALIZE, PYRO_TASK_deserialize_ms, 1e3},
        {PYRO_METRIC_SERIALIZE, PYRO_TASK_result_serialize_ms, 1e3},
        {PYRO_METRIC_INPUT, PYRO_TASK_input_bytes, 1},
        {PYRO_METRIC_OUTPUT, PYRO_TASK_output_bytes, 1},
        {PYRO_METRIC_SHUFFLE_READ, PYRO_TASK_shuffle_remote_bytes, 1},
        {PYRO_METRIC_SHUFFLE_READ, PYRO_TASK_shuffle_local_bytes, 1},
        {PYRO_METRIC_SHUFFLE_WRITE, PYRO_TASK_shuffle_write_bytes, 1},
        {PYRO_METRIC_FETCH_WAIT, PYRO_TASK_fetch_wait_ms, 1e3},
        {PYRO_METRIC_MEMORY_SPILL, PYRO_TASK_memory_spill_bytes, 1},
        {PYRO_METRIC_DISK_SPILL, PYRO_TASK_disk_spill_bytes, 1},
    };
    const struct pyro_task_table *tasks = &series->app->tasks;
    int64_t finish = pyro_task_get(tasks, PYRO_TASK_finish_ms, row),
            status = pyro_task_get(tasks, PYRO_TASK_status, row);
    size_t place = finish == PYRO_NONE ? series->count : place_of(series, finish);
    if (place == series->count)
        return;
    if (status != PYRO_TASK_RESUBMITTED)
        values_of(series, status == PYRO_TASK_FAILED   ? PYRO_METRIC_FAILED
                          : status == PYRO_TASK_KILLED ? PYRO_METRIC_KILLED
                                                       : PYRO_METRIC_SUCCEEDED)[place]++;
    if (pyro_task_get(tasks, PYRO_TASK_has_metrics, row) != 1)
        return;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        int64_t value = pyro_task_get(tasks, sums[i].column, row);
        if (value > 0)
            values_of(series, sums[i].metric)[place] += (double)value / sums[i].unit;
    }
}

/* What happened up to a time, from what happened between two. */
static void accumulate(const struct series *series, enum pyro_run_metric metric)
{
    double *values = values_of(series, metric);
    for (size_t i = 1; i < series->count; i++)
        values[i] += values[i - 1];
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

static void add_executors(const struct series *series)
{
    for (size_t i = 0; i < series->app->executors.count; i++) {
        const struct pyro_executor *executor = &series->app->executors.items[i];
        if (executor->added_ms == PYRO_NONE)
            continue;
        size_t came = place_of(series, executor->added_ms), went = series->count;
        if (executor->removed_ms != PYRO_NONE)
            went = place_of(series, executor->removed_ms);
        if (came < series->count)
            values_of(series, PYRO_METRIC_RUNNING)[came]++;
        if (came < series->count && went < series->count) {
            values_of(series, PYRO_METRIC_RUNNING)[went > came ? went : came]--;
            values_of(series, PYRO_METRIC_REMOVED)[went > came ? went : came]++;
        }
    }
    accumulate(series, PYRO_METRIC_RUNNING);
    accumulate(series, PYRO_METRIC_REMOVED);
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

static bool add_phases(const struct series *series, struct pyro_arena *arena)
{
    uint64_t *until = pyro_arena_array(arena, series->count, sizeof(*until));
    struct pyro_phase_lengths *lengths = pyro_arena_array(arena, series->count, sizeof(*lengths));
    for (size_t i = 0; until && i < series->count; i++)
        until[i] = pyro_window_at(&series->window, series->times[i]);
    if (!until || !lengths || !pyro_phases_until(series->app, &series->window, until, series->count, lengths))
        return false;
    for (size_t i = 0; i < series->count; i++) {
        values_of(series, PYRO_METRIC_WRITE)[i] = (double)lengths[i].write_ms / 1e3;
        values_of(series, PYRO_METRIC_COMPUTE)[i] = (double)lengths[i].compute_ms / 1e3;
    }
    return true;
}

static void add_waits(const struct series *series)
{
    double wait = pyro_real(series->app->numbers.phase_wait_ms) / 1e3;
    bool known = series->app->executors.count > 0;
    for (size_t i = 0; i < series->count; i++) {
        double passed = (double)pyro_window_at(&series->window, series->times[i]) / 1e3, all = fmax(passed, 1e-3);
        double waited = known ? fmin(wait, passed) : (double)NAN;
        values_of(series, PYRO_METRIC_WAIT)[i] = waited;
        values_of(series, PYRO_METRIC_WAIT_SHARE)[i] = waited / all;
        values_of(series, PYRO_METRIC_COMPUTE_SHARE)[i] = values_of(series, PYRO_METRIC_COMPUTE)[i] / all;
        values_of(series, PYRO_METRIC_WRITE_SHARE)[i] = values_of(series, PYRO_METRIC_WRITE)[i] / all;
    }
}

const double *pyro_run_metrics(const struct pyro_app *app, const int64_t *times, size_t count, struct pyro_arena *arena)
{
    struct series series = {.app = app, .window = pyro_app_window(app), .times = times, .count = count};
    series.values = pyro_arena_array(arena, count * PYRO_METRIC_COUNT, sizeof(*series.values));
    if (!series.values)
        return NULL;
    for (size_t i = 0; i < count * PYRO_METRIC_COUNT; i++)
        series.values[i] = 0;
    for (size_t row = 0; row < app->tasks.count; row++)
        add_task(&series, row);
    for (unsigned metric = PYRO_METRIC_SUCCEEDED; metric < PYRO_METRIC_COUNT; metric++)
        accumulate(&series, metric);
    add_executors(&series);
    if (!add_phases(&series, arena))
        return NULL;
    add_waits(&series);
    return series.values;
}
