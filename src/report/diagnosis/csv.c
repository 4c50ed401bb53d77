/* CSV (RFC 4180): one row a finding. Applications without findings have no row; the other formats say that they are
 * well. */
#include "advice/fix.h"
#include "report/renderers.h"
#include "report/shared/finding_facts.h"
#include "text/escape.h"

static const char header[] = "application,id,rule,category,severity,confidence,job,stage,attempt,sql,executor,host,"
                             "call_site,title,cause,saves_low_ms,saves_expected_ms,saves_high_ms,advice,costs_wall_ms,"
                             "costs_core_ms,outcome,action\r\n";

static void text_field(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    if (text.ptr)
        pyro_add_csv(buffer, text);
    pyro_strbuf_add_char(buffer, ',');
}

static void int_field(struct pyro_strbuf *buffer, int64_t value)
{
    if (value != PYRO_NONE)
        pyro_strbuf_add_int(buffer, value);
    pyro_strbuf_add_char(buffer, ',');
}

static void write_row(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis,
                      const struct pyro_finding *finding)
{
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_action *action = pyro_action_of(diagnosis, finding);
    text_field(buffer, app->application.id);
    text_field(buffer, finding->id);
    text_field(buffer, pyro_slice_from(finding->rule->id));
    text_field(buffer, pyro_slice_from(finding->rule->category));
    text_field(buffer, pyro_slice_from(pyro_severity_name(finding->severity)));
    pyro_add_json_real(buffer, finding->confidence);
    pyro_strbuf_add_char(buffer, ',');
    int_field(buffer, finding->job);
    int_field(buffer, finding->stage);
    int_field(buffer, finding->attempt);
    int_field(buffer, finding->sql);
    text_field(buffer, finding->executor);
    text_field(buffer, finding->host);
    text_field(buffer, finding->call_site);
    text_field(buffer, finding->title);
    text_field(buffer, finding->cause);
    int_field(buffer, finding->saves.wall_low_ms);
    int_field(buffer, finding->saves.wall_expected_ms);
    int_field(buffer, finding->saves.wall_high_ms);
    struct pyro_strbuf advice;
    pyro_strbuf_init(&advice, buffer->allocator);
    for (size_t i = 0; i < finding->advice_count; i++) {
        pyro_strbuf_add_text(&advice, i ? " " : "");
        pyro_strbuf_add_slice(&advice, finding->advice[i].text);
    }
    buffer->failed |= advice.failed;
    pyro_add_csv(buffer, pyro_strbuf_slice(&advice));
    pyro_strbuf_done(&advice);
    pyro_strbuf_add_char(buffer, ',');
    int_field(buffer, finding->costs.wall_ms);
    int_field(buffer, finding->costs.core_ms);
    text_field(buffer, app->application.outcome);
    if (action) /* its number, of which 1 is the first to do */
        pyro_strbuf_add_int(buffer, action - diagnosis->actions + 1);
    pyro_strbuf_add_text(buffer, "\r\n");
}

static void csv_begin_many(struct pyro_output *output, const struct pyro_report_options *options)
{
    (void)options;
    pyro_strbuf_add_text(&output->buffer, header);
}

static void csv_report(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_report_options *options, size_t index, bool many)
{
    (void)options;
    (void)index;
    if (!many)
        pyro_strbuf_add_text(&output->buffer, header);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        write_row(&output->buffer, diagnosis, &diagnosis->findings[i]);
        pyro_output_flush(output, false);
    }
}

/* A table of findings has no place for inputs that could not be read: the caller knows them. */
static void csv_end_many(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                         const struct pyro_slice *unreadable_reasons, size_t unreadable_count)
{
    (void)output;
    (void)unreadable_paths;
    (void)unreadable_reasons;
    (void)unreadable_count;
}

const struct pyro_renderer pyro_renderer_csv = {"csv", PYRO_FORMAT_CSV, csv_begin_many, csv_report, csv_end_many};
