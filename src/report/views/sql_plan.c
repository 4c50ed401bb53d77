/* pyrometer.sql_plan/1: the plans of one SQL execution as graphs: what it started with, what adaptive execution made of
 * it, and in the newest what each operator measured. */
#include "analyze/plans/plan_tree.h"
#include "report/views/sql.h"
#include "text/humanize.h"

enum { DETAIL_BYTES = 10000, STAGES_MAX = 200 };

/* At most DETAIL_BYTES, cut at a character. */
static struct pyro_slice cut(struct pyro_slice text)
{
    if (text.len <= DETAIL_BYTES)
        return text;
    size_t len = DETAIL_BYTES;
    while (len > 0 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--;
    return (struct pyro_slice){text.ptr, len};
}

/* ---- Metrics ---- */

/* A value in the unit of its type, for reading: "1.2 GiB", "3.4 s", "12,345". */
static void add_value(struct pyro_strbuf *text, struct pyro_slice type, int64_t value)
{
    if (pyro_slice_is(type, "size"))
        pyro_human_bytes(text, value);
    else if (pyro_slice_is(type, "timing"))
        pyro_human_ms(text, value);
    else if (pyro_slice_is(type, "nsTiming"))
        pyro_human_ms(text, value == PYRO_NONE ? value : value / 1000000);
    else if (pyro_slice_is(type, "average") && value != PYRO_NONE)
        pyro_strbuf_printf(text, "%lld.%lld", (long long)(value / 10),
                           (long long)(value < 0 ? -(value % 10) : value % 10));
    else
        pyro_human_count(text, value);
}

static void write_metric(struct pyro_json_writer *json, const struct pyro_sql_metric *metric, struct pyro_strbuf *text)
{
    pyro_strbuf_clear(text);
    add_value(text, metric->type, metric->value);
    if (metric->task_max != PYRO_NONE) {
        pyro_strbuf_add_text(text, " (");
        add_value(text, metric->type, metric->task_min);
        pyro_strbuf_add_text(text, ", ");
        add_value(text, metric->type, metric->task_median);
        pyro_strbuf_add_text(text, ", ");
        add_value(text, metric->type, metric->task_max);
        pyro_strbuf_add_char(text, ')');
    }
    if (text->failed && json->output->status == PYRO_OK)
        json->output->status = PYRO_ERROR_MEMORY;
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "name", metric->name);
    pyro_json_text(json, "type", metric->type);
    pyro_json_int(json, "value", metric->value);
    pyro_json_int(json, "min", metric->task_min);
    pyro_json_int(json, "median", metric->task_median);
    pyro_json_int(json, "max", metric->task_max);
    pyro_json_text(json, "text", pyro_strbuf_slice(text));
    pyro_json_end(json, '}');
}

/* ---- Nodes ---- */

static void write_stages(struct pyro_json_writer *json, const struct pyro_plan_tree *plan,
                         const struct pyro_plan_op *op)
{
    int64_t last = PYRO_NONE;
    pyro_json_begin_numbers(json, "stages");
    for (uint32_t i = 0; i < op->stage_count && i < STAGES_MAX; i++) {
        const struct pyro_stage *stage = &plan->plans->app->stages.items[plan->stages[op->first_stage + i]];
        if (stage->attempt == 0 || stage->id != last)
            pyro_json_number(json, last = stage->id);
    }
    pyro_json_end_numbers(json);
}

static void write_operator(struct pyro_json_writer *json, const struct pyro_plan_tree *plan, uint32_t i,
                           struct pyro_strbuf *text)
{
    const struct pyro_plan_op *op = &plan->ops[i];
    bool frame = pyro_op_is_frame(op);
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_int(json, "id", i);
    pyro_json_text(json, "name", op->node->name);
    pyro_json_text(json, "class", op->node->class);
    pyro_json_text(json, "engine", op->node->engine);
    pyro_json_text(json, "detail", cut(op->node->detail));
    pyro_json_text(json, "metadata", cut(op->node->metadata));
    pyro_json_bool(json, "frame", frame);
    pyro_json_bool(json, "repeated", op->repeated);
    pyro_json_bool(json, "cached", op->cached);
    write_stages(json, plan, op);
    pyro_json_int(json, "rows", op->rows);
    pyro_json_int(json, "bytes", pyro_op_bytes(plan, i));
    pyro_json_int(json, "own_ms", frame || op->repeated ? PYRO_NONE : op->time_ms);
    pyro_json_begin(json, "metrics", '[');
    for (uint32_t m = 0; m < op->metric_count; m++)
        write_metric(json, &plan->plans->app->sql_metrics.items[op->first_metric + m], text);
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_earlier_node(struct pyro_json_writer *json, const struct pyro_earlier_node *node, size_t i)
{
    static const char *const members[] = {"rows", "bytes", "own_ms"};
    const struct pyro_plan_op op = {.class = (enum pyro_operator_class)(node->known ? node->known->operator_class : 0)};
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_count(json, "id", i);
    pyro_json_text(json, "name", node->name);
    pyro_json_string(json, "class", pyro_operator_class_names[op.class]);
    pyro_json_string(json, "engine", node->known ? pyro_engine_names[node->known->engine] : NULL);
    pyro_json_text(json, "detail", cut(node->detail));
    pyro_json_null(json, "metadata");
    pyro_json_bool(json, "frame", pyro_op_is_frame(&op));
    pyro_json_bool(json, "repeated", false);
    pyro_json_bool(json, "cached", false);
    pyro_json_begin_numbers(json, "stages");
    pyro_json_end_numbers(json);
    for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
        pyro_json_null(json, members[k]);
    pyro_json_begin(json, "metrics", '[');
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_edge(struct pyro_json_writer *json, int64_t from, int64_t to)
{
    pyro_json_begin_numbers(json, NULL);
    pyro_json_number(json, from);
    pyro_json_number(json, to);
    pyro_json_end_numbers(json);
}

/* ---- Plans ---- */

static void begin_plan(struct pyro_json_writer *json, size_t number, const char *reason, int64_t at_ms)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_count(json, "number", number);
    pyro_json_string(json, "reason", reason);
    pyro_json_int(json, "at_ms", at_ms);
    pyro_json_line(json);
    pyro_json_begin(json, "nodes", '[');
}

static void begin_edges(struct pyro_json_writer *json)
{
    pyro_json_end(json, ']');
    pyro_json_line(json);
    pyro_json_begin(json, "edges", '[');
}

static void end_plan(struct pyro_json_writer *json)
{
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_earlier(struct pyro_json_writer *json, const struct pyro_app *app,
                          const struct pyro_earlier_plan *plan, size_t number)
{
    const struct pyro_earlier_node *nodes = &app->earlier_nodes.items[plan->first_node];
    begin_plan(json, number, number ? "adaptive" : "initial", plan->planned_ms);
    for (size_t i = 0; i < plan->node_count; i++)
        write_earlier_node(json, &nodes[i], i);
    begin_edges(json);
    for (size_t i = 0; i < plan->node_count; i++)
        if (nodes[i].parent != PYRO_NONE)
            write_edge(json, (int64_t)i, nodes[i].parent);
    end_plan(json);
}

static void write_newest(struct pyro_json_writer *json, const struct pyro_plan_tree *plan, size_t number)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, plan->plans->app->allocator);
    begin_plan(json, number, plan->sql->plan_updates > 0 ? "adaptive" : "initial", plan->sql->planned_ms);
    for (uint32_t i = 0; i < plan->count; i++)
        write_operator(json, plan, i, &text);
    begin_edges(json);
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->ops[i].parent != PYRO_NO_OP)
            write_edge(json, i, plan->ops[i].parent);
    end_plan(json);
    pyro_strbuf_done(&text);
}

enum pyro_status pyro_view_sql_plan(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                    struct pyro_error *error)
{
    const struct pyro_app *app = request->app;
    const struct pyro_plans *plans = request->diagnosis->plans;
    struct pyro_view_sql_jobs jobs;
    ptrdiff_t row = pyro_app_find_sql(app, request->ids[0]);
    if (row < 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the application has no SQL execution %lld",
                              (long long)request->ids[0]);
    if (!pyro_view_sql_jobs(request, &jobs))
        return pyro_view_no_memory(error);
    const struct pyro_plan_tree *plan = plans ? &plans->items[row] : NULL;
    size_t number = 0;
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "schema", "pyrometer.sql_plan/1");
    pyro_json_line(json);
    pyro_view_sql_head(json, request, &jobs, (size_t)row);
    pyro_json_int(json, "other_ms", plan ? plan->other_ms : PYRO_NONE);
    pyro_json_line(json);
    pyro_json_begin(json, "plans", '[');
    for (size_t i = 0; i < app->earlier_plans.count; i++)
        if (app->earlier_plans.items[i].sql_row == (size_t)row)
            write_earlier(json, app, &app->earlier_plans.items[i], number++);
    if (plan && plan->count)
        write_newest(json, plan, number++);
    pyro_json_end(json, ']');
    pyro_json_line(json);
    pyro_json_int(json, "final", number ? (int64_t)number - 1 : PYRO_NONE);
    pyro_json_end(json, '}');
    return PYRO_OK;
}
