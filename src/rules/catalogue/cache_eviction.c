/* cache-eviction: what was cached did not stay there, and tasks computed it again. */
#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/memory/cached_blocks.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { MISSED_SHARE, MISSED_MIN, SAVED_MIN_MS, SAME_BYTES, HEAP_TIMES };
static const struct pyro_threshold thresholds[] = {
    {"missed_share", 0.05, "share", "minimum share of tasks that look for cached blocks and find none"},
    {"missed_min", 2, "count", "minimum number of such tasks"},
    {"saved_ms_min", 2000, "ms", "minimum task time that these tasks lose together"},
    {"same_bytes", 0.02, "share", "how much the bytes of two reads of the same file may differ"},
    {"heap_times", 4, "ratio", "maximum heap that is recommended, as a multiple of the current heap"},
};

struct eviction {
    size_t stage; /* the one that lost most */
    double lost_ms, worst_ms;
};

/* What tasks of one persisted RDD that did not find their blocks lost. */
static void sum_up(const struct pyro_cached_rdd *rdd, struct eviction *found)
{
    double lost = 0;
    for (size_t i = 0; i < rdd->count; i++) {
        const struct pyro_block_task *task = &rdd->tasks[i];
        lost = i == 0 || task->stage != rdd->tasks[i - 1].stage ? 0 : lost;
        if (task->found)
            continue;
        lost += task->missed_ms - task->found_ms;
        found->lost_ms += task->missed_ms - task->found_ms;
        if (lost > found->worst_ms) {
            found->worst_ms = lost;
            found->stage = task->stage;
        }
    }
}

/* The heap at which everything that was to be kept has room, if what was found is what had room. */
static double heap_for_all(struct pyro_rule_context *context, double missed_share)
{
    const struct pyro_app *app = context->app;
    double heap = pyro_app_heap_bytes(app), reserved = 300.0 * 1024 * 1024;
    double fraction = pyro_app_memory_fraction(app), usable = fmax(heap - reserved, 0) * fraction;
    double stored = fmax(pyro_real(app->numbers.storage_peak_bytes), usable / 2);
    double wanted = stored / fmax(1 - missed_share, 0.2) * 1.2 / fraction + reserved;
    return fmin(fmax(wanted, heap * 1.25), heap * pyro_limit(context, HEAP_TIMES));
}

static void report(struct pyro_rule_context *context, const struct pyro_cached_rdd *cached,
                   const struct eviction *found)
{
    static const char *const verify =
        "In the next run the Storage page shows 100 % cached, and later jobs take only as long as reading the cache.";
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_cache_eviction);
    if (!finding)
        return;
    const struct pyro_rdd *rdd = &app->rdds.items[cached->rdd];
    double missed = (double)cached->missed, looked = (double)cached->count, share = missed / fmax(looked, 1);
    bool on_disk = pyro_slice_find(rdd->level, "DISK");
    pyro_finding_at_stage(context, finding, found->stage);
    finding->cause =
        pyro_say(context,
                 "%s was persisted (%s), but %.0f of the %.0f tasks that looked for its partitions did not find them "
                 "and computed them again. This cost %s of task time, most of it in %s.",
                 rdd->name.len ? pyro_say_text(context, rdd->name, 80) : "An RDD",
                 rdd->level.ptr ? pyro_say_text(context, rdd->level, 40) : "in memory", missed, looked,
                 pyro_say_ms(context, found->lost_ms), pyro_say_stage(context, found->stage));
    pyro_finding_evidence(context, finding, "missed_tasks", missed, 0, "count");
    pyro_finding_evidence(context, finding, "missed_share", share, pyro_limit(context, MISSED_SHARE), "share");
    pyro_finding_evidence(context, finding, "lost_task_ms", found->lost_ms, 0, "ms");
    pyro_finding_evidence(context, finding, "storage_peak_bytes", pyro_real(app->numbers.storage_peak_bytes),
                          (double)NAN, "bytes");
    if (rdd->dropped_blocks > 0)
        pyro_finding_evidence(context, finding, "dropped_blocks", pyro_real(rdd->dropped_blocks), 0, "count");
    if (!on_disk) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Persist the data with MEMORY_AND_DISK: Spark then reads partitions that do not fit in memory "
                "from the local disk instead of computing them again."),
            verify);
        if (advice)
            advice->code =
                PYRO_SLICE_LITERAL("data.persist(StorageLevel.MEMORY_AND_DISK)   # cache() of an RDD uses MEMORY_ONLY");
    }
    struct pyro_slice size = pyro_say_memory(context, heap_for_all(context, share));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Or free storage memory: raise %s from %s to %s, cache fewer columns, and unpersist data that is no "
                 "longer read.",
                 pyro_app_heap_key(app), pyro_say_bytes(context, pyro_app_heap_bytes(app)), size.ptr ? size.ptr : ""),
        verify);
    pyro_advice_set(context, advice, pyro_app_heap_key(app), size);
    for (size_t i = 0; i < cached->count; i++)
        if (!cached->tasks[i].found)
            pyro_remedy_task(context, finding, cached->tasks[i].task, cached->tasks[i].found_ms);
    pyro_remedy_partly(finding, 0.7);
    finding->confidence *= looked > missed ? 0.9 : 0.75;
}

static bool judge(struct pyro_rule_context *context, const struct pyro_cached_rdd *rdd)
{
    struct eviction found = {0};
    double missed = (double)rdd->missed;
    sum_up(rdd, &found);
    if (missed < pyro_limit(context, MISSED_MIN) || missed < pyro_limit(context, MISSED_SHARE) * (double)rdd->count ||
        found.lost_ms < pyro_limit(context, SAVED_MIN_MS))
        return false;
    report(context, rdd, &found);
    return true;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_cached_blocks blocks;
    bool fires = false;
    if (!pyro_app_caches(context->app))
        return PYRO_VERDICT_NOT_APPLICABLE;
    if (!pyro_cached_blocks_find(context->app, pyro_limit(context, SAME_BYTES), context->scratch, &blocks)) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    for (size_t i = 0; i < blocks.count && !context->failed; i++)
        fires |= judge(context, &blocks.rdds[i]);
    return fires ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_cache_eviction = {
    .id = "cache-eviction",
    .category = "caching",
    .title = "Cache too small",
    .summary = "Cached partitions do not stay in memory, and tasks compute them again.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
