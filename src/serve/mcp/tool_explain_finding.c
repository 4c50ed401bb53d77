/* explain_finding: evidence, place, all advice, and what the rule judges by. */
#include <inttypes.h>
#include <math.h>

#include "serve/mcp/mcp.h"
#include "text/humanize.h"

static void write_place(struct mcp_call *call, const json_t *where)
{
    static const char *const keys[] = {"job", "stage", "attempt", "sql", "executor", "host", "call_site"};
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        const json_t *value = json_object_get(where, keys[i]);
        if (json_is_integer(value))
            pyro_strbuf_printf(&text, ", %s %" PRId64, keys[i], (int64_t)json_integer_value(value));
        else if (json_is_string(value))
            pyro_strbuf_printf(&text, ", %s %s", keys[i], json_string_value(value));
    }
    if (text.len > 2)
        pyro_mcp_line(call, "Where: %s", text.data + 2);
    pyro_strbuf_done(&text);
}

static void write_quantity(struct pyro_strbuf *text, const json_t *value, const char *unit)
{
    if (json_is_number(value))
        pyro_human_quantity(text, json_number_value(value), unit);
    else
        pyro_strbuf_add_text(text, json_is_string(value) ? json_string_value(value) : "-");
}

static void write_evidence(struct mcp_call *call, const json_t *finding)
{
    size_t i;
    json_t *one;
    pyro_mcp_line(call, "Evidence:");
    json_array_foreach(json_object_get(finding, "evidence"), i, one)
    {
        struct pyro_strbuf text;
        pyro_strbuf_init(&text, NULL);
        write_quantity(&text, json_object_get(one, "value"), pyro_mcp_text_of(one, "unit"));
        if (pyro_mcp_has(one, "expected")) {
            pyro_strbuf_add_text(&text, ", expected ");
            write_quantity(&text, json_object_get(one, "expected"), pyro_mcp_text_of(one, "unit"));
        }
        pyro_mcp_line(call, "  %s: %s", pyro_mcp_text_of(one, "metric"), text.data ? text.data : "");
        pyro_strbuf_done(&text);
    }
}

static void write_advice(struct mcp_call *call, const json_t *finding)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(finding, "advice"), i, one)
    {
        const char *key;
        json_t *value;
        pyro_mcp_line(call, "Recommendation: %s", pyro_mcp_text_of(one, "text"));
        json_object_foreach(json_object_get(one, "config"), key, value)
            pyro_mcp_line(call, "  --conf %s=%s", key, json_is_string(value) ? json_string_value(value) : "");
        if (pyro_mcp_has(one, "code"))
            pyro_mcp_line(call, "  %s", pyro_mcp_text_of(one, "code"));
        if (pyro_mcp_has(one, "verify"))
            pyro_mcp_line(call, "  Verify: %s", pyro_mcp_text_of(one, "verify"));
    }
}

static void write_rule(struct mcp_call *call, const char *id)
{
    for (size_t i = 0; i < pyro_rules_count(); i++) {
        struct pyro_rule_info rule = {.size = sizeof(rule)};
        if (pyro_rules_get(i, &rule) != PYRO_OK || strcmp(rule.id, id) != 0)
            continue;
        pyro_mcp_line(call, "Rule %s (%s): %s", rule.id, rule.category, rule.summary);
        for (size_t j = 0; j < pyro_rules_threshold_count(i); j++) {
            struct pyro_threshold_info threshold = {.size = sizeof(threshold)};
            pyro_ignore_status(pyro_rules_threshold(i, j, &threshold), "the index exists and the size is set");
            pyro_mcp_line(call, "  %s = %g %s: %s", threshold.name, threshold.value, threshold.unit, threshold.doc);
        }
    }
}

static void write(struct mcp_call *call, const json_t *report, const json_t *finding)
{
    struct mcp_words words = {0};
    const json_t *saves = json_object_get(finding, "saves"), *wall = json_object_get(saves, "wall_ms");
    pyro_mcp_headline(call, report);
    pyro_mcp_line(call, "%s [%s, confidence %.2f]", pyro_mcp_text_of(finding, "id"),
                  pyro_mcp_text_of(finding, "severity"), pyro_mcp_real_of(finding, "confidence"));
    pyro_mcp_line(call, "%s", pyro_mcp_text_of(finding, "cause"));
    write_place(call, json_object_get(finding, "where"));
    const json_t *costs = json_object_get(finding, "costs");
    if (json_is_integer(json_object_get(costs, "wall_ms")))
        pyro_mcp_line(call, "It costs %s of the run and %s of core time.",
                      pyro_mcp_ms(&words, pyro_mcp_int_of(costs, "wall_ms")),
                      pyro_mcp_ms(&words, pyro_mcp_int_of(costs, "core_ms")));
    pyro_mcp_line(call, "Fixing it saves %s of the run (%s to %s) and %s of core time.",
                  pyro_mcp_ms(&words, pyro_mcp_int_of(wall, "expected")),
                  pyro_mcp_ms(&words, pyro_mcp_int_of(wall, "low")), pyro_mcp_ms(&words, pyro_mcp_int_of(wall, "high")),
                  pyro_mcp_ms(&words, pyro_mcp_int_of(saves, "core_ms")));
    write_evidence(call, finding);
    write_advice(call, finding);
    write_rule(call, pyro_mcp_text_of(finding, "rule"));
}

/* Says how the finding's rule judged where there is no such finding. */
static void write_verdict(struct mcp_call *call, const json_t *report, const char *name)
{
    const json_t *findings = json_object_get(report, "findings");
    const char *verdict = json_string_value(json_object_get(json_object_get(report, "rules"), name));
    struct pyro_strbuf ids;
    size_t i;
    json_t *one;
    pyro_strbuf_init(&ids, NULL);
    json_array_foreach(findings, i, one) pyro_strbuf_printf(&ids, "%s%s", i ? ", " : "", pyro_mcp_text_of(one, "id"));
    if (verdict) {
        pyro_mcp_headline(call, report);
        pyro_mcp_line(call, "The rule %s has no finding in this run: %s.", name, verdict);
        write_rule(call, name);
    } else {
        pyro_mcp_fail(call, "this run has no finding '%s'; it has: %s", pyro_mcp_shown(name),
                      ids.len ? ids.data : "none");
    }
    pyro_strbuf_done(&ids);
}

static void explain(struct mcp_call *call, const json_t *report)
{
    const char *name = pyro_mcp_text(call, "finding");
    size_t i;
    json_t *finding;
    bool found = false;
    json_array_foreach(json_object_get(report, "findings"), i, finding)
    {
        if (strcmp(pyro_mcp_text_of(finding, "id"), name) == 0 ||
            strcmp(pyro_mcp_text_of(finding, "rule"), name) == 0) {
            write(call, report, finding);
            found = true;
        }
    }
    if (!found)
        write_verdict(call, report, name);
}

static void run(struct mcp_call *call)
{
    const struct pyro_catalog_diagnosis *opened = pyro_mcp_open_report(call, "app");
    json_t *report = opened ? pyro_mcp_report(call, opened) : NULL;
    if (report)
        explain(call, report);
    json_decref(report);
    pyro_catalog_diagnosis_release(opened);
}

static const struct mcp_parameter parameters[] = {
    MCP_PARAMETER_APP,
    {"finding", MCP_TEXT, true, "Id of a finding as diagnose lists it, or of a rule (\"data-skew\")", NULL},
    {0},
};

const struct mcp_tool pyro_mcp_tool_explain_finding = {
    "explain_finding", "Explain a finding",
    "Evidence, stage or call site, recommendations with settings, how to verify them, and the thresholds of the rule; "
    "or why a rule was quiet.",
    parameters, run};
