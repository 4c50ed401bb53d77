/* memory-overprovisioned: executors never used more than a part of their heap. */
#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/memory/shortage.h"
#include "rules/finding.h"

enum { USED_SHARE, HEAP_MIN, KNOWN_SHARE, RUN_MS, HEADROOM, RESERVED, SMALLER };
static const struct pyro_threshold thresholds[] = {
    [USED_SHARE] = {"heap_share_max", 0.5, "share",
                    "If less than this share of the heap is used, garbage included, the rest is not needed"},
    [HEAP_MIN] = {"heap_bytes_min", 2147483648.0, "bytes", "Quiet below 2 GiB: there is nothing to save"},
    [KNOWN_SHARE] = {"known_share_min", 0.8, "share", "Minimum share of executors with a recorded heap peak"},
    [RUN_MS] = {"run_ms_min", 30000, "ms", "Minimum task time: with less, the heap peak is not meaningful"},
    [HEADROOM] = {"headroom", 1.3, "ratio",
                  "Recommended heap as a multiple of the peak: the next run can have more data"},
    [RESERVED] = {"reserved_bytes", 314572800.0, "bytes", "The reserved memory of Spark in every heap (300 MiB)"},
    [SMALLER] = {"smaller_share_max", 0.75, "share",
                 "Quiet if the recommended heap is a larger share of the current heap"},
};

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    double limit = pyro_real(app->numbers.executor_heap_limit_bytes), peak = 0, known = 0, all = 0, lives = 0;
    if (pyro_app_is_local(app) || app->executors.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (executor->tasks <= 0)
            continue;
        all++;
        known += executor->heap_peak_bytes > 0;
        peak = fmax(peak, pyro_real(executor->heap_peak_bytes));
        lives += pyro_span(executor->added_ms,
                           executor->removed_ms != PYRO_NONE ? executor->removed_ms : app->application.end_ms);
        if (pyro_executor_shortage(app, executor) != PYRO_SHORTAGE_NONE)
            return PYRO_VERDICT_QUIET;
    }
    if (all <= 0 || known < pyro_limit(context, KNOWN_SHARE) * all)
        return PYRO_VERDICT_NOT_APPLICABLE;
    double size =
        ceil((peak * pyro_limit(context, HEADROOM) + pyro_limit(context, RESERVED)) / 536870912.0) * 536870912.0;
    size = fmax(size, 1073741824.0);
    if (app->numbers.disk_spill_bytes > 0 || limit < pyro_limit(context, HEAP_MIN) ||
        peak > pyro_limit(context, USED_SHARE) * limit || size > pyro_limit(context, SMALLER) * limit ||
        pyro_real(app->numbers.run_ms) < pyro_limit(context, RUN_MS))
        return PYRO_VERDICT_QUIET;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_memory_overprovisioned);
    if (!finding)
        return PYRO_VERDICT_QUIET;
    finding->id = pyro_slice_from(pyro_rule_memory_overprovisioned.id); /* one finding for the whole application */
    const double gib_hour = 1073741824.0 * 3600e3;
    struct pyro_slice wanted = pyro_say(context, "%.0fm", size / 1048576);
    finding->cause = pyro_say(context,
                              "No executor used more than %s of its heap of %s (%.0f %%), garbage included. %s held "
                              "%.2f GiB hours of unused heap.",
                              pyro_say_bytes(context, peak), pyro_say_bytes(context, limit), 100 * peak / limit,
                              pyro_say_count(context, all, "executor", "executors"), (limit - size) * lives / gib_hour);
    pyro_finding_evidence(context, finding, "heap_used_share", peak / limit, pyro_limit(context, USED_SHARE), "share");
    pyro_finding_evidence(context, finding, "heap_peak_bytes", peak, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "heap_limit_bytes", limit, size, "bytes");
    pyro_finding_evidence(context, finding, "unused_gib_hours", (limit - size) * lives / gib_hour, 0, "count");
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Set spark.executor.memory=%s: the peak, plus %.0f %%, plus Spark's reserved memory. If memory limits "
                 "the number of executors per node, more executors fit.",
                 wanted.ptr, 100 * (pyro_limit(context, HEADROOM) - 1)),
        "In the next run gc-pressure, disk-spill and cache-eviction stay quiet. Check again when the data grows.");
    pyro_advice_set(context, advice, "spark.executor.memory", wanted);
    bool polled = pyro_app_property_size(app, "spark.executor.metrics.pollingInterval", 1, 0) > 0;
    finding->confidence *= polled ? 0.9 : 0.75;
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_memory_overprovisioned = {
    .id = "memory-overprovisioned",
    .category = "memory",
    .title = "Unused executor memory",
    .summary = "Executors use only a part of their heap.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
