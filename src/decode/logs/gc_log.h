/* Logs of the JVM's garbage collector to spans and series: unified logging (Java 9 and later, -Xlog:gc*) and what Java
 * 8 writes (-XX:+PrintGCDetails, -XX:+PrintGCDateStamps). */
#ifndef PYRO_DECODE_LOGS_GC_LOG_H
#define PYRO_DECODE_LOGS_GC_LOG_H

#include "model/tracks/tracks.h"
#include "source/source.h"

/* Whose log it is; slices are null where nothing says it. */
struct pyro_gc_log_source {
    struct pyro_slice path;
    struct pyro_slice host, executor;
    int64_t start_ns; /* when the process started, for logs that only say how long it ran; PYRO_NONE: not known */
};

/* Whether a text that begins like this is such a log. */
bool pyro_gc_log_recognise(struct pyro_slice head);

/* Reads a log to its end: adds a row of `artefacts`, a thread for the process, a span for each pause (gc-pause, its
 * value the bytes freed) and each concurrent phase (gc), and the series heap-used around collections. Sums of
 * collections stay right where lines are damaged: a line that does not read as one is skipped. Fails with
 * PYRO_ERROR_MEMORY, or with what the reader says. */
enum pyro_status pyro_gc_log_decode(struct pyro_tracks *tracks, const struct pyro_gc_log_source *source,
                                    struct pyro_reader *reader, const struct pyro_allocator *allocator,
                                    struct pyro_error *error);

/* One collection, as a line has it. */
struct pyro_gc_event {
    int64_t time_ms;   /* since 1970, as the line says; PYRO_NONE: it does not */
    int64_t uptime_us; /* since the start of the process; PYRO_NONE: the line does not say it */
    int64_t duration_ns;
    int64_t before, after;  /* bytes of the heap; PYRO_NONE: the line does not say it */
    struct pyro_slice name; /* "Pause Young (Normal) (G1 Evacuation Pause)" */
    bool pause;             /* the program stood still */
    bool at_end;            /* the line was written at the end of the collection (unified), not at its begin */
};

/* Of one line; false: it reports no collection. */
bool pyro_gc_line_read(struct pyro_slice line, struct pyro_gc_event *ret);

#endif
