/* Logs of the JVM's garbage collector: unified logging (Java 9 and later, -Xlog:gc*) and what Java
 * 8 writes (-XX:+PrintGCDetails, -XX:+PrintGCDateStamps). */
#ifndef PYRO_DECODE_LOGS_GC_GC_LOG_H
#define PYRO_DECODE_LOGS_GC_GC_LOG_H

#include "decode/artefact_kinds.h"

/* One collection, as a line has it. */
struct pyro_gc_event {
    int64_t time_ms;   /* since 1970, as the line says; PYRO_NONE: it does not */
    int64_t uptime_us; /* since the start of the process; PYRO_NONE: the line does not say it */
    int64_t duration_ns;
    int64_t before, after;  /* bytes of the heap; PYRO_NONE: the line does not say it */
    struct pyro_slice name; /* "Pause Young (Normal) (G1 Evacuation Pause)" */
    bool pause;             /* the program was stopped */
    bool at_end;            /* the line was written at the end of the collection (unified), not at its begin */
};

/* Of one line; false: it reports no collection. */
bool pyro_gc_line_read(struct pyro_slice line, struct pyro_gc_event *ret);

#endif
