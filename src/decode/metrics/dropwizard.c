/* Dropwizard's JSON, as /metrics/json of a driver shows it: {"version":...,"gauges":{NAME:{"value":1}},"counters":...}.
 * It has no time. */
#include "base/json/json_read.h"
#include "base/json/scan.h"
#include "base/memory/allocator.h"
#include "decode/metrics/metrics.h"
#include "model/column.h"

enum { BYTES_MOST = 16 << 20 };

PYRO_JSON_KEYS(group_keys, (GROUP_GAUGES, "gauges"), (GROUP_COUNTERS, "counters"), (GROUP_HISTOGRAMS, "histograms"),
               (GROUP_METERS, "meters"), (GROUP_TIMERS, "timers"));
PYRO_JSON_KEYS(unit_keys, (UNIT_DURATION, "duration_units"), (UNIT_RATE, "rate_units"), (UNIT_METER, "units"));

bool pyro_dropwizard_recognise(struct pyro_slice head, bool whole)
{
    enum { WITHIN = 200 };
    (void)whole;
    head.len = head.len < WITHIN ? head.len : WITHIN;
    return head.len > 0 && *head.ptr == '{' && pyro_slice_find(head, "\"version\"") &&
           pyro_slice_find(head, "\"gauges\"");
}

struct units {
    struct pyro_slice duration, rate;
};

/* The units follow the numbers. */
static struct units read_units(struct pyro_slice object)
{
    struct units units = {PYRO_SLICE_NULL, PYRO_SLICE_NULL};
    struct pyro_json_reader json;
    struct pyro_json_object members;
    pyro_json_reader_start(&json, object.ptr, object.ptr + object.len, pyro_scan_best());
    if (!pyro_json_enter_object(&json, &members))
        return units;
    for (int key; (key = PYRO_JSON_NEXT(&json, &members, unit_keys)) != PYRO_JSON_END;)
        if (key == PYRO_JSON_OTHER)
            pyro_json_skip(&json);
        else
            pyro_json_take_string(&json, key == UNIT_DURATION ? &units.duration : &units.rate, NULL);
    return units;
}

static bool add_number(struct pyro_metrics *metrics, const struct pyro_metric_name *name, int group,
                       struct pyro_slice stat, const struct units *units, double value)
{
    bool count = pyro_slice_is(stat, "count"), single = group == GROUP_GAUGES || group == GROUP_COUNTERS;
    struct pyro_slice unit = count                                 ? PYRO_SLICE_NULL
                             : pyro_slice_ends_with(stat, "_rate") ? units->rate
                                                                   : units->duration;
    int32_t process = pyro_metrics_process(metrics, name->executor);
    int32_t series = pyro_metrics_series(metrics, process, name->metric, single ? PYRO_SLICE_NULL : stat, unit,
                                         count ? PYRO_SERIES_COUNTER : PYRO_SERIES_GAUGE);
    return pyro_metrics_point(metrics, series, PYRO_NONE, value);
}

/* Every member that is a number; a gauge may be anything else. */
static bool read_metric(struct pyro_metrics *metrics, struct pyro_slice name, int group, struct pyro_slice object)
{
    const struct pyro_metric_name split = pyro_metric_name_read(name, metrics->source->application, '.');
    const struct units units = read_units(object);
    struct pyro_json_reader json;
    struct pyro_json_object members;
    pyro_json_reader_start(&json, object.ptr, object.ptr + object.len, pyro_scan_best());
    if (!pyro_json_enter_object(&json, &members))
        return true;
    for (int key; (key = PYRO_JSON_NEXT(&json, &members, unit_keys)) != PYRO_JSON_END;) {
        struct pyro_slice stat = members.name, raw = PYRO_SLICE_NULL;
        double value;
        if (!pyro_json_take_raw(&json, &raw))
            break;
        if (key == PYRO_JSON_OTHER && pyro_metrics_number(raw, &value) &&
            !add_number(metrics, &split, group, stat, &units, value))
            return false;
    }
    return true;
}

/* False: no memory. */
static bool read_group(struct pyro_metrics *metrics, struct pyro_json_reader *json, int group)
{
    struct pyro_json_object names;
    if (!pyro_json_enter_object(json, &names))
        return true;
    for (int key; (key = PYRO_JSON_NEXT(json, &names, unit_keys)) != PYRO_JSON_END;) {
        struct pyro_slice name = names.name, object = PYRO_SLICE_NULL;
        if (!pyro_json_take_raw(json, &object))
            return true;
        if (key == PYRO_JSON_OTHER && object.len > 0 && *object.ptr == '{' &&
            !read_metric(metrics, name, group, object))
            return false;
    }
    return true;
}

static bool read_document(struct pyro_metrics *metrics, const char *text, size_t len)
{
    struct pyro_json_reader json;
    struct pyro_json_object groups;
    bool ok = true;
    pyro_json_reader_start(&json, text, text + len, pyro_scan_best());
    bool object = pyro_json_enter_object(&json, &groups);
    for (int key; object && ok && (key = PYRO_JSON_NEXT(&json, &groups, group_keys)) != PYRO_JSON_END;) {
        if (key == PYRO_JSON_OTHER)
            pyro_json_skip(&json);
        else
            ok = read_group(metrics, &json, key);
    }
    metrics->rejected += ok && json.error != NULL;
    return ok;
}

static enum pyro_status read_all(struct pyro_metrics *metrics, struct pyro_reader *reader, char *text,
                                 struct pyro_error *error)
{
    size_t len = 0, got = 1;
    while (got > 0 && len < BYTES_MOST) {
        PYRO_TRY(pyro_reader_read(reader, text + len, BYTES_MOST - len, &got, error));
        len += got;
    }
    memset(text + len, 0, PYRO_SCAN_PADDING);
    metrics->bytes = len;
    return read_document(metrics, text, len) ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_dropwizard_artefact(struct pyro_artefact_reading *reading,
                                          const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                          struct pyro_error *error)
{
    struct pyro_metrics metrics;
    char *text = pyro_allocate(reading->allocator, BYTES_MOST + PYRO_SCAN_PADDING);
    bool begun = pyro_metrics_begin(&metrics, reading, source, "metrics-json", source->path);
    enum pyro_status status = text && begun ? read_all(&metrics, reader, text, error) : pyro_no_memory(error);
    pyro_release(reading->allocator, text);
    bool ended = pyro_metrics_end(&metrics, pyro_reader_damage(reader));
    return status == PYRO_OK && !ended ? pyro_no_memory(error) : status;
}
