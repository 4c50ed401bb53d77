/* gc-pressure: executors spend a large part of their tasks' time collecting garbage. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/fixes/jvm_options.h"
#include "rules/fixes/remedy.h"

enum {
    HEALTHY_SHARE,
    FIRE_SHARE,
    STAGE_FIRE_SHARE,
    EXCESS_MIN_MS,
    SAVING_MIN_SHARE,
    HEAP_FULL,
    HEAP_FREE,
    RISK_SHARE,
    HEAP_FILL
};
static const struct pyro_threshold thresholds[] = {
    [HEALTHY_SHARE] = {"healthy_share", 0.05, "share",
                       "Healthy executors spend 1-5 % of their run time in garbage collection; more is excess"},
    [FIRE_SHARE] = {"share_min", 0.10, "share",
                    "Minimum share of garbage collection in the whole application (a small application can have 8 % "
                    "while it warms up)"},
    [STAGE_FIRE_SHARE] = {"stage_share_min", 0.20, "share", "... and in one stage if the whole application has less"},
    [EXCESS_MIN_MS] = {"excess_ms_min", 1000, "ms",
                       "Quiet below, summed over all tasks: collections while virtual machines start"},
    [SAVING_MIN_SHARE] = {"saving_share_min", 0.01, "share", "Quiet if the saving is a smaller share of the wall time"},
    [HEAP_FULL] = {"heap_full_share", 0.8, "share", "A heap that is this full between collections is too small"},
    [HEAP_FREE] = {"heap_free_share", 0.5, "share",
                   "... and below this, the cause is the collector or the young generation"},
    [RISK_SHARE] = {"risk_share_min", 0.33, "share",
                    "At this share of garbage collection, 'GC overhead limit exceeded' is near"},
    [HEAP_FILL] = {"target_heap_share", 0.67, "share", "Recommendation: the target fill of a heap"},
};

struct pressure {
    double run, gc, excess; /* ms of task time; of stages above the border where not all are */
    size_t worst;           /* stage with the most excess */
    double worst_excess;
    bool everywhere;
};

static struct pressure measure(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct pressure all = {0}, some = {0};
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double run = pyro_real(stage->run_ms), gc = fmin(pyro_real(stage->gc_ms), run);
        double excess = fmax(0, gc - pyro_limit(context, HEALTHY_SHARE) * run);
        all.run += run;
        all.gc += gc;
        if (excess > all.worst_excess) {
            all.worst = i;
            all.worst_excess = excess;
        }
        if (gc >= pyro_limit(context, STAGE_FIRE_SHARE) * run) {
            some.run += run;
            some.gc += gc;
        }
    }
    all.everywhere = all.gc >= pyro_limit(context, FIRE_SHARE) * all.run;
    if (!all.everywhere) {
        all.run = some.run;
        all.gc = some.gc;
    }
    all.excess = fmax(0, all.gc - pyro_limit(context, HEALTHY_SHARE) * all.run);
    return all;
}

static const char *const verify_text = "In the next run GC Time on the Executors page stays below 5-10 % of Task Time.";

static void advise_heap(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    const struct pyro_app *app = context->app;
    double heap = pyro_app_heap_bytes(app), peak = pyro_real(app->numbers.executor_heap_peak_bytes);
    double used = app->numbers.executor_heap_used_share;
    if (isfinite(used) && used < pyro_limit(context, HEAP_FREE))
        return;
    /* Without heap metrics, half as much again is the usual step. */
    double wanted = peak > 0 && isfinite(used) ? fmax(peak / pyro_limit(context, HEAP_FILL), heap * 1.25) : heap * 1.5;
    struct pyro_slice size = pyro_say_memory(context, fmin(wanted, heap * 3));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "Raise %s from %s to %s%s.", pyro_app_heap_key(app), pyro_say_bytes(context, heap), size.ptr,
                 peak > 0 ? pyro_say(context, " (heap peak %s)", pyro_say_bytes(context, peak)).ptr : ""),
        verify_text);
    pyro_advice_set(context, advice, pyro_app_heap_key(app), size);
    pyro_advice_prevents(advice, "executors that run out of memory");
    if (pyro_app_slots_per_executor(app) >= 4)
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Or run fewer than %.0f tasks at the same time %s, so that each has more heap.",
                                     pyro_app_slots_per_executor(app),
                                     pyro_app_is_local(app) ? "(local[N])" : "on an executor (spark.executor.cores)"),
                            verify_text);
}

static void advise_collector(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    enum { SIZES = 4 };
    static const char *const dropped[] = {"-Xmn",
                                          "-XX:NewSize",
                                          "-XX:MaxNewSize",
                                          "-XX:NewRatio",
                                          [SIZES] = "-XX:+UseSerialGC",
                                          "-XX:+UseParallelGC",
                                          "-XX:+UseConcMarkSweepGC",
                                          "-XX:+UseG1GC"};
    struct pyro_slice options = pyro_jvm_options(context->app);
    bool young = pyro_jvm_option(options, dropped, SIZES).ptr != NULL;
    if (!young && !pyro_jvm_option(options, &dropped[SIZES], 1).ptr)
        return;
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context, "Let G1 choose the size of the young generation: the current options %s.",
                                     young ? "set a fixed size, so that short-lived objects fill it repeatedly"
                                           : "collect with one thread while all tasks stop"),
                            verify_text);
    struct pyro_slice better =
        pyro_jvm_options_without(context, options, dropped, sizeof(dropped) / sizeof(dropped[0]), "-XX:+UseG1GC");
    if (better.ptr)
        pyro_advice_set(context, advice, pyro_jvm_options_key(context->app), better);
}

static void report(struct pyro_rule_context *context, const struct pressure *found)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_gc_pressure);
    if (!finding)
        return;
    finding->id = pyro_slice_from(pyro_rule_gc_pressure.id); /* one finding for the whole application */
    double share = found->gc / fmax(found->run, 1), used = app->numbers.executor_heap_used_share;
    pyro_finding_at_stage(context, finding, found->worst);
    const struct pyro_stage *worst = &app->stages.items[found->worst];
    const char *heap = isfinite(used) ? pyro_say(context, "; the heap was %.0f %% full", 100 * used).ptr : "";
    finding->cause =
        pyro_say(context, "%s, garbage collection took %s of %s task time (%.0f %%), most of it in %s (%.0f %%)%s.",
                 found->everywhere ? "In all stages together" : "In some stages", pyro_say_ms(context, found->gc),
                 pyro_say_ms(context, found->run), 100 * share, pyro_say_stage(context, found->worst),
                 100 * pyro_real(worst->gc_ms) / fmax(pyro_real(worst->run_ms), 1), heap);
    pyro_finding_evidence(context, finding, "gc_ms", found->gc, pyro_limit(context, HEALTHY_SHARE) * found->run, "ms");
    pyro_finding_evidence(context, finding, "gc_share", share, pyro_limit(context, HEALTHY_SHARE), "share");
    pyro_finding_evidence(context, finding, "heap_used_share", used, pyro_limit(context, HEAP_FILL), "share");
    pyro_finding_evidence(context, finding, "heap_peak_bytes", pyro_real(app->numbers.executor_heap_peak_bytes),
                          (double)NAN, "bytes");
    advise_collector(context, finding);
    advise_heap(context, finding);
    pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Create fewer objects: use DataFrame operators instead of RDDs of objects and UDFs, "
                           "primitive arrays instead of collections, and serialized storage levels."),
        verify_text);
    finding->failure_risk = share >= pyro_limit(context, RISK_SHARE)
                                ? (used >= pyro_limit(context, HEAP_FULL) ? 0.5 : 0.3)
                            : used >= pyro_limit(context, HEAP_FULL) ? 0.2
                                                                     : 0.1;
    finding->confidence *= share >= 2 * pyro_limit(context, FIRE_SHARE) ? 0.95 : 0.85;
    /* Each task of a stage without its share of what is too much. */
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double run = pyro_real(stage->run_ms), gc = fmin(pyro_real(stage->gc_ms), run);
        double excess = gc - pyro_limit(context, HEALTHY_SHARE) * run;
        if (excess > 0 && (found->everywhere || gc >= pyro_limit(context, STAGE_FIRE_SHARE) * run))
            pyro_remedy_stage(context, finding, i, 1 - excess / fmax(pyro_real(stage->task_ms), run));
    }
    pyro_remedy_partly(finding, 0.9);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0 || app->numbers.run_ms <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pressure found = measure(context);
    /* The wall account says what garbage collection cost by the clock; the excess is that part of it. */
    double gc = pyro_real(app->numbers.gc_ms), wall_gc = pyro_real(app->numbers.wall_ms[PYRO_WALL_GC]);
    double wall = gc > 0 ? wall_gc * fmin(1, found.excess / gc) : 0;
    if (found.excess < pyro_limit(context, EXCESS_MIN_MS) ||
        wall < pyro_limit(context, SAVING_MIN_SHARE) * pyro_app_judged_wall(app))
        return PYRO_VERDICT_QUIET;
    report(context, &found);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_gc_pressure = {
    .id = "gc-pressure",
    .category = "memory",
    .title = "Garbage collection",
    .summary = "Executors spend a large part of the task time in garbage collection.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"data-skew", "memory-near-limit", "oversized-partition"},
    .needs_settings = true,
    .evaluate = evaluate,
};
