/* job-failed: jobs failed, with the cause at the root of Spark's chain of exceptions. */
#include <math.h>

#include "analyze/app_facts.h"
#include "model/failure_text.h"
#include "rules/finding.h"
#include "rules/fixes/failure_advice.h"
#include "rules/fixes/shuffle_service.h"

#define CAUSES_KEPT 64

enum { CAUSES_MAX, ENDED_RISK, RISK, AGAIN_RISK };
static const struct pyro_threshold thresholds[] = {
    [CAUSES_MAX] = {"causes_max", 5, "count",
                    "Maximum number of distinct causes that get their own finding; the table failures has the rest"},
    [ENDED_RISK] = {"risk_ended", 0.9, "share",
                    "Failure risk if no job followed: the application failed because of it"},
    [RISK] = {"risk", 0.5, "share", "... if the application continued without the result of the job"},
    [AGAIN_RISK] = {"risk_again", 0.2, "share",
                    "... if the same call succeeded later, or the application was interactive"},
};

struct cause {
    struct pyro_root_cause root;
    size_t job; /* row of the last job that failed because of it */
    double jobs, run_ms;
    bool again; /* every one of them succeeded later, from the same place */
};

static bool succeeded_later(const struct pyro_app *app, size_t row)
{
    const struct pyro_job *job = &app->jobs.items[row];
    for (size_t i = row + 1; i < app->jobs.count; i++)
        if (pyro_slice_is(app->jobs.items[i].status, "succeeded") &&
            pyro_slice_eq(app->jobs.items[i].name, job->name) &&
            pyro_slice_eq(app->jobs.items[i].description, job->description))
            return true;
    return false;
}

static size_t collect(const struct pyro_app *app, struct cause *causes)
{
    size_t count = 0;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        if (!pyro_job_failed(job))
            continue;
        struct pyro_root_cause root = pyro_root_cause(job->failure);
        size_t k = 0;
        while (k < count && !(pyro_slice_eq(causes[k].root.name, root.name) &&
                              pyro_same_message(causes[k].root.message, root.message)))
            k++;
        if (k == CAUSES_KEPT)
            continue;
        if (k == count)
            causes[count++] = (struct cause){.root = root, .again = true};
        causes[k].job = i;
        causes[k].jobs++;
        causes[k].run_ms += pyro_real(job->run_ms);
        /* Looking through all later jobs for a few of the failed ones only: a log may have thousands. */
        causes[k].again = causes[k].again && causes[k].jobs < CAUSES_KEPT && succeeded_later(app, i);
    }
    return count;
}

/* "Task 3 in stage 2.0 failed 4 times" tells how often it was tried. */
static double attempts_told(struct pyro_slice text)
{
    if (!text.ptr)
        return 0;
    const char *at = pyro_slice_find(text, " failed ");
    const char *end = text.ptr + text.len;
    double count = 0;
    for (at = at ? at + 8 : end; at < end && *at >= '0' && *at <= '9' && count < 1e6; at++)
        count = count * 10 + (*at - '0');
    return count;
}

/* "load.py:12, in parse". */
static const char *say_frame(struct pyro_rule_context *context, struct pyro_slice text)
{
    enum { SHOWN = 100 };
    struct pyro_frame frame = pyro_split_frame(text);
    const char *file = pyro_say_text(context, frame.file, SHOWN);
    return frame.rest.ptr ? pyro_say(context, "%s:%s", file, pyro_say_text(context, frame.rest, SHOWN)).ptr : file;
}

/* Which findings say why, where the error only reports what came of it. A lost executor loses its shuffle files. */
static const char *const *reasons_of(struct pyro_slice failure, enum pyro_failure_kind kind)
{
    static const char *const lost[] = {"executor-oom", "executor-lost", NULL};
    static const char *const memory[] = {"executor-oom", NULL};
    static const char *const result[] = {"large-result", NULL};
    switch (kind) {
    case PYRO_FAILURE_RESULT_SIZE:
        return result;
    case PYRO_FAILURE_JVM_MEMORY:
    case PYRO_FAILURE_PYTHON_MEMORY:
        return memory;
    default:
        return pyro_failure_is_loss(failure) ? lost : NULL;
    }
}

static void report(struct pyro_rule_context *context, const struct cause *cause)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_job_failed);
    if (!finding)
        return;
    const struct pyro_job *job = &app->jobs.items[cause->job];
    const struct pyro_root_cause *root = &cause->root;
    ptrdiff_t stage = pyro_job_failed_stage(app, job);
    if (stage >= 0)
        pyro_finding_at_stage(context, finding, (size_t)stage);
    finding->job = job->id;
    finding->sql = job->sql;
    if (stage < 0)
        finding->call_site = job->name;
    bool ended = pyro_app_failed(app) ? cause->job + 1 == app->jobs.count || pyro_app_ended_in_failure(app)
                                      : pyro_app_ended_in_failure(app) && cause->job + 1 == app->jobs.count;
    bool shell = pyro_app_is_interactive(app);
    double attempts = attempts_told(job->failure);
    const char *name = pyro_say_text(context, root->name, 100);
    const char *message = pyro_say_text(context, root->message, PYRO_CAUSE_BYTES);
    struct pyro_shuffle_service service = pyro_shuffle_service_of(app, job->failure);
    if (!service.silent && !service.forgot && stage >= 0)
        service = pyro_shuffle_service_of(app, app->stages.items[stage].failure);
    bool served = service.silent || service.forgot;
    finding->cause = pyro_say(
        context, "Job %lld (%s) failed%s%s: %s%s%s%s%s%s%s%s.%s", (long long)job->id,
        pyro_say_text(context, job->name, 80),
        stage >= 0 ? pyro_say(context, " in %s", pyro_say_stage(context, (size_t)stage)).ptr : "",
        attempts > 1 ? pyro_say(context, " after %.0f attempts of one task", attempts).ptr : "", name,
        *name && *message ? ": " : "", *name || *message ? message : "the log does not say why",
        root->frame.ptr ? ", at " : "", say_frame(context, root->frame), root->wrapper.ptr ? ", wrapped in " : "",
        pyro_say_text(context, root->wrapper, 80), served ? pyro_shuffle_service_say(context, &service) : "",
        ended && !shell     ? " No job followed."
        : cause->jobs > 1.5 ? pyro_say(context, " %.0f jobs failed with this error.", cause->jobs).ptr
                            : "");
    pyro_finding_evidence(context, finding, "failed_jobs", cause->jobs, 0, "count");
    pyro_finding_evidence(context, finding, "lost_run_ms", cause->run_ms, 0, "ms");
    if (attempts > 0)
        pyro_finding_evidence(context, finding, "attempts", attempts, (double)NAN, "count");
    enum pyro_failure_kind kind = pyro_failure_kind(root->name, root->message);
    if (kind == PYRO_FAILURE_OTHER) /* Python's exceptions come wrapped */
        kind = pyro_failure_kind(root->wrapper, root->message);
    if (!served)
        finding->reasons = reasons_of(job->failure, kind);
    static const char *const verify = "In the next run the Jobs page lists no failed job.";
    if (served)
        pyro_shuffle_service_advise(context, finding, &service, verify);
    else
        pyro_finding_advise(context, finding, pyro_slice_from(pyro_failure_advice(kind)), verify);
    finding->failure_risk = pyro_limit(context, cause->again || shell ? AGAIN_RISK : ended ? ENDED_RISK : RISK);
    finding->confidence *= root->name.ptr || root->message.ptr ? 0.97 : 0.8;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->jobs.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct cause *causes = pyro_arena_array(context->arena, CAUSES_KEPT, sizeof(*causes));
    if (!causes) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    size_t count = collect(app, causes);
    for (size_t i = 0; i < count && (double)i < pyro_limit(context, CAUSES_MAX); i++)
        report(context, &causes[i]);
    return count > 0 ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_job_failed = {
    .id = "job-failed",
    .category = "failures",
    .title = "Failed job",
    .summary = "A job failed, and its result is missing.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
