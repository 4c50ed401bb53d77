/* Trees of operators, their metrics and their stages. Time is attributed in plan_time.c. */
#include "analyze/plans/plan_tree.h"

#include <stdlib.h>

#include "analyze/plans/plan_build.h"
#include "analyze/row_index.h"
#include "base/collections/map.h"
#include "base/numbers/varint.h"

static const struct {
    const char *name;
    unsigned char id;
} metric_names[] = {
#define PYRO_METRIC(id, name) {name, PYRO_METRIC_##id},
#include "analyze/plans/metrics.def"
#undef PYRO_METRIC
};

static enum pyro_metric find_metric(struct pyro_slice name)
{
    for (size_t i = 0; i < sizeof(metric_names) / sizeof(*metric_names); i++)
        if (pyro_slice_is(name, metric_names[i].name))
            return metric_names[i].id;
    return PYRO_METRIC_UNKNOWN;
}

/* Names are interned, so that each is looked up once. */
static bool name_metrics(struct pyro_plans *plans)
{
    const struct pyro_app *app = plans->app;
    struct pyro_map known;
    pyro_map_init(&known, app->allocator);
    bool ok = true;
    for (size_t i = 0; i < app->sql_metrics.count && ok; i++) {
        struct pyro_slice name = app->sql_metrics.items[i].name;
        bool added = false;
        uint64_t *id = pyro_map_put(&known, (uint64_t)(uintptr_t)name.ptr, &added);
        ok = id != NULL;
        if (ok && added)
            *id = find_metric(name);
        if (ok)
            plans->metric_ids[i] = (unsigned char)*id;
    }
    pyro_map_done(&known);
    return ok;
}

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

static bool ends_segment(const struct pyro_plan_tree *plan, uint32_t op)
{
    switch (plan->ops[op].class) {
    case PYRO_OPERATOR_SHUFFLE:
    case PYRO_OPERATOR_BROADCAST:
    case PYRO_OPERATOR_REUSED:
    case PYRO_OPERATOR_CACHE:
        return true;
    case PYRO_OPERATOR_LIMIT: /* limits may shuffle by themselves */
        return pyro_op_metric(plan, op, PYRO_METRIC_SHUFFLE_ROWS) > 0;
    default:
        return false;
    }
}

static void link_ops(struct pyro_plan_tree *plan, const struct pyro_sql_node *nodes)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct pyro_operator *known = nodes[i].known;
        struct pyro_plan_op *op = &plan->ops[i];
        *op = (struct pyro_plan_op){
            .node = &nodes[i],
            .class = known ? known->operator_class : PYRO_OPERATOR_UNKNOWN,
            .engine = known ? known->engine : PYRO_ENGINE_SPARK,
            .parent = PYRO_NO_OP,
            .first_child = PYRO_NO_OP,
            .next_sibling = PYRO_NO_OP,
            .rows = PYRO_NONE,
        };
        plan->unknown_count += op->class == PYRO_OPERATOR_UNKNOWN;
        if (nodes[i].parent < 0 || nodes[i].parent >= i)
            continue;
        op->parent = (uint32_t)nodes[i].parent;
        const struct pyro_plan_op *parent = &plan->ops[op->parent];
        op->repeated = parent->repeated || parent->class == PYRO_OPERATOR_REUSED;
        op->cached = parent->cached || parent->class == PYRO_OPERATOR_CACHE;
    }
    for (uint32_t i = plan->count; i-- > 1;) { /* children in their order */
        struct pyro_plan_op *op = &plan->ops[i];
        if (op->parent != PYRO_NO_OP) {
            op->next_sibling = plan->ops[op->parent].first_child;
            plan->ops[op->parent].first_child = i;
        }
    }
}

static void take_metrics(struct pyro_plan_tree *plan, size_t first, size_t end)
{
    const struct pyro_sql_metric *metrics = plan->plans->app->sql_metrics.items;
    for (size_t i = first; i < end; i++) {
        if (metrics[i].node < 0 || metrics[i].node >= plan->count)
            continue;
        struct pyro_plan_op *op = &plan->ops[metrics[i].node];
        if (op->metric_count == 0)
            op->first_metric = (uint32_t)i;
        op->metric_count++;
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool passes_rows(enum pyro_operator_class class)
{
    switch (class) {
    case PYRO_OPERATOR_PROJECT:
    case PYRO_OPERATOR_SORT:
    case PYRO_OPERATOR_WINDOW:
    case PYRO_OPERATOR_REUSED:
    case PYRO_OPERATOR_AQE_READER:
    case PYRO_OPERATOR_QUERY_STAGE:
    case PYRO_OPERATOR_CODEGEN:
    case PYRO_OPERATOR_ADAPTIVE:
    case PYRO_OPERATOR_TRANSITION:
    case PYRO_OPERATOR_UNION:
    case PYRO_OPERATOR_COALESCE:
    case PYRO_OPERATOR_SHUFFLE:
    case PYRO_OPERATOR_BROADCAST:
    case PYRO_OPERATOR_WRITE:
        return true;
    default:
        return false;
    }
}

/* Operators that Spark always counts the rows of. */
static bool counts_rows(const struct pyro_plan_op *op)
{
    switch (op->class) {
    case PYRO_OPERATOR_SCAN:
    case PYRO_OPERATOR_FILTER:
    case PYRO_OPERATOR_AGGREGATE:
    case PYRO_OPERATOR_GENERATE:
    case PYRO_OPERATOR_EXPAND:
        return op->engine == PYRO_ENGINE_SPARK;
    default:
        return pyro_class_is_join(op->class) && op->engine == PYRO_ENGINE_SPARK;
    }
}

/* Its stages are all over, and well. */
static bool has_run(const struct pyro_plan_tree *plan, const struct pyro_plan_op *op)
{
    const struct pyro_app *app = plan->plans->app;
    for (uint32_t i = 0; i < op->stage_count; i++)
        if (!pyro_slice_is(app->stages.items[plan->stages[op->first_stage + i]].status, "succeeded"))
            return false;
    return op->stage_count > 0;
}

static int64_t rows_of(const struct pyro_plan_tree *plan, uint32_t i)
{
    const struct pyro_plan_op *op = &plan->ops[i];
    int64_t rows = pyro_op_metric(plan, i, PYRO_METRIC_ROWS);
    if (rows == PYRO_NONE && op->class == PYRO_OPERATOR_SHUFFLE) {
        rows = pyro_op_metric(plan, i, PYRO_METRIC_SHUFFLE_ROWS);
        if (rows == PYRO_NONE)
            rows = pyro_op_metric(plan, i, PYRO_METRIC_SHUFFLE_READ_ROWS);
    }
    if (rows != PYRO_NONE)
        return rows;
    if (!passes_rows(op->class)) /* Spark does not log totals of 0 */
        return counts_rows(op) && has_run(plan, op) ? 0 : PYRO_NONE;
    for (uint32_t c = op->first_child; c != PYRO_NO_OP; c = plan->ops[c].next_sibling) {
        if (plan->ops[c].class == PYRO_OPERATOR_SUBQUERY)
            continue;
        if (plan->ops[c].rows == PYRO_NONE)
            return PYRO_NONE;
        if (__builtin_add_overflow(rows == PYRO_NONE ? 0 : rows, plan->ops[c].rows, &rows))
            rows = INT64_MAX;
    }
    return rows;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

/* Rows of stages by the SQL execution that they belong to, grouped; `first` has an entry more than executions. */
static bool group_stages(const struct pyro_app *app, uint32_t *first, uint32_t *rows)
{
    struct pyro_index index;
    uint32_t *next = pyro_allocate(app->allocator, (app->sql.count + 1) * sizeof(*next));
    int32_t *owner = pyro_allocate(app->allocator, (app->stages.count + 1) * sizeof(*owner));
    bool ok = next && owner && pyro_index_sql(&index, app);
    if (ok) {
        for (size_t i = 0; i < app->stages.count; i++) {
            size_t entry;
            bool found =
                app->stages.items[i].sql != PYRO_NONE && pyro_index_find(&index, app->stages.items[i].sql, &entry);
            owner[i] = found ? (int32_t)index.entries[entry].row : -1;
            first[owner[i] + 1] += found;
        }
        pyro_index_done(&index);
        first[0] = 0;
        for (size_t i = 0; i < app->sql.count; i++) {
            first[i + 1] += first[i];
            next[i] = first[i];
        }
        for (size_t i = 0; i < app->stages.count; i++)
            if (owner[i] >= 0)
                rows[next[owner[i]]++] = (uint32_t)i;
    }
    pyro_release(app->allocator, next);
    pyro_release(app->allocator, owner);
    return ok;
}

struct accumulator {
    int64_t id;
    uint32_t metric;
};

static int by_id(const void *left, const void *right)
{
    const struct accumulator *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->metric < b->metric ? -1 : a->metric > b->metric;
}

/* Metrics of the plan by accumulator, those of repeated operators left out. */
static size_t list_accumulators(const struct pyro_plan_tree *plan, struct accumulator *list)
{
    const struct pyro_sql_metric *metrics = plan->plans->app->sql_metrics.items;
    size_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct pyro_plan_op *op = &plan->ops[i];
        for (uint32_t m = 0; m < op->metric_count && !op->repeated; m++)
            if (metrics[op->first_metric + m].accumulator != PYRO_NONE)
                list[count++] = (struct accumulator){metrics[op->first_metric + m].accumulator, op->first_metric + m};
    }
    if (count > 1)
        qsort(list, count, sizeof(*list), by_id);
    return count;
}

static size_t find_accumulator(const struct accumulator *list, size_t count, int64_t id)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An exchange is written in the segment below it and read in its own one. */
static uint32_t metric_segment(const struct pyro_plan_segments *segments, const struct pyro_plan_tree *plan,
                               uint32_t op, enum pyro_metric id)
{
    if (plan->ops[op].class != PYRO_OPERATOR_SHUFFLE || plan->ops[op].first_child == PYRO_NO_OP)
        return segments->segment[op];
    bool written = id == PYRO_METRIC_SHUFFLE_BYTES || id == PYRO_METRIC_SHUFFLE_ROWS || id == PYRO_METRIC_DATA_SIZE ||
                   id == PYRO_METRIC_SHUFFLE_WRITE_TIME;
    return segments->segment[written ? plan->ops[op].first_child : op];
}

static bool add_tie(struct pyro_plan_segments *segments, uint32_t owner, uint32_t stage, uint32_t *last)
{
    if (last[owner] == stage + 1)
        return true;
    last[owner] = stage + 1; /* stages come ascending */
    if (!pyro_vec_reserve(&segments->ties, 1, segments->allocator))
        return false;
    segments->ties.items[segments->ties.count++] = (struct pyro_plan_tie){owner, stage};
    return true;
}

/* Which operators and which segments (numbered on from plan->count) each stage ran, by the accumulators that it
 * updated. */
static bool tie_stages(struct pyro_plan_segments *segments, const struct pyro_plan_tree *plan, struct accumulator *list,
                       uint32_t *last)
{
    const struct pyro_app *app = plan->plans->app;
    size_t count = list_accumulators(plan, list);
    memset(last, 0, 2 * (size_t)plan->count * sizeof(*last));
    segments->ties.count = 0;
    for (uint32_t s = 0; s < plan->own_stage_count; s++) {
        struct pyro_slice ids = app->stages.items[plan->own_stages[s]].accumulators;
        int64_t id = 0;
        while (pyro_varint_take(&ids, &id)) {
            for (size_t i = find_accumulator(list, count, id); i < count && list[i].id == id; i++) {
                uint32_t metric = list[i].metric, op = (uint32_t)app->sql_metrics.items[metric].node;
                uint32_t segment = metric_segment(segments, plan, op, plan->plans->metric_ids[metric]);
                if (!add_tie(segments, op, s, last) || !add_tie(segments, plan->count + segment, s, last))
                    return false;
            }
        }
    }
    return true;
}

/* Lists the ties by owner; operators without any take those of their segment. */
static bool list_stages(struct pyro_plan_segments *segments, struct pyro_plan_tree *plan, struct pyro_arena *arena,
                        uint32_t *first)
{
    size_t owners = 2 * (size_t)plan->count;
    memset(first, 0, (owners + 1) * sizeof(*first));
    for (size_t i = 0; i < segments->ties.count; i++)
        first[segments->ties.items[i].owner + 1]++;
    for (size_t i = 0; i < owners; i++)
        first[i + 1] += first[i];
    plan->stages = pyro_arena_array(arena, segments->ties.count + 1, sizeof(*plan->stages));
    if (!plan->stages)
        return false;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t owner = first[i + 1] > first[i] ? i : plan->count + segments->segment[i];
        if (plan->ops[i].repeated)
            continue;
        plan->ops[i].first_stage = first[owner];
        plan->ops[i].stage_count = first[owner + 1] - first[owner];
    }
    for (size_t i = 0; i < segments->ties.count; i++)
        plan->stages[first[segments->ties.items[i].owner]++] = plan->own_stages[segments->ties.items[i].stage];
    return true;
}

static void find_segments(struct pyro_plan_segments *segments, const struct pyro_plan_tree *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t parent = plan->ops[i].parent;
        bool begins =
            parent == PYRO_NO_OP || ends_segment(plan, parent) || plan->ops[i].class == PYRO_OPERATOR_SUBQUERY;
        segments->segment[i] = begins ? count++ : segments->segment[parent];
    }
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

static bool build_plan(struct pyro_plan_segments *segments, struct pyro_plan_tree *plan, struct pyro_arena *arena)
{
    size_t room = plan->count;
    size_t metrics = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        metrics += plan->ops[i].metric_count;
    struct pyro_arena scratch;
    pyro_arena_init(&scratch, segments->allocator);
    segments->segment = pyro_arena_array(&scratch, room + 1, sizeof(*segments->segment));
    struct accumulator *list = pyro_arena_array(&scratch, metrics + 1, sizeof(*list));
    uint32_t *numbers = pyro_arena_array(&scratch, 2 * room + 2, sizeof(*numbers));
    bool ok = segments->segment && list && numbers;
    if (ok) {
        find_segments(segments, plan);
        ok = tie_stages(segments, plan, list, numbers) && list_stages(segments, plan, arena, numbers);
    }
    for (uint32_t i = plan->count; i-- > 0 && ok;)
        plan->ops[i].rows = rows_of(plan, i);
    ok = ok && pyro_plan_attribute(segments, plan, &scratch);
    pyro_arena_done(&scratch);
    return ok;
}

static bool build_plans(struct pyro_plans *plans, struct pyro_arena *arena, const uint32_t *first_stage,
                        const uint32_t *stages)
{
    const struct pyro_app *app = plans->app;
    struct pyro_plan_segments segments = {.allocator = app->allocator};
    size_t node = 0, metric = 0;
    bool ok = true;
    for (size_t i = 0; i < plans->count && ok; i++) {
        struct pyro_plan_tree *plan = &plans->items[i];
        int64_t sql = app->sql.items[i].id;
        size_t begin = node, first_metric = metric;
        while (node < app->sql_nodes.count && app->sql_nodes.items[node].sql == sql)
            node++;
        while (metric < app->sql_metrics.count && app->sql_metrics.items[metric].sql == sql)
            metric++;
        *plan = (struct pyro_plan_tree){
            .sql = &app->sql.items[i],
            .count = (uint32_t)(node - begin),
            .own_stages = stages + first_stage[i],
            .own_stage_count = first_stage[i + 1] - first_stage[i],
            .plans = plans,
        };
        plan->ops = pyro_arena_array(arena, plan->count + (size_t)1, sizeof(*plan->ops));
        if (!plan->ops) {
            ok = false;
            break;
        }
        link_ops(plan, plan->count ? &app->sql_nodes.items[begin] : NULL);
        take_metrics(plan, first_metric, metric);
        ok = build_plan(&segments, plan, arena);
    }
    pyro_vec_done(&segments.ties, segments.allocator);
    return ok;
}

const struct pyro_plans *pyro_plans_new(const struct pyro_app *app, struct pyro_arena *arena)
{
    struct pyro_plans *plans = pyro_arena_alloc(arena, sizeof(*plans));
    uint32_t *first_stage = pyro_arena_array(arena, app->sql.count + 2, sizeof(*first_stage));
    uint32_t *stages = pyro_arena_array(arena, app->stages.count + 1, sizeof(*stages));
    if (!plans || !first_stage || !stages || app->sql_metrics.count >= UINT32_MAX || app->sql_nodes.count >= INT32_MAX)
        return NULL;
    *plans = (struct pyro_plans){.app = app, .count = app->sql.count};
    plans->items = pyro_arena_array(arena, plans->count + 1, sizeof(*plans->items));
    plans->metric_ids = pyro_arena_array(arena, app->sql_metrics.count + 1, sizeof(*plans->metric_ids));
    if (!plans->items || !plans->metric_ids || !name_metrics(plans) || !group_stages(app, first_stage, stages) ||
        !build_plans(plans, arena, first_stage, stages))
        return NULL;
    return plans;
}
