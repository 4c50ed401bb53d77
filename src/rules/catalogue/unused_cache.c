/* unused-cache: RDDs or tables were kept, and nothing ever read them again. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/collections/hash.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/plans.h"

enum { FINDINGS_MAX = 16, PRICED_MAX = 256 };

enum { WORK_MIN_MS, COST_SHARE, COST_SHARE_MAX, STORED_BYTES, STORAGE_SHARE, GC_SHARE };
static const struct pyro_threshold thresholds[] = {
    {"work_ms_min", 2000, "ms", "minimum task time of the stage that filled the cache"},
    {"cost_share", 0.1, "share",
     "share of that stage's task time for storing rows where the size of the blocks is unknown"},
    {"cost_share_max", 0.7, "share", "maximum share of that stage's task time for storing rows"},
    {"stored_bytes", 25000, "bytes", "bytes of blocks that a task reads, compresses and stores in a millisecond"},
    {"storage_share", 0.5, "share", "share of storage memory in use at which the cache takes memory from others"},
    {"gc_share", 0.1, "share", "share of run time in garbage collection that indicates a lack of memory"},
};

struct kept {
    size_t rdd, builder; /* row; first stage row that made it */
    double built, read;
    double own;    /* readings by the query that made it, of which one is its purpose */
    double stored; /* bytes of its blocks; 0: unknown */
    uint64_t site; /* the same code made it */
};

static bool starts_with_any_case(struct pyro_slice text, const char *prefix)
{
    size_t i = 0;
    for (; prefix[i] && i < text.len; i++) {
        char c = text.ptr[i];
        if ((c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) != prefix[i])
            return false;
    }
    return !prefix[i];
}

/* The job does nothing but go through all rows, as one does to fill a cache. */
static bool only_fills(const struct pyro_app *app, const struct pyro_stage *stage)
{
    static const char *const actions[] = {"COUNT AT ",   "FOREACH AT ", "FOREACHPARTITION AT ",
                                          "ISEMPTY AT ", "CACHE TABLE", "CACHETABLE"};
    ptrdiff_t job = stage->job == PYRO_NONE ? -1 : pyro_app_find_job(app, stage->job);
    ptrdiff_t sql = stage->sql == PYRO_NONE ? -1 : pyro_app_find_sql(app, stage->sql);
    struct pyro_slice names[] = {stage->name, job >= 0 ? app->jobs.items[job].description : PYRO_SLICE_NULL,
                                 sql >= 0 ? app->sql.items[sql].description : PYRO_SLICE_NULL};
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
        for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
            if (starts_with_any_case(names[n], actions[i]))
                return true;
    /* CACHE TABLE is a command with a query nested in it. */
    int64_t root = sql >= 0 && app->sql.items[sql].root_id != PYRO_NONE ? app->sql.items[sql].root_id : stage->sql;
    for (size_t i = 0; sql >= 0 && i < app->sql_nodes.count; i++) {
        const struct pyro_sql_node *node = &app->sql_nodes.items[i];
        if (node->sql == root && (pyro_slice_starts_with(node->name, "CacheTable") ||
                                  pyro_slice_starts_with(node->name, "Execute CacheTable")))
            return true;
    }
    return false;
}

/* All that the job, or the query, of a stage ran. */
static void skip_all(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_stage *one)
{
    for (size_t i = 0; i < context->app->stages.count; i++) {
        const struct pyro_stage *stage = &context->app->stages.items[i];
        if (one->sql != PYRO_NONE ? stage->sql == one->sql : stage->job == one->job)
            pyro_remedy_skip(context, finding, i);
    }
}

/* Memory is short, and what is cached fills much of it. */
static bool takes_room(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    double usable = fmax(0, pyro_app_heap_bytes(app) - 300.0 * 1024 * 1024) * pyro_app_memory_fraction(app);
    bool full = usable > 0 && pyro_real(app->numbers.storage_peak_bytes) >= pyro_limit(context, STORAGE_SHARE) * usable;
    return full && (app->numbers.disk_spill_bytes > 0 ||
                    pyro_real(app->numbers.gc_ms) >= pyro_limit(context, GC_SHARE) * pyro_real(app->numbers.run_ms));
}

/* Task time that storing its blocks took. What the query does not use of them is read and stored as well. */
static double stored_ms(const struct pyro_rule_context *context, const struct kept *kept)
{
    double work = fmax(pyro_real(context->app->stages.items[kept->builder].task_ms), 0);
    double least = pyro_limit(context, COST_SHARE) * work, most = pyro_limit(context, COST_SHARE_MAX) * work;
    return fmin(fmax(kept->stored / pyro_limit(context, STORED_BYTES), least), fmax(most, least));
}

/* `found`: `count` of them, of one site. */
static void report(struct pyro_rule_context *context, const struct kept *found, size_t count)
{
    static const char *const verify = "In the next run the Storage page lists only tables that later jobs read (green "
                                      "dots in their DAGs), and there is no job that fills this cache.";
    const struct pyro_app *app = context->app;
    const struct pyro_rdd *rdd = &app->rdds.items[found->rdd];
    const struct pyro_stage *stage = &app->stages.items[found->builder];
    bool fills = only_fills(app, stage);
    double work = 0, stored = 0, stored_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        work += pyro_real(app->stages.items[found[i].builder].task_ms);
        stored += stored_ms(context, &found[i]);
        stored_bytes += found[i].stored;
    }
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_unused_cache);
    if (!finding)
        return;
    pyro_finding_at_stage(context, finding, found->builder);
    const char *name = rdd->name.len ? pyro_say_text(context, rdd->name, 80) : "RDD";
    finding->cause = pyro_say(
        context, "%s%s persisted (%s) and computed by %s in %s of task time, and no later stage read %s%s.", name,
        count > 1 ? pyro_say(context, " and %.0f more were", (double)(count - 1)).ptr : " was",
        rdd->level.ptr ? pyro_say_text(context, rdd->level, 40) : "in memory",
        count > 1 ? pyro_say(context, "%.0f stages", (double)count).ptr : pyro_say_stage(context, found->builder),
        pyro_say_ms(context, work), count > 1 ? "them" : "it",
        fills ? "; the job did nothing except read all rows" : "");
    pyro_finding_evidence(context, finding, "reads", found->read, 1, "count");
    pyro_finding_evidence(context, finding, "build_task_ms", work, (double)NAN, "ms");
    pyro_finding_merged(context, finding, "rdds", count);
    pyro_finding_evidence(context, finding, "partitions", pyro_real(rdd->partitions), (double)NAN, "count");
    pyro_finding_evidence(context, finding, "store_ms", stored, (double)NAN, "ms");
    if (stored_bytes > 0)
        pyro_finding_evidence(context, finding, "cached_bytes", stored_bytes, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "storage_peak_bytes", pyro_real(app->numbers.storage_peak_bytes),
                          (double)NAN, "bytes");
    pyro_finding_advise(
        context, finding,
        pyro_slice_from(fills ? "Remove the cache and the action that fills it, or let later steps read the cached "
                                "table instead of its source."
                              : "Remove cache() or persist() there: data that is computed once needs no cache."),
        verify);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding, PYRO_SLICE_LITERAL("Call unpersist() as soon as the last reader is done."), verify);
    if (advice)
        advice->code =
            PYRO_SLICE_LITERAL("table = source.filter(...).cache()\nreport(table); export(table)   # both read "
                               "`table`, not `source`\ntable.unpersist()");
    for (size_t i = 0; i < count && i < PRICED_MAX; i++) {
        if (fills)
            skip_all(context, finding, &app->stages.items[found[i].builder]);
        else
            pyro_remedy_stage(context, finding, found[i].builder,
                              1 - stored_ms(context, &found[i]) /
                                      fmax(pyro_real(app->stages.items[found[i].builder].task_ms), 1));
    }
    /* The rows may be counted on purpose; what storing took is measured where the size of the blocks is known. */
    pyro_remedy_partly(finding, fills || stored_bytes > 0 ? 0.8 : 0.5);
    finding->failure_risk = takes_room(context) ? 0.2 : 0;
    finding->confidence *= fills ? 0.85 : 0.7;
}

static int by_site(const void *left, const void *right)
{
    const struct kept *a = left, *b = right;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->rdd < b->rdd ? -1 : a->rdd > b->rdd;
}

/* Who made each persisted RDD, and how many stages read it. Returns how many were made. */
static size_t collect(struct pyro_rule_context *context, const struct pyro_lineage *lineage, struct kept *kept)
{
    const struct pyro_app *app = context->app;
    size_t count = 0;
    memset(kept, 0, app->rdds.count * sizeof(*kept));
    for (size_t i = 0; i < lineage->count; i++) {
        const struct pyro_rdd_use *use = &lineage->uses[i];
        struct kept *one = &kept[use->rdd];
        if (use->kind == PYRO_RDD_BUILT && one->built++ < 1)
            one->builder = use->stage;
        /* Adaptive execution fills a cache in a job of its own and then reads it for the same query. */
        int64_t sql = app->stages.items[use->stage].sql;
        bool own = use->kind == PYRO_RDD_READ && sql != PYRO_NONE && sql == app->stages.items[one->builder].sql;
        if (own && one->own < 1) /* blocks are read whole, whatever columns are needed */
            one->stored = fmax(pyro_real(app->stages.items[use->stage].input_bytes), 0);
        one->own += own;
        one->read += use->kind == PYRO_RDD_READ && !own;
    }
    for (size_t i = 0; i < app->rdds.count && !context->failed; i++) {
        if (kept[i].built < 1)
            continue;
        struct kept one = kept[i];
        one.read += fmax(0, one.own - 1);
        one.rdd = i;
        if (app->rdds.items[i].memory_bytes > 0)
            one.stored = fmax(one.stored, pyro_real(app->rdds.items[i].memory_bytes));
        one.site = pyro_hash_mix(pyro_hash_slice(pyro_stage_site(context, one.builder)) ^
                                 pyro_hash_slice(app->rdds.items[i].call_site));
        kept[count++] = one;
    }
    if (count > 1)
        qsort(kept, count, sizeof(*kept), by_site);
    return count;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct pyro_lineage lineage;
    if (!pyro_app_caches(app) || pyro_app_is_streaming(app) || !pyro_rule_lineage(context, &lineage))
        return PYRO_VERDICT_NOT_APPLICABLE;
    /* A user at a prompt, or a run that was cut off, may still read it. */
    if (pyro_app_is_interactive(app) || app->integrity.truncated || app->integrity.in_progress)
        return PYRO_VERDICT_QUIET;
    struct kept *kept = pyro_arena_array(context->arena, app->rdds.count + 1, sizeof(*kept));
    if (!kept) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    size_t count = collect(context, &lineage, kept), found = 0;
    for (size_t from = 0, to; from < count; from = to) {
        double work = 0, read = 0, unread = 0;
        size_t used = from;
        for (to = from; to < count && kept[to].site == kept[from].site; to++) {
            if (kept[to].read > 0) {
                read++;
                continue;
            }
            unread++;
            work += pyro_real(app->stages.items[kept[to].builder].task_ms);
            kept[used++] = kept[to];
        }
        /* In a loop, each round reads what the one before kept, and the last is not read. */
        if (unread < 1 || (read > 1 && unread <= 1) || work < pyro_limit(context, WORK_MIN_MS) || found >= FINDINGS_MAX)
            continue;
        report(context, &kept[from], used - from);
        found++;
    }
    return found ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_unused_cache = {
    .id = "unused-cache",
    .category = "caching",
    .title = "Unused cache",
    .summary = "RDDs or tables are kept in memory or on disk, and nothing reads them again.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
