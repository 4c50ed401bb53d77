/* What the documents about text logs have in common. */
#include "model/failure_text.h"
#include "report/logs/logs.h"
#include "text/escape.h"
#include "text/humanize.h"

size_t pyro_log_shown(const struct pyro_log_document *document, size_t count)
{
    return document->limit > 0 && document->limit < count ? document->limit : count;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

void pyro_logs_json_begin(struct pyro_json_writer *json, const struct pyro_log_document *document, const char *schema)
{
    const struct pyro_log_counts *counts = &document->input->counts;
    pyro_json_writer_init(json, document->output);
    pyro_json_begin(json, NULL, '{');
    pyro_json_line(json);
    pyro_json_string(json, "schema", schema);
    pyro_json_line(json);
    pyro_json_count(json, "files", counts->files);
    pyro_json_count(json, "lines", counts->lines);
    pyro_json_count(json, "records", counts->records);
    pyro_json_count(json, "bytes", counts->bytes);
}

static void write_problems(struct pyro_json_writer *json, const char *key, const char *reason,
                           const struct pyro_log_problem *problems, size_t count)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "path", problems[i].path);
        pyro_json_text(json, reason, problems[i].reason);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_logs_json_end(struct pyro_json_writer *json, const struct pyro_log_document *document)
{
    const struct pyro_log_input *input = document->input;
    write_problems(json, "notes", "text", input->notes.items, input->notes.count);
    write_problems(json, "unreadable", "error", input->files.unreadable.items, input->files.unreadable.count);
    pyro_json_end(json, '}');
    pyro_strbuf_add_char(&document->output->buffer, '\n');
}

void pyro_logs_json_texts(struct pyro_json_writer *json, const char *key, const struct pyro_slice *texts, size_t count)
{
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < count; i++)
        pyro_json_text(json, NULL, texts[i]);
    pyro_json_end(json, ']');
}

void pyro_logs_json_ints(struct pyro_json_writer *json, const char *key, const int64_t *values, size_t count)
{
    pyro_json_begin_numbers(json, key);
    for (size_t i = 0; i < count; i++)
        pyro_json_number(json, values[i]);
    pyro_json_end_numbers(json);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void add_plural(struct pyro_strbuf *line, uint64_t count, const char *word)
{
    pyro_human_count(line, (int64_t)count);
    pyro_strbuf_printf(line, " %s%s", word, count == 1 ? "" : "s");
}

void pyro_log_text_begin(struct pyro_page *page, struct pyro_log_document *document, const char *title)
{
    const struct pyro_log_counts *counts = &document->input->counts;
    pyro_page_heading(page, pyro_slice_from(title), '=');
    if (document->line.len > 0)
        pyro_strbuf_add_text(&document->line, " in ");
    add_plural(&document->line, counts->lines, "line");
    pyro_strbuf_add_text(&document->line, " of ");
    add_plural(&document->line, counts->files, "file");
    pyro_strbuf_add_char(&document->line, '.');
    pyro_page_wrap(page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(&document->line));
}

static void add_problems(struct pyro_page *page, struct pyro_log_document *document, const char *title,
                         const struct pyro_log_problem *problems, size_t count)
{
    if (count == 0)
        return;
    pyro_page_blank(page);
    pyro_page_wrap(page, PYRO_STYLE_HEADING, "", pyro_slice_from(title));
    for (size_t i = 0; i < count; i++) {
        pyro_strbuf_clear(&document->line);
        pyro_strbuf_add_slice(&document->line, problems[i].path);
        pyro_strbuf_add_text(&document->line, problems[i].path.ptr ? ": " : "");
        pyro_strbuf_add_slice(&document->line, problems[i].reason);
        pyro_page_wrap(page, PYRO_STYLE_NONE, "  - ", pyro_strbuf_slice(&document->line));
    }
}

void pyro_log_text_end(struct pyro_page *page, struct pyro_log_document *document)
{
    const struct pyro_log_input *input = document->input;
    add_problems(page, document, "NOTES", input->notes.items, input->notes.count);
    add_problems(page, document, "NOT READABLE", input->files.unreadable.items, input->files.unreadable.count);
}

void pyro_log_text_lines(struct pyro_page *page, struct pyro_log_document *document, struct pyro_slice text,
                         size_t most)
{
    struct pyro_slice line;
    size_t shown = 0, hidden = 0;
    while (pyro_next_line(&text, &line)) {
        if (most > 0 && shown == most) {
            hidden++;
            continue;
        }
        shown++;
        pyro_strbuf_clear(&document->line);
        pyro_strbuf_add_text(&document->line, "    ");
        pyro_strbuf_add_slice(&document->line, line);
        pyro_page_whole(page, pyro_strbuf_slice(&document->line));
    }
    if (hidden > 0) {
        pyro_strbuf_clear(&document->line);
        pyro_strbuf_printf(&document->line, "    ... %zu more lines; --details shows all", hidden);
        pyro_page_whole(page, pyro_strbuf_slice(&document->line));
    }
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void end_cell(struct pyro_strbuf *out, bool last)
{
    pyro_strbuf_add_text(out, last ? "\r\n" : ",");
}

void pyro_log_csv_text(struct pyro_strbuf *out, struct pyro_slice text, bool last)
{
    if (text.ptr)
        pyro_add_csv(out, text);
    end_cell(out, last);
}

void pyro_log_csv_int(struct pyro_strbuf *out, int64_t value, bool last)
{
    if (value != PYRO_NONE)
        pyro_strbuf_add_int(out, value);
    end_cell(out, last);
}

void pyro_log_csv_texts(struct pyro_strbuf *out, const struct pyro_slice *texts, size_t count, bool last)
{
    struct pyro_strbuf joined;
    pyro_strbuf_init(&joined, out->allocator);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            pyro_strbuf_add_char(&joined, ' ');
        pyro_strbuf_add_slice(&joined, texts[i]);
    }
    out->failed |= joined.failed;
    pyro_log_csv_text(out, pyro_strbuf_slice(&joined), last);
    pyro_strbuf_done(&joined);
}
