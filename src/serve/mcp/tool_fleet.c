/* fleet: what the runs of a store have in common. */
#include "serve/fleet_question.h"
#include "serve/mcp/mcp.h"

enum { WIDTH = 200, LIST = 32 };

/* The texts of an array; they live as long as the call's arguments. */
static size_t take_list(const struct mcp_call *call, const char *name, const char **list)
{
    const json_t *given = json_object_get(call->arguments, name);
    size_t count = json_array_size(given) < LIST ? json_array_size(given) : LIST;
    for (size_t i = 0; i < count; i++)
        list[i] = json_string_value(json_array_get(given, i));
    return count;
}

static void write_view(struct mcp_call *call, struct serve_fleet_question *question, struct pyro_arena *arena)
{
    const struct pyro_report_options report = {.size = sizeof(report), .width = WIDTH};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = pyro_mcp_append(call);
    const struct pyro_options limits = pyro_ticket_options(call->mcp->ticket);
    if (!pyro_serve_viewer(call->mcp->request, arena, question))
        pyro_mcp_fail(call, "no memory left");
    else if (pyro_serve_fleet_write(question, call->mcp->prices, PYRO_FORMAT_TEXT, &report, &limits, &writer, &error) !=
             PYRO_OK)
        pyro_mcp_fail_with(call, &error);
}

static void run(struct mcp_call *call)
{
    const char *tags[LIST], *max[LIST];
    struct serve_fleet_question question = {
        .view = pyro_mcp_text(call, "view"),
        .url = pyro_serve_store_url(call->mcp->catalog, (size_t)pyro_mcp_integer(call, "store", 1)),
        .wanted = {.size = sizeof(question.wanted)},
    };
    if (!question.url) {
        pyro_mcp_fail(call, "there is no such store; start the server with a store: pyrometer mcp sqlite:FILE");
        return;
    }
    const char *name, **place;
    for (size_t i = 0; (place = pyro_fleet_option(&question.wanted, i, &name)) != NULL; i++)
        *place = pyro_mcp_text(call, name); /* those that are not parameters cannot be given */
    question.wanted.tags = tags;
    question.wanted.tag_count = take_list(call, "tags", tags);
    question.wanted.max = max;
    question.wanted.max_count = take_list(call, "max", max);
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    write_view(call, &question, &arena);
    pyro_arena_done(&arena);
}

static const struct mcp_parameter parameters[] = {
    {"view", MCP_TEXT, true, "One of: ", "@views"},
    {"app", MCP_TEXT, false, NULL, NULL},
    {"user", MCP_TEXT, false, NULL, NULL},
    {"since", MCP_TEXT, false, NULL, NULL},
    {"until", MCP_TEXT, false, NULL, NULL},
    {"tags", MCP_TEXTS, false, NULL, NULL},
    {"max", MCP_TEXTS, false, NULL, NULL},
    {"by", MCP_TEXT, false, NULL, NULL},
    {"value", MCP_TEXT, false, NULL, NULL},
    {"before", MCP_TEXT, false, NULL, NULL},
    {"after", MCP_TEXT, false, NULL, NULL},
    {"at", MCP_TEXT, false, NULL, NULL},
    {"store", MCP_INTEGER, false, "Number of the store, if the server has several (default 1)", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_fleet = {
    "fleet", "Show what runs have in common",
    "Views over all runs of a store: usage, trends and outliers, waste, ranked findings, failures, comparisons of "
    "versions or settings.",
    parameters, run};
