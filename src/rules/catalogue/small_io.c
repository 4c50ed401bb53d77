/* small-io: tasks read or write a few bytes at a time, so that system calls take much of their time. */
#include <math.h>

#include "rules/finding.h"
#include "rules/tasks/traced.h"

/* Calls of 64 KiB instead of some hundred bytes: their number falls by more than nine tenths. */
#define SAVED 0.9

enum { SHARE, CALL_BYTES, CALLS, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [SHARE] = {"calls_share_min", 0.1, "share",
               "Minimum share of a stage's traced task time in the kernel for reads and writes"},
    [CALL_BYTES] = {"call_bytes_max", 4096, "bytes", "Quiet if a read or write has more bytes in the mean"},
    [CALLS] = {"task_calls_min", 1000, "count", "Minimum number of reads and writes of a task in the mean"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the calls cost less of the application's time"},
};

static bool matches(const struct pyro_traced_wait *wait)
{
    static const char *const calls[] = {"read", "pread64", "readv", "write", "pwrite64", "writev"};
    bool moves = false;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        moves |= pyro_slice_is(wait->what, calls[i]);
    return moves && wait->state == PYRO_KERNEL_SYSTEM && wait->root == PYRO_KERNEL_SYSTEM;
}

static double mean_bytes(const struct pyro_traced_part *part)
{
    return part->count > 0 ? part->bytes / part->count : 0;
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage)
{
    const struct pyro_traced_part part = pyro_traced_part(context, stage, matches);
    if (part.share >= pyro_limit(context, SHARE) && part.count >= pyro_limit(context, CALLS) * part.tasks &&
        mean_bytes(&part) <= pyro_limit(context, CALL_BYTES))
        pyro_traced_add(context, spots, stage, &part);
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_traced_part part = pyro_traced_part(context, spot->stage, matches);
    struct pyro_finding *finding = pyro_traced_finding(context, spots, first, end, "calls_share", &part, SAVED);
    if (!finding)
        return;
    pyro_finding_evidence(context, finding, "calls", part.count, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "call_bytes", mean_bytes(&part), pyro_limit(context, CALL_BYTES), "bytes");
    finding->cause = pyro_say(
        context,
        "Tasks of %s called %s and its like %.0f times, for %s each in the mean: the kernel took %.0f %% of "
        "their time (%s) for that.",
        pyro_say_stage(context, spot->stage), pyro_say_text(context, part.what, 20), part.count,
        pyro_say_bytes(context, mean_bytes(&part)), 100 * part.share, pyro_say_ms(context, 1000 * part.seconds));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "Read and write through a buffer, and larger pieces: a BufferedOutputStream of 64 KiB around "
            "the stream, batches instead of single rows for programs behind pipes."),
        "In a trace of the next run, reads and writes have more than 4 KiB in the mean.");
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("new BufferedOutputStream(stream, 64 * 1024)");
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_traced_evaluate(context, pyro_limit(context, SAVING_SHARE), examine, report);
}

const struct pyro_rule pyro_rule_small_io = {
    .id = "small-io",
    .category = "io",
    .title = "Reads and writes of few bytes",
    .summary = "A trace shows that tasks read or write a few bytes at a time, and system calls take their time.",
    PYRO_THRESHOLDS(thresholds),
    .needs_trace = true,
    .evaluate = evaluate,
};
