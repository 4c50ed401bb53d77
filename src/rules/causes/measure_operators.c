/* Symptoms in plans: time of operators that ran in a slower way than they could. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/causes/measures.h"
#include "rules/finding.h"
#include "rules/plans/file_scans.h"
#include "rules/plans/plans.h"

/* Of the time of an operator that runs row by row, interpreted or in tiny batches: what the usual way saves. */
#define SLOWER_SHARE 0.5
/* Batches of fewer rows cost more to hand over than to compute; Spark's defaults are 4,096 and 10,000. */
#define FEW_ROWS 256.0
/* A setting of batch sizes this far from its default is to blame without a count of batches. */
#define FAR 8.0
/* A filter that lets a smaller share pass could have skipped parts of files. */
#define SELECTIVE 0.2

struct looking {
    struct pyro_rule_context *context;
    const struct pyro_suspect *suspect;
    const struct pyro_plan_tree *plan;
    double rows, batches; /* counted of what is slow */
};

/* The share of the operator's time that the symptom costs; 0: it does not show it. */
typedef double look(struct looking *looking, uint32_t op);

static void spend(const struct looking *looking, uint32_t op, double ms, struct pyro_measured *ret)
{
    ptrdiff_t stage = pyro_file_scan_longest_stage(looking->context->app, looking->plan, &looking->plan->ops[op]);
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
            double share = op->repeated || op->engine != PYRO_ENGINE_SPARK ? 0 : asked(&looking, i);
            if (share > 0)
                spend(&looking, i, share * pyro_real(op->time_ms), ret);
        }
    }
    return looking;
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
    return is_compilable(&looking->plan->ops[op]) && !is_compiled(looking->plan, op) ? SLOWER_SHARE : 0;
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

static double look_row_reads(struct looking *looking, uint32_t op)
{
    struct pyro_slice batched = pyro_op_metadata(looking->plan, op, "Batched");
    return is_scan(looking, op) && pyro_slice_is(batched, "false") ? SLOWER_SHARE : 0;
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
    return known && read > 0 && kept <= SELECTIVE * read ? 1 - kept / read : 0;
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
        return looking->suspect->factor >= FAR ? SLOWER_SHARE : 0;
    if (rows / batches >= FEW_ROWS)
        return 0;
    looking->rows += rows;
    looking->batches += batches;
    return SLOWER_SHARE;
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

static double look_cache_batches(struct looking *looking, uint32_t op)
{
    return looking->plan->ops[op].class == PYRO_OPERATOR_CACHE ? in_small_batches(looking, op) : 0;
}

void pyro_measure_cache_batches(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                                struct pyro_measured *ret)
{
    struct looking looking = measure(context, suspect, look_cache_batches, ret);
    ret->found = say_batches(&looking);
}

static double look_cache_rows(struct looking *looking, uint32_t op)
{
    return looking->plan->ops[op].class == PYRO_OPERATOR_CACHE ? SLOWER_SHARE : 0;
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
        (is_about(looking, ".python.udf.") && !pickled) ||
        ((is_about(looking, ".arrow.") || is_about(looking, ".pandas.")) && pickled))
        return 0;
    return SLOWER_SHARE;
}

void pyro_measure_python(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                         struct pyro_measured *ret)
{
    measure(context, suspect, look_python, ret);
}

/* ---- aggregations ---- */

static double look_sort_aggregate(struct looking *looking, uint32_t op)
{
    const struct pyro_plan_tree *plan = looking->plan;
    if (is_named(&plan->ops[op], "SortAggregate"))
        return SLOWER_SHARE;
    uint32_t above = plan->ops[op].class == PYRO_OPERATOR_SORT ? pyro_op_consumer(plan, op) : PYRO_NO_OP;
    return above != PYRO_NO_OP && is_named(&plan->ops[above], "SortAggregate") ? 1 : 0;
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
    return objects && pyro_op_amount(plan, op, PYRO_METRIC_SORT_FALLBACK_TASKS) > 0 ? SLOWER_SHARE : 0;
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
    struct looking looking = {.context = context, .suspect = suspect};
    for (size_t q = 0; plans && q < plans->count; q++) {
        looking.plan = &plans->items[q];
        for (uint32_t i = 0; i < looking.plan->count; i++)
            if (looking.plan->ops[i].class == PYRO_OPERATOR_STATE &&
                pyro_suspect_covers(context->app, suspect, looking.plan->sql->id))
                spend(&looking, i, pyro_op_amount(looking.plan, i, PYRO_METRIC_STATE_COMMIT_TIME), ret);
    }
}
