/* stage: one stage attempt, its tasks in quantiles, and the outliers. */
#include <inttypes.h>

#include "serve/mcp/mcp.h"

#include "base/memory/allocator.h"

static bool ends(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* Metrics that are nothing in all tasks tell nothing, and are left out. */
static void write_quantiles(struct mcp_call *call, const json_t *quantiles)
{
    static const char *const keys[] = {"min", "p25", "median", "p75", "p95", "max"};
    const char *name;
    json_t *one;
    pyro_mcp_line(call, "Tasks that succeeded: metric | min | p25 | median | p75 | p95 | max");
    json_object_foreach((json_t *)pyro_unconst(quantiles), name, one)
    {
        if (pyro_mcp_int_of(one, "max") <= 0)
            continue;
        pyro_strbuf_add_text(&call->out, name);
        for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
            struct mcp_words words = {0};
            int64_t value = pyro_mcp_int_of(one, keys[k]);
            pyro_strbuf_add_text(&call->out, " | ");
            if (ends(name, "_ms"))
                pyro_strbuf_add_text(&call->out, pyro_mcp_ms(&words, value));
            else if (ends(name, "_bytes"))
                pyro_strbuf_add_text(&call->out, pyro_mcp_bytes(&words, value));
            else
                pyro_strbuf_add_int(&call->out, value);
        }
        pyro_strbuf_add_char(&call->out, '\n');
    }
}

static void write_outliers(struct mcp_call *call, const json_t *outliers)
{
    size_t i;
    json_t *one;
    if (json_array_size(outliers) > 0)
        pyro_mcp_line(call, "Outlier tasks, and why:");
    json_array_foreach(outliers, i, one)
    {
        struct mcp_words words = {0};
        pyro_mcp_line(call, "task %" PRId64 " (index %" PRId64 ", %s, %.1f x the median): %s: %s",
                      pyro_mcp_int_of(one, "task"), pyro_mcp_int_of(one, "index"),
                      pyro_mcp_ms(&words, pyro_mcp_int_of(one, "duration_ms")), pyro_mcp_real_of(one, "times_median"),
                      pyro_mcp_text_of(one, "cause"), pyro_mcp_text_of(one, "text"));
    }
}

static void write_rows(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const char *title,
                       const char *select, const char *rest, int64_t id, int64_t attempt)
{
    json_t *rows = call->failed ? NULL
                                : pyro_mcp_rows(call, opened,
                                                "SELECT %s FROM tasks WHERE stage = %" PRId64
                                                " AND stage_attempt = %" PRId64 " %s",
                                                select, id, attempt, rest);
    if (json_array_size(rows) > 0)
        pyro_mcp_line(call, "%s", title);
    pyro_mcp_table(call, rows);
    json_decref(rows);
}

static void write_findings(struct mcp_call *call, const json_t *report, int64_t id)
{
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(report, "findings"), i, finding)
    {
        const json_t *stage = json_object_get(json_object_get(finding, "where"), "stage");
        if (json_is_integer(stage) && json_integer_value(stage) == id)
            pyro_mcp_line(call, "Finding %s: %s", pyro_mcp_text_of(finding, "id"), pyro_mcp_text_of(finding, "cause"));
    }
}

static void write_headline(struct mcp_call *call, const json_t *stage)
{
    struct mcp_words words = {0};
    pyro_mcp_line(call,
                  "Stage %" PRId64 " attempt %" PRId64 ": %s, %s, took %s, job %" PRId64 "%s, %" PRId64
                  " tasks (%" PRId64 " failed, %" PRId64 " killed, %" PRId64 " speculative)",
                  pyro_mcp_int_of(stage, "id"), pyro_mcp_int_of(stage, "attempt"), pyro_mcp_text_of(stage, "name"),
                  pyro_mcp_text_of(stage, "status"),
                  pyro_mcp_has(stage, "completed_ms") ? pyro_mcp_ms(&words, pyro_mcp_int_of(stage, "completed_ms") -
                                                                                pyro_mcp_int_of(stage, "submitted_ms"))
                                                      : "unknown",
                  pyro_mcp_int_of(stage, "job"), pyro_mcp_has(stage, "sql") ? ", part of a SQL execution" : "",
                  pyro_mcp_int_of(stage, "tasks"), pyro_mcp_int_of(stage, "failed_tasks"),
                  pyro_mcp_int_of(stage, "killed_tasks"), pyro_mcp_int_of(stage, "speculative_tasks"));
    if (pyro_mcp_has(stage, "failure"))
        pyro_mcp_line(call, "Failed: %s", pyro_mcp_text_of(stage, "failure"));
}

static void write(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const json_t *report,
                  const json_t *stage)
{
    int64_t id = pyro_mcp_int_of(stage, "id"), attempt = pyro_mcp_int_of(stage, "attempt");
    json_t *document = pyro_mcp_view(call, opened, "stages/%" PRId64 "/%" PRId64, id, attempt);
    if (!document)
        return;
    write_headline(call, stage);
    write_findings(call, report, id);
    write_quantiles(call, json_object_get(document, "quantiles"));
    write_outliers(call, json_object_get(document, "outliers"));
    json_decref(document);
    write_rows(call, opened, "The slowest tasks:",
               "\"index\", attempt, executor, host, finish_ms - launch_ms AS took_ms, run_ms, gc_ms, fetch_wait_ms, "
               "input_bytes AS in_bytes, shuffle_remote_bytes + shuffle_local_bytes AS read_bytes, locality, status",
               "ORDER BY 5 DESC LIMIT 5", id, attempt);
    write_rows(call, opened, "By executor:",
               "executor, min(host) AS host, count(*) AS tasks, sum(finish_ms - launch_ms) AS busy_ms, "
               "sum(finish_ms - launch_ms) / count(*) AS mean_ms, sum(gc_ms) AS gc_ms",
               "GROUP BY executor ORDER BY 4 DESC LIMIT 10", id, attempt);
}

static void find(struct mcp_call *call, const struct pyro_catalog_diagnosis *opened, const json_t *report)
{
    int64_t id = pyro_mcp_integer(call, "stage", -1), attempt = pyro_mcp_integer(call, "attempt", -1);
    const json_t *found = NULL;
    size_t i;
    json_t *stage;
    json_array_foreach(json_object_get(report, "stages"), i,
                       stage) if (pyro_mcp_int_of(stage, "id") == id &&
                                  (attempt < 0 || pyro_mcp_int_of(stage, "attempt") == attempt)) found =
        stage; /* the last attempt, unless one is asked for */
    if (found)
        write(call, opened, report, found);
    else
        pyro_mcp_fail(call, "no stage %" PRId64 " was submitted in this run: inspect with what=stages lists them", id);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open(call, "app");
    json_t *report = opened ? pyro_mcp_report(call, opened) : NULL;
    if (report)
        find(call, opened, report);
    json_decref(report);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"stage", MCP_INTEGER, true, "Id of the stage", NULL},
    {"attempt", MCP_INTEGER, false, "Attempt of the stage; the last one by default", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_stage = {"stage", "Show a stage",
                                             "One stage: quantiles of the times and bytes of its tasks, outlier tasks "
                                             "with their causes, work by executor, and findings.",
                                             parameters, run};
