/* Questions about one operator of a plan. */
#include "analyze/plans/plan_build.h"

static int64_t in_unit(const struct pyro_sql_metric *metric)
{
    if (metric->value == PYRO_NONE)
        return PYRO_NONE;
    if (pyro_slice_is(metric->type, "nsTiming"))
        return metric->value / 1000000;
    return pyro_slice_is(metric->type, "average") ? metric->value / 10 : metric->value;
}

int64_t pyro_op_metric(const struct pyro_plan_tree *plan, uint32_t op, enum pyro_metric metric)
{
    int64_t value = PYRO_NONE;
    if (op >= plan->count)
        return value;
    for (uint32_t i = 0; i < plan->ops[op].metric_count; i++) {
        size_t row = plan->ops[op].first_metric + i;
        if (plan->plans->metric_ids[row] != metric)
            continue;
        int64_t found = in_unit(&plan->plans->app->sql_metrics.items[row]);
        value = found > value ? found : value;
    }
    return value;
}

double pyro_op_amount(const struct pyro_plan_tree *plan, uint32_t op, enum pyro_metric metric)
{
    int64_t value = pyro_op_metric(plan, op, metric);
    return value > 0 ? (double)value : 0;
}

/* NULL where the log has no metrics at all. */
static const struct pyro_sql_metric *metrics_of(const struct pyro_plan_tree *plan, uint32_t op)
{
    const struct pyro_sql_metric *all = plan->plans->app->sql_metrics.items;
    return all ? all + plan->ops[op].first_metric : NULL;
}

double pyro_op_longest_timing(const struct pyro_plan_tree *plan, uint32_t op)
{
    const struct pyro_sql_metric *metrics = metrics_of(plan, op);
    int64_t longest = 0;
    for (uint32_t i = 0; i < plan->ops[op].metric_count; i++) {
        if (!pyro_slice_is(metrics[i].type, "nsTiming") && !pyro_slice_is(metrics[i].type, "timing"))
            continue;
        int64_t value = in_unit(&metrics[i]);
        longest = value > longest ? value : longest;
    }
    return (double)longest;
}

int64_t pyro_op_rows(const struct pyro_plan_tree *plan, uint32_t op)
{
    return op < plan->count ? plan->ops[op].rows : PYRO_NONE;
}

int64_t pyro_op_bytes(const struct pyro_plan_tree *plan, uint32_t op)
{
    static const enum pyro_metric sizes[] = {
        PYRO_METRIC_WRITTEN_BYTES, PYRO_METRIC_DATA_SIZE,       PYRO_METRIC_SHUFFLE_BYTES,
        PYRO_METRIC_FILE_BYTES,    PYRO_METRIC_HASH_BUILD_SIZE, PYRO_METRIC_PYTHON_SENT,
    };
    int64_t bytes = PYRO_NONE;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && bytes == PYRO_NONE; i++)
        bytes = pyro_op_metric(plan, op, sizes[i]);
    return bytes;
}

/* ---- Around it --------------------------------------------------------------------------------------------------- */

bool pyro_op_is_frame(const struct pyro_plan_op *op)
{
    return op->class == PYRO_OPERATOR_CODEGEN || op->class == PYRO_OPERATOR_ADAPTIVE ||
           op->class == PYRO_OPERATOR_QUERY_STAGE || op->class == PYRO_OPERATOR_AQE_READER;
}

uint32_t pyro_op_unframe(const struct pyro_plan_tree *plan, uint32_t op)
{
    while (op < plan->count && pyro_op_is_frame(&plan->ops[op]))
        op = plan->ops[op].first_child;
    return op < plan->count ? op : PYRO_NO_OP;
}

uint32_t pyro_op_input(const struct pyro_plan_tree *plan, uint32_t op, unsigned index)
{
    if (op >= plan->count)
        return PYRO_NO_OP;
    uint32_t child = plan->ops[op].first_child;
    for (; child != PYRO_NO_OP; child = plan->ops[child].next_sibling)
        if (plan->ops[child].class != PYRO_OPERATOR_SUBQUERY && index-- == 0)
            return pyro_op_unframe(plan, child);
    return PYRO_NO_OP;
}

unsigned pyro_op_input_count(const struct pyro_plan_tree *plan, uint32_t op)
{
    unsigned count = 0;
    uint32_t child = op < plan->count ? plan->ops[op].first_child : PYRO_NO_OP;
    for (; child != PYRO_NO_OP; child = plan->ops[child].next_sibling)
        count += plan->ops[child].class != PYRO_OPERATOR_SUBQUERY;
    return count;
}

uint32_t pyro_op_consumer(const struct pyro_plan_tree *plan, uint32_t op)
{
    if (op >= plan->count)
        return PYRO_NO_OP;
    op = plan->ops[op].parent;
    while (op != PYRO_NO_OP && pyro_op_is_frame(&plan->ops[op]))
        op = plan->ops[op].parent;
    return op;
}

uint32_t pyro_op_feed(const struct pyro_plan_tree *plan, uint32_t op, enum pyro_operator_class class)
{
    for (op = pyro_op_unframe(plan, op); op != PYRO_NO_OP; op = pyro_op_input(plan, op, 0)) {
        if (plan->ops[op].class == class)
            return op;
        if (pyro_class_is_exchange(plan->ops[op].class) || pyro_op_input_count(plan, op) != 1)
            break;
    }
    return PYRO_NO_OP;
}

bool pyro_class_is_join(enum pyro_operator_class class)
{
    return class >= PYRO_OPERATOR_SORT_MERGE_JOIN && class <= PYRO_OPERATOR_CARTESIAN;
}

bool pyro_class_is_exchange(enum pyro_operator_class class)
{
    return class == PYRO_OPERATOR_SHUFFLE || class == PYRO_OPERATOR_BROADCAST || class == PYRO_OPERATOR_REUSED;
}

uint32_t pyro_op_exchange(const struct pyro_plan_tree *plan, uint32_t op)
{
    while (op < plan->count && plan->ops[op].class == PYRO_OPERATOR_REUSED)
        op = pyro_op_input(plan, op, 0);
    return op;
}

uint32_t pyro_plan_own_stage(const struct pyro_plan_tree *plan, uint32_t row)
{
    uint32_t low = 0, high = plan->own_stage_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->own_stages[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- What it says ------------------------------------------------------------------------------------------------ */

struct pyro_slice pyro_op_metadata(const struct pyro_plan_tree *plan, uint32_t op, const char *key)
{
    struct pyro_slice rest = op < plan->count ? plan->ops[op].node->metadata : PYRO_SLICE_NULL;
    size_t key_len = strlen(key);
    while (rest.len > 0) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        if (len >= key_len + 2 && memcmp(rest.ptr, key, key_len) == 0 && memcmp(rest.ptr + key_len, ": ", 2) == 0)
            return (struct pyro_slice){rest.ptr + key_len + 2, len - key_len - 2};
        len += newline ? 1 : 0;
        rest = (struct pyro_slice){rest.ptr + len, rest.len - len};
    }
    return PYRO_SLICE_NULL;
}

bool pyro_op_says(const struct pyro_plan_tree *plan, uint32_t op, const char *part)
{
    return op < plan->count && plan->ops[op].node->detail.ptr && pyro_slice_find(plan->ops[op].node->detail, part);
}
