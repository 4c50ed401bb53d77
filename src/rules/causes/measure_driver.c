/* Symptoms on the driver, and in jobs that it runs for itself. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/causes/measures.h"
#include "rules/finding.h"
#include "rules/plans/file_scans.h"
#include "rules/plans/plans.h"

#define MIB 1048576.0
/* Results as Python objects: bytes of rows that the driver converts in a second. Arrow is some ten times as fast. */
#define CONVERTED_PER_SECOND (2 * MIB)

/* Until the next job, or the end of the application, nothing but the driver works. */
static double gap_after(const struct pyro_app *app, const struct pyro_job *job)
{
    int64_t next = app->application.end_ms;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *other = &app->jobs.items[i];
        if (other != job && other->submitted_ms >= job->completed_ms && other->submitted_ms < next)
            next = other->submitted_ms;
        if (other != job && other->submitted_ms < job->completed_ms && other->completed_ms > job->completed_ms)
            return 0; /* others ran meanwhile */
    }
    return pyro_span(job->completed_ms, next);
}

static double result_bytes(const struct pyro_app *app, const struct pyro_job *job)
{
    double bytes = 0;
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].job == job->id)
            bytes += pyro_real(app->stages.items[i].result_bytes);
    return bytes;
}

void pyro_measure_plain_results(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                                struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    double all = 0;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        if (!pyro_slice_starts_with(job->name, "toPandas at") || job->completed_ms == PYRO_NONE ||
            !pyro_suspect_covers(app, suspect, job->sql))
            continue;
        double bytes = result_bytes(app, job);
        ret->driver_ms += fmin(gap_after(app, job), 1000 * bytes / CONVERTED_PER_SECOND);
        all += bytes;
    }
    if (all > 0)
        ret->found = pyro_say(context, "toPandas() fetched %s", pyro_say_bytes(context, all));
}

/* Spark reads the schemas of files in a job without a query, at the call site that names the files. It may list them in
 * another one there. */
static bool reads_schemas(const struct pyro_app *app, const struct pyro_stage *stage)
{
    static const char *const readers[] = {"parquet at", "orc at", "load at", "table at"};
    if (pyro_stage_lists_files(app, stage))
        return false;
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
        if (pyro_slice_starts_with(stage->name, readers[i]) && stage->sql == PYRO_NONE && stage->output_bytes <= 0 &&
            stage->shuffle_read_bytes <= 0 && stage->shuffle_write_bytes <= 0)
            return true;
    return false;
}

void pyro_measure_schema_merge(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                               struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    double tasks = 0;
    (void)suspect;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (!reads_schemas(app, stage) || stage->tasks < 2)
            continue;
        ret->stage_ms[i] += pyro_real(stage->task_ms);
        tasks += pyro_real(stage->tasks);
    }
    if (tasks > 0)
        ret->found = pyro_say(context, "%.0f tasks read schemas", tasks);
}

void pyro_measure_listing(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                          struct pyro_measured *ret)
{
    const struct pyro_plans *plans = pyro_rule_plans(context);
    for (size_t q = 0; plans && q < plans->count; q++)
        for (uint32_t i = 0; i < plans->items[q].count; i++)
            if (plans->items[q].ops[i].class == PYRO_OPERATOR_SCAN && !plans->items[q].ops[i].repeated &&
                pyro_suspect_covers(context->app, suspect, plans->items[q].sql->id))
                ret->driver_ms += pyro_op_amount(&plans->items[q], i, PYRO_METRIC_METADATA_TIME);
}
