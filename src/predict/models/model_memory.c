/* Memory of executors: spills and garbage collection as functions of what a task has. */
#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/task_slots.h"
#include "predict/cut_tasks.h"

/* Of a heap, what Spark leaves to itself and to the user's objects before spark.memory.fraction is taken. */
#define RESERVED_BYTES (300.0 * 1024 * 1024)
/* Where no tasks say what a spilled byte costs: it is written and read again as fast as the run wrote its shuffles,
 * which go the same way to the same disks, or where it wrote too little as docs/cost.md estimates it; and a byte of
 * memory is serialized, compressed, read again and merged (measured on the pairs of corpus/whatif). */
#define SHUFFLE_BYTES_ENOUGH (16.0 * 1024 * 1024)
/* Spilled rows take less room on disk than in memory; where the run says nothing by how much. */
#define PACKED 0.4
/* A heap of which less than this was ever used is larger than the collector wanted. */
#define FILLED 0.85
/* Live data keeps at most this share of a heap: beyond, the run would have ended. */
#define LIVE_MAX 0.9
/* How many times more or less a collection may cost. */
#define GC_FACTOR_MAX 8.0
/* Of the changed part of the time in tasks. */
#define DOUBT_FITTED  0.4
#define DOUBT_UNKNOWN 0.8
/* A task that spilled may need this multiple of what it spilled and held: the array of pointers to its rows doubles. */
#define UNSEEN 2.0
/* Where memory shrinks below what executors held alive: the next run may fail. */
#define DOUBT_RISK 0.5

struct memory {
    double heap, task, fraction; /* of an executor; for execution, of a task when all slots are busy */
};

static double for_a_task(const struct pyro_predicted_run *run, double heap, double cores, double fraction)
{
    double slots =
        fmax((double)pyro_slots_of(run->app, run->profile, run->profile, pyro_whole(cores), PYRO_SLICE_NULL).count, 1);
    return fmax(heap - RESERVED_BYTES, 0) * fraction / slots;
}

double pyro_task_memory(const struct pyro_predicted_run *run)
{
    return for_a_task(run, (double)run->memory_bytes, (double)run->cores,
                      pyro_run_setting(run->app, PYRO_PREDICTED_FRACTION));
}

static struct memory memory_of(const struct pyro_predict_change *change, bool scenario)
{
    const struct pyro_predicted_run *run = change->run;
    double heap = scenario ? (double)change->scenario->memory_bytes : (double)run->memory_bytes;
    double cores = scenario ? (double)change->scenario->cores_per_executor : (double)run->cores;
    double fraction = scenario ? pyro_scenario_setting(change, PYRO_PREDICTED_FRACTION)
                               : pyro_run_setting(run->app, PYRO_PREDICTED_FRACTION);
    return (struct memory){heap, for_a_task(run, heap, cores, fraction), fraction};
}

/* Bytes that stay alive in a heap: cached blocks, what tasks work in, and classes. Blocks and tasks get no more than
 * their share of it. */
static double live_bytes(const struct pyro_predicted_run *run, double heap, double fraction)
{
    double live = 0;
    for (size_t i = 0; i < run->app->executors.count; i++) {
        const struct pyro_executor *row = &run->app->executors.items[i];
        double storage = row->storage_peak_bytes > 0 ? (double)row->storage_peak_bytes : 0,
               execution = row->execution_peak_bytes > 0 ? (double)row->execution_peak_bytes : 0;
        live = fmax(live, storage + execution);
    }
    return fmin(fmin(live, fmax(heap - RESERVED_BYTES, 0) * fraction) + 60e6, LIVE_MAX * heap);
}

/* Milliseconds that a byte of disk spill costs: tasks of a stage that spilled beside those of it that did not, for what
 * both read. 0: no stage has both. */
static double spill_cost(const struct pyro_predicted_run *run)
{
    double ms = 0, bytes = 0;
    for (size_t s = 0; s < run->app->stages.count; s++) {
        const struct pyro_stage_facts *facts = &run->stages[s];
        double sums[2][3] = {{0}}, counts[2] = {0};
        for (uint32_t i = 0; i < facts->count; i++) {
            const struct pyro_task_facts *task = &run->tasks[facts->first + i];
            unsigned spilled = task->spill > 0;
            sums[spilled][0] += (double)task->ms - (double)facts->fixed_ms;
            sums[spilled][1] += (double)task->load;
            sums[spilled][2] += (double)task->spill;
            counts[spilled]++;
        }
        if (counts[0] < 3 || counts[1] < 3 || !(sums[0][1] > 0) || !(sums[0][0] > 0))
            continue;
        double without = sums[0][0] / sums[0][1] * sums[1][1];
        ms += fmax(sums[1][0] - without, 0);
        bytes += sums[1][2];
    }
    return bytes > 0 ? ms / bytes : 0;
}

/* The same where no stage has both. */
static double usual_cost(const struct pyro_predicted_run *run, double pack)
{
    const struct pyro_app *app = run->app;
    double bytes = 0, ms = 0;
    for (size_t s = 0; s < app->stages.count; s++) {
        bytes += fmax((double)app->stages.items[s].shuffle_write_bytes, 0);
        ms += fmax((double)app->stages.items[s].shuffle_write_ms, 0);
    }
    double speed = bytes >= SHUFFLE_BYTES_ENOUGH && ms > 0 ? bytes / ms : run->constants[PYRO_CONSTANT_DISK_BYTES_A_MS];
    return 2 / speed + 1 / (pack * run->constants[PYRO_CONSTANT_SERIALIZED_A_MS]);
}

/* Disk bytes of a byte that did not fit into memory. */
static double packed(const struct pyro_app *app)
{
    double memory = (double)app->numbers.memory_spill_bytes, disk = (double)app->numbers.disk_spill_bytes;
    return memory > 0 && disk > 0 ? fmin(disk / memory, 1) : PACKED;
}

void pyro_predict_take_spill(struct pyro_predicted_run *run)
{
    double fitted = run->app->numbers.disk_spill_bytes > 0 ? spill_cost(run) : 0;
    run->spill_fitted = fitted > 0;
    run->spill_ms = fitted > 0 ? fitted : usual_cost(run, packed(run->app));
}

struct change_told {
    double spill_before, spill_after, gc_before, gc_after;
    double spill_worst; /* where tasks that spilled need more than they show */
};

/* What the collector uses of a heap: what the run used at most, where that was not all of it. */
static double used_heap(const struct pyro_predicted_run *run, double heap)
{
    double peak = 0;
    for (size_t i = 0; i < run->app->executors.count; i++)
        peak = fmax(peak, (double)run->app->executors.items[i].heap_peak_bytes);
    return peak > 0 && peak < FILLED * (double)run->memory_bytes ? fmin(peak, heap) : heap;
}

/* What spills of a task that needs more than it shows, at most as much as before. */
static double spill_if_unseen(double spill, double need, double was, double now)
{
    double before = pyro_spilled_memory(UNSEEN * need, was), after = pyro_spilled_memory(UNSEEN * need, now);
    return before > 0 ? spill * fmin(after / before, 1) : 0;
}

static void change_stage(struct pyro_predict_change *change, size_t row, struct memory was, struct memory now,
                         double gc_factor, double cost, double pack, struct change_told *told)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_stage_facts *facts = &run->stages[row];
    bool spill_of_run = run->app->numbers.disk_spill_bytes > 0,
         by_bytes = facts->source == PYRO_SOURCE_SHUFFLE && run->app->stages.items[row].shuffle_read_bytes > 0;
    bool any = false;
    for (uint32_t i = 0; i < facts->count && !any; i++) {
        const struct pyro_task_facts *task = &run->tasks[facts->first + i];
        any = task->gc_ms > 0 || task->spill > 0 || (double)task->need > now.task;
    }
    struct pyro_scenario_tasks *tasks = any ? pyro_change_tasks(change, row) : NULL;
    if (!tasks || tasks->recut) /* tasks of a new cut have none of their own */
        return;
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct pyro_task_facts *task = &run->tasks[facts->first + i];
        double need = (double)task->need, spill = (double)task->spill, after = spill, gc = (double)task->gc_ms;
        double each = spill_of_run || !by_bytes || !(need > 0) ? pack : fmin((double)task->load / need, 1);
        if (spill > 0)
            after = need > was.task ? spill * pyro_spilled_memory(need, now.task) / pyro_spilled_memory(need, was.task)
                                    : (now.task >= was.task ? spill * was.task / now.task : spill);
        else if (need > now.task && need <= was.task)
            after = pyro_spilled_memory(need, now.task) * each;
        after = fmin(after, fmax(spill * 4, need * each));
        double ms = tasks->ms[i] + (after - spill) * cost + gc * (gc_factor - 1);
        tasks->ms[i] = fmax(ms, fmin(tasks->ms[i], pyro_fixed_ms(change, row)));
        told->spill_before += spill;
        told->spill_after += after;
        told->spill_worst += spill > 0 ? fmax(after, spill_if_unseen(spill, need, was.task, now.task)) : after;
        told->gc_before += gc;
        told->gc_after += gc * gc_factor;
    }
}

void pyro_model_memory(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    struct pyro_scenario *scenario = change->scenario;
    bool local = pyro_slice_is(pyro_slice_from(pyro_app_heap_key(run->app)), "spark.driver.memory");
    enum pyro_predicted heap =
        local && pyro_asks(change, PYRO_PREDICTED_DRIVER_MEMORY) ? PYRO_PREDICTED_DRIVER_MEMORY : PYRO_PREDICTED_MEMORY;
    bool asked = pyro_asks(change, heap) || pyro_asks(change, PYRO_PREDICTED_FRACTION);
    if (pyro_asks(change, heap))
        scenario->memory_bytes = (int64_t)scenario->values[heap];
    struct memory was = memory_of(change, false), now = memory_of(change, true);
    if (!run->stages || (was.task == now.task && was.heap == now.heap)) {
        if (asked)
            pyro_effect(change, PYRO_MODEL_memory, 0, 0, "unchanged");
        return;
    }
    struct change_told told = {0};
    double cost = run->spill_ms, pack = packed(run->app);
    double live = live_bytes(run, was.heap, was.fraction), live_now = live_bytes(run, now.heap, now.fraction);
    bool fitted = run->spill_fitted;
    double heap_was = used_heap(run, was.heap), heap_now = used_heap(run, now.heap);
    double room_was = fmax(heap_was - live, heap_was * (1 - LIVE_MAX)),
           room_now = fmax(heap_now - live_now, heap_now * (1 - LIVE_MAX));
    double gc_factor = fmin(fmax(room_was / room_now, 1 / GC_FACTOR_MAX), GC_FACTOR_MAX);
    for (size_t s = 0; s < run->app->stages.count && !change->failed; s++)
        change_stage(change, s, was, now, gc_factor, cost, pack, &told);
    double task_ms = fmax((double)run->app->numbers.task_ms, 1);
    double changed = fabs(told.spill_after - told.spill_before) * cost + fabs(told.gc_after - told.gc_before);
    double doubt = changed / task_ms * (fitted || told.spill_after == told.spill_before ? DOUBT_FITTED : DOUBT_UNKNOWN);
    bool risk = now.heap < was.heap && live > LIVE_MAX * now.heap;
    double stays = (told.spill_worst - told.spill_after) * cost / task_ms;
    pyro_effect(change, PYRO_MODEL_memory, doubt, doubt + stays + (risk ? DOUBT_RISK : 0),
                "a task has %.0f MiB of execution memory instead of %.0f: %.0f MiB spilled instead of %.0f, %.1f s of "
                "garbage collection instead of %.1f%s%s",
                now.task / 0x1p20, was.task / 0x1p20, told.spill_after / 0x1p20, told.spill_before / 0x1p20,
                told.gc_after / 1000, told.gc_before / 1000,
                fitted ? "; the cost of a spilled byte is fitted on tasks of this run"
                       : "; the cost of a spilled byte is assumed to be that of a written shuffle byte",
                risk ? "; live objects took more than this heap: executors can run out of memory" : "");
}
