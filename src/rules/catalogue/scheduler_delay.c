/* scheduler-delay: tasks spend their time between driver and executor, before they run and after they ended. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/part_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { SHARE, MEAN_MS, TOTALS };
static const struct pyro_threshold thresholds[] = {
    [SHARE] = {"delay_share_min", 0.2, "share", "Minimum share of a stage's task time; healthy stages are below 10 %"},
    [MEAN_MS] = {"delay_ms_min", 200, "ms",
                 "Minimum delay per task; about 10 ms is normal, and healthy runs on hosts with too few cores have up "
                 "to 150 ms"},
    [TOTALS] = PYRO_PART_TOTALS(0.03),
};

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_part_case *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    const char *verify =
        "In the next run \"Scheduler Delay\" (Spark UI, stage page, additional metrics) is about ten milliseconds.";
    if (pyro_slice_find(stage->name, "parallelize") || pyro_slice_find(stage->call_site, "parallelize") ||
        (!pyro_stage_is_sql(stage) && pyro_stage_read_bytes(stage) <= 0))
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("If the tasks contain data of the driver (parallelize() or createDataFrame() of a large "
                               "collection; the driver's log warns about a \"task of very large size\"), write the "
                               "data to files or broadcast it, and let tasks read it."),
            verify);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Reduce the load of the driver: give it more cores and memory (check its garbage collection "
                           "and CPU load), avoid loops over results, and do not run it on a host with executors."),
        verify);
    double cores = pyro_real(pyro_app_property_int(app, "spark.driver.cores", 1));
    if (!pyro_app_is_local(app) && cores < 4)
        pyro_advice_set(context, advice, "spark.driver.cores", pyro_say(context, "%.0f", fmax(2 * cores, 2)));
    double mean = found->all_work_ms / fmax(found->all_tasks, 1);
    if (mean < 1000)
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Use fewer and larger tasks if possible: these take %s each, so the driver "
                                     "handles many of them at the same time.",
                                     pyro_say_ms(context, mean)),
                            verify);
}

static void report(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_part_cases *cases,
                   size_t lead)
{
    const struct pyro_part_case *found = &cases->list.items[lead];
    finding->cause = pyro_say(
        context,
        "%s: tasks spent %.0f %% of their time (%s each, %s in all) between driver and executor instead of running.%s",
        pyro_say_stage(context, found->stage), 100 * found->all_part_ms / fmax(found->all_work_ms, 1),
        pyro_say_ms(context, found->all_part_ms / fmax(found->all_tasks, 1)), pyro_say_ms(context, found->all_part_ms),
        pyro_part_cases_more(context, found));
    pyro_part_cases_report(context, finding, cases, lead, "scheduler_delay");
    advise(context, finding, found);
    pyro_remedy_partly(finding, 0.7);
    finding->confidence *= 0.8;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    if (context->app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    const struct pyro_part_limits limits = pyro_part_limits(context, 1u << PYRO_SPLIT_SCHEDULER_DELAY, TOTALS);
    return pyro_part_cases_evaluate(context, &limits, NULL, report);
}

const struct pyro_rule pyro_rule_scheduler_delay = {
    .id = "scheduler-delay",
    .category = "resources",
    .title = "Scheduler delay",
    .summary =
        "Tasks spend their time between driver and executor, because the driver is overloaded or tasks are too large.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"small-input-files", "too-many-partitions"},
    .needs_settings = true,
    .evaluate = evaluate,
};
