/* kernel-lock: tasks waited for other threads: for locks, conditions or queues of their process, or for locks in the
 * kernel. */
#include "rules/finding.h"
#include "rules/tasks/traced.h"

static const struct pyro_threshold thresholds[] = PYRO_TRACED_LIMITS(
    "lock_share_min", 0.2, "Minimum share of a stage's traced task time in which tasks wait for locks that tasks hold");

static bool is_lock(enum pyro_kernel_state state)
{
    return state == PYRO_KERNEL_FUTEX || state == PYRO_KERNEL_KERNEL_LOCK;
}

/* What threads of Spark and the JVM do for a task is not a lock: they hand it data, or stop it to collect garbage. */
static bool is_of_task(struct pyro_slice by)
{
    return pyro_slice_starts_with(by, "Executor task") || pyro_slice_starts_with(by, "Python worker (");
}

static bool matches(const struct pyro_traced_wait *wait)
{
    if (!is_lock(wait->state) && !is_lock(wait->root))
        return false;
    if (wait->state == PYRO_KERNEL_KERNEL_LOCK ||
        (wait->root == PYRO_KERNEL_KERNEL_LOCK && !pyro_wait_is_jvm(wait->by)))
        return true;
    return is_of_task(wait->by) || (is_lock(wait->root) && !is_lock(wait->state));
}

/* Its holder lost the processor, or the garbage collector stopped it. */
static bool is_stretched(const struct pyro_traced_wait *wait)
{
    return wait->state == PYRO_KERNEL_FUTEX && wait->root == PYRO_KERNEL_RUNNABLE && !matches(wait);
}

static struct pyro_slice say(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part)
{
    return pyro_say(
        context,
        "%s waited for locks; %s held them or was next for most of it. Only one thread works while the others "
        "keep their slots.",
        pyro_traced_say_share(context, stage, part), pyro_traced_culprit(context, part));
}

static const struct pyro_traced_rule traced = {
    .matches = matches,
    .stretched = is_stretched,
    .evidence = "lock_share",
    .saved = 0.9,
    .confidence = 0.8,
    .say = say,
    .advice = "Give each task its own object or file, or hold the lock for less work. A profile names the "
              "method (pyrometer flame --event lock). Without a new program: executors with one core each, "
              "where the lock is one of their process.",
    .verify = "In a trace of the next run, tasks wait in futex for less than a tenth of their time.",
};

const struct pyro_rule pyro_rule_kernel_lock = {
    .id = "kernel-lock",
    .category = "code",
    .title = "Locks",
    .summary = "A trace shows that tasks wait for locks which other tasks or the kernel hold.",
    PYRO_THRESHOLDS(thresholds),
    .needs_trace = true,
    .evaluate = pyro_traced_judge,
    .traced = &traced,
};
