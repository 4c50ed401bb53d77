/* task-overhead: tasks spend their time being deserialized and serializing their results. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/part_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { SHARE, MEAN_MS, TOTALS };
static const struct pyro_threshold thresholds[] = {
    [SHARE] =
        {"overhead_share_min", 0.2, "share",
         "Minimum share of a stage's task time, without the first tasks of an executor; healthy stages are below 5 %"},
    [MEAN_MS] = {"overhead_ms_min", 40, "ms", "Minimum overhead per task; every task has a few milliseconds"},
    [TOTALS] = PYRO_PART_TOTALS(0.03),
};

/* Deserialization and result serialization of the steady tasks of a stage. */
static void two_parts(struct pyro_rule_context *context, size_t stage, double *deserialize, double *serialize)
{
    const struct pyro_stage_parts *parts = pyro_stage_parts(context);
    *deserialize = parts ? parts[stage].steady_part_ms[PYRO_SPLIT_DESERIALIZE] : 0;
    *serialize = parts ? parts[stage].steady_part_ms[PYRO_SPLIT_RESULT_SERIALIZE] : 0;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_stage *stage,
                   bool results)
{
    const char *verify = "In the next run \"Task Deserialization Time\" and \"Result Serialization Time\" (Spark UI, "
                         "stage page, additional metrics) are about ten milliseconds.";
    if (results) {
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Return less from each task: aggregate or write on the executors "
                                               "instead of collecting rows at the driver."),
                            verify);
        return;
    }
    bool sql = pyro_stage_is_sql(stage);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        sql ? PYRO_SLICE_LITERAL("Remove large values from the query: every task deserializes a long list in isin() or "
                                 "IN, or a large map or array literal, again. Put it into a DataFrame and join with it "
                                 "(broadcast it if it is small).")
            : PYRO_SLICE_LITERAL("Remove large objects from the closure: every task deserializes the objects that a "
                                 "lambda refers to again. Broadcast them, so that each executor reads them once."),
        verify);
    if (advice)
        advice->code = sql ? PYRO_SLICE_LITERAL("wanted = spark.createDataFrame([(k,) for k in keys], [\"key\"])\n"
                                                "df.join(F.broadcast(wanted), \"key\", \"left_semi\")")
                           : PYRO_SLICE_LITERAL("table = sc.broadcast(big_object)\n"
                                                "rdd.map(lambda x: table.value[x])");
    pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Until then use fewer and larger tasks, which have this overhead less often."), verify);
}

static void report(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_part_cases *cases,
                   size_t lead)
{
    const struct pyro_part_case *found = &cases->list.items[lead];
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    double deserialize, serialize;
    two_parts(context, found->stage, &deserialize, &serialize);
    bool results = serialize > deserialize;
    finding->cause = pyro_say(
        context, "%s: tasks spent %.0f %% of their time (%s each, %s in all) on %s, not on their work.%s",
        pyro_say_stage(context, found->stage), 100 * found->all_part_ms / fmax(found->all_work_ms, 1),
        pyro_say_ms(context, found->all_part_ms / fmax(found->all_tasks, 1)), pyro_say_ms(context, found->all_part_ms),
        results ? "serializing their results"
                : "deserializing the task, its closure and the objects that the closure refers to",
        pyro_part_cases_more(context, found));
    pyro_part_cases_report(context, finding, cases, lead, "overhead");
    double tasks = fmax(found->tasks, 1);
    pyro_finding_evidence(context, finding, "deserialize_ms_per_task", deserialize / tasks, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "result_serialize_ms_per_task", serialize / tasks, (double)NAN, "ms");
    advise(context, finding, stage, results);
    pyro_remedy_partly(finding, 0.8);
    finding->confidence *= 0.9;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    if (context->app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_part_limits limits =
        pyro_part_limits(context, 1u << PYRO_SPLIT_DESERIALIZE | 1u << PYRO_SPLIT_RESULT_SERIALIZE, TOTALS);
    limits.steady = true;
    return pyro_part_cases_evaluate(context, &limits, NULL, report);
}

const struct pyro_rule pyro_rule_task_overhead = {
    .id = "task-overhead",
    .category = "resources",
    .title = "Task overhead",
    .summary = "Tasks spend their time on deserializing their code and serializing their results, because closures or "
               "results are large.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"small-input-files", "too-many-partitions"},
    .evaluate = evaluate,
};
