/* speculation-waste: speculative copies of tasks that came too late: their time was thrown away. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"

enum { COPIES, LOST_RATIO, LOST_MS, LOST_SHARE };
static const struct pyro_threshold thresholds[] = {
    [COPIES] = {"copies_min", 5, "count", "Quiet with fewer copies: they say nothing about the settings"},
    [LOST_RATIO] = {"lost_ratio_min", 0.5, "share",
                    "Minimum share of copies that lost; if most copies win, speculation helps"},
    [LOST_MS] = {"lost_ms_min", 2000, "ms", "Quiet if the copies together cost less"},
    [LOST_SHARE] = {"lost_share_min", 0.01, "share", "... or a smaller share of the application's task time"},
};

enum { READ_ROWS = 1024 };

struct copies {
    double started, lost, lost_ms, won_ms;
};

static struct copies count_copies(const struct pyro_app *app)
{
    int64_t speculative[READ_ROWS];
    struct copies sum = {0};
    for (size_t first = 0; first < app->tasks.count; first += READ_ROWS) {
        size_t count = app->tasks.count - first < READ_ROWS ? app->tasks.count - first : READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_speculative, first, count, speculative);
        for (size_t i = 0; i < count; i++) {
            if (speculative[i] <= 0)
                continue;
            double ms = pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, first + i),
                                  pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, first + i));
            bool won = pyro_task_get(&app->tasks, PYRO_TASK_status, first + i) == PYRO_TASK_SUCCESS;
            sum.started++;
            sum.lost += !won;
            *(won ? &sum.won_ms : &sum.lost_ms) += ms;
        }
    }
    return sum;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct copies *copies)
{
    const char *verify = "In the next run fewer tasks are killed with \"another attempt succeeded\" (Spark UI, stage "
                         "page), and the run is not longer.";
    if (copies->lost >= copies->started) {
        struct pyro_advice *off = pyro_finding_advise(
            context, finding,
            pyro_say(context, "Disable speculation for this application: none of %.0f copies finished first.",
                     copies->started),
            verify);
        pyro_advice_set(context, off, "spark.speculation", PYRO_SLICE_LITERAL("false"));
        return;
    }
    double multiplier = 3, quantile = 0.9;
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Start copies later and only for clear stragglers, not for tasks that only have more data."),
        verify);
    pyro_advice_set(context, advice, "spark.speculation.multiplier", pyro_say(context, "%.0f", multiplier));
    pyro_advice_set(context, advice, "spark.speculation.quantile", pyro_say(context, "%.1f", quantile));
    if (pyro_app_spark_at_least(context->app, 3, 2))
        pyro_advice_set(context, advice, "spark.speculation.minTaskRuntime", PYRO_SLICE_LITERAL("10s"));
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct copies copies = count_copies(app);
    if (copies.started <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    double task_ms = fmax(pyro_real(app->numbers.task_ms), 1);
    if (copies.started < pyro_limit(context, COPIES) ||
        copies.lost < pyro_limit(context, LOST_RATIO) * copies.started ||
        copies.lost_ms < fmax(pyro_limit(context, LOST_MS), pyro_limit(context, LOST_SHARE) * task_ms))
        return PYRO_VERDICT_QUIET;
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return PYRO_VERDICT_QUIET;
    finding->id = pyro_slice_from(pyro_rule_speculation_waste.id); /* one finding for the whole application */
    finding->cause = pyro_say(
        context, "Of %s of tasks, %.0f finished after their originals: %s of task time (%.1f %% of all) were wasted.",
        pyro_say_count(context, copies.started, "speculative copy", "speculative copies"), copies.lost,
        pyro_say_ms(context, copies.lost_ms), 100 * copies.lost_ms / task_ms);
    pyro_finding_evidence(context, finding, "speculative_tasks", copies.started, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "lost_copies", copies.lost, 0, "count");
    pyro_finding_evidence(context, finding, "lost_ms", copies.lost_ms, 0, "ms");
    pyro_finding_evidence(context, finding, "lost_share", copies.lost_ms / task_ms, 0, "share");
    pyro_finding_evidence(context, finding, "won_copies_ms", copies.won_ms, (double)NAN, "ms");
    advise(context, finding, &copies);
    finding->confidence *= 0.9;
    finding->frees_slots = true; /* copies take slots that were empty, mostly */
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_speculation_waste = {
    .id = "speculation-waste",
    .category = "resources",
    .title = "Wasted speculation",
    .summary = "Speculative copies of tasks finish too late, and their time is wasted.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
