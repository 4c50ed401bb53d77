/* network-bound: tasks waited for sockets, and no thread of a traced machine is what they waited for. */
#include "rules/finding.h"
#include "rules/tasks/traced.h"

static const struct pyro_threshold thresholds[] = PYRO_TRACED_LIMITS(
    "network_share_min", 0.3, "Minimum share of a stage's traced task time that comes down to waiting for the network");

static bool matches(const struct pyro_traced_wait *wait)
{
    /* A peer on a traced machine has threads, and the wait came down to what they did. */
    bool local = wait->state == PYRO_KERNEL_NETWORK && wait->by.ptr && !pyro_wait_is_own(wait->by) &&
                 !pyro_wait_is_spark(wait->by);
    return wait->root == PYRO_KERNEL_NETWORK || local;
}

static struct pyro_slice say(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part)
{
    const char *most = part->what.ptr ? pyro_say_text(context, part->what, 60) : "";
    bool local = part->by.ptr && !pyro_wait_is_own(part->by);
    return pyro_say(context, "%s waited for the network%s%s. The other end is %s%s.",
                    pyro_traced_say_share(context, stage, part), part->what.ptr ? ", most of it in " : "", most,
                    local ? "a process of a traced machine, " : "not a thread of a machine that was traced",
                    local ? pyro_say_text(context, part->by, 80) : "");
}

/* More connections and a nearer peer hide waits, they do not end them. */
static const struct pyro_traced_rule traced = {
    .matches = matches,
    .evidence = "network_share",
    .saved = 0.5,
    .confidence = 0.9,
    .say = say,
    .advice = "Look at the peer: a store or service in another zone or region, one that limits requests, a "
              "shuffle server that is short of threads. Ask for more at once (fs.s3a.connection.maximum, "
              "spark.reducer.maxSizeInFlight), or for less often: larger requests, batches instead of one "
              "call for each row.",
    .verify = "In a trace of the next run, tasks wait for the network for less of their time.",
};

const struct pyro_rule pyro_rule_network_bound = {
    .id = "network-bound",
    .category = "io",
    .title = "Slow peer",
    .summary = "A trace shows that much of the tasks' time comes down to waiting for the network.",
    PYRO_THRESHOLDS(thresholds),
    .effort = PYRO_EFFORT_CLUSTER,
    .needs_trace = true,
    .evaluate = pyro_traced_judge,
    .traced = &traced,
};
