/* cpu-contention: threads of tasks could run, but their processors ran something else. */
#include <math.h>

#include "rules/finding.h"
#include "rules/tasks/traced.h"

/* What is left when no other process takes the processors: as many threads as there are processors still take turns. */
#define SAVED 0.9

enum { SHARE, OWN_SHARE, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [SHARE] = {"runnable_share_min", 0.2, "share",
               "Minimum share of a stage's traced task time in which tasks could run and another process did"},
    [OWN_SHARE] = {"own_share_min", 0.5, "share",
                   "The same where it is the application itself: its other tasks, workers and JVM threads take turns"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the waits cost less of the application's time"},
};

/* What records the trace does not belong to the run. */
static bool is_recorder(struct pyro_slice by)
{
    return pyro_slice_starts_with(by, "perf (") || pyro_slice_starts_with(by, "lttng") ||
           pyro_slice_starts_with(by, "bpftrace (") || pyro_slice_starts_with(by, "pyrometer (");
}

static bool is_of_application(struct pyro_slice by)
{
    return pyro_wait_is_own(by) || pyro_wait_is_spark(by);
}

static bool by_others(const struct pyro_traced_wait *wait)
{
    return wait->root == PYRO_KERNEL_RUNNABLE && wait->by.ptr && !is_recorder(wait->by) && !is_of_application(wait->by);
}

static bool by_application(const struct pyro_traced_wait *wait)
{
    return wait->root == PYRO_KERNEL_RUNNABLE && wait->by.ptr && is_of_application(wait->by);
}

/* Findings of two kinds are two findings. */
enum { BY_OTHERS, BY_APPLICATION };

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage)
{
    const struct pyro_traced_part others = pyro_traced_part(context, stage, by_others);
    const struct pyro_traced_part own = pyro_traced_part(context, stage, by_application);
    if (others.share >= pyro_limit(context, SHARE)) {
        pyro_traced_add(context, spots, stage, &others);
    } else if (own.share >= pyro_limit(context, OWN_SHARE)) {
        struct pyro_spot *spot = pyro_traced_add(context, spots, stage, &own);
        if (spot)
            spot->kind = BY_APPLICATION;
    }
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_traced_part *part)
{
    static const char verify[] = "In a trace of the next run, tasks are runnable for less than a tenth of their time.";
    if (is_of_application(part->by)) {
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Run fewer threads at once on these processors: spark.executor.cores (local[N]) for all "
                               "executors of a host at most as many as it has processors, and one of two for Python "
                               "workers that compute. More threads than processors only take turns."),
            verify);
        return;
    }
    pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Keep %s off the machines of the executors, or give executors processors of their own: "
                 "cpusets, on Kubernetes requests equal to limits and nodes for this work alone, on YARN "
                 "strict cgroups.",
                 pyro_traced_culprit(context, part)),
        verify);
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_traced_part part =
        pyro_traced_part(context, spot->stage, spot->kind == BY_APPLICATION ? by_application : by_others);
    struct pyro_finding *finding = pyro_traced_finding(context, spots, first, end, "runnable_share", &part, SAVED);
    if (!finding)
        return;
    pyro_finding_evidence(context, finding, "culprit_share", part.by_share, (double)NAN, "share");
    finding->cause =
        pyro_say(context,
                 "For %.0f %% of their time (%s in all) tasks of %s could run, but their processors ran other threads; "
                 "%.0f %% of that was %s%s.",
                 100 * part.share, pyro_say_ms(context, 1000 * part.seconds), pyro_say_stage(context, spot->stage),
                 100 * part.by_share, pyro_wait_is_own(part.by) ? "the executor's own thread " : "",
                 pyro_traced_culprit(context, &part));
    advise(context, finding, &part);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_traced_evaluate(context, pyro_limit(context, SAVING_SHARE), examine, report);
}

const struct pyro_rule pyro_rule_cpu_contention = {
    .id = "cpu-contention",
    .category = "resources",
    .title = "Processors taken by others",
    .summary = "A trace shows that tasks could run, but other threads or processes had their processors.",
    PYRO_THRESHOLDS(thresholds),
    .effort = PYRO_EFFORT_CLUSTER,
    .needs_trace = true,
    .evaluate = evaluate,
};
