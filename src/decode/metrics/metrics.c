#include "decode/metrics/metrics.h"

#include <math.h>

#include "base/json/json_read.h"
#include "base/json/scan.h"
#include "model/column.h"

/* The folder of a CsvSink is one artefact: it has a file for each metric. */
static int32_t known_artefact(const struct pyro_metrics *metrics, struct pyro_slice path)
{
    struct pyro_tracks *tracks = metrics->reading->tracks;
    size_t count = pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS);
    const struct pyro_artefact_row *newest = count ? pyro_tracks_artefact_edit(tracks, (int32_t)count - 1) : NULL;
    bool same = newest && pyro_slice_is(newest->kind, metrics->kind) && pyro_slice_eq(newest->path, path);
    return same ? (int32_t)count - 1 : -1;
}

bool pyro_metrics_begin(struct pyro_metrics *metrics, struct pyro_artefact_reading *reading,
                        const struct pyro_artefact_source *source, const char *kind, struct pyro_slice path)
{
    *metrics = (struct pyro_metrics){
        .reading = reading, .source = source, .kind = kind, .first_ns = PYRO_NONE, .last_ns = PYRO_NONE};
    pyro_strbuf_init(&metrics->labels, reading->allocator);
    metrics->artefact = known_artefact(metrics, path);
    if (metrics->artefact >= 0) {
        metrics->clock = pyro_tracks_artefact_edit(reading->tracks, metrics->artefact)->clock;
        return true;
    }
    const struct pyro_clock_row clock = {
        .source = pyro_slice_from(kind), .base = PYRO_SLICE_LITERAL("utc"), .method = PYRO_SLICE_LITERAL("record")};
    metrics->clock = pyro_tracks_add_clock(reading->tracks, &clock);
    const struct pyro_artefact_row row = {.kind = pyro_slice_from(kind),
                                          .path = path,
                                          .host = source->host,
                                          .clock = metrics->clock,
                                          .first_ns = PYRO_NONE,
                                          .last_ns = PYRO_NONE};
    metrics->artefact = metrics->clock < 0 ? -1 : pyro_tracks_add_artefact(reading->tracks, &row);
    return metrics->artefact >= 0;
}

bool pyro_metrics_end(struct pyro_metrics *metrics, const char *damage)
{
    bool ok = !metrics->labels.failed && metrics->artefact >= 0;
    struct pyro_strbuf problem;
    pyro_strbuf_init(&problem, metrics->reading->allocator);
    if (ok) {
        struct pyro_tracks *tracks = metrics->reading->tracks;
        struct pyro_artefact_row *row = pyro_tracks_artefact_edit(tracks, metrics->artefact);
        row->bytes += (int64_t)metrics->bytes;
        row->rows += (int64_t)metrics->points;
        if (row->first_ns == PYRO_NONE || (metrics->first_ns != PYRO_NONE && metrics->first_ns < row->first_ns))
            row->first_ns = metrics->first_ns;
        if (metrics->last_ns != PYRO_NONE && metrics->last_ns > row->last_ns)
            row->last_ns = metrics->last_ns;
        if (damage)
            pyro_strbuf_add_text(&problem, damage);
        else if (metrics->rejected > 0)
            pyro_strbuf_printf(&problem, "%llu damaged values", (unsigned long long)metrics->rejected);
        if (problem.len > 0 && !row->problems.ptr)
            row->problems = pyro_tracks_text(tracks, pyro_strbuf_slice(&problem));
        ok = !problem.failed && (problem.len == 0 || row->problems.ptr);
    }
    pyro_strbuf_done(&problem);
    pyro_strbuf_done(&metrics->labels);
    return ok;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_executor(struct pyro_slice word)
{
    bool digits = word.len > 0;
    for (size_t i = 0; i < word.len && digits; i++)
        digits = word.ptr[i] >= '0' && word.ptr[i] <= '9';
    return digits || pyro_slice_is(word, "driver");
}

static bool is_word_of_id(char a, char b, char separator)
{
    bool plain = (a >= '0' && a <= '9') || (a >= 'a' && a <= 'z') || (a >= 'A' && a <= 'Z');
    return a == b || (separator == '_' && !plain && b == '_');
}

/* Bytes of a word and the separator behind it, 0: there is none. */
static size_t word_at(struct pyro_slice name, size_t at, char separator)
{
    const char *end = at < name.len ? memchr(name.ptr + at, separator, name.len - at) : NULL;
    return end ? (size_t)(end - name.ptr) + 1 - at : 0;
}

/* "app_20240301101500_0000_", "local_1709280000000_": an id that lost its own separators, or the word of another
 * namespace. */
static size_t flat_namespace(struct pyro_slice name)
{
    enum { TIME_DIGITS = 13, UUID_DIGITS = 32 };
    size_t head = word_at(name, 0, '_'), digits = word_at(name, head, '_');
    struct pyro_slice word = {name.ptr, head ? head - 1 : 0};
    if (digits <= TIME_DIGITS && !(pyro_slice_is(word, "spark") && digits == UUID_DIGITS + 1))
        return head;
    head += digits;
    return pyro_slice_is(word, "app") || pyro_slice_is(word, "application") ? head + word_at(name, head, '_') : head;
}

/* Bytes of the id and the separator that a name begins with; without them, those of another namespace. */
static size_t namespace_of(struct pyro_slice name, struct pyro_slice application, char separator)
{
    size_t same = 0;
    while (same < application.len && same < name.len && is_word_of_id(application.ptr[same], name.ptr[same], separator))
        same++;
    if (application.len > 0 && same == application.len && same < name.len && name.ptr[same] == separator)
        return same + 1;
    return separator == '_' ? flat_namespace(name) : word_at(name, 0, separator);
}

struct pyro_metric_name pyro_metric_name_read(struct pyro_slice name, struct pyro_slice application, char separator)
{
    size_t head = namespace_of(name, application, separator);
    struct pyro_slice rest = {name.ptr + head, name.len - head};
    const char *end = rest.len ? memchr(rest.ptr, separator, rest.len) : NULL;
    struct pyro_slice word = {rest.ptr, end ? (size_t)(end - rest.ptr) : 0};
    if (head == 0 || !end || !is_executor(word))
        return (struct pyro_metric_name){PYRO_SLICE_NULL, name};
    return (struct pyro_metric_name){word, {end + 1, rest.len - word.len - 1}};
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

int32_t pyro_metrics_process(struct pyro_metrics *metrics, struct pyro_slice executor)
{
    const struct pyro_thread_row row = {.parent = -1,
                                        .clock = metrics->clock,
                                        .pid = PYRO_NONE,
                                        .tid = PYRO_NONE,
                                        .host = metrics->source->host,
                                        .executor = executor,
                                        .role = !executor.ptr                       ? PYRO_SLICE_LITERAL("process")
                                                : pyro_slice_is(executor, "driver") ? PYRO_SLICE_LITERAL("driver")
                                                                                    : PYRO_SLICE_LITERAL("executor")};
    return pyro_tracks_add_thread(metrics->reading->tracks, &row);
}

int32_t pyro_metrics_series(struct pyro_metrics *metrics, int32_t process, struct pyro_slice name,
                            struct pyro_slice stat, struct pyro_slice unit, enum pyro_series_type type)
{
    if (stat.ptr) {
        pyro_strbuf_clear(&metrics->labels);
        pyro_strbuf_add_text(&metrics->labels, "stat=");
        pyro_strbuf_add_slice(&metrics->labels, stat);
    }
    const struct pyro_series_row row = {.thread = process,
                                        .name = name,
                                        .unit = unit,
                                        .labels = stat.ptr ? pyro_strbuf_slice(&metrics->labels) : PYRO_SLICE_NULL,
                                        .type = type};
    return process < 0 || metrics->labels.failed ? -1 : pyro_tracks_add_series(metrics->reading->tracks, &row);
}

bool pyro_metrics_point(struct pyro_metrics *metrics, int32_t series, int64_t time_ns, double value)
{
    const struct pyro_point_row row = {.series = series, .time_ns = time_ns, .value = value};
    metrics->points++;
    if (time_ns != PYRO_NONE && (metrics->first_ns == PYRO_NONE || time_ns < metrics->first_ns))
        metrics->first_ns = time_ns;
    if (time_ns != PYRO_NONE && time_ns > metrics->last_ns)
        metrics->last_ns = time_ns;
    return series >= 0 && pyro_tracks_add_point(metrics->reading->tracks, &row);
}

bool pyro_metrics_number(struct pyro_slice text, double *ret)
{
    struct pyro_json_reader json;
    double value = NAN;
    if (text.len == 0 || !((*text.ptr >= '0' && *text.ptr <= '9') || *text.ptr == '-'))
        return false;
    pyro_json_reader_start(&json, text.ptr, text.ptr + text.len, pyro_scan_best());
    if (!pyro_json_take_double(&json, &value) || !pyro_json_record_end(&json) || !isfinite(value))
        return false;
    *ret = value;
    return true;
}
