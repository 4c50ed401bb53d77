/* Tasks of a stage cut anew, and what becomes of them in the replay. */
#include <math.h>

#include "analyze/internal.h"
#include "base/order.h"
#include "predict/tasks.h"

/* A task that reads so many times what the median does holds a key that no other cut divides. */
#define LUMP 3.0
/* Fewer of all tasks than this have anything to read: there are few keys, and each stays whole. */
#define FILLED_MIN 0.9

struct pyro_stage_tasks *pyro_change_tasks(struct pyro_predict_change *change, size_t stage)
{
    const struct pyro_predicted_run *run = change->run;
    if (!run->stages || run->stages[stage].count == 0)
        return NULL;
    if (!change->stages)
        change->stages = pyro_arena_array(&change->scratch, run->app->stages.count, sizeof(*change->stages));
    change->failed |= !change->stages;
    if (!change->stages)
        return NULL;
    struct pyro_stage_tasks *tasks = &change->stages[stage];
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
    for (uint32_t i = 0; i < facts->count; i++) {
        tasks->ms[i] = (double)run->tasks[facts->first + i].ms;
        tasks->load[i] = facts->load > 0 ? (double)run->tasks[facts->first + i].load : 1;
    }
    return tasks;
}

/* Where a hash puts thing `number`: any fixed mixing will do. */
static uint32_t place_of(uint32_t number, uint32_t count)
{
    uint64_t mixed = (number + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    return (uint32_t)(mixed % count);
}

/* Shares of the load for `count` tasks instead of `tasks->count`. */
static void share(const struct pyro_stage_tasks *tasks, double *sorted, double *shares, uint32_t count)
{
    uint32_t filled = 0;
    double even = 0, all = 0;
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (tasks->load[i] > 0)
            sorted[filled++] = tasks->load[i];
        all += tasks->load[i];
    }
    memset(shares, 0, count * sizeof(*shares));
    if (filled == 0 || !(all > 0)) {
        for (uint32_t i = 0; i < count; i++)
            shares[i] = 1.0 / count;
        return;
    }
    pyro_sort_reals(sorted, filled);
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

void pyro_change_recut(struct pyro_predict_change *change, size_t stage, uint32_t count)
{
    struct pyro_stage_tasks *tasks = pyro_change_tasks(change, stage);
    count = count < 1 ? 1 : count > PYRO_REPLAY_PARTITIONS ? PYRO_REPLAY_PARTITIONS : count;
    if (!tasks || tasks->count == count)
        return;
    double *ms = pyro_arena_array(&change->scratch, count, sizeof(*ms)),
           *load = pyro_arena_array(&change->scratch, count, sizeof(*load)),
           *sorted = pyro_arena_array(&change->scratch, tasks->count, sizeof(*sorted));
    double fixed = pyro_fixed_ms(change, stage), work = 0, all = 0;
    change->failed |= !ms || !load || !sorted;
    if (!ms || !load || !sorted)
        return;
    for (uint32_t i = 0; i < tasks->count; i++) {
        work += fmax(tasks->ms[i] - fixed, 0);
        all += tasks->load[i];
    }
    share(tasks, sorted, load, count);
    /* The order of partitions has nothing to do with their size: mixed by a fixed rule. */
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = place_of(i, i);
        double swap = load[i - 1];
        load[i - 1] = load[other];
        load[other] = swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        ms[i] = fixed + work * load[i];
        load[i] *= all;
    }
    tasks->ms = ms;
    tasks->load = load;
    tasks->count = count;
    tasks->recut = true;
}

void pyro_change_emit(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_allocator *allocator = run->app->allocator;
    for (size_t s = 0; change->stages && s < run->app->stages.count && !change->failed; s++) {
        const struct pyro_stage_tasks *tasks = &change->stages[s];
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
        change->failed |= !pyro_vec_reserve(&change->edits, tasks->count, allocator);
        for (uint32_t i = 0; i < tasks->count && !change->failed; i++) {
            const struct pyro_task_facts *task = &run->tasks[run->stages[s].first + i];
            if (tasks->ms[i] != (double)task->ms)
                change->edits.items[change->edits.count++] =
                    (struct pyro_edit){.kind = PYRO_EDIT_TASK, .row = task->row, .ms = tasks->ms[i]};
        }
    }
}
