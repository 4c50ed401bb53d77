#include "plan_scene.h"

#include "base/numbers/varint.h"

static const int64_t five_s = 5000;

struct query query_new(void)
{
    struct query query = {.scene = scene_new(2, 2)};
    struct pyro_app *app = query.scene.app;
    struct pyro_sql_execution *sql = pyro_vec_push(&app->sql, app->allocator);
    pyro_row_init(PYRO_TABLE_sql, sql);
    sql->id = 1;
    pyro_strbuf_init(&query.ids, app->allocator);
    return query;
}

void query_add(struct query *query, int64_t parent, const char *name, const char *detail, const char *metadata)
{
    struct pyro_app *app = query->scene.app;
    struct pyro_sql_node *node = pyro_vec_push(&app->sql_nodes, app->allocator);
    pyro_row_init(PYRO_TABLE_sql_nodes, node);
    node->sql = 1;
    node->node = (int64_t)app->sql_nodes.count - 1;
    node->parent = parent;
    node->name = pyro_slice_from(name);
    node->detail = pyro_slice_from(detail);
    node->metadata = pyro_slice_from(metadata);
    node->known = pyro_operator_find(node->name);
}

void query_metric(struct query *query, int64_t node, const char *name, const char *type, int64_t value)
{
    struct pyro_app *app = query->scene.app;
    struct pyro_sql_metric *row = pyro_vec_push(&app->sql_metrics, app->allocator);
    *row = (struct pyro_sql_metric){.sql = 1,
                                    .node = node,
                                    .name = pyro_slice_from(name),
                                    .type = pyro_slice_from(type),
                                    .accumulator = ++query->accumulators,
                                    .value = value};
    pyro_varint_put(&query->ids, &query->last, query->accumulators);
}

void query_rows(struct query *query, int64_t node, int64_t count)
{
    query_metric(query, node, "number of output rows", "sum", count);
}

void query_run(struct query *query, int64_t other_ms)
{
    struct pyro_app *app = query->scene.app;
    struct pyro_stage *stage = scene_stage(&query->scene, 40, &five_s, 1, NULL, NULL);
    struct pyro_job *job = pyro_vec_push(&app->jobs, app->allocator);
    static int64_t stage_id;
    stage_id = stage->id;
    pyro_row_init(PYRO_TABLE_jobs, job);
    job->id = 1;
    job->sql = 1;
    job->submitted_ms = stage->submitted_ms;
    job->completed_ms = stage->completed_ms;
    job->status = PYRO_SLICE_LITERAL("succeeded");
    job->stage_ids = &stage_id;
    job->stage_id_count = 1;
    stage->accumulators = pyro_strbuf_slice(&query->ids);
    if (other_ms > 0)
        scene_stage(&query->scene, 1, &other_ms, 1, NULL, NULL);
    scene_end(&query->scene);
}

void query_end(struct query *query)
{
    query_run(query, 0);
}

void query_free(struct query *query)
{
    scene_free(&query->scene);
    pyro_strbuf_done(&query->ids);
}
