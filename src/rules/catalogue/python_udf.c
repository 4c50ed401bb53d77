/* python-udf: rows go one by one through a Python function where built-in functions or Arrow would do. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/file_scans.h"

/* Built-in functions do the same in a tenth of the time; Arrow in a half. */
#define SAVED 0.9
/* Pickling a row and its result in the executor: it counts as its processor time, of which it is at most a half,
 * and takes no longer than Python does. */
#define PICKLE_MS        1e-3
#define PICKLE_CPU_SHARE 0.5

enum { ROWS_MIN, ROW_MS, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [ROWS_MIN] = {"rows_min", 50000, "count",
                  "Quiet with fewer rows: the function costs less than the start of its workers"},
    [ROW_MS] = {"row_ms_max", 0.05, "ms",
                "Sending a row to the Python worker and back takes about 5 to 50 us. More can be the work of the "
                "function, or waiting that has nothing to do with Python"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum { ROWS, SENT, MS, FACTOR, WORKER_MS };

/* PythonEvalType.SQL_ARROW_BATCHED_UDF: the function is called for each row, though rows travel in batches. It ends the
 * node's text: "ArrowEvalPython [f(x#1)#2], [pythonUDF0#3], 101". */
#define ROWS_OVER_ARROW "], 101"

static bool is_over_arrow(const struct pyro_sql_node *node)
{
    return pyro_slice_starts_with(node->name, "ArrowEvalPython") && pyro_slice_find(node->detail, ROWS_OVER_ARROW);
}

static bool calls_row_by_row(const struct pyro_sql_node *node)
{
    return pyro_slice_starts_with(node->name, "BatchEvalPython") || is_over_arrow(node);
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_file_scans *scans,
                    const struct pyro_plan_tree *plan, uint32_t i)
{
    const struct pyro_app *app = context->app;
    const struct pyro_plan_op *op = &plan->ops[i];
    double rows = fmax(pyro_op_amount(plan, i, PYRO_METRIC_ROWS), 0);
    if (op->repeated || op->class != PYRO_OPERATOR_PYTHON || !calls_row_by_row(op->node) ||
        rows < pyro_limit(context, ROWS_MIN))
        return;
    ptrdiff_t stage = pyro_file_scan_longest_stage(app, plan, op);
    if (stage < 0)
        return;
    struct pyro_stage_wait wait;
    pyro_stage_wait(scans, app, (size_t)stage, &wait);
    double run = fmax(pyro_real(app->stages.items[stage].run_ms), 1);
    double worker = pyro_op_amount(plan, i, PYRO_METRIC_PYTHON_RUN_TIME);
    double cost = fmin(wait.wait_ms, rows * pyro_limit(context, ROW_MS));
    if (worker > 0)
        cost = fmin(cost, worker);
    double pickling = fmin(rows * PICKLE_MS, PICKLE_CPU_SHARE * fmax(pyro_real(app->stages.items[stage].cpu_ms), 0));
    cost += fmin(pickling, cost);
    cost = fmin(cost, run);
    struct pyro_spot *spot = pyro_spots_add(context, spots, (size_t)stage);
    if (!spot)
        return;
    double spread =
        fmax(fmin(pyro_stage_slots(app, &app->stages.items[stage]), pyro_real(app->stages.items[stage].partitions)), 1);
    spot->weight = SAVED * cost / spread;
    spot->about = op->node;
    spot->value[ROWS] = rows;
    spot->value[SENT] = pyro_op_amount(plan, i, PYRO_METRIC_PYTHON_SENT);
    spot->value[MS] = cost;
    spot->value[FACTOR] = 1 - SAVED * cost / run;
    spot->value[WORKER_MS] = worker;
}

/* "BatchEvalPython [label(text#43)#59, ...": what is between the bracket and the parenthesis. */
static const char *function_of(struct pyro_rule_context *context, const struct pyro_sql_node *node)
{
    const char *start = node->detail.ptr ? memchr(node->detail.ptr, '[', node->detail.len) : NULL;
    if (!start)
        return "";
    struct pyro_slice rest = {start + 1, (size_t)(node->detail.ptr + node->detail.len - start - 1)};
    const char *end = memchr(rest.ptr, '(', rest.len);
    if (!end || end == rest.ptr)
        return "";
    return pyro_say(context, " (%s)",
                    pyro_say_text(context, (struct pyro_slice){rest.ptr, (size_t)(end - rest.ptr)}, 40))
        .ptr;
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_python_udf);
    if (!finding)
        return;
    double run = fmax(pyro_real(app->stages.items[spot->stage].run_ms), 1);
    bool arrow = is_over_arrow(spot->about);
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause = pyro_say(
        context,
        "%s calls a Python function%s for each of %.0f rows%s. Spark sends the rows to a Python process and back%s, "
        "which takes about %s of its %s of task time.%s",
        pyro_say_stage(context, spot->stage), function_of(context, spot->about), spot->value[ROWS],
        spot->value[SENT] > 0 ? pyro_say(context, " (%s)", pyro_say_bytes(context, spot->value[SENT])).ptr : "",
        arrow ? ", in Arrow batches" : " one by one", pyro_say_ms(context, spot->value[MS]), pyro_say_ms(context, run),
        end - first > 1 ? pyro_say(context, " This applies to %zu operators at this call site.", end - first).ptr : "");
    pyro_finding_evidence(context, finding, "python_rows", spot->value[ROWS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "python_sent_bytes", spot->value[SENT], (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "python_ms", spot->value[MS], (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "stage_cpu_share", pyro_real(app->stages.items[spot->stage].cpu_ms) / run,
                          (double)NAN, "share");
    pyro_finding_merged(context, finding, "operators", end - first);
    const char *verify = "In the next run the plan has no BatchEvalPython or ArrowEvalPython (Spark UI, SQL page), or "
                         "one with far fewer rows, and the stage's task time is shorter.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "Replace the Python function with functions of pyspark.sql.functions (substring, regexp_extract, when, "
            "transform ...): they run inside the executor, and Spark can push down filters on them. "
            "Filter and aggregate before the code that must stay in Python."),
        verify);
    if (advice)
        advice->code =
            PYRO_SLICE_LITERAL("F.concat_ws(\"-\", F.upper(F.substring(\"text\", 1, 12)), ...)  # instead of "
                               "udf(lambda ...)");
    advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("For code that must stay in Python: process whole batches instead of rows (pandas_udf; it "
                           "needs the packages pandas and pyarrow on the executors)."),
        verify);
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("@pandas_udf(\"string\")\ndef f(text: pd.Series) -> pd.Series: ...");
    if (!arrow && pyro_app_spark_at_least(app, 3, 5))
        pyro_advice_set(context, advice, "spark.sql.execution.pythonUDF.arrow.enabled", PYRO_SLICE_LITERAL("true"));
    finding->confidence *= spot->value[WORKER_MS] > 0 ? 0.85 : 0.75;
    for (size_t i = first; i < end; i++)
        pyro_remedy_stage(context, finding, spots->list.items[i].stage, spots->list.items[i].value[FACTOR]);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_file_scans scans;
    struct pyro_spots spots = {0};
    const struct pyro_plans *plans = pyro_rule_plans(context);
    if (!plans || plans->count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    if (!pyro_file_scans_load(context, &scans))
        return PYRO_VERDICT_QUIET;
    enum pyro_verdict verdict = PYRO_VERDICT_QUIET;
    for (size_t q = 0; q < plans->count; q++)
        for (uint32_t i = 0; i < plans->items[q].count && !context->failed; i++)
            examine(context, &spots, &scans, &plans->items[q], i);
    if (pyro_spots_report(context, &spots, pyro_limit(context, SAVING_SHARE), report))
        verdict = PYRO_VERDICT_FINDING;
    pyro_file_scans_done(context, &scans);
    return verdict;
}

const struct pyro_rule pyro_rule_python_udf = {
    .id = "python-udf",
    .category = "plan",
    .title = "Python function row by row",
    .summary = "Rows pass one by one through a Python function where built-in functions or Arrow are enough.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
