/* Reading logs for the History Server's REST API: which attempt a log is of, and all that it tells. */
#ifndef PYRO_SESSION_HISTORY_H
#define PYRO_SESSION_HISTORY_H

#include "base/arena.h"
#include "base/error.h"
#include "model/history.h"

/* One attempt of an application, as a list of applications shows it. */
struct pyro_attempt {
    size_t log;                                                /* of the inputs */
    struct pyro_slice app_id, attempt_id, name, user, version; /* attempt_id may be null */
    int64_t start_ms, end_ms, modified_ms;                     /* end_ms: -1 while it runs */
    bool completed;
};

/* Reads no more of the log than the list needs. Texts go to `arena`. PYRO_ERROR_INPUT: no event log that begins with an
 * application's start. */
enum pyro_status pyro_attempt_scan(const pyro_inputs *inputs, size_t log, struct pyro_arena *arena,
                                   struct pyro_attempt *ret, struct pyro_error *error);
/* `with_sql`: with SQL executions, whose metrics take about as long to follow as all the rest. */
enum pyro_status pyro_history_load(const pyro_inputs *inputs, size_t log, bool with_sql, struct pyro_history **ret,
                                   struct pyro_error *error);

#endif
