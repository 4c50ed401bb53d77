/* Nodes between two exchanges are one group, and a group is one stage: the one that the largest task of a metric of its
 * first nodes ran in. Groups without any get the stages that are left, the last stage first. */
#include "rules/profiles/dataflint.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers/varint.h"

struct pyro_slice pyro_dataflint_name(const struct pyro_dataflint_graph *graph, uint32_t node)
{
    struct pyro_slice name = graph->plan->ops[graph->nodes[node].op].node->name;
    while (name.len > 0 && name.ptr[name.len - 1] == ' ')
        name.len--;
    return name;
}

/* What the History Server's graph leaves out: what it holds hangs below the next operator above. */
static bool is_left_out(struct pyro_slice name)
{
    return pyro_slice_starts_with(name, "WholeStageCodegen") || pyro_slice_starts_with(name, "InputAdapter") ||
           pyro_slice_starts_with(name, "ShuffleQueryStage") || pyro_slice_starts_with(name, "BroadcastQueryStage") ||
           pyro_slice_starts_with(name, "TableCacheQueryStage");
}

static bool is_exchange(const struct pyro_dataflint_graph *graph, uint32_t node)
{
    struct pyro_slice name = pyro_dataflint_name(graph, node);
    if (!name.ptr)
        return false;
    const char *blank = memchr(name.ptr, ' ', name.len);
    if (blank && blank > name.ptr)
        name.len = (size_t)(blank - name.ptr);
    return pyro_slice_is(name, "Exchange") || pyro_slice_is(name, "BroadcastExchange") ||
           pyro_slice_is(name, "ResultQueryStage");
}

static bool make_nodes(struct pyro_dataflint_graph *graph, struct pyro_arena *arena)
{
    const struct pyro_plan_tree *plan = graph->plan;
    uint32_t *last = pyro_arena_array(arena, plan->count + 1, sizeof(*last)); /* newest child of each node */
    uint32_t *places = pyro_arena_array(arena, plan->count + 1, sizeof(*places));
    graph->nodes = pyro_arena_array(arena, plan->count + 1, sizeof(*graph->nodes));
    if (!last || !places || !graph->nodes)
        return false;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct pyro_plan_op *op = &plan->ops[i];
        uint32_t parent = op->parent == PYRO_NO_OP ? PYRO_NO_NODE : places[op->parent];
        bool reused = op->class == PYRO_OPERATOR_REUSED;
        places[i] = parent;
        if (op->repeated || is_left_out(op->node->name))
            continue;
        uint32_t exchange = reused ? pyro_op_exchange(plan, i) : i;
        uint32_t node = places[i] = graph->count++;
        graph->nodes[node] = (struct pyro_dataflint_node){.op = exchange == PYRO_NO_OP ? i : exchange,
                                                          .parent = parent,
                                                          .first_child = PYRO_NO_NODE,
                                                          .next_sibling = PYRO_NO_NODE,
                                                          .reused = reused,
                                                          .stage = -1,
                                                          .write = -1,
                                                          .read = -1};
        last[node] = PYRO_NO_NODE;
        if (parent == PYRO_NO_NODE)
            continue;
        if (last[parent] == PYRO_NO_NODE)
            graph->nodes[parent].first_child = node;
        else
            graph->nodes[last[parent]].next_sibling = node;
        last[parent] = node;
        graph->nodes[parent].child_count++;
    }
    return true;
}

struct accumulator {
    int64_t id;
    uint32_t metric; /* row of app->sql_metrics */
};

static int by_id(const void *left, const void *right)
{
    const struct accumulator *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

struct metric_stages {
    uint32_t first, count; /* rows of app->sql_metrics of this plan */
    int64_t *stages;       /* row of app->stages, or -1 */
};

/* Only metrics that tell a largest task name a stage: not sums, and not those of a stage of one task. Of several stages
 * that updated a metric the one with the longest task is taken. */
static bool find_metric_stages(const struct pyro_plan_tree *plan, struct pyro_arena *arena, struct metric_stages *ret)
{
    const struct pyro_app *app = plan->plans->app;
    uint32_t first = UINT32_MAX, end = 0, count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct pyro_plan_op *op = &plan->ops[i];
        if (op->metric_count == 0)
            continue;
        first = op->first_metric < first ? op->first_metric : first;
        end = op->first_metric + op->metric_count > end ? op->first_metric + op->metric_count : end;
    }
    first = first < end ? first : end;
    *ret = (struct metric_stages){first, end - first, pyro_arena_array(arena, end - first + 1, sizeof(*ret->stages))};
    struct accumulator *list = pyro_arena_array(arena, end - first + 1, sizeof(*list));
    if (!ret->stages || !list)
        return false;
    for (uint32_t row = first; row < end; row++) {
        ret->stages[row - first] = -1;
        if (!pyro_slice_is(app->sql_metrics.items[row].type, "sum") && app->sql_metrics.items[row].value != PYRO_NONE)
            list[count++] = (struct accumulator){app->sql_metrics.items[row].accumulator, row};
    }
    if (count > 1)
        qsort(list, count, sizeof(*list), by_id);
    for (uint32_t s = 0; s < plan->own_stage_count; s++) {
        const struct pyro_stage *stage = &app->stages.items[plan->own_stages[s]];
        struct pyro_slice ids = stage->accumulators;
        for (int64_t id = 0; stage->tasks > 1 && pyro_varint_take(&ids, &id);) {
            struct accumulator key = {id, 0};
            struct accumulator *found = count > 0 ? bsearch(&key, list, count, sizeof(*list), by_id) : NULL;
            if (!found)
                continue;
            while (found > list && found[-1].id == id)
                found--;
            for (; found < list + count && found->id == id; found++) {
                int64_t *known = &ret->stages[found->metric - first];
                if (*known < 0 || stage->duration_max > app->stages.items[*known].duration_max)
                    *known = plan->own_stages[s];
            }
        }
    }
    return true;
}

static int64_t stage_by_metrics(const struct pyro_dataflint_graph *graph, uint32_t node,
                                const struct metric_stages *metrics)
{
    const struct pyro_plan_op *op = &graph->plan->ops[graph->nodes[node].op];
    for (uint32_t i = op->first_metric; i < op->first_metric + op->metric_count; i++)
        if (metrics->stages[i - metrics->first] >= 0)
            return metrics->stages[i - metrics->first];
    return -1;
}

struct group {
    uint32_t start, exchange; /* its first node; the exchange that it writes, PYRO_NO_NODE for a root */
    uint32_t first, count;    /* entries of groups->order */
    int64_t stage;
};

struct groups {
    struct group *items;
    uint32_t count, *order, ordered;
    uint32_t *stack, depth; /* groups to be collected */
    uint32_t *reader;       /* of each exchange: the group that reads it */
};

static void add_group(struct groups *groups, uint32_t start, uint32_t exchange)
{
    groups->items[groups->count] = (struct group){start, exchange, 0, 0, -1};
    groups->stack[groups->depth++] = groups->count++;
}

/* Breadth first down to the exchanges; what is below these are further groups. */
static void collect(const struct pyro_dataflint_graph *graph, struct groups *groups, uint32_t index, uint32_t *found)
{
    struct group *group = &groups->items[index];
    uint32_t exchanges = 0;
    group->first = groups->ordered;
    if (is_exchange(graph, group->start))
        found[exchanges++] = group->start;
    else
        groups->order[groups->ordered++] = group->start;
    for (uint32_t i = group->first; i < groups->ordered; i++)
        for (uint32_t child = graph->nodes[groups->order[i]].first_child; child != PYRO_NO_NODE;
             child = graph->nodes[child].next_sibling) {
            if (is_exchange(graph, child))
                found[exchanges++] = child;
            else
                groups->order[groups->ordered++] = child;
        }
    group->count = groups->ordered - group->first;
    /* The last is put on the stack first, so that groups are collected in the order of their exchanges. */
    for (uint32_t i = exchanges; i-- > 0;) {
        groups->reader[found[i]] = index;
        uint32_t bottom = groups->depth;
        for (uint32_t child = graph->nodes[found[i]].first_child; child != PYRO_NO_NODE;
             child = graph->nodes[child].next_sibling)
            add_group(groups, child, found[i]);
        for (uint32_t low = bottom, high = groups->depth; low + 1 < high; low++, high--) {
            uint32_t kept = groups->stack[low];
            groups->stack[low] = groups->stack[high - 1];
            groups->stack[high - 1] = kept;
        }
    }
}

static int descending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

static int64_t stage_id(const struct pyro_dataflint_graph *graph, int64_t row)
{
    return graph->plan->plans->app->stages.items[row].id;
}

/* Stages that no group has, the newest to the first group without one, and so on. `numbers` are groups in the order
 * in which they were collected. */
static bool give_rest(const struct pyro_dataflint_graph *graph, struct groups *groups, const uint32_t *numbers,
                      struct pyro_arena *arena)
{
    const struct pyro_plan_tree *plan = graph->plan;
    int64_t *taken = pyro_arena_array(arena, groups->count + 1, sizeof(*taken));
    uint32_t taken_count = 0, next = 0;
    if (!taken)
        return false;
    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->items[i].stage >= 0)
            taken[taken_count++] = stage_id(graph, groups->items[i].stage);
    if (taken_count > 1)
        qsort(taken, taken_count, sizeof(*taken), descending);
    int64_t before = PYRO_NONE;
    for (uint32_t s = plan->own_stage_count; s-- > 0;) { /* rows ascend with ids */
        int64_t id = stage_id(graph, plan->own_stages[s]);
        if (id == before || (taken_count > 0 && bsearch(&id, taken, taken_count, sizeof(*taken), descending)))
            continue;
        before = id;
        while (next < groups->count && groups->items[numbers[next]].stage >= 0)
            next++;
        if (next == groups->count)
            break;
        groups->items[numbers[next++]].stage = plan->own_stages[s];
    }
    return true;
}

static bool assign_stages(struct pyro_dataflint_graph *graph, struct pyro_arena *arena)
{
    struct metric_stages metrics;
    size_t room = (size_t)graph->count + 1;
    struct groups groups = {.items = pyro_arena_array(arena, room, sizeof(*groups.items)),
                            .order = pyro_arena_array(arena, room, sizeof(*groups.order)),
                            .stack = pyro_arena_array(arena, room, sizeof(*groups.stack)),
                            .reader = pyro_arena_array(arena, room, sizeof(*groups.reader))};
    uint32_t *numbers = pyro_arena_array(arena, room, sizeof(*numbers)), collected = 0;
    uint32_t *found = pyro_arena_array(arena, room, sizeof(*found));
    if (!find_metric_stages(graph->plan, arena, &metrics) || !groups.items || !groups.order || !groups.stack ||
        !groups.reader || !numbers || !found)
        return false;
    for (uint32_t root = 0; root < graph->count; root++) {
        if (graph->nodes[root].parent != PYRO_NO_NODE)
            continue;
        for (add_group(&groups, root, PYRO_NO_NODE); groups.depth > 0;) {
            numbers[collected++] = groups.stack[--groups.depth];
            collect(graph, &groups, numbers[collected - 1], found);
        }
    }
    for (uint32_t i = 0; i < groups.count; i++) {
        struct group *group = &groups.items[i];
        for (uint32_t n = group->first; n < group->first + group->count && group->stage < 0; n++)
            group->stage = stage_by_metrics(graph, groups.order[n], &metrics);
        if (group->stage < 0 && group->exchange != PYRO_NO_NODE)
            group->stage = stage_by_metrics(graph, group->exchange, &metrics);
    }
    if (!give_rest(graph, &groups, numbers, arena))
        return false;
    for (uint32_t i = 0; i < groups.count; i++) {
        const struct group *group = &groups.items[i];
        for (uint32_t n = group->first; n < group->first + group->count; n++)
            graph->nodes[groups.order[n]].stage = group->stage;
        if (group->exchange == PYRO_NO_NODE)
            continue;
        graph->nodes[group->exchange].write = group->stage;
        graph->nodes[group->exchange].read = groups.items[groups.reader[group->exchange]].stage;
    }
    return true;
}

bool pyro_dataflint_graph(struct pyro_dataflint_graph *graph, const struct pyro_plan_tree *plan,
                          struct pyro_arena *arena)
{
    struct pyro_arena scratch;
    *graph = (struct pyro_dataflint_graph){.plan = plan};
    pyro_arena_init(&scratch, arena->allocator);
    bool ok = make_nodes(graph, arena) && assign_stages(graph, &scratch);
    pyro_arena_done(&scratch);
    return ok;
}
