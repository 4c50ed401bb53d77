#include "rules/timing/streams.h"

#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/numbers/order.h"
#include "rules/finding.h"
#include "rules/tasks/stage_tasks.h"

struct run_batch {
    const struct pyro_stream_batch *batch;
    size_t first; /* row of the run's first batch */
};

struct runs {
    struct pyro_stream_run *items; /* in the order of their first batches */
    size_t count;
};

static int by_run(const void *left, const void *right)
{
    const struct run_batch *a = left, *b = right;
    int order = pyro_slice_compare(a->batch->run, b->batch->run);
    return order ? order : (a->batch > b->batch) - (a->batch < b->batch);
}

static int by_first(const void *left, const void *right)
{
    const struct run_batch *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->batch > b->batch) - (a->batch < b->batch);
}

static bool has_run(const struct pyro_stream_batch *batch)
{
    return batch->duration_ms > 0 && batch->time_ms != PYRO_NONE &&
           (batch->add_batch_ms != PYRO_NONE || batch->input_rows > 0);
}

/* Batches of a run together, runs by their first batch. */
static size_t sort_batches(const struct pyro_app *app, struct run_batch *sorted)
{
    size_t count = 0, runs = 0;
    for (size_t i = 0; i < app->streams.count; i++)
        if (has_run(&app->streams.items[i]))
            sorted[count++].batch = &app->streams.items[i];
    if (count == 0)
        return 0;
    qsort(sorted, count, sizeof(*sorted), by_run);
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && pyro_slice_eq(sorted[i].batch->run, sorted[i - 1].batch->run);
        sorted[i].first = same ? sorted[i - 1].first : (size_t)(sorted[i].batch - app->streams.items);
        runs += !same;
    }
    qsort(sorted, count, sizeof(*sorted), by_first);
    return runs;
}

/* In the arena; false when there is no memory. */
static bool load_runs(struct pyro_rule_context *context, struct runs *ret)
{
    const struct pyro_app *app = context->app;
    struct run_batch *sorted = pyro_arena_array(context->arena, app->streams.count + 1, sizeof(*sorted));
    const struct pyro_stream_batch **batches =
        pyro_arena_array(context->arena, app->streams.count + 1, sizeof(struct pyro_stream_batch *));
    *ret = (struct runs){0};
    if (!sorted || !batches) {
        context->failed = true;
        return false;
    }
    memset(sorted, 0, (app->streams.count + 1) * sizeof(*sorted));
    size_t runs = sort_batches(app, sorted);
    ret->items = pyro_arena_array(context->arena, runs + 1, sizeof(*ret->items));
    if (!ret->items) {
        context->failed = true;
        return false;
    }
    for (size_t i = 0; i < app->streams.count && sorted[i].batch; i++) {
        if (i == 0 || sorted[i].first != sorted[i - 1].first)
            ret->items[ret->count++] = (struct pyro_stream_run){.batches = batches + i};
        batches[i] = sorted[i].batch;
        ret->items[ret->count - 1].count++;
    }
    return true;
}

enum pyro_verdict pyro_streams_evaluate(struct pyro_rule_context *context, pyro_stream_question *applies,
                                        pyro_stream_question *judge)
{
    enum pyro_verdict verdict = PYRO_VERDICT_NOT_APPLICABLE;
    struct runs runs;
    if (context->app->streams.count == 0 || !load_runs(context, &runs))
        return verdict;
    for (size_t i = 0; i < runs.count && !context->failed; i++) {
        if (verdict == PYRO_VERDICT_NOT_APPLICABLE && applies(context, &runs.items[i]))
            verdict = PYRO_VERDICT_QUIET;
        if (judge(context, &runs.items[i]))
            verdict = PYRO_VERDICT_FINDING;
    }
    return verdict;
}

/* "RateStreamV2[rowsPerSecond=..." as "RateStreamV2". */
static const char *short_name(struct pyro_rule_context *context, struct pyro_slice text)
{
    size_t len = 0;
    while (len < text.len && len < 60 && text.ptr[len] != '[' && text.ptr[len] != '(' && text.ptr[len] != '@')
        len++;
    return pyro_say_text(context, (struct pyro_slice){text.ptr, len}, 60);
}

static struct pyro_slice stream_name(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    const struct pyro_stream_batch *batch = run->batches[0];
    if (batch->name.len > 0)
        return pyro_say(context, "%s", pyro_say_text(context, batch->name, 100));
    return pyro_say(context, "%s to %s", batch->source.len ? short_name(context, batch->source) : "source",
                    batch->sink.len ? short_name(context, batch->sink) : "sink");
}

const char *pyro_say_stream(struct pyro_rule_context *context, const struct pyro_stream_run *run)
{
    struct pyro_slice name = stream_name(context, run);
    struct pyro_slice text = pyro_say(context, "Stream \"%s\"", pyro_say_text(context, name, 160));
    return text.ptr ? text.ptr : "";
}

void pyro_finding_at_stream(struct pyro_rule_context *context, struct pyro_finding *finding,
                            const struct pyro_stream_run *run)
{
    if (finding)
        finding->call_site = stream_name(context, run);
}

static int64_t value_of(const struct pyro_stream_run *run, size_t index, size_t offset)
{
    int64_t value;
    memcpy(&value, (const char *)run->batches[index] + offset, sizeof(value));
    return value;
}

double pyro_stream_median(struct pyro_rule_context *context, const struct pyro_stream_run *run, size_t from, size_t to,
                          size_t offset)
{
    double *values = pyro_arena_array(context->arena, to - from + 1, sizeof(*values));
    size_t count = 0;
    if (!values) {
        context->failed = true;
        return 0;
    }
    for (size_t i = from; i < to; i++)
        if (value_of(run, i, offset) != PYRO_NONE)
            values[count++] = pyro_real(value_of(run, i, offset));
    return pyro_median(values, count);
}

double pyro_stream_sum(const struct pyro_stream_run *run, size_t from, size_t to, size_t offset)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += pyro_real(value_of(run, i, offset));
    return sum;
}

bool pyro_stream_is_real_time(const struct pyro_app *app, const struct pyro_stream_run *run)
{
    struct pyro_slice id = run->batches[0]->run;
    char text[64]; /* ids are UUIDs */
    if (id.len == 0 || id.len >= sizeof(text))
        return false;
    memcpy(text, id.ptr, id.len);
    text[id.len] = 0;
    for (size_t i = 0; i < app->sql.count; i++)
        if (app->sql.items[i].real_time && pyro_slice_find(app->sql.items[i].description, text))
            return true;
    return false;
}
