/* A new cut of a stage's tasks, and what becomes of them in the replay. */
#include <math.h>
#include <stdlib.h>

#include "predict/cut_tasks.h"

/* A task that reads this multiple of the median holds a key that no other cut divides. */
#define LUMP 3.0
/* If both sides of the shuffle have one number of partitions: the map outputs that each task fetches. */
#define CUT_ALIKE 0.8
enum { CUT_ALIKE_MIN = 6, FEW = 20 };
/* Of a stage's work at most this share is files. */
#define FILES_SHARE_MAX 0.95
/* What is left of a stage's work at least, whatever it spilled. */
#define WORK_LEFT 0.3
/* Fewer of all tasks than this have anything to read: there are few keys, and each stays whole. */
#define FILLED_MIN 0.9

struct pyro_scenario_tasks *pyro_change_tasks(struct pyro_predict_change *change, size_t stage)
{
    const struct pyro_predicted_run *run = change->run;
    if (!run->stages || run->stages[stage].count == 0)
        return NULL;
    if (!change->stages)
        change->stages = pyro_arena_array(&change->scratch, run->app->stages.count, sizeof(*change->stages));
    change->failed |= !change->stages;
    if (!change->stages)
        return NULL;
    struct pyro_scenario_tasks *tasks = &change->stages[stage];
    if (tasks->touched)
        return tasks;
    const struct pyro_stage_facts *facts = &run->stages[stage];
    tasks->ms = pyro_arena_array(&change->scratch, facts->count, sizeof(*tasks->ms));
    tasks->load = pyro_arena_array(&change->scratch, facts->count, sizeof(*tasks->load));
    change->failed |= !tasks->ms || !tasks->load;
    if (!tasks->ms || !tasks->load)
        return NULL;
    tasks->count = facts->count;
    tasks->touched = true;
    for (uint32_t i = 0; i < facts->count; i++)
        tasks->ms[i] = (double)run->tasks[facts->first + i].ms;
    pyro_stage_loads(run, stage, tasks->load);
    return tasks;
}

/* Where a hash puts thing `number`: any fixed mixing will do. */
static uint32_t place_of(uint32_t number, uint32_t count)
{
    uint64_t mixed = (number + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    return (uint32_t)(mixed % count);
}

/* Shares of the load for `count` tasks instead of `tasks->count`; `sorted` has those that are above 0. */
static void share(const struct pyro_scenario_tasks *tasks, const double *sorted, uint32_t filled, double *shares,
                  uint32_t count)
{
    double even = 0, all = 0;
    for (uint32_t i = 0; i < tasks->count; i++)
        all += tasks->load[i];
    memset(shares, 0, count * sizeof(*shares));
    if (filled == 0 || !(all > 0)) {
        for (uint32_t i = 0; i < count; i++)
            shares[i] = 1.0 / count;
        return;
    }
    if (filled < FILLED_MIN * tasks->count) {
        for (uint32_t i = 0; i < filled; i++)
            shares[place_of(i, count)] += sorted[i] / all;
        return;
    }
    double median = sorted[filled / 2];
    for (uint32_t i = 0; i < filled; i++)
        even += sorted[i] > LUMP * median ? median : sorted[i];
    /* Partitions of hashed keys spread with the root of their number. */
    double wider = sqrt((double)count / tasks->count), mean = even / filled, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        double like = sorted[(uint64_t)i * filled / count];
        like = like > LUMP * median ? median : like;
        shares[i] = fmax(1 + (like / mean - 1) * fmin(wider, 1.5), 0.1);
        sum += shares[i];
    }
    for (uint32_t i = 0; i < count; i++)
        shares[i] *= even / all / sum;
    for (uint32_t i = filled; i-- > 0 && sorted[i] > LUMP * median;)
        shares[place_of(i, count)] += (sorted[i] - median) / all;
}

/* How many times its usual cost an added task costs more on average, for code that is not compiled yet: `more` of them
 * come after change->added. */
static double warm_up_of_added(struct pyro_predict_change *change, double more)
{
    double tasks = change->run->constants[PYRO_CONSTANT_WARM_TASKS];
    double warm = exp(-change->added / tasks) - exp(-(change->added + more) / tasks);
    change->added += more;
    return change->run->constants[PYRO_CONSTANT_COLD_TIMES] * tasks * warm / more;
}

/* The fixed cost of a task when `before` tasks become `count`. The tasks of a small stage are the first ones on their
 * executors, which more tasks are not; but each of them fetches more blocks, where what they read is cut alike. */
static double fixed_of_more(struct pyro_predict_change *change, size_t stage, uint32_t before, uint32_t count)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_stage_facts *facts = &run->stages[stage];
    double fixed = (double)facts->fixed_ms, blocks = (double)facts->blocks / fmax(facts->count, 1);
    if (count <= before)
        return fixed;
    double writes = run->app->stages.items[stage].output_bytes > 0 ? run->constants[PYRO_CONSTANT_WRITE_MS] : 0;
    bool rdd = facts->python && run->app->stages.items[stage].sql == PYRO_NONE;
    writes += facts->python ? run->constants[PYRO_CONSTANT_PYTHON_MS] : 0;
    double cold = warm_up_of_added(change, count - before), added = fmax(fixed, run->added_ms);
    if (before < FEW)
        added = fmin(added, run->added_ms * (1 + cold) + writes);
    added = rdd ? fmax(added, run->constants[PYRO_CONSTANT_PYTHON_FIXED_MS]) : added;
    fixed = (before * fixed + (count - before) * added) / count;
    bool alike = before >= CUT_ALIKE_MIN && blocks >= CUT_ALIKE * facts->count;
    return fixed + (alike ? run->constants[PYRO_CONSTANT_BLOCK_MS] * blocks * ((double)count / before - 1) : 0);
}

/* Time that a stage spends less on spilling when its tasks become smaller, or more when they become larger: their need
 * of memory follows what they read. */
static double spared_spill_ms(const struct pyro_predicted_run *run, size_t stage, uint32_t count)
{
    const struct pyro_stage_facts *facts = &run->stages[stage];
    double spill = 0, need = 0, memory = pyro_task_memory(run);
    for (uint32_t i = 0; i < facts->count; i++) {
        spill += (double)run->tasks[facts->first + i].spill;
        need += (double)run->tasks[facts->first + i].need / facts->count;
    }
    if (!(spill > 0))
        return 0;
    double now = need * facts->count / count;
    double was_out = pyro_spilled_memory(need, memory) * facts->count, out = pyro_spilled_memory(now, memory) * count;
    double left = was_out > 0 ? out / was_out : fmin((double)facts->count / count, 1);
    return spill * run->spill_ms * (1 - left);
}

double pyro_written_files(const struct pyro_stage_facts *facts, double before, double count)
{
    double places = facts->folders * before;
    if (!(facts->folders >= 1) || !(places > 0) || !(count > 0))
        return count;
    /* Rows of a task for a folder, in units of what is one: by the files that are missing, or where hardly any is, as
     * many as there are. */
    double filled = fmin(facts->written / places, 1 - 1e-6), rows = -log(1 - fmax(filled, 1e-6));
    if (filled > FILLED_MIN)
        rows = fmax(rows, facts->written_rows / places);
    rows *= before / count;
    return fmax(facts->folders * count * (1 - exp(-rows)), facts->folders);
}

/* Time of a stage's work that is files, and what it becomes when its tasks are `count`; `work` as it is by now. */
static double files_ms(const struct pyro_predicted_run *run, size_t stage, double before, double count, double work,
                       double *ret_now)
{
    const struct pyro_stage_facts *facts = &run->stages[stage];
    enum pyro_constant kind = facts->columns ? PYRO_CONSTANT_COLUMNS_FILE_MS : PYRO_CONSTANT_FILE_MS;
    double was = facts->folders >= 1 ? fmax(facts->written - before, 0) : 0; /* one of each task is in its own cost */
    double each = was > 0 ? fmin(run->constants[kind], FILES_SHARE_MAX * work / was) : 0;
    *ret_now = was > 0 ? each * fmax(pyro_written_files(facts, before, count) - count, 0) : 0;
    return each * was;
}

void pyro_change_recut(struct pyro_predict_change *change, size_t stage, uint32_t count)
{
    struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, stage);
    count = count < 1 ? 1 : count > PYRO_REPLAY_PARTITIONS ? PYRO_REPLAY_PARTITIONS : count;
    if (!tasks || tasks->count == count)
        return;
    double *ms = pyro_arena_array(&change->scratch, count, sizeof(*ms)),
           *load = pyro_arena_array(&change->scratch, count, sizeof(*load)),
           *sorted = pyro_arena_array(&change->scratch, tasks->count, sizeof(*sorted)),
           *extra = pyro_arena_array(&change->scratch, tasks->count, sizeof(*extra));
    double fixed = pyro_fixed_ms(change, stage), work = 0, all = 0;
    change->failed |= !ms || !load || !sorted || !extra;
    if (!ms || !load || !sorted || !extra)
        return;
    /* Of fewer tasks, more are the first ones. */
    bool fewer = !tasks->recut && count < tasks->count;
    if (fewer)
        work -= pyro_stage_warm_up(change->run, stage, tasks, extra, sorted);
    for (uint32_t i = 0; i < tasks->count; i++) {
        work += tasks->ms[i] - fixed; /* by chance some take less than the fixed cost */
        all += tasks->load[i];
    }
    work = fmax(work, 0);
    double files_now;
    work -= files_ms(change->run, stage, tasks->count, count, work, &files_now);
    share(tasks, sorted, pyro_stage_sorted_loads(change->run, stage, tasks, sorted), load, count);
    /* The order of partitions has nothing to do with their size: mixed by a fixed rule. */
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = place_of(i, i);
        double swap = load[i - 1];
        load[i - 1] = load[other];
        load[other] = swap;
    }
    work = fmax(work - spared_spill_ms(change->run, stage, count), WORK_LEFT * work);
    fixed = fixed_of_more(change, stage, tasks->count, count) + files_now / count;
    for (uint32_t i = 0; i < count; i++) {
        ms[i] = fixed + work * load[i] + (fewer ? extra[i] : 0);
        load[i] *= all;
    }
    tasks->ms = ms;
    tasks->load = load;
    tasks->count = count;
    tasks->recut = true;
}

/* Tasks that kept their time keep what is recorded, to the microsecond. */
static void emit_times(struct pyro_predict_change *change, size_t stage, struct pyro_scenario_tasks *tasks)
{
    const struct pyro_task_facts *facts = &change->run->tasks[change->run->stages[stage].first];
    uint32_t changed = 0;
    for (uint32_t i = 0; i < tasks->count; i++)
        changed += tasks->ms[i] != (double)facts[i].ms;
    if (changed == 0)
        return;
    struct pyro_edit *edit = pyro_vec_push(&change->edits, change->run->app->allocator);
    uint32_t *rows = pyro_arena_array(&change->scratch, changed, sizeof(*rows));
    change->failed |= !edit || !rows;
    if (!edit || !rows)
        return;
    double *times = tasks->ms; /* those that changed move to the front */
    *edit = (struct pyro_edit){.kind = PYRO_EDIT_TIMES, .row = stage, .times = times, .tasks = rows};
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->ms[i] != (double)facts[i].ms) {
            rows[edit->count] = facts[i].row;
            times[edit->count++] = tasks->ms[i];
        }
}

void pyro_change_emit(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_allocator *allocator = run->app->allocator;
    for (size_t s = 0; change->stages && s < run->app->stages.count && !change->failed; s++) {
        struct pyro_scenario_tasks *tasks = &change->stages[s];
        if (!tasks->touched)
            continue;
        if (tasks->recut) {
            struct pyro_edit *edit = pyro_vec_push(&change->edits, allocator);
            change->failed |= !edit;
            if (edit)
                *edit =
                    (struct pyro_edit){.kind = PYRO_EDIT_TASKS, .row = s, .count = tasks->count, .times = tasks->ms};
            continue;
        }
        emit_times(change, s, tasks);
    }
}
