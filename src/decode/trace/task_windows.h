/* Which thread ran which task when: what the plugin wrote about each, on the clock of the kernel's traces. */
#ifndef PYRO_DECODE_TRACE_TASK_WINDOWS_H
#define PYRO_DECODE_TRACE_TASK_WINDOWS_H

#include "base/collections/vec.h"
#include "base/strings/slice.h"
#include "model/tracks/tracks.h"

struct pyro_task_window {
    struct pyro_slice host; /* null: not known */
    int64_t pid, tid;
    int32_t thread;           /* row of the tracks' threads */
    int64_t start_ns, end_ns; /* monotonic clock of the host until pyro_task_windows_settle(), then since 1970; end
                                 INT64_MAX: it never said so */
    int64_t task, stage, stage_attempt;
    bool torn; /* it overlaps another one of the same thread, and was cut */
};

/* A moment on both clocks of a host. */
struct pyro_clock_pair {
    struct pyro_slice host;
    int64_t pid, monotonic_ns, utc_ns;
};

/* A process that ran tasks. */
struct pyro_task_process {
    struct pyro_slice host, executor, label; /* label: "executor 3" */
    int64_t pid;
    int32_t row; /* of the tracks' threads */
};

/* A process that a process with tasks has started, itself or by others. */
struct pyro_task_child {
    struct pyro_slice host;
    int64_t pid;
};

struct pyro_task_windows {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_task_window) items;
    PYRO_VEC(struct pyro_clock_pair) pairs;
    PYRO_VEC(struct pyro_task_process) processes;
    PYRO_VEC(struct pyro_task_child) children;
    bool knows_children; /* the plugin lists them */
    bool settled;
};

void pyro_task_windows_done(struct pyro_task_windows *windows);

/* How far a host's monotonic clock is from UTC: the median of its pairs. */
struct pyro_clock_fit {
    int64_t offset_ns, drift_ppb, error_ns; /* error: largest distance of a pair; drift: slope through their ends */
    size_t matches;                         /* pairs; 0: nothing is known */
};
/* Of the pairs of a host; of all pairs if they name one host only or `host` is null. */
struct pyro_clock_fit pyro_task_windows_fit(const struct pyro_task_windows *windows, struct pyro_slice host);

/* Sorts by host, thread and time, gives each an end, puts them on the axis of UTC and adds them to the owners. False:
 * no memory. */
bool pyro_task_windows_settle(struct pyro_task_windows *windows, struct pyro_tracks *tracks);
/* Windows of one thread in a settled list; NULL: none. A null host, or windows that name one host only, match any. */
const struct pyro_task_window *pyro_task_windows_of(const struct pyro_task_windows *windows, struct pyro_slice host,
                                                    int64_t tid, size_t *ret_count);
/* 1: the process was started by one that runs tasks; 0: it was not; -1: no one says. */
int pyro_task_windows_is_child(const struct pyro_task_windows *windows, struct pyro_slice host, int64_t pid);
/* NULL: no process that runs tasks. */
const struct pyro_task_process *pyro_task_windows_process(const struct pyro_task_windows *windows,
                                                          struct pyro_slice host, int64_t pid);

#endif
