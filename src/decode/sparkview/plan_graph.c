/* From a plan as events carry it to the graph that Spark's SparkPlanGraph makes of it: operators inside a
 * WholeStageCodegen belong to it, adapters and query stages are dropped, what is used again is one node. */
#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/eventlog/keys.h"
#include "decode/sparkview/sql.h"

enum { NONE = -1 };

/* An operator of the plan as it is written. */
struct operator
{
    struct pyro_slice name, text; /* text as between its quotes */
    uint32_t identity;            /* equal for operators whose names, texts and children are equal */
    int32_t first, last, next;    /* children, and the next child of the same parent; NONE */
    uint32_t metric, metric_count;
};

struct graph {
    struct pyro_history *history;
    struct pyro_history_sql *sql;
    struct pyro_string_pool *identities;
    struct pyro_strbuf scratch;
    PYRO_VEC(struct operator) operators;
    PYRO_VEC(struct pyro_history_sql_metric) metrics; /* as read */
    struct pyro_map exchanges;                        /* identity -> node + 1 */
    bool failed, refused;
};

static struct pyro_slice keep(struct graph *graph, struct pyro_slice raw)
{
    pyro_strbuf_clear(&graph->scratch);
    pyro_text_decode(&graph->scratch, raw, NULL);
    struct pyro_slice kept = graph->scratch.failed
                                 ? PYRO_SLICE_NULL
                                 : pyro_intern_slice(graph->history->strings, pyro_strbuf_slice(&graph->scratch));
    graph->failed |= !kept.ptr;
    return kept;
}

/* ---- Reading ---- */

static void read_metric(struct pyro_json_reader *json, struct graph *graph)
{
    struct pyro_json_object object;
    struct pyro_slice name = PYRO_SLICE_LITERAL(""), type = PYRO_SLICE_LITERAL("");
    int64_t accumulator = 0;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, plan_metric_keys)) != PYRO_JSON_END;) {
        if (key == METRIC_NAME)
            pyro_json_take_string(json, &name, NULL);
        else if (key == METRIC_ACCUMULATOR)
            pyro_json_take_int(json, &accumulator);
        else if (key == METRIC_TYPE)
            pyro_json_take_string(json, &type, NULL);
        else
            pyro_json_skip(json);
    }
    struct pyro_history_sql_metric *metric = pyro_vec_push(&graph->metrics, NULL);
    graph->failed |= !metric;
    if (metric)
        *metric = (struct pyro_history_sql_metric){keep(graph, name), keep(graph, type), accumulator};
}

/* Name, text and the numbers of its children, which say the same of what lies below. */
static uint32_t identify(struct graph *graph, int32_t row)
{
    struct pyro_strbuf *scratch = &graph->scratch;
    const struct operator* operator= & graph->operators.items[row];
    pyro_strbuf_clear(scratch);
    pyro_strbuf_printf(scratch, "%zu ", operator->name.len);
    pyro_strbuf_add_slice(scratch, operator->name);
    pyro_strbuf_printf(scratch, " %zu ", operator->text.len);
    pyro_strbuf_add_slice(scratch, operator->text);
    for (int32_t child = operator->first; child != NONE; child = graph->operators.items[child].next)
        pyro_strbuf_printf(scratch, " %u", graph->operators.items[child].identity);
    uint32_t identity = scratch->failed ? UINT32_MAX : pyro_intern(graph->identities, pyro_strbuf_slice(scratch));
    graph->failed |= identity == UINT32_MAX;
    return identity;
}

static void add_child(struct graph *graph, int32_t parent, int32_t child)
{
    struct operator* above = & graph->operators.items[parent];
    if (above->first == NONE)
        above->first = child;
    else
        graph->operators.items[above->last].next = child;
    above->last = child;
}

/* Nesting is bounded by the reader: PYRO_JSON_DEPTH. */
static int32_t read_operator(struct pyro_json_reader *json, struct graph *graph)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return NONE;
    struct operator* added = pyro_vec_push(&graph->operators, NULL);
    graph->failed |= !added || graph->operators.count > INT32_MAX;
    if (graph->failed)
        return NONE;
    int32_t row = (int32_t)graph->operators.count - 1;
    struct operator operator= {
        .name = PYRO_SLICE_LITERAL(""), .text = PYRO_SLICE_LITERAL(""), .first = NONE, .last = NONE, .next = NONE};
    *added = operator;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, plan_node_keys)) != PYRO_JSON_END && !graph->failed;) {
        if (key == NODE_NAME) {
            pyro_json_take_string(json, &operator.name, NULL);
        } else if (key == NODE_TEXT) {
            pyro_json_take_string(json, &operator.text, NULL);
        } else if (key == NODE_CHILDREN && pyro_json_peek(json) == '[') {
            pyro_json_enter_array(json);
            for (bool first = true; pyro_json_next_element(json, &first) && !graph->failed;) {
                int32_t child = read_operator(json, graph);
                if (child != NONE)
                    add_child(graph, row, child);
            }
        } else if (key == NODE_METRICS && pyro_json_peek(json) == '[') {
            operator.metric =(uint32_t) graph->metrics.count;
            pyro_json_enter_array(json);
            for (bool first = true; pyro_json_next_element(json, &first) && !graph->failed;)
                read_metric(json, graph);
            operator.metric_count =(uint32_t) graph->metrics.count - operator.metric;
        } else {
            pyro_json_skip(json);
        }
    }
    struct operator* place = & graph->operators.items[row];
    operator.first = place->first;
    operator.last = place->last;
    operator.name = operator.name.ptr ? keep(graph, operator.name) : PYRO_SLICE_LITERAL("");
    *place = operator;
    if (!graph->failed)
        graph->operators.items[row].identity = identify(graph, row);
    return row;
}

/* ---- The graph ---- */

static int64_t add_node(struct graph *graph, const struct operator* operator, int64_t cluster)
{
    struct pyro_history_sql *sql = graph->sql;
    struct pyro_history_sql_node *node = pyro_vec_push(&sql->nodes, NULL);
    graph->failed |= !node;
    if (!node)
        return NONE;
    *node = (struct pyro_history_sql_node){operator->name, cluster, (uint32_t)sql->metrics.count, 0};
    for (uint32_t i = 0; i < operator->metric_count; i++) {
        struct pyro_history_sql_metric *metric = pyro_vec_push(&sql->metrics, NULL);
        graph->failed |= !metric;
        if (!metric)
            return NONE;
        *metric = graph->metrics.items[operator->metric + i];
        node->metric_count++;
    }
    return (int64_t)sql->nodes.count - 1;
}

static void add_edge(struct graph *graph, int64_t from, int64_t to)
{
    struct pyro_history_sql_edge *edge = pyro_vec_push(&graph->sql->edges, NULL);
    graph->failed |= !edge;
    if (edge)
        *edge = (struct pyro_history_sql_edge){from, to};
}

/* The node that stands for operators equal to this one; NONE. */
static int64_t find_exchange(const struct graph *graph, int32_t operator)
{
    const uint64_t *node = pyro_map_get(&graph->exchanges, graph->operators.items[operator].identity);
    return node ? (int64_t)*node - 1 : NONE;
}

struct place {
    int32_t operator;
    int64_t parent, cluster;
};

static bool is_query_stage(struct pyro_slice name)
{
    return pyro_slice_is(name, "BroadcastQueryStage") || pyro_slice_is(name, "ShuffleQueryStage");
}

/* One operator; true: its only child comes at the same place, which `at` then says. */
static bool pass_through(struct graph *graph, struct place *at, bool *ret_done)
{
    const struct operator* operator= & graph->operators.items[at->operator];
    struct pyro_slice name = operator->name;
    bool codegen = pyro_slice_starts_with(name, "WholeStageCodegen"), stage = is_query_stage(name);
    bool reused = pyro_slice_is(name, "ReusedExchange"), adapter = pyro_slice_is(name, "InputAdapter");
    bool cached = pyro_slice_is(name, "TableCacheQueryStage"), subquery = pyro_slice_is(name, "ReusedSubquery");
    *ret_done = false;
    if (!codegen && !stage && !reused && !adapter && !cached && !subquery)
        return false;
    if (operator->first == NONE) {
        graph->refused = true; /* Spark fails here, and shows no plan */
        *ret_done = true;
        return true;
    }
    if (codegen) {
        at->cluster = add_node(graph, operator, NONE);
    } else if (stage || reused) {
        int64_t node = find_exchange(graph, operator->first);
        if (node == NONE && reused)
            return false; /* a node of its own */
        if (node != NONE) {
            if (at->parent == NONE)
                graph->refused = true;
            else
                add_edge(graph, node, at->parent);
            *ret_done = true;
            return true;
        }
        at->cluster = NONE;
    } else if (!subquery) {
        at->cluster = NONE;
    }
    at->operator= operator->first;
    return true;
}

/* True: the subquery has a place already. Subqueries are never inside a WholeStageCodegen. */
static bool pass_subquery(struct graph *graph, struct place *at)
{
    if (!pyro_slice_is(graph->operators.items[at->operator].name, "Subquery"))
        return false;
    at->cluster = NONE;
    int64_t node = find_exchange(graph, at->operator);
    if (node == NONE)
        return false;
    if (at->parent == NONE)
        graph->refused = true;
    else
        add_edge(graph, node, at->parent);
    return true;
}

typedef PYRO_VEC(struct place) places;

static void visit(struct graph *graph, struct place at, places *stack)
{
    bool done = false;
    while (!graph->failed && pass_through(graph, &at, &done))
        if (done)
            return;
    if (graph->failed || pass_subquery(graph, &at))
        return;
    const struct operator* operator= & graph->operators.items[at.operator];
    int64_t node = add_node(graph, operator, at.cluster);
    if (pyro_slice_find(operator->name, "Exchange") || pyro_slice_is(operator->name, "Subquery")) {
        uint64_t *place = pyro_map_put(&graph->exchanges, operator->identity, NULL);
        graph->failed |= !place;
        if (place)
            *place = (uint64_t)node + 1;
    }
    if (at.parent != NONE)
        add_edge(graph, node, at.parent);
    size_t below = stack->count;
    for (int32_t child = operator->first; child != NONE; child = graph->operators.items[child].next) {
        struct place *next = pyro_vec_push(stack, NULL);
        graph->failed |= !next;
        if (!next)
            return;
        *next = (struct place){child, node, at.cluster};
    }
    /* The first child comes first, so that it must lie on top. */
    for (size_t i = below, j = stack->count; i + 1 < j; i++) {
        struct place other = stack->items[--j];
        stack->items[j] = stack->items[i];
        stack->items[i] = other;
    }
}

static void build(struct graph *graph)
{
    places stack = {0};
    visit(graph, (struct place){0, NONE, NONE}, &stack);
    while (stack.count && !graph->failed && !graph->refused)
        visit(graph, stack.items[--stack.count], &stack);
    pyro_vec_done(&stack, NULL);
}

bool pyro_sql_graph(struct pyro_history *history, struct pyro_slice plan, struct pyro_history_sql *ret)
{
    struct graph graph = {.history = history, .sql = ret, .identities = pyro_string_pool_new(NULL)};
    struct pyro_json_reader json;
    pyro_history_sql_init(ret, -1);
    pyro_strbuf_init(&graph.scratch, NULL);
    pyro_map_init(&graph.exchanges, NULL);
    graph.failed = !graph.identities;
    pyro_json_reader_start(&json, plan.ptr, plan.ptr + plan.len, pyro_scan_best());
    bool ok = !graph.failed && read_operator(&json, &graph) != NONE && !json.error;
    if (ok)
        build(&graph);
    history->failed |= graph.failed;
    ok = ok && !graph.failed && !graph.refused;
    pyro_string_pool_release(graph.identities);
    pyro_strbuf_done(&graph.scratch);
    pyro_vec_done(&graph.operators, NULL);
    pyro_vec_done(&graph.metrics, NULL);
    pyro_map_done(&graph.exchanges);
    if (!ok)
        pyro_history_sql_done(ret);
    return ok;
}

void pyro_sql_move_graph(struct pyro_history_sql *from, struct pyro_history_sql *to)
{
    pyro_vec_done(&to->nodes, NULL);
    pyro_vec_done(&to->metrics, NULL);
    pyro_vec_done(&to->edges, NULL);
    memcpy(&to->nodes, &from->nodes, sizeof(from->nodes));
    memcpy(&to->metrics, &from->metrics, sizeof(from->metrics));
    memcpy(&to->edges, &from->edges, sizeof(from->edges));
    pyro_map_done(&from->values);
    to->has_graph = true;
}
