/* missing-cache: several jobs compute the same thing again because it was not kept. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/numbers/order.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/plan_repeats.h"
#include "rules/plans/plans.h"
#include "rules/tasks/stage_tasks.h"

enum { FINDINGS_MAX = 8 };

enum {
    TIMES_FUSED,
    SIMILAR,
    SHARED,
    SHARED_FUSED,
    SHARED_PLAN,
    SHARED_SCAN,
    READ_SHARE,
    BUILD_SHARE,
    SAVED_MIN_MS,
    SAVED_SHARE
};
static const struct pyro_threshold thresholds[] = {
    {"times_fused", 3, "count",
     "minimum number of stages that repeat Python functions over one source, because these functions have no RDD of "
     "their own"},
    {"similar", 0.6, "ratio",
     "minimum ratio of the shortest such stage to the median one, so that the shared work is most of each"},
    {"shared", 0.8, "share",
     "share of the shortest stage's work that counts as shared if stages have an RDD in common"},
    {"shared_fused", 0.5, "share", "the same if Python functions hide what is shared"},
    {"shared_plan", 0.5, "share",
     "the same if SQL executions have operators of one stage in common: joins, aggregates"},
    {"shared_scan", 0.3, "share", "the same if these operators only read, filter and project"},
    {"read_share", 0.1, "share", "cost of reading the cache, as a share of the shared work"},
    {"build_share", 0.15, "share", "one-time cost of filling the cache, as a share of the shared work"},
    {"saved_ms_min", 3000, "ms", "quiet if the saving in wall time, with all slots busy, is smaller"},
    {"saved_share", 0.01, "share", "... or a smaller share of the wall time"},
};

/* ---- RDDs ---- */

struct group {
    size_t from, to; /* uses of one RDD, one a stage, in the order of stages */
    double saved;    /* task ms */
    double per_stage;
    bool fused;
};

/* Sorting samples its input in a job of its own, by design. */
static bool is_sampling(const struct pyro_stage *stage)
{
    return pyro_slice_starts_with(stage->name, "sortBy") || pyro_slice_starts_with(stage->name, "repartitionByRange");
}

/* What is made from cached data is taken for cheap: the costly step is in the cache. */
static bool reads_cache(const struct pyro_lineage *lineage, size_t stage)
{
    for (size_t i = lineage->first[stage]; i < lineage->first[stage + 1]; i++)
        if (lineage->uses[i].kind == PYRO_RDD_READ)
            return true;
    return false;
}

static bool counts(const struct pyro_rule_context *context, const struct pyro_lineage *lineage, size_t stage)
{
    return !is_sampling(&context->app->stages.items[stage]) && !reads_cache(lineage, stage);
}

/* The RDD's Python functions are run in one with those of its reader: RDDs in between do not show. */
static bool has_python(const struct pyro_rule_context *context, const struct pyro_lineage *lineage, size_t stage)
{
    for (size_t i = lineage->first[stage]; i < lineage->first[stage + 1]; i++)
        if (pyro_slice_is(context->app->rdds.items[lineage->uses[i].rdd].name, "PythonRDD"))
            return true;
    return false;
}

/* The newest RDD of each stage that other stages compute too: one use a stage, sorted by RDD. */
static size_t shared_uses(struct pyro_rule_context *context, const struct pyro_lineage *lineage,
                          struct pyro_rdd_use *shared)
{
    const struct pyro_app *app = context->app;
    uint32_t *stages = pyro_arena_array(context->arena, app->rdds.count + 1, sizeof(*stages));
    size_t count = 0;
    if (!stages) {
        context->failed = true;
        return 0;
    }
    memset(stages, 0, app->rdds.count * sizeof(*stages));
    for (size_t s = 0; s < app->stages.count; s++)
        for (size_t i = lineage->first[s]; i < lineage->first[s + 1] && counts(context, lineage, s); i++)
            stages[lineage->uses[i].rdd] += lineage->uses[i].kind == PYRO_RDD_COMPUTED;
    for (size_t s = 0; s < app->stages.count; s++) {
        const struct pyro_rdd_use *best = NULL;
        for (size_t i = lineage->first[s]; i < lineage->first[s + 1] && counts(context, lineage, s); i++) {
            const struct pyro_rdd_use *use = &lineage->uses[i];
            if (use->kind == PYRO_RDD_COMPUTED && stages[use->rdd] > 1 &&
                (!best || app->rdds.items[use->rdd].id > app->rdds.items[best->rdd].id))
                best = use;
        }
        if (best)
            shared[count++] = *best;
    }
    if (count > 1)
        qsort(shared, count, sizeof(*shared), pyro_rdd_use_order);
    return count;
}

static double work_of(const struct pyro_app *app, const struct pyro_rdd_use *use)
{
    return pyro_real(app->stages.items[use->stage].task_ms);
}

/* What computing the RDD once would save of the stages of a group. */
static bool measure(struct pyro_rule_context *context, const struct pyro_lineage *lineage,
                    const struct pyro_rdd_use *uses, struct group *group)
{
    const struct pyro_app *app = context->app;
    size_t count = group->to - group->from;
    double *work = pyro_arena_array(context->arena, count + 1, sizeof(*work)), least = INFINITY;
    bool python = true, same_query = true;
    if (!work)
        return !(context->failed = true);
    for (size_t i = 0; i < count; i++) {
        const struct pyro_rdd_use *use = &uses[group->from + i];
        const struct pyro_stage *stage = &app->stages.items[use->stage];
        const struct pyro_stage *first = &app->stages.items[uses[group->from].stage];
        work[i] = work_of(app, use);
        least = fmin(least, work[i]);
        python &= has_python(context, lineage, use->stage);
        same_query &= stage->sql != PYRO_NONE ? stage->sql == first->sql : stage->job == first->job;
    }
    group->fused = pyro_rdd_is_source(&app->rdds.items[uses[group->from].rdd]);
    if (count < 2 || same_query)
        return false;
    if (group->fused && (!python || (double)count < pyro_limit(context, TIMES_FUSED) ||
                         least < pyro_limit(context, SIMILAR) * pyro_median(work, count)))
        return false;
    double shared = least * pyro_limit(context, group->fused ? SHARED_FUSED : SHARED);
    group->per_stage = fmax(
        0, shared * (1 - pyro_limit(context, READ_SHARE) - pyro_limit(context, BUILD_SHARE) / (double)(count - 1)));
    group->saved = group->per_stage * (double)(count - 1);
    return true;
}

static bool is_worth(const struct pyro_rule_context *context, double task_ms)
{
    double slots = pyro_app_peak_slots(context->app);
    double wall = task_ms / slots;
    return wall >= pyro_limit(context, SAVED_MIN_MS) &&
           wall >= pyro_limit(context, SAVED_SHARE) * pyro_app_judged_wall(context->app);
}

/* How many partitions the shared part ended in, where adaptive execution had coalesced them; 0: it had not. */
static double coalesced_partitions(const struct pyro_app *app, const struct pyro_plan_repeat *repeat)
{
    double most = 0;
    for (size_t i = 0; i < repeat->part_count; i++) {
        const struct pyro_stage *stage = &app->stages.items[repeat->parts[i].stage];
        if (pyro_real(stage->shuffle_read_bytes) > 0 && pyro_stage_was_coalesced(app, stage))
            most = fmax(most, fmax(pyro_real(stage->partitions), pyro_stage_slots(app, stage)));
    }
    return most > 0 && 2 * most <= pyro_sql_shuffle_partitions(app, PYRO_NONE) ? ceil(most) : 0;
}

static const char *const verify_text = "In the next run the Storage page lists the cached data, later jobs show it as "
                                       "a green dot in their DAG, and their stages are shorter.";

/* Adaptive execution leaves the partitions of cached data as they are configured: many tiny ones where it coalesced
 * them without the cache, and each stage that reads it has a task for each. `partitions`: what it coalesced them to; 0:
 * it did not. */
static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const char *what, double times,
                   bool sql, double partitions)
{
    const char *more = "", *coalesce = "";
    if (partitions > 0) {
        more = pyro_say(context,
                        " Coalesce it to about %.0f partitions first: cached data keeps the %.0f partitions that are "
                        "configured, because adaptive execution does not coalesce them.",
                        partitions, pyro_sql_shuffle_partitions(context->app, PYRO_NONE))
                   .ptr;
        coalesce = pyro_say(context, ".coalesce(%.0f)", partitions).ptr;
    }
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "Persist %s before its first use and unpersist it after the last: it is used %.0f times.%s",
                 what, times, more),
        verify_text);
    if (advice)
        advice->code = sql ? pyro_say(context,
                                      "base = orders.join(items, \"id\")%s.persist()  # up to the shared operators\n"
                                      "first(base); second(base); third(base)\nbase.unpersist()",
                                      coalesce)
                           : PYRO_SLICE_LITERAL("base = source.map(parse).persist(StorageLevel.MEMORY_AND_DISK)\n"
                                                "first(base); second(base); third(base)\nbase.unpersist()");
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("If it is far larger than the memory of the executors, write it to Parquet "
                                           "once and read the Parquet files."),
                        verify_text);
}

static void report_rdd(struct pyro_rule_context *context, const struct pyro_rdd_use *uses, const struct group *group)
{
    const struct pyro_app *app = context->app;
    const struct pyro_rdd *rdd = &app->rdds.items[uses[group->from].rdd];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_missing_cache);
    size_t count = group->to - group->from;
    if (!finding)
        return;
    pyro_finding_at_stage(context, finding, uses[group->from + 1].stage);
    const char *name =
        pyro_say(context, "%s%s%s", pyro_say_text(context, rdd->operation.len ? rdd->operation : rdd->name, 60),
                 rdd->call_site.len ? " at " : "", pyro_say_text(context, rdd->call_site, 100))
            .ptr;
    finding->cause = pyro_say(context,
                              "%.0f stages computed %s%s (RDD %lld) from its source, because it was not persisted. "
                              "This took %s of task time each, first in %s.",
                              (double)count, group->fused ? "the same Python functions over " : "",
                              name ? name : "an RDD", (long long)rdd->id, pyro_say_ms(context, group->per_stage),
                              pyro_say_stage(context, uses[group->from].stage));
    pyro_finding_evidence(context, finding, "times_computed", (double)count, 1, "count");
    pyro_finding_evidence(context, finding, "shared_task_ms", group->per_stage, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "repeated_task_ms", group->saved, 0, "ms");
    advise(context, finding, group->fused ? "the RDD behind the last of these functions" : "this RDD", (double)count,
           false, 0);
    for (size_t i = group->from + 1; i < group->to; i++)
        pyro_remedy_stage(context, finding, uses[i].stage, 1 - group->per_stage / fmax(work_of(app, &uses[i]), 1));
    if (group->fused)
        pyro_remedy_partly(finding, 0.8);
    else
        pyro_remedy_partly(finding, 0.9);
    finding->confidence *= group->fused ? 0.7 : 0.9;
}

static int by_saving(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->saved < b->saved || a->saved > b->saved)
        return a->saved > b->saved ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static bool judge_rdds(struct pyro_rule_context *context)
{
    struct pyro_lineage lineage;
    PYRO_VEC(struct group) groups = {0};
    size_t reported = 0;
    if (context->app->rdds.count == 0 || !pyro_rule_lineage(context, &lineage))
        return false;
    struct pyro_rdd_use *uses = pyro_arena_array(context->arena, context->app->stages.count + 1, sizeof(*uses));
    context->failed |= !uses;
    size_t count = uses ? shared_uses(context, &lineage, uses) : 0;
    for (size_t from = 0, to; from < count && !context->failed; from = to) {
        for (to = from; to < count && uses[to].rdd == uses[from].rdd; to++)
            ;
        struct group group = {.from = from, .to = to};
        if (!measure(context, &lineage, uses, &group) || !is_worth(context, group.saved))
            continue;
        struct group *place = pyro_vec_push(&groups, context->arena->allocator);
        if (place)
            *place = group;
        context->failed |= !place;
    }
    if (groups.count > 1)
        qsort(groups.items, groups.count, sizeof(*groups.items), by_saving);
    for (; reported < groups.count && reported < FINDINGS_MAX && !context->failed; reported++)
        report_rdd(context, uses, &groups.items[reported]);
    pyro_vec_done(&groups, context->arena->allocator);
    return reported > 0;
}

/* ---- SQL ---- */

static void report_sql(struct pyro_rule_context *context, const struct pyro_plan_repeat *repeat)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_missing_cache);
    if (!finding)
        return;
    const struct pyro_sql_node *node = &app->sql_nodes.items[repeat->node];
    const struct pyro_sql_execution *first = &app->sql.items[repeat->first_sql];
    if (repeat->stage >= 0)
        pyro_finding_at_stage(context, finding, (size_t)repeat->stage);
    const char *what = repeat->exact ? "the same operators with the same filters and columns"
                                     : "the same operators over the same tables";
    finding->cause = pyro_say(context,
                              "%.0f SQL executions ran %s up to %s, and nothing was persisted. This took %s of task "
                              "time again, after SQL execution %lld did it first.",
                              (double)repeat->times, what, pyro_say_text(context, node->name, 60),
                              pyro_say_ms(context, repeat->saved), (long long)first->id);
    pyro_finding_evidence(context, finding, "times_computed", (double)repeat->times, 1, "count");
    pyro_finding_evidence(context, finding, "repeated_task_ms", repeat->saved, 0, "ms");
    pyro_finding_evidence(context, finding, "operators", (double)repeat->operators, (double)NAN, "count");
    advise(context, finding, "the DataFrame that these SQL executions start from", (double)repeat->times, true,
           coalesced_partitions(app, repeat));
    for (size_t i = 0; i < repeat->part_count; i++) {
        if (repeat->parts[i].factor <= 0)
            pyro_remedy_skip(context, finding, repeat->parts[i].stage);
        else
            pyro_remedy_stage(context, finding, repeat->parts[i].stage, repeat->parts[i].factor);
    }
    /* Filling the cache takes its time once. */
    double cost = pyro_limit(context, BUILD_SHARE) / (double)(repeat->times - 1);
    if (repeat->exact)
        pyro_remedy_partly(finding, 0.9 - cost);
    else
        pyro_remedy_partly(finding, 0.7 - cost);
    finding->confidence *= repeat->exact ? 0.85 : 0.7;
}

static bool judge_sql(struct pyro_rule_context *context)
{
    struct pyro_plan_repeats repeats;
    size_t reported = 0;
    double rest = 1 - pyro_limit(context, READ_SHARE);
    if (context->app->sql_nodes.count == 0 ||
        !pyro_plan_repeats_load(context, pyro_limit(context, SHARED_PLAN) * rest,
                                pyro_limit(context, SHARED_SCAN) * rest, &repeats))
        return false;
    for (size_t i = 0; i < repeats.count && reported < FINDINGS_MAX && !context->failed; i++) {
        if (!is_worth(context, repeats.items[i].saved))
            continue;
        report_sql(context, &repeats.items[i]);
        reported++;
    }
    return reported > 0;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    /* Each micro-batch runs the same plan over other rows; at a prompt it is not known what will be asked next. */
    if (app->jobs.count < 2 || pyro_app_is_streaming(app) || pyro_app_is_interactive(app))
        return PYRO_VERDICT_NOT_APPLICABLE;
    bool rdds = judge_rdds(context);
    bool sql = judge_sql(context);
    return rdds || sql ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_missing_cache = {
    .id = "missing-cache",
    .category = "caching",
    .title = "Repeated computation",
    .summary = "Several jobs compute the same data because it is not persisted.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
