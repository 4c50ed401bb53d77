/* Rows of tasks, read in runs of them. */
#ifndef PYRO_ANALYZE_TASK_ROWS_H
#define PYRO_ANALYZE_TASK_ROWS_H

#include "model/app.h"

/* Tasks are read in runs of this many rows. */
enum { PYRO_READ_ROWS = PYRO_TASK_CHUNK_ROWS };

/* Launch and finish of tasks [first, first + count) into times[0] and times[1]; times[2] is working space. Both are 0
 * for a task that took no time, and for a Resubmitted record: it repeats a task that ended before, and did not run
 * itself. */
void pyro_run_times(const struct pyro_app *app, size_t first, size_t count, int64_t (*times)[PYRO_READ_ROWS]);

/* floor(value / 10^6), also below 0. */
static inline int64_t pyro_ns_to_ms(int64_t ns)
{
    return ns / 1000000 - (ns % 1000000 < 0);
}

#endif
