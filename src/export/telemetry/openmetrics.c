/* OpenMetrics with time stamps: https://prometheus.io/docs/specs/om/open_metrics_spec/ */
#include <math.h>
#include <stdio.h>

#include "export/telemetry/run_metrics.h"
#include "export/telemetry/telemetry.h"
#include "text/escape.h"

/* A value every 10 s, of long runs this many. */
enum { STEP_MS = 10000, TIMES_MAX = 720 };

static void add_label(struct pyro_strbuf *to, const char *name, struct pyro_slice value)
{
    pyro_strbuf_add_text(to, name);
    pyro_strbuf_add_text(to, "=\"");
    for (size_t i = 0; i < value.len; i++) {
        char byte = value.ptr[i];
        if (byte == '\n')
            pyro_strbuf_add_text(to, "\\n");
        else if (byte == '"' || byte == '\\')
            pyro_strbuf_printf(to, "\\%c", byte);
        else
            pyro_strbuf_add_char(to, byte);
    }
    pyro_strbuf_add_char(to, '"');
}

/* A name without what the format adds to samples of counters. */
static struct pyro_slice family(const struct pyro_run_metric_row *row)
{
    struct pyro_slice name = pyro_slice_from(row->name);
    if (row->counter && pyro_slice_ends_with(name, "_total"))
        name.len -= sizeof("_total") - 1;
    return name;
}

static void add_head(struct pyro_strbuf *to, const struct pyro_run_metric_row *row)
{
    struct pyro_slice name = family(row);
    pyro_strbuf_printf(to, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)name.len, name.ptr, row->doc, (int)name.len,
                       name.ptr, row->counter ? "counter" : "gauge");
}

static void add_sample(struct pyro_strbuf *to, const struct pyro_app *app, const struct pyro_run_metric_row *row,
                       int64_t time_ms, double value)
{
    struct pyro_slice empty = PYRO_SLICE_LITERAL("");
    pyro_strbuf_add_text(to, row->name);
    pyro_strbuf_add_char(to, '{');
    add_label(to, "app_id", app->application.id.ptr ? app->application.id : empty);
    pyro_strbuf_add_char(to, ',');
    add_label(to, "app_name", app->application.name.ptr ? app->application.name : empty);
    if (row->label) {
        pyro_strbuf_add_char(to, ',');
        add_label(to, row->label, pyro_slice_from(row->label_value));
    }
    pyro_strbuf_add_text(to, "} ");
    pyro_add_json_real(to, value);
    pyro_strbuf_printf(to, " %lld.%03d\n", (long long)(time_ms / 1000), (int)(time_ms % 1000));
}

/* From the start to the end, both included. */
static size_t make_times(const struct pyro_app *app, int64_t times[TIMES_MAX + 2])
{
    int64_t start = app->application.start_ms, end = app->application.end_ms, step = STEP_MS;
    size_t count = 0;
    if (start == PYRO_NONE || end == PYRO_NONE || end < start || start < 0)
        return 0;
    if ((end - start) / step > TIMES_MAX)
        step = (end - start) / TIMES_MAX;
    for (int64_t at = start; at < end && count <= TIMES_MAX; at += step)
        times[count++] = at;
    times[count++] = end;
    return count;
}

enum pyro_status pyro_write_openmetrics(const struct pyro_app *app, struct pyro_output *output,
                                        struct pyro_error *error)
{
    int64_t times[TIMES_MAX + 2];
    size_t count = make_times(app, times);
    struct pyro_arena arena;
    pyro_arena_init(&arena, app->allocator);
    const double *values = count > 0 ? pyro_run_metrics(app, times, count, &arena) : NULL;
    enum pyro_status status = count > 0 && !values ? pyro_no_memory(error) : PYRO_OK;
    for (size_t m = 0; values && m < PYRO_METRIC_COUNT; m++) {
        const struct pyro_run_metric_row *row = &pyro_run_metric_rows[m];
        if (row->doc[0] != '\0')
            add_head(&output->buffer, row);
        for (size_t i = 0; i < count; i++)
            if (isfinite(values[m * count + i]))
                add_sample(&output->buffer, app, row, times[i], values[m * count + i]);
        pyro_output_flush(output, false);
    }
    pyro_strbuf_add_text(&output->buffer, "# EOF\n");
    pyro_arena_done(&arena);
    return status;
}
