/* SARIF 2.1.0 (OASIS), for code scanning services: one run an application, one result a finding. */
#include "report/diagnosis/sarif.h"

#include <ctype.h>
#include <math.h>

#include "report/renderers.h"
#include "report/shared/finding_facts.h"

void pyro_sarif_begin(struct pyro_json_writer *json)
{
    pyro_json_begin(json, NULL, '{');
    pyro_json_line(json);
    pyro_json_string(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    pyro_json_line(json);
    pyro_json_string(json, "version", "2.1.0");
    pyro_json_line(json);
    pyro_json_begin(json, "runs", '[');
}

void pyro_sarif_end(struct pyro_json_writer *json)
{
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
    pyro_strbuf_add_char(&json->output->buffer, '\n');
}

void pyro_sarif_message(struct pyro_json_writer *json, const char *key, struct pyro_slice text)
{
    pyro_json_begin(json, key, '{');
    pyro_json_text(json, "text", text.len ? text : PYRO_SLICE_LITERAL("-"));
    pyro_json_end(json, '}');
}

/* What call sites name when the user's code is in another language than Spark's. */
static bool is_of_the_jvm(struct pyro_slice file)
{
    static const char *const names[] = {"NativeMethodAccessorImpl.java",
                                        "DirectMethodHandleAccessor.java",
                                        "DelegatingMethodAccessorImpl.java",
                                        "Method.java",
                                        "Thread.java",
                                        "ThreadPoolExecutor.java",
                                        "FutureTask.java"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (pyro_slice_is(file, names[i]))
            return true;
    return false;
}

bool pyro_sarif_source(struct pyro_slice call_site, struct pyro_slice *file, int64_t *line)
{
    size_t colon = call_site.len;
    int64_t number = 0;
    while (colon > 0 && isdigit((unsigned char)call_site.ptr[colon - 1]))
        colon--;
    if (colon == call_site.len || call_site.len - colon > 9 || colon < 2 || call_site.ptr[colon - 1] != ':')
        return false;
    for (size_t i = colon; i < call_site.len; i++)
        number = number * 10 + (call_site.ptr[i] - '0');
    size_t end = colon - 1, from = end;
    while (from > 0 && !(from >= 4 && memcmp(call_site.ptr + from - 4, " at ", 4) == 0))
        from--;
    struct pyro_slice path = {call_site.ptr + from, end - from};
    if (number < 1 || !path.len || is_of_the_jvm(path) || !memchr(path.ptr, '.', path.len) || path.ptr[0] == '<')
        return false;
    *file = path;
    *line = number;
    return true;
}

void pyro_sarif_uri(struct pyro_strbuf *buffer, struct pyro_slice path)
{
    static const char hex[] = "0123456789ABCDEF";
    if (path.len && path.ptr[0] == '/')
        pyro_strbuf_add_text(buffer, "file://");
    for (size_t i = 0; i < path.len; i++) {
        unsigned char byte = (unsigned char)path.ptr[i];
        if (byte < 0x80 && (isalnum(byte) || memchr("-._~/", byte, 5))) {
            pyro_strbuf_add_char(buffer, (char)byte);
        } else {
            pyro_strbuf_add_char(buffer, '%');
            pyro_strbuf_add_char(buffer, hex[byte >> 4]);
            pyro_strbuf_add_char(buffer, hex[byte & 15]);
        }
    }
}

static void write_physical(struct pyro_json_writer *json, struct pyro_slice path, int64_t line)
{
    struct pyro_strbuf uri;
    pyro_strbuf_init(&uri, json->output->buffer.allocator);
    pyro_sarif_uri(&uri, path);
    pyro_json_begin(json, "physicalLocation", '{');
    pyro_json_begin(json, "artifactLocation", '{');
    pyro_json_text(json, "uri", pyro_strbuf_slice(&uri));
    pyro_json_end(json, '}');
    if (line > 0) {
        pyro_json_begin(json, "region", '{');
        pyro_json_int(json, "startLine", line);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, '}');
    json->output->buffer.failed |= uri.failed;
    pyro_strbuf_done(&uri);
}

void pyro_sarif_locations(struct pyro_json_writer *json, const struct pyro_app *app, const struct pyro_finding *finding)
{
    struct pyro_slice file = PYRO_SLICE_NULL;
    struct pyro_strbuf place;
    int64_t line = 0;
    pyro_strbuf_init(&place, json->output->buffer.allocator);
    if (finding)
        pyro_fact_where(&place, finding);
    pyro_json_line(json);
    pyro_json_begin(json, "locations", '[');
    pyro_json_begin(json, NULL, '{');
    if (finding && finding->call_site.ptr && pyro_sarif_source(finding->call_site, &file, &line))
        write_physical(json, file, line);
    else if (app->path.len && !pyro_slice_is(app->path, "-"))
        write_physical(json, app->path, 0);
    pyro_json_begin(json, "logicalLocations", '[');
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "name", place.len ? pyro_strbuf_slice(&place) : pyro_fact_name(app));
    pyro_json_end(json, '}');
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
    pyro_json_end(json, ']');
    json->output->buffer.failed |= place.failed;
    pyro_strbuf_done(&place);
}

void pyro_sarif_run_details(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis, const char *verb)
{
    const struct pyro_app *app = diagnosis->app;
    struct pyro_slice note;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, json->output->buffer.allocator);
    pyro_strbuf_printf(&text, "pyrometer/%s/", verb);
    pyro_strbuf_add_slice(&text, pyro_fact_name(app));
    pyro_strbuf_add_char(&text, '/');
    pyro_strbuf_add_slice(&text, app->application.id);
    pyro_json_line(json);
    pyro_json_begin(json, "automationDetails", '{');
    pyro_json_text(json, "id", pyro_strbuf_slice(&text));
    pyro_json_end(json, '}');
    pyro_json_line(json);
    pyro_json_begin(json, "invocations", '[');
    pyro_json_begin(json, NULL, '{');
    pyro_json_bool(json, "executionSuccessful", true);
    pyro_json_begin(json, "toolExecutionNotifications", '[');
    for (size_t i = 0; (note = pyro_diagnosis_note(diagnosis, i)).ptr; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "level", "warning");
        pyro_sarif_message(json, "message", note);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
    pyro_json_end(json, ']');
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void write_rule(struct pyro_json_writer *json, const struct pyro_rule *rule)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, json->output->buffer.allocator);
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "id", rule->id);
    pyro_json_string(json, "name", rule->title);
    pyro_sarif_message(json, "shortDescription", pyro_slice_from(rule->title));
    pyro_sarif_message(json, "fullDescription", pyro_slice_from(rule->summary));
    pyro_json_begin(json, "help", '{');
    pyro_strbuf_printf(&text, "%s More: pyrometer rules %s", rule->summary, rule->id);
    pyro_json_text(json, "text", pyro_strbuf_slice(&text));
    pyro_strbuf_clear(&text);
    pyro_strbuf_printf(&text, "%s\n\nMeaning, how to fix it, and formula: `pyrometer rules %s`", rule->summary,
                       rule->id);
    pyro_json_text(json, "markdown", pyro_strbuf_slice(&text));
    pyro_json_end(json, '}');
    pyro_strbuf_clear(&text);
    pyro_strbuf_printf(&text, "docs/rules/%s.md", rule->id);
    pyro_json_begin(json, "properties", '{');
    pyro_json_begin(json, "tags", '[');
    pyro_json_string(json, NULL, "performance");
    pyro_json_string(json, NULL, rule->category);
    pyro_json_end(json, ']');
    /* helpUri must be absolute by the standard; this is the page within the project. */
    pyro_json_text(json, "page", pyro_strbuf_slice(&text));
    pyro_json_end(json, '}');
    pyro_json_end(json, '}');
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void write_driver(struct pyro_json_writer *json)
{
    pyro_json_line(json);
    pyro_json_begin(json, "tool", '{');
    pyro_json_begin(json, "driver", '{');
    pyro_json_string(json, "name", "Pyrometer");
    pyro_json_string(json, "version", PYROMETER_VERSION);
    pyro_json_string(json, "semanticVersion", PYROMETER_VERSION);
    pyro_json_begin(json, "rules", '[');
    for (size_t i = 0; i < pyro_rule_count; i++)
        write_rule(json, pyro_rules[i]);
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
    pyro_json_end(json, '}');
}

static const char *level_of(enum pyro_severity severity)
{
    return severity >= PYRO_SEVERITY_SEVERE ? "error" : severity == PYRO_SEVERITY_MODERATE ? "warning" : "note";
}

static int64_t rule_index(const struct pyro_rule *rule)
{
    for (size_t i = 0; i < pyro_rule_count; i++)
        if (pyro_rules[i] == rule)
            return (int64_t)i;
    return -1;
}

static void begin_result(struct pyro_json_writer *json, const struct pyro_rule *rule, enum pyro_severity severity)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "ruleId", rule->id);
    if (rule_index(rule) >= 0)
        pyro_json_int(json, "ruleIndex", rule_index(rule));
    pyro_json_string(json, "level", level_of(severity));
    pyro_json_line(json);
}

static void write_fingerprint(struct pyro_json_writer *json, struct pyro_slice id)
{
    pyro_json_line(json);
    pyro_json_begin(json, "partialFingerprints", '{');
    pyro_json_text(json, "findingId/v1", id);
    pyro_json_end(json, '}');
}

static void write_message(struct pyro_json_writer *json, const struct pyro_finding *finding)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, json->output->buffer.allocator);
    pyro_strbuf_add_slice(&text, finding->title);
    pyro_strbuf_add_text(&text, ". ");
    pyro_fact_cause(&text, finding);
    for (size_t i = 0; i < finding->advice_count; i++) {
        pyro_strbuf_add_text(&text, i ? " Or: " : " Recommendation: ");
        pyro_strbuf_add_slice(&text, finding->advice[i].text);
    }
    pyro_sarif_message(json, "message", pyro_strbuf_slice(&text));
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void write_properties(struct pyro_json_writer *json, const struct pyro_finding *finding)
{
    pyro_json_line(json);
    pyro_json_begin(json, "properties", '{');
    pyro_json_text(json, "id", finding->id);
    pyro_json_string(json, "severity", pyro_severity_name(finding->severity));
    pyro_json_real(json, "confidence", finding->confidence);
    pyro_json_begin(json, "saves", '{');
    pyro_json_begin(json, "wall_ms", '{');
    pyro_json_int(json, "low", finding->saves.wall_low_ms);
    pyro_json_int(json, "expected", finding->saves.wall_expected_ms);
    pyro_json_int(json, "high", finding->saves.wall_high_ms);
    pyro_json_end(json, '}');
    pyro_json_int(json, "core_ms", finding->saves.core_ms);
    pyro_json_end(json, '}');
    pyro_json_begin(json, "costs", '{');
    pyro_json_int(json, "wall_ms", finding->costs.wall_ms);
    pyro_json_int(json, "core_ms", finding->costs.core_ms);
    pyro_json_end(json, '}');
    pyro_json_begin(json, "config", '{');
    for (size_t i = 0; i < finding->advice_count; i++) {
        for (size_t k = 0; k < finding->advice[i].setting_count; k++) {
            const struct pyro_setting *setting = &finding->advice[i].settings[k];
            bool before = false; /* the first advice that sets it wins, as in the order of the report */
            for (size_t j = 0; j < i; j++)
                for (size_t m = 0; m < finding->advice[j].setting_count; m++)
                    before = before || pyro_slice_eq(finding->advice[j].settings[m].key, setting->key);
            if (before)
                continue;
            pyro_json_key(json, setting->key);
            pyro_json_text(json, NULL, setting->value);
        }
    }
    pyro_json_end(json, '}');
    pyro_json_end(json, '}');
}

static void write_suppression(struct pyro_json_writer *json, struct pyro_slice reason)
{
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "kind", "external");
    pyro_json_string(json, "status", "accepted");
    if (reason.len)
        pyro_json_text(json, "justification", reason);
    pyro_json_end(json, '}');
}

static void write_finding(struct pyro_json_writer *json, const struct pyro_app *app, const struct pyro_finding *finding)
{
    double share = app->application.duration_ms > 0
                       ? (double)finding->saves.wall_expected_ms / (double)app->application.duration_ms
                       : 0;
    begin_result(json, finding->rule, finding->severity);
    write_message(json, finding);
    pyro_json_real(json, "rank", fmin(fmax(100 * share, 0), 100));
    pyro_sarif_locations(json, app, finding);
    write_fingerprint(json, finding->id);
    pyro_json_begin(json, "suppressions", '[');
    if (finding->folded)
        write_suppression(json, finding->note);
    pyro_json_end(json, ']');
    write_properties(json, finding);
    pyro_json_end(json, '}');
}

static void write_suppressed(struct pyro_json_writer *json, const struct pyro_app *app,
                             const struct pyro_suppressed *suppressed)
{
    begin_result(json, suppressed->rule, suppressed->severity);
    pyro_sarif_message(json, "message", pyro_slice_from(suppressed->rule->title));
    pyro_sarif_locations(json, app, NULL);
    write_fingerprint(json, suppressed->id);
    pyro_json_begin(json, "suppressions", '[');
    write_suppression(json, suppressed->reason);
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_actions(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_begin(json, "actions", '[');
    for (size_t i = 0; i < diagnosis->action_count; i++) {
        const struct pyro_action *action = &diagnosis->actions[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "id", action->id);
        pyro_json_text(json, "text", action->text);
        pyro_json_begin(json, "config", '{');
        for (size_t k = 0; k < action->setting_count; k++) {
            pyro_json_key(json, action->settings[k].key);
            pyro_json_text(json, NULL, action->settings[k].value);
        }
        pyro_json_end(json, '}');
        pyro_json_begin(json, "cures", '[');
        for (size_t k = 0; k < action->cure_count; k++)
            pyro_json_text(json, NULL, diagnosis->findings[action->cures[k]].id);
        pyro_json_end(json, ']');
        pyro_json_int(json, "saves_ms",
                      action->saves.basis == PYRO_BASIS_NONE ? PYRO_NONE : action->saves.wall_expected_ms);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

/* What became of it, what to do, and what all recommended settings do together, and all changes of the program. */
static void write_run_properties(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    static const char *const names[] = {"plan", "code_plan"};
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, json->output->buffer.allocator);
    pyro_json_line(json);
    pyro_json_begin(json, "properties", '{');
    pyro_json_text(json, "outcome", diagnosis->app->application.outcome);
    for (int code = 0; code < 2; code++) {
        pyro_strbuf_clear(&text);
        pyro_fact_plan(&text, diagnosis, code == 1);
        if (text.len)
            pyro_json_text(json, names[code], pyro_strbuf_slice(&text));
    }
    write_actions(json, diagnosis);
    pyro_json_end(json, '}');
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void write_run(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    write_driver(json);
    pyro_sarif_run_details(json, diagnosis, "diagnose");
    pyro_json_line(json);
    pyro_json_begin(json, "results", '[');
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        write_finding(json, diagnosis->app, &diagnosis->findings[i]);
    for (size_t i = 0; i < diagnosis->suppressed_count; i++)
        write_suppressed(json, diagnosis->app, &diagnosis->suppressed[i]);
    pyro_json_end(json, ']');
    write_run_properties(json, diagnosis);
    pyro_json_end(json, '}');
}

static void sarif_begin_many(struct pyro_output *output, const struct pyro_report_options *options)
{
    struct pyro_json_writer json;
    (void)options;
    pyro_json_writer_init(&json, output);
    pyro_sarif_begin(&json);
}

static void sarif_report(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_report_options *options, size_t index, bool many)
{
    struct pyro_json_writer json;
    (void)options;
    pyro_json_writer_init(&json, output);
    if (!many)
        pyro_sarif_begin(&json);
    else if (index)
        pyro_strbuf_add_char(&output->buffer, ',');
    write_run(&json, diagnosis);
    output->reports++;
    if (!many)
        pyro_sarif_end(&json);
}

/* What could not be read is a run without results that did not succeed. */
static void sarif_end_many(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                           const struct pyro_slice *unreadable_reasons, size_t unreadable_count)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, output->buffer.allocator);
    for (size_t i = 0; i < unreadable_count; i++) {
        struct pyro_json_writer json;
        pyro_json_writer_init(&json, output);
        if (output->reports || i)
            pyro_strbuf_add_char(&output->buffer, ',');
        pyro_strbuf_clear(&text);
        pyro_strbuf_add_slice(&text, unreadable_paths[i]);
        pyro_strbuf_add_text(&text, ": ");
        pyro_strbuf_add_slice(&text, unreadable_reasons[i]);
        pyro_json_begin(&json, NULL, '{');
        write_driver(&json);
        pyro_json_begin(&json, "invocations", '[');
        pyro_json_begin(&json, NULL, '{');
        pyro_json_bool(&json, "executionSuccessful", false);
        pyro_json_begin(&json, "toolExecutionNotifications", '[');
        pyro_json_begin(&json, NULL, '{');
        pyro_json_string(&json, "level", "error");
        pyro_sarif_message(&json, "message", pyro_strbuf_slice(&text));
        pyro_json_end(&json, '}');
        pyro_json_end(&json, ']');
        pyro_json_end(&json, '}');
        pyro_json_end(&json, ']');
        pyro_json_begin(&json, "results", '[');
        pyro_json_end(&json, ']');
        pyro_json_end(&json, '}');
    }
    output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
    pyro_strbuf_add_text(&output->buffer, "]}\n");
}

const struct pyro_renderer pyro_renderer_sarif = {"sarif", PYRO_FORMAT_SARIF, sarif_begin_many, sarif_report,
                                                  sarif_end_many};
