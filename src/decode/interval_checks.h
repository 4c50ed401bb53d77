/* Times that contradict each other: the application's against those of its jobs and stages, and the two of each row. */
#ifndef PYRO_DECODE_INTERVAL_CHECKS_H
#define PYRO_DECODE_INTERVAL_CHECKS_H

#include "model/app.h"

/* Called when the application's own times are known. Sets contradicted times to PYRO_NONE, or the application's to
 * `earliest_ms` or `latest_ms` (of all times seen) where most of the others contradict it; counts them in the integrity
 * and says so in notes. False: no memory. */
bool pyro_check_intervals(struct pyro_app *app, int64_t earliest_ms, int64_t latest_ms);

#endif
