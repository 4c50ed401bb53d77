#include "rules/plans/writes.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"

/* Stages with output by their query, the largest output first. */
struct output {
    int64_t sql;
    size_t stage;
    int64_t bytes;
};

static int by_sql(const void *left, const void *right)
{
    const struct output *a = left, *b = right;
    if (a->sql != b->sql)
        return a->sql < b->sql ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

static ptrdiff_t find_output(const struct output *outputs, size_t count, int64_t sql)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (outputs[middle].sql < sql)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && outputs[low].sql == sql ? (ptrdiff_t)outputs[low].stage : -1;
}

static void take_metric(struct pyro_write *write, const struct pyro_sql_metric *metric)
{
    double value = pyro_real(metric->value);
    if (pyro_slice_is(metric->name, "number of written files"))
        write->files = value;
    else if (pyro_slice_is(metric->name, "written output"))
        write->bytes = value;
    else if (pyro_slice_is(metric->name, "number of dynamic part"))
        write->partitions = value;
    else if (pyro_slice_is(metric->name, "task commit time"))
        write->task_commit_ms = value;
    else if (pyro_slice_is(metric->name, "job commit time"))
        write->job_commit_ms = value;
}

/* Metrics are grouped by query and node, and so are nodes: one walk over both. */
static bool queries(struct pyro_rule_context *context, struct pyro_writes *ret, const struct output *outputs,
                    size_t count)
{
    const struct pyro_app *app = context->app;
    const struct pyro_sql_metric *metrics = app->sql_metrics.items;
    size_t node = 0;
    for (size_t i = 0, end; i < app->sql_metrics.count; i = end) {
        struct pyro_write write = {
            .files = -1, .bytes = -1, .task_commit_ms = (double)NAN, .job_commit_ms = (double)NAN};
        for (end = i;
             end < app->sql_metrics.count && metrics[end].sql == metrics[i].sql && metrics[end].node == metrics[i].node;
             end++)
            take_metric(&write, &metrics[end]);
        if (write.files < 0 || write.bytes < 0)
            continue;
        while (node < app->sql_nodes.count &&
               (app->sql_nodes.items[node].sql < metrics[i].sql || (app->sql_nodes.items[node].sql == metrics[i].sql &&
                                                                    app->sql_nodes.items[node].node < metrics[i].node)))
            node++;
        ptrdiff_t stage = find_output(outputs, count, metrics[i].sql);
        if (stage < 0)
            continue;
        struct pyro_write *place = pyro_vec_push(&ret->list, context->arena->allocator);
        if (!place)
            return false;
        write.stage = (size_t)stage;
        bool known = node < app->sql_nodes.count && app->sql_nodes.items[node].sql == metrics[i].sql &&
                     app->sql_nodes.items[node].node == metrics[i].node;
        write.node = known ? (ptrdiff_t)node : -1;
        *place = write;
    }
    return true;
}

/* An RDD's task writes one file. */
static bool rdds(struct pyro_rule_context *context, struct pyro_writes *ret)
{
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double files = pyro_real(stage->tasks) - pyro_real(stage->failed_tasks) - pyro_real(stage->killed_tasks);
        if (stage->sql != PYRO_NONE || pyro_real(stage->output_bytes) <= 0 || files < 1)
            continue;
        struct pyro_write *place = pyro_vec_push(&ret->list, context->arena->allocator);
        if (!place)
            return false;
        *place = (struct pyro_write){
            i, -1, files, pyro_real(stage->output_bytes), 0, (double)NAN, (double)NAN,
        };
    }
    return true;
}

bool pyro_writes_load(struct pyro_rule_context *context, struct pyro_writes *ret)
{
    const struct pyro_app *app = context->app;
    *ret = (struct pyro_writes){0};
    struct output *outputs = pyro_arena_array(context->scratch, app->stages.count + 1, sizeof(*outputs));
    size_t count = 0;
    for (size_t i = 0; outputs && i < app->stages.count; i++)
        if (app->stages.items[i].sql != PYRO_NONE && pyro_real(app->stages.items[i].output_bytes) > 0)
            outputs[count++] = (struct output){app->stages.items[i].sql, i, app->stages.items[i].output_bytes};
    if (count > 1)
        qsort(outputs, count, sizeof(*outputs), by_sql);
    if (!outputs || !queries(context, ret, outputs, count) || !rdds(context, ret)) {
        pyro_writes_done(context, ret);
        context->failed = true;
        return false;
    }
    return true;
}

void pyro_writes_done(struct pyro_rule_context *context, struct pyro_writes *writes)
{
    pyro_vec_done(&writes->list, context->arena->allocator);
}
