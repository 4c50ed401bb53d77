/* What the same tasks say in every scenario that does not change them: their loads in order, and how a stage warms up.
 */
#include <math.h>

#include "analyze/scratch.h"
#include "base/numbers/order.h"
#include "predict/cut_tasks.h"

/* The end of the group of tasks that begins with number `first`: groups double. */
static uint32_t end_of_group(uint32_t first, uint32_t count)
{
    uint64_t end = first < 2 ? 2 : 2 * (uint64_t)first;
    return end < count ? (uint32_t)end : count;
}

static uint32_t count_groups(uint32_t count)
{
    uint32_t groups = 0;
    for (uint32_t first = 0; first < count; first = end_of_group(first, count))
        groups++;
    return groups;
}

/* Fills for each group what its tasks take longer than later ones at most. `values` holds a number for each task. */
static void find_groups(const double *ms, const double *load, uint32_t count, double fixed, double *values,
                        double *groups)
{
    double least = INFINITY;
    memcpy(values, ms, count * sizeof(*values));
    double middle = pyro_median(values, count);
    memcpy(values, load, count * sizeof(*values));
    double usual = pyro_median(values, count), rate = usual > 0 ? fmax(middle - fixed, 0) / usual : 0;
    uint32_t group = 0;
    for (uint32_t first = 0, end; first < count; first = end) {
        end = end_of_group(first, count);
        if (least > 0) { /* else no later one takes longer either */
            for (uint32_t i = first; i < end; i++)
                values[i - first] = ms[i] - rate * load[i];
            least = fmin(least, fmax(pyro_median(values, end - first) - fixed, 0));
        }
        groups[group++] = least;
    }
}

static double load_of(const struct pyro_predicted_run *run, const struct pyro_stage_facts *facts, uint32_t place)
{
    return facts->load > 0 ? (double)run->tasks[facts->first + place].load : 1;
}

void pyro_stage_loads(const struct pyro_predicted_run *run, size_t stage, double *ret)
{
    const struct pyro_stage_facts *facts = &run->stages[stage];
    for (uint32_t i = 0; i < facts->count; i++)
        ret[i] = load_of(run, facts, i);
}

static bool has_own_loads(const struct pyro_predicted_run *run, size_t stage, const struct pyro_scenario_tasks *tasks)
{
    const struct pyro_stage_facts *facts = &run->stages[stage];
    bool own = tasks->count == facts->count;
    for (uint32_t i = 0; own && i < tasks->count; i++)
        own = tasks->load[i] == load_of(run, facts, i);
    return own;
}

static bool has_own_times(const struct pyro_predicted_run *run, size_t stage, const struct pyro_scenario_tasks *tasks)
{
    const struct pyro_stage_facts *facts = &run->stages[stage];
    bool own = tasks->count == facts->count;
    for (uint32_t i = 0; own && i < tasks->count; i++)
        own = tasks->ms[i] == (double)run->tasks[facts->first + i].ms;
    return own;
}

uint32_t pyro_stage_sorted_loads(const struct pyro_predicted_run *run, size_t stage,
                                 const struct pyro_scenario_tasks *tasks, double *ret)
{
    const struct pyro_stage_facts *facts = &run->stages[stage];
    uint32_t filled = 0;
    if (has_own_loads(run, stage, tasks)) {
        for (; filled < facts->filled; filled++)
            ret[filled] = (double)run->sorted_loads[facts->first + filled];
        return filled;
    }
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->load[i] > 0)
            ret[filled++] = tasks->load[i];
    pyro_sort_reals(ret, filled);
    return filled;
}

double pyro_stage_warm_up(const struct pyro_predicted_run *run, size_t stage, const struct pyro_scenario_tasks *tasks,
                          double *extra, double *values)
{
    const struct pyro_stage_facts *facts = &run->stages[stage];
    double own[32], sum = 0, fixed = (double)facts->fixed_ms;
    const double *groups = &run->warm_ups[facts->first_group];
    if (!has_own_times(run, stage, tasks) || !has_own_loads(run, stage, tasks)) {
        find_groups(tasks->ms, tasks->load, tasks->count, fixed, values, own);
        groups = own;
    }
    for (uint32_t first = 0, end; first < tasks->count; first = end, groups++) {
        end = end_of_group(first, tasks->count);
        for (uint32_t i = first; i < end; i++) {
            extra[i] = fmin(*groups, fmax(tasks->ms[i] - fixed, 0));
            sum += extra[i];
        }
    }
    return sum;
}

/* Those of one stage, into its places. `reals` holds three numbers for each task of it, `bits` two. */
static void take_stage(struct pyro_predicted_run *run, struct pyro_stage_facts *facts, double *reals, uint32_t *bits)
{
    double *ms = reals, *load = ms + facts->count, *values = load + facts->count;
    facts->filled = 0;
    for (uint32_t i = 0; i < facts->count; i++) {
        ms[i] = (double)run->tasks[facts->first + i].ms;
        load[i] = load_of(run, facts, i);
        float known = (float)load[i];
        if (known > 0) /* bits of positive numbers have the order of the numbers */
            memcpy(&bits[facts->filled++], &known, sizeof(known));
    }
    pyro_sort_naturals(bits, facts->filled, bits + facts->filled);
    if (facts->filled > 0)
        memcpy(&run->sorted_loads[facts->first], bits, facts->filled * sizeof(*run->sorted_loads));
    find_groups(ms, load, facts->count, (double)facts->fixed_ms, values, &run->warm_ups[facts->first_group]);
}

bool pyro_predict_take_unchanged(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    size_t groups = 0, largest = 0;
    for (size_t s = 0; s < app->stages.count; s++) {
        struct pyro_stage_facts *facts = &run->stages[s];
        facts->first_group = (uint32_t)groups;
        groups += count_groups(facts->count);
        largest = facts->count > largest ? facts->count : largest;
    }
    run->sorted_loads = pyro_scratch(app, app->tasks.count, sizeof(*run->sorted_loads));
    run->warm_ups = pyro_scratch(app, groups, sizeof(*run->warm_ups));
    double *reals = pyro_scratch(app, 3 * largest, sizeof(*reals));
    uint32_t *bits = pyro_scratch(app, 2 * largest, sizeof(*bits));
    bool done = run->sorted_loads && run->warm_ups && reals && bits;
    for (size_t s = 0; done && s < app->stages.count; s++)
        take_stage(run, &run->stages[s], reals, bits);
    pyro_release(app->allocator, reals);
    pyro_release(app->allocator, bits);
    return done;
}
