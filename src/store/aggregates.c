/* A run in numbers, under paths that queries over many runs can rely on. docs/store.md has every formula. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/facts.h"
#include "base/memory.h"
#include "base/order.h"
#include "store/store.h"

#define GIB         (1024.0 * 1024 * 1024)
#define BLOCK_BYTES (128.0 * 1024 * 1024)

/* What stage rows do not hold. */
struct task_sums {
    double deserialize_cpu_ns, cpu_ns, shuffle_write_ns, remote_blocks, local_blocks, remote_bytes, local_bytes,
        remote_to_disk_bytes;
};

static double known(int64_t value)
{
    return value == PYRO_NONE ? (double)NAN : (double)value;
}

static double lifetime(const struct pyro_app *app, const struct pyro_executor *executor)
{
    int64_t end = executor->removed_ms != PYRO_NONE ? executor->removed_ms : app->application.end_ms;
    int64_t begin = executor->added_ms != PYRO_NONE ? executor->added_ms : app->application.start_ms;
    return known(end) - known(begin);
}

static struct task_sums sum_tasks(const struct pyro_app *app, const struct pyro_stage *stage)
{
    struct task_sums sums = {0};
    for (int64_t i = 0; i < stage->tasks; i++) {
        size_t row = app->tasks_by_stage[stage->first_task + (size_t)i];
#define SUM(field, column) sums.field += pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_##column, row))
        SUM(deserialize_cpu_ns, deserialize_cpu_ns);
        SUM(cpu_ns, cpu_ns);
        SUM(shuffle_write_ns, shuffle_write_ns);
        SUM(remote_blocks, shuffle_remote_blocks);
        SUM(local_blocks, shuffle_local_blocks);
        SUM(remote_bytes, shuffle_remote_bytes);
        SUM(local_bytes, shuffle_local_bytes);
        SUM(remote_to_disk_bytes, shuffle_remote_to_disk_bytes);
#undef SUM
    }
    return sums;
}

static bool add(struct pyro_run *run, const char *group, const char *column, const char *how, double value)
{
    if (!isfinite(value))
        return true;
    struct pyro_slice name = pyro_arena_printf(&run->arena, "%s.%s%s%s", group, column, how ? "." : "", how ? how : "");
    struct pyro_aggregate *row = pyro_vec_push(&run->aggregates, run->arena.allocator);
    if (!row || !name.ptr)
        return false;
    *row = (struct pyro_aggregate){name.ptr, value};
    return true;
}

/* Every aggregate of one column; `values` is sorted on the way. */
static bool add_column(struct pyro_run *run, const char *group, const char *column, double *values, size_t rows)
{
    size_t count = 0, zeroes = 0, distinct = 0;
    for (size_t i = 0; i < rows; i++)
        if (isfinite(values[i]))
            values[count++] = values[i];
    pyro_sort_reals(values, count);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        zeroes += !(values[i] < 0 || values[i] > 0);
        distinct += i == 0 || values[i] > values[i - 1];
    }
    double mean = count ? sum / (double)count : (double)NAN;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    bool ok = add(run, group, column, "count_not_null", (double)count);
    if (!ok || count == 0)
        return ok;
    return add(run, group, column, "min", values[0]) && add(run, group, column, "max", values[count - 1]) &&
           add(run, group, column, "sum", sum) && add(run, group, column, "mean", mean) &&
           add(run, group, column, "std", count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN) &&
           add(run, group, column, "nunique", (double)distinct) &&
           add(run, group, column, "count_zeroes", (double)zeroes) &&
           add(run, group, column, "count_nonzero", (double)(count - zeroes)) &&
           add(run, group, column, "any", count > zeroes) && add(run, group, column, "all", zeroes == 0);
}

static bool add_stages(struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    size_t rows = app->stages.count;
    struct task_sums *sums = pyro_arena_array(&run->arena, rows + 1, sizeof(*sums));
    double *values = pyro_arena_array(&run->arena, rows + 1, sizeof(*values));
    if (!sums || !values)
        return false;
    for (size_t i = 0; i < rows; i++)
        sums[i] = sum_tasks(app, &app->stages.items[i]);
#define STAGE(name, value)                                                                                             \
    for (size_t i = 0; i < rows; i++) {                                                                                \
        const struct pyro_stage *s = &app->stages.items[i];                                                            \
        const struct task_sums *t = &sums[i];                                                                          \
        (void)t, (void)s;                                                                                              \
        values[i] = (value);                                                                                           \
    }                                                                                                                  \
    if (!add_column(run, "stages", #name, values, rows))                                                               \
        return false;
#define EXECUTOR(name, value)
#include "store/aggregates.def"
#undef STAGE
#undef EXECUTOR
    return true;
}

static bool add_executors(struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    size_t rows = app->executors.count;
    double *values = pyro_arena_array(&run->arena, rows + 1, sizeof(*values));
    double task_cpus = pyro_app_task_cpus(app);
    if (!values)
        return false;
#define STAGE(name, value)
#define EXECUTOR(name, value)                                                                                          \
    {                                                                                                                  \
        size_t count = 0;                                                                                              \
        for (size_t i = 0; i < rows; i++) {                                                                            \
            const struct pyro_executor *e = &app->executors.items[i];                                                  \
            double one = (double)(value);                                                                              \
            if (!pyro_slice_is(e->id, "driver"))                                                                       \
                values[count++] = one;                                                                                 \
            else if (!add(run, "driver", #name, NULL, one))                                                            \
                return false;                                                                                          \
        }                                                                                                              \
        if (!add_column(run, "executors", #name, values, count))                                                       \
            return false;                                                                                              \
    }
#include "store/aggregates.def"
#undef STAGE
#undef EXECUTOR
    return true;
}

struct interval {
    double from, to;
};

static int by_begin(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Time in which at least one stage ran, from its submission to its completion; `ret_sum`: their lengths one by one. */
static bool stage_time(struct pyro_run *run, double *ret_union, double *ret_sum)
{
    const struct pyro_app *app = run->diagnosis->app;
    struct interval *spans = pyro_arena_array(&run->arena, app->stages.count + 1, sizeof(*spans));
    if (!spans)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        double from = known(app->stages.items[i].submitted_ms), to = known(app->stages.items[i].completed_ms);
        if (to >= from)
            spans[count++] = (struct interval){from, to};
    }
    if (count > 1)
        qsort(spans, count, sizeof(*spans), by_begin);
    double end = -INFINITY;
    *ret_union = *ret_sum = 0;
    for (size_t i = 0; i < count; i++) {
        *ret_sum += spans[i].to - spans[i].from;
        *ret_union += fmax(0, spans[i].to - fmax(spans[i].from, end));
        end = fmax(end, spans[i].to);
    }
    return true;
}

static bool add_summary(struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    double duration = known(app->application.end_ms) - known(app->application.start_ms), parallel_work = 0,
           core_cost = 0, memory = 0;
    double input = 0, output = 0, all_input = 0, parallel_part, stages_sum;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        parallel_work += pyro_real(executor->busy_ms);
        core_cost += fmax(0, lifetime(app, executor)) * pyro_real(executor->cores);
        memory += pyro_real(executor->storage_memory_bytes);
        all_input += pyro_real(executor->input_bytes);
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        input = fmax(input, pyro_real(app->stages.items[i].input_bytes));
        output = fmax(output, pyro_real(app->stages.items[i].output_bytes));
    }
    if (!stage_time(run, &parallel_part, &stages_sum))
        return false;
    double seq_part = duration - parallel_part, est_seq_time = seq_part + parallel_work;
    double blocks = ceil(all_input / BLOCK_BYTES);
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"parallel_work", parallel_work},
        {"parallel_part", parallel_part},
        {"seq_part", seq_part},
        {"est_seq_time", est_seq_time},
        {"estimated_speedup", est_seq_time / duration},
        {"parallel_fraction", parallel_part / duration},
        {"seq_fraction", seq_part / duration},
        {"core_cost", core_cost},
        {"estimated_core_efficiency", parallel_work / core_cost},
        {"unused_core_cost", core_cost - parallel_work},
        {"unused_core_cost_hours", (core_cost - parallel_work) / 3600e3},
        {"stages_sum", stages_sum},
        {"stages_interval", parallel_part},
        {"stages_in_parallel", stages_sum / parallel_part},
        {"stages_max_input_blocks", ceil(input / BLOCK_BYTES)},
        {"executors_total_input_blocks", blocks},
        {"average_throughput", blocks / duration},
        {"unused_storage_memory_bytes", memory - input},
        {"est_peak_memory_usage", input + output},
        {"storage_memory_usage", (input + output) / memory},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!add(run, "summary", rows[i].name, NULL, rows[i].value))
            return false;
    return true;
}

bool pyro_run_aggregate(struct pyro_run *run)
{
    return add_executors(run) && add_stages(run) && add_summary(run);
}
