/* The nodes and edges of a plan as the UI draws it, put together to the tree that Spark logs. */
#include <stdlib.h>

#include "base/collections/map.h"
#include "decode/rest/plan_details.h"
#include "decode/rest/rest_reading.h"

enum {
    MOST_NODES = 100000,
    MOST_DEPTH = 480, /* two containers each, of those that a record may nest */
    NOBODY = -1
};

struct graph_node {
    int64_t id, codegen; /* codegen: number of the pipeline, 0: none */
    struct pyro_slice name, metrics;
    struct pyro_rest_detail detail;
    int32_t parent, first_child, last_child, next; /* rows */
    int32_t around;                                /* row of its pipeline's own node */
    int64_t stage, attempt;                        /* of its metrics; PYRO_NONE: not known */
    bool pipeline;                                 /* WholeStageCodegen: around others, not above them */
};

struct graph {
    struct pyro_rest_reading *reading;
    struct pyro_strbuf *updates;
    PYRO_VEC(struct graph_node) nodes; /* sorted by id, which is the order of the tree */
    int32_t root;
};

/* Containers of the tree that are open. */
struct open_node {
    int32_t row, child;
    int wrapped; /* nodes around it that end with it */
};

static int compare_nodes(const void *left, const void *right)
{
    const struct graph_node *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static int32_t find_node(const struct graph *graph, int64_t id)
{
    const struct graph_node wanted = {.id = id};
    const struct graph_node *node =
        bsearch(&wanted, graph->nodes.items, graph->nodes.count, sizeof(wanted), compare_nodes);
    return node ? (int32_t)(node - graph->nodes.items) : NOBODY;
}

/* "WholeStageCodegen (12)" has 12. */
static int64_t pipeline_number(struct pyro_slice name)
{
    static const char head[] = "WholeStageCodegen (";
    int64_t number = 0;
    if (!name.ptr || !pyro_slice_starts_with(name, head))
        return 0;
    for (size_t i = sizeof(head) - 1; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9' && number < INT32_MAX;
         i++)
        number = number * 10 + (name.ptr[i] - '0');
    return number;
}

static bool read_nodes(struct graph *graph, struct pyro_slice nodes)
{
    PYRO_JSON_KEYS(keys, (NODE_ID, "nodeId"), (NODE_NAME, "nodeName"), (METRICS, "metrics"),
                   (WHOLE_STAGE_CODEGEN_ID, "wholeStageCodegenId"));
    struct pyro_json_reader json;
    pyro_rest_start(&json, nodes);
    if (!nodes.ptr || !pyro_json_enter_array(&json))
        return true;
    for (bool first = true; pyro_json_next_element(&json, &first) && graph->nodes.count < MOST_NODES;) {
        struct pyro_slice values[keys_count];
        if (!pyro_rest_take(&json, keys, keys_count, values) || !pyro_rest_string(values[NODE_NAME]).ptr)
            continue;
        struct graph_node *node = pyro_vec_push(&graph->nodes, graph->reading->source->allocator);
        if (!node)
            return false;
        *node = (struct graph_node){.id = pyro_rest_int(values[NODE_ID], PYRO_NONE),
                                    .codegen = pyro_rest_int(values[WHOLE_STAGE_CODEGEN_ID], 0),
                                    .name = pyro_rest_string(values[NODE_NAME]),
                                    .metrics = values[METRICS],
                                    .parent = NOBODY,
                                    .first_child = NOBODY,
                                    .last_child = NOBODY,
                                    .next = NOBODY,
                                    .around = NOBODY,
                                    .stage = PYRO_NONE};
        node->pipeline = pipeline_number(node->name) > 0;
        if (node->pipeline)
            node->codegen = pipeline_number(node->name);
    }
    if (graph->nodes.count > 1)
        qsort(graph->nodes.items, graph->nodes.count, sizeof(*graph->nodes.items), compare_nodes);
    return true;
}

/* A node hangs below a node of a smaller id only, so that there are no circles. A second parent of an exchange reads it
 * again; the first one keeps it. */
static void connect(struct graph *graph, int32_t child, int32_t parent)
{
    struct graph_node *nodes = graph->nodes.items;
    if (child == NOBODY || parent == NOBODY || parent >= child || nodes[child].parent != NOBODY ||
        nodes[child].pipeline || nodes[parent].pipeline)
        return;
    nodes[child].parent = parent;
    if (nodes[parent].last_child == NOBODY)
        nodes[parent].first_child = child;
    else
        nodes[nodes[parent].last_child].next = child;
    nodes[parent].last_child = child;
}

static void read_edges(struct graph *graph, struct pyro_slice edges)
{
    PYRO_JSON_KEYS(keys, (FROM_ID, "fromId"), (TO_ID, "toId"));
    struct pyro_json_reader json;
    pyro_rest_start(&json, edges);
    if (edges.ptr && pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct pyro_slice values[keys_count];
            if (pyro_rest_take(&json, keys, keys_count, values))
                connect(graph, find_node(graph, pyro_rest_int(values[FROM_ID], PYRO_NONE)),
                        find_node(graph, pyro_rest_int(values[TO_ID], PYRO_NONE)));
        }
    graph->root = NOBODY;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (graph->nodes.items[i].parent != NOBODY || graph->nodes.items[i].pipeline)
            continue;
        if (graph->root == NOBODY)
            graph->root = (int32_t)i;
        else
            connect(graph, (int32_t)i, graph->root);
    }
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

PYRO_JSON_KEYS(metric_keys, (NAME, "name"), (VALUE, "value"));

/* What readers of a shuffle count is in another stage than what its writers count. */
static bool is_read_side(struct pyro_slice name)
{
    return pyro_slice_find(name, "read") || pyro_slice_find(name, "fetch") || pyro_slice_find(name, "fetched");
}

/* The stage of the first metric that says one; of an exchange, the stage that writes. */
static void find_stage(struct graph_node *node)
{
    struct pyro_json_reader json;
    bool exchange = pyro_slice_starts_with(node->name, "Exchange");
    pyro_rest_start(&json, node->metrics);
    if (node->metrics.ptr && pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct pyro_slice values[metric_keys_count];
            if (!pyro_rest_take(&json, metric_keys, metric_keys_count, values) ||
                (exchange && is_read_side(pyro_rest_string(values[NAME]))))
                continue;
            struct pyro_rest_metric_value value = pyro_rest_read_metric(values[VALUE]);
            if (value.stage == PYRO_NONE)
                continue;
            node->stage = value.stage;
            node->attempt = value.attempt;
            return;
        }
}

static void take_stage(struct graph_node *node, const struct graph_node *other)
{
    if (node->stage != PYRO_NONE)
        return;
    node->stage = other->stage;
    node->attempt = other->attempt;
}

/* Operators between two exchanges run in one stage. What is below an exchange, or a broadcast, runs in the stage that
 * writes it; what is above an exchange, in another one. */
static void spread_stages(struct graph *graph)
{
    struct graph_node *nodes = graph->nodes.items;
    for (size_t i = graph->nodes.count; i-- > 0;) /* upwards: children have larger ids */
        if (nodes[i].parent != NOBODY && !pyro_slice_find(nodes[i].name, "Exchange") &&
            !pyro_slice_starts_with(nodes[i].name, "InMemoryTableScan"))
            take_stage(&nodes[nodes[i].parent], &nodes[i]);
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (nodes[i].parent != NOBODY && !pyro_slice_find(nodes[i].name, "Exchange") &&
            !pyro_slice_starts_with(nodes[nodes[i].parent].name, "BroadcastExchange"))
            take_stage(&nodes[i], &nodes[nodes[i].parent]);
}

/* An operator of a pipeline runs where the pipeline does. Subqueries restart the numbers of their pipelines: the newest
 * one before an operator is its own. */
static bool find_stages(struct graph *graph)
{
    struct graph_node *nodes = graph->nodes.items;
    struct pyro_map pipelines;
    bool done = true;
    pyro_map_init(&pipelines, graph->reading->source->allocator);
    for (size_t i = 0; i < graph->nodes.count && done; i++) {
        find_stage(&nodes[i]);
        if (nodes[i].pipeline) {
            uint64_t *row = pyro_map_put(&pipelines, (uint64_t)nodes[i].codegen, NULL);
            done = row != NULL;
            if (row)
                *row = i;
            continue;
        }
        const uint64_t *row = nodes[i].codegen > 0 ? pyro_map_get(&pipelines, (uint64_t)nodes[i].codegen) : NULL;
        nodes[i].around = row ? (int32_t)*row : NOBODY;
        if (nodes[i].stage == PYRO_NONE && row) {
            nodes[i].stage = nodes[*row].stage;
            nodes[i].attempt = nodes[*row].attempt;
        }
    }
    pyro_map_done(&pipelines);
    return done;
}

static bool keep_value(struct graph *graph, const struct graph_node *node, struct pyro_slice name,
                       const struct pyro_rest_metric_value *value, int64_t accumulator)
{
    struct pyro_rest_reading *reading = graph->reading;
    bool exchange = pyro_slice_starts_with(node->name, "Exchange");
    int64_t stage = value->stage, attempt = value->attempt;
    if (stage == PYRO_NONE && !(exchange && is_read_side(name))) {
        stage = node->stage;
        attempt = node->attempt;
    }
    if (stage != PYRO_NONE) {
        struct pyro_rest_stage_metric *metric = pyro_vec_push(&reading->metrics, reading->source->allocator);
        if (metric)
            *metric = (struct pyro_rest_stage_metric){stage, attempt, accumulator, value->value};
        return metric != NULL;
    }
    pyro_compact_begin(graph->updates, NULL, '[');
    pyro_compact_int(graph->updates, NULL, accumulator);
    pyro_compact_int(graph->updates, NULL, value->value);
    pyro_compact_end(graph->updates, ']');
    return true;
}

static bool add_metrics(struct graph *graph, const struct graph_node *node)
{
    struct pyro_rest_reading *reading = graph->reading;
    struct pyro_json_reader json;
    pyro_rest_begin(reading, "metrics", '[');
    pyro_rest_start(&json, node->metrics);
    if (node->metrics.ptr && pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct pyro_slice values[metric_keys_count];
            if (!pyro_rest_take(&json, metric_keys, metric_keys_count, values) || !values[NAME].ptr)
                continue;
            struct pyro_rest_metric_value value = pyro_rest_read_metric(values[VALUE]);
            int64_t accumulator = reading->next_accumulator++;
            pyro_rest_begin(reading, NULL, '{');
            pyro_rest_add_raw(reading, "name", values[NAME]);
            pyro_rest_add_int(reading, "accumulatorId", accumulator);
            pyro_compact_string(&reading->lines, "metricType", value.type ? value.type : "average");
            pyro_rest_end(reading, '}');
            if (value.value != PYRO_NONE &&
                !keep_value(graph, node, pyro_rest_string(values[NAME]), &value, accumulator))
                return false;
        }
    pyro_rest_end(reading, ']');
    return true;
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

static void begin_node(struct pyro_rest_reading *reading, struct pyro_slice name, const struct pyro_rest_detail *detail)
{
    pyro_rest_begin(reading, NULL, '{');
    pyro_compact_as_written(&reading->lines, "nodeName", name);
    if (detail && detail->text.ptr)
        pyro_compact_as_written(&reading->lines, "simpleString", detail->text);
    if (detail && detail->metadata.ptr) {
        pyro_rest_begin(reading, "metadata", '{');
        pyro_strbuf_add_slice(&reading->lines, detail->metadata);
        pyro_rest_end(reading, '}');
    }
}

/* The pipeline's own node, whose metrics come before its children; and what leads from another pipeline into this node.
 * Returns how many were opened. */
static int wrap(struct graph *graph, const struct graph_node *node)
{
    struct pyro_rest_reading *reading = graph->reading;
    const struct graph_node *parent = node->parent == NOBODY ? NULL : &graph->nodes.items[node->parent];
    int64_t above = parent ? parent->codegen : 0;
    int wrapped = 0;
    if (above == node->codegen)
        return 0;
    if (above > 0) {
        begin_node(reading, PYRO_SLICE_LITERAL("InputAdapter"), NULL);
        pyro_rest_begin(reading, "metrics", '[');
        pyro_rest_end(reading, ']');
        pyro_rest_begin(reading, "children", '[');
        wrapped++;
    }
    if (node->around == NOBODY)
        return wrapped;
    const struct graph_node *pipeline = &graph->nodes.items[node->around];
    begin_node(reading, pipeline->name, NULL);
    if (!add_metrics(graph, pipeline))
        return -1;
    pyro_rest_begin(reading, "children", '[');
    return wrapped + 1;
}

static bool add_node(struct graph *graph, int32_t row, struct open_node *ret)
{
    const struct graph_node *node = &graph->nodes.items[row];
    int wrapped = wrap(graph, node);
    if (wrapped < 0)
        return false;
    begin_node(graph->reading, node->name, &node->detail);
    if (!add_metrics(graph, node))
        return false;
    pyro_rest_begin(graph->reading, "children", '[');
    *ret = (struct open_node){row, node->first_child, wrapped};
    return true;
}

static bool add_tree(struct graph *graph)
{
    struct pyro_rest_reading *reading = graph->reading;
    struct open_node stack[MOST_DEPTH];
    size_t depth = 0, open = 0; /* nodes on the stack; with those that wrap them */
    if (!add_node(graph, graph->root, &stack[depth++]))
        return false;
    open = 1 + (size_t)stack[0].wrapped;
    while (depth > 0) {
        struct open_node *top = &stack[depth - 1];
        if (top->child != NOBODY && open + 3 < MOST_DEPTH) {
            int32_t child = top->child;
            top->child = graph->nodes.items[child].next;
            if (!add_node(graph, child, &stack[depth++]))
                return false;
            open += 1 + (size_t)stack[depth - 1].wrapped;
            continue;
        }
        open -= 1 + (size_t)top->wrapped;
        for (int i = 0; i <= top->wrapped; i++) {
            pyro_rest_end(reading, ']');
            pyro_rest_end(reading, '}');
        }
        depth--;
    }
    return true;
}

bool pyro_rest_add_plan(struct pyro_rest_reading *reading, struct pyro_slice nodes, struct pyro_slice edges,
                        struct pyro_slice description, struct pyro_strbuf *updates)
{
    struct graph graph = {.reading = reading, .updates = updates};
    struct pyro_rest_details details;
    bool done = read_nodes(&graph, nodes);
    if (done && graph.nodes.count > 0) {
        read_edges(&graph, edges);
        done = find_stages(&graph);
        spread_stages(&graph);
        if (done && graph.root != NOBODY) {
            done = pyro_rest_details_open(&details, pyro_rest_string(description), reading->source->allocator);
            for (size_t i = 0; done && i < graph.nodes.count; i++)
                if (!graph.nodes.items[i].pipeline)
                    graph.nodes.items[i].detail = pyro_rest_details_next(&details, graph.nodes.items[i].name);
            pyro_compact_name(&reading->lines, "sparkPlanInfo");
            done = done && add_tree(&graph);
            pyro_rest_details_done(&details);
        }
    }
    pyro_vec_done(&graph.nodes, reading->source->allocator);
    if (!done)
        reading->lines.failed = true;
    return done;
}
