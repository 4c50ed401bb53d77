/* cost: what the run was given, what became of it, and what it costs. */
#include "serve/mcp/mcp.h"

enum { WIDTH = 120 };

static void bill(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    struct pyro_cost_options wanted = {.size = sizeof(wanted),
                                       .prices = call->mcp->prices,
                                       .by = pyro_mcp_text(call, "by"),
                                       .currency = pyro_mcp_text(call, "currency"),
                                       .instance = pyro_mcp_text(call, "instance"),
                                       .region = pyro_mcp_text(call, "region")};
    struct pyro_report_options options = {.size = sizeof(options), .width = WIDTH};
    struct pyro_costs *costs = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = pyro_mcp_append(call);
    const struct pyro_options limits = pyro_ticket_options(call->mcp->ticket);
    enum pyro_status status = pyro_costs_new(&wanted, &limits, &costs, &error);
    if (status == PYRO_OK)
        status = pyro_costs_add(costs, opened->app, &error);
    if (status == PYRO_OK)
        status = pyro_costs_write(costs, PYRO_FORMAT_TEXT, &options, &writer, &error);
    if (status != PYRO_OK)
        pyro_mcp_fail_with(call, &error);
    pyro_costs_free(costs);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    if (opened)
        bill(call, opened);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"by", MCP_TEXT, false, "Sums by job, stage, sql, pool, user, ... (default: application)", NULL},
    {"instance", MCP_TEXT, false, "Instance type of the nodes, if the log does not name it (\"m5.xlarge\")", NULL},
    {"region", MCP_TEXT, false, "Region for the prices", NULL},
    {"currency", MCP_TEXT, false, "Currency of the answer", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_cost = {
    "cost", "Show the cost of a run",
    "Core and memory hours, split into useful, idle, waiting, retried, GC and spill; cost if the price is known; "
    "cheaper sizes with about the same duration.",
    parameters, run};
