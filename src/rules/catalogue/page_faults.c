/* page-faults: tasks waited for pages that had to be read from a disk: mapped files, or memory that was swapped out. */
#include "rules/finding.h"
#include "rules/tasks/traced.h"

static const struct pyro_threshold thresholds[] = PYRO_TRACED_LIMITS(
    "fault_share_min", 0.05, "Minimum share of a stage's traced task time that comes down to pages being read");

static bool matches(const struct pyro_traced_wait *wait)
{
    return wait->root == PYRO_KERNEL_PAGE_FAULT;
}

static struct pyro_slice say(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part)
{
    return pyro_say(
        context,
        "%s waited for pages of memory that had to be read from a disk: the machine, or the container, was short "
        "of memory, or files are mapped that are not cached.",
        pyro_traced_say_share(context, stage, part));
}

static const struct pyro_traced_rule traced = {
    .matches = matches,
    .evidence = "fault_share",
    .saved = 0.9,
    .confidence = 0.9,
    .say = say,
    .advice = "Leave the machine more memory: fewer or smaller executors on it, a larger container "
              "(spark.executor.memoryOverhead), no swap for executors. A heap that is in memory from the "
              "start: -XX:+AlwaysPreTouch in spark.executor.extraJavaOptions.",
    .verify = "Major page faults of the executors (ps -o maj_flt) grow no more while tasks run.",
};

const struct pyro_rule pyro_rule_page_faults = {
    .id = "page-faults",
    .category = "memory",
    .title = "Pages read from disk",
    .summary = "A trace shows that tasks wait for memory that has to be read from a disk.",
    PYRO_THRESHOLDS(thresholds),
    .effort = PYRO_EFFORT_CLUSTER,
    .needs_trace = true,
    .evaluate = pyro_traced_judge,
    .traced = &traced,
};
