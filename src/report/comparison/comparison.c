/* Writing a comparison: as text, Markdown or JSON. */
#include "report/comparison/comparison.h"

#include "analyze/app_facts.h"
#include "base/options.h"
#include "report/shared/draw.h"
#include "report/shared/finding_facts.h"
#include "text/escape.h"
#include "text/humanize.h"

static void add_side(struct pyro_strbuf *line, const struct pyro_app *app, const struct pyro_report_options *options)
{
    const struct pyro_application_row *row = &app->application;
    pyro_strbuf_add_slice(line, pyro_fact_name(app));
    if (row->id.len && !pyro_slice_eq(row->id, pyro_fact_name(app))) {
        pyro_strbuf_add_text(line, ", ");
        pyro_strbuf_add_slice(line, row->id);
    }
    pyro_strbuf_add_text(line, ", ");
    pyro_human_time(line, row->start_ms, options->utc_offset_s);
    pyro_strbuf_add_text(line, ", ");
    pyro_human_ms(line, row->duration_ms);
    if (row->outcome.len && pyro_app_outcome(app) != PYRO_RUN_COMPLETED) {
        pyro_strbuf_add_text(line, ", ");
        pyro_strbuf_add_text(line, pyro_run_outcome_words(pyro_app_outcome(app)));
    }
}

/* Lines of `lines`, each behind a bullet. */
static void text_lines(struct pyro_page *page, enum pyro_style style, const char *first, struct pyro_slice rest)
{
    while (rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        pyro_page_wrap(page, style, first, (struct pyro_slice){rest.ptr, len});
        len += newline ? 1 : 0;
        rest = (struct pyro_slice){rest.ptr + len, rest.len - len};
    }
}

static void write_text(struct pyro_output *output, const struct pyro_comparison *comparison,
                       const struct pyro_report_options *options)
{
    struct pyro_page page;
    struct pyro_strbuf line;
    pyro_page_init(&page, output, options);
    pyro_strbuf_init(&line, output->buffer.allocator);
    pyro_page_heading(&page, PYRO_SLICE_LITERAL("SPARK COMPARISON"), '=');
    pyro_strbuf_add_text(&line, "Before: ");
    add_side(&line, comparison->before->app, options);
    pyro_page_wrap(&page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    pyro_strbuf_add_text(&line, "After:  ");
    add_side(&line, comparison->after->app, options);
    pyro_page_wrap(&page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(&line));
    pyro_page_blank(&page);
    pyro_strbuf_clear(&line);
    pyro_comparison_verdict(&line, comparison);
    text_lines(&page, PYRO_STYLE_HEADING, "", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    pyro_comparison_reasons(&line, comparison);
    text_lines(&page, PYRO_STYLE_NONE, "  - ", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    pyro_comparison_caveats(&line, comparison);
    text_lines(&page, PYRO_STYLE_WARN, "", pyro_strbuf_slice(&line));
    output->buffer.failed |= line.failed;
    for (size_t i = 0; i < pyro_comparison_section_count; i++) {
        struct pyro_section section;
        pyro_section_init(&section, output->buffer.allocator);
        pyro_comparison_sections[i](&section, comparison, options);
        if (section.title)
            pyro_text_section(&page, &section, &line);
        output->buffer.failed |= line.failed || pyro_section_failed(&section);
        pyro_section_done(&section);
        pyro_output_flush(output, false);
    }
    pyro_strbuf_done(&line);
    pyro_page_done(&page);
}

static void markdown_lines(struct pyro_strbuf *out, const char *first, const char *last, struct pyro_slice rest)
{
    while (rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        pyro_strbuf_add_text(out, first);
        pyro_add_markdown(out, (struct pyro_slice){rest.ptr, len});
        pyro_strbuf_add_text(out, last);
        len += newline ? 1 : 0;
        rest = (struct pyro_slice){rest.ptr + len, rest.len - len};
    }
}

static void write_markdown(struct pyro_output *output, const struct pyro_comparison *comparison,
                           const struct pyro_report_options *options)
{
    struct pyro_strbuf *out = &output->buffer, line;
    pyro_strbuf_init(&line, out->allocator);
    pyro_strbuf_add_text(out, "# Spark comparison\n\n");
    add_side(&line, comparison->before->app, options);
    markdown_lines(out, "- Before: ", "\n", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    add_side(&line, comparison->after->app, options);
    markdown_lines(out, "- After: ", "\n", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    pyro_comparison_verdict(&line, comparison);
    markdown_lines(out, "\n**", "**\n\n", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    pyro_comparison_reasons(&line, comparison);
    markdown_lines(out, "- ", "\n", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    pyro_comparison_caveats(&line, comparison);
    markdown_lines(out, "\n> ", "\n", pyro_strbuf_slice(&line));
    out->failed |= line.failed;
    pyro_strbuf_done(&line);
    for (size_t i = 0; i < pyro_comparison_section_count; i++) {
        struct pyro_section section;
        pyro_section_init(&section, out->allocator);
        pyro_comparison_sections[i](&section, comparison, options);
        if (section.title)
            pyro_markdown_section(output, &section);
        pyro_section_done(&section);
        pyro_output_flush(output, false);
    }
}

enum pyro_status pyro_comparison_write(const pyro_comparison *comparison, enum pyro_format format,
                                       const struct pyro_report_options *options, const struct pyro_writer *writer,
                                       struct pyro_error *error)
{
    struct pyro_report_options own;
    struct pyro_output output;
    pyro_error_clear(error);
    if (!comparison || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the comparison or the writer is missing");
    if (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON && format != PYRO_FORMAT_MARKDOWN)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a comparison is written as text, json or markdown");
    PYRO_TRY(pyro_report_options_read(options, &own, error));
    pyro_output_init(&output, writer, comparison->arena.allocator);
    if (format == PYRO_FORMAT_JSON)
        pyro_comparison_json(&output, comparison);
    else if (format == PYRO_FORMAT_MARKDOWN)
        write_markdown(&output, comparison, &own);
    else
        write_text(&output, comparison, &own);
    return pyro_output_done(&output, error);
}
