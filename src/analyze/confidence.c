/* Confidence: how far the log can be trusted to hold what happened.
 *
 *     1
 *     - min(0.5, 5 x bad lines / lines)
 *     - min(0.2, repeated events / lines)
 *     - min(0.5, tasks started and never ended / tasks started), of an application that is over
 *     - min(0.5, 0.2 x missing parts of a rolling log)
 *     - min(0.5, events missing inside the log / all of their kind), of the kind that lacks most
 *     - min(0.4, the same of executors)
 *     - 0.1 when truncated - 0.2 when compacted - 0.05 when still in progress
 *     - 0.2 when the beginning is missing - 0.1 when no setting was read
 *     - 0.1 when read from REST answers, and 0.1 more when the server had thrown away jobs, stages or SQL executions
 *     - min(0.4, tasks that the server had thrown away / tasks)
 *     - min(0.3, values of tasks that were set aside / tasks)
 *     - min(0.4, tasks that succeeded and have no metrics / tasks)
 *     - min(0.3, times of other events that were set aside / all of them)
 *     - 0.2 when one pause is almost all of the run
 *     - 0.2 when most of them contradict the application's start or end
 *
 * Events that Spark's settings exclude (spark.eventLog.excludedPatterns) are not lost.
 *
 * clamped to 0.05 .. 1, and to 0.3 at most without an event log. A clean, complete log has exactly 1. */
#include <math.h>
#include <stdio.h>

#include "analyze/analyze.h"
#include "base/numbers/saturate.h"

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

/* Events that are missing, and the largest share that they are of one kind (tasks, stages, jobs, executors, ...): a log
 * without any start of a job knows nothing of jobs, however many other lines it has. */
struct missing {
    uint64_t events;
    double worst;
    double executors; /* their share alone: their tasks tell what was done, but not with which slots */
};

static void add_missing(struct missing *missing, uint64_t events, uint64_t known)
{
    missing->events += events;
    missing->worst = fmax(missing->worst, fmin(1, share(events, known)));
}

/* Stages end before their jobs. */
static bool outlives_its_job(const struct pyro_app *app, const struct pyro_stage *stage)
{
    ptrdiff_t job = stage->job == PYRO_NONE ? -1 : pyro_app_find_job(app, stage->job);
    return job >= 0 && app->jobs.items[job].completed_ms != PYRO_NONE;
}

/* Events of which others show that Spark has written them: ends without a start, tasks of stages that succeeded, ends
 * of stages whose job ended, and ends of jobs where the application completed; one that failed may have left them. */
static struct missing count_missing(const struct pyro_app *app)
{
    bool over = pyro_slice_is(app->application.status, "completed");
    struct missing missing = {0};
    uint64_t jobs = 0, sql = 0, stages = 0, tasks = 0;
    for (size_t i = 0; i < app->jobs.count; i++)
        jobs += app->jobs.items[i].unstarted || (over && pyro_slice_is(app->jobs.items[i].status, "running"));
    for (size_t i = 0; i < app->sql.count; i++)
        sql += app->sql.items[i].unstarted;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        int64_t succeeded = stage->tasks - stage->failed_tasks - stage->killed_tasks;
        bool running = pyro_slice_is(stage->status, "running");
        stages += stage->unsubmitted || (running && (over || outlives_its_job(app, stage)));
        /* A later attempt leaves to its earlier ones what these still do. */
        if (stage->attempt == 0 && pyro_slice_is(stage->status, "succeeded") && stage->partitions > succeeded)
            tasks += (uint64_t)(stage->partitions - succeeded);
    }
    add_missing(&missing, jobs, app->jobs.count);
    add_missing(&missing, sql, app->sql.count);
    add_missing(&missing, stages, app->stages.count);
    add_missing(&missing, tasks, app->tasks.count + tasks);
    add_missing(&missing, app->integrity.task_starts_missing, app->tasks.count);
    uint64_t executors = app->integrity.executor_events_missing;
    missing.executors = fmin(1, share(executors, app->executors.count + executors));
    missing.events += executors;
    return missing;
}

/* Least shares of the lines with which the log does not hold the course of the run. */
#define MISSING_SHARE  0.001
#define REPEATED_SHARE 0.01
/* And least share of the events of one kind. */
#define MISSING_OF_A_KIND 0.01

/* One pause that is this many times as long as all else, and at least this long: nothing tells a driver that waited
 * from a clock that was set or a machine that slept. */
#define PAUSE_SHARE 10
#define PAUSE_MS    3600000

static bool is_one_pause(const struct pyro_app *app)
{
    int64_t pause = app->numbers.longest_pause_ms;
    return pause >= PAUSE_MS && pause / PAUSE_SHARE > pyro_sub_saturating(app->numbers.wall_total_ms, pause);
}

static bool note_pause(struct pyro_app *app)
{
    char text[300];
    snprintf(
        text, sizeof(text),
        "Of the %lld s of the run, nothing happened for %lld s at a time: the clock was set, the machine slept, or "
        "the driver waited",
        (long long)(app->numbers.wall_total_ms / 1000), (long long)(app->numbers.longest_pause_ms / 1000));
    return pyro_app_note(app, pyro_slice_from(text));
}

static bool note_missing(struct pyro_app *app)
{
    struct pyro_integrity *integrity = &app->integrity;
    char text[300];
    if (integrity->events_missing > 0) {
        snprintf(
            text, sizeof(text),
            "Events are missing inside the log, at least %llu (tasks, jobs or stages without a start or an end, tasks "
            "of completed stages, executors of tasks): Spark drops events if its queue is full",
            (unsigned long long)integrity->events_missing);
        if (!pyro_app_note(app, pyro_slice_from(text)))
            return false;
    }
    if (integrity->unmeasured_tasks > 0) {
        bool one = integrity->unmeasured_tasks == 1;
        snprintf(text, sizeof(text),
                 "Metrics of %llu %s that succeeded are missing, although Spark writes them: what %s did is unknown",
                 (unsigned long long)integrity->unmeasured_tasks, one ? "task" : "tasks", one ? "it" : "they");
        if (!pyro_app_note(app, pyro_slice_from(text)))
            return false;
    }
    if (!integrity->course_unknown)
        return true;
    snprintf(text, sizeof(text),
             "%s: rules that judge its whole course do not apply, and findings of low severity or confidence are left "
             "out",
             integrity->partial ? "The log does not hold the whole run"
                                : "A hundredth of the values of the run or more contradict each other or are missing");
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
    bool all_wanted = !integrity->rest && !integrity->logged && !integrity->compacted && excluded.len == 0;
    const struct missing missing = all_wanted ? count_missing(app) : (struct missing){0};
    integrity->events_missing = missing.events;
    bool one_pause = is_one_pause(app);
    integrity->partial = one_pause || integrity->truncated || integrity->beginning_missing ||
                         integrity->missing_parts > 0 || share(missing.events, integrity->lines) >= MISSING_SHARE ||
                         fmax(missing.worst, missing.executors) >= MISSING_OF_A_KIND ||
                         share(integrity->repeated_events, integrity->lines) >= REPEATED_SHARE;
    /* An application made of text logs has no metrics at all. */
    integrity->unmeasured_tasks = integrity->logged ? 0 : integrity->unmeasured_tasks;
    integrity->course_unknown = integrity->partial ||
                                share(integrity->contradicted_task_times, app->tasks.count) >= MISSING_OF_A_KIND ||
                                share(integrity->contradicted_times, integrity->checked_times) >= MISSING_OF_A_KIND ||
                                share(integrity->unmeasured_tasks, app->tasks.count) >= MISSING_OF_A_KIND;
    double penalty = fmin(0.5, 5 * share(integrity->bad_lines, integrity->lines));
    penalty += fmin(0.2, share(integrity->repeated_events, integrity->lines));
    if (over && !(excluded.len > 0 && integrity->tasks_ended == 0))
        penalty += fmin(0.5, share(lost, integrity->tasks_started));
    penalty += fmin(0.5, 0.2 * (double)integrity->missing_parts);
    penalty += fmin(0.5, missing.worst) + fmin(0.4, missing.executors);
    penalty += integrity->truncated ? 0.1 : 0;
    penalty += integrity->compacted ? 0.2 : 0;
    penalty += integrity->beginning_missing ? 0.2 : 0;
    penalty += integrity->settings_unknown ? 0.1 : 0;
    penalty += integrity->in_progress ? 0.05 : 0;
    penalty += integrity->rest ? 0.1 : 0;
    penalty += integrity->forgotten ? 0.1 : 0;
    penalty += fmin(0.4, share(integrity->tasks_forgotten, integrity->tasks_forgotten + app->tasks.count));
    penalty += fmin(0.4, share(integrity->unmeasured_tasks, app->tasks.count));
    double contradicted = fmin(0.3, share(integrity->contradicted_task_values, app->tasks.count));
    contradicted += integrity->application_contradicted ? 0.2 : 0;
    contradicted += one_pause ? 0.2 : 0;
    contradicted += fmin(0.3, share(integrity->contradicted_times, integrity->checked_times));
    integrity->contradictory = contradicted > penalty;
    integrity->confidence = fmin(integrity->logged ? LOGGED_MOST : 1, fmax(0.05, 1 - penalty - contradicted));
    if (integrity->beginning_missing && !note_beginning(app))
        return pyro_no_memory(error);
    if ((one_pause && !note_pause(app)) || !note_missing(app))
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
