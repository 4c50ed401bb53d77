/* OTLP in JSON, one request a line, as the file exporter of OpenTelemetry's collector writes it:
 * https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/ */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyze/app_facts.h"
#include "analyze/attributes.h"
#include "base/strings/intern.h"
#include "export/telemetry/run_metrics.h"
#include "export/telemetry/spans.h"
#include "export/telemetry/telemetry.h"
#include "text/json_compact.h"

/* Rows of one request. */
enum { REQUEST_ROWS = 500, ERROR_TEXT = 8192 };
/* https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber */
enum { SEVERITY_WARN = 13, SEVERITY_ERROR = 17, KIND_INTERNAL = 1, STATUS_ERROR = 2, CUMULATIVE = 2 };

struct writing {
    const struct pyro_app *app;
    struct pyro_output *output;
    char trace[PYRO_TRACE_ID_HEX];
    size_t rows; /* of the request that is open */
};

/* `kind` is what OTLP calls values of a type. */
static void put(struct pyro_strbuf *to, const char *key, const char *kind, struct pyro_slice value)
{
    pyro_compact_begin(to, NULL, '{');
    pyro_compact_string(to, "key", key);
    pyro_compact_begin(to, "value", '{');
    pyro_compact_text(to, kind, value);
    pyro_compact_end(to, '}');
    pyro_compact_end(to, '}');
}

static void attribute(struct pyro_strbuf *to, const char *key, struct pyro_slice value)
{
    if (value.ptr)
        put(to, key, "stringValue", value);
}

/* 64 bits are texts in JSON. */
static void number(struct pyro_strbuf *to, const char *key, int64_t value)
{
    if (value == PYRO_NONE)
        return;
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, value);
    put(to, key, "intValue", pyro_slice_from(text));
}

static void time_of(struct pyro_strbuf *to, const char *name, int64_t ms)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64 "000000", ms > 0 ? ms : 0);
    pyro_compact_string(to, name, text);
}

static void describe_starter(struct pyro_strbuf *to, const struct pyro_app *app)
{
    static const char *const keys[] = {PYRO_ATTRIBUTE_DAG, PYRO_ATTRIBUTE_TASK, PYRO_ATTRIBUTE_RUN};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        attribute(to, keys[i], pyro_app_attribute(app, keys[i]));
}

/* Opens a request up to its list of rows. */
static void open_request(struct writing *writing, const char *resources, const char *scopes, const char *rows)
{
    struct pyro_strbuf *to = &writing->output->buffer;
    const struct pyro_app *app = writing->app;
    pyro_compact_begin(to, NULL, '{');
    pyro_compact_begin(to, resources, '[');
    pyro_compact_begin(to, NULL, '{');
    pyro_compact_begin(to, "resource", '{');
    pyro_compact_begin(to, "attributes", '[');
    attribute(to, "service.name", app->application.name);
    attribute(to, "app_id", app->application.id);
    attribute(to, "app_name", app->application.name);
    attribute(to, "spark.app.id", app->application.id);
    describe_starter(to, app);
    pyro_compact_end(to, ']');
    pyro_compact_end(to, '}');
    pyro_compact_begin(to, scopes, '[');
    pyro_compact_begin(to, NULL, '{');
    pyro_compact_begin(to, "scope", '{');
    pyro_compact_string(to, "name", "pyrometer");
    pyro_compact_end(to, '}');
    pyro_compact_begin(to, rows, '[');
}

static void close_request(struct writing *writing)
{
    pyro_strbuf_add_text(&writing->output->buffer, "]}]}]}\n");
    pyro_output_flush(writing->output, false);
    writing->rows = 0;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static int64_t of_task(const struct writing *writing, enum pyro_task_column column, size_t row)
{
    return pyro_task_get(&writing->app->tasks, column, row);
}

static void describe_task(struct writing *writing, size_t row)
{
    struct pyro_strbuf *to = &writing->output->buffer;
    static const struct {
        const char *key;
        enum pyro_task_column column;
        bool text;
    } columns[] = {
        {"spark.task.id", PYRO_TASK_id, false},
        {"spark.task.index", PYRO_TASK_index, false},
        {"spark.task.attempt", PYRO_TASK_attempt, false},
        {"spark.task.partition", PYRO_TASK_partition, false},
        {"spark.executor.id", PYRO_TASK_executor, true},
        {"host.name", PYRO_TASK_host, true},
        {"spark.task.locality", PYRO_TASK_locality, true},
    };
    static const struct {
        const char *key;
        enum pyro_task_column column;
    } metrics[] = {
        {"spark.task.run_ms", PYRO_TASK_run_ms},
        {"spark.task.gc_ms", PYRO_TASK_gc_ms},
        {"spark.input.bytes", PYRO_TASK_input_bytes},
        {"spark.output.bytes", PYRO_TASK_output_bytes},
        {"spark.spill.disk.bytes", PYRO_TASK_disk_spill_bytes},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        int64_t value = of_task(writing, columns[i].column, row);
        if (!columns[i].text)
            number(to, columns[i].key, value);
        else if (value >= 0)
            attribute(to, columns[i].key, pyro_string_pool_text(writing->app->strings, (uint32_t)value));
    }
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]) && of_task(writing, PYRO_TASK_has_metrics, row) == 1;
         i++)
        number(to, metrics[i].key, of_task(writing, metrics[i].column, row));
}

static void describe_stage(struct pyro_strbuf *to, const struct pyro_stage *stage)
{
    number(to, "spark.stage.id", stage->id);
    number(to, "spark.stage.attempt", stage->attempt);
    attribute(to, "spark.stage.name", stage->name);
    number(to, "spark.stage.tasks", stage->partitions);
    number(to, "spark.stage.failed_tasks", stage->failed_tasks);
    attribute(to, "spark.phase",
              stage->output_bytes > 0 ? PYRO_SLICE_LITERAL("io_write") : PYRO_SLICE_LITERAL("compute"));
    number(to, "spark.input.bytes", stage->input_bytes);
    number(to, "spark.output.bytes", stage->output_bytes);
    number(to, "spark.shuffle.read.bytes", stage->shuffle_read_bytes);
    number(to, "spark.shuffle.write.bytes", stage->shuffle_write_bytes);
    number(to, "spark.spill.disk.bytes", stage->disk_spill_bytes);
}

static void describe_executor(struct pyro_strbuf *to, const struct pyro_executor *executor)
{
    attribute(to, "spark.executor.id", executor->id);
    attribute(to, "host.name", executor->host);
    number(to, "spark.executor.cores", executor->cores);
    attribute(to, "spark.executor.removed", executor->remove_reason);
}

static void describe(struct writing *writing, const struct pyro_app_span *span)
{
    struct pyro_strbuf *to = &writing->output->buffer;
    const struct pyro_app *app = writing->app;
    switch (span->of) {
    case PYRO_SPAN_OF_APPLICATION:
        attribute(to, "spark.app.id", app->application.id);
        attribute(to, "spark.app.name", app->application.name);
        attribute(to, "spark.version", app->application.spark_version);
        describe_starter(to, app);
        break;
    case PYRO_SPAN_OF_REQUEST:
    case PYRO_SPAN_OF_EXECUTOR:
        describe_executor(to, &app->executors.items[span->row]);
        break;
    case PYRO_SPAN_OF_BATCH:
        attribute(to, "spark.streaming.query", app->streams.items[span->row].name);
        number(to, "spark.streaming.rows", app->streams.items[span->row].input_rows);
        break;
    case PYRO_SPAN_OF_SQL:
        number(to, "spark.sql.execution.id", app->sql.items[span->row].id);
        attribute(to, "spark.sql.description", app->sql.items[span->row].description);
        break;
    case PYRO_SPAN_OF_JOB:
        number(to, "spark.job.id", app->jobs.items[span->row].id);
        attribute(to, "spark.job.description", app->jobs.items[span->row].description);
        break;
    case PYRO_SPAN_OF_STAGE:
        describe_stage(to, &app->stages.items[span->row]);
        break;
    case PYRO_SPAN_OF_TASK:
        describe_task(writing, span->row);
        break;
    case PYRO_SPAN_OF_WAIT:
        break;
    }
    if (span->incomplete) {
        pyro_compact_begin(to, NULL, '{');
        pyro_compact_string(to, "key", "spark.incomplete");
        pyro_compact_json(to, "value", PYRO_SLICE_LITERAL("{\"boolValue\":true}"));
        pyro_compact_end(to, '}');
    }
}

static bool write_span(void *context, const struct pyro_app_span *span)
{
    struct writing *writing = context;
    struct pyro_strbuf *to = &writing->output->buffer;
    if (writing->rows == 0)
        open_request(writing, "resourceSpans", "scopeSpans", "spans");
    pyro_compact_begin(to, NULL, '{');
    pyro_compact_string(to, "traceId", writing->trace);
    pyro_compact_string(to, "spanId", span->id);
    if (span->parent[0] != '\0')
        pyro_compact_string(to, "parentSpanId", span->parent);
    pyro_compact_string(to, "name", span->name);
    pyro_compact_int(to, "kind", KIND_INTERNAL);
    time_of(to, "startTimeUnixNano", span->start_ms);
    time_of(to, "endTimeUnixNano", span->end_ms);
    pyro_compact_begin(to, "attributes", '[');
    describe(writing, span);
    pyro_compact_end(to, ']');
    pyro_compact_begin(to, "status", '{');
    if (span->error.len > 0) {
        struct pyro_slice text = span->error;
        text.len = text.len < ERROR_TEXT ? text.len : ERROR_TEXT;
        pyro_compact_int(to, "code", STATUS_ERROR);
        pyro_compact_text(to, "message", text);
    }
    pyro_compact_end(to, '}');
    pyro_compact_end(to, '}');
    if (++writing->rows == REQUEST_ROWS)
        close_request(writing);
    return !to->failed && writing->output->status == PYRO_OK;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Failures, as log records. Those that only other files say have no span, and are left to them. */
static void write_events(struct writing *writing)
{
    const struct pyro_app *app = writing->app;
    struct pyro_strbuf *to = &writing->output->buffer;
    for (size_t i = 0; i < app->failures.count; i++) {
        const struct pyro_failure *failure = &app->failures.items[i];
        bool executor = pyro_slice_is(failure->kind, "executor");
        if (failure->source.ptr || failure->time_ms == PYRO_NONE)
            continue;
        if (writing->rows == 0)
            open_request(writing, "resourceLogs", "scopeLogs", "logRecords");
        pyro_compact_begin(to, NULL, '{');
        time_of(to, "timeUnixNano", failure->time_ms);
        time_of(to, "observedTimeUnixNano", failure->time_ms);
        pyro_compact_int(to, "severityNumber", executor ? SEVERITY_WARN : SEVERITY_ERROR);
        pyro_compact_string(to, "severityText", executor ? "WARN" : "ERROR");
        pyro_compact_begin(to, "body", '{');
        pyro_compact_text(to, "stringValue", failure->message);
        pyro_compact_end(to, '}');
        pyro_compact_begin(to, "attributes", '[');
        attribute(to, "spark.failure.kind", failure->kind);
        attribute(to, "spark.failure.id", failure->id);
        attribute(to, "spark.failure.reason", failure->reason);
        attribute(to, "exception.type", failure->class_name);
        attribute(to, "exception.message", failure->message);
        pyro_compact_end(to, ']');
        char span[PYRO_SPAN_ID_HEX];
        pyro_compact_string(to, "traceId", writing->trace);
        if (pyro_app_failure_span(app, failure, span))
            pyro_compact_string(to, "spanId", span);
        pyro_compact_end(to, '}');
        if (++writing->rows == REQUEST_ROWS)
            close_request(writing);
    }
    if (writing->rows > 0)
        close_request(writing);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static void write_metric(struct writing *writing, const struct pyro_run_metric_row *row, double value)
{
    struct pyro_strbuf *to = &writing->output->buffer;
    const struct pyro_app *app = writing->app;
    if (writing->rows++ == 0)
        open_request(writing, "resourceMetrics", "scopeMetrics", "metrics");
    pyro_compact_begin(to, NULL, '{');
    pyro_compact_string(to, "name", row->name);
    pyro_compact_string(to, "description", row->doc);
    pyro_compact_string(to, "unit", row->unit);
    pyro_compact_begin(to, row->counter ? "sum" : "gauge", '{');
    pyro_compact_begin(to, "dataPoints", '[');
    pyro_compact_begin(to, NULL, '{');
    time_of(to, "startTimeUnixNano", app->application.start_ms);
    time_of(to, "timeUnixNano", app->application.end_ms);
    pyro_compact_real(to, "asDouble", value);
    pyro_compact_begin(to, "attributes", '[');
    if (row->label)
        attribute(to, row->label, pyro_slice_from(row->label_value));
    pyro_compact_end(to, ']');
    pyro_compact_end(to, '}');
    pyro_compact_end(to, ']');
    if (row->counter) {
        pyro_compact_int(to, "aggregationTemporality", CUMULATIVE);
        pyro_compact_bool(to, "isMonotonic", true);
    }
    pyro_compact_end(to, '}');
    pyro_compact_end(to, '}');
}

/* As they were at the end. */
static bool write_metrics(struct writing *writing)
{
    const struct pyro_app *app = writing->app;
    struct pyro_arena arena;
    pyro_arena_init(&arena, app->allocator);
    const double *values = pyro_run_metrics(app, &app->application.end_ms, 1, &arena);
    for (size_t i = 0; values && i < PYRO_METRIC_COUNT; i++)
        if (isfinite(values[i]))
            write_metric(writing, &pyro_run_metric_rows[i], values[i]);
    if (writing->rows > 0)
        close_request(writing);
    pyro_arena_done(&arena);
    return values != NULL;
}

enum pyro_status pyro_write_otlp(const struct pyro_app *app, struct pyro_output *output, struct pyro_error *error)
{
    struct writing writing = {.app = app, .output = output};
    pyro_app_trace_id(app, writing.trace);
    if (!pyro_app_spans(app, write_span, &writing))
        return output->status == PYRO_OK && !output->buffer.failed ? pyro_no_memory(error) : PYRO_OK;
    if (writing.rows > 0)
        close_request(&writing);
    write_events(&writing);
    return write_metrics(&writing) ? PYRO_OK : pyro_no_memory(error);
}
