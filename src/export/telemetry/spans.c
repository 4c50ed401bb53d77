#include "export/telemetry/spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "analyze/attributes.h"
#include "analyze/scratch.h"
#include "base/collections/hash.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "base/strings/intern.h"
#include "text/escape.h"

struct batch {
    struct pyro_slice run;
    int64_t number;
    size_t row; /* of streams */
};

struct walk {
    const struct pyro_app *app;
    pyro_app_span_visitor *visit;
    void *context;
    struct pyro_slice application; /* its id, or what stands for it */
    int64_t start_ms, end_ms;
    struct batch *batches; /* sorted */
    size_t batch_count;
    bool go_on;
};

/* Of two texts, one behind the other; never 0, which no id may be. */
static uint64_t hash_of(struct pyro_slice first, struct pyro_slice second)
{
    uint64_t hash = pyro_fnv(pyro_fnv(PYRO_FNV, first.ptr, first.len), second.ptr, second.len);
    return hash == 0 ? 1 : hash;
}

static struct pyro_slice identity(const struct pyro_app *app)
{
    struct pyro_slice id = app->application.id, name = app->application.name;
    return id.len > 0 ? id : name.len > 0 ? name : PYRO_SLICE_LITERAL("application");
}

void pyro_app_trace_id(const struct pyro_app *app, char ret[PYRO_TRACE_ID_HEX])
{
    struct pyro_slice id = identity(app), given = pyro_app_attribute(app, PYRO_ATTRIBUTE_TRACE);
    if (given.len == PYRO_TRACE_ID_HEX - 1) {
        memcpy(ret, given.ptr, given.len);
        ret[given.len] = '\0';
        return;
    }
    snprintf(ret, PYRO_TRACE_ID_HEX, "%016" PRIx64 "%016" PRIx64, hash_of(PYRO_SLICE_LITERAL("trace/"), id),
             hash_of(PYRO_SLICE_LITERAL("pyrometer/"), id));
}

/* `what`: such as "stage/3/0". */
static void make_id(const struct walk *walk, char ret[PYRO_SPAN_ID_HEX], const char *what)
{
    char text[516];
    snprintf(text, sizeof(text), "/%s", what);
    snprintf(ret, PYRO_SPAN_ID_HEX, "%016" PRIx64, hash_of(walk->application, pyro_slice_from(text)));
}

static void make_number_id(const struct walk *walk, char ret[PYRO_SPAN_ID_HEX], const char *kind, int64_t number)
{
    char what[64];
    snprintf(what, sizeof(what), "%s/%" PRId64, kind, number);
    make_id(walk, ret, what);
}

static void make_text_id(const struct walk *walk, char ret[PYRO_SPAN_ID_HEX], const char *kind, struct pyro_slice text)
{
    char what[512];
    snprintf(what, sizeof(what), "%s/%.*s", kind, (int)(text.len < 400 ? text.len : 400), text.ptr ? text.ptr : "");
    make_id(walk, ret, what);
}

static struct pyro_slice shortened(struct pyro_slice text)
{
    return (struct pyro_slice){text.ptr, pyro_utf8_prefix(text, 48)};
}

/* Gives it to the visitor, with its times inside the run. */
static void give(struct walk *walk, struct pyro_app_span *span)
{
    if (!walk->go_on || span->start_ms == PYRO_NONE)
        return;
    span->incomplete = span->end_ms == PYRO_NONE;
    if (span->incomplete)
        span->end_ms = walk->end_ms;
    if (span->end_ms < span->start_ms)
        span->end_ms = span->start_ms;
    walk->go_on = walk->visit(walk->context, span);
}

static void give_application(struct walk *walk)
{
    struct pyro_app_span span = {.of = PYRO_SPAN_OF_APPLICATION, .start_ms = walk->start_ms, .end_ms = walk->end_ms};
    struct pyro_slice name = shortened(walk->app->application.name);
    make_id(walk, span.id, "application");
    struct pyro_slice parent = pyro_app_attribute(walk->app, PYRO_ATTRIBUTE_PARENT_SPAN);
    if (parent.len == PYRO_SPAN_ID_HEX - 1)
        memcpy(span.parent, parent.ptr, parent.len);
    snprintf(span.name, sizeof(span.name), "application %.*s", (int)name.len, name.ptr ? name.ptr : "");
    give(walk, &span);
}

static struct pyro_app_span child_of_application(const struct walk *walk, enum pyro_span_of of, size_t row)
{
    struct pyro_app_span span = {.of = of, .row = row};
    make_id(walk, span.parent, "application");
    return span;
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

static void give_executors(struct walk *walk)
{
    const struct pyro_app *app = walk->app;
    int64_t first = PYRO_NONE;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        struct pyro_slice id = shortened(executor->id);
        int64_t came = pyro_executor_came_ms(executor);
        if (came != PYRO_NONE && (first == PYRO_NONE || came < first))
            first = came;
        struct pyro_app_span span = child_of_application(walk, PYRO_SPAN_OF_EXECUTOR, i);
        span.start_ms = came;
        span.end_ms = executor->removed_ms == PYRO_NONE ? walk->end_ms : executor->removed_ms;
        snprintf(span.name, sizeof(span.name), "executor %.*s", (int)id.len, id.ptr ? id.ptr : "");
        make_text_id(walk, span.id, "executor", executor->id);
        give(walk, &span);
        if (pyro_executor_start_ms(executor) == PYRO_NONE)
            continue;
        span = child_of_application(walk, PYRO_SPAN_OF_REQUEST, i);
        span.start_ms = executor->requested_ms;
        span.end_ms = executor->registered_ms;
        snprintf(span.name, sizeof(span.name), "executor request %.*s", (int)id.len, id.ptr ? id.ptr : "");
        make_text_id(walk, span.id, "request", executor->id);
        give(walk, &span);
    }
    if (first == PYRO_NONE || first <= walk->start_ms)
        return;
    struct pyro_app_span span = child_of_application(walk, PYRO_SPAN_OF_WAIT, 0);
    span.start_ms = walk->start_ms;
    span.end_ms = first;
    snprintf(span.name, sizeof(span.name), "resource wait");
    make_id(walk, span.id, "resource_wait");
    give(walk, &span);
}

/* ---- batches of streams ------------------------------------------------------------------------------------------ */

static int by_batch(const void *left, const void *right)
{
    const struct batch *a = left, *b = right;
    int order = pyro_slice_compare(a->run, b->run);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static int by_batch_and_row(const void *left, const void *right)
{
    const struct batch *a = left, *b = right;
    int order = by_batch(a, b);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static void batch_id(const struct walk *walk, char ret[PYRO_SPAN_ID_HEX], struct pyro_slice run, int64_t number)
{
    char what[256];
    snprintf(what, sizeof(what), "batch/%.*s/%" PRId64, (int)(run.len < 200 ? run.len : 200), run.ptr ? run.ptr : "",
             number);
    make_id(walk, ret, what);
}

static bool take_batches(struct walk *walk)
{
    const struct pyro_app *app = walk->app;
    walk->batches = pyro_scratch(app, app->streams.count, sizeof(*walk->batches));
    for (size_t i = 0; walk->batches && i < app->streams.count; i++) {
        const struct pyro_stream_batch *row = &app->streams.items[i];
        if (row->run.ptr && row->batch != PYRO_NONE && row->time_ms != PYRO_NONE)
            walk->batches[walk->batch_count++] = (struct batch){row->run, row->batch, i};
    }
    if (walk->batches && walk->batch_count > 1)
        qsort(walk->batches, walk->batch_count, sizeof(*walk->batches), by_batch_and_row);
    return walk->batches != NULL;
}

static void give_batches(struct walk *walk)
{
    for (size_t i = 0; i < walk->batch_count; i++) {
        const struct batch *batch = &walk->batches[i];
        const struct pyro_stream_batch *row = &walk->app->streams.items[batch->row];
        if (i > 0 && by_batch(batch, batch - 1) == 0)
            continue; /* its progress, again */
        struct pyro_app_span span = child_of_application(walk, PYRO_SPAN_OF_BATCH, batch->row);
        span.start_ms = row->time_ms;
        span.end_ms = pyro_add_saturating(row->time_ms, row->duration_ms == PYRO_NONE ? 0 : row->duration_ms);
        struct pyro_slice run = shortened(batch->run);
        snprintf(span.name, sizeof(span.name), "batch %.*s/%" PRId64, (int)run.len, run.ptr, batch->number);
        batch_id(walk, span.id, batch->run, batch->number);
        give(walk, &span);
    }
}

/* The batch that a job is for: Spark names it in the description, "... batch = 3". */
static bool batch_of(const struct walk *walk, const struct pyro_job *job, char ret[PYRO_SPAN_ID_HEX])
{
    static const char mark[] = "batch = ";
    const char *at = job->group_id.ptr && job->description.ptr ? pyro_slice_find(job->description, mark) : NULL;
    if (!at)
        return false;
    struct batch wanted = {.run = job->group_id};
    const char *end = job->description.ptr + job->description.len;
    at += sizeof(mark) - 1;
    if (at == end || *at < '0' || *at > '9')
        return false;
    for (; at < end && *at >= '0' && *at <= '9' && wanted.number < INT64_MAX / 16; at++)
        wanted.number = 10 * wanted.number + (*at - '0');
    if (!bsearch(&wanted, walk->batches, walk->batch_count, sizeof(*walk->batches), by_batch))
        return false;
    batch_id(walk, ret, wanted.run, wanted.number);
    return true;
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

static void give_queries(struct walk *walk)
{
    const struct pyro_app *app = walk->app;
    char(*parents)[PYRO_SPAN_ID_HEX] = pyro_scratch(app, app->sql.count, sizeof(*parents));
    walk->go_on = walk->go_on && parents;
    for (size_t i = 0; parents && i < app->jobs.count; i++) {
        ptrdiff_t query = pyro_app_find_sql(app, app->jobs.items[i].sql);
        if (query >= 0 && parents[query][0] == '\0')
            batch_of(walk, &app->jobs.items[i], parents[query]);
    }
    for (size_t i = 0; parents && i < app->sql.count; i++) {
        const struct pyro_sql_execution *query = &app->sql.items[i];
        struct pyro_app_span span = child_of_application(walk, PYRO_SPAN_OF_SQL, i);
        if (parents[i][0] != '\0')
            memcpy(span.parent, parents[i], sizeof(span.parent));
        span.start_ms = query->submitted_ms;
        span.end_ms = query->completed_ms;
        span.error = query->failure;
        snprintf(span.name, sizeof(span.name), "sql %" PRId64, query->id);
        make_number_id(walk, span.id, "sql", query->id);
        give(walk, &span);
    }
    pyro_release(app->allocator, parents);
}

static void give_jobs(struct walk *walk)
{
    const struct pyro_app *app = walk->app;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        struct pyro_app_span span = child_of_application(walk, PYRO_SPAN_OF_JOB, i);
        ptrdiff_t query = pyro_app_find_sql(app, job->sql);
        if (query >= 0 && app->sql.items[query].submitted_ms != PYRO_NONE)
            make_number_id(walk, span.parent, "sql", job->sql);
        else
            batch_of(walk, job, span.parent);
        span.start_ms = job->submitted_ms;
        span.end_ms = job->completed_ms;
        span.error = job->failure;
        snprintf(span.name, sizeof(span.name), "job %" PRId64, job->id);
        make_number_id(walk, span.id, "job", job->id);
        give(walk, &span);
    }
}

static void stage_id(const struct walk *walk, const struct pyro_stage *stage, char ret[PYRO_SPAN_ID_HEX])
{
    char what[96];
    snprintf(what, sizeof(what), "stage/%" PRId64 "/%" PRId64, stage->id, stage->attempt);
    make_id(walk, ret, what);
}

static void give_stages(struct walk *walk)
{
    const struct pyro_app *app = walk->app;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        struct pyro_app_span span = child_of_application(walk, PYRO_SPAN_OF_STAGE, i);
        ptrdiff_t job = pyro_app_find_job(app, stage->job);
        if (job >= 0 && app->jobs.items[job].submitted_ms != PYRO_NONE)
            make_number_id(walk, span.parent, "job", stage->job);
        span.start_ms = stage->submitted_ms;
        span.end_ms = stage->completed_ms;
        span.error = stage->failure;
        snprintf(span.name, sizeof(span.name), stage->attempt > 0 ? "stage %" PRId64 ".%" PRId64 : "stage %" PRId64,
                 stage->id, stage->attempt);
        stage_id(walk, stage, span.id);
        give(walk, &span);
    }
}

static void give_tasks(struct walk *walk)
{
    const struct pyro_app *app = walk->app;
    const struct pyro_slice failed = PYRO_SLICE_LITERAL("failed");
    for (size_t row = 0; walk->go_on && row < app->tasks.count; row++) {
        int64_t stage = pyro_task_get(&app->tasks, PYRO_TASK_stage_row, row),
                status = pyro_task_get(&app->tasks, PYRO_TASK_status, row),
                id = pyro_task_get(&app->tasks, PYRO_TASK_id, row);
        if (status == PYRO_TASK_RESUBMITTED) /* the event of a task that ended before */
            continue;
        struct pyro_app_span span = child_of_application(walk, PYRO_SPAN_OF_TASK, row);
        if (stage >= 0 && stage < (int64_t)app->stages.count && app->stages.items[stage].submitted_ms != PYRO_NONE)
            stage_id(walk, &app->stages.items[stage], span.parent);
        span.start_ms = pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row);
        span.end_ms = pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row);
        int64_t reason = pyro_task_get(&app->tasks, PYRO_TASK_reason, row);
        if (status == PYRO_TASK_FAILED)
            span.error = reason >= 0 ? pyro_string_pool_text(app->strings, (uint32_t)reason) : failed;
        snprintf(span.name, sizeof(span.name), "task %" PRId64, id);
        make_number_id(walk, span.id, "task", id);
        give(walk, &span);
    }
}

bool pyro_app_spans(const struct pyro_app *app, pyro_app_span_visitor *visit, void *context)
{
    struct walk walk = {.app = app,
                        .visit = visit,
                        .context = context,
                        .application = identity(app),
                        .start_ms = app->application.start_ms,
                        .end_ms = app->application.end_ms,
                        .go_on = true};
    walk.go_on = take_batches(&walk);
    give_application(&walk);
    give_executors(&walk);
    give_batches(&walk);
    give_queries(&walk);
    give_jobs(&walk);
    give_stages(&walk);
    give_tasks(&walk);
    pyro_release(app->allocator, walk.batches);
    return walk.go_on;
}

static bool was_added(const struct pyro_app *app, struct pyro_slice executor)
{
    for (size_t i = 0; i < app->executors.count; i++)
        if (pyro_slice_eq(app->executors.items[i].id, executor))
            return app->executors.items[i].added_ms != PYRO_NONE;
    return false;
}

bool pyro_app_failure_span(const struct pyro_app *app, const struct pyro_failure *failure, char ret[PYRO_SPAN_ID_HEX])
{
    static const char *const kinds[] = {"task", "job", "sql", "executor"};
    struct walk walk = {.application = identity(app)};
    if (pyro_slice_is(failure->kind, "stage")) { /* its id is stage.attempt */
        char id[64];
        snprintf(id, sizeof(id), "%.*s", (int)(failure->id.len < 63 ? failure->id.len : 63),
                 failure->id.ptr ? failure->id.ptr : "");
        char *dot = strchr(id, '.');
        if (dot)
            *dot = '/';
        make_text_id(&walk, ret, "stage", pyro_slice_from(id));
        return dot != NULL;
    }
    if (pyro_slice_is(failure->kind, "executor") && !was_added(app, failure->id))
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (pyro_slice_is(failure->kind, kinds[i]) && failure->id.len > 0) {
            make_text_id(&walk, ret, kinds[i], failure->id);
            return true;
        }
    return false;
}
