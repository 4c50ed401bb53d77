/* Confidence: how far the log can be trusted to hold what happened.
 *
 *     1
 *     - min(0.5, 5 x bad lines / lines)
 *     - min(0.2, repeated events / lines)
 *     - min(0.5, tasks started and never ended / tasks started), of an application that is over
 *     - min(0.5, 0.2 x missing parts of a rolling log)
 *     - 0.1 when truncated - 0.2 when compacted - 0.05 when still in progress
 *     - 0.1 when read from REST answers, and 0.1 more when the server had thrown away jobs, stages or SQL executions
 *     - min(0.4, tasks that the server had thrown away / tasks)
 *
 * clamped to 0.05 .. 1. A clean, complete log has exactly 1. */
#include <math.h>

#include "analyze/internal.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : part > 0 ? 1.0 : 0.0;
}

enum pyro_status pyro_analyze_confidence(struct pyro_app *app, struct pyro_error *error)
{
    (void)error;
    struct pyro_integrity *integrity = &app->integrity;
    bool over = pyro_slice_is(app->application.status, "completed") || pyro_slice_is(app->application.status, "failed");
    uint64_t lost =
        integrity->tasks_started > integrity->tasks_ended ? integrity->tasks_started - integrity->tasks_ended : 0;
    double penalty = fmin(0.5, 5 * share(integrity->bad_lines, integrity->lines));
    penalty += fmin(0.2, share(integrity->repeated_events, integrity->lines));
    if (over)
        penalty += fmin(0.5, share(lost, integrity->tasks_started));
    penalty += fmin(0.5, 0.2 * (double)integrity->missing_parts);
    penalty += integrity->truncated ? 0.1 : 0;
    penalty += integrity->compacted ? 0.2 : 0;
    penalty += integrity->in_progress ? 0.05 : 0;
    penalty += integrity->rest ? 0.1 : 0;
    penalty += integrity->forgotten ? 0.1 : 0;
    penalty += fmin(0.4, share(integrity->tasks_forgotten, integrity->tasks_forgotten + app->tasks.count));
    integrity->confidence = fmax(0.05, 1 - penalty);
    return PYRO_OK;
}
