/* python-worker-time: profilers saw Python workers read, convert and write rows instead of running the program. */
#include <math.h>

#include "rules/cases/affected.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/sampled.h"

/* What is left when only the needed columns are sent: some must be. */
#define SAVED 0.8

enum { TRANSFER_SHARE, SAMPLES, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [TRANSFER_SHARE] = {"transfer_share_min", 0.3, "share",
                        "Minimum share of a stage's task time that Python workers read, convert and write rows"},
    [SAMPLES] = {"samples_min", 200, "count", "Minimum number of samples of the stage whose owner is known"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if that costs less of the application's time"},
};

enum { INPUT = PYRO_SAMPLED_VALUES };

/* The executor converts each row that the worker reads, and takes about as long. If the executor is the slower one, the
 * worker waits for it, and this time goes too. */
static double saved_share(const struct pyro_spot *spot)
{
    double share = pyro_sampled_share_of(spot).share;
    return SAVED * fmin(share + fmin(share, spot->value[INPUT]), 1);
}

static double weight_of(const struct pyro_stage_samples *samples, size_t stage, enum pyro_sample_work work)
{
    const struct pyro_stage_sampled *sampled = &samples->stages[stage];
    const struct pyro_stage_method *first = samples->methods + sampled->first_method;
    double weight = 0;
    for (size_t i = 0; i < sampled->method_count; i++)
        if (first[i].clock == PYRO_CLOCK_PYTHON && first[i].work == work)
            weight += (double)first[i].weight;
    return weight;
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage)
{
    const struct pyro_stage_samples *samples = context->samples;
    struct pyro_sampled_share share = pyro_sampled_share(context->app, samples, stage, PYRO_CLOCK_PYTHON,
                                                         weight_of(samples, stage, PYRO_WORK_TRANSFER));
    if (share.count < pyro_limit(context, SAMPLES) || share.share < pyro_limit(context, TRANSFER_SHARE))
        return;
    struct pyro_spot *spot = pyro_sampled_add(context, spots, stage, &share);
    if (!spot)
        return;
    spot->value[INPUT] =
        weight_of(samples, stage, PYRO_WORK_INPUT) / (double)samples->stages[stage].weight[PYRO_CLOCK_PYTHON];
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_sampled_share share = pyro_sampled_share_of(spot);
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause = pyro_say(context,
                              "Python workers of %s spend %.0f %% of their time (%s) reading, converting and writing "
                              "rows, %.0f %% waiting for "
                              "rows, and %.0f %% in the program.",
                              pyro_say_stage(context, spot->stage), 100 * share.share,
                              pyro_sampled_basis(context, &share, PYRO_CLOCK_PYTHON), 100 * spot->value[INPUT],
                              100 * fmax(1 - share.share - spot->value[INPUT], 0));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "Send less to Python: select the columns that the function uses before it, filter earlier, or "
            "replace the function with one of pyspark.sql.functions or a pandas_udf."),
        "In the next run the samples of the Python workers are in the program's own functions, and the tasks are "
        "shorter.");
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("orders.select(\"amount\").rdd.map(price)  # not orders.rdd.map(price)");
    pyro_sampled_evidence(context, finding, "transfer_share", &share);
    pyro_finding_evidence(context, finding, "input_share", spot->value[INPUT], (double)NAN, "share");
    pyro_finding_merged(context, finding, "stages", end - first);
    finding->confidence *= 0.8;
    for (size_t i = first; i < end; i++)
        pyro_remedy_stage(context, finding, spots->list.items[i].stage, 1 - saved_share(&spots->list.items[i]));
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_sampled_evaluate(context, pyro_limit(context, SAVING_SHARE), examine, report);
}

const struct pyro_rule pyro_rule_python_worker_time = {
    .id = "python-worker-time",
    .category = "code",
    .title = "Time of Python workers",
    .summary = "Profiles show that Python workers spend their time reading, converting and writing rows, not in the "
               "program.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"straggler", "data-skew", "python-udf"},
    .evaluate = evaluate,
};
