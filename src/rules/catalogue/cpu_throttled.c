/* cpu-throttled: threads of tasks could run and their processors were idle: their cgroup had used up its quota. */
#include "rules/finding.h"
#include "rules/tasks/traced.h"

static const struct pyro_threshold thresholds[] =
    PYRO_TRACED_LIMITS("throttled_share_min", 0.05,
                       "Minimum share of a stage's traced task time in which tasks could run on an idle processor");

static bool matches(const struct pyro_traced_wait *wait)
{
    return wait->root == PYRO_KERNEL_THROTTLED;
}

static struct pyro_slice say(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part)
{
    return pyro_say(
        context,
        "%s could run and their processors were idle: the kernel held them back. That is what a quota of their "
        "cgroup does once it is used up.",
        pyro_traced_say_share(context, stage, part));
}

static const struct pyro_traced_rule traced = {
    .matches = matches,
    .evidence = "throttled_share",
    .saved = 0.95,
    .confidence = 0.9,
    .say = say,
    .advice = "Raise the executors' limit of processors, or run fewer tasks at once: on Kubernetes "
              "spark.kubernetes.executor.limit.cores at least spark.executor.cores, and more where Python "
              "workers or the garbage collector run beside tasks; elsewhere cpu.max of the cgroup.",
    .verify = "nr_throttled in cpu.stat of the executor's cgroup grows no more.",
};

const struct pyro_rule pyro_rule_cpu_throttled = {
    .id = "cpu-throttled",
    .category = "resources",
    .title = "Processors throttled",
    .summary = "A trace shows that the kernel held tasks back although processors were idle: their quota was used up.",
    PYRO_THRESHOLDS(thresholds),
    .effort = PYRO_EFFORT_CLUSTER,
    .needs_trace = true,
    .evaluate = pyro_traced_judge,
    .traced = &traced,
};
