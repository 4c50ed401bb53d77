/* When jobs ran. */
#ifndef PYRO_ANALYZE_JOB_INTERVAL_H
#define PYRO_ANALYZE_JOB_INTERVAL_H

#include "analyze/row_index.h"
#include "model/app.h"

/* When a job ran; `stages` is pyro_index_stages(). Where the log gives no time, from its first stage to its last. */
void pyro_job_interval(const struct pyro_app *app, const struct pyro_index *stages, const struct pyro_job *job,
                       int64_t *begin, int64_t *end);

#endif
