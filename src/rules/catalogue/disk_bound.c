/* disk-bound: tasks waited for a block device, by themselves or through threads that they waited for. */
#include "rules/finding.h"
#include "rules/tasks/traced.h"

static const struct pyro_threshold thresholds[] = PYRO_TRACED_LIMITS(
    "disk_share_min", 0.2, "Minimum share of a stage's traced task time that comes down to waiting for a block device");

static bool matches(const struct pyro_traced_wait *wait)
{
    return wait->root == PYRO_KERNEL_DISK;
}

static struct pyro_slice say(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part)
{
    bool other =
        part->by.ptr && !pyro_wait_is_own(part->by) && !pyro_wait_is_spark(part->by) && !pyro_wait_is_kernel(part->by);
    return pyro_say(
        context, "%s waited for a disk%s%s%s%s.", pyro_traced_say_share(context, stage, part),
        part->what.ptr ? ", most of it in " : "", part->what.ptr ? pyro_say_text(context, part->what, 60) : "",
        other ? ", which was busy with requests of " : "", other ? pyro_say_text(context, part->by, 80) : "");
}

/* Disks do not become free of charge: half of the waits is what twice as many of them leave. */
static const struct pyro_traced_rule traced = {
    .matches = matches,
    .evidence = "disk_share",
    .saved = 0.5,
    .confidence = 1,
    .say = say,
    .advice = "Put spark.local.dir on local disks (NVMe), on several of them with commas between, and input "
              "and output on other ones. Where another process keeps the disk busy, keep it off these "
              "machines or limit it (io.max of its cgroup).",
    .verify = "In a trace of the next run, tasks wait for disks for less than a tenth of their time.",
};

const struct pyro_rule pyro_rule_disk_bound = {
    .id = "disk-bound",
    .category = "io",
    .title = "Slow disk",
    .summary = "A trace shows that much of the tasks' time comes down to waiting for a block device.",
    PYRO_THRESHOLDS(thresholds),
    .effort = PYRO_EFFORT_CLUSTER,
    .needs_trace = true,
    .evaluate = pyro_traced_judge,
    .traced = &traced,
};
