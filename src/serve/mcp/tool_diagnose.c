/* diagnose: what took the time, and what to change. */
#include <inttypes.h>

#include "serve/mcp/mcp.h"

#include "base/memory/allocator.h"

/* Parts of an account that are at least a hundredth of it, the largest first. */
static void write_account(struct mcp_call *call, const char *title, const json_t *account)
{
    struct mcp_words words = {0};
    int64_t total = pyro_mcp_int_of(account, "total_ms");
    const json_t *parts = json_object_get(account, "parts");
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    int64_t above = INT64_MAX;
    for (;;) { /* few parts: the next smaller one each time */
        const json_t *largest = NULL;
        size_t i;
        json_t *part;
        json_array_foreach(parts, i, part)
        {
            int64_t ms = pyro_mcp_int_of(part, "ms");
            if (ms < above && (!largest || ms > pyro_mcp_int_of(largest, "ms")))
                largest = part;
        }
        above = largest ? pyro_mcp_int_of(largest, "ms") : 0;
        if (above <= 0 || above * 100 < total)
            break;
        json_array_foreach(parts, i, part) if (pyro_mcp_int_of(part, "ms") == above) pyro_strbuf_printf(
            &text, ", %s %s", pyro_mcp_text_of(part, "name"), pyro_mcp_share(&words, (double)above / (double)total));
    }
    pyro_mcp_line(call, "%s %s: %s", title, pyro_mcp_ms(&words, total), text.len > 2 ? text.data + 2 : "nothing");
    pyro_strbuf_done(&text);
}

static void write_settings(struct mcp_call *call, const char *before, const json_t *settings)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)pyro_unconst(settings), key, value)
        pyro_mcp_line(call, "%s--conf %s=%s", before, key, json_is_string(value) ? json_string_value(value) : "");
}

static void write_finding(struct mcp_call *call, size_t number, const json_t *finding)
{
    struct mcp_words words = {0};
    const json_t *cost = json_object_get(json_object_get(finding, "costs"), "wall_ms");
    pyro_mcp_line(call, "%zu. %s [%s, confidence %.2f]%s%s", number, pyro_mcp_text_of(finding, "id"),
                  pyro_mcp_text_of(finding, "severity"), pyro_mcp_real_of(finding, "confidence"),
                  json_is_integer(cost) ? " costs " : "",
                  json_is_integer(cost) ? pyro_mcp_ms(&words, json_integer_value(cost)) : "");
    pyro_mcp_line(call, "   %s", pyro_mcp_text_of(finding, "cause"));
}

static void write_integrity(struct mcp_call *call, const json_t *integrity)
{
    size_t i;
    json_t *note;
    if (pyro_mcp_real_of(integrity, "confidence") < 1)
        pyro_mcp_line(call, "The log %s, confidence %.2f%s%s:",
                      json_is_true(json_object_get(integrity, "contradictory")) ? "contradicts itself"
                                                                                : "is incomplete",
                      pyro_mcp_real_of(integrity, "confidence"),
                      json_is_true(json_object_get(integrity, "truncated")) ? ", truncated" : "",
                      json_is_true(json_object_get(integrity, "in_progress")) ? ", still being written" : "");
    json_array_foreach(json_object_get(integrity, "notes"), i, note)
        pyro_mcp_line(call, "  %s", json_string_value(note));
}

static const char *known_ms(struct mcp_words *words, const json_t *object, const char *key)
{
    return pyro_mcp_has(object, key) ? pyro_mcp_ms(words, pyro_mcp_int_of(object, key)) : "unknown";
}

static void write_totals(struct mcp_call *call, const json_t *report)
{
    struct mcp_words words = {0};
    const json_t *totals = json_object_get(report, "totals"), *bounds = json_object_get(report, "bounds");
    pyro_mcp_line(call,
                  "Jobs %" PRId64 " (%" PRId64 " failed), stages %" PRId64 " (%" PRId64 " failed), tasks %" PRId64
                  " (%" PRId64 " failed), input %s, output %s, shuffle read %s, spilled to disk %s",
                  pyro_mcp_int_of(totals, "jobs"), pyro_mcp_int_of(totals, "failed_jobs"),
                  pyro_mcp_int_of(totals, "stages"), pyro_mcp_int_of(totals, "failed_stages"),
                  pyro_mcp_int_of(totals, "tasks"), pyro_mcp_int_of(totals, "failed_tasks"),
                  pyro_mcp_bytes(&words, pyro_mcp_int_of(totals, "input_bytes")),
                  pyro_mcp_bytes(&words, pyro_mcp_int_of(totals, "output_bytes")),
                  pyro_mcp_bytes(&words, pyro_mcp_int_of(totals, "shuffle_read_bytes")),
                  pyro_mcp_bytes(&words, pyro_mcp_int_of(totals, "disk_spill_bytes")));
    pyro_mcp_line(call, "With unlimited cores: at least %s; with these cores fully used: %s; the driver alone: %s",
                  known_ms(&words, bounds, "critical_path_ms"), known_ms(&words, bounds, "ideal_ms"),
                  known_ms(&words, bounds, "driver_ms"));
}

/* What to do, in its order, each with what it sets and saves. */
static void write_actions(struct mcp_call *call, const json_t *actions)
{
    size_t i, k;
    json_t *action, *cured;
    if (json_array_size(actions) > 0)
        pyro_mcp_line(call, "What to do, in this order:");
    json_array_foreach(actions, i, action)
    {
        struct mcp_words words = {0};
        const json_t *saves = json_object_get(action, "saves"), *wall = json_object_get(saves, "wall_ms");
        bool known = json_is_string(json_object_get(saves, "basis"));
        pyro_mcp_line(call, "%zu. %s", i + 1, pyro_mcp_text_of(action, "text"));
        write_settings(call, "   ", json_object_get(action, "config"));
        if (known)
            pyro_mcp_line(call, "   saves %s (%s to %s); effort: %s, risk: %s",
                          pyro_mcp_ms(&words, pyro_mcp_int_of(wall, "expected")),
                          pyro_mcp_ms(&words, pyro_mcp_int_of(wall, "low")),
                          pyro_mcp_ms(&words, pyro_mcp_int_of(wall, "high")), pyro_mcp_text_of(action, "effort"),
                          pyro_mcp_text_of(action, "risk"));
        else
            pyro_mcp_line(call, "   what it saves is not known; effort: %s, risk: %s",
                          pyro_mcp_text_of(action, "effort"), pyro_mcp_text_of(action, "risk"));
        json_array_foreach(json_object_get(action, "cures"), k, cured)
            pyro_mcp_line(call, "   cures %s", json_string_value(cured));
    }
}

/* What all of it does together, simulated once. */
static void write_plan(struct mcp_call *call, const char *what, const json_t *report, const json_t *plan)
{
    struct mcp_words before = {0}, expected = {0}, low = {0}, high = {0};
    const json_t *wall = json_object_get(plan, "wall_ms"), *replay = json_object_get(report, "replay");
    if (!json_is_object(plan))
        return;
    pyro_mcp_line(call, "%s the run is predicted to take %s (%s to %s) instead of %s (what_if simulates it).", what,
                  pyro_mcp_ms(&expected, pyro_mcp_int_of(wall, "expected")),
                  pyro_mcp_ms(&low, pyro_mcp_int_of(wall, "low")), pyro_mcp_ms(&high, pyro_mcp_int_of(wall, "high")),
                  pyro_mcp_ms(&before, pyro_mcp_int_of(replay, "measured_ms")));
}

static void write(struct mcp_call *call, const json_t *report)
{
    const json_t *accounting = json_object_get(report, "accounting"), *findings = json_object_get(report, "findings");
    const json_t *changes = json_object_get(report, "config_changes");
    size_t i;
    json_t *finding;
    pyro_mcp_headline(call, report);
    write_integrity(call, json_object_get(report, "integrity"));
    write_account(call, "Wall time", json_object_get(accounting, "wall"));
    write_account(call, "Allocated core time", json_object_get(accounting, "core"));
    write_totals(call, report);
    write_actions(call, json_object_get(report, "actions"));
    write_plan(call, "With all of it", report, json_object_get(report, "together"));
    if (!json_object_get(report, "actions")) { /* a stored report of an earlier version */
        write_plan(call, "With all recommended settings", report, json_object_get(report, "plan"));
        write_plan(call, "With all changes of the program that the findings describe", report,
                   json_object_get(report, "code_plan"));
    }
    if (json_array_size(findings) == 0)
        pyro_mcp_line(call, "No findings: no rule knows a change that makes this run faster.");
    else
        pyro_mcp_line(call,
                      "Findings, largest savings first (explain_finding has the evidence and all recommendations):");
    json_array_foreach(findings, i, finding) write_finding(call, i + 1, finding);
    if (json_object_size(changes) > 0) {
        pyro_mcp_line(call, "All settings together:");
        write_settings(call, "  ", changes);
    }
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open_report(call, "app");
    json_t *report = opened ? pyro_mcp_report(call, opened) : NULL;
    if (report)
        write(call, report);
    json_decref(report);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {MCP_PARAMETER_APP, {0}};

const struct mcp_tool pyro_mcp_tool_diagnose = {
    "diagnose", "Say why an application was slow",
    "Where the time of the run went (the parts add up), and findings ranked by the seconds that a fix saves, with "
    "cause and recommendation. Start here.",
    parameters, run};
