/* resource-wait: the application waited for executors. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/numbers/order.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/timing/ramp.h"

/* Executors that came so soon after the first one were asked for together with it. */
#define TOGETHER_MS 15000.0

enum { START_ALLOWANCE_MS, START_MENTION_SHARE, START_MENTION_MS, LATER_MIN_MS, LATER_MIN_SHARE };
static const struct pyro_threshold thresholds[] = {
    [START_ALLOWANCE_MS] = {"start_allowance_ms", 30000, "ms",
                            "Normal startup: containers, JVM and registration take 8-40 s. Only a longer wait counts"},
    [START_MENTION_SHARE] = {"start_share_min", 0.25, "share",
                             "Low severity if a short run spends this share of its time on starting"},
    [START_MENTION_MS] = {"start_ms_min", 5000, "ms", "... and at least this time"},
    [LATER_MIN_MS] = {"later_ms_min", 2000, "ms", "Later waits: quiet if their sum is smaller"},
    [LATER_MIN_SHARE] = {"later_share_min", 0.02, "share", "... or a smaller share of the wall time"},
};

static const char *const verify_text = "In the next run the part resource_wait of the wall time is smaller. The "
                                       "Executors page shows when each executor was added.";

static void advise_later(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    const struct pyro_app *app = context->app;
    if (!pyro_app_dynamic_allocation(app)) {
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Find out why executors were lost (see executor-lost) and why the cluster manager did "
                               "not start new ones: queue limits, preemption, no free nodes."),
            verify_text);
        return;
    }
    struct pyro_slice idle = pyro_app_property(app, "spark.dynamicAllocation.executorIdleTimeout");
    struct pyro_slice backlog = pyro_app_property(app, "spark.dynamicAllocation.schedulerBacklogTimeout");
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Keep at least one executor while the driver works, and remove idle executors "
                                     "later (the idle timeout is %s). Each removal costs a new start.",
                                     idle.ptr ? pyro_say_text(context, idle, 20) : "60s"),
                            verify_text);
    if (pyro_app_property_int(app, "spark.dynamicAllocation.minExecutors", 0) < 1)
        pyro_advice_set(context, advice, "spark.dynamicAllocation.minExecutors", PYRO_SLICE_LITERAL("1"));
    if (idle.ptr && !pyro_slice_is(idle, "60s"))
        pyro_advice_set(context, advice, "spark.dynamicAllocation.executorIdleTimeout", PYRO_SLICE_LITERAL("60s"));
    if (backlog.ptr && !pyro_slice_is(backlog, "1s")) {
        advice = pyro_finding_advise(
            context, finding,
            pyro_say(context,
                     "Request executors immediately: now tasks wait %s before Spark requests the first executor.",
                     pyro_say_text(context, backlog, 20)),
            verify_text);
        pyro_advice_set(context, advice, "spark.dynamicAllocation.schedulerBacklogTimeout", PYRO_SLICE_LITERAL("1s"));
    }
}

static void advise_start(struct pyro_rule_context *context, struct pyro_finding *finding, double start)
{
    if (start > pyro_limit(context, START_ALLOWANCE_MS))
        pyro_finding_advise(
            context, finding,
            pyro_say(context,
                     "Check in the cluster manager what happened in these %s: full queue, no free nodes, slow image "
                     "pulls, large archives and jars (spark.yarn.archive, smaller images).",
                     pyro_say_ms(context, start)),
            verify_text);
    else
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("This start is normal but costly for such a short run. Combine several such runs in one "
                               "application, or use a long-running application (Spark Connect)."),
            verify_text);
}

struct waits {
    double start, later; /* without any executor: at the start, and with work there later on */
    struct pyro_ramp ramp;
    bool start_known;       /* the log shows when the first executor came */
    double asked;           /* from the application's start to the request for the first one; NaN: not in the log */
    size_t requests;        /* executors with a known request */
    double median, longest; /* from these requests to the registrations, ms */
};

static const struct pyro_executor *first_executor(const struct pyro_app *app)
{
    const struct pyro_executor *first = NULL;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (executor->added_ms != PYRO_NONE && (!first || executor->added_ms < first->added_ms))
            first = executor;
    }
    return first;
}

/* What the log says of requests, exact since Spark 3.4 with dynamic allocation. */
static bool measure_requests(struct pyro_rule_context *context, struct waits *waits)
{
    const struct pyro_app *app = context->app;
    const struct pyro_executor *first = first_executor(app);
    int64_t *took = pyro_arena_array(context->scratch, app->executors.count + 1, sizeof(*took));
    context->failed |= !took;
    waits->asked = (double)NAN;
    if (!took)
        return false;
    if (first && pyro_executor_start_ms(first) != PYRO_NONE && app->application.start_ms != PYRO_NONE)
        waits->asked = fmax(0, (double)first->requested_ms - (double)app->application.start_ms);
    for (size_t i = 0; i < app->executors.count; i++) {
        int64_t ms = pyro_executor_start_ms(&app->executors.items[i]);
        if (ms != PYRO_NONE)
            took[waits->requests++] = ms;
    }
    pyro_sort_ints(took, waits->requests);
    if (waits->requests > 0) {
        size_t middle = waits->requests / 2;
        waits->median = (double)took[middle];
        waits->longest = (double)took[waits->requests - 1];
    }
    return true;
}

/* When the wait began: with the request for the first executor where the log says when that was, else with the
 * application, but in a shell or notebook with the first work. */
static double wait_begin(const struct pyro_app *app, double asked)
{
    double begin = pyro_real(app->application.start_ms), first = INFINITY;
    if (!isnan(asked))
        return begin + asked;
    if (!pyro_app_is_interactive(app))
        return begin;
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].submitted_ms != PYRO_NONE)
            first = fmin(first, (double)app->stages.items[i].submitted_ms);
    return isfinite(first) ? fmax(begin, first) : begin;
}

static bool measure(struct pyro_rule_context *context, struct waits *waits)
{
    const struct pyro_app *app = context->app;
    double start = pyro_real(app->numbers.phase_wait_ms), wall = pyro_app_wall(app);
    double until = pyro_real(app->application.start_ms) + start;
    waits->later = fmax(0, pyro_real(app->numbers.wall_ms[PYRO_WALL_RESOURCE_WAIT]) - start);
    /* Tasks that ran before it show that the log does not know of the first executor. */
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].first_task_ms != PYRO_NONE && (double)app->stages.items[i].first_task_ms < until)
            return true;
    waits->start_known = true;
    if (!measure_requests(context, waits))
        return false;
    waits->start = fmax(0, until - wait_begin(app, waits->asked));
    /* A log without ApplicationStart, or compacted, may begin anywhere. */
    if (app->integrity.compacted)
        waits->start = 0;
    if (waits->later < fmax(pyro_limit(context, LATER_MIN_MS), pyro_limit(context, LATER_MIN_SHARE) * wall))
        waits->later = 0;
    if (!pyro_ramp_measure(context, &waits->ramp))
        return false;
    if (waits->ramp.lost_ms < fmax(pyro_limit(context, LATER_MIN_MS), pyro_limit(context, LATER_MIN_SHARE) * wall))
        waits->ramp.lost_ms = 0;
    return true;
}

static struct pyro_slice describe(struct pyro_rule_context *context, const struct waits *waits)
{
    const struct pyro_app *app = context->app;
    double wall = fmax(pyro_app_wall(app), 1);
    struct pyro_slice text = PYRO_SLICE_LITERAL("");
    if (waits->start >= pyro_limit(context, START_MENTION_MS))
        text = pyro_say(context, "The first executor was available %s after %s (%.0f %% of the run).",
                        pyro_say_ms(context, waits->start), isnan(waits->asked) ? "the start" : "its request",
                        100 * waits->start / wall);
    if (waits->later > 0)
        text = pyro_say(context, "%s%sWork %swaited %s without an executor (%.0f %%)%s.", text.ptr,
                        text.len > 0 ? " " : "", text.len > 0 ? "later " : "", pyro_say_ms(context, waits->later),
                        100 * waits->later / wall,
                        pyro_app_dynamic_allocation(app) ? ": dynamic allocation had removed all of them" : "");
    if (waits->ramp.lost_ms > 0)
        text = pyro_say(context,
                        "%s%sTasks waited for %s while only some of the executors were available (at first %.0f of "
                        "%.0f slots). This cost %s of wall time.",
                        text.ptr, text.len > 0 ? " " : "", pyro_say_ms(context, waits->ramp.waited_ms),
                        fmax(1, round(waits->ramp.fewest)), round(waits->ramp.most),
                        pyro_say_ms(context, waits->ramp.lost_ms));
    if (waits->requests > 1)
        text = pyro_say(context,
                        "%s%s%.0f executors registered %s after their request (median), the slowest one %s after it.",
                        text.ptr, text.len > 0 ? " " : "", (double)waits->requests, pyro_say_ms(context, waits->median),
                        pyro_say_ms(context, waits->longest));
    return text;
}

static void advise_ramp(struct pyro_rule_context *context, struct pyro_finding *finding, const struct waits *waits)
{
    const struct pyro_app *app = context->app;
    if (!pyro_app_dynamic_allocation(app)) {
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Check in the cluster manager why the other executors started late: "
                                               "queue limits, no free nodes, slow image pulls."),
                            verify_text);
        return;
    }
    double wanted = fmax(1, ceil(waits->ramp.most / pyro_app_slots_per_executor(app)));
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Start with the %.0f executors that this work gets in the end, or let dynamic "
                                     "allocation request more every second.",
                                     wanted),
                            verify_text);
    pyro_advice_set(context, advice, "spark.dynamicAllocation.initialExecutors", pyro_say(context, "%.0f", wanted));
    static const char *const timeouts[] = {"spark.dynamicAllocation.schedulerBacklogTimeout",
                                           "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout"};
    for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
        struct pyro_slice set = pyro_app_property(app, timeouts[i]);
        if (set.ptr && !pyro_slice_is(set, "1s"))
            pyro_advice_set(context, advice, timeouts[i], PYRO_SLICE_LITERAL("1s"));
    }
}

struct change {
    int64_t at;
    size_t row;
    int by;
};

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->by != b->by)
        return b->by - a->by; /* who comes comes first */
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Whether a stage that began before `time` still had work then. */
static bool has_work(const struct pyro_app *app, int64_t time)
{
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (stage->submitted_ms != PYRO_NONE && stage->submitted_ms < time &&
            (stage->completed_ms == PYRO_NONE || stage->completed_ms > time))
            return true;
    }
    return false;
}

/* If no executor was alive while there was work, the last one stays until the next one came. */
static void end_waits(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    enum { WAITS_MAX = 256 }; /* each looks at all stages */
    const struct pyro_app *app = context->app;
    struct change *changes = pyro_arena_array(context->arena, 2 * app->executors.count + 1, sizeof(*changes));
    size_t count = 0, waits = 0;
    if (!changes) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (executor->added_ms == PYRO_NONE)
            continue;
        changes[count++] = (struct change){executor->added_ms, i, 1};
        if (executor->removed_ms != PYRO_NONE)
            changes[count++] = (struct change){executor->removed_ms, i, -1};
    }
    qsort(changes, count, sizeof(*changes), by_time);
    size_t alive = 0;
    for (size_t i = 0; i < count && waits < WAITS_MAX; i++) {
        alive += changes[i].by > 0;
        alive -= changes[i].by < 0 && alive > 0;
        if (alive > 0 || i + 1 == count || changes[i].by > 0 || changes[i + 1].by < 0)
            continue;
        waits++;
        if (has_work(app, changes[i + 1].at))
            pyro_remedy_executor(context, finding, changes[i].row, PYRO_NONE, changes[i + 1].at);
    }
}

static void remedy(struct pyro_rule_context *context, struct pyro_finding *finding, const struct waits *waits,
                   double slow_start)
{
    const struct pyro_app *app = context->app;
    double first = pyro_real(app->application.start_ms) + pyro_real(app->numbers.phase_wait_ms);
    for (size_t i = 0; slow_start >= 1 && i < app->executors.count; i++) {
        int64_t added = app->executors.items[i].added_ms;
        if (added != PYRO_NONE && (double)added <= first + TOGETHER_MS)
            pyro_remedy_executor(context, finding, i, pyro_whole((double)added - slow_start), PYRO_NONE);
    }
    if (waits->later > 0)
        end_waits(context, finding);
    for (size_t i = 0; waits->ramp.lost_ms > 0 && i < waits->ramp.stretch_count; i++)
        pyro_remedy_executors(context, finding, pyro_whole(waits->ramp.stretches[i].from),
                              pyro_whole(waits->ramp.stretches[i].to));
}

static void report(struct pyro_rule_context *context, const struct waits *waits)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_resource_wait);
    if (!finding)
        return;
    finding->id = pyro_slice_from(pyro_rule_resource_wait.id); /* one finding for the whole application */
    double start = waits->start, later = waits->later, ramp = waits->ramp.lost_ms;
    double slow_start = fmax(0, start - pyro_limit(context, START_ALLOWANCE_MS));
    finding->cause = describe(context, waits);
    if (start >= 1)
        pyro_finding_evidence(context, finding, "first_executor_wait_ms", start,
                              fmin(start, pyro_limit(context, START_ALLOWANCE_MS)), "ms");
    if (!isnan(waits->asked))
        pyro_finding_evidence(context, finding, "first_request_ms", waits->asked, (double)NAN, "ms");
    if (waits->requests > 0) {
        pyro_finding_evidence(context, finding, "request_wait_median_ms", waits->median, (double)NAN, "ms");
        pyro_finding_evidence(context, finding, "request_wait_longest_ms", waits->longest, (double)NAN, "ms");
    }
    if (later > 0)
        pyro_finding_evidence(context, finding, "later_wait_ms", later, 0, "ms");
    pyro_finding_evidence(context, finding, "wait_share", (start + later) / fmax(pyro_app_wall(app), 1), (double)NAN,
                          "share");
    if (ramp > 0) {
        pyro_finding_evidence(context, finding, "ramp_wait_ms", waits->ramp.waited_ms, 0, "ms");
        pyro_finding_evidence(context, finding, "ramp_slots", waits->ramp.fewest, waits->ramp.most, "count");
    }
    if (later > 0)
        advise_later(context, finding);
    if (ramp > 0)
        advise_ramp(context, finding, waits);
    if (slow_start > 0 || (later <= 0 && ramp <= 0))
        advise_start(context, finding, start);
    finding->confidence *= later > 0 ? 0.9 : slow_start > 0 || ramp > 0 ? 0.8 : 0.6;
    /* Among the lines that could not be read may be the one that added an executor. */
    if (app->integrity.bad_lines > 0)
        finding->confidence *= 0.6;
    remedy(context, finding, waits, slow_start);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->executors.count == 0 || app->stages.count == 0 || pyro_app_is_local(app) || pyro_app_wall(app) <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct waits waits = {0};
    if (!measure(context, &waits))
        return PYRO_VERDICT_QUIET;
    if (!waits.start_known)
        return PYRO_VERDICT_NOT_APPLICABLE;
    double wall = pyro_app_wall(app), start = waits.start;
    bool slow = start > pyro_limit(context, START_ALLOWANCE_MS) &&
                start - pyro_limit(context, START_ALLOWANCE_MS) >= pyro_limit(context, LATER_MIN_SHARE) * wall;
    bool dear =
        start >= pyro_limit(context, START_MENTION_MS) && start >= pyro_limit(context, START_MENTION_SHARE) * wall;
    if (waits.later <= 0 && waits.ramp.lost_ms <= 0 && !slow && !dear)
        return PYRO_VERDICT_QUIET;
    report(context, &waits);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_resource_wait = {
    .id = "resource-wait",
    .category = "resources",
    .effort = PYRO_EFFORT_CLUSTER,
    .title = "Waiting for executors",
    .summary = "Work waits for executors: the cluster manager or dynamic allocation starts them late.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .needs_whole = true,
    .evaluate = evaluate,
};
