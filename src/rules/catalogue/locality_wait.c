/* locality-wait: slots stay empty while tasks wait for a place near their data. */
#include <math.h>

#include "analyze/accounts/marks.h"
#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"

enum { STRETCH_MS, IDLE_SHARE, ALONE_SHARE, SAVING_MS, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [STRETCH_MS] = {"stretch_ms_min", 1000, "ms",
                    "An executor waits if it has a free slot, tasks wait, and it gets no task for this time"},
    [IDLE_SHARE] = {"idle_share_min", 0.15, "share", "Minimum share of such waits in the slot time of the stage"},
    [ALONE_SHARE] = {"alone_share_min", 0.8, "share",
                     "Minimum share of the stage's duration without other stages, which could use the slots"},
    [SAVING_MS] = {"saving_ms_min", 1000, "ms", "Quiet if the saving in wall time is smaller"},
    [SAVING_SHARE] = {"saving_share_min", 0.01, "share", "... or a smaller share of the wall time"},
};

/* Other stages take, and other reasons explain, part of it; tasks elsewhere must fetch their data. */
#define SURE 0.6

enum { IDLE_MS, IDLE_PART, LOCAL, ELSEWHERE, KEPT_EXECUTORS };

struct event {
    int64_t executor;
    double at;
    int change; /* of running tasks */
};

struct window {
    double begin, end; /* from the first to the last launch: tasks waited meanwhile */
    double local, elsewhere;
};

/* By executor and time; an end frees the slot for the launch at the same instant. Two sorts that keep the order of
 * equal ones, the one that counts more last. */
static bool order_events(struct pyro_rule_context *context, struct event *events, size_t count)
{
    const struct pyro_allocator *allocator = context->arena->allocator;
    struct pyro_marks marks;
    struct event *sorted = pyro_allocate(allocator, (count + 1) * sizeof(*sorted));
    pyro_marks_init(&marks, allocator, count);
    for (size_t i = 0; i < count; i++)
        pyro_marks_add(&marks, (uint64_t)events[i].at << 1 | (events[i].change > 0), 0, i);
    bool done = sorted && pyro_marks_finish(&marks);
    for (size_t i = 0; done && i < count; i++)
        marks.list.items[i].at = (uint64_t)events[marks.list.items[i].row].executor;
    done = done && pyro_marks_finish(&marks);
    for (size_t i = 0; done && i < count; i++)
        sorted[i] = events[marks.list.items[i].row];
    if (done && count > 0)
        memcpy(events, sorted, count * sizeof(*events));
    pyro_marks_done(&marks);
    pyro_release(allocator, sorted);
    context->failed |= !done;
    return done;
}

/* Launches and ends of a stage's tasks. NULL when there is no memory or nothing to judge. */
static struct event *load_events(struct pyro_rule_context *context, const struct pyro_stage *stage, size_t *count,
                                 struct window *window)
{
    const struct pyro_app *app = context->app;
    size_t all = stage->tasks > 0 ? (size_t)stage->tasks : 0;
    all = stage->first_task >= app->tasks.count        ? 0
          : all > app->tasks.count - stage->first_task ? app->tasks.count - stage->first_task
                                                       : all;
    struct event *events = pyro_allocate(context->arena->allocator, (2 * all + 1) * sizeof(*events));
    context->failed |= !events;
    *window = (struct window){INFINITY, 0, 0, 0};
    *count = 0;
    for (size_t i = 0; i < all && events; i++) {
        size_t row = app->tasks_by_stage[stage->first_task + i];
        int64_t executor = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, row);
        double launch = pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row));
        double finish = pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
        struct pyro_slice locality = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_locality, row));
        if (executor < 0 || launch <= 0 || finish < launch)
            continue;
        bool again = pyro_task_get(&app->tasks, PYRO_TASK_attempt, row) > 0 ||
                     pyro_task_get(&app->tasks, PYRO_TASK_speculative, row) > 0;
        if (!again) { /* a retry or a copy did not wait since the stage began */
            window->begin = fmin(window->begin, launch);
            window->end = fmax(window->end, launch);
        }
        *(pyro_slice_is(locality, "PROCESS_LOCAL") || pyro_slice_is(locality, "NODE_LOCAL") ? &window->local
                                                                                            : &window->elsewhere) += 1;
        events[(*count)++] = (struct event){executor, launch, 1};
        events[(*count)++] = (struct event){executor, finish, -1};
    }
    return events;
}

/* Slot time of one executor in stretches without a launch although a slot was free. */
static double kept_ms(const struct event *events, size_t count, double slots, double from, double to, double least)
{
    double sum = 0, stretch = 0, length = 0, running = 0, last = from;
    for (size_t i = 0; i <= count; i++) {
        double at = i < count ? fmin(fmax(events[i].at, from), to) : to;
        if (running < slots) {
            stretch += (at - last) * (slots - running);
            length += at - last;
        }
        last = at;
        if (i == count || events[i].change > 0) {
            sum += length >= least ? stretch : 0;
            stretch = length = 0;
        }
        running += i < count ? events[i].change : 0;
    }
    return sum;
}

static double executor_idle(struct pyro_rule_context *context, const struct pyro_stage *stage, size_t row,
                            const struct pyro_drained *drained, const struct event *events, size_t count,
                            const struct window *window)
{
    const struct pyro_executor *executor = &context->app->executors.items[row];
    double from = fmax(window->begin, pyro_real(executor->added_ms)), to = window->end;
    if (executor->removed_ms != PYRO_NONE)
        to = fmin(to, (double)executor->removed_ms);
    if (executor->blocks_gone_ms > 0) /* its removal may be missing */
        to = fmin(to, (double)executor->blocks_gone_ms);
    if (drained->launch_ms != PYRO_NONE) /* its slots were no longer given to any task */
        to = fmin(to, (double)drained->launch_ms);
    double slots = pyro_executor_serves(context->app, executor, stage)
                       ? (double)pyro_executor_slots(context->app, executor, stage)
                       : 0;
    return to > from ? kept_ms(events, count, slots, from, to, pyro_limit(context, STRETCH_MS)) : 0;
}

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, const struct pyro_drained *drained,
                    size_t row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    struct window window;
    size_t count, at = 0;
    struct event *events = load_events(context, stage, &count, &window);
    double idle = 0, kept = 0, length = window.end - window.begin;
    /* Only tasks with a preference wait for it. */
    if (events && window.local > 0 && length >= pyro_limit(context, STRETCH_MS) &&
        pyro_alone_ms(context, row, window.begin, window.end) >= pyro_limit(context, ALONE_SHARE) * length &&
        order_events(context, events, count)) {
        for (size_t i = 0; i < app->executors.count; i++) {
            size_t first = at;
            while (at < count && events[at].executor == (int64_t)i)
                at++;
            double one = executor_idle(context, stage, i, &drained[i], events + first, at - first, &window);
            idle += one;
            kept += one > 0;
        }
    }
    pyro_release(context->arena->allocator, events);
    double slots = pyro_stage_slots(app, stage), begin = window.begin, end = pyro_real(stage->completed_ms);
    if (idle <= 0 || end <= begin || idle < pyro_limit(context, IDLE_SHARE) * slots * (end - begin))
        return;
    /* Spread over all slots, the last wave half empty, or as long as its longest task. */
    double ideal =
        fmax(pyro_real(stage->task_ms) / slots + pyro_real(stage->duration_median) / 2, pyro_real(stage->duration_max));
    struct pyro_case *found = begin + ideal < end ? pyro_cases_add(context, cases, row) : NULL;
    if (!found)
        return;
    pyro_case_saves(context, found, begin + ideal, end, SURE);
    found->value[IDLE_MS] = idle;
    found->value[IDLE_PART] = idle / (slots * (end - begin));
    found->value[LOCAL] = window.local;
    found->value[ELSEWHERE] = window.elsewhere;
    found->value[KEPT_EXECUTORS] = kept;
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    const double *value = found->value;
    struct pyro_slice wait = pyro_app_property(app, "spark.locality.wait");
    const char *more =
        found->merged > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", found->merged).ptr : "";
    pyro_finding_at_stage(context, finding, found->stage);
    finding->cause = pyro_say(context,
                              "%s: slots of %s were idle for %s of core time (%.0f %% of the stage's) while its tasks "
                              "waited for a slot near their data. spark.locality.wait is %s.%s",
                              pyro_say_stage(context, found->stage),
                              pyro_say_count(context, value[KEPT_EXECUTORS], "executor", "executors"),
                              pyro_say_ms(context, value[IDLE_MS]), 100 * value[IDLE_PART],
                              wait.len ? pyro_say_text(context, wait, 20) : "3s", more);
    pyro_finding_evidence(context, finding, "idle_slot_ms", value[IDLE_MS], 0, "ms");
    pyro_finding_evidence(context, finding, "idle_slot_share", value[IDLE_PART], pyro_limit(context, IDLE_SHARE),
                          "share");
    pyro_finding_evidence(context, finding, "waiting_executors", value[KEPT_EXECUTORS], 0, "count");
    pyro_finding_evidence(context, finding, "local_tasks", value[LOCAL], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "tasks_elsewhere", value[ELSEWHERE], (double)NAN, "count");
    pyro_case_take_stages(context, finding, found);
    const char *verify =
        "In the next run all executors have tasks of this stage (Spark UI, stage page, event timeline), "
        "and it is shorter.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Do not let tasks wait for a slot near their data: fetching data over the network costs "
                           "less than an idle slot. (Keep a short wait if tasks read large cached blocks.)"),
        verify);
    pyro_advice_set(context, advice, "spark.locality.wait", PYRO_SLICE_LITERAL("0s"));
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Spread cached data over all executors: let them register before the first "
                                           "cache (spark.scheduler.minRegisteredResourcesRatio), or call repartition() "
                                           "before cache() if executors start later."),
                        verify);
    finding->confidence *= app->exclusions.count > 0 ? 0.5 : 0.8;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct pyro_slice wait = pyro_app_property(app, "spark.locality.wait");
    bool off = pyro_slice_is(wait, "0") || pyro_slice_is(wait, "0s") || pyro_slice_is(wait, "0ms");
    size_t executors = 0;
    for (size_t i = 0; i < app->executors.count; i++)
        executors += !pyro_slice_is(app->executors.items[i].id, "driver");
    /* Slots of tasks that the log lacks look idle. */
    bool lacking = app->integrity.course_unknown && (!app->integrity.partial || app->integrity.events_missing > 0);
    if (app->tasks.count == 0 || executors < 2 || off || lacking)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cases cases = {0};
    const struct pyro_drained *drained = pyro_drained_executors(app, context->arena);
    context->failed |= !drained;
    for (size_t i = 0; i < app->stages.count && !context->failed; i++)
        if (app->stages.items[i].tasks > 1 && app->stages.items[i].completed_ms != PYRO_NONE)
            examine(context, &cases, drained, i);
    double least = fmax(pyro_limit(context, SAVING_MS), pyro_limit(context, SAVING_SHARE) * pyro_app_judged_wall(app));
    pyro_cases_report(context, &cases, least, report);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_locality_wait = {
    .id = "locality-wait",
    .category = "resources",
    .title = "Waiting for locality",
    .summary = "Slots are idle while tasks wait for a slot near their data.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
