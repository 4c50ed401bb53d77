/* pyrometer.trace/1: what traces of the kernel recorded of a run, in whole and by stage.
 *
 *     tracks, and a diagnosis if there is an event log -> pyro_trace_gather() -> _json() or _text() */
#ifndef PYRO_REPORT_TRACE_TRACE_H
#define PYRO_REPORT_TRACE_TRACE_H

#include "analyze/tracks/stage_waits.h"
#include "report/report.h"
#include "text/json_write.h"

/* Rows that are shown of each kind; sums are of all. */
enum { PYRO_TRACE_PROCESSES = 20, PYRO_TRACE_CALLS = 30, PYRO_TRACE_WAITS = 12, PYRO_TRACE_LOSSES_SHOWN = 20 };

/* Threads of one process, or those whose process is not known and that have one name. */
struct pyro_trace_process {
    struct pyro_slice name, host, executor;
    int64_t pid; /* PYRO_NONE: not known */
    uint64_t threads;
    int64_t state_ns[PYRO_KERNEL_STATES];
};

/* When tasks began: as their threads say, after the event log. */
struct pyro_trace_clock {
    size_t tasks; /* that both know */
    double p50_ms, p99_ms, most_ms;
    double shortest_ms; /* task */
};

struct pyro_trace_report {
    const struct pyro_tracks *tracks;
    const struct pyro_diagnosis *diagnosis; /* NULL: no event log */
    int64_t first_ns, last_ns;              /* of all traces; PYRO_NONE: no event */
    int64_t events, lost, losses;           /* lost: as far as it is known */
    struct pyro_trace_process *processes;   /* most running first */
    size_t process_count;
    size_t *calls; /* rows of trace_calls, longest first */
    size_t call_count;
    size_t *classes; /* rows of trace_events, most first */
    size_t class_count;
    const struct pyro_stage_waits *waits;
    struct pyro_stage_key *stages; /* as waits->stages */
    size_t stage_count;
    uint64_t tasks, torn; /* tasks that were traced; of them those whose events are incomplete */
    struct pyro_trace_clock clock;
};

/* Everything comes from the arena. False: no memory left. */
bool pyro_trace_gather(const struct pyro_tracks *tracks, const struct pyro_diagnosis *diagnosis,
                       struct pyro_arena *arena, struct pyro_trace_report *ret);
void pyro_trace_json(struct pyro_output *output, const struct pyro_trace_report *trace);
/* The same as one value of a writer. */
void pyro_trace_value(struct pyro_json_writer *json, const struct pyro_trace_report *trace);
/* "waits": the longest waits of a stage, a row of trace->stages. */
void pyro_trace_json_waits(struct pyro_json_writer *json, const struct pyro_stage_waits *waits,
                           const struct pyro_stage_waited *waited);
/* An object of the states that have a time. */
void pyro_trace_json_states(struct pyro_json_writer *json, const char *key, const int64_t *state_ns);
void pyro_trace_text(struct pyro_output *output, const struct pyro_trace_report *trace,
                     const struct pyro_report_options *options);

#endif
