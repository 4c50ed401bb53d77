/* Writing what a gate found: text, JSON (pyrometer.gate/1), SARIF, JUnit. */
#include "base/options.h"
#include "compare/gate.h"

#include "report/comparison/comparison.h"
#include "report/diagnosis/junit.h"
#include "report/diagnosis/sarif.h"
#include "report/shared/draw.h"
#include "report/shared/finding_facts.h"
#include "text/humanize.h"

static void add_message(struct pyro_strbuf *text, const struct pyro_check *check)
{
    pyro_strbuf_add_slice(text, check->message);
    if (!check->finding)
        return;
    pyro_strbuf_add_text(text, " See ");
    pyro_strbuf_add_slice(text, check->finding->id);
    pyro_strbuf_printf(text, " (%s): ", pyro_severity_name(check->finding->severity));
    pyro_fact_cause(text, check->finding);
}

static void write_text(struct pyro_output *output, const struct pyro_gate *gate,
                       const struct pyro_report_options *options)
{
    struct pyro_page page;
    struct pyro_strbuf line;
    pyro_page_init(&page, output, options);
    pyro_strbuf_init(&line, output->buffer.allocator);
    pyro_strbuf_add_slice(&line, pyro_fact_name(gate->diagnosis->app));
    if (gate->failed)
        pyro_strbuf_printf(&line, ": %zu of %zu checks failed", gate->failed, gate->checks.count);
    else
        pyro_strbuf_printf(&line, ": all %zu checks passed", gate->checks.count);
    pyro_page_wrap(&page, gate->failed ? PYRO_STYLE_BAD : PYRO_STYLE_GOOD, "", pyro_strbuf_slice(&line));
    for (int passed = 0; passed < 2; passed++) {
        for (size_t i = 0; i < gate->checks.count; i++) {
            const struct pyro_check *check = &gate->checks.items[i];
            if (check->passed != (passed != 0))
                continue;
            pyro_strbuf_clear(&line);
            pyro_strbuf_add_slice(&line, check->name);
            pyro_strbuf_add_text(&line, ": ");
            add_message(&line, check);
            pyro_page_wrap(&page, check->passed ? PYRO_STYLE_NONE : PYRO_STYLE_WARN,
                           check->passed ? "  ok    " : "  FAIL  ", pyro_strbuf_slice(&line));
        }
    }
    output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
    pyro_page_done(&page);
}

static void write_side(struct pyro_json_writer *json, const char *key, const struct pyro_app *app)
{
    pyro_json_line(json);
    if (!app) {
        pyro_json_null(json, key);
        return;
    }
    pyro_json_begin(json, key, '{');
    pyro_json_text(json, "id", app->application.id);
    pyro_json_text(json, "name", app->application.name);
    pyro_json_text(json, "attempt", app->application.attempt);
    pyro_json_text(json, "status", app->application.status);
    pyro_json_text(json, "outcome", app->application.outcome);
    pyro_json_real(json, "confidence", app->integrity.confidence);
    pyro_json_text(json, "path", app->path);
    pyro_json_end(json, '}');
}

static void write_json(struct pyro_output *output, const struct pyro_gate *gate)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", "pyrometer.gate/1");
    write_side(&json, "application", gate->diagnosis->app);
    write_side(&json, "baseline", gate->comparison ? gate->comparison->before->app : NULL);
    pyro_json_line(&json);
    pyro_json_bool(&json, "passed", gate->failed == 0);
    pyro_json_count(&json, "failed", gate->failed);
    pyro_json_line(&json);
    pyro_json_begin(&json, "checks", '[');
    for (size_t i = 0; i < gate->checks.count; i++) {
        const struct pyro_check *check = &gate->checks.items[i];
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_text(&json, "name", check->name);
        pyro_json_bool(&json, "passed", check->passed);
        pyro_json_real(&json, "value", check->value);
        pyro_json_real(&json, "limit", check->limit);
        pyro_json_string(&json, "unit", check->unit);
        pyro_json_text(&json, "message", check->message);
        if (check->finding) {
            pyro_json_begin(&json, "finding", '{');
            pyro_json_text(&json, "id", check->finding->id);
            pyro_json_string(&json, "rule", check->finding->rule->id);
            pyro_json_string(&json, "severity", pyro_severity_name(check->finding->severity));
            pyro_json_text(&json, "title", check->finding->title);
            pyro_json_end(&json, '}');
        } else {
            pyro_json_null(&json, "finding");
        }
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}

/* What a check means, by the first word of its name. */
static const char *meaning(const struct pyro_check *check)
{
    for (size_t i = 0; i < PYRO_LIMITS; i++)
        if (pyro_slice_is(check->name, pyro_limits[i].name))
            return "A limit of the budget";
    if (pyro_slice_starts_with(check->name, "baseline."))
        return "The limits from the baseline";
    if (pyro_slice_starts_with(check->name, "complete"))
        return "Whether the log is complete";
    return "Findings of a severity or worse";
}

static void write_result(struct pyro_json_writer *json, const struct pyro_gate *gate, const struct pyro_check *check,
                         size_t index)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, json->output->buffer.allocator);
    add_message(&text, check);
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "ruleId", check->name);
    pyro_json_count(json, "ruleIndex", index);
    pyro_json_string(json, "level", "error");
    pyro_json_line(json);
    pyro_sarif_message(json, "message", pyro_strbuf_slice(&text));
    pyro_sarif_locations(json, gate->diagnosis->app, check->finding);
    pyro_json_line(json);
    pyro_json_begin(json, "partialFingerprints", '{');
    pyro_strbuf_clear(&text);
    pyro_strbuf_add_slice(&text, check->name);
    if (check->finding) {
        pyro_strbuf_add_char(&text, ' ');
        pyro_strbuf_add_slice(&text, check->finding->id);
    }
    pyro_json_text(json, "checkName/v1", pyro_strbuf_slice(&text));
    pyro_json_end(json, '}');
    pyro_json_begin(json, "properties", '{');
    pyro_json_real(json, "value", check->value);
    pyro_json_real(json, "limit", check->limit);
    pyro_json_string(json, "unit", check->unit);
    pyro_json_end(json, '}');
    pyro_json_end(json, '}');
    json->output->buffer.failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void write_sarif(struct pyro_output *output, const struct pyro_gate *gate)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_sarif_begin(&json);
    pyro_json_line(&json);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_begin(&json, "tool", '{');
    pyro_json_begin(&json, "driver", '{');
    pyro_json_string(&json, "name", "Pyrometer gate");
    pyro_json_string(&json, "version", PYROMETER_VERSION);
    pyro_json_string(&json, "semanticVersion", PYROMETER_VERSION);
    pyro_json_begin(&json, "rules", '[');
    for (size_t i = 0; i < gate->checks.count; i++) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_text(&json, "id", gate->checks.items[i].name);
        pyro_sarif_message(&json, "shortDescription", pyro_slice_from(meaning(&gate->checks.items[i])));
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_json_end(&json, '}');
    pyro_sarif_run_details(&json, gate->diagnosis, "gate");
    pyro_json_line(&json);
    pyro_json_begin(&json, "results", '[');
    for (size_t i = 0; i < gate->checks.count; i++)
        if (!gate->checks.items[i].passed)
            write_result(&json, gate, &gate->checks.items[i], i);
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_sarif_end(&json);
}

static void write_junit(struct pyro_output *output, const struct pyro_gate *gate)
{
    struct pyro_strbuf *out = &output->buffer, text;
    pyro_strbuf_init(&text, out->allocator);
    pyro_junit_begin(out);
    pyro_junit_suite(out, gate->diagnosis->app,
                     &(struct pyro_junit_counts){.tests = gate->checks.count, .failures = gate->failed});
    for (size_t i = 0; i < gate->checks.count; i++) {
        const struct pyro_check *check = &gate->checks.items[i];
        pyro_junit_case(out, "gate", check->name);
        if (!check->passed) {
            pyro_strbuf_clear(&text);
            if (check->finding)
                pyro_junit_finding(&text, check->finding);
            else
                pyro_strbuf_add_slice(&text, check->message);
            pyro_junit_outcome(out, "failure", check->name.ptr, check->message, pyro_strbuf_slice(&text));
        }
        pyro_junit_case_end(out);
    }
    pyro_junit_suite_end(out);
    pyro_junit_end(out);
    out->failed |= text.failed;
    pyro_strbuf_done(&text);
}

enum pyro_status pyro_gate_write(const pyro_gate *gate, enum pyro_format format,
                                 const struct pyro_report_options *options, const struct pyro_writer *writer,
                                 struct pyro_error *error)
{
    struct pyro_report_options own;
    struct pyro_output output;
    pyro_error_clear(error);
    if (!gate || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the gate or the writer is missing");
    PYRO_TRY(pyro_report_options_read(options, &own, error));
    pyro_output_init(&output, writer, gate->arena.allocator);
    switch (format) {
    case PYRO_FORMAT_TEXT:
        write_text(&output, gate, &own);
        break;
    case PYRO_FORMAT_JSON:
        write_json(&output, gate);
        break;
    case PYRO_FORMAT_SARIF:
        write_sarif(&output, gate);
        break;
    case PYRO_FORMAT_JUNIT:
        write_junit(&output, gate);
        break;
    default:
        pyro_strbuf_done(&output.buffer);
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a gate is written as text, json, sarif or junit");
    }
    return pyro_output_done(&output, error);
}
