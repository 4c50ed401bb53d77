/* pyrometer.log_timeline/1 as text, JSON and CSV. */
#include "base/numbers/saturate.h"
#include "report/logs/logs.h"
#include "report/shared/draw.h"
#include "text/humanize.h"

enum { ROWS_SHOWN = 20 };

static const char *status_name(enum pyro_line_status status)
{
    static const char *const names[] = {[PYRO_LINE_SUCCEEDED] = "succeeded", [PYRO_LINE_FAILED] = "failed"};
    return names[status];
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void begin_row(struct pyro_json_writer *json)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
}

static void write_application(struct pyro_json_writer *json, const struct pyro_line_application *row)
{
    begin_row(json);
    pyro_json_text(json, "id", row->id);
    pyro_json_text(json, "name", row->name);
    pyro_json_text(json, "path", row->path);
    pyro_json_int(json, "start_ms", row->start_ms);
    pyro_json_int(json, "end_ms", row->end_ms);
    pyro_json_end(json, '}');
}

static void write_job(struct pyro_json_writer *json, const struct pyro_line_job *row)
{
    begin_row(json);
    pyro_json_int(json, "application", row->application);
    pyro_json_int(json, "id", row->id);
    pyro_json_text(json, "name", row->name);
    pyro_json_int(json, "partitions", row->partitions);
    pyro_json_int(json, "start_ms", row->start_ms);
    pyro_json_int(json, "end_ms", row->end_ms);
    pyro_json_string(json, "status", status_name(row->status));
    pyro_json_end(json, '}');
}

static void write_stage(struct pyro_json_writer *json, const struct pyro_line_stage *row)
{
    begin_row(json);
    pyro_json_int(json, "application", row->application);
    pyro_json_int(json, "id", row->id);
    pyro_json_int(json, "attempt", row->attempt);
    pyro_json_int(json, "start_ms", row->start_ms);
    pyro_json_int(json, "end_ms", row->end_ms);
    pyro_json_count(json, "tasks", row->tasks);
    pyro_json_count(json, "failed", row->failed);
    pyro_json_end(json, '}');
}

static void write_task(struct pyro_json_writer *json, const struct pyro_line_timeline *timeline,
                       const struct pyro_line_task *row)
{
    begin_row(json);
    pyro_json_int(json, "application", row->application);
    pyro_json_int(json, "id", row->id);
    pyro_json_int(json, "stage", row->stage);
    pyro_json_int(json, "stage_attempt", row->stage_attempt);
    pyro_json_int(json, "index", row->index);
    pyro_json_int(json, "attempt", row->attempt);
    pyro_json_text(json, "executor", pyro_line_executor(timeline, row));
    pyro_json_int(json, "start_ms", row->start_ms);
    pyro_json_int(json, "end_ms", row->end_ms);
    pyro_json_string(json, "status", status_name(row->status));
    pyro_json_end(json, '}');
}

static void begin_rows(struct pyro_json_writer *json, const char *key)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
}

static void write_active(struct pyro_json_writer *json, const struct pyro_line_result *result)
{
    pyro_json_line(json);
    pyro_json_begin(json, "active", '{');
    pyro_json_begin_numbers(json, "time_ms");
    for (size_t i = 0; i < result->active_count; i++)
        pyro_json_number(json, result->active[i].time_ms);
    pyro_json_end_numbers(json);
    pyro_json_begin_numbers(json, "tasks");
    for (size_t i = 0; i < result->active_count; i++)
        pyro_json_number(json, result->active[i].tasks);
    pyro_json_end_numbers(json);
    pyro_json_end(json, '}');
}

static void write_json(struct pyro_log_document *document, const struct pyro_line_timeline *timeline,
                       const struct pyro_line_result *result)
{
    struct pyro_json_writer json;
    pyro_logs_json_begin(&json, document, "pyrometer.log_timeline/1");
    pyro_json_line(&json);
    pyro_json_count(&json, "left_out", result->left_out);
    begin_rows(&json, "applications");
    for (size_t i = 0; i < result->application_count; i++)
        write_application(&json, &result->applications[i]);
    pyro_json_end(&json, ']');
    begin_rows(&json, "jobs");
    for (size_t i = 0; i < result->job_count; i++)
        write_job(&json, &result->jobs[i]);
    pyro_json_end(&json, ']');
    begin_rows(&json, "stages");
    for (size_t i = 0; i < result->stage_count; i++)
        write_stage(&json, &result->stages[i]);
    pyro_json_end(&json, ']');
    begin_rows(&json, "tasks");
    for (size_t i = 0; i < pyro_log_shown(document, result->task_count); i++) {
        write_task(&json, timeline, &result->tasks[i]);
        pyro_output_flush(document->output, false);
    }
    pyro_json_end(&json, ']');
    write_active(&json, result);
    pyro_logs_json_end(&json, document);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void add_time(struct pyro_log_document *document, struct pyro_grid *grid, int64_t time_ms)
{
    pyro_human_time(&grid->text, time_ms, document->report->utc_offset_s);
    pyro_grid_next(grid);
}

static void add_duration(struct pyro_grid *grid, int64_t start_ms, int64_t end_ms)
{
    bool known = start_ms != PYRO_NONE && end_ms != PYRO_NONE;
    pyro_human_ms(&grid->text, known ? pyro_sub_saturating(end_ms, start_ms) : PYRO_NONE);
    pyro_grid_next(grid);
}

static void add_int(struct pyro_grid *grid, int64_t value)
{
    pyro_human_count(&grid->text, value);
    pyro_grid_next(grid);
}

static void add_applications(struct pyro_log_document *document, struct pyro_section *section,
                             const struct pyro_line_result *result, size_t shown)
{
    static const struct pyro_grid_column columns[] = {{"Start", false, 0, false},
                                                      {"Duration", true, 0, false},
                                                      {"Tasks", true, 1, false},
                                                      {"Application", false, 0, false}};
    section->title = "Applications";
    section->grid.columns = columns;
    section->grid.column_count = 4;
    for (size_t i = 0; i < shown; i++) {
        const struct pyro_line_application *row = &result->applications[i];
        add_time(document, &section->grid, row->start_ms);
        add_duration(&section->grid, row->start_ms, row->end_ms);
        add_int(&section->grid, (int64_t)row->tasks);
        pyro_strbuf_add_slice(&section->grid.text, row->id.ptr ? row->id : row->path);
        if (row->name.ptr) {
            pyro_strbuf_add_text(&section->grid.text, "  ");
            pyro_strbuf_add_slice(&section->grid.text, row->name);
        }
        pyro_grid_next(&section->grid);
    }
}

static void add_jobs(struct pyro_log_document *document, struct pyro_section *section,
                     const struct pyro_line_result *result, size_t shown)
{
    static const struct pyro_grid_column columns[] = {{"Job", true, 0, false},
                                                      {"Start", false, 0, false},
                                                      {"Duration", true, 0, false},
                                                      {"Status", false, 1, false},
                                                      {"Name", false, 2, false}};
    section->title = "Jobs";
    section->grid.columns = columns;
    section->grid.column_count = 5;
    for (size_t i = 0; i < shown; i++) {
        const struct pyro_line_job *row = &result->jobs[i];
        add_int(&section->grid, row->id);
        add_time(document, &section->grid, row->start_ms);
        add_duration(&section->grid, row->start_ms, row->end_ms);
        pyro_grid_add(&section->grid, row->status == PYRO_LINE_UNKNOWN ? "" : status_name(row->status));
        pyro_strbuf_add_slice(&section->grid.text, row->name);
        pyro_grid_next(&section->grid);
    }
}

static void add_stages(struct pyro_log_document *document, struct pyro_section *section,
                       const struct pyro_line_result *result, size_t shown)
{
    static const struct pyro_grid_column columns[] = {{"Stage", true, 0, false},
                                                      {"Start", false, 0, false},
                                                      {"Duration", true, 0, false},
                                                      {"Tasks", true, 0, false},
                                                      {"Failed", true, 0, false}};
    section->title = "Stages";
    section->grid.columns = columns;
    section->grid.column_count = 5;
    for (size_t i = 0; i < shown; i++) {
        const struct pyro_line_stage *row = &result->stages[i];
        pyro_strbuf_printf(&section->grid.text, "%lld.%lld", (long long)row->id, (long long)row->attempt);
        pyro_grid_next(&section->grid);
        add_time(document, &section->grid, row->start_ms);
        add_duration(&section->grid, row->start_ms, row->end_ms);
        add_int(&section->grid, (int64_t)row->tasks);
        add_int(&section->grid, (int64_t)row->failed);
    }
}

typedef void table(struct pyro_log_document *document, struct pyro_section *section,
                   const struct pyro_line_result *result, size_t shown);

static void draw(struct pyro_page *page, struct pyro_log_document *document, const struct pyro_line_result *result,
                 table *fill, size_t count)
{
    struct pyro_section section;
    size_t most = document->limit ? document->limit : ROWS_SHOWN;
    size_t shown = document->report->details || count < most ? count : most;
    if (count == 0)
        return;
    pyro_section_init(&section, document->output->buffer.allocator);
    fill(document, &section, result, shown);
    if (shown < count)
        pyro_strbuf_printf(&section.remarks, "%zu more; --details shows all.\n", count - shown);
    pyro_text_section(page, &section, &document->line);
    document->output->buffer.failed |= pyro_section_failed(&section);
    pyro_section_done(&section);
    pyro_output_flush(document->output, false);
}

static void write_text(struct pyro_log_document *document, const struct pyro_line_result *result)
{
    struct pyro_page page;
    int64_t most = 0;
    for (size_t i = 0; i < result->active_count; i++)
        most = result->active[i].tasks > most ? result->active[i].tasks : most;
    pyro_page_init(&page, document->output, document->report);
    pyro_human_count(&document->line, (int64_t)result->task_count);
    pyro_strbuf_printf(&document->line, " task%s, at most ", result->task_count == 1 ? "" : "s");
    pyro_human_count(&document->line, most);
    pyro_strbuf_add_text(&document->line, " at once,");
    pyro_log_text_begin(&page, document, "TIMELINE OF LOGS");
    draw(&page, document, result, add_applications, result->application_count);
    draw(&page, document, result, add_jobs, result->job_count);
    draw(&page, document, result, add_stages, result->stage_count);
    pyro_log_text_end(&page, document);
    pyro_page_done(&page);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void write_csv(struct pyro_log_document *document, const struct pyro_line_timeline *timeline,
                      const struct pyro_line_result *result)
{
    struct pyro_strbuf *out = &document->output->buffer;
    pyro_strbuf_add_text(out, "application,stage,stage_attempt,task,index,attempt,executor,start_ms,end_ms,status\r\n");
    for (size_t i = 0; i < pyro_log_shown(document, result->task_count); i++) {
        const struct pyro_line_task *row = &result->tasks[i];
        const struct pyro_line_application *application = &result->applications[row->application];
        pyro_log_csv_text(out, application->id.ptr ? application->id : application->path, false);
        pyro_log_csv_int(out, row->stage, false);
        pyro_log_csv_int(out, row->stage_attempt, false);
        pyro_log_csv_int(out, row->id, false);
        pyro_log_csv_int(out, row->index, false);
        pyro_log_csv_int(out, row->attempt, false);
        pyro_log_csv_text(out, pyro_line_executor(timeline, row), false);
        pyro_log_csv_int(out, row->start_ms, false);
        pyro_log_csv_int(out, row->end_ms, false);
        pyro_log_csv_text(out, pyro_slice_from(status_name(row->status)), true);
        pyro_output_flush(document->output, false);
    }
}

void pyro_log_timeline_write(struct pyro_log_document *document, const struct pyro_line_timeline *timeline,
                             const struct pyro_line_result *result)
{
    if (document->format == PYRO_FORMAT_JSON)
        write_json(document, timeline, result);
    else if (document->format == PYRO_FORMAT_CSV)
        write_csv(document, timeline, result);
    else
        write_text(document, result);
}
