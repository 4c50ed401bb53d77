/* sql, sql/ID */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/numbers/saturate.h"
#include "base/strings/intern.h"
#include "serve/spark/pieces.h"
#include "serve/spark/sort.h"
#include "serve/spark/spark_request.h"

static const char *status_of(const struct pyro_history_sql *sql)
{
    if (sql->error.ptr)
        return sql->error.len ? "FAILED" : "COMPLETED";
    if (!sql->completed)
        return "RUNNING";
    for (size_t i = 0; i < sql->jobs.count; i++)
        if (sql->jobs.items[i].status == PYRO_JOB_FAILED)
            return "FAILED";
    return "COMPLETED";
}

static int scala_order(const void *a, const void *b)
{
    return pyro_scala_order(((const struct pyro_history_sql_job *)a)->id, ((const struct pyro_history_sql_job *)b)->id);
}

/* False: no memory. */
static bool write_jobs(struct spark_json *json, const struct pyro_history_sql *sql)
{
    static const struct {
        const char *name;
        int status;
    } rows[] = {
        {"runningJobIds", PYRO_JOB_RUNNING}, {"successJobIds", PYRO_JOB_SUCCEEDED}, {"failedJobIds", PYRO_JOB_FAILED}};
    size_t count = sql->jobs.count;
    struct pyro_history_sql_job *jobs = pyro_allocate(NULL, (count + 1) * sizeof(*jobs));
    if (!jobs)
        return false;
    if (count)
        memcpy(jobs, sql->jobs.items, count * sizeof(*jobs));
    if (count > PYRO_SCALA_SMALL)
        qsort(jobs, count, sizeof(*jobs), scala_order);
    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        pyro_spark_key(json, rows[r].name);
        pyro_spark_open_array(json);
        for (size_t i = 0; i < count; i++) {
            if (jobs[i].status != rows[r].status)
                continue;
            pyro_spark_element(json);
            pyro_spark_integer(json, jobs[i].id);
        }
        pyro_spark_close_array(json);
    }
    pyro_release(NULL, jobs);
    return true;
}

/* Without the blanks and control characters that Java's trim() takes off. */
static struct pyro_slice trim(struct pyro_slice text)
{
    while (text.len && (unsigned char)*text.ptr <= ' ')
        text = (struct pyro_slice){text.ptr + 1, text.len - 1};
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    return text;
}

/* "WholeStageCodegen (3)" */
static void put_cluster(struct spark_json *json, const struct pyro_history_sql *sql, int64_t cluster)
{
    static const char prefix[] = "WholeStageCodegen (";
    struct pyro_slice name = cluster < 0 ? PYRO_SLICE_NULL : trim(sql->nodes.items[cluster].name);
    int64_t number;
    if (name.len <= sizeof(prefix))
        return;
    struct pyro_slice digits = {name.ptr + sizeof(prefix) - 1, name.len - sizeof(prefix)};
    if (pyro_serve_parse_number(digits, &number) && number >= 0)
        pyro_spark_put_int(json, "wholeStageCodegenId", number);
}

static void write_metrics(struct spark_json *json, const struct pyro_history *history,
                          const struct pyro_history_sql *sql, const struct pyro_history_sql_node *node)
{
    pyro_spark_key(json, "metrics");
    pyro_spark_open_array(json);
    for (uint32_t i = 0; i < node->metric_count; i++) {
        const struct pyro_history_sql_metric *metric = &sql->metrics.items[node->metric + i];
        const uint64_t *text = pyro_map_get(&sql->values, (uint64_t)metric->accumulator);
        if (!text)
            continue;
        pyro_spark_element(json);
        pyro_spark_open_object(json);
        pyro_spark_put_text(json, "name", trim(metric->name));
        pyro_spark_put_text(json, "value", pyro_string_pool_text(history->strings, (uint32_t)(*text - 1)));
        pyro_spark_close_object(json);
    }
    pyro_spark_close_array(json);
}

static void write_graph(struct spark_json *json, const struct pyro_history *history, const struct pyro_history_sql *sql,
                        bool details)
{
    pyro_spark_key(json, "nodes");
    pyro_spark_open_array(json);
    for (size_t i = details ? sql->nodes.count : 0; i-- > 0;) {
        const struct pyro_history_sql_node *node = &sql->nodes.items[i];
        pyro_spark_element(json);
        pyro_spark_open_object(json);
        pyro_spark_put_int(json, "nodeId", (int64_t)i);
        pyro_spark_put_text(json, "nodeName", trim(node->name));
        put_cluster(json, sql, node->cluster);
        write_metrics(json, history, sql, node);
        pyro_spark_close_object(json);
    }
    pyro_spark_close_array(json);
    pyro_spark_key(json, "edges");
    pyro_spark_open_array(json);
    for (size_t i = 0; details && i < sql->edges.count; i++) {
        pyro_spark_element(json);
        pyro_spark_open_object(json);
        pyro_spark_put_int(json, "fromId", sql->edges.items[i].from);
        pyro_spark_put_int(json, "toId", sql->edges.items[i].to);
        pyro_spark_close_object(json);
    }
    pyro_spark_close_array(json);
}

struct wish {
    bool details, plan;
};

/* False: no memory. */
static bool write_execution(struct spark_json *json, const struct pyro_history *history,
                            const struct pyro_history_sql *sql, const struct wish *wish)
{
    int64_t end_ms = sql->completed ? sql->completed_ms : (int64_t)time(NULL) * 1000;
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "id", sql->id);
    pyro_spark_put_text(json, "status", pyro_slice_from(status_of(sql)));
    pyro_spark_put_text(json, "description", sql->description);
    pyro_spark_put_text(json, "planDescription", wish->plan ? sql->plan : PYRO_SLICE_LITERAL(""));
    pyro_spark_put_date(json, "submissionTime", sql->submitted_ms);
    pyro_spark_put_int(json, "duration", pyro_sub_wrapping(end_ms, sql->submitted_ms));
    bool ok = write_jobs(json, sql);
    write_graph(json, history, sql, wish->details);
    pyro_spark_close_object(json);
    return ok;
}

/* Of all that are shown. */
static bool execution_id(const void *context, size_t row, int64_t *ret)
{
    const struct pyro_history_sql *sql = &((const struct pyro_history *)context)->sql.items[row];
    *ret = sql->id;
    return !sql->dropped;
}

struct execution_list {
    const struct pyro_history *history;
    uint32_t *rows;
    size_t at, end;
    struct wish wish;
};

static bool next_execution(void *context, struct spark_json *json)
{
    struct execution_list *list = context;
    if (list->at == list->end) {
        pyro_spark_close_array(json);
        return false;
    }
    pyro_spark_element(json);
    json->out->failed |=
        !write_execution(json, list->history, &list->history->sql.items[list->rows[list->at++]], &list->wish);
    return true;
}

static void close_executions(void *context)
{
    struct execution_list *list = context;
    pyro_release(NULL, list->rows);
    pyro_release(NULL, list);
}

void pyro_spark_sql_executions(struct spark_request *request)
{
    const struct pyro_history *history = request->history;
    const struct wish wish = {pyro_spark_flag_or(request, "details", true),
                              pyro_spark_flag_or(request, "planDescription", true)};
    int64_t offset, length;
    if (!pyro_spark_number(request, "offset", 0, &offset) || !pyro_spark_number(request, "length", 20, &length))
        return;
    if (length <= 0) {
        pyro_spark_fault(request, 500);
        return;
    }
    size_t count;
    uint32_t *rows = pyro_spark_sort_rows(history->sql.count, execution_id, history, &count);
    struct execution_list *list = pyro_allocate(NULL, sizeof(*list));
    if (!rows || !list) {
        pyro_release(NULL, rows);
        pyro_release(NULL, list);
        pyro_spark_error(request, 503, "no memory left");
        return;
    }
    size_t first = offset > 0 && (uint64_t)offset < count ? (size_t)offset : offset > 0 ? count : 0;
    size_t end = (uint64_t)length < count - first ? first + (size_t)length : count;
    *list = (struct execution_list){history, rows, first, end, wish};
    bool graphs = true;
    for (size_t i = first; i < end; i++)
        graphs &= history->sql.items[rows[i]].has_graph;
    if (!graphs) {
        close_executions(list);
        pyro_spark_no_such_app(request); /* what Spark makes of a plan that is not there */
        return;
    }
    pyro_spark_open_array(&request->json);
    pyro_spark_answer_pieces(request, &(const struct spark_pieces){next_execution, close_executions, list});
}

void pyro_spark_sql_execution(struct spark_request *request)
{
    const struct wish wish = {pyro_spark_flag_or(request, "details", true),
                              pyro_spark_flag_or(request, "planDescription", true)};
    int64_t id = pyro_spark_id(request->arguments[0]);
    const struct pyro_history_sql *sql = pyro_history_sql(request->history, id);
    if (!sql || sql->dropped)
        pyro_spark_error(request, 404, "unknown query execution id: %" PRId64, id);
    else if (!sql->has_graph)
        pyro_spark_no_such_app(request);
    else if (!write_execution(&request->json, request->history, sql, &wish))
        pyro_spark_error(request, 503, "no memory left");
}
