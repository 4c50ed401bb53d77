/* What a task costs that has nothing to do: to be scheduled, deserialized, set up, to open files and fetch blocks, and
 * to report its result. The rest of its time follows the data. docs/whatif.md, Partitions. */
#include <math.h>
#include <stdlib.h>

#include "base/numbers/order.h"
#include "base/numbers/saturate.h"
#include "predict/cut_tasks.h"

/* Tasks of a stage that its fixed cost is estimated from, evenly spread over the stage. */
enum { SAMPLE = 512, SAMPLE_MIN = 8, EMPTY_MIN = 3 };
/* Loads of the upper and lower quarter must differ by this factor before a line through them says anything. */
#define LOAD_SPREAD_MIN 1.5
/* Processor time of a task, ms: a stage whose tasks use more says what records cost; its fixed cost hardly shows. */
#define HEAVY_CPU_MS 100.0
/* Stages with fewer tasks are mostly first tasks, which take longer. */
enum { FLOOR_TASKS = 20 };
/* Data that must have been read before it says what data costs; and what a byte costs where none does. */
#define ENOUGH_RECORDS   100e3
#define ENOUGH_BYTES     16e6
#define USUAL_BYTES_A_MS 100e3
/* Waiting for something else than a processor beyond this follows the data: a service, a disk. */
#define WAIT_MAX_MS 60.0
/* Tasks in Python: bytes that are little to read, what a worker takes of them at least, and how many times the usual
 * cost of one a task without more may take. */
#define SMALL_BYTES       1048576.0
#define PYTHON_BYTES_A_MS 20e3
#define PYTHON_TIMES_MAX  4.0
/* A stage's tasks are small when this share of their time is fixed. */
#define SMALL_SHARE 0.4

/* Of a stage, a task. */
struct mean {
    double ms, run_ms, cpu_ms, records, load, blocks, byte_ms;
    bool writes;
};

static struct mean mean_of(const struct pyro_predicted_run *run, size_t row)
{
    const struct pyro_stage *stage = &run->app->stages.items[row];
    const struct pyro_stage_facts *facts = &run->stages[row];
    double tasks = stage->tasks > 0 ? (double)stage->tasks : 1, done = facts->count > 0 ? facts->count : 1;
    return (struct mean){.ms = fmax((double)stage->task_ms, 0) / tasks,
                         .run_ms = fmax((double)stage->run_ms, 0) / tasks,
                         .cpu_ms = fmax((double)stage->cpu_ms, 0) / tasks,
                         .records = (double)facts->records / done,
                         .load = (double)facts->load / done,
                         .blocks = (double)facts->blocks / done,
                         .byte_ms = (double)facts->byte_ms,
                         .writes = stage->output_bytes > 0};
}

/* Tasks that the times of one in the middle are taken from. */
enum { TYPICAL = 64 };

/* The same, but the times are those of a task in the middle: first tasks and stragglers do not count. */
static struct mean typical_of(const struct pyro_predicted_run *run, size_t row)
{
    struct mean mean = mean_of(run, row);
    const struct pyro_stage_facts *facts = &run->stages[row];
    size_t count = facts->count < TYPICAL ? facts->count : TYPICAL;
    double ms[TYPICAL], run_ms[TYPICAL], cpu_ms[TYPICAL];
    if (count < SAMPLE_MIN)
        return mean;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_task_facts *task = &run->tasks[facts->first + (uint64_t)i * facts->count / count];
        ms[i] = (double)task->ms;
        run_ms[i] = fmax((double)pyro_task_get(&run->app->tasks, PYRO_TASK_run_ms, task->row), 0);
        cpu_ms[i] = fmax((double)pyro_task_get(&run->app->tasks, PYRO_TASK_cpu_ns, task->row), 0) / 1e6;
    }
    mean.ms = pyro_median(ms, count);
    mean.run_ms = pyro_median(run_ms, count);
    mean.cpu_ms = pyro_median(cpu_ms, count);
    return mean;
}

/* ---- tasks of one stage compared ---- */

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

/* Of those that read nothing; else where a line through the medians of the quarters with the least and the most to read
 * meets no load at all. NaN: the stage does not say. */
static double compare_tasks(const struct pyro_predicted_run *run, const struct pyro_stage_facts *facts)
{
    struct pyro_task_facts sample[SAMPLE];
    double empty_ms = 0;
    size_t count = facts->count < SAMPLE ? facts->count : SAMPLE, empty = 0;
    if (count < SAMPLE_MIN || facts->load <= 0)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        sample[i] = run->tasks[facts->first + (uint64_t)i * facts->count / count];
        if (sample[i].load <= 0 || (facts->records > 0 && sample[i].records <= 0))
            empty++, empty_ms += (double)sample[i].ms;
    }
    if (empty >= EMPTY_MIN)
        return empty_ms / (double)empty;
    qsort(sample, count, sizeof(*sample), by_load);
    size_t quarter = count / 4;
    double low = (double)sample[quarter / 2].load, high = (double)sample[count - 1 - quarter / 2].load;
    double low_ms = median_ms(sample, quarter), high_ms = median_ms(sample + count - quarter, quarter);
    if (low <= 0 || high < LOAD_SPREAD_MIN * low || high_ms <= low_ms)
        return NAN;
    double fixed = low_ms - (high_ms - low_ms) / (high - low) * low;
    return fixed > 0 ? fixed : 0;
}

/* ---- stages of the run compared ---- */

/* The least processor time that tasks of any stage used on average. */
static double find_floor(const struct pyro_predicted_run *run)
{
    double least = run->constants[PYRO_CONSTANT_FLOOR_CPU_MS];
    for (size_t i = 0; i < run->app->stages.count; i++)
        if (run->stages[i].count >= FLOOR_TASKS && run->app->stages.items[i].cpu_ms > 0)
            least = fmin(least, mean_of(run, i).cpu_ms);
    return least;
}

/* Processor time of a record, and of a byte, over all stages whose tasks have much to do. NaN: there is none. */
static double find_rate(const struct pyro_predicted_run *run, double floor, bool records)
{
    double cpu_ms = 0, units = 0;
    for (size_t i = 0; i < run->app->stages.count; i++) {
        struct mean mean = mean_of(run, i);
        double each = records ? mean.records : mean.load;
        if (mean.cpu_ms < HEAVY_CPU_MS || !(each > 0))
            continue;
        cpu_ms += (mean.cpu_ms - floor) * run->stages[i].count;
        units += each * run->stages[i].count;
    }
    return units >= (records ? ENOUGH_RECORDS : ENOUGH_BYTES) ? cpu_ms / units : NAN;
}

struct rates {
    double floor, record, byte;
};

/* Processor time that a task's data takes. */
static double work_of(const struct mean *mean, const struct rates *rates)
{
    if (!isnan(rates->record) && mean->records > 0)
        return rates->record * mean->records;
    if (isnan(rates->byte) && mean->byte_ms > 0)
        return mean->byte_ms * mean->load;
    return isnan(rates->byte) ? mean->load / USUAL_BYTES_A_MS : rates->byte * mean->load;
}

/* By its processor time beyond what its data costs elsewhere in the run. The same share of its waiting is fixed, but
 * what is more than a processor made it wait, and more than a worker's pipes do, follows the data. */
static double compare_stages(const struct pyro_predicted_run *run, const struct mean *mean, const struct rates *rates)
{
    const double *constants = run->constants, longer = run->longer;
    double most = constants[PYRO_CONSTANT_FIXED_CPU_MAX_MS] + constants[PYRO_CONSTANT_BLOCK_CPU_MS] * mean->blocks;
    double cpu = fmin(fmax(mean->cpu_ms - work_of(mean, rates), 0), most);
    double share = mean->cpu_ms > 0 ? cpu / mean->cpu_ms : 0;
    double contended = fmin(mean->run_ms, mean->cpu_ms * fmax(longer, 1) * 1.3), beyond = mean->run_ms - contended;
    double outside = mean->run_ms > 0 ? fmax(mean->ms - mean->run_ms, 0) : 0;
    return outside + share * (contended + (beyond <= WAIT_MAX_MS ? beyond : 0));
}

/* What an RDD's task in Python costs that has little to read: nearly all of it is to hand a worker its partition, which
 * the JVM's processor time does not show. 0: the stage's tasks have much to read, or take so long that they wait for
 * something else. */
static double fixed_of_python(const struct pyro_predicted_run *run, size_t row, const struct mean *mean)
{
    const struct pyro_stage_facts *facts = &run->stages[row];
    bool small = facts->python && facts->count >= FLOOR_TASKS && run->app->stages.items[row].sql == PYRO_NONE &&
                 mean->load <= SMALL_BYTES;
    double most = PYTHON_TIMES_MAX * run->constants[PYRO_CONSTANT_PYTHON_FIXED_MS];
    return small && mean->ms <= most ? fmax(mean->ms - mean->load / PYTHON_BYTES_A_MS, 0) : 0;
}

void pyro_predict_take_costs(struct pyro_predicted_run *run)
{
    double floor = find_floor(run);
    const struct rates rates = {floor, find_rate(run, floor, true), find_rate(run, floor, false)};
    /* Where processors make a task wait, half of its cost waits for them: it grows with the root. */
    run->added_ms = run->constants[PYRO_CONSTANT_ADDED_MS] * sqrt(fmax(run->longer, 1));
    for (size_t i = 0; i < run->app->stages.count; i++) {
        struct pyro_stage_facts *facts = &run->stages[i];
        struct mean mean = typical_of(run, i);
        /* A task that writes opens a file when it has rows only: the empty ones do not say what a full one costs. */
        double fixed = mean.writes ? NAN : compare_tasks(run, facts);
        if (isnan(fixed))
            fixed = compare_stages(run, &mean, &rates) +
                    (run->one_host && facts->count >= FLOOR_TASKS ? run->constants[PYRO_CONSTANT_DRIVER_MS] : 0);
        /* Each partition of a stream's state has a file for each batch, however little changed. */
        fixed = fmax(fixed, fmax(fixed_of_python(run, i, &mean), facts->commit_ms));
        facts->fixed_ms = (float)fmin(fmax(fixed, 0), mean.ms);
        if (facts->count >= FLOOR_TASKS && (double)facts->fixed_ms >= SMALL_SHARE * mean.ms && !mean.writes)
            run->added_ms = fmin(run->added_ms, (double)facts->fixed_ms);
    }
}
