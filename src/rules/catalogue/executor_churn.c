/* executor-churn: dynamic allocation gives executors back and starts new ones for the next piece of work. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/numbers/order.h"
#include "model/failure_kinds.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { AGAIN, ABSENT_MS, WAIT_MS, ROOM, LONGEST_S, HARM };
static const struct pyro_threshold thresholds[] = {
    [AGAIN] = {"replaced_min", 3, "count", "Fewer replaced executors are normal for dynamic allocation"},
    [ABSENT_MS] = {"absent_ms_max", 300000, "ms", "Removing executors for longer than this is correct"},
    [WAIT_MS] = {"waited_ms_min", 2000, "ms", "Quiet if work waited less than this for the new executors"},
    [ROOM] = {"timeout_room", 1.25, "ratio", "Recommended idle timeout: the longest pause times this"},
    [LONGEST_S] = {"timeout_s_max", 600, "count", "Maximum recommended idle timeout: idle executors cost money"},
    [HARM] = {"risk_cache_lost", 0.2, "share", "Failure risk (of slow work) if cached blocks were lost with executors"},
};

/* An executor that went, and when another came in its place. */
struct gap {
    int64_t removed, row, until;
};

struct churn {
    struct gap *gaps; /* of those that were replaced */
    size_t gap_count;
    double replaced, bursts, waited_ms, longest_absent_ms, peak_slots;
    double cached; /* bytes of RDDs that were cached */
    double most_at_once;
};

static int by_removal(const void *left, const void *right)
{
    const struct gap *a = left, *b = right;
    if (a->removed != b->removed)
        return a->removed < b->removed ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Since when work waited that the executor which came at `added` could take: the earliest submission between `from` and
 * then of a stage that was still to run. */
static int64_t waiting_since(const struct pyro_app *app, int64_t from, int64_t added)
{
    int64_t since = added;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (stage->submitted_ms != PYRO_NONE && stage->submitted_ms >= from && stage->submitted_ms < since &&
            (stage->completed_ms == PYRO_NONE || stage->completed_ms > added))
            since = stage->submitted_ms;
    }
    return since;
}

/* Pairs removals with later additions, first with first. */
static bool measure(struct pyro_rule_context *context, struct churn *found)
{
    const struct pyro_app *app = context->app;
    size_t gone = 0, came = 0, next = 0;
    struct gap *removed = pyro_arena_array(context->arena, app->executors.count + 1, sizeof(*removed));
    int64_t *added = pyro_arena_array(context->arena, app->executors.count + 1, sizeof(*added));
    if (!removed || !added) {
        context->failed = true;
        return false;
    }
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (executor->added_ms != PYRO_NONE)
            added[came++] = executor->added_ms;
        bool own, taken = pyro_removal_is_decommission(executor->remove_reason, &own) && !own;
        if (executor->removed_ms != PYRO_NONE && executor->remove_reason.len > 0 && !taken &&
            pyro_removal_is_ordinary(executor->remove_reason))
            removed[gone++] = (struct gap){executor->removed_ms, (int64_t)i, PYRO_NONE};
    }
    qsort(removed, gone, sizeof(*removed), by_removal);
    found->gaps = removed;
    pyro_sort_ints(added, came);
    found->peak_slots = pyro_app_peak_slots(app);
    int64_t counted_to = PYRO_NONE, last = PYRO_NONE;
    double at_once = 0;
    for (size_t i = 0; i < came && next < gone; i++) {
        if (added[i] <= removed[next].removed)
            continue;
        struct gap gap = removed[next++];
        int64_t left = gap.removed;
        double absent = pyro_span(left, added[i]);
        if (absent > pyro_limit(context, ABSENT_MS))
            continue;
        found->replaced++;
        gap.until = added[i];
        removed[found->gap_count++] = gap; /* at most next - 1: behind where it is read */
        found->longest_absent_ms = fmax(found->longest_absent_ms, absent);
        if (last == PYRO_NONE || left > last) { /* went after the one before had come: another round */
            found->bursts++;
            at_once = 0;
        }
        last = added[i];
        at_once++;
        found->most_at_once = fmax(found->most_at_once, at_once);
        int64_t since = waiting_since(app, left, added[i]);
        if (counted_to != PYRO_NONE && since < counted_to)
            since = counted_to;
        double missing = 1 - pyro_slots_between(app, NULL, since, added[i]) / found->peak_slots;
        found->waited_ms += pyro_span(since, added[i]) * fmin(1, fmax(0, missing));
        counted_to = added[i];
    }
    for (size_t i = 0; i < app->rdds.count; i++)
        found->cached += app->rdds.items[i].cached > 0 ? pyro_real(app->rdds.items[i].memory_bytes) : 0;
    return true;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct churn *found)
{
    static const char *const verify =
        "In the next run the Executors page lists about as many executors as ran at the same time.";
    const struct pyro_app *app = context->app;
    double idle =
        (double)pyro_app_property_time(app, "spark.dynamicAllocation.executorIdleTimeout", 1000, 60000) / 1000;
    double wanted = ceil((found->longest_absent_ms / 1000 + idle) * pyro_limit(context, ROOM));
    if (wanted <= pyro_limit(context, LONGEST_S)) {
        struct pyro_slice timeout = pyro_say(context, "%.0fs", wanted);
        struct pyro_advice *advice =
            pyro_finding_advise(context, finding,
                                pyro_say(context,
                                         "Keep executors during the pauses: set "
                                         "spark.dynamicAllocation.executorIdleTimeout=%s instead of %.0fs.",
                                         timeout.ptr, idle),
                                verify);
        pyro_advice_set(context, advice, "spark.dynamicAllocation.executorIdleTimeout", timeout);
    }
    struct pyro_slice least = pyro_say(context, "%.0f", fmax(1, found->most_at_once));
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context, "Or always keep %s: this many were replaced at the same time.",
                                     pyro_say_count(context, fmax(1, found->most_at_once), "executor", "executors")),
                            verify);
    pyro_advice_set(context, advice, "spark.dynamicAllocation.minExecutors", least);
    if (found->cached > 0)
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Do not set spark.dynamicAllocation.cachedExecutorIdleTimeout while cached data is "
                               "still read, or cache the data with a copy on a second executor (MEMORY_AND_DISK_2)."),
            verify);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct churn found = {0};
    if (app->executors.count == 0 || pyro_app_is_local(app))
        return PYRO_VERDICT_NOT_APPLICABLE;
    if (!measure(context, &found) || found.replaced < pyro_limit(context, AGAIN) || found.bursts < 2 ||
        (found.waited_ms < pyro_limit(context, WAIT_MS) && found.cached <= 0))
        return PYRO_VERDICT_QUIET;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_executor_churn);
    if (!finding)
        return PYRO_VERDICT_QUIET;
    finding->id = pyro_slice_from(pyro_rule_executor_churn.id); /* one finding for the whole application */
    finding->cause = pyro_say(
        context,
        "%.0f executors were removed and replaced by new ones, in %.0f rounds, at most %s later. Work waited %s for "
        "the new executors%s. In total %.0f executors ran for %.0f slots.",
        found.replaced, found.bursts, pyro_say_ms(context, found.longest_absent_ms),
        pyro_say_ms(context, found.waited_ms),
        found.cached > 0
            ? pyro_say(context, ", and cached blocks (%s) were lost", pyro_say_bytes(context, found.cached)).ptr
            : "",
        pyro_real(app->numbers.executors), found.peak_slots);
    pyro_finding_evidence(context, finding, "executors_replaced", found.replaced, 0, "count");
    pyro_finding_evidence(context, finding, "rounds", found.bursts, 0, "count");
    pyro_finding_evidence(context, finding, "waited_ms", found.waited_ms, 0, "ms");
    pyro_finding_evidence(context, finding, "longest_absence_ms", found.longest_absent_ms, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "cached_bytes", found.cached, (double)NAN, "bytes");
    advise(context, finding, &found);
    finding->failure_risk = found.cached > 0 ? pyro_limit(context, HARM) : 0;
    finding->confidence *= 0.9;
    for (size_t i = 0; i < found.gap_count; i++)
        pyro_remedy_executor(context, finding, (size_t)found.gaps[i].row, PYRO_NONE, found.gaps[i].until);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_executor_churn = {
    .id = "executor-churn",
    .category = "resources",
    .title = "Executor churn",
    .summary = "Spark repeatedly removes executors and then starts new ones for the next work.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .needs_whole = true,
    .evaluate = evaluate,
};
