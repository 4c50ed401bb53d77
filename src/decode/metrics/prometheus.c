/* Prometheus text: what /metrics/prometheus of a driver and /metrics/executors/prometheus show. */
#include <string.h>

#include "decode/metrics/metrics.h"
#include "model/column.h"
#include "source/text_lines.h"

struct sample {
    struct pyro_slice name, labels; /* labels: without braces; null: none */
    struct pyro_slice value, time;  /* time: milliseconds; null: none */
};

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

/* Place behind the brace that closes labels, or 0. Values may have any character, quotes with a backslash. */
static size_t end_of_labels(struct pyro_slice line, size_t at)
{
    for (bool quoted = false; at < line.len; at++) {
        if (quoted && line.ptr[at] == '\\')
            at++;
        else if (line.ptr[at] == '"')
            quoted = !quoted;
        else if (line.ptr[at] == '}' && !quoted)
            return at + 1;
    }
    return 0;
}

static struct pyro_slice word_at(struct pyro_slice line, size_t *at)
{
    while (*at < line.len && line.ptr[*at] == ' ')
        ++*at;
    size_t begin = *at;
    while (*at < line.len && line.ptr[*at] != ' ')
        ++*at;
    return *at > begin ? (struct pyro_slice){line.ptr + begin, *at - begin} : PYRO_SLICE_NULL;
}

/* "name{label="value"} 1.5 1709280000000" */
static bool read_sample(struct pyro_slice line, struct sample *ret)
{
    size_t at = 0;
    *ret = (struct sample){.name = PYRO_SLICE_NULL};
    while (at < line.len && is_name(line.ptr[at]))
        at++;
    if (at == 0 || at == line.len || (*line.ptr >= '0' && *line.ptr <= '9'))
        return false;
    ret->name = (struct pyro_slice){line.ptr, at};
    if (line.ptr[at] == '{') {
        size_t end = end_of_labels(line, at + 1);
        if (end == 0)
            return false;
        ret->labels = (struct pyro_slice){line.ptr + at + 1, end - at - 2};
        at = end;
    } else if (line.ptr[at] != ' ') {
        return false;
    }
    ret->value = word_at(line, &at);
    ret->time = word_at(line, &at);
    return ret->value.ptr && strchr("0123456789+-N", *ret->value.ptr) && !word_at(line, &at).ptr;
}

bool pyro_prometheus_recognise(struct pyro_slice head, bool whole)
{
    bool labels = false;
    while (head.len > 0) {
        const char *newline = memchr(head.ptr, '\n', head.len);
        struct pyro_slice line = {head.ptr, newline ? (size_t)(newline - head.ptr) : head.len};
        struct sample sample;
        if (!newline && !whole) /* cut by the end of the head */
            break;
        head = newline ? (struct pyro_slice){newline + 1, head.len - line.len - 1} : PYRO_SLICE_NULL;
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (line.len == 0 || *line.ptr == '#')
            continue;
        if (!read_sample(line, &sample))
            return false;
        labels |= sample.labels.ptr && pyro_slice_find(sample.labels, "=\"") != NULL;
    }
    return labels;
}

/* The value of a label as it is written, or null. */
static struct pyro_slice label_of(struct pyro_slice labels, const char *name)
{
    size_t len = strlen(name);
    for (size_t at = 0; at < labels.len;) {
        size_t begin = at;
        while (at < labels.len && labels.ptr[at] != '=')
            at++;
        bool same = at - begin == len && memcmp(labels.ptr + begin, name, len) == 0;
        size_t value = at + 2; /* behind =" */
        for (at = value; at < labels.len && labels.ptr[at] != '"'; at++)
            at += labels.ptr[at] == '\\';
        if (same && at < labels.len)
            return (struct pyro_slice){labels.ptr + value, at - value};
        for (at++; at < labels.len && (labels.ptr[at] == ',' || labels.ptr[at] == ' ');)
            at++;
    }
    return PYRO_SLICE_NULL;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

struct metric {
    struct pyro_slice executor, name, stat, unit;
    enum pyro_series_type type;
    bool repeated; /* another line says the same */
};

static bool strip(struct pyro_slice *name, const char *suffix)
{
    if (!pyro_slice_ends_with(*name, suffix))
        return false;
    name->len -= strlen(suffix);
    return true;
}

/* "metrics_app_20240301101500_0000_driver_jvm_heap_used_Value{type="gauges"}": a gauge has two lines. */
static void read_driver(struct metric *metric, struct pyro_slice type, struct pyro_slice application)
{
    struct pyro_metric_name name = pyro_metric_name_read(metric->name, application, '_');
    metric->executor = name.executor;
    metric->name = name.metric;
    if (pyro_slice_is(type, "gauges")) {
        metric->repeated = strip(&metric->name, "_Number");
        strip(&metric->name, "_Value");
        return;
    }
    const char *cut = metric->name.len ? memrchr(metric->name.ptr, '_', metric->name.len) : NULL;
    struct pyro_slice stat =
        cut ? (struct pyro_slice){cut + 1, (size_t)(metric->name.ptr + metric->name.len - cut) - 1} : PYRO_SLICE_NULL;
    metric->name.len -= cut ? stat.len + 1 : 0;
    metric->type = pyro_slice_is(stat, "Count") ? PYRO_SERIES_COUNTER : PYRO_SERIES_GAUGE;
    metric->stat = pyro_slice_is(type, "counters") ? PYRO_SLICE_NULL : stat;
}

static void read_metric(const struct sample *sample, struct pyro_slice application, struct metric *ret)
{
    static const char prefix[] = "metrics_";
    struct pyro_slice type = label_of(sample->labels, "type");
    *ret = (struct metric){.name = sample->name, .type = PYRO_SERIES_GAUGE};
    if (pyro_slice_starts_with(ret->name, prefix))
        ret->name = (struct pyro_slice){ret->name.ptr + sizeof(prefix) - 1, ret->name.len - (sizeof(prefix) - 1)};
    if (type.ptr) {
        read_driver(ret, type, application);
        return;
    }
    struct pyro_slice name = ret->name;
    ret->executor = label_of(sample->labels, "executor_id");
    if (strip(&name, "_total"))
        ret->type = PYRO_SERIES_COUNTER;
    ret->unit = pyro_slice_ends_with(name, "_bytes")     ? PYRO_SLICE_LITERAL("bytes")
                : pyro_slice_ends_with(name, "_seconds") ? PYRO_SLICE_LITERAL("seconds")
                                                         : PYRO_SLICE_NULL;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static bool take_line(struct pyro_metrics *metrics, struct pyro_slice line)
{
    struct sample sample;
    struct metric metric;
    double value, ms;
    if (line.len == 0 || *line.ptr == '#')
        return true;
    if (!read_sample(line, &sample) || (sample.time.ptr && !pyro_metrics_number(sample.time, &ms))) {
        metrics->rejected++;
        return true;
    }
    read_metric(&sample, metrics->source->application, &metric);
    if (metric.repeated || !pyro_metrics_number(sample.value, &value)) /* NaN: nothing was measured */
        return true;
    int32_t process = pyro_metrics_process(metrics, metric.executor);
    int32_t series = pyro_metrics_series(metrics, process, metric.name, metric.stat, metric.unit, metric.type);
    bool timed = sample.time.ptr && ms >= 0 && ms < 7258118400000.0;
    return pyro_metrics_point(metrics, series, timed ? (int64_t)ms * 1000000 : PYRO_NONE, value);
}

enum pyro_status pyro_prometheus_artefact(struct pyro_artefact_reading *reading,
                                          const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                          struct pyro_error *error)
{
    struct pyro_metrics metrics;
    struct pyro_text_lines lines;
    struct pyro_slice line = PYRO_SLICE_NULL;
    PYRO_TRY(pyro_text_lines_init(&lines, reader, reading->allocator, error));
    enum pyro_status status = pyro_metrics_begin(&metrics, reading, source, "prometheus", source->path)
                                  ? pyro_text_lines_next(&lines, &line, error)
                                  : pyro_no_memory(error);
    while (status == PYRO_OK && line.ptr)
        status = take_line(&metrics, line) ? pyro_text_lines_next(&lines, &line, error) : pyro_no_memory(error);
    metrics.bytes = lines.next_place;
    pyro_text_lines_done(&lines);
    bool ended = pyro_metrics_end(&metrics, pyro_reader_damage(reader));
    return status == PYRO_OK && !ended ? pyro_no_memory(error) : status;
}
