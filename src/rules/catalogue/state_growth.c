/* state-growth: the state of a streaming query grows from batch to batch and nothing is removed from it. */
#include <math.h>
#include <stddef.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/timing/streams.h"

enum { BATCHES_MIN, ROWS_MIN, STEADY, REMOVED_SHARE, HEAP_SHARE, DAYS_MAX, RISK_DAYS };
static const struct pyro_threshold thresholds[] = {
    {"batches_min", 6, "count", "minimum number of batches to see a trend"},
    {"rows_min", 1000, "count", "minimum number of rows in the state"},
    {"steady", 0.5, "ratio",
     "minimum ratio of new rows per second in the last third to the middle third: below this the state becomes stable"},
    {"removed_share", 0.5, "share",
     "quiet if at least this share of the rows that arrived was removed: the state is cleaned up"},
    {"heap_share", 0.5, "share", "share of the executors' heaps that the state may fill"},
    {"days_max", 30, "count", "quiet if this takes more days"},
    {"risk_days", 2, "count", "failure risk if this takes at most this many days"},
};

#define COLUMN(name) offsetof(struct pyro_stream_batch, name)
#define DAY_MS       86400000.0

struct growth {
    double first, last, rows_per_s, bytes_per_s, bytes, removed, days, delay_ms;
};

static double rows_at(const struct pyro_stream_run *run, size_t index)
{
    return pyro_real(run->batches[index]->state_rows);
}

static double at(const struct pyro_stream_run *run, size_t index)
{
    return (double)run->batches[index]->time_ms + pyro_real(run->batches[index]->duration_ms);
}

static double rate(const struct pyro_stream_run *run, size_t from, size_t to)
{
    double span = at(run, to) - at(run, from);
    return span > 0 ? 1000 * (rows_at(run, to) - rows_at(run, from)) / span : 0;
}

/* Heaps that hold state: of all executors at once, or of the driver for local masters. */
static double heap_of(const struct pyro_app *app)
{
    double executors = fmax(1, floor(pyro_real(app->numbers.cores_peak) / pyro_app_executor_cores(app)));
    return pyro_app_heap_bytes(app) * (pyro_app_is_local(app) ? 1 : executors);
}

/* How long event time runs before a watermark lets state go; infinite without one. */
static double delay_of(const struct pyro_stream_run *run)
{
    for (size_t i = run->count; i > 0; i--) {
        const struct pyro_stream_batch *last = run->batches[i - 1];
        if (last->watermark_ms != PYRO_NONE && last->watermark_ms > 0)
            return last->event_time_max_ms != PYRO_NONE ? pyro_span(last->watermark_ms, last->event_time_max_ms) : 0;
    }
    return INFINITY;
}

static bool measure(struct pyro_rule_context *context, const struct pyro_stream_run *run, struct growth *found)
{
    size_t last = run->count - 1, third = run->count / 3, first = third > 0 ? 1 : 0;
    if (run->count < (size_t)fmax(3, pyro_limit(context, BATCHES_MIN)) || run->batches[last]->state_rows == PYRO_NONE)
        return false;
    /* The last batch may have been stopped half-way, with its state not counted. */
    if (rows_at(run, last) < rows_at(run, last - 1))
        last--;
    size_t middle = last - third;
    *found = (struct growth){.first = rows_at(run, first), .last = rows_at(run, last), .delay_ms = delay_of(run)};
    double gained = found->last - rows_at(run, first + third);
    found->removed = pyro_stream_sum(run, first + third, last + 1, COLUMN(state_rows_removed));
    found->rows_per_s = rate(run, middle, last);
    found->bytes = pyro_real(run->batches[last]->state_memory_bytes);
    double per_row = found->last > 0 ? found->bytes / found->last : 0;
    found->bytes_per_s = per_row * found->rows_per_s;
    if (found->last < pyro_limit(context, ROWS_MIN) || found->rows_per_s <= 0 ||
        found->rows_per_s < pyro_limit(context, STEADY) * rate(run, first + third, middle) ||
        found->removed >= pyro_limit(context, REMOVED_SHARE) * (gained + found->removed))
        return false;
    double room = pyro_limit(context, HEAP_SHARE) * heap_of(context->app) - found->bytes;
    /* With a watermark, state grows until the delay has passed and then stays. */
    double span = at(run, last) - at(run, 0);
    if (isfinite(found->delay_ms) && found->delay_ms <= span / 2)
        return false;
    if (isfinite(found->delay_ms) && found->bytes_per_s * found->delay_ms / 1000 < room)
        return false;
    found->days = found->bytes_per_s > 0 ? fmax(room, 0) * 1000 / found->bytes_per_s / DAY_MS : INFINITY;
    return found->days <= pyro_limit(context, DAYS_MAX);
}

static void report(struct pyro_rule_context *context, const struct pyro_stream_run *run, const struct growth *found)
{
    static const char *const verify = "In the next run \"Aggregated Number Of Total State Rows\" on the stream's page "
                                      "becomes stable, and rows are removed from the state.";
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_state_growth);
    if (!finding)
        return;
    pyro_finding_at_stream(context, finding, run);
    bool marked = isfinite(found->delay_ms);
    struct pyro_slice operators = run->batches[run->count - 1]->state_operators;
    finding->cause =
        pyro_say(context,
                 "%s: its state (%s) grew from %.0f to %.0f rows, by %.0f per second, and %.0f were removed; %s. At "
                 "this rate half of the memory is full after %s.",
                 pyro_say_stream(context, run), pyro_say_text(context, operators, 100), found->first, found->last,
                 found->rows_per_s, found->removed,
                 marked ? pyro_say(context, "its watermark is %s behind", pyro_say_ms(context, found->delay_ms)).ptr
                        : "it has no watermark, so it never removes rows",
                 pyro_say_ms(context, found->days * DAY_MS));
    pyro_finding_evidence(context, finding, "state_rows", found->last, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "state_rows_per_second", found->rows_per_s, 0, "count");
    pyro_finding_evidence(context, finding, "state_rows_removed", found->removed, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "state_memory_bytes", found->bytes, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "days_to_full", found->days, pyro_limit(context, DAYS_MAX), "count");
    if (marked)
        pyro_finding_evidence(context, finding, "watermark_delay_ms", found->delay_ms, (double)NAN, "ms");
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_slice_from(marked ? "Shorten the delay of the watermark to the real delay of late rows."
                               : "Set a watermark on the event time and group by it (window), or deduplicate within "
                                 "it, so that Spark can remove old state."),
        verify);
    if (advice)
        advice->code =
            PYRO_SLICE_LITERAL("rows.withWatermark(\"time\", \"10 minutes\")\n"
                               "    .groupBy(window(\"time\", \"5 minutes\"), \"key\").count()\n"
                               "rows.withWatermark(\"time\", \"10 minutes\").dropDuplicatesWithinWatermark([\"id\"])");
    struct pyro_slice provider = pyro_app_property(context->app, "spark.sql.streaming.stateStore.providerClass");
    if (!provider.ptr || !pyro_slice_find(provider, "RocksDB"))
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Until then keep the state in RocksDB, which stores it on disk instead of in the heap "
                               "(spark.sql.streaming.stateStore.providerClass; needs a new checkpoint)."),
            verify);
    finding->failure_risk = found->days <= pyro_limit(context, RISK_DAYS) ? 0.5 : 0.25;
    finding->confidence *= marked ? 0.75 : 0.9;
}

static bool applies(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    (void)context;
    return run->batches[run->count - 1]->state_rows != PYRO_NONE;
}

static bool judge(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    struct growth found;
    if (!measure(context, run, &found))
        return false;
    report(context, run, &found);
    return true;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_streams_evaluate(context, applies, judge);
}

const struct pyro_rule pyro_rule_state_growth = {
    .id = "state-growth",
    .category = "streaming",
    .title = "Unlimited state growth",
    .summary = "The state of a streaming query grows from batch to batch, and Spark removes nothing from it.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"watermark-lag"},
    .needs_settings = true,
    .evaluate = evaluate,
};
