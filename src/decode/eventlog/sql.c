/* SQL executions: SparkListenerSQLExecutionStart, SQLExecutionEnd, DriverAccumUpdates, SQLAdaptiveExecutionUpdate,
 * SQLAdaptiveSQLMetricUpdates. */
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"
#include "decode/eventlog/plan.h"
#include "decode/eventlog/session_settings.h"

static bool keep_plan(struct pyro_builder *builder, struct pyro_sql_execution *sql, struct pyro_slice text,
                      int64_t planned_ms)
{
    size_t row = (size_t)(sql - builder->app->sql.items);
    if (!text.ptr)
        return true;
    if ((builder->wanted & PYRO_WANT_PLAN_CHANGES) && !pyro_plan_keep_earlier(builder, row))
        return false;
    sql->planned_ms = planned_ms;
    return pyro_plan_keep(builder, row, text);
}

/* The execution's row after a whole record; NULL and an error when the record is bad. */
static struct pyro_sql_execution *find_execution(struct pyro_json_reader *json, struct pyro_builder *builder,
                                                 int64_t id)
{
    if (!pyro_json_record_end(json) || builder->failed)
        return NULL;
    if (id == PYRO_NONE) {
        pyro_json_refuse(json, "a SQL execution without an id");
        return NULL;
    }
    return pyro_build_sql(builder, id);
}

static void decode_description(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_slice *text)
{
    if (builder->wanted & PYRO_WANT_PLAN_TEXT)
        pyro_build_plan_text(builder, json, text);
    else
        pyro_json_skip(json);
}

bool pyro_decode_sql_execution_start(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (EXECUTION_ID, "executionId"), (ROOT_EXECUTION_ID, "rootExecutionId"),
                   (DESCRIPTION, "description"), (DETAILS, "details"),
                   (PHYSICAL_PLAN_DESCRIPTION, "physicalPlanDescription"), (SPARK_PLAN_INFO, "sparkPlanInfo"),
                   (TIME, "time"), (MODIFIED_CONFIGS, "modifiedConfigs"), (JOB_TAGS, "jobTags"),
                   (JOB_GROUP_ID, "jobGroupId"), (QUERY_ID, "queryId"));
    struct pyro_sql_execution found;
    struct pyro_slice details = PYRO_SLICE_NULL, plan = PYRO_SLICE_NULL, settings = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    pyro_row_init(PYRO_TABLE_sql, &found);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        switch (key) {
        case EXECUTION_ID:
            pyro_json_take_int(json, &found.id);
            break;
        case ROOT_EXECUTION_ID:
            pyro_json_take_int(json, &found.root_id);
            break;
        case DESCRIPTION:
            pyro_build_plan_text(builder, json, &found.description);
            break;
        case DETAILS:
            pyro_json_take_string(json, &details, NULL);
            break;
        case PHYSICAL_PLAN_DESCRIPTION:
            decode_description(json, builder, &found.plan);
            break;
        case SPARK_PLAN_INFO:
            pyro_json_take_raw_fast(json, &plan); /* only the last plan is read */
            break;
        case TIME:
            pyro_json_take_int(json, &found.submitted_ms);
            break;
        case MODIFIED_CONFIGS:
            if (pyro_json_peek(json) == '{')
                pyro_json_take_raw(json, &settings);
            else
                pyro_json_skip(json);
            break;
        case QUERY_ID:
            if (pyro_json_peek(json) == '"')
                pyro_build_text(builder, json, &found.query_id);
            else
                pyro_json_skip(json);
            break;
        default: /* also jobTags and jobGroupId, which the jobs' own properties hold */
            pyro_json_skip(json);
        }
    }
    struct pyro_sql_execution *sql = find_execution(json, builder, found.id);
    if (!sql)
        return false;
    sql->unstarted = false;
    builder->app->repeats.sql_executions += pyro_build_identity(builder, PYRO_IDENTITY_SQL_START, (uint64_t)found.id);
    sql->root_id = found.root_id;
    sql->query_id = found.query_id;
    sql->modified_configs = pyro_build_settings(builder, settings);
    sql->description = found.description;
    sql->call_site = pyro_build_call_site(builder, details, found.description);
    sql->submitted_ms = found.submitted_ms;
    if (!sql->status.ptr)
        sql->status = pyro_intern_slice(builder->app->strings, pyro_slice_from("running"));
    if (plan.ptr)
        pyro_plan_count_joins(plan, sql->first_joins);
    if (sql->plan_updates == 0) { /* an adaptive update that came before is newer */
        sql->plan = found.plan;
        keep_plan(builder, sql, plan, found.submitted_ms);
    }
    pyro_build_scheduling_time(builder, found.submitted_ms);
    return !builder->failed;
}

bool pyro_decode_sql_execution_end(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (EXECUTION_ID, "executionId"), (TIME, "time"),
                   (ERROR_MESSAGE, "errorMessage"));
    struct pyro_slice failure = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    int64_t id = PYRO_NONE, time_ms = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == EXECUTION_ID)
            pyro_json_take_int(json, &id);
        else if (key == TIME)
            pyro_json_take_int(json, &time_ms);
        else if (key == ERROR_MESSAGE)
            pyro_build_text(builder, json, &failure);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    if (id == PYRO_NONE)
        return pyro_json_refuse(json, "a SQL execution without an id");
    struct pyro_sql_execution *sql = pyro_build_sql(builder, id);
    if (!sql)
        return false;
    pyro_build_identity(builder, PYRO_IDENTITY_SQL_END, (uint64_t)id);
    pyro_plan_settle(builder, (size_t)(sql - builder->app->sql.items));
    bool failed = failure.len > 0;
    sql->completed_ms = time_ms;
    sql->failure = failed ? failure : PYRO_SLICE_NULL;
    sql->status = pyro_intern_slice(builder->app->strings, pyro_slice_from(failed ? "failed" : "succeeded"));
    pyro_build_scheduling_time(builder, time_ms);
    struct pyro_failure *row = failed ? pyro_build_failure(builder, "sql") : NULL;
    if (row) {
        row->id = pyro_build_number(builder, id);
        row->time_ms = time_ms;
        row->message = pyro_intern_slice(builder->app->strings, pyro_build_cut(failure, 2000));
    }
    return !builder->failed;
}

static void add_driver_update(struct pyro_builder *builder, int64_t id, int64_t value)
{
    int64_t *sum = pyro_value_map_put(&builder->driver_updates, id);
    if (!sum)
        builder->failed = true;
    else if (*sum == PYRO_VALUE_NONE)
        *sum = value;
    else if (__builtin_add_overflow(*sum, value, sum))
        *sum = value > 0 ? INT64_MAX : INT64_MIN + 1;
}

bool pyro_decode_driver_accum_updates(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (EXECUTION_ID, "executionId"), (ACCUM_UPDATES, "accumUpdates"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key != ACCUM_UPDATES || !pyro_json_enter_array(json)) {
            if (key != ACCUM_UPDATES)
                pyro_json_skip(json);
            continue;
        }
        for (bool first = true; pyro_json_next_element(json, &first);) {
            int64_t pair[2] = {PYRO_NONE, PYRO_NONE};
            size_t count = 0;
            if (!pyro_json_enter_array(json))
                continue;
            for (bool inner = true; pyro_json_next_element(json, &inner);) {
                if (count < 2)
                    pyro_json_take_int(json, &pair[count++]);
                else
                    pyro_json_skip(json);
            }
            if (!json->error && pair[0] != PYRO_NONE && pair[1] != PYRO_NONE)
                add_driver_update(builder, pair[0], pair[1]);
        }
    }
    return !json->error && !builder->failed;
}

bool pyro_decode_sql_adaptive_execution_update(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (EXECUTION_ID, "executionId"),
                   (PHYSICAL_PLAN_DESCRIPTION, "physicalPlanDescription"), (SPARK_PLAN_INFO, "sparkPlanInfo"));
    struct pyro_slice text = PYRO_SLICE_NULL, plan = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    int64_t id = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == EXECUTION_ID)
            pyro_json_take_int(json, &id);
        else if (key == PHYSICAL_PLAN_DESCRIPTION)
            decode_description(json, builder, &text);
        else if (key == SPARK_PLAN_INFO)
            pyro_json_take_raw_fast(json, &plan); /* only the last plan is read */
        else
            pyro_json_skip(json);
    }
    struct pyro_sql_execution *sql = find_execution(json, builder, id);
    if (!sql)
        return false;
    sql->plan_updates++;
    if (text.ptr)
        sql->plan = text;
    return keep_plan(builder, sql, plan, builder->latest_scheduling_ms) && !builder->failed;
}
