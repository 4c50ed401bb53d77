/* What the event log says of failures, to recognize the same failures in text logs, in other words too. */
#ifndef PYRO_LOAD_KNOWN_FAILURES_H
#define PYRO_LOAD_KNOWN_FAILURES_H

#include "base/collections/map.h"
#include "decode/logs/errors.h"
#include "model/app.h"

struct pyro_known_failures {
    struct pyro_map facts; /* hash of each fact that events state -> 1 */
};

/* False: no memory. Release it with pyro_known_failures_done() in any case. */
bool pyro_known_failures_init(struct pyro_known_failures *known, const struct pyro_app *app);
void pyro_known_failures_done(struct pyro_known_failures *known);
/* Whether events report the same failure:
 *
 * - the same exception at the root with the same message, numbers aside;
 * - the same chain of exceptions for the same tasks or stages, or, where a log names neither, at the same time;
 * - executors that the driver lost and stages that it gave up, unless the log knows a cause that events do not. */
bool pyro_failure_is_known(const struct pyro_known_failures *known, const struct pyro_log_error *one);

#endif
