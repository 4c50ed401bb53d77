/* Confidence: how far the log can be trusted to hold what happened.
 *
 *     1
 *     - min(0.5, 5 x bad lines / lines)
 *     - min(0.2, repeated events / lines)
 *     - min(0.5, tasks started and never ended / tasks started), of an application that is over
 *     - min(0.5, 0.2 x missing parts of a rolling log)
 *     - 0.1 when truncated - 0.2 when compacted - 0.05 when still in progress
 *     - 0.2 when the beginning is missing - 0.1 when no setting was read
 *     - 0.1 when read from REST answers, and 0.1 more when the server had thrown away jobs, stages or SQL executions
 *     - min(0.4, tasks that the server had thrown away / tasks)
 *     - min(0.3, values of tasks that were set aside / tasks)
 *     - min(0.3, times of other events that were set aside / all of them)
 *     - 0.2 when most of them contradict the application's start or end
 *
 * Events that Spark's settings exclude (spark.eventLog.excludedPatterns) are not lost.
 *
 * clamped to 0.05 .. 1, and to 0.3 at most without an event log. A clean, complete log has exactly 1. */
#include <math.h>
#include <stdio.h>

#include "analyze/analyze.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : part > 0 ? 1.0 : 0.0;
}

/* Made of logs that are not event logs. */
#define LOGGED_MOST 0.3

/* What ends in the log and began before it. */
static bool note_beginning(struct pyro_app *app)
{
    char text[300];
    size_t jobs = 0, stages = 0;
    for (size_t i = 0; i < app->jobs.count; i++)
        jobs += app->jobs.items[i].submitted_ms == PYRO_NONE;
    for (size_t i = 0; i < app->stages.count; i++)
        stages += app->stages.items[i].unsubmitted;
    snprintf(
        text, sizeof(text),
        "The beginning of the log is missing (there is no SparkListenerApplicationStart): what happened before its "
        "first event is unknown. Jobs without a start: %zu, stages: %zu",
        jobs, stages);
    return pyro_app_note(app, pyro_slice_from(text));
}

enum pyro_status pyro_analyze_confidence(struct pyro_app *app, struct pyro_error *error)
{
    char text[400];
    struct pyro_integrity *integrity = &app->integrity;
    bool over = pyro_slice_is(app->application.status, "completed") || pyro_slice_is(app->application.status, "failed");
    uint64_t lost =
        integrity->tasks_started > integrity->tasks_ended ? integrity->tasks_started - integrity->tasks_ended : 0;
    struct pyro_slice excluded = pyro_app_property(app, "spark.eventLog.excludedPatterns");
    double penalty = fmin(0.5, 5 * share(integrity->bad_lines, integrity->lines));
    penalty += fmin(0.2, share(integrity->repeated_events, integrity->lines));
    if (over && !(excluded.len > 0 && integrity->tasks_ended == 0))
        penalty += fmin(0.5, share(lost, integrity->tasks_started));
    penalty += fmin(0.5, 0.2 * (double)integrity->missing_parts);
    penalty += integrity->truncated ? 0.1 : 0;
    penalty += integrity->compacted ? 0.2 : 0;
    penalty += integrity->beginning_missing ? 0.2 : 0;
    penalty += integrity->settings_unknown ? 0.1 : 0;
    penalty += integrity->in_progress ? 0.05 : 0;
    penalty += integrity->rest ? 0.1 : 0;
    penalty += integrity->forgotten ? 0.1 : 0;
    penalty += fmin(0.4, share(integrity->tasks_forgotten, integrity->tasks_forgotten + app->tasks.count));
    double contradicted = fmin(0.3, share(integrity->contradicted_task_values, app->tasks.count));
    contradicted += integrity->application_contradicted ? 0.2 : 0;
    contradicted += fmin(0.3, share(integrity->contradicted_times, integrity->checked_times));
    integrity->contradictory = contradicted > penalty;
    integrity->confidence = fmin(integrity->logged ? LOGGED_MOST : 1, fmax(0.05, 1 - penalty - contradicted));
    if (integrity->beginning_missing && !note_beginning(app))
        return pyro_no_memory(error);
    if (integrity->settings_unknown &&
        !pyro_app_note(app, PYRO_SLICE_LITERAL("The settings of the run are unknown, because the log has no "
                                               "SparkListenerEnvironmentUpdate: rules that need them do not apply, "
                                               "and no setting is recommended")))
        return pyro_no_memory(error);
    if (excluded.len > 0) {
        snprintf(text, sizeof(text),
                 "Spark leaves events out of this log on purpose (spark.eventLog.excludedPatterns=%.*s): what they say "
                 "is unknown, but not lost",
                 (int)(excluded.len < 150 ? excluded.len : 150), excluded.ptr);
        if (!pyro_app_note(app, pyro_slice_from(text)))
            return pyro_no_memory(error);
    }
    return PYRO_OK;
}
