/* Logs of the JVM's garbage collector: unified logging (Java 9 and later, -Xlog:gc*) and what Java 7 and 8 write
 * (-XX:+PrintGCDetails, -XX:+PrintGCDateStamps and other -XX:+Print... flags). */
#ifndef PYRO_DECODE_LOGS_GC_GC_LOG_H
#define PYRO_DECODE_LOGS_GC_GC_LOG_H

#include "decode/artefact_kinds.h"

/* Longer names are cut. */
enum { PYRO_GC_NAME_SIZE = 120 };

/* One collection, or one concurrent phase of it. */
struct pyro_gc_event {
    int64_t time_ms;   /* since 1970, as the log says; PYRO_NONE: it does not */
    int64_t uptime_us; /* since the start of the process; PYRO_NONE: the log does not say it */
    int64_t duration_ns;
    int64_t before, after;        /* bytes of the heap; PYRO_NONE: the log does not say it */
    char name[PYRO_GC_NAME_SIZE]; /* "Pause Young (Normal) (G1 Evacuation Pause)" */
    bool pause;                   /* the program was stopped */
    bool at_end; /* its times are those of its end (unified, and concurrent phases), not of its begin */
};

/* A record of Java 7 or 8 that is being read: it goes on over lines until its outer bracket closes. */
struct pyro_gc_record {
    struct pyro_gc_event event;
    unsigned depth; /* open brackets; 0: no record is open */
    bool timed;     /* its seconds were read */
    bool in_ms;     /* of Shenandoah, in milliseconds */
    bool remark;    /* of CMS: a young collection may be inside it, on lines of its own */
};

/* Lines -> events. Zero it before the first line. */
struct pyro_gc_reader {
    struct pyro_gc_record record;
    struct pyro_gc_event waiting; /* of Java 7 or 8, whose heap may be in the lines after it */
    bool has_waiting;
    bool has_starts; /* of Shenandoah: lines for the begin of phases, so that the others have the times of their end */
    bool has_stamp;  /* the times of the last line that had one */
    int64_t time_ms, uptime_us;
};

/* Reads the next line of a log. true: an event is complete. An event may come some lines after its own. */
bool pyro_gc_reader_next(struct pyro_gc_reader *reader, struct pyro_slice line, struct pyro_gc_event *ret);
/* After the last line; true: there is another event. */
bool pyro_gc_reader_end(struct pyro_gc_reader *reader, struct pyro_gc_event *ret);

/* Whether only a log of garbage collections has this line, be it an event, the begin of one or a header. */
bool pyro_gc_line_known(struct pyro_slice line);

#endif
