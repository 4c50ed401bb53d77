/* shuffle-write-slow: tasks wait for the disk while they write their shuffle output. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/part_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { SHARE, MEAN_MS, RATE, TOTALS, TOTALS_LAST = TOTALS + 2, SMALL_BLOCK };
static const struct pyro_threshold thresholds[] = {
    [SHARE] = {"write_share_min", 0.2, "share",
               "Minimum share of a stage's task time; healthy stages write for 10 % of it"},
    [MEAN_MS] = {"write_ms_min", 20, "ms", "Minimum write time per task"},
    [RATE] = {"bytes_per_second_max", 100e6, "bytes",
              "Quiet if a task writes faster than this: it has much to write, not a slow disk"},
    [TOTALS] = PYRO_PART_TOTALS(0.05),
    [SMALL_BLOCK] = {"small_block_bytes", 16384, "bytes",
                     "Recommendation: fewer partitions if the blocks of a task are smaller"},
};

/* Partitions of the shuffle that the stage writes: those of a stage that names it as parent; 0 when none ran. */
static double reducers(const struct pyro_app *app, const struct pyro_stage *stage)
{
    double most = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *child = &app->stages.items[i];
        for (uint32_t k = 0; k < child->parent_count; k++)
            if (child->parent_ids[k] == stage->id)
                most = fmax(most, pyro_real(child->partitions));
    }
    return most;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, double partitions, double block)
{
    const struct pyro_app *app = context->app;
    const char *verify = "In the next run \"Shuffle Write Time\" (Spark UI, stage page, additional metrics) is a small "
                         "part of the duration.";
    if (pyro_app_property_bool(app, "spark.shuffle.sync", false)) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Disable spark.shuffle.sync: it makes every task wait until its shuffle files are on "
                               "the disk, although Spark can compute a lost file again."),
            verify);
        pyro_advice_set(context, advice, "spark.shuffle.sync", PYRO_SLICE_LITERAL("false"));
    }
    if (partitions > 1 && block < pyro_limit(context, SMALL_BLOCK))
        pyro_finding_advise(
            context, finding,
            pyro_say(context, "Use fewer shuffle partitions: each task writes %.0f blocks of %s, one after the other.",
                     partitions, pyro_say_bytes(context, block)),
            verify);
    pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "Put spark.local.dir (YARN: yarn.nodemanager.local-dirs, Kubernetes: a spark-local-dir volume) on several "
            "fast local disks that nothing else uses. The usual causes are network volumes and used-up burst credits. "
            "Write less: filter, project and combine before the shuffle."),
        verify);
}

static void report(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_part_cases *cases,
                   size_t lead)
{
    const struct pyro_part_case *found = &cases->list.items[lead];
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    double bytes = pyro_real(stage->shuffle_write_bytes), tasks = fmax(pyro_real(stage->tasks), 1);
    double partitions = reducers(context->app, stage), block = bytes / tasks / fmax(partitions, 1);
    double rate = bytes / fmax(pyro_real(stage->shuffle_write_ms), 1) * 1000;
    finding->cause = pyro_say(
        context,
        "%s: tasks spent %.0f %% of their time (%s in all) writing shuffle files, at %s per second and task.%s",
        pyro_say_stage(context, found->stage), 100 * found->all_part_ms / fmax(found->all_work_ms, 1),
        pyro_say_ms(context, found->all_part_ms), pyro_say_bytes(context, rate), pyro_part_cases_more(context, found));
    pyro_part_cases_report(context, finding, cases, lead, "shuffle_write");
    pyro_finding_evidence(context, finding, "bytes_per_second", rate, pyro_limit(context, RATE), "bytes");
    pyro_finding_evidence(context, finding, "shuffle_write_bytes", bytes, (double)NAN, "bytes");
    if (partitions > 0)
        pyro_finding_evidence(context, finding, "bytes_per_block", block, (double)NAN, "bytes");
    advise(context, finding, partitions, block);
    pyro_remedy_partly(finding, 0.7);
    finding->confidence *= 0.85;
}

static bool is_slow(struct pyro_rule_context *context, size_t row)
{
    const struct pyro_stage *stage = &context->app->stages.items[row];
    double per_ms = pyro_real(stage->shuffle_write_bytes) / fmax(pyro_real(stage->shuffle_write_ms), 1);
    return per_ms * 1000 <= pyro_limit(context, RATE);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    if (pyro_real(context->app->numbers.shuffle_write_bytes) <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    const struct pyro_part_limits limits = pyro_part_limits(context, 1u << PYRO_SPLIT_SHUFFLE_WRITE, TOTALS);
    return pyro_part_cases_evaluate(context, &limits, is_slow, report);
}

const struct pyro_rule pyro_rule_shuffle_write_slow = {
    .id = "shuffle-write-slow",
    .category = "shuffle",
    .title = "Slow shuffle writes",
    .summary = "Tasks wait for the disk while they write their shuffle output.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
