/* The report for people. */
#include <stdio.h>

#include "analyze/app_facts.h"
#include "report/cost/cost.h"
#include "report/diagnosis/outline.h"
#include "report/renderers.h"
#include "report/shared/app_failure.h"
#include "report/shared/draw.h"
#include "report/shared/finding_facts.h"
#include "text/escape.h"
#include "text/humanize.h"

enum { LOW_SHOWN = 10, BRIEF_LINES = 25 };

static void write_title(struct pyro_page *page, const struct pyro_diagnosis *diagnosis,
                        const struct pyro_report_options *options, struct pyro_strbuf *line)
{
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_application_row *row = &app->application;
    const struct pyro_cost *cost = diagnosis->cost;
    pyro_page_heading(page, PYRO_SLICE_LITERAL("SPARK OPTIMIZATION REPORT"), '=');
    pyro_strbuf_add_text(line, "Job: ");
    pyro_add_plain(line, pyro_fact_name(app));
    pyro_strbuf_add_text(line, "    Duration: ");
    pyro_human_ms(line, row->duration_ms);
    if (cost && cost->money.known) {
        pyro_strbuf_add_text(line, "    Cost: ");
        pyro_human_money(line, cost->money.micros, cost->money.currency);
    }
    pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));

    pyro_strbuf_clear(line);
    pyro_strbuf_add_text(line, "Application: ");
    pyro_strbuf_add_slice(line, row->id.ptr ? row->id : PYRO_SLICE_LITERAL("(unknown)"));
    if (row->attempt.len) {
        pyro_strbuf_add_text(line, " attempt ");
        pyro_strbuf_add_slice(line, row->attempt);
    }
    if (row->spark_version.len) {
        pyro_strbuf_add_text(line, "    Spark ");
        pyro_strbuf_add_slice(line, row->spark_version);
    }
    if (row->outcome.len) {
        pyro_strbuf_add_text(line, "    ");
        pyro_strbuf_add_text(line, pyro_run_outcome_words(pyro_app_outcome(app)));
    }
    pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));

    pyro_strbuf_clear(line);
    pyro_strbuf_add_text(line, "Started: ");
    pyro_human_time(line, row->start_ms, options->utc_offset_s);
    const struct pyro_numbers *numbers = &app->numbers;
    const int64_t counts[] = {numbers->jobs, numbers->stages, numbers->tasks, numbers->executors};
    static const char *const nouns[] = {"job", "stage", "task", "executor"};
    for (size_t i = 0; i < 4; i++) {
        pyro_strbuf_add_text(line, i ? ", " : "    ");
        pyro_human_count(line, counts[i]);
        pyro_strbuf_add_char(line, ' ');
        pyro_strbuf_add_text(line, nouns[i]);
        pyro_strbuf_add_text(line, counts[i] == 1 ? "" : "s");
    }
    pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));

    struct pyro_strbuf starter;
    pyro_strbuf_init(&starter, line->allocator);
    pyro_fact_orchestrator(&starter, app);
    pyro_strbuf_clear(line);
    if (starter.len) {
        pyro_strbuf_add_text(line, "Started by: ");
        pyro_add_plain(line, pyro_strbuf_slice(&starter));
        pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));
    }
    line->failed |= starter.failed;
    pyro_strbuf_done(&starter);
}

static enum pyro_style severity_style(enum pyro_severity severity)
{
    return severity == PYRO_SEVERITY_CRITICAL ? PYRO_STYLE_BAD
           : severity == PYRO_SEVERITY_LOW    ? PYRO_STYLE_NONE
                                              : PYRO_STYLE_WARN;
}

/* Lines of an example: as they are, only indented. */
static void write_code(void *form, struct pyro_slice code)
{
    struct pyro_page *page = form;
    const char *end = code.ptr + code.len;
    for (const char *p = code.ptr; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        size_t indent = 0;
        while (p + indent < stop && p[indent] == ' ' && indent < 20)
            indent++;
        char first[32] = "       ";
        memset(first + 7, ' ', indent);
        first[7 + indent] = '\0';
        pyro_page_wrap(page, PYRO_STYLE_DIM, first, (struct pyro_slice){p, (size_t)(stop - p)});
        p = newline ? newline + 1 : end;
    }
}

static void write_heading(void *form, const char *title)
{
    struct pyro_page *page = form;
    struct pyro_strbuf line;
    pyro_strbuf_init(&line, page->output->buffer.allocator);
    for (const char *p = title; *p; p++)
        pyro_strbuf_add_char(&line, *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
    pyro_strbuf_add_char(&line, ':');
    pyro_page_blank(page);
    pyro_page_wrap(page, PYRO_STYLE_HEADING, "", pyro_strbuf_slice(&line));
    page->output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
}

static void write_part(void *form, enum pyro_outline_part part, struct pyro_slice text)
{
    static const char *const begins[] = {
        [PYRO_OUTLINE_PLAN] = "",       [PYRO_OUTLINE_ACTION] = "",      [PYRO_OUTLINE_FACT] = "   - ",
        [PYRO_OUTLINE_CHECK] = "     ", [PYRO_OUTLINE_FOLDED] = "   - ", [PYRO_OUTLINE_CHANGE] = "  - ",
    };
    char number[24] = "";
    if (part == PYRO_OUTLINE_ACTION) { /* the lines below the first one begin under its words */
        size_t len = 0;
        while (len + 2 < sizeof(number) && len < text.len && text.ptr[len] != ' ')
            len++;
        snprintf(number, sizeof(number), "%.*s ", (int)len, text.ptr);
        pyro_slice_drop(&text, len + 1);
    }
    pyro_page_wrap(form, part == PYRO_OUTLINE_CHANGE ? PYRO_STYLE_DIM : PYRO_STYLE_NONE,
                   part == PYRO_OUTLINE_ACTION ? number : begins[part], text);
}

/* A line "key=value" to copy. */
static void write_setting(struct pyro_page *page, const struct pyro_setting *setting, const char *indent)
{
    struct pyro_strbuf line;
    pyro_strbuf_init(&line, page->output->buffer.allocator);
    pyro_strbuf_add_text(&line, indent);
    pyro_fact_setting(&line, setting);
    pyro_page_whole(page, pyro_strbuf_slice(&line));
    page->output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
}

static void write_settings(void *form, const struct pyro_setting *settings, size_t count, bool of_action)
{
    for (size_t i = 0; i < count; i++)
        write_setting(form, &settings[i], of_action ? "       " : "");
}

static void write_finding(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis, size_t place,
                          size_t number, const struct pyro_report_options *options)
{
    const struct pyro_finding *finding = &diagnosis->findings[place];
    struct pyro_page *page = outline->form;
    struct pyro_strbuf right, *line = outline->line;
    pyro_strbuf_init(&right, line->allocator);
    pyro_strbuf_clear(line);
    pyro_strbuf_printf(line, "%zu. ", number);
    pyro_strbuf_add_slice(line, finding->title);
    pyro_fact_costs(&right, diagnosis->app, finding);
    pyro_strbuf_add_text(&right, "   confidence ");
    pyro_human_hundredths(&right, finding->confidence);
    pyro_page_ends(page, severity_style(finding->severity), pyro_strbuf_slice(line), pyro_strbuf_slice(&right));
    outline->output->buffer.failed |= line->failed || right.failed;
    pyro_strbuf_done(&right);
    pyro_outline_finding(outline, diagnosis, place);
    if (options->ids || options->details) {
        pyro_strbuf_clear(line);
        pyro_strbuf_add_text(line, "Id: ");
        pyro_strbuf_add_slice(line, finding->id);
        write_part(page, PYRO_OUTLINE_FACT, pyro_strbuf_slice(line));
    }
}

static void write_findings(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis,
                           const struct pyro_report_options *options)
{
    struct pyro_page *page = outline->form;
    struct pyro_strbuf *line = outline->line;
    size_t number = 0;
    for (int severity = PYRO_SEVERITY_CRITICAL; severity >= PYRO_SEVERITY_LOW; severity--) {
        size_t count = 0, hidden = 0;
        for (size_t i = 0; i < diagnosis->finding_count; i++) {
            const struct pyro_finding *finding = &diagnosis->findings[i];
            if ((int)finding->severity != severity || finding->folded)
                continue;
            if (severity == PYRO_SEVERITY_LOW && count >= LOW_SHOWN && !options->details) {
                hidden++;
                continue;
            }
            if (!count++)
                write_heading(page, pyro_severity_heading(finding->severity));
            write_finding(outline, diagnosis, i, ++number, options);
        }
        if (hidden) {
            pyro_strbuf_clear(line);
            pyro_strbuf_printf(line, "%zu more of low severity not shown; --details shows all.", hidden);
            pyro_page_wrap(page, PYRO_STYLE_NONE, "   ", pyro_strbuf_slice(line));
        }
    }
    pyro_outline_folded(outline, diagnosis);
}

void pyro_text_section(struct pyro_page *page, const struct pyro_section *section, struct pyro_strbuf *line)
{
    pyro_strbuf_clear(line);
    for (const char *p = section->title; *p; p++)
        pyro_strbuf_add_char(line, *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
    pyro_page_blank(page);
    pyro_page_wrap(page, PYRO_STYLE_HEADING, "", pyro_strbuf_slice(line));
    if (section->lead.len)
        pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(&section->lead));
    pyro_page_grid(page, &section->grid);
    struct pyro_slice rest = pyro_strbuf_slice(&section->remarks), remark;
    while (pyro_outline_remark(&rest, &remark))
        pyro_page_wrap(page, PYRO_STYLE_NONE, "  - ", remark);
}

static void write_section(void *form, const struct pyro_section *section)
{
    struct pyro_page *page = form;
    struct pyro_strbuf line;
    pyro_strbuf_init(&line, page->output->buffer.allocator);
    pyro_text_section(page, section, &line);
    page->output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
}

static void write_verdict(const struct pyro_outline *outline, const struct pyro_diagnosis *diagnosis)
{
    struct pyro_page *page = outline->form;
    struct pyro_strbuf *line = outline->line;
    pyro_page_blank(page);
    pyro_strbuf_clear(line);
    pyro_fact_failure(line, diagnosis);
    if (line->len)
        pyro_page_wrap(page, PYRO_STYLE_BAD, "", pyro_strbuf_slice(line));
    pyro_strbuf_clear(line);
    pyro_fact_verdict(line, diagnosis);
    bool good = line->data && !strncmp(line->data, "No findings", 11);
    pyro_page_wrap(page, good ? PYRO_STYLE_GOOD : PYRO_STYLE_HEADING, "", pyro_strbuf_slice(line));
}

static size_t lines_since(const struct pyro_strbuf *text, size_t from)
{
    size_t lines = 0;
    for (size_t i = from; i < text->len; i++)
        lines += text->data[i] == '\n';
    return lines;
}

/* "1. severe: Data skew, stage 17" and what it costs, on one line. */
static void write_brief_finding(struct pyro_page *page, const struct pyro_diagnosis *diagnosis,
                                const struct pyro_finding *finding, size_t number, struct pyro_strbuf *line)
{
    struct pyro_strbuf right;
    pyro_strbuf_init(&right, line->allocator);
    pyro_fact_costs(&right, diagnosis->app, finding);
    pyro_strbuf_clear(line);
    pyro_strbuf_printf(line, "%zu. %s: ", number, pyro_severity_name(finding->severity));
    pyro_strbuf_add_slice(line, finding->title);
    if (finding->stage != PYRO_NONE)
        pyro_strbuf_printf(line, ", stage %lld", (long long)finding->stage);
    pyro_page_ends(page, severity_style(finding->severity), pyro_strbuf_slice(line), pyro_strbuf_slice(&right));
    line->failed |= right.failed;
    pyro_strbuf_done(&right);
}

/* Shortens a text of more than `most` bytes to whole words and "...". */
static void cut_at_word(struct pyro_strbuf *text, size_t most)
{
    enum { DOTS = 3, SHORTEST = 20 };
    if (text->len <= most || most < SHORTEST)
        return;
    size_t len = most - DOTS;
    while (len > SHORTEST && text->data[len] != ' ')
        len--;
    while (len > 0 && ((unsigned char)text->data[len] & 0xC0) == 0x80)
        len--;
    text->len = len;
    pyro_strbuf_add_text(text, "...");
}

/* "1. Use 21 partitions" and what it saves, then its settings to copy. */
static void write_brief_action(struct pyro_page *page, const struct pyro_diagnosis *diagnosis, size_t index,
                               struct pyro_strbuf *line)
{
    const struct pyro_action *action = &diagnosis->actions[index];
    struct pyro_strbuf right;
    pyro_strbuf_init(&right, line->allocator);
    pyro_fact_saves(&right, diagnosis->app, &action->saves);
    pyro_strbuf_clear(line);
    pyro_strbuf_printf(line, "%zu. ", index + 1);
    pyro_strbuf_add_slice(line, action->title);
    if (page->width > right.len + 2)
        cut_at_word(line, page->width - right.len - 2);
    pyro_page_ends(page, PYRO_STYLE_NONE, pyro_strbuf_slice(line), pyro_strbuf_slice(&right));
    line->failed |= right.failed;
    pyro_strbuf_done(&right);
    for (size_t i = 0; i < action->setting_count; i++)
        write_setting(page, &action->settings[i], "");
}

/* Actions with settings to copy, in two thirds of the lines; an action is shown whole or not at all. Returns how many
 * have no room. */
static size_t write_brief_actions(struct pyro_page *page, const struct pyro_diagnosis *diagnosis, size_t from,
                                  struct pyro_strbuf *line)
{
    struct pyro_strbuf *text = &page->output->buffer;
    size_t shown = 0;
    if (diagnosis->action_count)
        pyro_page_blank(page);
    for (; shown < diagnosis->action_count; shown++) {
        size_t before = text->len;
        write_brief_action(page, diagnosis, shown, line);
        if (lines_since(text, from) <= BRIEF_LINES * 2 / 3)
            continue;
        text->len = before;
        break;
    }
    pyro_strbuf_clear(line);
    pyro_fact_together(line, diagnosis);
    if (line->len)
        pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));
    return diagnosis->action_count - shown;
}

/* What to do, then findings above low; what has no room is counted. `from`: where the report begins. */
static void write_brief(struct pyro_page *page, const struct pyro_diagnosis *diagnosis, size_t from,
                        struct pyro_strbuf *line)
{
    const struct pyro_strbuf *text = &page->output->buffer;
    size_t actions = write_brief_actions(page, diagnosis, from, line), number = 0, hidden = 0;
    for (int severity = PYRO_SEVERITY_CRITICAL; severity > PYRO_SEVERITY_LOW; severity--)
        for (size_t i = 0; i < diagnosis->finding_count; i++) {
            const struct pyro_finding *finding = &diagnosis->findings[i];
            if ((int)finding->severity != severity || finding->folded)
                continue;
            if (!number++)
                pyro_page_blank(page);
            size_t before = page->output->buffer.len;
            if (!hidden)
                write_brief_finding(page, diagnosis, finding, number, line);
            /* How many lines it takes depends on the width; the last two say what has no room. */
            if (hidden || lines_since(text, from) > BRIEF_LINES - 2) {
                page->output->buffer.len = before;
                hidden++;
            }
        }
    if (!hidden && !actions)
        return;
    pyro_strbuf_clear(line);
    if (hidden)
        pyro_strbuf_printf(line, "%zu more finding%s", hidden, hidden == 1 ? "" : "s");
    if (actions)
        pyro_strbuf_printf(line, "%s%zu more thing%s to do", hidden ? ", " : "", actions, actions == 1 ? "" : "s");
    pyro_strbuf_add_text(line, ": see the report without --brief.");
    pyro_page_wrap(page, PYRO_STYLE_DIM, "", pyro_strbuf_slice(line));
}

static void text_report(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                        const struct pyro_report_options *options, size_t index, bool many)
{
    struct pyro_page page;
    struct pyro_strbuf line;
    (void)many;
    pyro_page_init(&page, output, options);
    pyro_strbuf_init(&line, output->buffer.allocator);
    if (index)
        pyro_strbuf_add_text(&output->buffer, "\n\n");
    size_t from = output->buffer.len;
    const struct pyro_outline outline = {&page,      output,     &line,          write_heading,
                                         write_part, write_code, write_settings, write_section};
    write_title(&page, diagnosis, options, &line);
    write_verdict(&outline, diagnosis);
    if (options->brief) {
        write_brief(&page, diagnosis, from, &line);
        output->buffer.failed |= line.failed;
        pyro_strbuf_done(&line);
        pyro_page_done(&page);
        return;
    }
    pyro_strbuf_clear(&line);
    pyro_strbuf_add_text(&line, "Checked ");
    pyro_fact_rules(&line, diagnosis);
    pyro_strbuf_add_char(&line, '.');
    pyro_page_wrap(&page, PYRO_STYLE_DIM, "", pyro_strbuf_slice(&line));
    pyro_strbuf_clear(&line);
    pyro_fact_configured(&line, diagnosis);
    if (line.len)
        pyro_page_wrap(&page, PYRO_STYLE_DIM, "", pyro_strbuf_slice(&line));
    pyro_outline_actions(&outline, diagnosis, options);
    write_findings(&outline, diagnosis, options);
    pyro_outline_changes(&outline, diagnosis, options);
    pyro_outline_sections(&outline, diagnosis, options);
    output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
    pyro_page_done(&page);
}

static void text_end_many(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                          const struct pyro_slice *unreadable_reasons, size_t unreadable_count)
{
    if (unreadable_count)
        pyro_strbuf_add_text(&output->buffer, "\n\nNOT READABLE:\n");
    for (size_t i = 0; i < unreadable_count; i++) {
        pyro_strbuf_add_text(&output->buffer, "- ");
        pyro_add_plain(&output->buffer, unreadable_paths[i]);
        pyro_strbuf_add_text(&output->buffer, ": ");
        pyro_add_plain(&output->buffer, unreadable_reasons[i]);
        pyro_strbuf_add_char(&output->buffer, '\n');
        pyro_output_flush(output, false);
    }
}

const struct pyro_renderer pyro_renderer_text = {"text", PYRO_FORMAT_TEXT, NULL, text_report, text_end_many};
