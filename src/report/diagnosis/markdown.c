/* The same report as GitHub-flavoured Markdown. */
#include "analyze/app_facts.h"
#include "report/cost/cost.h"
#include "report/diagnosis/outline.h"
#include "report/renderers.h"
#include "report/shared/app_failure.h"
#include "report/shared/draw.h"
#include "report/shared/finding_facts.h"
#include "text/escape.h"
#include "text/humanize.h"

static void add_line(struct pyro_strbuf *out, const char *first, const struct pyro_strbuf *text)
{
    pyro_strbuf_add_text(out, first);
    pyro_add_markdown(out, pyro_strbuf_slice(text));
    pyro_strbuf_add_char(out, '\n');
    out->failed |= text->failed;
}

static void write_title(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                        const struct pyro_report_options *options)
{
    struct pyro_strbuf *out = &outline->output->buffer, *line = outline->line;
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_application_row *row = &app->application;
    pyro_strbuf_add_slice(line, pyro_fact_name(app));
    add_line(out, "# Spark optimization report: ", line);
    pyro_strbuf_add_text(
        out, "\n| Application | Spark | Outcome | Started | Duration | Jobs | Stages | Tasks | Executors |\n"
             "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n| ");
    pyro_add_markdown(out, row->id);
    pyro_strbuf_add_text(out, " | ");
    pyro_add_markdown(out, row->spark_version);
    pyro_strbuf_add_text(out, " | ");
    pyro_strbuf_add_text(out, row->outcome.len ? pyro_run_outcome_words(pyro_app_outcome(app)) : "");
    pyro_strbuf_add_text(out, " | ");
    pyro_human_time(out, row->start_ms, options->utc_offset_s);
    pyro_strbuf_add_text(out, " | ");
    pyro_human_ms(out, row->duration_ms);
    const int64_t counts[] = {app->numbers.jobs, app->numbers.stages, app->numbers.tasks, app->numbers.executors};
    for (size_t i = 0; i < 4; i++) {
        pyro_strbuf_add_text(out, " | ");
        pyro_human_count(out, counts[i]);
    }
    pyro_strbuf_add_text(out, " |\n\n");
    const struct pyro_cost *cost = diagnosis->cost;
    if (cost && cost->money.known) {
        pyro_strbuf_add_text(out, "Cost: ");
        pyro_human_money(out, cost->money.micros, cost->money.currency);
        pyro_strbuf_add_text(out, "\n\n");
    }
    pyro_strbuf_clear(line);
    pyro_fact_orchestrator(line, app);
    if (line->len) {
        add_line(out, "Started by: ", line);
        pyro_strbuf_add_char(out, '\n');
    }
    pyro_strbuf_clear(line);
    pyro_fact_failure(line, diagnosis);
    if (line->len) {
        add_line(out, "", line);
        pyro_strbuf_add_char(out, '\n');
    }
    pyro_strbuf_clear(line);
    pyro_fact_verdict(line, diagnosis);
    pyro_strbuf_add_text(out, "**");
    pyro_add_markdown(out, pyro_strbuf_slice(line));
    pyro_strbuf_add_text(out, "** Checked ");
    pyro_fact_rules(out, diagnosis);
    pyro_strbuf_add_text(out, ".\n");
    pyro_strbuf_clear(line);
    pyro_fact_configured(line, diagnosis);
    if (line->len)
        add_line(out, "\n", line);
}

/* A fenced block whose fence is longer than any run of backticks in it. */
static void write_code(struct pyro_strbuf *out, struct pyro_slice code, const char *indent)
{
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < code.len; i++) {
        run = code.ptr[i] == '`' ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    for (int end = 0; end < 2; end++) {
        pyro_strbuf_add_text(out, indent);
        for (size_t i = 0; i <= longest; i++)
            pyro_strbuf_add_char(out, '`');
        pyro_strbuf_add_char(out, '\n');
        for (const char *p = code.ptr, *stop = code.ptr + code.len; !end && p < stop;) {
            const char *newline = memchr(p, '\n', (size_t)(stop - p));
            size_t len = newline ? (size_t)(newline - p) : (size_t)(stop - p);
            pyro_strbuf_add_text(out, indent);
            pyro_add_plain(out, (struct pyro_slice){p, len});
            pyro_strbuf_add_char(out, '\n');
            p += len + (newline ? 1 : 0);
        }
    }
}

static void write_heading(void *form, const char *title)
{
    struct pyro_output *output = form;
    pyro_strbuf_printf(&output->buffer, "\n## %s\n\n", title);
}

static void write_part(void *form, enum pyro_outline_part part, struct pyro_slice text)
{
    static const char *const begins[] = {
        [PYRO_OUTLINE_PLAN] = "\n",     [PYRO_OUTLINE_ACTION] = "\n", [PYRO_OUTLINE_FACT] = "   - ",
        [PYRO_OUTLINE_CHECK] = "   - ", [PYRO_OUTLINE_FOLDED] = "- ", [PYRO_OUTLINE_CHANGE] = "- ",
    };
    struct pyro_output *output = form;
    pyro_strbuf_add_text(&output->buffer, begins[part]);
    pyro_add_markdown(&output->buffer, text);
    pyro_strbuf_add_char(&output->buffer, '\n');
}

static void write_example(void *form, struct pyro_slice code)
{
    struct pyro_output *output = form;
    write_code(&output->buffer, code, "     ");
}

static void write_settings(void *form, const struct pyro_setting *settings, size_t count, bool of_action)
{
    struct pyro_output *output = form;
    struct pyro_strbuf lines;
    pyro_strbuf_init(&lines, output->buffer.allocator);
    for (size_t i = 0; i < count; i++) {
        pyro_fact_setting(&lines, &settings[i]);
        pyro_strbuf_add_char(&lines, '\n');
    }
    if (lines.len)
        write_code(&output->buffer, pyro_strbuf_slice(&lines), of_action ? "     " : "");
    if (!of_action)
        pyro_strbuf_add_char(&output->buffer, '\n');
    output->buffer.failed |= lines.failed;
    pyro_strbuf_done(&lines);
}

static void write_section(void *form, const struct pyro_section *section)
{
    pyro_markdown_section(form, section);
}

static void write_finding(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis, size_t place,
                          size_t number)
{
    const struct pyro_finding *finding = &diagnosis->findings[place];
    struct pyro_strbuf *out = &outline->output->buffer;
    pyro_strbuf_printf(out, "\n%zu. **", number);
    pyro_add_markdown(out, finding->title);
    pyro_strbuf_add_text(out, "**: ");
    pyro_fact_costs(out, diagnosis->app, finding);
    pyro_strbuf_add_text(out, ", confidence ");
    pyro_human_hundredths(out, finding->confidence);
    pyro_strbuf_add_text(out, "\n");
    pyro_outline_finding(outline, diagnosis, place);
}

static void write_findings(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis)
{
    static const char *const headings[] = {"Low", "Moderate", "Severe", "Critical issues"};
    struct pyro_output *output = outline->output;
    size_t number = 0;
    for (int severity = PYRO_SEVERITY_CRITICAL; severity >= PYRO_SEVERITY_LOW; severity--) {
        bool first = true;
        for (size_t i = 0; i < diagnosis->finding_count; i++) {
            if ((int)diagnosis->findings[i].severity != severity || diagnosis->findings[i].folded)
                continue;
            if (first)
                pyro_strbuf_printf(&output->buffer, "\n## %s\n", headings[severity]);
            first = false;
            write_finding(outline, diagnosis, i, ++number);
            pyro_output_flush(output, false);
        }
    }
    pyro_outline_folded(outline, diagnosis);
}

static void write_grid(struct pyro_output *output, const struct pyro_grid *grid)
{
    struct pyro_strbuf *out = &output->buffer;
    bool shown[PYRO_GRID_COLUMNS];
    for (size_t c = 0; c < grid->column_count; c++)
        shown[c] = !grid->columns[c].bar && (!grid->columns[c].spare || !pyro_grid_column_empty(grid, c));
    pyro_strbuf_add_text(out, "\n|");
    for (size_t c = 0; c < grid->column_count; c++)
        if (shown[c])
            pyro_strbuf_printf(out, " %s |", grid->columns[c].title);
    pyro_strbuf_add_text(out, "\n|");
    for (size_t c = 0; c < grid->column_count; c++)
        if (shown[c])
            pyro_strbuf_add_text(out, grid->columns[c].right ? " ---: |" : " --- |");
    pyro_strbuf_add_char(out, '\n');
    for (size_t row = 0; row < pyro_grid_rows(grid); row++) {
        pyro_strbuf_add_char(out, '|');
        for (size_t c = 0; c < grid->column_count; c++) {
            if (!shown[c])
                continue;
            pyro_strbuf_add_char(out, ' ');
            pyro_add_markdown(out, pyro_grid_cell(grid, row, c));
            pyro_strbuf_add_text(out, " |");
        }
        pyro_strbuf_add_char(out, '\n');
        pyro_output_flush(output, false);
    }
}

void pyro_markdown_section(struct pyro_output *output, const struct pyro_section *section)
{
    struct pyro_strbuf *out = &output->buffer;
    pyro_strbuf_printf(out, "\n## %s\n", section->title);
    if (section->lead.len) {
        pyro_strbuf_add_char(out, '\n');
        add_line(out, "", &section->lead);
    }
    if (pyro_grid_rows(&section->grid))
        write_grid(output, &section->grid);
    struct pyro_slice rest = pyro_strbuf_slice(&section->remarks), remark;
    if (rest.len)
        pyro_strbuf_add_char(out, '\n');
    while (pyro_outline_remark(&rest, &remark)) {
        pyro_strbuf_add_text(out, "- ");
        pyro_add_markdown(out, remark);
        pyro_strbuf_add_char(out, '\n');
    }
    out->failed |= pyro_section_failed(section);
}

static void markdown_report(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                            const struct pyro_report_options *options, size_t index, bool many)
{
    struct pyro_strbuf line;
    (void)many;
    pyro_strbuf_init(&line, output->buffer.allocator);
    if (index)
        pyro_strbuf_add_text(&output->buffer, "\n---\n\n");
    const struct pyro_outline outline = {output,     output,        &line,          write_heading,
                                         write_part, write_example, write_settings, write_section};
    write_title(&outline, diagnosis, options);
    pyro_outline_actions(&outline, diagnosis, options);
    write_findings(&outline, diagnosis);
    pyro_outline_changes(&outline, diagnosis, options);
    pyro_outline_sections(&outline, diagnosis, options);
    output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
}

static void markdown_end_many(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                              const struct pyro_slice *unreadable_reasons, size_t unreadable_count)
{
    if (unreadable_count)
        pyro_strbuf_add_text(&output->buffer, "\n---\n\n## Not readable\n\n| Path | Reason |\n| --- | --- |\n");
    for (size_t i = 0; i < unreadable_count; i++) {
        pyro_strbuf_add_text(&output->buffer, "| ");
        pyro_add_markdown(&output->buffer, unreadable_paths[i]);
        pyro_strbuf_add_text(&output->buffer, " | ");
        pyro_add_markdown(&output->buffer, unreadable_reasons[i]);
        pyro_strbuf_add_text(&output->buffer, " |\n");
        pyro_output_flush(output, false);
    }
}

const struct pyro_renderer pyro_renderer_markdown = {"markdown", PYRO_FORMAT_MARKDOWN, NULL, markdown_report,
                                                     markdown_end_many};
