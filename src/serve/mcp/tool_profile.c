/* profile: what profilers and logs of garbage collectors recorded of a run. */
#include <inttypes.h>

#include "serve/mcp/mcp.h"

enum { METHODS = 30, SERIES = 40 };

static void write_rows(struct mcp_call *call, const char *title, json_t *rows)
{
    if (json_array_size(rows) > 0)
        pyro_mcp_line(call, "%s:", title);
    pyro_mcp_table(call, rows);
    json_decref(rows);
}

/* How many samples the run has of an event. */
static bool has_samples(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *event)
{
    json_t *rows = pyro_mcp_rows(call, opened, "SELECT 1 AS one FROM samples WHERE event = '%s' LIMIT 1", event);
    bool any = json_array_size(rows) > 0;
    json_decref(rows);
    return any;
}

/* Methods that samples were taken in, of callers only what they did themselves. `event` is one of the tool's words. */
static void write_methods(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *event)
{
    char stage[48] = "", title[128];
    bool waits = strcmp(event, "lock") == 0 || strcmp(event, "wait") == 0; /* weighed in nanoseconds */
    int64_t number = pyro_mcp_integer(call, "stage", -1);
    if (number >= 0)
        snprintf(stage, sizeof(stage), "AND stage = %" PRId64, number);
    /* As in flame graphs, threads that waited did not use a processor. */
    const char *ran = strcmp(event, "cpu") == 0 ? "AND (state IS NULL OR state = 'running')" : "";
    const char *unit = strcmp(event, "alloc") == 0 ? "in_bytes" : waits ? "waited_ms" : "samples";
    const char *scale = waits ? "/ 1000000" : "";
    snprintf(title, sizeof(title), "Methods by samples of %s%s%s", event, number >= 0 ? " of stage " : "",
             number >= 0 ? stage + sizeof("AND stage =") : "");
    write_rows(call, title,
               pyro_mcp_rows(call, opened,
                             "WITH own AS (SELECT stack, sum(weight) AS weight FROM samples WHERE event = '%s' %s %s "
                             "GROUP BY stack), total AS (SELECT sum(weight) AS weight FROM own) SELECT "
                             "sum(own.weight) %s AS %s, round(100.0 * sum(own.weight) / total.weight, 1) AS percent, "
                             "function AS method, min(file) AS file, min(line) AS line FROM own, total JOIN stacks ON "
                             "stacks.id = own.stack JOIN frames ON frames.id = stacks.frame GROUP BY function ORDER BY "
                             "1 DESC, function LIMIT %d",
                             event, ran, stage, scale, unit, METHODS));
}

static void write(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened)
{
    const char *event = pyro_mcp_text(call, "event");
    json_t *files = pyro_mcp_rows(call, opened,
                                  "SELECT kind, executor, host, bytes AS in_bytes, problems, path FROM "
                                  "artefacts WHERE kind <> 'text-log' ORDER BY kind, path");
    if (!files)
        return;
    if (json_array_size(files) == 0) {
        json_decref(files);
        pyro_mcp_fail(call, "this run has no records of profilers and no log of a garbage collector next to its event "
                            "log; docs/bundles.md says where they belong");
        return;
    }
    if (!event)
        event = has_samples(call, opened, "cpu") || !has_samples(call, opened, "wall") ? "cpu" : "wall";
    write_methods(call, opened, event);
    if (!pyro_mcp_text(call, "event"))
        write_methods(call, opened, "alloc");
    write_rows(call, "Pauses of garbage collectors",
               pyro_mcp_rows(call, opened,
                             "SELECT coalesce(executor, threads.name) AS process, count(*) AS pauses, "
                             "sum(duration_ns) / 1000000 AS total_ms, max(duration_ns) / 1000000 AS longest_ms FROM "
                             "spans JOIN threads ON threads.id = spans.thread WHERE kind = 'gc-pause' GROUP BY 1 "
                             "ORDER BY 3 DESC LIMIT %d",
                             SERIES));
    write_rows(call, "Highest values of series",
               pyro_mcp_rows(call, opened,
                             "SELECT series.name AS series, coalesce(executor, threads.pid) AS process, "
                             "max(value) AS most, series.unit AS unit, count(*) AS points FROM points JOIN series ON "
                             "series.id = points.series LEFT JOIN threads ON threads.id = series.thread GROUP BY "
                             "series.id ORDER BY 1, 2 LIMIT %d",
                             SERIES));
    write_rows(call, "Files", files);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    if (opened)
        write(call, opened);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"event", MCP_TEXT, false,
     "cpu: threads that ran; wall: all threads; alloc: allocated bytes; lock: waiting for locks; wait: other waiting. "
     "Default: cpu and "
     "alloc",
     "cpu wall alloc lock wait"},
    {"stage", MCP_INTEGER, false, "Samples of threads that worked for this stage only", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_profile = {
    "profile", "Read the profiles",
    "What profilers and logs of garbage collectors recorded, for runs that have such files next to their event log: "
    "methods by samples, allocations, pauses, highest memory and processor use.",
    parameters, run};
