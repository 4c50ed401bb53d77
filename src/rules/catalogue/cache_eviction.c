/* cache-eviction: what was cached did not stay there, and tasks computed it again. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "base/numbers/order.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/lineage.h"
#include "rules/tasks/stage_tasks.h"

enum { MISSED_SHARE, MISSED_MIN, SAVED_MIN_MS, SAME_BYTES, HEAP_TIMES };
static const struct pyro_threshold thresholds[] = {
    {"missed_share", 0.05, "share", "minimum share of tasks that look for cached blocks and find none"},
    {"missed_min", 2, "count", "minimum number of such tasks"},
    {"saved_ms_min", 2000, "ms", "minimum task time that these tasks lose together"},
    {"same_bytes", 0.02, "share", "how much the bytes of two reads of the same file may differ"},
    {"heap_times", 4, "ratio", "maximum heap that is recommended, as a multiple of the current heap"},
};

struct miss {
    size_t task;
    double ms; /* what it takes when it finds its block */
};

struct eviction {
    size_t stage; /* the one that lost most */
    double looked, missed, lost_ms, worst_ms;
    PYRO_VEC(struct miss) misses;
};

/* Bytes that the stage which made the cache read for each partition; -1: it did not make that one. To be released.
 * `tasks` of its stages: an RDD of many more partitions is damage. */
static int64_t *built_bytes(struct pyro_rule_context *context, const struct pyro_rdd *rdd, int64_t tasks)
{
    if (rdd->partitions <= 0 || rdd->partitions / 4 > tasks)
        return NULL;
    int64_t *bytes = pyro_allocate(context->arena->allocator, (size_t)rdd->partitions * sizeof(*bytes));
    context->failed |= !bytes;
    for (int64_t i = 0; bytes && i < rdd->partitions; i++)
        bytes[i] = -1;
    return bytes;
}

static bool succeeded(const struct pyro_app *app, size_t task)
{
    return pyro_task_get(&app->tasks, PYRO_TASK_status, task) == PYRO_TASK_SUCCESS;
}

static int64_t partition_of(const struct pyro_app *app, size_t task)
{
    int64_t partition = pyro_task_get(&app->tasks, PYRO_TASK_partition, task);
    return partition != PYRO_NONE ? partition : pyro_task_get(&app->tasks, PYRO_TASK_index, task);
}

static void note_built(const struct pyro_app *app, const struct pyro_stage *stage, int64_t partitions, int64_t *bytes)
{
    for (size_t i = 0; i < (size_t)stage->tasks; i++) {
        size_t task = app->tasks_by_stage[stage->first_task + i];
        int64_t partition = partition_of(app, task), read = pyro_task_get(&app->tasks, PYRO_TASK_input_bytes, task);
        if (partition >= 0 && partition < partitions && bytes[partition] < 0 && succeeded(app, task))
            bytes[partition] = read > 0 ? read : 0;
    }
}

static double duration(const struct pyro_app *app, size_t task)
{
    return pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, task),
                     pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, task));
}

/* A task that finds its block reads that many bytes from the cache; one that does not reads nothing, or the same file
 * as the task that made the block. */
static bool is_miss(struct pyro_rule_context *context, int64_t read, int64_t built)
{
    double change = fabs(pyro_real(read) - (double)built);
    return read <= 0 || (built > 0 && change <= pyro_limit(context, SAME_BYTES) * (double)built);
}

/* Tasks of a stage that looks for `rdd`; those that found nothing go to `found`. */
static void look(struct pyro_rule_context *context, size_t stage_row, int64_t partitions, const int64_t *bytes,
                 struct eviction *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[stage_row];
    double *hits = pyro_arena_array(context->arena, (size_t)stage->tasks + 1, sizeof(*hits)), lost = 0;
    size_t hit_count = 0, first = found->misses.count;
    if (!hits) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < (size_t)stage->tasks; i++) {
        size_t task = app->tasks_by_stage[stage->first_task + i];
        int64_t partition = partition_of(app, task);
        if (!succeeded(app, task) || partition < 0 || partition >= partitions || bytes[partition] < 0 ||
            pyro_task_get(&app->tasks, PYRO_TASK_has_metrics, task) != 1)
            continue;
        found->looked++;
        if (!is_miss(context, pyro_task_get(&app->tasks, PYRO_TASK_input_bytes, task), bytes[partition])) {
            hits[hit_count++] = duration(app, task);
            continue;
        }
        struct miss *miss = pyro_vec_push(&found->misses, context->arena->allocator);
        if (!miss) {
            context->failed = true;
            return;
        }
        *miss = (struct miss){.task = task};
    }
    bool known = hit_count >= 2;
    double usual = pyro_median(hits, hit_count);
    for (size_t i = first; i < found->misses.count; i++) {
        struct miss *miss = &found->misses.items[i];
        double now = duration(app, miss->task);
        miss->ms = fmin(now, known ? usual : 0.3 * now);
        lost += now - miss->ms;
    }
    found->missed += (double)(found->misses.count - first);
    found->lost_ms += lost;
    if (lost > found->worst_ms) {
        found->worst_ms = lost;
        found->stage = stage_row;
    }
}

/* An executor that ends takes its blocks with it: the reason is not a lack of memory. */
static bool lost_executor(const struct pyro_app *app, const struct pyro_stage *stage)
{
    for (size_t i = 0; i < app->executors.count; i++)
        if (app->executors.items[i].removed_ms != PYRO_NONE && app->executors.items[i].removed_ms < stage->completed_ms)
            return true;
    return false;
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

static void report(struct pyro_rule_context *context, const struct pyro_rdd *rdd, const struct eviction *found)
{
    static const char *const verify =
        "In the next run the Storage page shows 100 % cached, and later jobs take only as long as reading the cache.";
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_cache_eviction);
    if (!finding)
        return;
    double share = found->missed / fmax(found->looked, 1);
    bool on_disk = pyro_slice_find(rdd->level, "DISK");
    pyro_finding_at_stage(context, finding, found->stage);
    finding->cause =
        pyro_say(context,
                 "%s was persisted (%s), but %.0f of the %.0f tasks that looked for its partitions did not find them "
                 "and computed them again. This cost %s of task time, most of it in %s.",
                 rdd->name.len ? pyro_say_text(context, rdd->name, 80) : "An RDD",
                 rdd->level.ptr ? pyro_say_text(context, rdd->level, 40) : "in memory", found->missed, found->looked,
                 pyro_say_ms(context, found->lost_ms), pyro_say_stage(context, found->stage));
    pyro_finding_evidence(context, finding, "missed_tasks", found->missed, 0, "count");
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
    pyro_advice_prevents(advice, "cached blocks that do not fit"); /* what they then cost, no model of settings knows */
    for (size_t i = 0; i < found->misses.count; i++)
        pyro_remedy_task(context, finding, found->misses.items[i].task, found->misses.items[i].ms);
    pyro_remedy_partly(finding, 0.7);
    finding->confidence *= found->looked > found->missed ? 0.9 : 0.75;
}

/* `uses`: all of one persisted RDD, in the order of stages. */
static bool judge(struct pyro_rule_context *context, const struct pyro_rdd_use *uses, size_t count)
{
    const struct pyro_app *app = context->app;
    const struct pyro_rdd *rdd = &app->rdds.items[uses[0].rdd];
    struct eviction found = {0};
    bool fires = false;
    int64_t tasks = 0;
    for (size_t i = 0; i < count; i++)
        tasks += app->stages.items[uses[i].stage].tasks;
    int64_t *bytes = built_bytes(context, rdd, tasks);
    for (size_t i = 0; i < count && bytes && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[uses[i].stage];
        if (stage->partitions != rdd->partitions)
            continue;
        if (uses[i].kind == PYRO_RDD_READ && !lost_executor(app, stage))
            look(context, uses[i].stage, rdd->partitions, bytes, &found);
        note_built(app, stage, rdd->partitions, bytes);
    }
    if (bytes && !context->failed)
        fires = found.missed >= pyro_limit(context, MISSED_MIN) &&
                found.missed >= pyro_limit(context, MISSED_SHARE) * found.looked &&
                found.lost_ms >= pyro_limit(context, SAVED_MIN_MS);
    if (fires)
        report(context, rdd, &found);
    pyro_vec_done(&found.misses, context->arena->allocator);
    pyro_release(context->arena->allocator, bytes);
    return fires;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_lineage lineage;
    size_t count = 0;
    bool any = false, fires = false;
    for (size_t i = 0; i < context->app->rdds.count; i++)
        any |= context->app->rdds.items[i].cached == 1;
    if (!any || !pyro_lineage_load(context, &lineage))
        return PYRO_VERDICT_NOT_APPLICABLE;
    for (size_t s = 0; s < context->app->stages.count; s++) {
        /* Bytes of a stage that looks for two cached RDDs cannot be divided between them. */
        size_t from = lineage.first[s], to = lineage.first[s + 1], cached = 0;
        for (size_t i = from; i < to; i++)
            cached += lineage.uses[i].kind != PYRO_RDD_COMPUTED;
        for (size_t i = from; i < to && cached == 1; i++)
            if (lineage.uses[i].kind != PYRO_RDD_COMPUTED)
                lineage.uses[count++] = lineage.uses[i];
    }
    if (count > 1)
        qsort(lineage.uses, count, sizeof(*lineage.uses), pyro_rdd_use_order);
    for (size_t from = 0, to; from < count && !context->failed; from = to) {
        for (to = from; to < count && lineage.uses[to].rdd == lineage.uses[from].rdd; to++)
            ;
        fires |= judge(context, lineage.uses + from, to - from);
    }
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
