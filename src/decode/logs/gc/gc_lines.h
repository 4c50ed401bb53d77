/* What the readers of both forms of a garbage collector's log share. */
#ifndef PYRO_DECODE_LOGS_GC_GC_LINES_H
#define PYRO_DECODE_LOGS_GC_GC_LINES_H

#include "decode/logs/gc/gc_log.h"

struct pyro_gc_event pyro_gc_event_none(void);
/* Cuts what is too long. */
void pyro_gc_event_set_name(struct pyro_gc_event *event, struct pyro_slice name);

struct pyro_slice pyro_gc_from(struct pyro_slice text, size_t skip);
/* Without blanks, colons and commas around it. */
struct pyro_slice pyro_gc_trimmed(struct pyro_slice text);
/* "12.345", "12,345": in millionths, by digits, so that no locale and no rounding matters. Returns how many bytes it
 * takes, 0: there is no such number. */
size_t pyro_gc_read_decimal(struct pyro_slice text, int64_t *ret_millionths);
/* The same for seconds, in nanoseconds. */
size_t pyro_gc_read_seconds(struct pyro_slice text, int64_t *ret_ns);
/* "24M->4M(256M)", and G1's "24M(256M)->4M(256M)" of Java 7 and 8. Returns how many bytes it takes, 0: there is none.
 */
size_t pyro_gc_read_change(struct pyro_slice text, int64_t *ret_before, int64_t *ret_after);

/* A whole line of unified logging; false: it reports no collection. */
bool pyro_gc_unified_read(struct pyro_slice line, struct pyro_gc_event *ret);
/* Whether it is a line of unified logging about the garbage collector. */
bool pyro_gc_unified_known(struct pyro_slice line);

/* The times before a record of Java 7 or 8. Returns how many bytes they take; what is not said is PYRO_NONE. */
size_t pyro_gc_read_stamp(struct pyro_slice line, int64_t *ret_time_ms, int64_t *ret_uptime_us);
/* Whether a record begins here, behind its times. */
bool pyro_gc_record_begins(struct pyro_slice text);
/* Whether it is the line that Shenandoah writes at the begin of a phase, with -XX:+PrintGCDetails. */
bool pyro_gc_record_starts(struct pyro_slice text);
/* Begins a record at its bracket, or goes on with it. true: it is complete and is a collection. */
bool pyro_gc_record_begin(struct pyro_gc_record *record, struct pyro_slice text);
bool pyro_gc_record_continue(struct pyro_gc_record *record, struct pyro_slice text);
/* A whole line, behind its times, about a phase that ran while the program ran; false: it is not the end of one. */
bool pyro_gc_phase_read(struct pyro_slice text, struct pyro_gc_event *ret);
/* Of a line behind a record: "[Eden: ... Heap: 24M(256M)->4M(256M)]" of G1. */
void pyro_gc_read_details(struct pyro_slice line, struct pyro_gc_event *event);

#endif
