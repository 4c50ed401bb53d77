/* Symptoms in plans: time of operators that ran in a slower way than they could. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/causes/measures.h"
#include "rules/finding.h"
#include "rules/plans/file_scans.h"
#include "rules/plans/plans.h"

/* Of the time of an operator that runs row by row, interpreted or in tiny batches: what the usual way saves. */
#define SLOWER_SHARE 0.5
/* ... where expressions are interpreted as well. */
#define INTERPRETED_SHARE 0.8
/* Batches of fewer rows cost more to hand over than to compute; Spark's defaults are 4,096 and 10,000. */
#define FEW_ROWS 256.0
/* What handing over a batch takes, in the scan and in what makes rows of it: measured with corpus/settings. */
#define BATCH_MS 0.0006
/* What a batch of columns takes to Python and back, measured with one column. */
#define ARROW_BATCH_MS 0.5
/* What making a batch of a cached table takes, measured with a table of five columns. */
#define CACHE_BATCH_MS 0.08
/* A setting of batch sizes this far from its default is to blame without a count of batches. */
#define FAR 8.0
/* A filter that lets a smaller share pass could have skipped parts of files. */
#define SELECTIVE 0.2

struct looking {
    struct pyro_rule_context *context;
    const struct pyro_suspect *suspect;
    const struct pyro_plan_tree *plan;
    double rows, batches; /* counted of what is slow */
    ptrdiff_t stage;      /* where it costs time; -1: where the operator ran */
};

/* Task time that the symptom costs because of the operator, ms; 0: it does not show it. */
typedef double look(struct looking *looking, uint32_t op);

static ptrdiff_t stage_of(const struct looking *looking, uint32_t op)
{
    return pyro_file_scan_longest_stage(looking->context->app, looking->plan, &looking->plan->ops[op]);
}

static void spend(const struct looking *looking, uint32_t op, double ms, struct pyro_measured *ret)
{
    ptrdiff_t stage = looking->stage >= 0 ? looking->stage : stage_of(looking, op);
    if (stage >= 0)
        ret->stage_ms[stage] += ms;
}

static struct looking measure(struct pyro_rule_context *context, const struct pyro_suspect *suspect, look *asked,
                              struct pyro_measured *ret)
{
    const struct pyro_plans *plans = pyro_rule_plans(context);
    struct looking looking = {.context = context, .suspect = suspect};
    for (size_t q = 0; plans && q < plans->count; q++) {
        looking.plan = &plans->items[q];
        if (looking.plan->count == 0 || !pyro_suspect_covers(context->app, suspect, looking.plan->sql->id))
            continue;
        for (uint32_t i = 0; i < looking.plan->count; i++) {
            const struct pyro_plan_op *op = &looking.plan->ops[i];
            looking.stage = -1;
            double ms = op->repeated || op->engine != PYRO_ENGINE_SPARK ? 0 : asked(&looking, i);
            if (ms > 0)
                spend(&looking, i, ms, ret);
        }
    }
    return looking;
}

static double time_of(const struct looking *looking, uint32_t op, double share)
{
    return share * pyro_real(looking->plan->ops[op].time_ms);
}

static bool is_about(const struct looking *looking, const char *word)
{
    return pyro_slice_find(pyro_slice_from(looking->suspect->row->key), word) != NULL;
}

static bool is_named(const struct pyro_plan_op *op, const char *name)
{
    return pyro_slice_is(op->node->name, name);
}

/* ---- compiled code ---- */

static bool is_compilable(const struct pyro_plan_op *op)
{
    switch (op->class) {
    case PYRO_OPERATOR_FILTER:
    case PYRO_OPERATOR_PROJECT:
    case PYRO_OPERATOR_SORT_MERGE_JOIN:
    case PYRO_OPERATOR_BROADCAST_HASH_JOIN:
    case PYRO_OPERATOR_EXPAND:
    case PYRO_OPERATOR_GENERATE:
        return true;
    case PYRO_OPERATOR_AGGREGATE:
        return is_named(op, "HashAggregate");
    case PYRO_OPERATOR_LOCAL:
        return is_named(op, "Range");
    default:
        return false;
    }
}

/* Inside a frame that says how long it ran: where its method was too large, Spark leaves the frame and runs what is in
 * it row by row. */
static bool is_compiled(const struct pyro_plan_tree *plan, uint32_t op)
{
    for (uint32_t i = plan->ops[op].parent; i != PYRO_NO_OP; i = plan->ops[i].parent) {
        if (plan->ops[i].class == PYRO_OPERATOR_CODEGEN)
            return !pyro_slice_starts_with(plan->ops[i].node->name, "WholeStageCodegen") ||
                   pyro_op_metric(plan, i, PYRO_METRIC_DURATION) != PYRO_NONE;
        if (is_named(&plan->ops[i], "InputAdapter") || pyro_class_is_exchange(plan->ops[i].class))
            return false;
    }
    return false;
}

static double look_interpreted(struct looking *looking, uint32_t op)
{
    if (!is_compilable(&looking->plan->ops[op]) || is_compiled(looking->plan, op))
        return 0;
    return time_of(looking, op, is_about(looking, ".factoryMode") ? INTERPRETED_SHARE : SLOWER_SHARE);
}

void pyro_measure_interpreted(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                              struct pyro_measured *ret)
{
    measure(context, suspect, look_interpreted, ret);
}

/* ---- files ---- */

/* A scan of the format that the setting names; of both where it names none. */
static bool is_scan(const struct looking *looking, uint32_t op)
{
    struct pyro_slice name = looking->plan->ops[op].node->name;
    bool orc = pyro_slice_find(name, "orc") != NULL, parquet = pyro_slice_find(name, "parquet") != NULL;
    return looking->plan->ops[op].class == PYRO_OPERATOR_SCAN && (is_about(looking, ".orc.") ? orc : parquet);
}

/* Readers of rows do not say how long they took: they take most of the time of their stage. */
static double look_row_reads(struct looking *looking, uint32_t op)
{
    const struct pyro_plan_tree *plan = looking->plan;
    const struct pyro_app *app = looking->context->app;
    struct pyro_slice batched = pyro_op_metadata(plan, op, "Batched");
    if (!is_scan(looking, op) || !pyro_slice_is(batched, "false"))
        return 0;
    ptrdiff_t stage = stage_of(looking, op);
    bool timed = stage < 0 || pyro_op_metric(plan, op, PYRO_METRIC_SCAN_TIME) != PYRO_NONE;
    double all = timed ? 0 : SLOWER_SHARE * pyro_real(app->stages.items[stage].run_ms);
    return fmax(time_of(looking, op, SLOWER_SHARE), all);
}

void pyro_measure_row_reads(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                            struct pyro_measured *ret)
{
    measure(context, suspect, look_row_reads, ret);
}

static double look_unfiltered(struct looking *looking, uint32_t op)
{
    const struct pyro_plan_tree *plan = looking->plan;
    struct pyro_slice pushed = pyro_op_metadata(plan, op, "PushedFilters");
    if (!is_scan(looking, op) || pushed.len <= 2)
        return 0;
    uint32_t filter = pyro_op_consumer(plan, op);
    while (filter != PYRO_NO_OP && plan->ops[filter].class == PYRO_OPERATOR_TRANSITION)
        filter = pyro_op_consumer(plan, filter);
    if (filter == PYRO_NO_OP || plan->ops[filter].class != PYRO_OPERATOR_FILTER)
        return 0;
    double read = pyro_real(pyro_op_rows(plan, op)), kept = pyro_real(pyro_op_rows(plan, filter));
    bool known = pyro_op_rows(plan, filter) != PYRO_NONE;
    return known && read > 0 && kept <= SELECTIVE * read ? time_of(looking, op, 1 - kept / read) : 0;
}

void pyro_measure_unfiltered(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                             struct pyro_measured *ret)
{
    measure(context, suspect, look_unfiltered, ret);
}

/* ---- batches ---- */

/* Batches that a scan handed over: counted by itself, or by what makes rows of them. 0 when unknown. */
static double batches_of(const struct pyro_plan_tree *plan, uint32_t op)
{
    double own = pyro_op_amount(plan, op, PYRO_METRIC_BATCHES);
    uint32_t above = pyro_op_consumer(plan, op);
    return own > 0 || above == PYRO_NO_OP ? own : pyro_op_amount(plan, above, PYRO_METRIC_BATCHES);
}

static double in_small_batches(struct looking *looking, uint32_t op)
{
    double batches = batches_of(looking->plan, op), rows = pyro_real(pyro_op_rows(looking->plan, op));
    if (batches <= 0)
        return looking->suspect->factor >= FAR ? time_of(looking, op, SLOWER_SHARE) : 0;
    if (rows / batches >= FEW_ROWS)
        return 0;
    looking->rows += rows;
    looking->batches += batches;
    return fmax(time_of(looking, op, SLOWER_SHARE), batches * BATCH_MS);
}

static struct pyro_slice say_batches(const struct looking *looking)
{
    return looking->batches > 0
               ? pyro_say(looking->context, "batches have %.0f rows on average", ceil(looking->rows / looking->batches))
               : PYRO_SLICE_NULL;
}

static double look_read_batches(struct looking *looking, uint32_t op)
{
    return is_scan(looking, op) ? in_small_batches(looking, op) : 0;
}

void pyro_measure_read_batches(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                               struct pyro_measured *ret)
{
    struct looking looking = measure(context, suspect, look_read_batches, ret);
    ret->found = say_batches(&looking);
}

/* The stage that ran what a cached table was made of; -1: an earlier query did, or the stage that read it. */
static ptrdiff_t stage_that_made(const struct looking *looking, uint32_t cache)
{
    const struct pyro_plan_tree *plan = looking->plan;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t above = plan->ops[i].parent;
        while (above != PYRO_NO_OP && above != cache)
            above = plan->ops[above].parent;
        if (above == cache && stage_of(looking, i) >= 0)
            return stage_of(looking, i);
    }
    return -1;
}

/* Tasks count the batches of cached tables that they read as records. Making a batch is what takes time. */
static double look_cache_batches(struct looking *looking, uint32_t op)
{
    const struct pyro_app *app = looking->context->app;
    if (looking->plan->ops[op].class != PYRO_OPERATOR_CACHE)
        return 0;
    ptrdiff_t reader = stage_of(looking, op), maker = stage_that_made(looking, op);
    double batches = reader < 0 ? 0 : pyro_real(app->stages.items[reader].input_records);
    double rows = pyro_real(pyro_op_rows(looking->plan, op));
    if (batches <= 0 || rows < batches || maker == reader)
        return in_small_batches(looking, op);
    if (rows / batches >= FEW_ROWS || maker < 0)
        return 0;
    looking->rows += rows;
    looking->batches += batches;
    looking->stage = maker;
    return batches * CACHE_BATCH_MS;
}

void pyro_measure_cache_batches(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                                struct pyro_measured *ret)
{
    struct looking looking = measure(context, suspect, look_cache_batches, ret);
    ret->found = say_batches(&looking);
}

static double look_cache_rows(struct looking *looking, uint32_t op)
{
    return looking->plan->ops[op].class == PYRO_OPERATOR_CACHE ? time_of(looking, op, SLOWER_SHARE) : 0;
}

void pyro_measure_cache_rows(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                             struct pyro_measured *ret)
{
    measure(context, suspect, look_cache_rows, ret);
}

/* Pickled rows for BatchEvalPython, columns for all others. */
static double look_python(struct looking *looking, uint32_t op)
{
    const struct pyro_plan_op *own = &looking->plan->ops[op];
    bool pickled = pyro_slice_starts_with(own->node->name, "BatchEvalPython");
    if (own->class != PYRO_OPERATOR_PYTHON || looking->suspect->factor < FAR ||
        (is_about(looking, ".python.udf.") && !pickled) || (is_about(looking, ".arrow.") && pickled))
        return 0;
    if (!is_about(looking, ".arrow.maxRecordsPerBatch"))
        return time_of(looking, op, SLOWER_SHARE);
    double rows = pyro_real(pyro_op_rows(looking->plan, op));
    double each = pyro_setting_magnitude(looking->suspect->row, looking->suspect->value);
    looking->rows += rows;
    looking->batches += ceil(rows / each);
    return ceil(rows / each) * ARROW_BATCH_MS;
}

void pyro_measure_python(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                         struct pyro_measured *ret)
{
    struct looking looking = measure(context, suspect, look_python, ret);
    ret->found = say_batches(&looking);
}

/* ---- aggregations ---- */

static double look_sort_aggregate(struct looking *looking, uint32_t op)
{
    const struct pyro_plan_tree *plan = looking->plan;
    if (is_named(&plan->ops[op], "SortAggregate"))
        return time_of(looking, op, SLOWER_SHARE);
    uint32_t above = plan->ops[op].class == PYRO_OPERATOR_SORT ? pyro_op_consumer(plan, op) : PYRO_NO_OP;
    return above != PYRO_NO_OP && is_named(&plan->ops[above], "SortAggregate") ? time_of(looking, op, 1) : 0;
}

void pyro_measure_sort_aggregate(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                                 struct pyro_measured *ret)
{
    measure(context, suspect, look_sort_aggregate, ret);
}

static double look_sort_fallback(struct looking *looking, uint32_t op)
{
    const struct pyro_plan_tree *plan = looking->plan;
    bool objects = is_named(&plan->ops[op], "ObjectHashAggregate");
    bool fell_back = objects && pyro_op_amount(plan, op, PYRO_METRIC_SORT_FALLBACK_TASKS) > 0;
    return fell_back ? time_of(looking, op, SLOWER_SHARE) : 0;
}

void pyro_measure_sort_fallback(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                                struct pyro_measured *ret)
{
    measure(context, suspect, look_sort_fallback, ret);
}

/* ---- streams ---- */

void pyro_measure_state_commit(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                               struct pyro_measured *ret)
{
    const struct pyro_plans *plans = pyro_rule_plans(context);
    struct looking looking = {.context = context, .suspect = suspect, .stage = -1};
    for (size_t q = 0; plans && q < plans->count; q++) {
        looking.plan = &plans->items[q];
        for (uint32_t i = 0; i < looking.plan->count; i++)
            if (looking.plan->ops[i].class == PYRO_OPERATOR_STATE &&
                pyro_suspect_covers(context->app, suspect, looking.plan->sql->id))
                spend(&looking, i, pyro_op_amount(looking.plan, i, PYRO_METRIC_STATE_COMMIT_TIME), ret);
    }
}
