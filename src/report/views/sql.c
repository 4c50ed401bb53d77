/* pyrometer.sql_list/1: the SQL executions of an application. */
#include "report/views/sql.h"

#include "analyze/plans/plan_tree.h"

bool pyro_view_sql_jobs(const struct pyro_view_request *request, struct pyro_view_sql_jobs *ret)
{
    const struct pyro_app *app = request->app;
    ret->ids = pyro_arena_array(request->arena, app->jobs.count + 1, sizeof(*ret->ids));
    ret->ends = pyro_arena_array(request->arena, app->sql.count + 1, sizeof(*ret->ends));
    ptrdiff_t *rows = pyro_arena_array(request->arena, app->jobs.count + 1, sizeof(*rows));
    if (!ret->ids || !ret->ends || !rows)
        return false;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        rows[i] = job->sql == PYRO_NONE ? -1 : pyro_app_find_sql(app, job->sql);
        if (rows[i] >= 0)
            ret->ends[rows[i] + 1]++;
    }
    for (size_t i = 0; i < app->sql.count; i++)
        ret->ends[i + 1] += ret->ends[i];
    for (size_t i = 0; i < app->jobs.count; i++)
        if (rows[i] >= 0)
            ret->ids[ret->ends[rows[i]]++] = app->jobs.items[i].id;
    return true;
}

/* Ids of the stages, each once; attempts of one are adjacent or missing. */
static void write_stages(struct pyro_json_writer *json, const struct pyro_view_request *request, size_t row)
{
    const struct pyro_plans *plans = request->diagnosis->plans;
    const struct pyro_plan_tree *plan = plans && row < plans->count ? &plans->items[row] : NULL;
    int64_t last = PYRO_NONE;
    pyro_json_begin_numbers(json, "stages");
    for (uint32_t i = 0; plan && i < plan->own_stage_count; i++) {
        const struct pyro_stage *stage = &request->app->stages.items[plan->own_stages[i]];
        if (stage->attempt == 0 || stage->id != last)
            pyro_json_number(json, last = stage->id);
    }
    pyro_json_end_numbers(json);
}

static void write_settings(struct pyro_json_writer *json, struct pyro_slice settings)
{
    struct pyro_slice key, value;
    pyro_json_begin(json, "modified_configs", '{');
    while (pyro_property_next(&settings, &key, &value)) {
        pyro_json_key(json, key);
        pyro_json_text(json, NULL, value);
    }
    pyro_json_end(json, '}');
}

void pyro_view_sql_head(struct pyro_json_writer *json, const struct pyro_view_request *request,
                        const struct pyro_view_sql_jobs *jobs, size_t row)
{
    const struct pyro_sql_execution *sql = &request->app->sql.items[row];
    pyro_json_int(json, "id", sql->id);
    pyro_json_int(json, "root_id", sql->root_id);
    pyro_json_text(json, "query_id", sql->query_id);
    pyro_json_text(json, "description", sql->description);
    pyro_json_text(json, "call_site", sql->call_site);
    pyro_json_int(json, "start_ms", sql->submitted_ms);
    pyro_json_int(json, "end_ms", sql->completed_ms);
    pyro_json_int(json, "duration_ms", pyro_view_span(sql->submitted_ms, sql->completed_ms));
    pyro_json_text(json, "status", sql->status);
    pyro_json_text(json, "failure", sql->failure);
    pyro_json_begin_numbers(json, "jobs");
    for (size_t i = row ? jobs->ends[row - 1] : 0; i < jobs->ends[row]; i++)
        pyro_json_number(json, jobs->ids[i]);
    pyro_json_end_numbers(json);
    write_stages(json, request, row);
    pyro_json_int(json, "tasks", sql->tasks);
    pyro_json_int(json, "task_ms", sql->task_ms);
    pyro_json_int(json, "plan_changes", sql->plan_updates);
    write_settings(json, sql->modified_configs);
}

enum pyro_status pyro_view_sql(struct pyro_json_writer *json, const struct pyro_view_request *request,
                               struct pyro_error *error)
{
    struct pyro_view_sql_jobs jobs;
    if (!pyro_view_sql_jobs(request, &jobs))
        return pyro_view_no_memory(error);
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "schema", "pyrometer.sql_list/1");
    pyro_json_line(json);
    pyro_json_begin(json, "executions", '[');
    for (size_t i = 0; i < request->app->sql.count; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_view_sql_head(json, request, &jobs, i);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
    return PYRO_OK;
}
