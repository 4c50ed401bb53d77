/* How the last jobs ended, for a log whose end is all that was read of it so far. */
#ifndef PYRO_HISTORY_LAST_JOB_H
#define PYRO_HISTORY_LAST_JOB_H

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/slice.h"
#include "model/outcome/run_outcome.h"
#include "source/source.h"

/* Of a line, or its beginning, that is a SparkListenerJobEnd. `arena` is for the time of the call. */
enum pyro_job_end pyro_job_end_read(struct pyro_arena *arena, struct pyro_slice line);
/* Searches the log from its end: plain files backwards, in pieces; compressed ones whole, since they cannot be read
 * otherwise. */
enum pyro_status pyro_last_job_find(const struct pyro_log *log, struct pyro_arena *arena, enum pyro_job_end *ret,
                                    struct pyro_error *error);

#endif
