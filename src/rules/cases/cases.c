#include "rules/cases/cases.h"

#include "rules/timing/activity.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/cases/affected.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/stable_id.h"

enum { SITES_MAX = 256, NEARBY = 64 };

struct pyro_case *pyro_cases_add(struct pyro_rule_context *context, struct pyro_cases *cases, size_t stage_row)
{
    struct pyro_case *found = pyro_vec_push(&cases->list, context->arena->allocator);
    if (!found) {
        context->failed = true;
        return NULL;
    }
    found->stage = stage_row;
    return found;
}

static int by_saving(const void *left, const void *right)
{
    const struct pyro_case *a = left, *b = right;
    if (a->expected > b->expected || a->expected < b->expected)
        return a->expected > b->expected ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

/* Edits are gathered in a finding that is never reported, so that the functions of remedy.h serve cases as well. */
struct pyro_case_remedy {
    struct pyro_finding draft;
    struct pyro_case_remedy *next;
};

struct pyro_finding *pyro_case_remedy(struct pyro_rule_context *context, struct pyro_case *found)
{
    if (!found->remedies)
        found->remedies = pyro_arena_alloc(context->arena, sizeof(*found->remedies));
    context->failed |= !found->remedies;
    return found->remedies ? &found->remedies->draft : NULL;
}

static void join_remedies(struct pyro_case *into, struct pyro_case_remedy *more)
{
    if (!more)
        return;
    more->next = into->remedies;
    into->remedies = more;
}

void pyro_case_take_remedies(struct pyro_rule_context *context, struct pyro_finding *finding,
                             const struct pyro_case *found)
{
    for (const struct pyro_case_remedy *one = found->remedies; one; one = one->next)
        pyro_remedy_take(context, finding, one->draft.edits, one->draft.edit_count);
}

void pyro_case_take_stages(struct pyro_rule_context *context, struct pyro_finding *finding,
                           const struct pyro_case *found)
{
    pyro_finding_merged(context, finding, "stages", found->merged);
    for (const struct pyro_case_stage *one = found->stages; one; one = one->next)
        pyro_affected_add(context, finding, one->row);
}

void pyro_cases_merge(struct pyro_rule_context *context, struct pyro_cases *cases)
{
    struct pyro_case *items = cases->list.items;
    size_t kept = 0, count = cases->list.count;
    if (count == 0)
        return;
    qsort(items, count, sizeof(*items), by_saving);
    struct pyro_slice *sites = pyro_arena_array(context->arena, count, sizeof(*sites));
    struct pyro_case_stage *stages = pyro_arena_array(context->arena, count, sizeof(*stages));
    if (!sites || !stages) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct pyro_slice site = pyro_stage_site(context, items[i].stage);
        size_t same = 0;
        while (same < kept && !pyro_slice_eq(sites[same], site))
            same++;
        struct pyro_case one = items[i];
        if (same == SITES_MAX)
            continue; /* the cases come with the largest savings first: what is left is small */
        if (same == kept) {
            sites[kept] = site;
            one.merged = 0;
            one.stages = NULL;
            one.sum_low = one.sum_expected = one.sum_high = 0;
            items[kept++] = one;
        } else {
            join_remedies(&items[same], one.remedies);
        }
        stages[i] = (struct pyro_case_stage){one.stage, items[same].stages};
        items[same].stages = &stages[i];
        items[same].merged++;
        items[same].sum_low += one.low;
        items[same].sum_expected += one.expected;
        items[same].sum_high += one.high;
    }
    cases->list.count = kept;
}

void pyro_cases_report(struct pyro_rule_context *context, struct pyro_cases *cases, double least,
                       void (*report)(struct pyro_rule_context *context, const struct pyro_case *found))
{
    pyro_cases_merge(context, cases);
    for (size_t i = 0; i < cases->list.count && !context->failed; i++)
        if (cases->list.items[i].sum_expected >= least)
            report(context, &cases->list.items[i]);
    pyro_cases_done(context, cases);
}

void pyro_cases_done(struct pyro_rule_context *context, struct pyro_cases *cases)
{
    pyro_vec_done(&cases->list, context->arena->allocator);
}

/* Ids ascend except events that overtook each other: a binary search, then a look around where it ended. */
#define FIND_ROW(name, vec)                                                                                            \
    static ptrdiff_t name(const struct pyro_app *app, int64_t id)                                                      \
    {                                                                                                                  \
        size_t low = 0, high = app->vec.count;                                                                         \
        while (low < high) {                                                                                           \
            size_t middle = low + (high - low) / 2;                                                                    \
            if (app->vec.items[middle].id < id)                                                                        \
                low = middle + 1;                                                                                      \
            else                                                                                                       \
                high = middle;                                                                                         \
        }                                                                                                              \
        size_t end = app->vec.count - low > NEARBY ? low + NEARBY : app->vec.count;                                    \
        for (size_t i = low > NEARBY ? low - NEARBY : 0; i < end; i++)                                                 \
            if (app->vec.items[i].id == id)                                                                            \
                return (ptrdiff_t)i;                                                                                   \
        return -1;                                                                                                     \
    }
FIND_ROW(find_sql, sql)
FIND_ROW(find_job, jobs)

struct pyro_slice pyro_stage_site(struct pyro_rule_context *context, size_t stage_row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[stage_row];
    struct pyro_slice site = stage->call_site.ptr ? stage->call_site : stage->name;
    bool own = site.len > 0 && !pyro_slice_find(site, "NativeMethodAccessorImpl") &&
               !pyro_slice_find(site, "<unknown>") && !pyro_slice_find(site, "ThreadPoolExecutor") &&
               !pyro_slice_find(site, "$anonfun$");
    struct pyro_slice more = PYRO_SLICE_NULL;
    if (!own) {
        ptrdiff_t sql = stage->sql == PYRO_NONE ? -1 : find_sql(app, stage->sql);
        ptrdiff_t job = stage->job == PYRO_NONE ? -1 : find_job(app, stage->job);
        if (sql >= 0)
            more = app->sql.items[sql].call_site.len ? app->sql.items[sql].call_site : app->sql.items[sql].description;
        if (job >= 0 && more.len == 0)
            more = app->jobs.items[job].description;
    }
    struct pyro_slice whole = pyro_say(context, "%s | %s", pyro_say_text(context, site, 200),
                                       own || pyro_slice_eq(more, site) ? "" : pyro_say_text(context, more, 200));
    /* Normalized as ids are: batches of a stream differ in their numbers only. */
    struct pyro_slice place = pyro_stable_place(context->arena, whole);
    context->failed |= !place.ptr;
    return place;
}

double pyro_alone_ms(struct pyro_rule_context *context, size_t stage_row, double from, double to)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[stage_row];
    /* While it runs itself it is the one; before and behind, nothing may run. */
    return pyro_activity_one(context->activity, fmax(from, pyro_stage_from(stage)),
                             fmin(to, pyro_stage_to(app, stage))) +
           pyro_activity_none(context->activity, from, to);
}

void pyro_case_saves(struct pyro_rule_context *context, struct pyro_case *found, double from, double to, double sure)
{
    double all = fmax(0, to - from);
    double alone = pyro_alone_ms(context, found->stage, from, to);
    found->high = all;
    found->expected = (alone + (all - alone) / 3) * sure;
    found->low = alone * sure / 2;
}
