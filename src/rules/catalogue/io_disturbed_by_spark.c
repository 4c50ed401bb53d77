/* io-disturbed-by-spark: while tasks waited for a disk, it was busy with requests of the application itself: of other
 * threads of their executor, or of other executors. */
#include "rules/finding.h"
#include "rules/tasks/traced.h"

static const struct pyro_threshold thresholds[] = PYRO_TRACED_LIMITS(
    "own_disk_share_min", 0.1,
    "Minimum share of a stage's traced task time in which the application's other requests keep the disk busy");

static bool matches(const struct pyro_traced_wait *wait)
{
    return wait->root == PYRO_KERNEL_DISK && (pyro_wait_is_own(wait->by) || pyro_wait_is_spark(wait->by));
}

static struct pyro_slice say(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part)
{
    return pyro_say(
        context, "%s waited for a disk while it was busy with other requests of the application, most of them of %s.",
        pyro_traced_say_share(context, stage, part), pyro_traced_culprit(context, part));
}

static const struct pyro_traced_rule traced = {
    .matches = matches,
    .evidence = "own_disk_share",
    .saved = 0.5,
    .confidence = 0.8,
    .say = say,
    .advice = "Spread what executors write over several disks (spark.local.dir with commas between), keep "
              "event logs and output off the disk of shuffles and spills, and give executors enough memory "
              "that they do not spill.",
    .verify = "In a trace of the next run, waits for the disk are shorter.",
};

const struct pyro_rule pyro_rule_io_disturbed_by_spark = {
    .id = "io-disturbed-by-spark",
    .category = "io",
    .title = "Disk busy with the application's own requests",
    .summary =
        "A trace shows that tasks wait for a disk which other threads or executors of the application keep busy.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"disk-bound"},
    .effort = PYRO_EFFORT_CLUSTER,
    .needs_trace = true,
    .evaluate = pyro_traced_judge,
    .traced = &traced,
};
