/* compare: two runs, and what their difference is put down to. */
#include "serve/mcp/mcp.h"

enum { WIDTH = 120 };

static void write(struct mcp_call *call, const struct serve_diagnosis *before, const struct serve_diagnosis *after)
{
    struct pyro_report_options options = {.size = sizeof(options), .width = WIDTH};
    struct pyro_comparison *comparison = NULL;
    struct pyro_error error = {0};
    struct pyro_writer writer = pyro_mcp_append(call);
    enum pyro_status status = pyro_compare(before->diagnosis, after->diagnosis, NULL, &comparison, &error);
    if (status == PYRO_OK)
        status = pyro_comparison_write(comparison, PYRO_FORMAT_TEXT, &options, &writer, &error);
    if (status != PYRO_OK)
        pyro_mcp_fail(call, "%s", error.message);
    pyro_comparison_free(comparison);
}

static void run(struct mcp_call *call)
{
    const struct serve_diagnosis *before = pyro_mcp_open(call, "before");
    const struct serve_diagnosis *after = before ? pyro_mcp_open(call, "after") : NULL;
    if (after)
        write(call, before, after);
    pyro_serve_diagnosis_release(before);
    pyro_serve_diagnosis_release(after);
}

static const struct mcp_parameter parameters[] = {
    {"before", MCP_TEXT, true, "The run to compare with: application id, ID/ATTEMPT or name", NULL},
    {"after", MCP_TEXT, true, "The run to explain", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_compare = {"compare", "Compare two runs",
                                               "Why one run took longer than another: seconds by cause (they add up), "
                                               "settings, stages, SQL and findings that differ.",
                                               parameters, run};
