/* What each task of the run did, as far as models ask: time, what it read, spilled, collected; and what a task of its
 * stage costs that has nothing to read. */
#include <math.h>
#include <stdlib.h>

#include "analyze/internal.h"
#include "base/order.h"
#include "base/saturate.h"
#include "predict/tasks.h"

/* Tasks of a stage that its fixed cost is estimated from, evenly spread over the stage. */
enum { SAMPLE = 512, SAMPLE_MIN = 8 };
/* Loads of the upper and lower quarter must differ so much before a line through them says anything. */
#define LOAD_SPREAD_MIN 1.5

enum {
    LAUNCH,
    FINISH,
    STATUS,
    STAGE,
    GC,
    INPUT,
    INPUT_RECORDS,
    REMOTE,
    LOCAL,
    READ_RECORDS,
    SPILL,
    SPILL_MEMORY,
    PEAK,
    RUN,
    COLUMNS
};

static const enum pyro_task_column columns[COLUMNS] = {PYRO_TASK_launch_ms,
                                                       PYRO_TASK_finish_ms,
                                                       PYRO_TASK_status,
                                                       PYRO_TASK_stage_row,
                                                       PYRO_TASK_gc_ms,
                                                       PYRO_TASK_input_bytes,
                                                       PYRO_TASK_input_records,
                                                       PYRO_TASK_shuffle_remote_bytes,
                                                       PYRO_TASK_shuffle_local_bytes,
                                                       PYRO_TASK_shuffle_read_records,
                                                       PYRO_TASK_disk_spill_bytes,
                                                       PYRO_TASK_memory_spill_bytes,
                                                       PYRO_TASK_peak_execution_memory_bytes,
                                                       PYRO_TASK_run_ms};

static double known(int64_t value)
{
    return value > 0 ? (double)value : 0;
}

/* Rows of a stage do not lie side by side in the log: each goes to the next place of its stage. */
static bool read_tasks(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    int64_t(*values)[PYRO_READ_ROWS] = pyro_scratch(app, COLUMNS, sizeof(*values));
    if (!values)
        return false;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        for (unsigned c = 0; c < COLUMNS; c++)
            pyro_task_read(&app->tasks, columns[c], first, count, values[c]);
        for (size_t i = 0; i < count; i++) {
            int64_t row = values[STAGE][i];
            if (row < 0 || row >= (int64_t)app->stages.count || values[STATUS][i] != PYRO_TASK_SUCCESS)
                continue;
            const struct pyro_stage *stage = &app->stages.items[row];
            struct pyro_stage_facts *facts = &run->stages[row];
            double bytes = known(values[INPUT][i]) + known(values[REMOTE][i]) + known(values[LOCAL][i]);
            double records = known(values[INPUT_RECORDS][i]) + known(values[READ_RECORDS][i]);
            bool by_bytes = stage->input_bytes > 0 || stage->shuffle_read_bytes > 0;
            run->tasks[facts->first + facts->count++] =
                (struct pyro_task_facts){.row = (uint32_t)(first + i),
                                         .ms = (float)pyro_task_duration(values[LAUNCH][i], values[FINISH][i]),
                                         .gc_ms = (float)known(values[GC][i]),
                                         .load = (float)(by_bytes ? bytes : records),
                                         .spill = (float)known(values[SPILL][i]),
                                         .need = (float)(known(values[PEAK][i]) + known(values[SPILL_MEMORY][i]))};
        }
    }
    pyro_release(app->allocator, values);
    return true;
}

static int by_load(const void *a, const void *b)
{
    const struct pyro_task_facts *one = a, *other = b;
    if (one->load != other->load)
        return one->load < other->load ? -1 : 1;
    return (one->row > other->row) - (one->row < other->row);
}

static double median_ms(const struct pyro_task_facts *tasks, size_t count)
{
    double values[SAMPLE];
    for (size_t i = 0; i < count; i++)
        values[i] = (double)tasks[i].ms;
    return pyro_median(values, count);
}

/* The fixed cost of a task: of those that read nothing; else where a line through the medians of the quarters with the
 * least and the most to read meets no load at all. NaN: the stage does not say. */
static double fixed_of(const struct pyro_predicted_run *run, const struct pyro_stage_facts *facts)
{
    struct pyro_task_facts sample[SAMPLE];
    size_t count = facts->count < SAMPLE ? facts->count : SAMPLE, empty = 0;
    if (count < SAMPLE_MIN || facts->load <= 0)
        return NAN;
    for (size_t i = 0; i < count; i++)
        sample[i] = run->tasks[facts->first + (uint64_t)i * facts->count / count];
    qsort(sample, count, sizeof(*sample), by_load);
    while (empty < count && sample[empty].load <= 0)
        empty++;
    if (empty >= 3)
        return median_ms(sample, empty);
    size_t quarter = count / 4;
    double low = (double)sample[quarter / 2].load, high = (double)sample[count - 1 - quarter / 2].load;
    double low_ms = median_ms(sample, quarter), high_ms = median_ms(sample + count - quarter, quarter);
    if (low <= 0 || high < LOAD_SPREAD_MIN * low || high_ms <= low_ms)
        return NAN;
    double fixed = low_ms - (high_ms - low_ms) / (high - low) * low;
    return fixed > 0 ? fixed : 0;
}

/* A stage that says nothing has the median of those that do, and none more than its quickest tasks take; at least what
 * its tasks spend outside of running. */
static void find_fixed(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    double values[SAMPLE];
    size_t count = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        double fixed = fixed_of(run, &run->stages[i]);
        run->stages[i].fixed_ms = (float)fixed;
        if (isfinite(fixed) && count < SAMPLE)
            values[count++] = fixed;
    }
    double usual = count > 0 ? pyro_median(values, count) : NAN;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        struct pyro_stage_facts *facts = &run->stages[i];
        double most = (double)(stage->duration_min > 0 ? stage->duration_min : 0);
        double outside =
            stage->tasks > 0 && stage->run_ms > 0
                ? fmax((double)(pyro_sub_saturating(stage->task_ms, stage->run_ms)) / (double)stage->tasks, 0)
                : 0;
        double fixed = isnan((double)facts->fixed_ms) ? (isnan(usual) ? outside : usual) : (double)facts->fixed_ms;
        facts->fixed_ms = (float)fmin(fmax(fixed, fmin(outside, most)), most);
    }
}

bool pyro_predict_take_tasks(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    run->tasks = pyro_scratch(app, app->tasks.count, sizeof(*run->tasks));
    run->stages = pyro_scratch(app, app->stages.count, sizeof(*run->stages));
    if (!run->tasks || !run->stages)
        return false;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        run->stages[i].first = stage->first_task;
        run->stages[i].source = stage->shuffle_read_bytes > 0 || stage->shuffle_read_records > 0 ? PYRO_SOURCE_SHUFFLE
                                : stage->input_bytes > 0                                         ? PYRO_SOURCE_FILES
                                                                                                 : PYRO_SOURCE_NOTHING;
    }
    if (!read_tasks(run))
        return false;
    for (size_t i = 0; i < app->stages.count; i++) {
        double sum = 0;
        for (uint32_t t = 0; t < run->stages[i].count; t++)
            sum += (double)run->tasks[run->stages[i].first + t].load;
        run->stages[i].load = (float)sum;
    }
    find_fixed(run);
    return true;
}
