/* Files of Spark's CsvSink, one for each metric: APPLICATION.EXECUTOR.METRIC.csv with "t,value", "t,count" or the
 * statistics of a histogram or timer. */
#include <string.h>

#include "decode/metrics/metrics.h"
#include "model/column.h"
#include "source/text_lines.h"

enum { COLUMNS_MOST = 32 };

struct csv_sink {
    struct pyro_metrics metrics;
    struct pyro_metric_name name;
    struct pyro_slice columns[COLUMNS_MOST]; /* of the header, in the tracks */
    size_t count;
    int32_t series[COLUMNS_MOST]; /* -1: not made yet */
};

static size_t split(struct pyro_slice line, struct pyro_slice *cells)
{
    size_t count = 0;
    for (const char *at = line.ptr, *end = line.ptr + line.len; at <= end && count < COLUMNS_MOST; count++) {
        const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
        const char *stop = comma ? comma : end;
        cells[count] = (struct pyro_slice){at, (size_t)(stop - at)};
        at = stop + 1;
    }
    return count;
}

bool pyro_csv_sink_recognise(struct pyro_slice head, bool whole)
{
    static const char *const headers[] = {"t,value", "t,count", "t,count,max,mean,min,stddev,p50,",
                                          "t,count,mean_rate,"};
    const char *newline = head.len ? memchr(head.ptr, '\n', head.len) : NULL;
    struct pyro_slice line = {head.ptr, newline ? (size_t)(newline - head.ptr) : head.len};
    if (!newline && !whole)
        return false;
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return pyro_slice_is(line, headers[0]) || pyro_slice_is(line, headers[1]) ||
           pyro_slice_starts_with(line, headers[2]) || pyro_slice_starts_with(line, headers[3]);
}

static struct pyro_slice cell_of(const struct csv_sink *sink, const struct pyro_slice *cells, size_t count,
                                 const char *column)
{
    for (size_t i = 0; i < sink->count && i < count; i++)
        if (pyro_slice_is(sink->columns[i], column))
            return cells[i];
    return PYRO_SLICE_NULL;
}

/* Rates and durations have their units in columns of their own. */
static struct pyro_slice unit_of(const struct csv_sink *sink, const struct pyro_slice *cells, size_t count, size_t at)
{
    struct pyro_slice column = sink->columns[at];
    if (pyro_slice_is(column, "value") || pyro_slice_is(column, "count"))
        return PYRO_SLICE_NULL;
    return cell_of(sink, cells, count, pyro_slice_ends_with(column, "_rate") ? "rate_unit" : "duration_unit");
}

static bool add_cell(struct csv_sink *sink, const struct pyro_slice *cells, size_t count, size_t at, int64_t time_ns)
{
    struct pyro_slice column = sink->columns[at];
    double value;
    if (pyro_slice_ends_with(column, "_unit"))
        return true;
    if (!pyro_metrics_number(cells[at], &value)) { /* a gauge may be a text */
        sink->metrics.rejected += !pyro_slice_is(column, "value");
        return true;
    }
    if (sink->series[at] < 0) {
        int32_t process = pyro_metrics_process(&sink->metrics, sink->name.executor);
        sink->series[at] = pyro_metrics_series(
            &sink->metrics, process, sink->name.metric, sink->count > 2 ? column : PYRO_SLICE_NULL,
            unit_of(sink, cells, count, at), pyro_slice_is(column, "count") ? PYRO_SERIES_COUNTER : PYRO_SERIES_GAUGE);
    }
    return pyro_metrics_point(&sink->metrics, sink->series[at], time_ns, value);
}

static bool take_line(struct csv_sink *sink, struct pyro_slice line)
{
    struct pyro_slice cells[COLUMNS_MOST];
    double seconds;
    size_t count = split(line, cells);
    if (line.len == 0)
        return true;
    if (sink->count == 0) {
        for (sink->count = 0; sink->count < count; sink->count++) {
            sink->series[sink->count] = -1;
            sink->columns[sink->count] = pyro_tracks_text(sink->metrics.reading->tracks, cells[sink->count]);
            if (!sink->columns[sink->count].ptr)
                return false;
        }
        return true;
    }
    if (count != sink->count || !pyro_metrics_number(cells[0], &seconds) || seconds < 0 || seconds > 7258118400.0) {
        sink->metrics.rejected++;
        return true;
    }
    for (size_t i = 1; i < count; i++)
        if (!add_cell(sink, cells, count, i, (int64_t)seconds * 1000000000))
            return false;
    return true;
}

static enum pyro_status take_lines(struct csv_sink *sink, struct pyro_reader *reader, struct pyro_error *error)
{
    struct pyro_text_lines lines;
    struct pyro_slice line;
    PYRO_TRY(pyro_text_lines_init(&lines, reader, sink->metrics.reading->allocator, error));
    enum pyro_status status = pyro_text_lines_next(&lines, &line, error);
    while (status == PYRO_OK && line.ptr)
        status = take_line(sink, line) ? pyro_text_lines_next(&lines, &line, error) : pyro_no_memory(error);
    sink->metrics.bytes = lines.next_place;
    pyro_text_lines_done(&lines);
    return status;
}

enum pyro_status pyro_csv_sink_artefact(struct pyro_artefact_reading *reading,
                                        const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                        struct pyro_error *error)
{
    struct csv_sink sink = {.count = 0};
    struct pyro_slice path = source->path;
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    struct pyro_slice folder = {path.ptr, slash ? (size_t)(slash - path.ptr) : path.len};
    struct pyro_slice file = slash ? (struct pyro_slice){slash + 1, path.len - folder.len - 1} : path;
    const char *end = pyro_slice_find(file, ".csv");
    file.len = end ? (size_t)(end - file.ptr) : file.len;
    sink.name = pyro_metric_name_read(file, source->application, '.');
    enum pyro_status status = pyro_metrics_begin(&sink.metrics, reading, source, "csv-sink", folder)
                                  ? take_lines(&sink, reader, error)
                                  : pyro_no_memory(error);
    bool ended = pyro_metrics_end(&sink.metrics, pyro_reader_damage(reader));
    return status == PYRO_OK && !ended ? pyro_no_memory(error) : status;
}
