/* global-window: a window without PARTITION BY sends all rows to one task, which sorts them. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/file_scans.h"

enum { ROWS_MIN, TASK_MS, SPILL_BYTES, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [ROWS_MIN] = {"rows_min", 100000, "count", "Quiet with fewer rows: one task sorts them quickly"},
    [TASK_MS] = {"task_ms_min", 2000, "ms", "Quiet if the task is shorter: the saving is too small"},
    [SPILL_BYTES] = {"spill_bytes_min", 1024.0 * 1024 * 1024, "bytes",
                     "If the task spills more, a larger input might not fit on the disk"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum { ROWS, MS, SLOTS, SPILL };

/* What feeds the window, below the sort: the exchange into one partition, or none. */
static uint32_t single_exchange(const struct pyro_plan_tree *plan, uint32_t window)
{
    for (uint32_t i = pyro_op_input(plan, window, 0); i != PYRO_NO_OP; i = pyro_op_input(plan, i, 0)) {
        enum pyro_operator_class class = plan->ops[i].class;
        if (class == PYRO_OPERATOR_SHUFFLE || class == PYRO_OPERATOR_REUSED) {
            uint32_t exchange = pyro_op_exchange(plan, i);
            return pyro_op_says(plan, exchange, "SinglePartition") ? exchange : PYRO_NO_OP;
        }
        if (class != PYRO_OPERATOR_SORT && class != PYRO_OPERATOR_WINDOW && class != PYRO_OPERATOR_PROJECT)
            return PYRO_NO_OP;
    }
    return PYRO_NO_OP;
}

/* The stage of one task that runs the window: of the window's, the sort's or the exchange's readers. */
static ptrdiff_t stage_of(const struct pyro_app *app, const struct pyro_plan_tree *plan, uint32_t window,
                          uint32_t exchange)
{
    ptrdiff_t best = -1;
    for (uint32_t i = window; i != PYRO_NO_OP; i = i == exchange ? PYRO_NO_OP : pyro_op_input(plan, i, 0)) {
        const struct pyro_plan_op *op = &plan->ops[i];
        for (uint32_t k = 0; k < op->stage_count; k++) {
            size_t row = plan->stages[op->first_stage + k];
            const struct pyro_stage *stage = &app->stages.items[row];
            if (stage->partitions == 1 && stage->shuffle_read_bytes > 0 &&
                (best < 0 || stage->task_ms > app->stages.items[best].task_ms))
                best = (ptrdiff_t)row;
        }
    }
    return best;
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_plan_tree *plan,
                    uint32_t i)
{
    const struct pyro_app *app = context->app;
    if (plan->ops[i].class != PYRO_OPERATOR_WINDOW || plan->ops[i].repeated)
        return;
    /* Windows above each other in one stage are one case: the lowest speaks. */
    uint32_t input = pyro_op_input(plan, i, 0);
    if (input != PYRO_NO_OP && plan->ops[input].class == PYRO_OPERATOR_WINDOW)
        return;
    uint32_t exchange = single_exchange(plan, i);
    ptrdiff_t row = exchange == PYRO_NO_OP ? -1 : stage_of(app, plan, i, exchange);
    if (row < 0)
        return;
    const struct pyro_stage *stage = &app->stages.items[row];
    double rows = fmax(pyro_real(pyro_op_rows(plan, exchange)), pyro_real(stage->shuffle_read_records));
    double ms = pyro_real(stage->duration_max), slots = floor(pyro_stage_slots(app, stage) + 0.5);
    if (rows < pyro_limit(context, ROWS_MIN) || ms < pyro_limit(context, TASK_MS) || slots < 2)
        return;
    struct pyro_spot *spot = pyro_spots_add(context, spots, (size_t)row);
    if (!spot)
        return;
    spot->weight = ms * (1 - 1 / slots);
    spot->about = plan->ops[i].node;
    spot->value[ROWS] = rows;
    spot->value[MS] = ms;
    spot->value[SLOTS] = slots;
    spot->value[SPILL] = pyro_real(stage->disk_spill_bytes);
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_global_window);
    if (!finding)
        return;
    double read = pyro_real(context->app->stages.items[spot->stage].shuffle_read_bytes);
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause = pyro_say(
        context,
        "%s: a window without PARTITION BY moved all %.0f rows (%s) to one task. This task sorted them for %s "
        "while %.0f slots were available.%s",
        pyro_say_stage(context, spot->stage), spot->value[ROWS], pyro_say_bytes(context, read),
        pyro_say_ms(context, spot->value[MS]), spot->value[SLOTS],
        end - first > 1 ? pyro_say(context, " This applies to %zu windows at this call site.", end - first).ptr : "");
    pyro_finding_evidence(context, finding, "window_rows", spot->value[ROWS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "task_ms", spot->value[MS], (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "slots", spot->value[SLOTS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "disk_spill_bytes", spot->value[SPILL], 0, "bytes");
    pyro_finding_merged(context, finding, "windows", end - first);
    const char *verify = "In the next run the plan has no \"Exchange SinglePartition\" below the Window (Spark UI, SQL "
                         "page), and its stage has more than one task.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Add a PARTITION BY to the window if the question allows one (per customer, per day)."),
        verify);
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("Window.partitionBy(\"customer\").orderBy(\"time\")");
    advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("If the question is about all rows: for ids use monotonically_increasing_id() or "
                           "rdd.zipWithIndex(); for the top rows use orderBy().limit(); for running totals sum each "
                           "range first, then add the sums of the earlier ranges."),
        verify);
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("df.withColumn(\"id\", F.monotonically_increasing_id())");
    finding->failure_risk = spot->value[SPILL] >= pyro_limit(context, SPILL_BYTES) ? 0.2 : 0;
    finding->confidence *= 0.9;
    for (size_t i = first; i < end; i++) {
        const struct pyro_spot *one = &spots->list.items[i];
        pyro_remedy_repartition(context, finding, one->stage, pyro_whole(one->value[SLOTS]));
    }
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_spots spots = {0};
    const struct pyro_plans *plans = pyro_rule_plans(context);
    if (!plans || plans->count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    enum pyro_verdict verdict = PYRO_VERDICT_QUIET;
    for (size_t q = 0; q < plans->count; q++)
        for (uint32_t i = 0; i < plans->items[q].count && !context->failed; i++)
            examine(context, &spots, &plans->items[q], i);
    if (pyro_spots_report(context, &spots, pyro_limit(context, SAVING_SHARE), report))
        verdict = PYRO_VERDICT_FINDING;
    return verdict;
}

const struct pyro_rule pyro_rule_global_window = {
    .id = "global-window",
    .category = "plan",
    .title = "Window over all rows",
    .summary = "A window without PARTITION BY sends all rows to one task, which sorts all of them.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
