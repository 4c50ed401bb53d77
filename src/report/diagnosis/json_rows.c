/* Rows of the model's tables in the JSON report: the members of the contract first, then the table's other columns. */
#include <string.h>

#include "report/diagnosis/json_parts.h"

enum { REJECTS_SHOWN = 20 };

/* Column `name` unless it is in `skipped`. */
static bool is_skipped(const char *const *skipped, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(skipped[i], name))
            return true;
    return false;
}

#define WRITE_INT  pyro_json_int
#define WRITE_REAL pyro_json_real
#define WRITE_TEXT pyro_json_text
#define PYRO_COLUMN(name, type, unit, doc)                                                                             \
    if (!is_skipped(skipped, skipped_count, #name))                                                                    \
        WRITE_##type(json, #name, row->name);

static void other_stage_columns(struct pyro_json_writer *json, const struct pyro_stage *row)
{
    static const char *const skipped[] = {"id",
                                          "attempt",
                                          "name",
                                          "call_site",
                                          "job",
                                          "sql",
                                          "status",
                                          "submitted_ms",
                                          "completed_ms",
                                          "tasks",
                                          "duration_min",
                                          "duration_p25",
                                          "duration_median",
                                          "duration_p75",
                                          "duration_p95",
                                          "duration_max"};
    const size_t skipped_count = sizeof(skipped) / sizeof(*skipped);
#include "model/tables/stages.def"
}

static void other_executor_columns(struct pyro_json_writer *json, const struct pyro_executor *row)
{
    static const char *const skipped[] = {
        "id", "host", "cores", "added_ms", "removed_ms", "remove_reason", "busy_ms", "gc_ms", "heap_peak_bytes"};
    const size_t skipped_count = sizeof(skipped) / sizeof(*skipped);
#include "model/tables/executors.def"
}

static void job_columns(struct pyro_json_writer *json, const struct pyro_job *row)
{
    const char *const *skipped = NULL;
    const size_t skipped_count = 0;
#include "model/tables/jobs.def"
}

static void reject_columns(struct pyro_json_writer *json, const struct pyro_reject *row)
{
    const char *const *skipped = NULL;
    const size_t skipped_count = 0;
#include "model/tables/rejects.def"
}
#undef PYRO_COLUMN

static void write_stage(struct pyro_json_writer *json, const struct pyro_stage *stage)
{
    pyro_json_int(json, "id", stage->id);
    pyro_json_int(json, "attempt", stage->attempt);
    pyro_json_text(json, "name", stage->name);
    pyro_json_text(json, "call_site", stage->call_site);
    pyro_json_int(json, "job", stage->job);
    pyro_json_int(json, "sql", stage->sql);
    pyro_json_text(json, "status", stage->status);
    pyro_json_int(json, "submitted_ms", stage->submitted_ms);
    pyro_json_int(json, "completed_ms", stage->completed_ms);
    pyro_json_int(json, "tasks", stage->tasks);
    pyro_json_begin(json, "duration_ms", '{');
    pyro_json_int(json, "min", stage->duration_min);
    pyro_json_int(json, "p25", stage->duration_p25);
    pyro_json_int(json, "median", stage->duration_median);
    pyro_json_int(json, "p75", stage->duration_p75);
    pyro_json_int(json, "p95", stage->duration_p95);
    pyro_json_int(json, "max", stage->duration_max);
    pyro_json_end(json, '}');
    other_stage_columns(json, stage);
}

static void write_executor(struct pyro_json_writer *json, const struct pyro_executor *executor)
{
    pyro_json_text(json, "id", executor->id);
    pyro_json_text(json, "host", executor->host);
    pyro_json_int(json, "cores", executor->cores);
    pyro_json_int(json, "added_ms", executor->added_ms);
    pyro_json_int(json, "removed_ms", executor->removed_ms);
    pyro_json_text(json, "remove_reason", executor->remove_reason);
    pyro_json_int(json, "busy_ms", executor->busy_ms);
    pyro_json_int(json, "gc_ms", executor->gc_ms);
    pyro_json_int(json, "heap_peak_bytes", executor->heap_peak_bytes);
    other_executor_columns(json, executor);
}

/* An array with one object a row and line. */
#define WRITE_ROWS(key, rows, limit, write_row)                                                                        \
    do {                                                                                                               \
        pyro_json_line(json);                                                                                          \
        pyro_json_begin(json, key, '[');                                                                               \
        for (size_t i = 0; i < (rows).count && i < (limit); i++) {                                                     \
            pyro_json_line(json);                                                                                      \
            pyro_json_begin(json, NULL, '{');                                                                          \
            write_row(json, &(rows).items[i]);                                                                         \
            pyro_json_end(json, '}');                                                                                  \
        }                                                                                                              \
        pyro_json_end(json, ']');                                                                                      \
    } while (0)

void pyro_json_stages(struct pyro_json_writer *json, const struct pyro_app *app)
{
    WRITE_ROWS("stages", app->stages, SIZE_MAX, write_stage);
}

void pyro_json_executors(struct pyro_json_writer *json, const struct pyro_app *app)
{
    WRITE_ROWS("executors", app->executors, SIZE_MAX, write_executor);
}

void pyro_json_jobs(struct pyro_json_writer *json, const struct pyro_app *app)
{
    WRITE_ROWS("jobs", app->jobs, SIZE_MAX, job_columns);
}

void pyro_json_rejects(struct pyro_json_writer *json, const struct pyro_app *app)
{
    WRITE_ROWS("rejects", app->rejects, REJECTS_SHOWN, reject_columns);
}
