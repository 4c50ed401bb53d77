/* The events about SQL executions. */
#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "decode/eventlog/keys.h"
#include "decode/sparkview/listener.h"

/* What such events carry; each has some of it. */
struct event {
    int64_t id, time_ms;
    bool has_id;
    struct pyro_slice description, plan_text, plan, error, metrics, updates; /* as written; null: not there */
};

static void take_text(struct pyro_json_reader *json, struct pyro_slice *text)
{
    if (pyro_json_peek(json) == '"')
        pyro_json_take_string(json, text, NULL);
    else
        pyro_json_skip(json);
}

static void take_container(struct pyro_json_reader *json, char opening, struct pyro_slice *text)
{
    if (pyro_json_peek(json) == opening)
        pyro_json_take_raw_fast(json, text);
    else
        pyro_json_skip(json);
}

static bool read_event(struct pyro_slice line, struct event *event)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (EXECUTION_ID, "executionId"), (DESCRIPTION, "description"),
                   (PHYSICAL_PLAN_DESCRIPTION, "physicalPlanDescription"), (SPARK_PLAN_INFO, "sparkPlanInfo"),
                   (TIME, "time"), (ERROR_MESSAGE, "errorMessage"), (SQL_PLAN_METRICS, "sqlPlanMetrics"),
                   (ACCUM_UPDATES, "accumUpdates"));
    struct pyro_json_reader json;
    struct pyro_json_object object;
    *event = (struct event){0};
    pyro_json_reader_start(&json, line.ptr, line.ptr + line.len, pyro_scan_best());
    if (!pyro_json_enter_object(&json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(&json, &object, keys)) != PYRO_JSON_END;) {
        if (key == EXECUTION_ID)
            event->has_id = pyro_json_take_int(&json, &event->id);
        else if (key == DESCRIPTION)
            take_text(&json, &event->description);
        else if (key == PHYSICAL_PLAN_DESCRIPTION)
            take_text(&json, &event->plan_text);
        else if (key == SPARK_PLAN_INFO)
            take_container(&json, '{', &event->plan);
        else if (key == TIME)
            pyro_json_take_int(&json, &event->time_ms);
        else if (key == ERROR_MESSAGE)
            take_text(&json, &event->error);
        else if (key == SQL_PLAN_METRICS)
            take_container(&json, '[', &event->metrics);
        else if (key == ACCUM_UPDATES)
            take_container(&json, '[', &event->updates);
        else
            pyro_json_skip(&json);
    }
    return pyro_json_record_end(&json) && event->has_id;
}

/* The execution's row with the plan's graph and its metrics, which are then known. SIZE_MAX: no such plan. */
static size_t take_plan(struct pyro_sql_follower *sql, const struct event *event)
{
    struct pyro_history_sql made;
    if (!event->plan.ptr || !pyro_sql_graph(sql->history, event->plan, &made))
        return SIZE_MAX;
    size_t row = pyro_sql_enter(sql, event->id);
    if (row == SIZE_MAX) {
        pyro_history_sql_done(&made);
        return row;
    }
    struct pyro_history_sql *execution = &sql->history->sql.items[row];
    pyro_sql_move_graph(&made, execution);
    for (size_t i = 0; i < execution->metrics.count; i++)
        pyro_sql_know(sql, row, execution->metrics.items[i].accumulator, execution->metrics.items[i].type);
    return row;
}

static void on_start(struct pyro_listener *listener, const struct event *event)
{
    struct pyro_sql_follower *sql = &listener->sql;
    size_t row = take_plan(sql, event);
    if (row == SIZE_MAX)
        return;
    struct pyro_history_sql *execution = &sql->history->sql.items[row];
    execution->description = pyro_listener_plan(listener, event->description);
    execution->plan = pyro_listener_plan(listener, event->plan_text);
    execution->submitted_ms = event->time_ms;
}

static void on_adaptive_plan(struct pyro_listener *listener, const struct event *event)
{
    struct pyro_sql_follower *sql = &listener->sql;
    size_t row = take_plan(sql, event);
    if (row != SIZE_MAX)
        sql->history->sql.items[row].plan = pyro_listener_plan(listener, event->plan_text);
}

static void on_adaptive_metrics(struct pyro_listener *listener, const struct event *event)
{
    struct pyro_sql_follower *sql = &listener->sql;
    size_t row = pyro_sql_enter(sql, event->id);
    struct pyro_json_reader json;
    struct pyro_json_object object;
    if (row == SIZE_MAX || !event->metrics.ptr)
        return;
    pyro_json_reader_start(&json, event->metrics.ptr, event->metrics.ptr + event->metrics.len, pyro_scan_best());
    pyro_json_enter_array(&json);
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        int64_t accumulator = 0;
        struct pyro_slice type = PYRO_SLICE_LITERAL("");
        if (!pyro_json_enter_object(&json, &object))
            return;
        for (int key; (key = PYRO_JSON_NEXT(&json, &object, plan_metric_keys)) != PYRO_JSON_END;) {
            if (key == METRIC_ACCUMULATOR)
                pyro_json_take_int(&json, &accumulator);
            else if (key == METRIC_TYPE)
                take_text(&json, &type);
            else
                pyro_json_skip(&json);
        }
        pyro_sql_know(sql, row, accumulator, pyro_listener_keep(listener, type));
    }
}

static void on_end(struct pyro_listener *listener, const struct event *event)
{
    struct pyro_sql_follower *sql = &listener->sql;
    size_t row = pyro_sql_find_live(sql, event->id);
    if (row == SIZE_MAX)
        return;
    struct pyro_history_sql *execution = &sql->history->sql.items[row];
    execution->completed = true;
    execution->completed_ms = event->time_ms;
    execution->error = pyro_listener_keep(listener, event->error);
    pyro_sql_end(sql, row);
}

static void on_driver_updates(struct pyro_listener *listener, const struct event *event)
{
    struct pyro_sql_follower *sql = &listener->sql;
    size_t row = pyro_sql_find_live(sql, event->id);
    struct pyro_json_reader json;
    if (row == SIZE_MAX || !event->updates.ptr)
        return;
    pyro_json_reader_start(&json, event->updates.ptr, event->updates.ptr + event->updates.len, pyro_scan_best());
    pyro_json_enter_array(&json);
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        int64_t pair[2] = {0};
        size_t count = 0;
        if (!pyro_json_enter_array(&json))
            return;
        for (bool inner = true; pyro_json_next_element(&json, &inner);) {
            if (count < 2)
                pyro_json_take_int(&json, &pair[count++]);
            else
                pyro_json_skip(&json);
        }
        struct pyro_sql_driver_update *added =
            !json.error && count == 2 ? pyro_vec_push(&sql->live.items[row].driver, NULL) : NULL;
        sql->history->failed |= !json.error && count == 2 && !added;
        if (added)
            *added = (struct pyro_sql_driver_update){pair[0], pair[1]};
    }
}

static const struct {
    const char *name;
    void (*follow)(struct pyro_listener *listener, const struct event *event);
} rows[] = {
    {"SparkListenerSQLExecutionStart", on_start},
    {"SparkListenerSQLAdaptiveExecutionUpdate", on_adaptive_plan},
    {"SparkListenerSQLAdaptiveSQLMetricUpdates", on_adaptive_metrics},
    {"SparkListenerSQLExecutionEnd", on_end},
    {"SparkListenerDriverAccumUpdates", on_driver_updates},
};

bool pyro_sql_follows(struct pyro_slice name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (pyro_slice_is(name, rows[i].name))
            return true;
    return false;
}

bool pyro_sql_event(struct pyro_listener *listener, struct pyro_slice name, struct pyro_slice line)
{
    struct event event;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!pyro_slice_is(name, rows[i].name))
            continue;
        if (read_event(line, &event))
            rows[i].follow(listener, &event);
        else
            listener->history->bad_lines++;
        return true;
    }
    return false;
}
