/* Times that contradict each other: the application's against those of its events, and the two of each row. */
#ifndef PYRO_DECODE_INTERVAL_CHECKS_H
#define PYRO_DECODE_INTERVAL_CHECKS_H

#include "decode/task_checks.h"

/* What the events said of the application's own times. */
struct pyro_seen_times {
    bool started, ended;            /* by events: otherwise the first or last time of any event counts */
    int64_t earliest_ms, latest_ms; /* of all events; PYRO_NONE: there is none */
};

/* Called with a sealed table of tasks. Fills the application's start and end where no event says them. Sets
 * contradicted times to PYRO_NONE, or the application's to the first or last time of an event; counts them in the
 * integrity and says so in notes, as well as `doubts`: what was set aside before. False: no memory. */
bool pyro_check_intervals(struct pyro_app *app, const struct pyro_seen_times *seen,
                          const struct pyro_task_doubts *doubts);

#endif
