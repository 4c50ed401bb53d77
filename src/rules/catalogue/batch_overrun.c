/* batch-overrun: micro-batches take longer than their trigger, or longer and longer. */
#include <math.h>
#include <stddef.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/timing/activity.h"
#include "rules/timing/streams.h"

enum { WARM_UP, BATCHES_MIN, LATE_SHARE, BUSY_SHARE, LONG_MS, GROWTH };
static const struct pyro_threshold thresholds[] = {
    {"warm_up_batches", 2, "count", "first batches of a run, which load classes and open state; they are not judged"},
    {"batches_min", 4, "count", "minimum number of batches after those"},
    {"late_share", 0.4, "share", "minimum share of batches that take longer than the trigger interval"},
    {"busy_share", 0.95, "share", "share of the time spent in batches at which a stream has no reserve"},
    {"long_ms", 5000, "ms", "batches of a busy stream shorter than this consist mostly of fixed costs"},
    {"growth", 1.5, "ratio",
     "ratio of the batch duration in the last third to the first third at which a busy stream falls behind"},
};

#define COLUMN(name) offsetof(struct pyro_stream_batch, name)

/* Starts on a timer are this exact. */
#define TIMER_MS   60.0
#define TIMER_STEP 100.0

static double start_of(const struct pyro_stream_run *run, size_t index)
{
    return (double)run->batches[index]->time_ms;
}

static double idle_after(const struct pyro_stream_run *run, size_t index)
{
    return start_of(run, index + 1) - start_of(run, index) - pyro_real(run->batches[index]->duration_ms);
}

/* A batch that waited for its trigger starts at a multiple of the interval: the smallest distance of two such starts
 * that divides all of them. 0 where no batch waited, or none fits: then the trigger is not known. */
static double trigger_of(const struct pyro_stream_run *run)
{
    double least = INFINITY, last = NAN;
    for (size_t i = 0; i + 1 < run->count; i++) {
        if (idle_after(run, i) < TIMER_STEP)
            continue;
        double start = start_of(run, i + 1);
        if (start - last >= TIMER_STEP)
            least = fmin(least, start - last);
        last = start;
    }
    if (!isfinite(least))
        return 0;
    double step = round(least / TIMER_STEP) * TIMER_STEP;
    for (size_t i = 0; i + 1 < run->count; i++) {
        double off = fmod(start_of(run, i + 1), step);
        if (idle_after(run, i) >= TIMER_STEP && fmin(off, step - off) > TIMER_MS)
            return 0;
    }
    return step;
}

struct overrun {
    size_t from; /* first batch that is judged */
    double trigger, batch, late, busy, growth;
    bool growing;
};

/* Sources with a limit for each batch (maxOffsetsPerTrigger, maxFilesPerTrigger) work through what lies there, batch
 * behind batch: that is how a backlog or a backfill looks, and says nothing about the rate at which data comes. */
static bool is_limited(const struct pyro_stream_run *run, size_t from)
{
    if (pyro_slice_find(run->batches[0]->source, "FileStreamSource"))
        return true;
    if (pyro_slice_find(run->batches[0]->source, "RateStream"))
        return false;
    for (size_t i = from; i + 1 < run->count; i++)
        if (run->batches[i]->input_rows != run->batches[from]->input_rows)
            return false;
    return true;
}

static bool measure(struct pyro_rule_context *context, const struct pyro_stream_run *run, struct overrun *found)
{
    size_t from = (size_t)pyro_limit(context, WARM_UP);
    if (run->count < from + (size_t)fmax(2, pyro_limit(context, BATCHES_MIN)))
        return false;
    size_t count = run->count - from, third = count / 3 > 0 ? count / 3 : 1;
    double span = start_of(run, run->count - 1) - start_of(run, from), late = 0;
    *found = (struct overrun){.from = from, .trigger = trigger_of(run)};
    found->batch = pyro_stream_median(context, run, from, run->count, COLUMN(duration_ms));
    found->busy = span > 0 ? pyro_stream_sum(run, from, run->count - 1, COLUMN(duration_ms)) / span : 0;
    for (size_t i = from; i < run->count; i++)
        late += found->trigger > 0 && pyro_real(run->batches[i]->duration_ms) > found->trigger + TIMER_STEP;
    found->late = late / (double)count;
    double early = pyro_stream_median(context, run, from, from + third, COLUMN(duration_ms));
    double last = pyro_stream_median(context, run, run->count - third, run->count, COLUMN(duration_ms));
    found->growth = early > 0 ? last / early : 1;
    bool busy = found->busy >= pyro_limit(context, BUSY_SHARE);
    found->growing =
        busy && count >= 6 && found->growth >= pyro_limit(context, GROWTH) && last >= pyro_limit(context, LONG_MS) / 2;
    /* A stream that works off what came while it started is late for a while, and catches up. */
    if (found->trigger > 0)
        return found->growing || (found->late >= pyro_limit(context, LATE_SHARE) && last > found->trigger + TIMER_STEP);
    return found->growing ||
           (busy && fmin(found->batch, last) >= pyro_limit(context, LONG_MS) && !is_limited(run, from));
}

struct part {
    const char *name, *metric;
    size_t offset;
};
static const struct part parts[] = {
    {"addBatch", "add_batch_share", COLUMN(add_batch_ms)},
    {"latestOffset", "latest_offset_share", COLUMN(latest_offset_ms)},
    {"queryPlanning", "query_planning_share", COLUMN(query_planning_ms)},
    {"walCommit", "wal_commit_share", COLUMN(wal_commit_ms)},
    {"commitOffsets", "commit_offsets_share", COLUMN(commit_offsets_ms)},
    {"getBatch", "get_batch_share", COLUMN(get_batch_ms)},
};
enum { ADD_BATCH, LATEST_OFFSET, PLANNING, WAL_COMMIT, COMMIT_OFFSETS, GET_BATCH, PARTS };

/* Part of the batches' time in which no stage ran. */
static double share_without_stage(struct pyro_rule_context *context, const struct pyro_stream_run *run, size_t from)
{
    double none = 0, all = 0;
    for (size_t i = from; i < run->count; i++) {
        double begin = start_of(run, i), length = pyro_real(run->batches[i]->duration_ms);
        none += pyro_activity_none(context->activity, begin, begin + length);
        all += length;
    }
    return all > 0 ? none / all : 0;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, size_t main_part, double idle)
{
    static const char *const verify = "In the next run the stream's batch duration stays below its trigger interval "
                                      "(Structured Streaming page), and input and process rate agree.";
    const char *text;
    if (main_part == WAL_COMMIT || main_part == COMMIT_OFFSETS)
        text = "Put the checkpoint on faster storage: writing its log takes most of each batch.";
    else if (main_part == LATEST_OFFSET || main_part == GET_BATCH)
        text = "Reduce what the source lists: clean up the input folder (cleanSource), or read fewer topics per query.";
    else if (main_part == PLANNING)
        text = "Make the plan of the query smaller: planning takes most of each batch.";
    else if (idle >= 0.5)
        text = "Move the work of foreachBatch or of the sink from the driver to the executors (foreachPartition, or a "
               "sink that writes in parallel): during most of each batch no task runs.";
    else
        text = "Give the batch more slots or less work: find the longest stage of a batch, use as many shuffle "
               "partitions as slots, and filter before the first shuffle.";
    struct pyro_advice *advice = pyro_finding_advise(context, finding, pyro_slice_from(text), verify);
    if (advice && main_part == ADD_BATCH && idle >= 0.5)
        advice->code = PYRO_SLICE_LITERAL("def write(batch, number):\n"
                                          "    batch.foreachPartition(send_rows)   # not batch.collect()\n"
                                          "query = rows.writeStream.foreachBatch(write).start()");
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Limit the input of a batch (maxOffsetsPerTrigger, maxFilesPerTrigger), so "
                                           "that the stream processes a backlog in batches of moderate size."),
                        verify);
}

static void report(struct pyro_rule_context *context, const struct pyro_stream_run *run, const struct overrun *found)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_batch_overrun);
    if (!finding)
        return;
    pyro_finding_at_stream(context, finding, run);
    double total = pyro_stream_sum(run, found->from, run->count, COLUMN(duration_ms)), share[PARTS];
    size_t main_part = 0;
    for (size_t i = 0; i < PARTS; i++) {
        share[i] = fmin(1, pyro_stream_sum(run, found->from, run->count, parts[i].offset) / fmax(total, 1));
        main_part = share[i] > share[main_part] ? i : main_part;
    }
    double idle = share_without_stage(context, run, found->from);
    double rows = pyro_stream_sum(run, found->from, run->count, COLUMN(input_rows));
    double span = start_of(run, run->count - 1) - start_of(run, found->from);
    double trigger = found->trigger > 0 ? found->trigger : (double)NAN;
    const char *grows = found->growing ? pyro_say(context, "; they grew by %.0f %% from the first third to the last",
                                                  100 * (found->growth - 1))
                                             .ptr
                                       : "";
    finding->cause = pyro_say(
        context,
        "%s: batches take %s (median of %.0f)%s, and the stream is busy for %.0f %% of the time%s. %.0f %% of a batch "
        "is %s; for %.0f %% of it no task runs.",
        pyro_say_stream(context, run), pyro_say_ms(context, found->batch), (double)(run->count - found->from),
        found->trigger > 0 ? pyro_say(context, " with a trigger of %s", pyro_say_ms(context, found->trigger)).ptr : "",
        100 * fmin(1, found->busy), grows, 100 * share[main_part], parts[main_part].name, 100 * idle);
    pyro_finding_evidence(context, finding, "batch_ms", found->batch, trigger, "ms");
    if (found->trigger > 0)
        pyro_finding_evidence(context, finding, "late_share", found->late, 0, "share");
    pyro_finding_evidence(context, finding, "busy_share", found->busy, pyro_limit(context, BUSY_SHARE), "share");
    pyro_finding_evidence(context, finding, "growth", found->growth, 1, "ratio");
    pyro_finding_evidence(context, finding, "rows_per_second", span > 0 ? 1000 * rows / span : 0, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "no_task_share", idle, (double)NAN, "share");
    for (size_t i = 0; i < PARTS; i++)
        if (share[i] >= 0.05)
            pyro_finding_evidence(context, finding, parts[i].metric, share[i], (double)NAN, "share");
    advise(context, finding, main_part, idle);
    finding->harm = found->growing ? 0.5 : 0.25;
    finding->confidence *= found->trigger > 0 || found->growing ? 0.9 : 0.7;
}

static bool applies(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    return run->count > (size_t)pyro_limit(context, WARM_UP);
}

static bool judge(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    struct overrun found;
    if (pyro_stream_is_real_time(context->app, run) || !measure(context, run, &found))
        return false;
    report(context, run, &found);
    return true;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_streams_evaluate(context, applies, judge);
}

const struct pyro_rule pyro_rule_batch_overrun = {
    .id = "batch-overrun",
    .category = "streaming",
    .title = "Batches take too long",
    .summary = "Micro-batches of a stream take longer than the trigger interval, or their durations keep growing.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
