#include "rules/timing/ramp.h"

#include <math.h>

#include "analyze/app_facts.h"

/* Containers and JVMs take 8-12 s even where they are asked for at once, a little more on a busy host: only tasks that
 * wait longer in one stretch wait for a decision. */
#define ALLOWANCE_MS 15000.0
/* If slots are idle while tasks wait, something else holds these up (locality, other pools). */
#define BUSY_SHARE 0.5
/* A tenth more slots to come is not a ramp. */
#define MORE_TO_COME 1.1

/* The number of slices in which the run is looked at. */
enum { SLICES = 1024 };

struct slices {
    double running[SLICES], waiting[SLICES], alive[SLICES]; /* averages: tasks, tasks, slots */
    double begin, width_ms;
};

static void spread(const struct slices *slices, double *into, double from, double to, double amount)
{
    double first = fmax((from - slices->begin) / slices->width_ms, 0);
    double last = fmin((to - slices->begin) / slices->width_ms, SLICES);
    if (!(last > first))
        return;
    for (size_t i = (size_t)first; i < SLICES && (double)i < last; i++)
        into[i] += amount * (fmin((double)i + 1, last) - fmax((double)i, first));
}

static void fill(const struct pyro_app *app, struct slices *slices)
{
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        double removed = executor->removed_ms == PYRO_NONE ? INFINITY : (double)executor->removed_ms;
        if (executor->added_ms != PYRO_NONE)
            spread(slices, slices->alive, (double)executor->added_ms, removed,
                   (double)pyro_executor_slots(app, executor, NULL));
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        if (task->launch_ms != PYRO_NONE && task->until_ms != PYRO_NONE)
            spread(slices, slices->running, (double)task->launch_ms, (double)task->until_ms, 1);
    }
    for (size_t row = 0; row < app->tasks.count; row++) {
        double launch = pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row));
        if (launch <= 0)
            continue;
        spread(slices, slices->running, launch, pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row)), 1);
        int64_t stage = pyro_task_get(&app->tasks, PYRO_TASK_stage_row, row);
        /* A second attempt waits for the failure of the first. */
        if (stage < 0 || stage >= (int64_t)app->stages.count ||
            pyro_task_get(&app->tasks, PYRO_TASK_attempt, row) > 0 ||
            app->stages.items[stage].submitted_ms == PYRO_NONE)
            continue;
        spread(slices, slices->waiting, (double)app->stages.items[stage].submitted_ms, launch, 1);
    }
}

/* When the last of the slots to come is available. */
static double complete_at(const struct slices *slices, const double *to_come, size_t from)
{
    size_t i = from;
    while (i + 1 < SLICES && slices->alive[i] < to_come[from] * 0.99)
        i++;
    return slices->begin + (double)(i + 1) * slices->width_ms;
}

static void add_up(const struct slices *slices, const double *to_come, struct pyro_ramp *ramp)
{
    double stretch = 0;
    for (size_t i = 0; i < SLICES; i++) {
        double alive = slices->alive[i], running = slices->running[i];
        double usable = fmin(to_come[i], running + slices->waiting[i]);
        bool is_short =
            alive > 0.5 && slices->waiting[i] >= 1 && running >= BUSY_SHARE * alive && usable >= MORE_TO_COME * alive;
        stretch = is_short ? stretch + slices->width_ms : 0;
        if (!is_short || stretch <= ALLOWANCE_MS)
            continue;
        double counted = fmin(slices->width_ms, stretch - ALLOWANCE_MS);
        double end = slices->begin + (double)(i + 1) * slices->width_ms;
        if (stretch - slices->width_ms <= ALLOWANCE_MS && ramp->stretch_count < PYRO_RAMP_STRETCHES) {
            ramp->stretches[ramp->stretch_count].from = end - counted;
            ramp->stretches[ramp->stretch_count++].to = complete_at(slices, to_come, i);
        }
        ramp->waited_ms += counted;
        ramp->lost_ms += counted * (1 - alive / usable);
        ramp->fewest = ramp->fewest > 0 ? fmin(ramp->fewest, alive) : alive;
        ramp->most = fmax(ramp->most, to_come[i]);
    }
}

/* No tasks need to be looked at where the last executor came soon after the first. */
static bool comes_late(const struct pyro_app *app)
{
    double first = INFINITY, last = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        if (app->executors.items[i].added_ms == PYRO_NONE)
            continue;
        first = fmin(first, (double)app->executors.items[i].added_ms);
        last = fmax(last, (double)app->executors.items[i].added_ms);
    }
    return last - first > ALLOWANCE_MS;
}

bool pyro_ramp_measure(struct pyro_rule_context *context, struct pyro_ramp *ret)
{
    const struct pyro_app *app = context->app;
    *ret = (struct pyro_ramp){0};
    if (pyro_app_wall(app) <= 0 || !comes_late(app))
        return true;
    struct slices *slices = pyro_arena_alloc(context->arena, sizeof(*slices));
    double *to_come = pyro_arena_array(context->arena, SLICES, sizeof(*to_come));
    if (!slices || !to_come) {
        context->failed = true;
        return false;
    }
    memset(slices, 0, sizeof(*slices));
    slices->begin = pyro_real(app->application.start_ms);
    slices->width_ms = pyro_app_wall(app) / SLICES;
    fill(app, slices);
    double most = 0;
    for (size_t i = SLICES; i-- > 0;)
        to_come[i] = most = fmax(most, slices->alive[i]);
    add_up(slices, to_come, ret);
    return true;
}
