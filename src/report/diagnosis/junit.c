/* JUnit XML as Jenkins, GitLab and GitHub's reporters read it: a suite an application; a failed case a finding above
 * low severity, a passed case a rule without one, a skipped case a rule that does not apply. */
#include "report/diagnosis/junit.h"

#include "report/renderers.h"
#include "report/shared/finding_facts.h"
#include "text/escape.h"

void pyro_junit_begin(struct pyro_strbuf *out)
{
    pyro_strbuf_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"pyrometer\">\n");
}

void pyro_junit_end(struct pyro_strbuf *out)
{
    pyro_strbuf_add_text(out, "</testsuites>\n");
}

static void add_attribute(struct pyro_strbuf *out, const char *name, struct pyro_slice value)
{
    pyro_strbuf_printf(out, " %s=\"", name);
    pyro_add_xml(out, value);
    pyro_strbuf_add_char(out, '"');
}

void pyro_junit_suite(struct pyro_strbuf *out, const struct pyro_app *app, const struct pyro_junit_counts *counts)
{
    int64_t ms = app->application.duration_ms;
    pyro_strbuf_add_text(out, "  <testsuite");
    add_attribute(out, "name", pyro_fact_name(app));
    if (app->application.id.len)
        add_attribute(out, "package", app->application.id);
    pyro_strbuf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", counts->tests,
                       counts->failures, counts->skipped);
    if (ms >= 0 && ms < INT64_C(1000000000000)) {
        pyro_strbuf_add_text(out, " time=\"");
        /* Groups of three digits, as the schema of this attribute has it. */
        int64_t seconds = ms / 1000;
        if (seconds >= 1000000)
            pyro_strbuf_printf(out, "%lld,%03lld,%03lld", (long long)(seconds / 1000000),
                               (long long)(seconds / 1000 % 1000), (long long)(seconds % 1000));
        else if (seconds >= 1000)
            pyro_strbuf_printf(out, "%lld,%03lld", (long long)(seconds / 1000), (long long)(seconds % 1000));
        else
            pyro_strbuf_printf(out, "%lld", (long long)seconds);
        pyro_strbuf_printf(out, ".%03lld\"", (long long)(ms % 1000));
    }
    pyro_strbuf_add_text(out, ">\n");
}

void pyro_junit_suite_end(struct pyro_strbuf *out)
{
    pyro_strbuf_add_text(out, "  </testsuite>\n");
}

void pyro_junit_case(struct pyro_strbuf *out, const char *class_name, struct pyro_slice name)
{
    pyro_strbuf_add_text(out, "    <testcase");
    add_attribute(out, "classname", pyro_slice_from(class_name));
    add_attribute(out, "name", name);
    pyro_strbuf_add_text(out, ">\n");
}

void pyro_junit_case_end(struct pyro_strbuf *out)
{
    pyro_strbuf_add_text(out, "    </testcase>\n");
}

void pyro_junit_outcome(struct pyro_strbuf *out, const char *element, const char *type, struct pyro_slice message,
                        struct pyro_slice text)
{
    pyro_strbuf_printf(out, "      <%s", element);
    if (type)
        add_attribute(out, "type", pyro_slice_from(type));
    if (message.ptr)
        add_attribute(out, "message", message);
    pyro_strbuf_add_char(out, '>');
    while (text.len) { /* lines stay lines: only their content is escaped */
        const char *newline = memchr(text.ptr, '\n', text.len);
        size_t len = newline ? (size_t)(newline - text.ptr) : text.len;
        pyro_add_xml(out, (struct pyro_slice){text.ptr, len});
        if (newline)
            pyro_strbuf_add_char(out, '\n');
        len += newline ? 1 : 0;
        text = (struct pyro_slice){text.ptr + len, text.len - len};
    }
    pyro_strbuf_printf(out, "</%s>\n", element);
}

void pyro_junit_finding(struct pyro_strbuf *out, const struct pyro_finding *finding)
{
    pyro_fact_cause(out, finding);
    pyro_strbuf_add_char(out, '\n');
    if (finding->evidence_count) {
        pyro_strbuf_add_text(out, "Evidence: ");
        pyro_fact_evidence(out, finding);
        pyro_strbuf_add_char(out, '\n');
    }
    for (size_t i = 0; i < finding->advice_count; i++) {
        pyro_strbuf_add_text(out, "Recommendation: ");
        pyro_strbuf_add_slice(out, finding->advice[i].text);
        pyro_strbuf_add_char(out, '\n');
        for (size_t k = 0; k < finding->advice[i].setting_count; k++) {
            pyro_strbuf_add_text(out, "  ");
            pyro_strbuf_add_slice(out, finding->advice[i].settings[k].key);
            pyro_strbuf_add_char(out, '=');
            pyro_strbuf_add_slice(out, finding->advice[i].settings[k].value);
            pyro_strbuf_add_char(out, '\n');
        }
    }
}

static size_t serious_of(const struct pyro_diagnosis *diagnosis, const struct pyro_rule *rule)
{
    size_t count = 0;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        count += diagnosis->findings[i].rule == rule && diagnosis->findings[i].severity > PYRO_SEVERITY_LOW &&
                 !diagnosis->findings[i].folded;
    return count;
}

static void write_failures(struct pyro_strbuf *out, const struct pyro_diagnosis *diagnosis,
                           const struct pyro_rule *rule, struct pyro_strbuf *text)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (finding->rule != rule || finding->severity == PYRO_SEVERITY_LOW || finding->folded)
            continue;
        pyro_junit_case(out, rule->category, finding->id);
        pyro_strbuf_clear(text);
        pyro_fact_costs(text, diagnosis->app, finding);
        pyro_strbuf_add_text(text, ", ");
        pyro_fact_saves(text, diagnosis->app, &finding->saves);
        pyro_strbuf_add_char(text, '\n');
        pyro_junit_finding(text, finding);
        pyro_junit_outcome(out, "failure", pyro_severity_name(finding->severity), finding->title,
                           pyro_strbuf_slice(text));
        pyro_junit_case_end(out);
    }
}

static void write_property(struct pyro_strbuf *out, const char *name, struct pyro_slice value)
{
    if (!value.len)
        return;
    pyro_strbuf_printf(out, "      <property name=\"%s\"", name);
    add_attribute(out, "value", value);
    pyro_strbuf_add_text(out, "/>\n");
}

/* "Set spark.sql.shuffle.partitions to 16. Saves 10-32 s. spark.sql.shuffle.partitions=16" */
static void write_action(struct pyro_strbuf *out, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_action *action, struct pyro_strbuf *text)
{
    pyro_strbuf_clear(text);
    pyro_strbuf_add_slice(text, action->title);
    pyro_strbuf_add_text(text, ". ");
    pyro_fact_action_saves(text, diagnosis, action);
    for (size_t i = 0; i < action->setting_count; i++) {
        pyro_strbuf_add_char(text, ' ');
        pyro_fact_setting(text, &action->settings[i]);
    }
    write_property(out, "action", pyro_strbuf_slice(text));
}

/* What became of it, what to do, what all recommended settings do together, and all changes of the program. */
static void write_properties(struct pyro_strbuf *out, const struct pyro_diagnosis *diagnosis, struct pyro_strbuf *text)
{
    static const char *const names[] = {"plan", "code_plan"};
    pyro_strbuf_add_text(out, "    <properties>\n");
    write_property(out, "outcome", diagnosis->app->application.outcome);
    for (size_t i = 0; i < diagnosis->action_count; i++)
        write_action(out, diagnosis, &diagnosis->actions[i], text);
    for (int code = 0; code < 2; code++) {
        pyro_strbuf_clear(text);
        pyro_fact_plan(text, diagnosis, code == 1);
        write_property(out, names[code], pyro_strbuf_slice(text));
    }
    pyro_strbuf_add_text(out, "    </properties>\n");
}

static void junit_report(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_report_options *options, size_t index, bool many)
{
    struct pyro_strbuf *out = &output->buffer, text;
    struct pyro_junit_counts counts = {0};
    (void)options;
    (void)index;
    pyro_strbuf_init(&text, out->allocator);
    for (size_t i = 0; i < pyro_rule_count; i++) {
        size_t serious = serious_of(diagnosis, pyro_rules[i]);
        counts.tests += serious ? serious : 1;
        counts.failures += serious;
        counts.skipped += !serious && diagnosis->outcomes[i].verdict == PYRO_VERDICT_NOT_APPLICABLE;
    }
    if (!many)
        pyro_junit_begin(out);
    pyro_junit_suite(out, diagnosis->app, &counts);
    write_properties(out, diagnosis, &text);
    for (size_t i = 0; i < pyro_rule_count; i++) {
        const struct pyro_rule *rule = diagnosis->outcomes[i].rule;
        if (serious_of(diagnosis, rule)) {
            write_failures(out, diagnosis, rule, &text);
            continue;
        }
        pyro_junit_case(out, rule->category, pyro_slice_from(rule->id));
        if (diagnosis->outcomes[i].verdict == PYRO_VERDICT_NOT_APPLICABLE)
            pyro_junit_outcome(out, "skipped", NULL, PYRO_SLICE_LITERAL("does not apply to this application"),
                               PYRO_SLICE_NULL);
        pyro_junit_case_end(out);
        pyro_output_flush(output, false);
    }
    struct pyro_slice note;
    for (size_t i = 0; (note = pyro_diagnosis_note(diagnosis, i)).ptr; i++)
        pyro_junit_outcome(out, "system-err", NULL, PYRO_SLICE_NULL, note);
    pyro_junit_suite_end(out);
    if (!many)
        pyro_junit_end(out);
    out->failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void junit_begin_many(struct pyro_output *output, const struct pyro_report_options *options)
{
    (void)options;
    pyro_junit_begin(&output->buffer);
}

static void junit_end_many(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                           const struct pyro_slice *unreadable_reasons, size_t unreadable_count)
{
    struct pyro_strbuf *out = &output->buffer;
    if (unreadable_count)
        pyro_strbuf_printf(out,
                           "  <testsuite name=\"unreadable\" tests=\"%zu\" failures=\"0\" errors=\"%zu\" "
                           "skipped=\"0\">\n",
                           unreadable_count, unreadable_count);
    for (size_t i = 0; i < unreadable_count; i++) {
        pyro_junit_case(out, "unreadable", unreadable_paths[i]);
        pyro_junit_outcome(out, "error", "unreadable", unreadable_reasons[i], PYRO_SLICE_NULL);
        pyro_junit_case_end(out);
        pyro_output_flush(output, false);
    }
    if (unreadable_count)
        pyro_junit_suite_end(out);
    pyro_junit_end(out);
}

const struct pyro_renderer pyro_renderer_junit = {"junit", PYRO_FORMAT_JUNIT, junit_begin_many, junit_report,
                                                  junit_end_many};
