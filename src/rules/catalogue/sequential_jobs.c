/* sequential-jobs: a loop runs jobs one after the other although most slots are empty. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/stable_id.h"

enum { REPEATS, GAP_MS, BUSY, SITES, SAVING_MS, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [REPEATS] = {"repeats_min", 6, "count",
                 "Minimum number of sequential jobs at the same call site: a loop, not a few steps"},
    [GAP_MS] = {"gap_ms_max", 5000, "ms", "Maximum time between the end of one job and the start of the next"},
    [BUSY] = {"busy_share_max", 0.5, "share",
              "Maximum used share of the core time while they ran: most slots are idle"},
    [SITES] = {"sites_max", 4, "count", "Maximum number of call sites in the loop; more are a program, not a loop"},
    [SAVING_MS] = {"saving_ms_min", 2000, "ms", "Quiet if the saving in wall time is smaller"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "... or a smaller share of the wall time"},
};

/* Filling the slots from threads works out this well; a loop over cached data may need each step for the next. */
#define FILL            0.85
#define SURE            0.6
#define SURE_ITERATIVE  0.25
#define OVERLAP_MS      50.0
#define DIFFERENT_SITES 16

/* A job, or all jobs of one SQL execution. */
struct unit {
    double begin, end, work;
    int64_t sql, job;
    struct pyro_slice site;
    size_t kind; /* number of the site */
    bool iterates;
};

struct chain {
    size_t lead;     /* unit of its site that comes first */
    double from, to; /* where it lies */
    double count, ms, work_ms, slots, saved_ms;
    size_t merged;
};

static int by_begin(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;
    if (a->begin < b->begin || a->begin > b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

static int by_execution(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;
    if (a->sql != b->sql)
        return a->sql < b->sql ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

static int by_site(const void *left, const void *right)
{
    const struct unit *a = *(const struct unit *const *)left, *b = *(const struct unit *const *)right;
    int order = pyro_slice_compare(a->site, b->site);
    return order ? order : (a > b) - (a < b);
}

/* Actions of Spark's own iterative algorithms: each step needs the one before. */
static bool is_algorithm(struct pyro_slice site)
{
    static const char *const names[] = {"treeAggregate", "treeReduce", "collectAsMap",   "LossFunction",
                                        "mllib",         "KMeans",     "GaussianMixture"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (pyro_slice_find(site, names[i]))
            return true;
    return false;
}

static struct pyro_slice site_of(struct pyro_rule_context *context, const struct pyro_job *job)
{
    const struct pyro_app *app = context->app;
    ptrdiff_t sql = job->sql == PYRO_NONE ? -1 : pyro_app_find_sql(app, job->sql);
    struct pyro_slice site = job->name;
    if (sql >= 0 && app->sql.items[sql].call_site.len > 0)
        site = app->sql.items[sql].call_site;
    struct pyro_slice place = pyro_stable_place(context->arena, site.len ? site : job->description);
    context->failed |= !place.ptr;
    return place;
}

/* Units in order of their begin; NULL when there is no memory. */
static struct unit *load_units(struct pyro_rule_context *context, size_t *ret)
{
    const struct pyro_app *app = context->app;
    struct unit *units = pyro_arena_array(context->arena, app->jobs.count + 1, sizeof(*units));
    struct unit **order = pyro_arena_array(context->arena, app->jobs.count + 1, sizeof(struct unit *));
    size_t count = 0, kept = 0;
    context->failed |= !units || !order;
    for (size_t i = 0; i < app->jobs.count && !context->failed; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        if (job->submitted_ms == PYRO_NONE || job->completed_ms == PYRO_NONE || job->unstarted)
            continue;
        struct pyro_slice site = site_of(context, job);
        units[count++] = (struct unit){.begin = (double)job->submitted_ms,
                                       .end = fmax((double)job->completed_ms, (double)job->submitted_ms),
                                       .work = pyro_real(job->run_ms),
                                       .sql = job->sql,
                                       .job = job->id,
                                       .site = site,
                                       .iterates = is_algorithm(site) || is_algorithm(job->name)};
    }
    if (context->failed || count == 0)
        return NULL;
    qsort(units, count, sizeof(*units), by_execution);
    for (size_t i = 0; i < count; i++) {
        struct unit *last = kept ? &units[kept - 1] : NULL;
        if (!last || units[i].sql == PYRO_NONE || last->sql != units[i].sql) {
            units[kept++] = units[i];
            continue;
        }
        last->begin = fmin(last->begin, units[i].begin);
        last->end = fmax(last->end, units[i].end);
        last->work += units[i].work;
    }
    qsort(units, kept, sizeof(*units), by_begin);
    for (size_t i = 0; i < kept; i++)
        order[i] = &units[i];
    qsort(order, kept, sizeof(*order), by_site);
    for (size_t i = 1; i < kept; i++)
        order[i]->kind = order[i - 1]->kind + !pyro_slice_eq(order[i]->site, order[i - 1]->site);
    *ret = kept;
    return units;
}

/* Judges the loop in units [first, last), which ran one after the other. */
static bool find_loop(struct pyro_rule_context *context, const struct unit *units, size_t first, size_t last,
                      struct chain *ret)
{
    struct {
        size_t kind, unit;
        double count, ms;
    } sites[DIFFERENT_SITES];
    size_t known = 0, loops = 0;
    for (size_t i = first; i < last; i++) {
        size_t k = 0;
        while (k < known && sites[k].kind != units[i].kind)
            k++;
        if (k == DIFFERENT_SITES)
            return false;
        if (k == known) {
            sites[known].kind = units[i].kind;
            sites[known].unit = i;
            sites[known].count = sites[known].ms = 0;
            known++;
        }
        sites[k].count++;
        sites[k].ms += units[i].end - units[i].begin;
    }
    size_t lead = known;
    double least = pyro_limit(context, REPEATS);
    for (size_t k = 0; k < known; k++) {
        if (sites[k].count < least)
            continue;
        loops++;
        if (lead == known || sites[k].ms > sites[lead].ms)
            lead = k;
    }
    if (loops == 0 || (double)loops > pyro_limit(context, SITES))
        return false;
    struct chain chain = {.lead = sites[lead].unit, .count = sites[lead].count, .merged = 1};
    double longest = 0;
    for (size_t i = first; i < last; i++) {
        size_t k = 0;
        while (sites[k].kind != units[i].kind)
            k++;
        if (sites[k].count < least)
            continue;
        chain.from = chain.ms > 0 ? chain.from : units[i].begin;
        chain.to = units[i].end;
        chain.ms += units[i].end - units[i].begin;
        chain.work_ms += units[i].work;
        longest = fmax(longest, units[i].end - units[i].begin);
    }
    chain.slots = fmax(1, pyro_slots_between(context->app, NULL, pyro_whole(chain.from), pyro_whole(chain.to)));
    if (chain.ms <= 0 || chain.work_ms > pyro_limit(context, BUSY) * chain.slots * chain.ms)
        return false;
    /* The same work on full slots, but one round of the loop takes what it takes. */
    double round = fmax(longest, chain.ms / chain.count);
    chain.saved_ms = chain.ms - fmax(chain.work_ms / chain.slots / FILL, round);
    *ret = chain;
    return chain.saved_ms > 0;
}

/* Data that most rounds of the loop read from the cache: perhaps each round needs the result of the last. */
static bool shares_cache(const struct pyro_app *app, double rounds)
{
    for (size_t i = 0; i < app->rdds.count; i++)
        if (app->rdds.items[i].cached > 0 && pyro_real(app->rdds.items[i].stages) >= rounds / 2)
            return true;
    return false;
}

static void report(struct pyro_rule_context *context, const struct unit *units, const struct chain *chain)
{
    const struct pyro_app *app = context->app;
    const struct unit *unit = &units[chain->lead];
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    bool cached = shares_cache(app, chain->count);
    bool writes = pyro_slice_find(unit->site, "save") || pyro_slice_find(unit->site, "parquet") ||
                  pyro_slice_find(unit->site, "insertInto") || pyro_slice_find(unit->site, "csv") ||
                  pyro_slice_find(unit->site, "json") || pyro_slice_find(unit->site, "orc");
    ptrdiff_t sql = unit->sql == PYRO_NONE ? -1 : pyro_app_find_sql(app, unit->sql);
    ptrdiff_t job = pyro_app_find_job(app, unit->job);
    finding->job = unit->job;
    finding->sql = unit->sql;
    finding->call_site = sql >= 0 && app->sql.items[sql].call_site.len ? app->sql.items[sql].call_site
                         : job >= 0                                    ? app->jobs.items[job].name
                                                                       : PYRO_SLICE_NULL;
    double busy = chain->work_ms / (chain->slots * chain->ms);
    const char *what = unit->sql == PYRO_NONE ? "jobs" : "queries";
    finding->cause = pyro_say(
        context,
        "%.0f %s at one call site (%s) ran one after the other for %s and used %.0f %% of %.0f slots: most slots were "
        "idle while the next ones waited.%s",
        chain->count, what, pyro_say_text(context, finding->call_site, 120), pyro_say_ms(context, chain->ms),
        100 * busy, chain->slots,
        cached ? " They read the same cached data: if each needs the result of the previous one, this does not apply."
               : "");
    pyro_finding_evidence(context, finding, "jobs", chain->count, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "sequential_ms", chain->ms, chain->ms - chain->saved_ms, "ms");
    pyro_finding_evidence(context, finding, "busy_share", busy, FILL, "share");
    pyro_finding_evidence(context, finding, "slots", chain->slots, (double)NAN, "count");
    pyro_finding_merged(context, finding, "loops", chain->merged);
    const char *verify = "In the next run the jobs run at the same time in the event timeline of the Jobs page.";
    double threads = fmax(2, fmin(ceil(1 / fmax(busy, 0.05)), 16));
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "If the %s do not need each other's results, start them from about %.0f threads. "
                                     "With the FAIR scheduler none of them waits for all tasks of another.",
                                     what, threads),
                            verify);
    /* Without threads the setting does nothing: no advice of its own. */
    if (advice)
        advice->code = pyro_say(context,
                                "# spark-submit --conf spark.scheduler.mode=FAIR\n"
                                "from concurrent.futures import ThreadPoolExecutor\n"
                                "with ThreadPoolExecutor(%.0f) as pool:\n"
                                "    results = list(pool.map(run_one, items))",
                                threads);
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Or combine them into one job: union() their inputs with a column that "
                                           "distinguishes them, and use groupBy() or partitionBy() on it."),
                        verify);
    /* Whether one needs the other is not in the log. */
    finding->confidence *= cached ? 0.4 : writes ? 0.8 : 0.65;
    double sure = cached ? SURE_ITERATIVE : SURE;
    pyro_remedy_concurrent(context, finding, pyro_whole(chain->from), pyro_whole(chain->to) + 1);
    pyro_remedy_partly(finding, sure);
}

/* Loops of the same place, such as one for each table, are one finding. */
static void add_chain(struct chain *chains, size_t *count, const struct unit *units, const struct chain *chain)
{
    for (size_t i = 0; i < *count; i++) {
        if (units[chains[i].lead].kind != units[chain->lead].kind)
            continue;
        chains[i].merged++;
        chains[i].count += chain->count;
        chains[i].ms += chain->ms;
        chains[i].work_ms += chain->work_ms;
        chains[i].saved_ms += chain->saved_ms;
        chains[i].to = fmax(chains[i].to, chain->to);
        return;
    }
    if (*count < DIFFERENT_SITES)
        chains[(*count)++] = *chain;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->jobs.count == 0 || app->executors.count == 0 || pyro_app_is_streaming(app) ||
        pyro_app_is_interactive(app) || app->integrity.compacted)
        return PYRO_VERDICT_NOT_APPLICABLE;
    size_t count = 0, found = 0;
    struct chain chains[DIFFERENT_SITES];
    const struct unit *units = load_units(context, &count);
    for (size_t first = 0, last; first < count && units; first = last) {
        double end = units[first].end;
        for (last = first + 1; last < count; last++) {
            double gap = units[last].begin - end;
            if (gap < -OVERLAP_MS || gap > pyro_limit(context, GAP_MS) || units[last].iterates || units[first].iterates)
                break;
            end = units[last].end;
        }
        struct chain chain;
        if ((double)(last - first) >= pyro_limit(context, REPEATS) && find_loop(context, units, first, last, &chain))
            add_chain(chains, &found, units, &chain);
    }
    double least = fmax(pyro_limit(context, SAVING_MS), pyro_limit(context, SAVING_SHARE) * pyro_app_wall(app));
    for (size_t i = 0; i < found && !context->failed; i++)
        if (chains[i].saved_ms * SURE >= least)
            report(context, units, &chains[i]);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_sequential_jobs = {
    .id = "sequential-jobs",
    .category = "parallelism",
    .title = "Jobs one after the other",
    .summary = "A loop runs jobs one after the other although most slots are idle.",
    PYRO_THRESHOLDS(thresholds),
    .needs_whole = true,
    .evaluate = evaluate,
};
