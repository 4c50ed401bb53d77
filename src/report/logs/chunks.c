/* pyrometer.chunks/1 as text, JSON and CSV. */
#include "base/secrets/secrets.h"
#include "decode/logs/records/header.h"
#include "report/logs/logs.h"
#include "text/escape.h"
#include "text/humanize.h"

/* Texts of chunks are pieces of logs with all their secrets. */
struct hiding {
    struct pyro_secrets secrets;
    struct pyro_strbuf buffer;
};

static struct pyro_slice hide(struct hiding *hiding, struct pyro_slice text)
{
    return text.ptr ? pyro_secrets_text(&hiding->secrets, text, &hiding->buffer) : text;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_chunk(struct pyro_json_writer *json, struct hiding *hiding, const struct pyro_log_chunk *chunk)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_count(json, "count", chunk->count);
    pyro_json_begin(json, "lines", '[');
    for (size_t i = 0; i < chunk->line_count; i++)
        pyro_json_text(json, NULL, hide(hiding, chunk->lines[i]));
    pyro_json_end(json, ']');
    pyro_json_text(json, "template", hide(hiding, chunk->template_text));
    pyro_json_string(json, "level", pyro_log_level_name(chunk->level));
    pyro_json_int(json, "first_ms", chunk->first_ms);
    pyro_json_int(json, "last_ms", chunk->last_ms);
    pyro_logs_json_texts(json, "containers", chunk->containers, chunk->container_count);
    pyro_logs_json_ints(json, "stages", chunk->stages, chunk->stage_count);
    pyro_json_real(json, "share", chunk->share);
    pyro_json_text(json, "group", chunk->group);
    pyro_json_end(json, '}');
}

static void write_json(struct pyro_log_document *document, struct hiding *hiding, const struct pyro_log_chunk *chunks,
                       size_t count, bool exact)
{
    struct pyro_json_writer json;
    pyro_logs_json_begin(&json, document, "pyrometer.chunks/1");
    pyro_json_line(&json);
    pyro_json_bool(&json, "exact", exact);
    pyro_json_count(&json, "found", count);
    pyro_json_line(&json);
    pyro_json_begin(&json, "chunks", '[');
    for (size_t i = 0; i < pyro_log_shown(document, count); i++) {
        write_chunk(&json, hiding, &chunks[i]);
        pyro_output_flush(document->output, false);
    }
    pyro_json_end(&json, ']');
    pyro_logs_json_end(&json, document);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void write_text_chunk(struct pyro_page *page, struct pyro_log_document *document, struct hiding *hiding,
                             const struct pyro_log_chunk *chunk)
{
    struct pyro_strbuf *line = &document->line;
    pyro_page_blank(page);
    pyro_strbuf_clear(line);
    pyro_human_count(line, (int64_t)chunk->count);
    pyro_strbuf_add_text(line, " x  ");
    pyro_human_share(line, chunk->share);
    if (pyro_log_level_name(chunk->level))
        pyro_strbuf_printf(line, "  %s", pyro_log_level_name(chunk->level));
    if (chunk->group.ptr) {
        pyro_strbuf_add_text(line, "  of ");
        pyro_strbuf_add_slice(line, chunk->group);
    }
    if (chunk->first_ms != PYRO_NONE) {
        pyro_strbuf_add_text(line, "  ");
        pyro_human_time(line, chunk->first_ms, document->report->utc_offset_s);
        pyro_strbuf_add_text(line, " to ");
        pyro_human_time(line, chunk->last_ms, document->report->utc_offset_s);
    }
    bool bad = chunk->level >= PYRO_LEVEL_ERROR, warn = chunk->level == PYRO_LEVEL_WARN;
    pyro_page_wrap(page, bad ? PYRO_STYLE_BAD : warn ? PYRO_STYLE_WARN : PYRO_STYLE_NONE, "", pyro_strbuf_slice(line));
    for (size_t i = 0; i < chunk->line_count; i++)
        pyro_log_text_lines(page, document, hide(hiding, chunk->lines[i]), 0);
}

static void write_text(struct pyro_log_document *document, struct hiding *hiding, const struct pyro_log_chunk *chunks,
                       size_t count)
{
    struct pyro_page page;
    size_t shown = pyro_log_shown(document, count);
    pyro_page_init(&page, document->output, document->report);
    pyro_strbuf_printf(&document->line, "%zu of %zu repeated piece%s", shown, count, count == 1 ? "" : "s");
    pyro_log_text_begin(&page, document, "TOP OF LOGS");
    for (size_t i = 0; i < shown; i++) {
        write_text_chunk(&page, document, hiding, &chunks[i]);
        pyro_output_flush(document->output, false);
    }
    pyro_log_text_end(&page, document);
    pyro_page_done(&page);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void write_csv(struct pyro_log_document *document, struct hiding *hiding, const struct pyro_log_chunk *chunks,
                      size_t count)
{
    struct pyro_strbuf *out = &document->output->buffer, text;
    pyro_strbuf_init(&text, out->allocator);
    pyro_strbuf_add_text(out, "count,line_count,share,level,first_ms,last_ms,group,containers,lines\r\n");
    for (size_t i = 0; i < pyro_log_shown(document, count); i++) {
        const struct pyro_log_chunk *chunk = &chunks[i];
        pyro_strbuf_clear(&text);
        for (size_t k = 0; k < chunk->line_count; k++) {
            pyro_strbuf_add_text(&text, k ? "\n" : "");
            pyro_strbuf_add_slice(&text, hide(hiding, chunk->lines[k]));
        }
        pyro_strbuf_printf(out, "%llu,%zu,", (unsigned long long)chunk->count, chunk->line_count);
        pyro_add_json_real(out, chunk->share);
        pyro_strbuf_add_char(out, ',');
        pyro_log_csv_text(out, pyro_slice_from(pyro_log_level_name(chunk->level)), false);
        pyro_log_csv_int(out, chunk->first_ms, false);
        pyro_log_csv_int(out, chunk->last_ms, false);
        pyro_log_csv_text(out, chunk->group, false);
        pyro_log_csv_texts(out, chunk->containers, chunk->container_count, false);
        pyro_log_csv_text(out, pyro_strbuf_slice(&text), true);
        pyro_output_flush(document->output, false);
    }
    out->failed |= text.failed;
    pyro_strbuf_done(&text);
}

void pyro_log_chunks_write(struct pyro_log_document *document, const struct pyro_log_chunk *chunks, size_t count,
                           bool exact)
{
    struct hiding hiding = {.secrets.how = document->redaction};
    pyro_strbuf_init(&hiding.buffer, document->output->buffer.allocator);
    if (document->format == PYRO_FORMAT_JSON)
        write_json(document, &hiding, chunks, count, exact);
    else if (document->format == PYRO_FORMAT_CSV)
        write_csv(document, &hiding, chunks, count);
    else
        write_text(document, &hiding, chunks, count);
    document->output->buffer.failed |= hiding.buffer.failed || hiding.secrets.failed;
    pyro_strbuf_done(&hiding.buffer);
    pyro_secrets_done(&hiding.secrets);
}
