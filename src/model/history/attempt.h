/* Which attempt of which application a log is of. */
#ifndef PYRO_MODEL_HISTORY_ATTEMPT_H
#define PYRO_MODEL_HISTORY_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings/slice.h"
#include "model/outcome/run_outcome.h"

/* One attempt of an application, as a list of applications shows it. */
struct pyro_attempt {
    size_t log;                                                /* of the inputs */
    struct pyro_slice app_id, attempt_id, name, user, version; /* attempt_id may be null */
    int64_t start_ms, end_ms, modified_ms;                     /* end_ms: -1 while it runs */
    bool completed;                                            /* its end is known */
    /* What became of it, as its log or its store says: RUNNING may be TRUNCATED by now (pyro_run_outcome_now()). */
    enum pyro_run_outcome outcome;
    /* Time of the last event, of a log without an end; -1: unknown, as of one that is compressed. */
    int64_t last_event_ms;
};

#endif
