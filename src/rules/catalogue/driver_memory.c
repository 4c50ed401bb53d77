/* driver-memory: the driver's own heap is exhausted, or nearly so. */
#include <math.h>

#include "analyze/app_facts.h"
#include "model/failure_text.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

#define MS_PER_MINUTE 60000.0

/* Of the time of collections, what a heap of the advised size does without. */
#define GC_SPARED 0.5

enum { HEAP_FULL, FULL_COLLECTIONS, FULL_RATE, GC_SHARE, GC_MS, NEAR_COLLECTIONS, FILL, ENDED_RISK, NEAR_RISK, RISK };
static const struct pyro_threshold thresholds[] = {
    [HEAP_FULL] = {"heap_share_min", 0.9, "share",
                   "A heap fills up before a garbage collection: this share alone is normal"},
    [FULL_COLLECTIONS] = {"full_collections_min", 3, "count",
                          "... but with this many full collections, live objects fill it"},
    [FULL_RATE] = {"full_collections_per_minute_min", 0.5, "count",
                   "... at this rate: over days every collector has some"},
    [GC_SHARE] = {"collection_share_min", 0.15, "share",
                  "Or the driver spends this share of the run in garbage collection"},
    [GC_MS] = {"collection_ms_min", 5000, "ms", "... and at least this time"},
    [NEAR_COLLECTIONS] = {"full_collections_severe", 20, "count",
                          "With this many full collections the driver is about to fail"},
    [FILL] = {"fill", 0.67, "share", "Recommendation: a heap that is two thirds full has a reserve for more data"},
    [ENDED_RISK] = {"risk_ended", 0.9, "share", "Failure risk if the driver ran out of memory and no job followed"},
    [NEAR_RISK] = {"risk_near", 0.5, "share", "... if it ran out of memory but continued, or is about to run out"},
    [RISK] = {"risk", 0.3, "share", "... if the heap is nearly full"},
};

static double metric(const struct pyro_app *app, const char *key)
{
    struct pyro_slice text = pyro_app_property_of(app, "metrics", key);
    double value = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        value = value * 10 + (text.ptr[i] - '0');
    return value;
}

/* An error of the driver itself, not one that it reports of a task. */
static bool is_drivers(struct pyro_slice text)
{
    if (!text.ptr || pyro_slice_find(text, "Lost task") || pyro_slice_find(text, "ExecutorLostFailure"))
        return false;
    return pyro_slice_find(text, "OutOfMemoryError") || pyro_slice_find(text, "Java heap space") ||
           pyro_slice_find(text, "GC overhead limit exceeded") ||
           pyro_slice_find(text, "Not enough memory to build and broadcast");
}

struct pressure {
    double peak, limit, full, gc_ms, wall;
    struct pyro_slice told; /* what the driver ran out of memory with */
    int64_t sql, job;
    bool ended;
};

static void find_errors(const struct pyro_app *app, struct pressure *found)
{
    for (size_t i = 0; i < app->sql.count && !found->told.ptr; i++) {
        const struct pyro_sql_execution *sql = &app->sql.items[i];
        if (!is_drivers(sql->failure))
            continue;
        found->told = sql->failure;
        found->sql = sql->id;
        found->ended = true;
        for (size_t k = 0; k < app->jobs.count; k++)
            if (app->jobs.items[k].submitted_ms > sql->completed_ms)
                found->ended = false;
    }
    for (size_t i = 0; i < app->jobs.count && !found->told.ptr; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        if (!pyro_job_failed(job) || !is_drivers(job->failure))
            continue;
        found->told = job->failure;
        found->job = job->id;
        found->ended = i + 1 == app->jobs.count;
    }
}

/* The action that brought most to the driver; -1 where none brought much. */
static ptrdiff_t largest_result(const struct pyro_app *app, double heap)
{
    const double much = 0.05; /* of the heap: worth naming */
    ptrdiff_t largest = -1;
    for (size_t i = 0; i < app->stages.count; i++) {
        double bytes = pyro_real(app->stages.items[i].result_bytes);
        if (bytes >= much * heap && (largest < 0 || bytes > pyro_real(app->stages.items[largest].result_bytes)))
            largest = (ptrdiff_t)i;
    }
    return largest;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pressure *found)
{
    static const char *const verify = "In the next run the driver's heap peak stays below two thirds of its limit.";
    const struct pyro_app *app = context->app;
    ptrdiff_t stage = largest_result(app, found->limit);
    if (stage >= 0)
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Collect less: %s sent %s to the driver, and deserialized rows take several times "
                                     "that. Aggregate in the job, or write from the executors.",
                                     pyro_say_stage(context, (size_t)stage),
                                     pyro_say_bytes(context, pyro_real(app->stages.items[stage].result_bytes))),
                            verify);
    else
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Check what the driver holds in memory: collected rows, tables for broadcast joins, "
                               "very large plans and listings, and objects of the program."),
            verify);
    if (found->limit <= 0)
        return; /* raised from what? */
    double wanted = fmax(fmax(found->peak, found->told.ptr ? found->limit : 0) / pyro_limit(context, FILL),
                         found->limit * (found->told.ptr ? 2 : 1.5));
    struct pyro_slice size = pyro_say_memory(context, wanted);
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Raise spark.driver.memory from %s to %s; in client mode on the command line "
                                     "(--driver-memory), because the JVM already runs when the program sets it.",
                                     pyro_say_bytes(context, found->limit), size.ptr),
                            verify);
    pyro_advice_set(context, advice, "spark.driver.memory", size);
    pyro_advice_prevents(advice, "a driver that runs out of memory");
}

static void report(struct pyro_rule_context *context, const struct pressure *found)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_driver_memory);
    if (!finding)
        return;
    finding->id = pyro_slice_from(pyro_rule_driver_memory.id); /* one finding for the whole application */
    finding->sql = found->sql;
    finding->job = found->job;
    struct pyro_root_cause root = pyro_root_cause(found->told);
    const char *collections =
        found->gc_ms > 0 ? pyro_say(context, "; garbage collection took %s (%.0f %% of the run), with %s",
                                    pyro_say_ms(context, found->gc_ms), 100 * found->gc_ms / found->wall,
                                    pyro_say_count(context, found->full, "full collection", "full collections"))
                               .ptr
                         : "";
    const char *limit = found->limit > 0 ? pyro_say_bytes(context, found->limit) : "unknown";
    const char *peak =
        found->peak > 0
            ? pyro_say(context, "its heap (limit %s) reached %s", limit, pyro_say_bytes(context, found->peak)).ptr
        : found->limit > 0 ? pyro_say(context, "its heap may grow to %s", limit).ptr
                           : "the limit of its heap is unknown";
    finding->cause = found->told.ptr
                         ? pyro_say(context, "The driver ran out of memory (\"%s%s%s\")%s; %s%s.",
                                    pyro_say_text(context, root.name, 80), root.name.ptr ? ": " : "",
                                    pyro_say_text(context, root.message, PYRO_CAUSE_BYTES),
                                    found->ended ? ", and no job followed" : "", peak, collections)
                         : pyro_say(context, "The driver almost ran out of memory: %s%s.", peak, collections);
    if (found->limit > 0)
        pyro_finding_evidence(context, finding, "driver_heap_limit_bytes", found->limit, (double)NAN, "bytes");
    if (found->peak > 0) {
        pyro_finding_evidence(context, finding, "driver_heap_peak_bytes", found->peak, (double)NAN, "bytes");
        if (found->limit > 0)
            pyro_finding_evidence(context, finding, "driver_heap_used_share", found->peak / found->limit,
                                  pyro_limit(context, FILL), "share");
        pyro_finding_evidence(context, finding, "full_collections", found->full, 0, "count");
        pyro_finding_evidence(context, finding, "collection_ms", found->gc_ms, (double)NAN, "ms");
    }
    advise(context, finding, found);
    /* A log that breaks off: the process may have ended of it. */
    bool broken = app->integrity.truncated && found->full >= pyro_limit(context, FULL_COLLECTIONS);
    finding->failure_risk = pyro_limit(
        context, found->told.ptr && found->ended && !pyro_app_is_interactive(app)                    ? ENDED_RISK
                 : found->told.ptr || broken || found->full >= pyro_limit(context, NEAR_COLLECTIONS) ? NEAR_RISK
                                                                                                     : RISK);
    finding->confidence *= found->told.ptr ? 0.98 : 0.85;
    /* Collections cost by the clock where the driver worked alone; a larger heap makes them rare. */
    if (found->gc_ms > 0)
        pyro_remedy_driver(context, finding, app->application.start_ms, app->application.end_ms,
                           1 - GC_SPARED * fmin(1, found->gc_ms / found->wall));
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct pressure found = {.peak = pyro_real(app->numbers.driver_heap_peak_bytes),
                             .limit = pyro_real(app->numbers.driver_heap_limit_bytes),
                             .full = metric(app, "driver.MajorGCCount.peak"),
                             .gc_ms = metric(app, "driver.TotalGCTime.peak"),
                             .wall = fmax(pyro_app_wall(app), 1),
                             .sql = PYRO_NONE,
                             .job = PYRO_NONE};
    find_errors(app, &found);
    if (!found.told.ptr && (pyro_app_is_local(app) || found.peak <= 0)) /* there its heap is the executor's */
        return PYRO_VERDICT_NOT_APPLICABLE;
    /* The driver's counters began with it, not with the part of the run that the log holds. */
    bool whole = !app->integrity.beginning_missing;
    bool full = whole && found.limit > 0 && found.peak >= pyro_limit(context, HEAP_FULL) * found.limit &&
                found.full >= pyro_limit(context, FULL_COLLECTIONS) &&
                found.full * MS_PER_MINUTE >= pyro_limit(context, FULL_RATE) * found.wall;
    bool busy =
        whole && found.gc_ms >= pyro_limit(context, GC_MS) && found.gc_ms >= pyro_limit(context, GC_SHARE) * found.wall;
    if (!found.told.ptr && !full && !busy)
        return PYRO_VERDICT_QUIET;
    report(context, &found);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_driver_memory = {
    .id = "driver-memory",
    .category = "memory",
    .title = "Driver memory",
    .summary = "The heap of the driver is full, or almost full.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
