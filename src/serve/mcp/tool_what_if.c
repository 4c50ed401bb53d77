/* what_if: the run predicted with other executors, settings or amounts of data. */
#include "serve/mcp/mcp.h"

enum { WIDTH = 120, MOST_SETTINGS = 32, MOST_SCENARIOS = 256 };

/* How many texts the argument has; false: too many. */
static bool take_texts(struct mcp_call *call, const char *name, const char **texts, size_t *ret_count)
{
    const json_t *list = json_object_get(call->arguments, name);
    *ret_count = json_array_size(list);
    if (*ret_count > MOST_SETTINGS) {
        pyro_mcp_fail(call, "'%s' has more than %d settings", name, MOST_SETTINGS);
        return false;
    }
    for (size_t i = 0; i < *ret_count; i++)
        texts[i] = json_string_value(json_array_get(list, i));
    return true;
}

static void list_settings(struct mcp_call *call)
{
    pyro_mcp_line(call, "What can be changed (set=[\"KEY=VALUE\"], sweep=[\"KEY=1..64\"] or [\"KEY=2,4,8\"]):");
    for (size_t i = 0; i < pyro_whatif_setting_count(); i++) {
        struct pyro_whatif_setting_info setting = {.size = sizeof(setting)};
        pyro_ignore_status(pyro_whatif_setting(i, &setting), "the index exists and the size is set");
        pyro_mcp_line(call, "%s%s%s: %s", setting.name ? setting.name : "", setting.name ? " or " : "", setting.key,
                      setting.doc);
    }
}

static void predict(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened,
                    const struct pyro_whatif_options *asked)
{
    struct pyro_report_options options = {.size = sizeof(options), .width = WIDTH};
    struct pyro_whatif *whatif = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = pyro_mcp_append(call);
    const struct pyro_options limits = pyro_ticket_options(call->mcp->ticket);
    enum pyro_status status = pyro_whatif_run(opened->diagnosis, asked, &limits, &whatif, &error);
    if (status == PYRO_OK)
        status = pyro_whatif_write(whatif, PYRO_FORMAT_TEXT, &options, &writer, &error);
    if (status != PYRO_OK)
        pyro_mcp_fail_with(call, &error);
    pyro_whatif_free(whatif);
}

static void run(struct mcp_call *call)
{
    const char *set[MOST_SETTINGS], *sweep[MOST_SETTINGS], *fix[MOST_SETTINGS];
    struct pyro_whatif_options asked = {.size = sizeof(asked),
                                        .set = set,
                                        .sweep = sweep,
                                        .fix = fix,
                                        .plan = json_is_true(json_object_get(call->arguments, "plan")),
                                        .optimize = pyro_mcp_text(call, "optimize"),
                                        .instance = pyro_mcp_text(call, "instance"),
                                        .prices = call->mcp->prices,
                                        .most_scenarios = MOST_SCENARIOS,
                                        .deadline_ms = pyro_mcp_integer(call, "deadline_s", 0) * 1000};
    if (!take_texts(call, "set", set, &asked.set_count) || !take_texts(call, "sweep", sweep, &asked.sweep_count) ||
        !take_texts(call, "fix", fix, &asked.fix_count))
        return;
    if (asked.deadline_ms < 0) {
        pyro_mcp_fail(call, "deadline_s is negative");
        return;
    }
    if (asked.set_count + asked.sweep_count + asked.fix_count == 0 && !asked.plan && !asked.optimize) {
        list_settings(call);
        return;
    }
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    if (opened)
        predict(call, opened, &asked);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"set", MCP_TEXTS, false, "Changes, each KEY=VALUE: \"executors=8\", \"spark.sql.shuffle.partitions=400\"", NULL},
    {"sweep", MCP_TEXTS, false, "Several values each, KEY=1..64 or KEY=2,4,8: one scenario a combination", NULL},
    {"fix", MCP_TEXTS, false, "Ids of findings to fix, with their settings or their change of the program", NULL},
    {"plan", MCP_FLAG, false, "Use the whole recommended configuration", NULL},
    {"optimize", MCP_TEXT, false, "Search executors, cores and partitions for the least time or cost", "time cost"},
    {"deadline_s", MCP_INTEGER, false, "Longest duration of a configuration that optimize may choose, in seconds",
     NULL},
    {"instance", MCP_TEXT, false, "Instance type of the nodes, for cost", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_what_if = {
    "what_if", "Predict other settings",
    "Predicts duration, core time and cost of the run with other executors, cores, memory, settings or input size, as "
    "a range, by simulation; or with findings fixed, or the whole plan. Without arguments: lists what can be changed.",
    parameters, run};
