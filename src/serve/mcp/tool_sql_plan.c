/* sql_plan: the final plan of one SQL execution as a tree of operators with their metrics. */
#include <inttypes.h>

#include "serve/mcp/mcp.h"
#include "text/escape.h"

enum { DEEPEST_INDENT = 40, LONGEST_DETAIL = 160 };

static const char nodes[] = "SELECT node, depth, name, detail FROM sql_nodes WHERE sql = %" PRId64 " ORDER BY node";
static const char metrics[] =
    "SELECT node, name, type, value FROM sql_metrics WHERE sql = %" PRId64 " AND value > 0 ORDER BY node";

static void write_metric(struct pyro_strbuf *line, const json_t *metric)
{
    struct mcp_words words = {0};
    const char *type = pyro_mcp_text_of(metric, "type");
    int64_t value = pyro_mcp_int_of(metric, "value");
    pyro_strbuf_printf(line, ", %s ", pyro_mcp_text_of(metric, "name"));
    if (strcmp(type, "size") == 0)
        pyro_strbuf_add_text(line, pyro_mcp_bytes(&words, value));
    else if (strcmp(type, "timing") == 0)
        pyro_strbuf_add_text(line, pyro_mcp_ms(&words, value));
    else if (strcmp(type, "nsTiming") == 0)
        pyro_strbuf_add_text(line, pyro_mcp_ms(&words, value / 1000000));
    else
        pyro_strbuf_add_int(line, value);
}

static void write_node(struct mcp_call *call, const json_t *node, const json_t *all)
{
    int64_t depth = pyro_mcp_int_of(node, "depth"), id = pyro_mcp_int_of(node, "node");
    bool full = json_is_true(json_object_get(call->arguments, "details"));
    const char *detail = pyro_mcp_text_of(node, "detail"), *name = pyro_mcp_text_of(node, "name");
    struct pyro_strbuf line;
    pyro_strbuf_init(&line, NULL);
    size_t i;
    json_t *metric;
    json_array_foreach(all, i, metric) if (pyro_mcp_int_of(metric, "node") == id) write_metric(&line, metric);
    pyro_strbuf_printf(&call->out, "%*s%" PRId64 " ", (int)(depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT), "", id);
    pyro_add_plain(&call->out, pyro_slice_from(name));
    if (line.len > 2)
        pyro_strbuf_printf(&call->out, " (%s)", line.data + 2);
    size_t skip = strncmp(detail, name, strlen(name)) == 0 ? strlen(name) : 0, len = strcspn(detail + skip, "\n");
    size_t limit = full ? len : LONGEST_DETAIL;
    if (len > 0) {
        size_t shown = len < limit ? len : limit;
        while (shown < len && shown && ((unsigned char)detail[skip + shown] & 0xC0) == 0x80)
            shown--;
        pyro_strbuf_add_text(&call->out, ":");
        pyro_strbuf_add(&call->out, detail + skip, shown);
        pyro_strbuf_add_text(&call->out, shown < len ? "..." : "");
    }
    pyro_strbuf_add_char(&call->out, '\n');
    pyro_strbuf_done(&line);
}

static void write(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const json_t *execution)
{
    struct mcp_words words = {0};
    int64_t id = pyro_mcp_int_of(execution, "id");
    pyro_mcp_line(call, "SQL execution %" PRId64 ": %s, %s, took %s, %" PRId64 " jobs, %" PRId64 " plan changes", id,
                  pyro_mcp_text_of(execution, "description"), pyro_mcp_text_of(execution, "status"),
                  pyro_mcp_has(execution, "took") ? pyro_mcp_ms(&words, pyro_mcp_int_of(execution, "took")) : "unknown",
                  pyro_mcp_int_of(execution, "jobs"), pyro_mcp_int_of(execution, "plan_updates"));
    if (pyro_mcp_has(execution, "failure"))
        pyro_mcp_line(call, "Failed: %s", pyro_mcp_text_of(execution, "failure"));
    pyro_mcp_line(call, "Final plan, each operator above its inputs (metrics over all tasks):");
    json_t *tree = pyro_mcp_rows(call, opened, nodes, id),
           *values = tree ? pyro_mcp_rows(call, opened, metrics, id) : NULL;
    size_t i;
    json_t *node;
    json_array_foreach(tree, i, node) write_node(call, node, values);
    json_decref(tree);
    json_decref(values);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    int64_t id = pyro_mcp_integer(call, "execution", -1);
    json_t *rows = opened
                       ? pyro_mcp_rows(call, opened,
                                       "SELECT id, description, status, failure, completed_ms - submitted_ms AS took, "
                                       "jobs, plan_updates FROM sql WHERE id = %" PRId64,
                                       id)
                       : NULL;
    if (rows && json_array_size(rows) == 0)
        pyro_mcp_fail(call, "this run has no SQL execution %" PRId64 ": inspect with what=sql lists them", id);
    else if (rows)
        write(call, opened, json_array_get(rows, 0));
    json_decref(rows);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"execution", MCP_INTEGER, true, "Id of the SQL execution", NULL},
    {"details", MCP_FLAG, false, "Full texts of operators instead of their beginnings", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_sql_plan = {
    "sql_plan", "Show a SQL plan",
    "The final plan of one SQL execution, operator by operator, with rows, bytes and times.", parameters, run};
