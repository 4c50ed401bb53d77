/* stage-retries: stages ran again, because shuffle files that they or others had written could not be fetched. */
#include <math.h>

#include "analyze/app_facts.h"
#include "model/failure_kinds.h"
#include "model/failure_text.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/fixes/shuffle_service.h"

enum { NEAR_SHARE, NEAR_RISK, RISK, LITTLE_SHARE, LITTLE_RISK };
static const struct pyro_threshold thresholds[] = {
    [NEAR_SHARE] = {"near_limit_share", 0.75, "share",
                    "At this used share of spark.stage.maxConsecutiveAttempts a failure is near"},
    [NEAR_RISK] = {"risk_near", 0.5, "share", "Failure risk then"},
    [RISK] = {"risk", 0.3, "share", "Failure risk of every other retry that cost work"},
    [LITTLE_SHARE] = {"little_share", 0.002, "share", "Quiet if a smaller share of all task time is repeated"},
    [LITTLE_RISK] = {"risk_little", 0.1, "share", "Failure risk then"},
};

struct retries {
    double attempts, repeated_ms, lost_ms, fetch_failures, lost_executors;
    double barriers; /* attempts that failed because a task of a barrier stage did */
    int64_t worst;   /* largest attempt number */
    size_t first;    /* row of the first stage that ran again */
    size_t failed;   /* row of the first attempt that failed to fetch, or SIZE_MAX */
};

static double count_lost(const struct pyro_app *app)
{
    double count = 0;
    for (size_t i = 0; i < app->executors.count; i++)
        count += app->executors.items[i].removed_ms != PYRO_NONE &&
                 !pyro_removal_is_ordinary(app->executors.items[i].remove_reason);
    return count;
}

/* Row of the attempt before this one if it failed at a barrier, else -1. */
static ptrdiff_t failed_before(const struct pyro_app *app, const struct pyro_stage *attempt)
{
    ptrdiff_t row = attempt->barrier ? pyro_app_find_stage(app, attempt->id, attempt->attempt - 1) : -1;
    return row >= 0 && pyro_stage_failed_at_barrier(&app->stages.items[row]) ? row : -1;
}

static struct retries measure(const struct pyro_app *app)
{
    struct retries found = {.failed = SIZE_MAX};
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (pyro_stage_failed_at_barrier(stage)) {
            found.barriers++;
            found.lost_ms += pyro_real(stage->task_ms);
        }
        if (found.failed == SIZE_MAX && stage->failure.ptr && pyro_text_has(stage->failure, "fetch"))
            found.failed = i;
        if (stage->attempt <= 0 || stage->tasks <= 0)
            continue;
        if (found.attempts++ <= 0)
            found.first = i;
        found.worst = stage->attempt > found.worst ? stage->attempt : found.worst;
        if (failed_before(app, stage) < 0) /* else all that was lost is in the attempt that failed */
            found.repeated_ms += pyro_stage_repeated_part(app, stage) * pyro_real(stage->task_ms);
    }
    for (size_t row = 0; found.attempts > 0 && row < app->tasks.count; row++) {
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) == PYRO_TASK_SUCCESS ||
            !pyro_slice_find(pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, row)), "FetchFailed"))
            continue;
        found.fetch_failures++;
        found.lost_ms += pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                                   pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
    }
    found.lost_executors = count_lost(app);
    return found;
}

/* The first line of what the stage failed of says little ("FetchFailedException"); the cause behind it says why. */
static const char *why(struct pyro_rule_context *context, const struct retries *found)
{
    if (found->failed == SIZE_MAX)
        return "";
    struct pyro_slice text = context->app->stages.items[found->failed].failure;
    struct pyro_root_cause root = pyro_root_cause(text);
    return pyro_say(context, " (\"%s%s%s\")", pyro_say_text(context, root.name, 80),
                    root.name.ptr && root.message.len > 0 ? ": " : "",
                    pyro_say_text(context, root.message, PYRO_CAUSE_BYTES))
        .ptr;
}

static struct pyro_shuffle_service find_service(const struct pyro_app *app, const struct retries *found)
{
    return pyro_shuffle_service_of(app, found->failed == SIZE_MAX ? PYRO_SLICE_NULL
                                                                  : app->stages.items[found->failed].failure);
}

/* Why Spark repeated stages. */
static const char *say_reason(struct pyro_rule_context *context, const struct retries *found)
{
    struct pyro_shuffle_service service = find_service(context->app, found);
    const char *barriers = pyro_say_count(context, found->barriers, "attempt failed", "attempts failed");
    if (found->barriers > 0 && found->fetch_failures <= 0)
        return pyro_say(context,
                        "%s because a task of a barrier stage failed, and then Spark runs all tasks of the stage again",
                        barriers)
            .ptr;
    return pyro_say(context, "%s could not fetch shuffle files%s%s%s",
                    pyro_say_count(context, found->fetch_failures, "task", "tasks"), why(context, found),
                    service.silent || service.forgot ? pyro_shuffle_service_say(context, &service)
                    : found->lost_executors > 0
                        ? pyro_say(context, "; %s during the run",
                                   pyro_say_count(context, found->lost_executors, "executor died", "executors died"))
                              .ptr
                        : "; no executor died",
                    found->barriers > 0
                        ? pyro_say(context, "; %s because a task of a barrier stage failed", barriers).ptr
                        : "")
        .ptr;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct retries *found)
{
    static const char *const verify = "In the next run the Stages page shows no (retry 1).";
    const struct pyro_app *app = context->app;
    struct pyro_slice text = found->failed == SIZE_MAX ? PYRO_SLICE_NULL : app->stages.items[found->failed].failure;
    if (found->barriers > 0 && found->fetch_failures <= 0) {
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Find out why the task failed and fix that first (task-failures): the "
                                               "other tasks of a barrier stage lose their work with it."),
                            verify);
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Let long barrier stages write checkpoints, so that the next attempt "
                                               "begins with the last one."),
                            verify);
        return;
    }
    struct pyro_shuffle_service service = find_service(app, found);
    if (service.silent || service.forgot)
        pyro_shuffle_service_advise(context, finding, &service, verify);
    else if (found->lost_executors > 0) {
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Find out what ended %s and fix that first (executor-oom, executor-lost): the "
                                     "shuffle files were lost with %s.",
                                     pyro_say_count(context, found->lost_executors, "executor", "executors"),
                                     found->lost_executors > 1.5 ? "them" : "it"),
                            verify);
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Keep shuffle files when an executor ends: use the external shuffle service, a remote shuffle service "
                "or, if nodes are removed with notice, decommissioning with migration of shuffle blocks."),
            verify);
        return;
    }
    if (pyro_text_has(text, "NoSuchFile") || pyro_text_has(text, "FileNotFound") ||
        pyro_text_has(text, "No such file")) {
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Do not delete files in spark.local.dir while applications run: shuffle files of running executors "
                "were deleted (by cleanup jobs such as systemd-tmpfiles, or by someone who freed a full disk)."),
            verify);
        return;
    }
    if (service.forgot)
        return; /* trying again does not help */
    if (!service.address.ptr)
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Check the network and the load of the host with the shuffle files: the "
                                               "executors survived, but tasks could not fetch their files."),
                            verify);
    if (app->integrity.course_unknown) /* the loss of an executor may be among what the log lacks */
        return;
    int64_t retries = pyro_app_property_int(app, "spark.shuffle.io.maxRetries", 3);
    long long more = retries < 8 ? 8 : retries < 1000 ? retries * 2 : retries;
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "If %s for a short time, retry fetches %lld times instead of %lld.",
                 service.address.ptr ? "the service is away" : "connections break", more, (long long)retries),
        verify);
    pyro_advice_set(context, advice, "spark.shuffle.io.maxRetries", pyro_say(context, "%lld", more));
}

static void report(struct pyro_rule_context *context, const struct retries *found)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_stage_retries);
    if (!finding)
        return;
    finding->id = pyro_slice_from(pyro_rule_stage_retries.id); /* one finding for the whole application */
    pyro_finding_at_stage(context, finding, found->failed != SIZE_MAX ? found->failed : found->first);
    double limit = fmax(1, pyro_real(pyro_app_property_int(app, "spark.stage.maxConsecutiveAttempts", 4)));
    double work = found->repeated_ms + found->lost_ms, all = fmax(pyro_real(app->numbers.task_ms), 1);
    finding->cause =
        pyro_say(context, "%s: %s. %s of task time was repeated work (%.1f %% of all).",
                 pyro_say_count(context, found->attempts, "stage attempt was a retry", "stage attempts were retries"),
                 say_reason(context, found), pyro_say_ms(context, work), 100 * work / all);
    pyro_finding_evidence(context, finding, "stage_retries", found->attempts, 0, "count");
    pyro_finding_evidence(context, finding, "fetch_failures", found->fetch_failures, 0, "count");
    pyro_finding_evidence(context, finding, "repeated_task_ms", work, 0, "ms");
    pyro_finding_evidence(context, finding, "worst_attempt", (double)found->worst + 1, 1, "count");
    pyro_finding_evidence(context, finding, "executors_lost", found->lost_executors, 0, "count");
    advise(context, finding, found);
    double near = ((double)found->worst + 1) / limit;
    finding->failure_risk = pyro_limit(
        context, near >= pyro_limit(context, NEAR_SHARE) && found->fetch_failures + found->barriers > 0 ? NEAR_RISK
                 : work >= pyro_limit(context, LITTLE_SHARE) * all                                      ? RISK
                                                                                                        : LITTLE_RISK);
    finding->confidence *= found->fetch_failures + found->barriers > 0 ? 0.97 : 0.8;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (stage->attempt <= 0 || stage->tasks <= 0)
            continue;
        ptrdiff_t before = failed_before(app, stage);
        if (before >= 0)
            pyro_remedy_skip(context, finding, (size_t)before);
        else
            pyro_remedy_stage(context, finding, i, 1 - pyro_stage_repeated_part(app, stage));
    }
    pyro_remedy_partly(finding, 0.9);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0 || app->stages.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct retries found = measure(app);
    if (found.attempts <= 0)
        return PYRO_VERDICT_QUIET;
    report(context, &found);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_stage_retries = {
    .id = "stage-retries",
    .category = "failures",
    .title = "Stage retries",
    .summary = "Spark repeats stages because tasks cannot fetch shuffle files.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"executor-oom", "executor-lost", "task-failures"},
    .evaluate = evaluate,
};
