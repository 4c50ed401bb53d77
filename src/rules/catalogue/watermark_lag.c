/* watermark-lag: the watermark stays the same while event time goes on, or rows come too late for it and are
 * dropped. */
#include <math.h>
#include <stddef.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/timing/streams.h"

enum { BATCHES_MIN, DROPPED_SHARE, DROPPED_MANY, DROPPED_MIN, STILL_MS, STILL_BATCHES };
static const struct pyro_threshold thresholds[] = {
    {"batches_min", 4, "count", "minimum number of batches with rows"},
    {"dropped_share", 0.01, "share",
     "minimum share of rows at the stateful operator that are dropped: a few late rows are normal"},
    {"dropped_many", 0.1, "share", "share of dropped rows at which results are wrong"},
    {"dropped_min", 20, "count", "minimum number of dropped rows"},
    {"still_ms", 20000, "ms", "minimum progress of the event time while the watermark does not move"},
    {"still_batches", 4, "count",
     "minimum number of batches with rows in which it does not move; normally it moves once per batch"},
};

#define COLUMN(name) offsetof(struct pyro_stream_batch, name)

struct lag {
    double dropped, kept, share;    /* rows, as stateful operators count them */
    double still_batches, still_ms; /* at the end of the run, while event time went on */
    double behind_ms;
    bool never; /* the watermark never left its beginning */
};

/* The watermark at the end, and since when: only batches with rows can move it. */
static void measure_still(const struct pyro_stream_run *run, struct lag *found)
{
    const struct pyro_stream_batch *end = NULL;
    double newest = -INFINITY, oldest = INFINITY;
    for (size_t i = run->count; i > 0; i--) {
        const struct pyro_stream_batch *batch = run->batches[i - 1];
        if (batch->watermark_ms == PYRO_NONE || (end && batch->watermark_ms != end->watermark_ms))
            break;
        end = end ? end : batch;
        if (batch->event_time_max_ms == PYRO_NONE)
            continue;
        newest = fmax(newest, (double)batch->event_time_max_ms);
        oldest = fmin(oldest, (double)batch->event_time_max_ms);
        found->still_batches++;
    }
    if (!end || !(newest >= oldest))
        return;
    found->still_ms = newest - oldest;
    found->never = end->watermark_ms <= 0;
    found->behind_ms = found->never ? 0 : fmax(0, newest - (double)end->watermark_ms);
}

static bool measure(struct pyro_rule_context *context, const struct pyro_stream_run *run, struct lag *found)
{
    double batches = 0;
    *found = (struct lag){0};
    for (size_t i = 0; i < run->count; i++)
        batches += run->batches[i]->input_rows > 0;
    if (batches < pyro_limit(context, BATCHES_MIN))
        return false;
    found->dropped = pyro_stream_sum(run, 0, run->count, COLUMN(dropped_rows));
    found->kept = pyro_stream_sum(run, 0, run->count, COLUMN(state_rows_updated));
    found->share = found->dropped > 0 ? found->dropped / (found->dropped + found->kept) : 0;
    measure_still(run, found);
    if (found->still_batches < pyro_limit(context, STILL_BATCHES) || found->still_ms < pyro_limit(context, STILL_MS))
        found->still_batches = 0;
    return found->still_batches > 0 ||
           (found->dropped >= pyro_limit(context, DROPPED_MIN) && found->share >= pyro_limit(context, DROPPED_SHARE));
}

static void report_dropped(struct pyro_rule_context *context, const struct pyro_stream_run *run,
                           const struct lag *found)
{
    static const char *const verify = "In the next run \"Aggregated Number Of Rows Dropped By Watermark\" on the "
                                      "stream's page stays near 0.";
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_watermark_lag);
    if (!finding)
        return;
    pyro_finding_at_stream(context, finding, run);
    finding->title = PYRO_SLICE_LITERAL("Rows too late for the watermark");
    finding->cause = pyro_say(context,
                              "%s: %.0f rows (%.0f %% of those that reached the state) were older than the watermark. "
                              "Spark dropped them, and they are missing from the results.",
                              pyro_say_stream(context, run), found->dropped, 100 * found->share);
    pyro_finding_evidence(context, finding, "dropped_rows", found->dropped, 0, "count");
    pyro_finding_evidence(context, finding, "dropped_share", found->share, pyro_limit(context, DROPPED_SHARE), "share");
    pyro_finding_evidence(context, finding, "watermark_behind_ms", found->behind_ms, (double)NAN, "ms");
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Set the delay of the watermark to the real delay of rows: measure the "
                                               "time from event to arrival, and use its 99.9 % quantile."),
                            verify);
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("rows.withWatermark(\"time\", \"10 minutes\")");
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Remove rows with an event time in the future before the watermark: one "
                                           "such row moves the watermark past all other rows."),
                        verify);
    finding->harm = found->share >= pyro_limit(context, DROPPED_MANY) ? 0.5 : 0.25;
    finding->confidence *= 0.9;
}

static void report_still(struct pyro_rule_context *context, const struct pyro_stream_run *run, const struct lag *found)
{
    static const char *const verify = "In the next run the watermark on the stream's page follows event time.";
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_watermark_lag);
    if (!finding)
        return;
    pyro_finding_at_stream(context, finding, run);
    finding->title = PYRO_SLICE_LITERAL("Stuck watermark");
    finding->cause = pyro_say(
        context,
        "%s: the watermark %s over the last %.0f batches while the event time advanced by %s%s. Spark does not finish "
        "windows and does not remove state.",
        pyro_say_stream(context, run), found->never ? "never moved" : "did not move", found->still_batches,
        pyro_say_ms(context, found->still_ms),
        found->never ? "" : pyro_say(context, "; it is %s behind", pyro_say_ms(context, found->behind_ms)).ptr);
    pyro_finding_evidence(context, finding, "still_batches", found->still_batches, 1, "count");
    pyro_finding_evidence(context, finding, "event_time_went_on_ms", found->still_ms, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "watermark_behind_ms", found->behind_ms, (double)NAN, "ms");
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "Check the sources of the query one by one: with several sources, the slowest one determines the "
            "watermark. Send data to the idle source, or use the maximum of the watermarks."),
        verify);
    pyro_advice_set(context, advice, "spark.sql.streaming.multipleWatermarkPolicy", PYRO_SLICE_LITERAL("max"));
    finding->harm = 0.25;
    finding->confidence *= 0.8;
}

static bool applies(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    (void)context;
    for (size_t i = 0; i < run->count; i++)
        if (run->batches[i]->watermark_ms != PYRO_NONE)
            return true;
    return false;
}

static bool judge(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    struct lag found;
    if (!measure(context, run, &found))
        return false;
    if (found.still_batches > 0)
        report_still(context, run, &found);
    else
        report_dropped(context, run, &found);
    return true;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_streams_evaluate(context, applies, judge);
}

const struct pyro_rule pyro_rule_watermark_lag = {
    .id = "watermark-lag",
    .category = "streaming",
    .title = "Watermark behind",
    .summary = "The watermark of a stream does not move, or rows arrive too late for it and Spark drops them.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
