/* shuffle-fetch-wait: tasks wait until the blocks of a shuffle arrive. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/part_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { SHARE, MEAN_MS, TOTALS, TOTALS_LAST = TOTALS + 2, SMALL_BLOCK, MANY_BLOCKS };
static const struct pyro_threshold thresholds[] = {
    [SHARE] = {"wait_share_min", 0.2, "share", "Minimum share of a stage's task time; healthy shuffles are below 5 %"},
    [MEAN_MS] = {"wait_ms_min", 20, "ms", "Minimum wait per task; shorter waits are network round trips"},
    [TOTALS] = PYRO_PART_TOTALS(0.03),
    [SMALL_BLOCK] = {"small_block_bytes", 65536, "bytes",
                     "Recommendation: below this size, blocks cost more by their number than by their bytes"},
    [MANY_BLOCKS] = {"many_blocks", 100, "count", "... if a task fetches at least this many"},
};

struct blocks {
    double count, bytes, remote_bytes, tasks;
};

/* What the task fetched one by one: Spark counts each block of a merged chunk, which comes as one. */
static double fetched(const struct pyro_app *app, size_t row)
{
    static const enum pyro_task_column blocks[] = {PYRO_TASK_shuffle_remote_blocks, PYRO_TASK_shuffle_local_blocks},
                                       merged[] = {PYRO_TASK_push_remote_blocks, PYRO_TASK_push_local_blocks},
                                       chunks[] = {PYRO_TASK_push_remote_chunks, PYRO_TASK_push_local_chunks};
    double count = 0;
    for (size_t i = 0; i < 2; i++)
        count += fmax(0, pyro_real(pyro_task_get(&app->tasks, blocks[i], row)) -
                             pyro_real(pyro_task_get(&app->tasks, merged[i], row))) +
                 pyro_real(pyro_task_get(&app->tasks, chunks[i], row));
    return count;
}

static struct blocks count_blocks(const struct pyro_app *app, const struct pyro_stage *stage)
{
    struct blocks sum = {0};
    size_t all = stage->tasks > 0 && app->tasks_by_stage ? (size_t)stage->tasks : 0;
    for (size_t i = 0; i < all && stage->first_task + i < app->tasks.count; i++) {
        size_t row = app->tasks_by_stage[stage->first_task + i];
        double remote = pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_shuffle_remote_bytes, row));
        sum.count += fetched(app, row);
        sum.bytes += remote + pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_shuffle_local_bytes, row));
        sum.remote_bytes += remote;
        sum.tasks++;
    }
    return sum;
}

/* Limits on fetching that are set far below Spark's defaults: the first of them goes into the advice. */
static bool advise_limits(struct pyro_rule_context *context, struct pyro_finding *finding, const char *verify)
{
    const struct pyro_app *app = context->app;
    double mib = 1048576,
           flight =
               pyro_real(pyro_app_property_size(app, "spark.reducer.maxSizeInFlight", 1048576, INT64_C(48) * 1048576));
    double requests = pyro_real(pyro_app_property_int(app, "spark.reducer.maxReqsInFlight", INT32_MAX));
    double blocks = pyro_real(pyro_app_property_int(app, "spark.reducer.maxBlocksInFlightPerAddress", INT32_MAX));
    if (flight >= 16 * mib && requests >= 16 && blocks >= 64)
        return false;
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Let tasks fetch more at the same time: the limits are far below Spark's defaults, so each "
                           "task waits for many small responses one after the other."),
        verify);
    if (flight < 16 * mib)
        pyro_advice_set(context, advice, "spark.reducer.maxSizeInFlight", PYRO_SLICE_LITERAL("48m"));
    if (requests < 16)
        pyro_advice_set(context, advice, "spark.reducer.maxReqsInFlight", PYRO_SLICE_LITERAL("2147483647"));
    if (blocks < 64)
        pyro_advice_set(context, advice, "spark.reducer.maxBlocksInFlightPerAddress", PYRO_SLICE_LITERAL("2147483647"));
    return true;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct blocks *blocks,
                   bool small)
{
    const struct pyro_app *app = context->app;
    const char *verify =
        "In the next run \"Shuffle Read Fetch Wait Time\" (Spark UI, stage page, summary metrics) is a "
        "small part of the duration.";
    bool limited = advise_limits(context, finding, verify);
    if (small)
        pyro_finding_advise(
            context, finding,
            pyro_say(
                context,
                "Create fewer and larger blocks: a task fetches %.0f blocks of %s. Their number is map tasks x reduce "
                "tasks. Read larger splits, coalesce() before the shuffle, or use fewer shuffle partitions.",
                blocks->count / fmax(blocks->tasks, 1),
                pyro_say_bytes(context, blocks->bytes / fmax(blocks->count, 1))),
            verify);
    if (limited)
        return;
    bool service = pyro_app_property_bool(app, "spark.shuffle.service.enabled", false);
    pyro_finding_advise(
        context, finding,
        service
            ? PYRO_SLICE_LITERAL(
                  "Check the shuffle services that serve the blocks (load, disk and network of their hosts, "
                  "spark.shuffle.io.serverThreads), and shuffle less: filter, project and combine before the shuffle.")
            : PYRO_SLICE_LITERAL(
                  "Check the executors that serve the blocks (garbage collection, disk, network); an external shuffle "
                  "service relieves them. Shuffle less: filter, project and combine before the shuffle."),
        verify);
}

static void report(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_part_cases *cases,
                   size_t lead)
{
    const struct pyro_part_case *found = &cases->list.items[lead];
    struct blocks blocks = count_blocks(context->app, &context->app->stages.items[found->stage]);
    double size = blocks.bytes / fmax(blocks.count, 1), each = blocks.count / fmax(blocks.tasks, 1);
    bool small =
        blocks.count > 0 && size < pyro_limit(context, SMALL_BLOCK) && each >= pyro_limit(context, MANY_BLOCKS);
    double share = found->all_part_ms / fmax(found->all_work_ms, 1);
    finding->cause =
        pyro_say(context,
                 "%s: tasks waited for shuffle blocks for %.0f %% of their time (%s in all); each fetched %.0f blocks "
                 "of %s on average.%s",
                 pyro_say_stage(context, found->stage), 100 * share, pyro_say_ms(context, found->all_part_ms), each,
                 pyro_say_bytes(context, size), pyro_part_cases_more(context, found));
    pyro_part_cases_report(context, finding, cases, lead, "fetch_wait");
    pyro_finding_evidence(context, finding, "blocks_per_task", each, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "bytes_per_block", size, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "remote_share", blocks.remote_bytes / fmax(blocks.bytes, 1), (double)NAN,
                          "share");
    advise(context, finding, &blocks, small);
    pyro_remedy_partly(finding, 0.7);
    finding->confidence *= 0.85;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    if (pyro_real(context->app->numbers.shuffle_read_bytes) <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    const struct pyro_part_limits limits = pyro_part_limits(context, 1u << PYRO_SPLIT_SHUFFLE_FETCH_WAIT, TOTALS);
    return pyro_part_cases_evaluate(context, &limits, NULL, report);
}

const struct pyro_rule pyro_rule_shuffle_fetch_wait = {
    .id = "shuffle-fetch-wait",
    .category = "shuffle",
    .title = "Waiting for shuffle blocks",
    .summary = "Tasks wait until the blocks of a shuffle arrive from other executors.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"executor-lost", "data-skew"},
    .needs_settings = true,
    .evaluate = evaluate,
};
