/* query: SQL over the tables of one run. */
#include "query/sql_query.h"
#include "serve/mcp/mcp.h"

static void list_tables(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    static const char *const tables[] = {"applications", "jobs", "stages",    "tasks",
                                         "executors",    "sql",  "sql_nodes", "sql_metrics"};
    pyro_mcp_line(call,
                  "Tables (SQLite's SQL; *_ms and times in milliseconds, times since 1970; \"index\" needs quotes):");
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !call->failed; i++) {
        json_t *rows = pyro_mcp_rows(call, opened, "SELECT * FROM %s LIMIT 1", tables[i]);
        const char *key;
        json_t *value;
        pyro_strbuf_printf(&call->out, "%s:", tables[i]);
        json_object_foreach(json_array_get(rows, 0), key, value) pyro_strbuf_printf(&call->out, " %s", key);
        pyro_strbuf_add_text(&call->out, json_array_size(rows) ? "\n" : " no rows in this run\n");
        json_decref(rows);
    }
}

static void query(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *statement)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = pyro_mcp_append(call);
    struct serve_ticket *ticket = call->mcp->ticket;
    const struct pyro_options options = pyro_ticket_options(ticket);
    enum serve_stop why = pyro_ticket_begin_query(ticket);
    if (why != SERVE_GO_ON) {
        pyro_mcp_fail(call, "%s", why == SERVE_TOO_LATE ? pyro_limiter_queries_busy : pyro_limiter_why(why));
        return;
    }
    if (pyro_sql_run(opened->app, statement, PYRO_FORMAT_CSV, PYRO_SQL_SERVER_DISK_BYTES, &options, &writer, &error) !=
        PYRO_OK)
        pyro_mcp_fail_with(call, &error);
    pyro_ticket_end_query(ticket);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    const char *statement = pyro_mcp_text(call, "statement");
    if (opened && statement)
        query(call, opened, statement);
    else if (opened)
        list_tables(call, opened);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"statement", MCP_TEXT, false, "One SELECT; without it, the answer lists the tables and their columns", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_query = {"query", "Query in SQL",
                                             "A read-only SQL statement on the tables of one run (jobs, stages, tasks, "
                                             "executors, SQL plans and metrics); rows as CSV.",
                                             parameters, run};
