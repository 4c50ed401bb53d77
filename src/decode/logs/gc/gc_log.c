/* Logs of the JVM's garbage collector to rows: a thread for the process, a span for each pause (gc-pause, its value the
 * bytes freed) and each concurrent phase (gc), and the series heap.used around collections. Other lines are skipped. */
#include "decode/logs/gc/gc_log.h"

#include <stdio.h>
#include <string.h>

#include "model/column.h"
#include "source/text_lines.h"

enum { NS_PER_MS = 1000000, NS_PER_US = 1000 };

/* How long after the start of the application a process may have started, of which the log only says how long it ran.
 */
#define ASSUMED_ERROR_NS (60 * INT64_C(1000000000))

struct gc_log {
    struct pyro_tracks *tracks;
    const struct pyro_artefact_source *source;
    int32_t thread, heap;
    int64_t first_ns, last_ns;
    uint64_t events, untimed;
    bool assumed; /* start_ns is that of the application: the process started a little later */
};

bool pyro_gc_log_recognise(struct pyro_slice head, bool whole)
{
    (void)whole;
    while (head.len > 0) {
        const char *end = memchr(head.ptr, '\n', head.len);
        struct pyro_slice line = {head.ptr, end ? (size_t)(end - head.ptr) : head.len};
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (line.len > 0 && pyro_gc_line_known(line))
            return true;
        if (!end)
            break;
        head = (struct pyro_slice){end + 1, head.len - (size_t)(end + 1 - head.ptr)};
    }
    return false;
}

/* When a collection began, in nanoseconds since 1970; PYRO_NONE: nothing says it. */
static int64_t begin_of(struct gc_log *log, const struct pyro_gc_event *event)
{
    int64_t at = PYRO_NONE;
    if (event->time_ms != PYRO_NONE && event->time_ms > INT64_MIN / NS_PER_MS && event->time_ms < INT64_MAX / NS_PER_MS)
        at = event->time_ms * NS_PER_MS;
    int64_t uptime_ns = PYRO_NONE;
    if (event->uptime_us != PYRO_NONE && event->uptime_us < INT64_MAX / NS_PER_US / 4)
        uptime_ns = event->uptime_us * NS_PER_US;
    if (at == PYRO_NONE && uptime_ns != PYRO_NONE && log->source->start_ns != PYRO_NONE) {
        at = log->source->start_ns + uptime_ns;
        log->assumed = true;
    }
    if (at == PYRO_NONE)
        return PYRO_NONE;
    return event->at_end ? at - event->duration_ns : at;
}

static bool add_point(struct gc_log *log, int64_t time_ns, int64_t bytes)
{
    if (bytes == PYRO_NONE)
        return true;
    if (log->heap < 0)
        log->heap = pyro_tracks_add_series(log->tracks, &(struct pyro_series_row){
                                                            .thread = log->thread,
                                                            .name = PYRO_SLICE_LITERAL("heap.used"),
                                                            .unit = PYRO_SLICE_LITERAL("bytes"),
                                                            .type = PYRO_SERIES_GAUGE,
                                                        });
    return log->heap >= 0 &&
           pyro_tracks_add_point(
               log->tracks, &(struct pyro_point_row){.series = log->heap, .time_ns = time_ns, .value = (double)bytes});
}

static bool add_event(struct gc_log *log, const struct pyro_gc_event *event)
{
    int64_t begin = begin_of(log, event);
    log->events++;
    if (begin == PYRO_NONE) {
        log->untimed++;
        return true;
    }
    bool sized = event->before != PYRO_NONE && event->after != PYRO_NONE;
    const struct pyro_span_row span = {
        .thread = log->thread,
        .parent = -1,
        .kind = event->pause ? PYRO_SPAN_GC_PAUSE : PYRO_SPAN_GC,
        .name = pyro_slice_from(event->name),
        .start_ns = begin,
        .duration_ns = event->duration_ns,
        .value = sized ? event->before - event->after : PYRO_NONE,
    };
    if (log->first_ns == PYRO_NONE || begin < log->first_ns)
        log->first_ns = begin;
    if (log->last_ns == PYRO_NONE || begin + event->duration_ns > log->last_ns)
        log->last_ns = begin + event->duration_ns;
    return pyro_tracks_add_span(log->tracks, &span) && add_point(log, begin, event->before) &&
           add_point(log, begin + event->duration_ns, event->after);
}

static enum pyro_status read_lines(struct gc_log *log, struct pyro_text_lines *lines, struct pyro_error *error)
{
    struct pyro_gc_reader gc = {0};
    struct pyro_gc_event event;
    for (;;) {
        struct pyro_slice line;
        PYRO_TRY(pyro_text_lines_next(lines, &line, error));
        bool any = line.ptr ? pyro_gc_reader_next(&gc, line, &event) : pyro_gc_reader_end(&gc, &event);
        if (any && !add_event(log, &event))
            return pyro_no_memory(error);
        if (!line.ptr)
            return PYRO_OK;
    }
}

/* Adds the rows that say where the spans come from. */
static enum pyro_status add_source(struct gc_log *log, int32_t *ret_artefact, struct pyro_error *error)
{
    const struct pyro_artefact_source *source = log->source;
    const struct pyro_clock_row clock = {.host = source->host,
                                         .source = PYRO_SLICE_LITERAL("gc-log"),
                                         .base = PYRO_SLICE_LITERAL("utc"),
                                         .method = PYRO_SLICE_LITERAL("text")};
    const struct pyro_artefact_row artefact = {.kind = PYRO_SLICE_LITERAL("gc-log"),
                                               .path = source->path,
                                               .host = source->host,
                                               .executor = source->executor,
                                               .first_ns = PYRO_NONE,
                                               .last_ns = PYRO_NONE};
    int32_t clock_row = pyro_tracks_add_clock(log->tracks, &clock);
    *ret_artefact = pyro_tracks_add_artefact(log->tracks, &artefact);
    if (clock_row < 0 || *ret_artefact < 0)
        return pyro_no_memory(error);
    pyro_tracks_artefact_edit(log->tracks, *ret_artefact)->clock = clock_row;
    bool driver = pyro_slice_is(source->executor, "driver");
    const struct pyro_thread_row thread = {
        .parent = -1,
        .clock = clock_row,
        .pid = PYRO_NONE,
        .tid = PYRO_NONE,
        .host = source->host,
        .executor = source->executor,
        .role = driver ? PYRO_SLICE_LITERAL("driver") : PYRO_SLICE_LITERAL("executor"),
        .name = source->executor.ptr ? PYRO_SLICE_NULL : source->path,
    };
    log->thread = pyro_tracks_add_thread(log->tracks, &thread);
    return log->thread >= 0 ? PYRO_OK : pyro_no_memory(error);
}

static enum pyro_status complete(struct gc_log *log, const struct pyro_text_lines *lines, int32_t artefact,
                                 const char *damage, struct pyro_error *error)
{
    struct pyro_artefact_row *row = pyro_tracks_artefact_edit(log->tracks, artefact);
    char problem[200] = "";
    if (log->assumed) {
        struct pyro_clock_row *clock = pyro_tracks_clock_edit(log->tracks, row->clock);
        clock->base = PYRO_SLICE_LITERAL("monotonic");
        clock->method = PYRO_SLICE_LITERAL("assumed");
        clock->error_ns = ASSUMED_ERROR_NS;
    }
    row->bytes = (int64_t)lines->next_place;
    row->rows = (int64_t)log->events;
    row->first_ns = log->first_ns;
    row->last_ns = log->last_ns;
    if (damage)
        snprintf(problem, sizeof(problem), "%.150s", damage);
    else if (log->untimed > 0)
        snprintf(problem, sizeof(problem), "%llu collections have no time of day: log with -Xlog:gc*:file=...:time",
                 (unsigned long long)log->untimed);
    if (!problem[0])
        return PYRO_OK;
    row->problems = pyro_tracks_text(log->tracks, pyro_slice_from(problem));
    return row->problems.ptr ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_gc_log_artefact(struct pyro_artefact_reading *reading, const struct pyro_artefact_source *source,
                                      struct pyro_reader *reader, struct pyro_error *error)
{
    struct gc_log log = {
        .tracks = reading->tracks, .source = source, .heap = -1, .first_ns = PYRO_NONE, .last_ns = PYRO_NONE};
    struct pyro_text_lines lines;
    int32_t artefact;
    PYRO_TRY(add_source(&log, &artefact, error));
    PYRO_TRY(pyro_text_lines_init(&lines, reader, reading->allocator, error));
    enum pyro_status status = read_lines(&log, &lines, error);
    if (status == PYRO_OK)
        status = complete(&log, &lines, artefact, pyro_reader_damage(reader), error);
    pyro_text_lines_done(&lines);
    return status;
}
