/* Which attempt of which application a log is of. */
#ifndef PYRO_MODEL_HISTORY_ATTEMPT_H
#define PYRO_MODEL_HISTORY_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings/slice.h"

/* One attempt of an application, as a list of applications shows it. */
struct pyro_attempt {
    size_t log;                                                /* of the inputs */
    struct pyro_slice app_id, attempt_id, name, user, version; /* attempt_id may be null */
    int64_t start_ms, end_ms, modified_ms;                     /* end_ms: -1 while it runs */
    bool completed;                                            /* its end is known */
    bool failed; /* it ended, with an exit code other than 0 or, where none is known, after a job that failed */
    /* Time of the last event, of a log without an end; -1: unknown, as of one that is compressed. */
    int64_t last_event_ms;
};

#endif
