/* suggest: the configuration of the next run of an application, from what a store has. */
#include "serve/fleet_question.h"
#include "serve/mcp/mcp.h"

static void write_suggestion(struct mcp_call *call, struct serve_fleet_question *whose,
                             const struct pyro_suggest_options *wanted, struct pyro_arena *arena)
{
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_writer writer = pyro_mcp_append(call);
    const struct pyro_options limits = pyro_ticket_options(call->mcp->ticket);
    if (!pyro_serve_viewer(call->mcp->request, arena, whose))
        pyro_mcp_fail(call, "no memory left");
    else if (pyro_serve_suggestion_write(whose, pyro_mcp_text(call, "app"), wanted, PYRO_SUGGESTION_TEXT, &limits,
                                         &writer, &error) != PYRO_OK)
        pyro_mcp_fail_with(call, &error);
}

static void run(struct mcp_call *call)
{
    struct pyro_arena arena;
    int64_t deadline_s = pyro_mcp_integer(call, "deadline_s", 0);
    struct serve_fleet_question whose = {
        .url = pyro_serve_store_url(call->mcp->catalog, (size_t)pyro_mcp_integer(call, "store", 1))};
    const struct pyro_suggest_options wanted = {.size = sizeof(wanted),
                                                .input_bytes = pyro_mcp_integer(call, "input_bytes", 0),
                                                .deadline_ms =
                                                    deadline_s > INT64_MAX / 1000 ? INT64_MAX : deadline_s * 1000,
                                                .without_logs = 1};
    if (!whose.url) {
        pyro_mcp_fail(call, "there is no such store; start the server with a store: pyrometer mcp sqlite:FILE");
        return;
    }
    if (deadline_s < 0) {
        pyro_mcp_fail(call, "deadline_s is a number of seconds, 1 or more");
        return;
    }
    pyro_arena_init(&arena, NULL);
    write_suggestion(call, &whose, &wanted, &arena);
    pyro_arena_done(&arena);
}

static const struct mcp_parameter parameters[] = {
    {"app", MCP_TEXT, true, "Name of an application of the store", NULL},
    {"input_bytes", MCP_INTEGER, false, "Input of the next run (default: the median of the newest 5 runs)", NULL},
    {"deadline_s", MCP_INTEGER, false,
     "Choose the cheapest configuration that finishes within so many seconds (default: the cheapest that is not "
     "slower)",
     NULL},
    {"store", MCP_INTEGER, false, "Number of the store, if the server has several (default 1)", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_suggest = {
    "suggest", "Suggest the configuration of the next run",
    "Executors, cores, memory and other settings for the next run of an application, from its earlier runs in a store, "
    "with predicted time and core hours, how sure they are, and what speaks against them or is missing.",
    parameters, run};
