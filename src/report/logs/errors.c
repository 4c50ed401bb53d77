/* pyrometer.errors/1 as text, JSON and CSV. */
#include "decode/logs/records/header.h"
#include "report/logs/logs.h"
#include "text/humanize.h"

enum { LINES_SHOWN = 12, VALUES_SHOWN = 6, MESSAGE_SHOWN = 200 };

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_root(struct pyro_json_writer *json, const struct pyro_log_error *error)
{
    if (!error->root.ptr) {
        pyro_json_null(json, "root");
        return;
    }
    pyro_json_begin(json, "root", '{');
    pyro_json_text(json, "class", error->root);
    pyro_json_text(json, "message", error->message);
    pyro_json_end(json, '}');
}

static void write_error(struct pyro_json_writer *json, const struct pyro_log_error *error)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_int(json, "time_ms", error->last_ms);
    pyro_json_count(json, "count", error->count);
    pyro_json_int(json, "first_ms", error->first_ms);
    pyro_json_int(json, "last_ms", error->last_ms);
    pyro_json_string(json, "level", pyro_log_level_name(error->level));
    pyro_json_string(json, "cause", error->cause);
    pyro_json_text(json, "logger", error->logger);
    write_root(json, error);
    pyro_logs_json_texts(json, "classes", error->classes, error->class_count);
    pyro_logs_json_texts(json, "frames", error->frames, error->frame_count);
    pyro_logs_json_texts(json, "containers", error->containers, error->container_count);
    pyro_logs_json_texts(json, "executors", error->executors, error->executor_count);
    pyro_logs_json_ints(json, "tasks", error->tasks, error->task_count);
    pyro_logs_json_ints(json, "stages", error->stages, error->stage_count);
    pyro_json_text(json, "text", error->text);
    pyro_json_end(json, '}');
}

static void write_json(struct pyro_log_document *document, const struct pyro_log_error *errors, size_t count,
                       uint64_t other)
{
    struct pyro_json_writer json;
    size_t shown = pyro_log_shown(document, count);
    pyro_logs_json_begin(&json, document, "pyrometer.errors/1");
    pyro_json_line(&json);
    pyro_json_count(&json, "kinds", count);
    pyro_json_count(&json, "other", other);
    pyro_json_line(&json);
    pyro_json_begin(&json, "errors", '[');
    for (size_t i = 0; i < shown; i++) {
        write_error(&json, &errors[i]);
        pyro_output_flush(document->output, false);
    }
    pyro_json_end(&json, ']');
    pyro_logs_json_end(&json, document);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void add_ints(struct pyro_strbuf *line, const char *one, const char *several, const int64_t *values,
                     size_t count)
{
    if (count == 0)
        return;
    pyro_strbuf_printf(line, "%s%s ", line->len ? "; " : "", count == 1 ? one : several);
    for (size_t i = 0; i < count && i < VALUES_SHOWN; i++) {
        pyro_strbuf_add_text(line, i ? ", " : "");
        pyro_strbuf_add_int(line, values[i]);
    }
    pyro_strbuf_add_text(line, count > VALUES_SHOWN ? ", ..." : "");
}

static void add_texts(struct pyro_strbuf *line, const char *one, const char *several, const struct pyro_slice *texts,
                      size_t count)
{
    if (count == 0)
        return;
    pyro_strbuf_printf(line, "%s%s ", line->len ? "; " : "", count == 1 ? one : several);
    for (size_t i = 0; i < count && i < VALUES_SHOWN; i++) {
        pyro_strbuf_add_text(line, i ? ", " : "");
        pyro_strbuf_add_slice(line, texts[i]);
    }
    pyro_strbuf_add_text(line, count > VALUES_SHOWN ? ", ..." : "");
}

static void write_text_error(struct pyro_page *page, struct pyro_log_document *document,
                             const struct pyro_log_error *error)
{
    struct pyro_strbuf *line = &document->line;
    pyro_page_blank(page);
    pyro_strbuf_clear(line);
    pyro_human_count(line, (int64_t)error->count);
    pyro_strbuf_add_text(line, " x  ");
    pyro_human_time(line, error->last_ms, document->report->utc_offset_s);
    if (error->cause)
        pyro_strbuf_printf(line, "  [%s]", error->cause);
    if (error->root.ptr) {
        pyro_strbuf_add_text(line, "  ");
        pyro_strbuf_add_slice(line, error->root);
        if (error->message.len > 0)
            pyro_strbuf_add_text(line, ": ");
        pyro_strbuf_add(line, error->message.ptr,
                        error->message.len < MESSAGE_SHOWN ? error->message.len : MESSAGE_SHOWN);
    }
    pyro_page_wrap(page, error->level == PYRO_LEVEL_WARN ? PYRO_STYLE_WARN : PYRO_STYLE_BAD, "",
                   pyro_strbuf_slice(line));
    pyro_strbuf_clear(line);
    add_texts(line, "container", "containers", error->containers, error->container_count);
    add_texts(line, "executor", "executors", error->executors, error->executor_count);
    add_ints(line, "stage", "stages", error->stages, error->stage_count);
    add_ints(line, "task", "tasks", error->tasks, error->task_count);
    if (error->frame_count > 0) {
        pyro_strbuf_add_text(line, line->len ? "; at " : "at ");
        pyro_strbuf_add_slice(line, error->frames[0]);
    }
    if (line->len > 0)
        pyro_page_wrap(page, PYRO_STYLE_DIM, "  ", pyro_strbuf_slice(line));
    pyro_log_text_lines(page, document, error->text, document->report->details ? 0 : LINES_SHOWN);
}

static void write_text(struct pyro_log_document *document, const struct pyro_log_error *errors, size_t count,
                       uint64_t other)
{
    struct pyro_page page;
    uint64_t all = other;
    size_t shown = pyro_log_shown(document, count);
    pyro_page_init(&page, document->output, document->report);
    for (size_t i = 0; i < count; i++)
        all += errors[i].count;
    pyro_human_count(&document->line, (int64_t)all);
    pyro_strbuf_printf(&document->line, " error%s of %zu kind%s", all == 1 ? "" : "s", count, count == 1 ? "" : "s");
    pyro_log_text_begin(&page, document, "ERRORS OF LOGS");
    for (size_t i = 0; i < shown; i++) {
        write_text_error(&page, document, &errors[i]);
        pyro_output_flush(document->output, false);
    }
    pyro_strbuf_clear(&document->line);
    if (shown < count)
        pyro_strbuf_printf(&document->line, "%zu older kinds are not shown: -n 0 shows all. ", count - shown);
    if (other > 0)
        pyro_strbuf_printf(&document->line, "%llu more errors are of kinds beyond the first %d.",
                           (unsigned long long)other, PYRO_LOG_ERRORS_MOST);
    if (document->line.len > 0) {
        pyro_page_blank(&page);
        pyro_page_wrap(&page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(&document->line));
    }
    pyro_log_text_end(&page, document);
    pyro_page_done(&page);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void write_csv(struct pyro_log_document *document, const struct pyro_log_error *errors, size_t count)
{
    struct pyro_strbuf *out = &document->output->buffer;
    pyro_strbuf_add_text(out, "time_ms,count,first_ms,level,cause,class,message,containers,executors,text\r\n");
    for (size_t i = 0; i < pyro_log_shown(document, count); i++) {
        const struct pyro_log_error *error = &errors[i];
        pyro_log_csv_int(out, error->last_ms, false);
        pyro_log_csv_int(out, (int64_t)error->count, false);
        pyro_log_csv_int(out, error->first_ms, false);
        pyro_log_csv_text(out, pyro_slice_from(pyro_log_level_name(error->level)), false);
        pyro_log_csv_text(out, pyro_slice_from(error->cause), false);
        pyro_log_csv_text(out, error->root, false);
        pyro_log_csv_text(out, error->message, false);
        pyro_log_csv_texts(out, error->containers, error->container_count, false);
        pyro_log_csv_texts(out, error->executors, error->executor_count, false);
        pyro_log_csv_text(out, error->text, true);
        pyro_output_flush(document->output, false);
    }
}

void pyro_log_errors_write(struct pyro_log_document *document, const struct pyro_log_error *errors, size_t count,
                           uint64_t other)
{
    if (document->format == PYRO_FORMAT_JSON)
        write_json(document, errors, count, other);
    else if (document->format == PYRO_FORMAT_CSV)
        write_csv(document, errors, count);
    else
        write_text(document, errors, count, other);
}
