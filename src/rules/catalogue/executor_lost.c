/* executor-lost: executors died while they were needed, taking running tasks and shuffle files with them. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "analyze/memory/shortage.h"
#include "base/numbers/order.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

/* The number that is named. */
#define NAMED_MAX 8

enum { ENDING_MS, OFTEN, LOST_SHARE };
static const struct pyro_threshold thresholds[] = {
    [ENDING_MS] = {"ending_ms", 2000, "ms",
                   "A loss this close to the end is part of the shutdown, unless a task was lost"},
    [OFTEN] = {"lost_min", 2, "count", "This many losses are not an accident: a real risk"},
    [LOST_SHARE] = {"lost_share_min", 0.2, "share", "... and at least this share of all executors"},
};

struct exits {
    enum pyro_removal_kind kind;
    bool memory;
    const char *meaning, *advice;
};

static const char overhead_advice[] = "Raise the memory overhead for Python workers, off-heap buffers and threads.";
static const char read_advice[] = "Read the end of this executor's stderr and the host's kernel log: they report a "
                                  "crash or the out-of-memory killer.";

/* What exhausted memory ended is said by executor-oom. The last one is for all other reasons. */
static const struct exits exits[] = {
    {PYRO_REMOVAL_PREEMPTED, false, "the cluster manager gave its resources to another application",
     "Use a queue or nodes without preemption for this job, or enable decommissioning so that Spark moves its blocks "
     "first."},
    {PYRO_REMOVAL_NODE_LOST, false, "its node was lost: a spot machine was taken back, or the machine failed",
     "Use machines that are not taken back for this job, or enable decommissioning so that Spark moves its blocks "
     "first."},
    {PYRO_REMOVAL_EVICTED, false, "Kubernetes evicted its pod, because the node ran out of a resource",
     "Request what the pod uses: ephemeral storage (or an own volume for spark.local.dir), or memory "
     "(spark.executor.memoryOverhead)."},
    {PYRO_REMOVAL_DEADLINE, false, "Kubernetes ended its pod, because it had run for as long as its deadline allows",
     "Raise activeDeadlineSeconds in the pod template of the executors, or remove it: executors run as long as the "
     "application."},
    {PYRO_REMOVAL_SEGFAULT, false,
     "its JVM crashed in native code (SIGSEGV, exit code 139): mostly the fault of a native library",
     "Read the crash report at the end of its stdout and in hs_err_pid*.log: the problematic frame names the library. "
     "Update the library, or switch it off."},
    {PYRO_REMOVAL_KILLED, true,
     "it got SIGKILL (exit code 137): the host or the container ran out of memory, or someone killed it",
     overhead_advice},
    {PYRO_REMOVAL_TERMINATED, false,
     "it got SIGTERM (exit code 143): the cluster manager stopped it, because of memory or for other applications",
     "Check in the log of the node manager or kubelet why it stopped this container. If the reason is memory, raise "
     "spark.executor.memoryOverhead."},
    {PYRO_REMOVAL_NO_HEARTBEAT, false,
     "it did not answer in time: long garbage collection, an overloaded host or a broken network",
     "Check its garbage collection before the loss (see gc-pressure) and the host. Raise spark.network.timeout only if "
     "both are fine."},
    {PYRO_REMOVAL_DISK_FULL, false, "its local disk was full or broken (disk store)",
     "Give executors more local disk (spark.local.dir), or reduce shuffle and spill."},
    {PYRO_REMOVAL_ABORTED, false, "its JVM aborted (exit code 134), as native crashes do", read_advice},
    {PYRO_REMOVAL_REAPED, false, "a task did not end when it was killed, so that Spark ended the JVM (exit code 57)",
     "Make the tasks stop when they are interrupted, or raise spark.task.reaper.killTimeout."},
    {PYRO_REMOVAL_UNCAUGHT, false, "an exception that nothing caught ended it (exit code 50 or 51)", read_advice},
    {PYRO_REMOVAL_PROCESS_FAILED, false, "its process ended with exit code 1: it could not start, or an error ended it",
     read_advice},
    {PYRO_REMOVAL_POD_GONE, false,
     "its pod was gone, and Kubernetes did not say why: it was deleted, or its node was removed",
     "Look into the events of the namespace and of the node at that time."},
    {PYRO_REMOVAL_DISCONNECTED, false, "its process or its connection ended", read_advice},
    {PYRO_REMOVAL_PROCESS_ENDED, false, "its process ended", read_advice},
    {PYRO_REMOVAL_OTHER, false, "the reason of its removal is unusual",
     "Read the end of this executor's stderr and the log of the cluster manager at that time."},
};

struct losses {
    double executors, tasks, lost_ms, fetch_failures, repeated_ms; /* of stages run again */
    size_t first;
    bool *lost; /* of executor rows: those that died so */
    const struct exits *exit;
    const char *names; /* "2, 3" */
};

/* Which executor rows lost a running task; NULL: no memory. */
static const bool *mark_losers(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    bool *lost = pyro_arena_array(context->arena, app->executors.count + 1, sizeof(*lost));
    for (size_t row = 0; lost && row < app->tasks.count; row++) {
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) == PYRO_TASK_SUCCESS)
            continue;
        int64_t executor = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, row);
        struct pyro_slice reason = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, row));
        if (executor >= 0 && executor < (int64_t)app->executors.count && pyro_slice_find(reason, "ExecutorLost"))
            lost[executor] = true;
    }
    return lost;
}

static void measure_tasks(const struct pyro_app *app, struct losses *losses)
{
    for (size_t row = 0; row < app->tasks.count; row++) {
        int64_t status = pyro_task_get(&app->tasks, PYRO_TASK_status, row);
        if (status == PYRO_TASK_SUCCESS)
            continue;
        struct pyro_slice reason = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, row));
        bool lost = reason.ptr && pyro_slice_find(reason, "ExecutorLost");
        bool fetch = reason.ptr && pyro_slice_find(reason, "FetchFailed");
        if ((!lost && !fetch && status != PYRO_TASK_RESUBMITTED) || pyro_task_died_of_shortage(app, row))
            continue;
        losses->tasks += lost || status == PYRO_TASK_RESUBMITTED;
        losses->fetch_failures += fetch;
        losses->lost_ms += pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                                     pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
    }
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].attempt > 0)
            losses->repeated_ms +=
                pyro_stage_repeated_part(app, &app->stages.items[i]) * pyro_real(app->stages.items[i].task_ms);
}

static struct losses measure(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    const bool *losers = NULL;
    struct losses losses = {.exit = exits};
    int64_t last = pyro_app_last_work(app);
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (executor->removed_ms == PYRO_NONE || pyro_removal_is_ordinary(executor->remove_reason) ||
            pyro_executor_shortage(app, executor) != PYRO_SHORTAGE_NONE) /* executor-oom speaks of those */
            continue;
        if (!losers && (!(losers = mark_losers(context)) ||
                        !(losses.lost = pyro_arena_array(context->arena, app->executors.count, sizeof(bool))))) {
            context->failed = true;
            return losses;
        }
        if (pyro_span(executor->removed_ms, last) < pyro_limit(context, ENDING_MS) && !losers[i])
            continue;
        const struct exits *exit = exits;
        enum pyro_removal_kind kind = pyro_removal_kind(executor->remove_reason);
        while (exit->kind != kind && exit->kind != PYRO_REMOVAL_OTHER)
            exit++;
        if (losses.executors < NAMED_MAX)
            losses.names = pyro_say(context, "%s%s%s", losses.executors > 0 ? losses.names : "",
                                    losses.executors > 0 ? ", " : "", pyro_say_text(context, executor->id, 40))
                               .ptr;
        if (losses.executors <= 0 || (exit->memory && !losses.exit->memory)) {
            losses.first = i;
            losses.exit = exit;
        }
        losses.executors++;
        losses.lost[i] = true;
    }
    if (losses.executors > 0)
        measure_tasks(app, &losses);
    return losses;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct losses *losses)
{
    const struct pyro_app *app = context->app;
    const char *verify = "In the next run the Executors page shows no dead executor before the end of the run.";
    struct pyro_advice *advice = pyro_finding_advise(context, finding, pyro_slice_from(losses->exit->advice), verify);
    if (losses->exit->advice == overhead_advice && pyro_app_spark_at_least(app, 2, 3))
        pyro_advice_set(context, advice, "spark.executor.memoryOverhead",
                        pyro_say_memory(context, pyro_executor_overhead(app).next_bytes));
    if (losses->fetch_failures > 0 && pyro_app_spark_at_least(app, 3, 1))
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Keep shuffle files when an executor ends: use the external shuffle service or, if nodes are removed "
                "with notice, spark.decommission.enabled with shuffle block migration."),
            verify);
}

/* A partition of a stage attempt whose output went with an executor, and the attempt that had made it. */
struct resubmitted {
    int64_t stage, index, attempt;
};

static int by_partition(const void *left, const void *right)
{
    const struct resubmitted *a = left, *b = right;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static struct resubmitted partition_of(const struct pyro_app *app, size_t row)
{
    return (struct resubmitted){pyro_task_get(&app->tasks, PYRO_TASK_stage_row, row),
                                pyro_task_get(&app->tasks, PYRO_TASK_index, row),
                                pyro_task_get(&app->tasks, PYRO_TASK_attempt, row)};
}

/* Attempts that made output again which had been lost. */
static void no_repeats(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    const struct pyro_app *app = context->app;
    size_t count = 0, most = 0;
    for (size_t row = 0; row < app->tasks.count; row++)
        most += pyro_task_get(&app->tasks, PYRO_TASK_status, row) == PYRO_TASK_RESUBMITTED;
    struct resubmitted *lost = most > 0 ? pyro_arena_array(context->arena, most, sizeof(*lost)) : NULL;
    context->failed |= most > 0 && !lost;
    for (size_t row = 0; lost && row < app->tasks.count; row++)
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) == PYRO_TASK_RESUBMITTED)
            lost[count++] = partition_of(app, row);
    if (count > 1)
        qsort(lost, count, sizeof(*lost), by_partition);
    for (size_t row = 0; count > 0 && row < app->tasks.count; row++) {
        struct resubmitted key = partition_of(app, row);
        const struct resubmitted *made = bsearch(&key, lost, count, sizeof(*lost), by_partition);
        if (made && key.attempt > made->attempt)
            pyro_remedy_no_task(context, finding, row);
    }
}

/* By the time, then by the row. */
static int by_death(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Executors that died stay until others replace them, first for first; else to the end. */
static void keep_executors(struct pyro_rule_context *context, struct pyro_finding *finding, const bool *lost)
{
    const struct pyro_app *app = context->app;
    size_t came = 0, next = 0;
    int64_t *added = pyro_arena_array(context->arena, app->executors.count + 1, sizeof(*added));
    int64_t(*died)[2] = pyro_arena_array(context->arena, app->executors.count + 1, sizeof(*died));
    if (!lost || !added || !died) {
        context->failed = true;
        return;
    }
    size_t dead = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        if (app->executors.items[i].added_ms != PYRO_NONE)
            added[came++] = app->executors.items[i].added_ms;
        if (lost[i]) {
            died[dead][0] = app->executors.items[i].removed_ms;
            died[dead++][1] = (int64_t)i;
        }
    }
    pyro_sort_ints(added, came);
    qsort(died, dead, sizeof(*died), by_death);
    for (size_t i = 0; i < dead; i++) {
        while (next < came && added[next] <= died[i][0])
            next++;
        pyro_remedy_executor(context, finding, (size_t)died[i][1], PYRO_NONE, next < came ? added[next++] : INT64_MAX);
    }
}

static void remedy(struct pyro_rule_context *context, struct pyro_finding *finding, const struct losses *losses)
{
    const struct pyro_app *app = context->app;
    for (size_t row = 0; row < app->tasks.count; row++) {
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) == PYRO_TASK_SUCCESS ||
            pyro_task_died_of_shortage(app, row))
            continue;
        struct pyro_slice reason = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, row));
        if (reason.ptr && pyro_slice_find(reason, "ExecutorLost"))
            pyro_remedy_no_task(context, finding, row);
        else if (reason.ptr && pyro_slice_find(reason, "FetchFailed")) /* the stage's next attempt does that work */
            pyro_remedy_no_partition(context, finding, row);
    }
    no_repeats(context, finding);
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].attempt > 0 && app->stages.items[i].tasks > 0)
            pyro_remedy_stage(context, finding, i, 1 - pyro_stage_repeated_part(app, &app->stages.items[i]));
    keep_executors(context, finding, losses->lost);
    pyro_remedy_partly(finding, 0.9);
}

static const char *say_meaning(struct pyro_rule_context *context, const struct exits *exit, struct pyro_slice reason)
{
    struct pyro_slice resource = pyro_evicted_resource(reason);
    if (exit->kind != PYRO_REMOVAL_EVICTED || !resource.ptr)
        return exit->meaning;
    return pyro_say(context, "%s: %s", exit->meaning, pyro_say_text(context, resource, 40)).ptr;
}

static void report(struct pyro_rule_context *context, const struct losses *losses)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_executor_lost);
    if (!finding)
        return;
    finding->id = pyro_slice_from(pyro_rule_executor_lost.id); /* one finding for the whole application */
    const struct pyro_executor *executor = &app->executors.items[losses->first];
    double all = fmax(1, pyro_real(app->numbers.executors));
    finding->executor = executor->id;
    finding->host = executor->host;
    finding->cause = pyro_say(
        context,
        "%.0f of %.0f executors died during the run. %sExecutor %s on %s, alive for %s: %s (\"%s\"). %s lost%s%s.",
        losses->executors, all,
        losses->executors > 1.5
            ? pyro_say(context, "Lost: %s%s. ", losses->names, losses->executors > NAMED_MAX ? ", ..." : "").ptr
            : "",
        pyro_say_text(context, executor->id, 40), pyro_say_text(context, executor->host, 80),
        pyro_say_ms(context, pyro_span(executor->added_ms, executor->removed_ms)),
        say_meaning(context, losses->exit, executor->remove_reason),
        pyro_say_text(context, executor->remove_reason, 160),
        pyro_say_count(context, losses->tasks, "task was", "tasks were"),
        losses->fetch_failures > 0
            ? pyro_say(context, ", %s not fetch its shuffle files",
                       pyro_say_count(context, losses->fetch_failures, "task could", "tasks could"))
                  .ptr
            : "",
        losses->repeated_ms > 0 ? pyro_say(context, ", and Spark repeated stages for %s of task time",
                                           pyro_say_ms(context, losses->repeated_ms))
                                      .ptr
                                : "");
    pyro_finding_evidence(context, finding, "executors_lost", losses->executors, 0, "count");
    pyro_finding_evidence(context, finding, "tasks_lost", losses->tasks, 0, "count");
    pyro_finding_evidence(context, finding, "fetch_failures", losses->fetch_failures, 0, "count");
    pyro_finding_evidence(context, finding, "lost_task_ms", losses->lost_ms, 0, "ms");
    pyro_finding_evidence(context, finding, "repeated_stage_task_ms", losses->repeated_ms, 0, "ms");
    advise(context, finding, losses);
    double work = losses->lost_ms + losses->repeated_ms;
    /* Nothing lost with it: the cluster only gave less. Else what killed it can kill the next: surely so for memory. */
    bool often =
        losses->executors >= pyro_limit(context, OFTEN) || losses->executors / all >= pyro_limit(context, LOST_SHARE);
    finding->failure_risk = work <= 0 ? 0.1 : losses->exit->memory && often ? 0.5 : 0.3;
    if (pyro_app_failed(app) && work > 0)
        finding->failure_risk = fmax(finding->failure_risk, 0.6);
    finding->confidence *= losses->exit->kind != PYRO_REMOVAL_OTHER ? 0.95 : 0.7;
    remedy(context, finding, losses);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->executors.count == 0 || pyro_app_is_local(app))
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct losses losses = measure(context);
    if (losses.executors <= 0)
        return PYRO_VERDICT_QUIET;
    report(context, &losses);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_executor_lost = {
    .id = "executor-lost",
    .category = "failures",
    .title = "Executors lost",
    .summary =
        "Executors died while they were needed. Spark had to repeat their tasks and compute their shuffle files again.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"executor-oom"},
    .evaluate = evaluate,
};
