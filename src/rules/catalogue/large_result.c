/* large-result: an action brings so much to the driver that its limit, its memory or the time of fetching matter. */
#include <math.h>

#include "analyze/app_facts.h"
#include "model/failure_text.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

#define MIB 1048576.0
/* Sites that are distinguished; a program has few that collect much. */
enum { SITES_MAX = 16 };

enum { LARGE, LARGE_HEAP, HEAP_REAL, NEAR, NEARER, TASK_BYTES, GAP, ENDED_RISK, REFUSED_RISK, NEAR_RISK, LARGE_RISK };
static const struct pyro_threshold thresholds[] = {
    [LARGE] = {"result_bytes_min", 64 * MIB, "bytes", "Quiet below: smaller results fit in every driver"},
    [LARGE_HEAP] = {"heap_share_min", 0.1, "share", "... and below this share of the driver's heap"},
    [HEAP_REAL] = {"heap_share_risky", 0.2, "share",
                   "At this share of the heap, rows can fill it: they take two to five times their serialized size"},
    [NEAR] = {"limit_share_min", 0.7, "share",
              "At this share of spark.driver.maxResultSize, more data exceeds the limit"},
    [NEARER] = {"limit_share_severe", 0.9, "share", "... and at this share soon"},
    [TASK_BYTES] = {"task_result_bytes", 4096, "bytes",
                    "The result size of a task that sends only its metrics, not rows"},
    [GAP] = {"unpack_ms_min", 500, "ms",
             "Shorter times between the last task and the end of the SQL execution are normal"},
    [ENDED_RISK] = {"risk_ended", 0.9, "share", "Failure risk if Spark refused the result and no job followed"},
    [REFUSED_RISK] = {"risk_refused", 0.5, "share", "... if Spark refused the result, or is about to"},
    [NEAR_RISK] = {"risk_near", 0.3, "share", "... if the limit is near"},
    [LARGE_RISK] = {"risk_large", 0.2, "share", "... if the rows can fill the driver's heap"},
};

struct site {
    struct pyro_slice name;
    size_t stage; /* with the largest result */
    double bytes, all_bytes, actions, fetch_ms, unpack_ms;
    bool refused, ended;
    struct pyro_slice told;
};

struct limits {
    double result, heap; /* 0: no limit */
};

static double result_limit(const struct pyro_app *app)
{
    const int64_t usual = INT64_C(1) << 30; /* Spark's default */
    int64_t set = pyro_app_property_size(app, "spark.driver.maxResultSize", 1, usual);
    return set > 0 ? (double)set : 0;
}

static const struct pyro_job *job_of(const struct pyro_app *app, const struct pyro_stage *stage)
{
    ptrdiff_t row = stage->job == PYRO_NONE ? -1 : pyro_app_find_job(app, stage->job);
    return row < 0 ? NULL : &app->jobs.items[row];
}

/* The table of a broadcast join is brought to the driver too: oversized-broadcast judges those. */
static bool is_broadcast(const struct pyro_job *job)
{
    return job && (pyro_text_has(job->description, "broadcast exchange") || pyro_text_has(job->name, "broadcast"));
}

static bool is_refused(const struct pyro_stage *stage)
{
    return stage->failure.ptr && pyro_slice_find(stage->failure, "spark.driver.maxResultSize");
}

static double rows_bytes(const struct pyro_rule_context *context, const struct pyro_stage *stage)
{
    return fmax(0, pyro_real(stage->result_bytes) - pyro_real(stage->tasks) * pyro_limit(context, TASK_BYTES));
}

/* From the last task of a query's last job to the query's end the driver unpacks rows. */
static double unpack_ms(const struct pyro_app *app, const struct pyro_job *job, int64_t *from, int64_t *to)
{
    ptrdiff_t sql = job && job->sql != PYRO_NONE ? pyro_app_find_sql(app, job->sql) : -1;
    if (sql < 0)
        return 0;
    for (size_t i = 0; i < app->jobs.count; i++)
        if (app->jobs.items[i].sql == job->sql && app->jobs.items[i].id > job->id)
            return 0;
    *from = job->completed_ms;
    *to = app->sql.items[sql].completed_ms;
    return pyro_span(*from, *to);
}

static double fetch_ms(const struct pyro_app *app, const struct pyro_stage *stage, size_t k, size_t *task)
{
    size_t row = *task = app->tasks_by_stage[stage->first_task + k];
    int64_t began = pyro_task_get(&app->tasks, PYRO_TASK_getting_result_ms, row);
    return began > 0 ? pyro_span(began, pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row)) : 0;
}

static bool is_large(const struct pyro_rule_context *context, const struct limits *limits,
                     const struct pyro_stage *stage)
{
    double bytes = rows_bytes(context, stage);
    if (is_refused(stage))
        return true;
    if (is_broadcast(job_of(context->app, stage)))
        return false;
    return (limits->result > 0 && bytes >= pyro_limit(context, NEAR) * limits->result) ||
           (bytes >= pyro_limit(context, LARGE) && bytes >= pyro_limit(context, LARGE_HEAP) * limits->heap);
}

static void take(struct pyro_rule_context *context, struct site *site, size_t row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    double bytes = rows_bytes(context, stage);
    int64_t from, to;
    if (site->actions++ <= 0 || bytes > site->bytes) {
        site->bytes = bytes;
        site->stage = row;
    }
    site->all_bytes += bytes;
    if (is_refused(stage)) {
        site->refused = true;
        site->stage = row;
        site->told = pyro_root_cause(stage->failure).message;
    }
    size_t task;
    for (size_t k = 0; k < (size_t)pyro_real(stage->tasks); k++)
        site->fetch_ms += fetch_ms(app, stage, k, &task);
    site->unpack_ms += unpack_ms(app, job_of(app, stage), &from, &to);
}

static void remedy(struct pyro_rule_context *context, struct pyro_finding *finding, size_t row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    int64_t from = PYRO_NONE, to = PYRO_NONE;
    size_t task;
    for (size_t k = 0; k < (size_t)pyro_real(stage->tasks); k++) {
        double fetch = fetch_ms(app, stage, k, &task);
        if (fetch > 0)
            pyro_remedy_task(context, finding, task,
                             pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, task),
                                       pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, task)) -
                                 fetch);
    }
    if (unpack_ms(app, job_of(app, stage), &from, &to) >= pyro_limit(context, GAP))
        pyro_remedy_driver(context, finding, from, to, 0);
    pyro_remedy_partly(finding, 0.6);
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct site *site,
                   const struct limits *limits)
{
    static const char *const verify = "In the next run the Result Size in the summary metrics of the stage is a few "
                                      "MiB in total, less than 1 % of the heap.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Aggregate, filter or limit on the executors, and collect only what you show. Write whole "
                           "tables from the executors; a program that needs them can read the files."),
        verify);
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("df.groupBy(\"day\").agg(F.sum(\"amount\")).collect()  # not df.collect()\n"
                                          "df.write.parquet(path)                          # not df.toPandas()\n"
                                          "for row in df.toLocalIterator(): ...            # one partition at a time");
    if (!site->refused && !(limits->result > 0 && site->bytes >= pyro_limit(context, NEAR) * limits->result))
        return;
    double need = fmax(site->bytes, limits->result) * 2;
    struct pyro_slice size = pyro_say_memory(context, need);
    advice = pyro_finding_advise(context, finding,
                                 pyro_say(context,
                                          "If the driver needs all of it, set spark.driver.maxResultSize=%s, and a "
                                          "driver heap of several times that.",
                                          size.ptr),
                                 verify);
    pyro_advice_set(context, advice, "spark.driver.maxResultSize", size);
    pyro_advice_prevents(advice, "jobs that fail for the size of their results");
    if (limits->heap < need * 3)
        pyro_advice_set(context, advice, "spark.driver.memory", pyro_say_memory(context, need * 3));
}

static double risk(const struct pyro_rule_context *context, const struct site *site, const struct limits *limits)
{
    double share = limits->result > 0 ? site->bytes / limits->result : 0;
    if (site->refused)
        return pyro_limit(context, site->ended ? ENDED_RISK : REFUSED_RISK);
    if (share >= pyro_limit(context, NEARER))
        return pyro_limit(context, REFUSED_RISK);
    if (share >= pyro_limit(context, NEAR))
        return pyro_limit(context, NEAR_RISK);
    return site->bytes >= pyro_limit(context, HEAP_REAL) * limits->heap ? pyro_limit(context, LARGE_RISK) : 0;
}

static struct pyro_finding *report(struct pyro_rule_context *context, const struct site *site,
                                   const struct limits *limits)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_large_result);
    if (!finding)
        return NULL;
    pyro_finding_at_stage(context, finding, site->stage);
    const char *place = pyro_say_stage(context, site->stage);
    const char *allowed = limits->result > 0 ? pyro_say_bytes(context, limits->result) : "no limit";
    if (site->refused)
        finding->cause = pyro_say(context, "Spark ended %s because its result is larger than the driver accepts: %s.",
                                  place, pyro_say_text(context, site->told, 2 * PYRO_CAUSE_BYTES));
    else
        finding->cause =
            pyro_say(context,
                     "%s sent %s of rows to the driver (spark.driver.maxResultSize: %s; heap: %s)%s. Fetching took %s "
                     "of task time, and deserializing took %s.",
                     place, pyro_say_bytes(context, site->bytes), allowed, pyro_say_bytes(context, limits->heap),
                     site->actions > 1.5 ? pyro_say(context, ", the largest of %.0f such actions with %s in total",
                                                    site->actions, pyro_say_bytes(context, site->all_bytes))
                                               .ptr
                                         : "",
                     pyro_say_ms(context, site->fetch_ms), pyro_say_ms(context, site->unpack_ms));
    pyro_finding_evidence(context, finding, "result_bytes", site->bytes, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "all_result_bytes", site->all_bytes, (double)NAN, "bytes");
    if (limits->result > 0)
        pyro_finding_evidence(context, finding, "limit_share", site->bytes / limits->result, pyro_limit(context, NEAR),
                              "share");
    pyro_finding_evidence(context, finding, "heap_share", site->bytes / fmax(limits->heap, 1),
                          pyro_limit(context, LARGE_HEAP), "share");
    pyro_finding_evidence(context, finding, "fetch_task_ms", site->fetch_ms, 0, "ms");
    pyro_finding_evidence(context, finding, "unpack_ms", site->unpack_ms, 0, "ms");
    advise(context, finding, site, limits);
    finding->failure_risk = risk(context, site, limits);
    finding->confidence *= site->refused ? 0.99 : 0.9;
    return finding;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct limits limits = {result_limit(app), pyro_app_driver_heap_bytes(app)};
    struct site *sites = pyro_arena_array(context->arena, SITES_MAX, sizeof(*sites));
    int8_t *site_of = pyro_arena_array(context->arena, app->stages.count + 1, sizeof(*site_of));
    size_t count = 0;
    if (!sites || !site_of) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        site_of[i] = -1;
        if (!is_large(context, &limits, &app->stages.items[i]))
            continue;
        struct pyro_slice name = pyro_stage_site(context, i);
        size_t k = 0;
        while (k < count && !pyro_slice_eq(sites[k].name, name))
            k++;
        if (k == SITES_MAX)
            continue;
        if (k == count)
            sites[count++] = (struct site){.name = name};
        take(context, &sites[k], i);
        site_of[i] = (int8_t)k;
        const struct pyro_job *job = job_of(app, &app->stages.items[i]);
        sites[k].ended |= is_refused(&app->stages.items[i]) && pyro_app_ended_in_failure(app) && job &&
                          pyro_job_failed(job) && job == &app->jobs.items[app->jobs.count - 1];
    }
    for (size_t k = 0; k < count; k++) {
        struct pyro_finding *finding = report(context, &sites[k], &limits);
        for (size_t i = 0; finding && i < app->stages.count; i++)
            if (site_of[i] == (int8_t)k)
                remedy(context, finding, i);
    }
    return count > 0 ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_large_result = {
    .id = "large-result",
    .category = "driver",
    .title = "Large result",
    .summary = "An action sends so many rows to the driver that a limit is near or its memory fills up.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
