/* memory-near-limit: executors survived, but with almost no memory left. */
#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/memory/shortage.h"
#include "model/failure_text.h"
#include "rules/finding.h"

#define MS_PER_MINUTE 60000.0

enum { HEAP_FULL, FULL_COLLECTIONS, FULL_RATE, GC_SHARE, ROOM_USED, FILL, HIGH_RISK, RISK };
static const struct pyro_threshold thresholds[] = {
    [HEAP_FULL] = {"heap_share_min", 0.9, "share",
                   "A heap fills up before a garbage collection: this share alone is normal"},
    [FULL_COLLECTIONS] = {"full_collections_min", 5, "count",
                          "... but with this many full collections, live objects fill it"},
    [FULL_RATE] = {"full_collections_per_minute_min", 0.5, "count",
                   "... at this rate: over hours every collector has some"},
    [GC_SHARE] =
        {"collection_share_severe", 0.33, "share",
         "At this share of garbage collection in an executor's lifetime, 'GC overhead limit exceeded' is near"},
    [ROOM_USED] = {"room_used_share_min", 0.9, "share",
                   "Minimum used share of the memory overhead: the cluster manager kills a container that exceeds it"},
    [FILL] = {"fill", 0.67, "share", "Recommendation: a heap that is two thirds full has a reserve for more data"},
    [HIGH_RISK] = {"risk_severe", 0.5, "share",
                   "Failure risk if collections free almost nothing, or the memory overhead is used up"},
    [RISK] = {"risk", 0.3, "share", "Failure risk if memory is nearly full"},
};

struct fullest {
    double heap, container;         /* executors that are near either limit */
    size_t heap_row, container_row; /* the fullest of each */
    double full, gc_share, heap_peak;
    double used, room; /* resident size of that container's processes; what it may have */
};

/* A killed executor has already shown how near the limit was. */
static bool any_killed(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->executors.count; i++)
        if (pyro_executor_shortage(app, &app->executors.items[i]) != PYRO_SHORTAGE_NONE)
            return true;
    for (size_t i = 0; i < app->failures.count; i++)
        if (pyro_slice_is(app->failures.items[i].kind, "task") &&
            pyro_shortage_of(app->failures.items[i].class_name, app->failures.items[i].message) != PYRO_SHORTAGE_NONE)
            return true;
    return false;
}

static bool is_contained(const struct pyro_app *app)
{
    return pyro_text_has(app->application.master, "yarn") || pyro_text_has(app->application.master, "k8s");
}

/* What a container may use outside the heap, as Spark asks the cluster manager for it. */
static double overhead(const struct pyro_app *app)
{
    const int64_t mib = 1024 * 1024;
    const double least = 384, part = 0.1; /* Spark's defaults */
    double heap = pyro_app_heap_bytes(app);
    int64_t set = pyro_app_property_size(app, "spark.executor.memoryOverhead", mib,
                                         pyro_app_property_size(app, "spark.yarn.executor.memoryOverhead", mib, 0));
    double room = set > 0 ? (double)set : fmax(heap * part, least * (double)mib);
    room += pyro_real(pyro_app_property_size(app, "spark.executor.pyspark.memory", mib, 0));
    if (pyro_app_spark_at_least(app, 3, 0) && pyro_app_property_bool(app, "spark.memory.offHeap.enabled", false))
        room += pyro_real(pyro_app_property_size(app, "spark.memory.offHeap.size", 1, 0));
    return room;
}

static void examine(const struct pyro_rule_context *context, size_t row, struct fullest *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_executor *executor = &app->executors.items[row];
    double heap = pyro_app_heap_bytes(app), peak = pyro_real(executor->heap_peak_bytes);
    double life = pyro_span(executor->added_ms,
                            executor->removed_ms != PYRO_NONE ? executor->removed_ms : app->application.end_ms);
    double full = pyro_real(executor->full_collections);
    if (peak >= pyro_limit(context, HEAP_FULL) * heap && full >= pyro_limit(context, FULL_COLLECTIONS) &&
        full * MS_PER_MINUTE >= pyro_limit(context, FULL_RATE) * fmax(life, 1)) {
        if (found->heap++ <= 0 || full > found->full) {
            found->heap_row = row;
            found->full = full;
            found->heap_peak = peak;
            found->gc_share = pyro_real(executor->collection_ms) / fmax(life, 1);
        }
    }
    double resident = pyro_real(executor->process_rss_peak_bytes);
    if (!is_contained(app) || resident <= 0)
        return;
    resident += pyro_real(executor->python_rss_peak_bytes) + pyro_real(executor->other_rss_peak_bytes);
    double room = overhead(app), used = resident - heap;
    if (used < pyro_limit(context, ROOM_USED) * room)
        return;
    if (found->container++ <= 0 || used > found->used) {
        found->container_row = row;
        found->used = used;
        found->room = room;
    }
}

static void report_heap(struct pyro_rule_context *context, const struct fullest *found)
{
    static const char *const verify =
        "In the next run MajorGCCount in the executor metrics hardly grows, and GC Time stays below 10 % of Task Time.";
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_memory_near_limit);
    if (!finding)
        return;
    finding->id = PYRO_SLICE_LITERAL("memory-near-limit:heap");
    const struct pyro_executor *executor = &app->executors.items[found->heap_row];
    finding->executor = executor->id;
    finding->host = executor->host;
    double heap = pyro_app_heap_bytes(app), slots = pyro_app_slots_per_executor(app);
    double unified = fmax(0, heap - 300.0 * 1024 * 1024) * pyro_app_memory_fraction(app);
    double managed = pyro_real(executor->storage_peak_bytes) + pyro_real(executor->execution_peak_bytes);
    finding->cause = pyro_say(
        context,
        "Live objects filled the heap of %s: executor %s used %s of %s and needed %.0f full collections (all "
        "collections: %.0f %% of its lifetime). With a little more data, tasks run out of memory.",
        pyro_say_count(context, found->heap, "executor", "executors"), pyro_say_text(context, executor->id, 40),
        pyro_say_bytes(context, found->heap_peak), pyro_say_bytes(context, heap), found->full, 100 * found->gc_share);
    pyro_finding_evidence(context, finding, "heap_used_share", found->heap_peak / heap, pyro_limit(context, FILL),
                          "share");
    pyro_finding_evidence(context, finding, "full_collections", found->full, 0, "count");
    pyro_finding_evidence(context, finding, "collection_share", found->gc_share, 0.05, "share");
    pyro_finding_evidence(context, finding, "managed_peak_bytes", managed, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "unified_bytes", unified, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "executors_near_limit", found->heap, 0, "count");
    struct pyro_slice size = pyro_say_memory(context, fmax(found->heap_peak / pyro_limit(context, FILL), heap * 1.25));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "Raise %s from %s to %s.", pyro_app_heap_key(app), pyro_say_bytes(context, heap), size.ptr),
        verify);
    pyro_advice_set(context, advice, pyro_app_heap_key(app), size);
    pyro_advice_prevents(advice, "executors that run out of memory");
    if (pyro_real(executor->storage_peak_bytes) > 0.5 * managed && managed > 0.25 * heap)
        pyro_finding_advise(
            context, finding,
            pyro_say(context,
                     "Cache less: cached blocks took %s. MEMORY_AND_DISK_SER or cache() of a DataFrame needs a "
                     "fraction of the memory of plain objects. Call unpersist() on data that is not read again.",
                     pyro_say_bytes(context, pyro_real(executor->storage_peak_bytes))),
            verify);
    else
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Or give each task less data: more partitions, no lists of whole groups%s.",
                                     slots >= 2 ? ", fewer tasks at the same time (spark.executor.cores)" : ""),
                            verify);
    finding->failure_risk = pyro_limit(context, found->gc_share >= pyro_limit(context, GC_SHARE) ? HIGH_RISK : RISK);
    finding->confidence *= 0.85;
}

static void report_container(struct pyro_rule_context *context, const struct fullest *found)
{
    static const char *const verify =
        "In the next run the resident size of the processes leaves 10 % of the memory overhead free.";
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_memory_near_limit);
    if (!finding)
        return;
    finding->id = PYRO_SLICE_LITERAL("memory-near-limit:container");
    const struct pyro_executor *executor = &app->executors.items[found->container_row];
    finding->executor = executor->id;
    finding->host = executor->host;
    double python = pyro_real(executor->python_rss_peak_bytes);
    finding->cause =
        pyro_say(context,
                 "Executor %s used %s outside its heap of %s; its memory overhead is %s%s. The cluster manager kills "
                 "containers that exceed it.",
                 pyro_say_text(context, executor->id, 40), pyro_say_bytes(context, found->used),
                 pyro_say_bytes(context, pyro_app_heap_bytes(app)), pyro_say_bytes(context, found->room),
                 python > 0 ? pyro_say(context, " (Python workers: %s)", pyro_say_bytes(context, python)).ptr : "");
    pyro_finding_evidence(context, finding, "beside_heap_bytes", found->used, found->room, "bytes");
    pyro_finding_evidence(context, finding, "room_used_share", found->used / fmax(found->room, 1),
                          pyro_limit(context, FILL), "share");
    pyro_finding_evidence(context, finding, "python_bytes", python, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "executors_near_limit", found->container, 0, "count");
    struct pyro_slice size = pyro_say_memory(context, fmax(found->used, found->room) / pyro_limit(context, FILL));
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding, pyro_say(context, "Set the memory overhead to %s.", size.ptr), verify);
    if (pyro_app_spark_at_least(app, 2, 3))
        pyro_advice_set(context, advice, "spark.executor.memoryOverhead", size);
    finding->failure_risk = pyro_limit(context, found->used >= found->room ? HIGH_RISK : RISK);
    finding->confidence *= 0.8;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct fullest found = {0};
    bool known = false;
    for (size_t i = 0; i < app->executors.count; i++) {
        known |= app->executors.items[i].heap_peak_bytes > 0;
        examine(context, i, &found);
    }
    if (!known)
        return PYRO_VERDICT_NOT_APPLICABLE;
    if ((found.heap <= 0 && found.container <= 0) || any_killed(app))
        return PYRO_VERDICT_QUIET;
    if (found.heap > 0)
        report_heap(context, &found);
    if (found.container > 0)
        report_container(context, &found);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_memory_near_limit = {
    .id = "memory-near-limit",
    .category = "memory",
    .title = "Memory nearly full",
    .summary = "Executors had almost no memory left: with a little more data they fail.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"data-skew", "oversized-partition"},
    .needs_settings = true,
    .evaluate = evaluate,
};
