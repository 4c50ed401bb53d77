/* SQL executions, page by page: their plans, and the values of their metrics. */
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "decode/rest/rest_reading.h"

#define PREFIX "org.apache.spark.sql.execution.ui.SparkListener"

enum { PAGE_EXECUTIONS = 50 };

PYRO_JSON_KEYS(execution_keys, (ID, "id"), (STATUS, "status"), (DESCRIPTION, "description"), (PLAN, "planDescription"),
               (SUBMITTED, "submissionTime"), (DURATION, "duration"), (RUNNING_JOBS, "runningJobIds"),
               (SUCCEEDED_JOBS, "successJobIds"), (FAILED_JOBS, "failedJobIds"), (NODES, "nodes"), (EDGES, "edges"),
               (ROOT, "rootExecutionId"), (ERROR, "errorMessage"), (QUERY_ID, "queryId"),
               (MODIFIED_CONFIGS, "modifiedConfigs"));

static bool keep_jobs(struct pyro_rest_reading *reading, int64_t execution, struct pyro_slice ids)
{
    struct pyro_json_reader json;
    pyro_rest_start(&json, ids);
    if (!ids.ptr || !pyro_json_enter_array(&json))
        return true;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        struct pyro_rest_job_execution *row = pyro_vec_push(&reading->executions, reading->source->allocator);
        if (!row)
            return false;
        *row = (struct pyro_rest_job_execution){PYRO_NONE, execution};
        pyro_json_take_int(&json, &row->job);
    }
    return true;
}

static enum pyro_status write_end(struct pyro_rest_reading *reading, const struct pyro_slice *values, int64_t id,
                                  int64_t submitted_ms)
{
    bool failed = pyro_rest_is(values[STATUS], "FAILED");
    int64_t duration_ms = pyro_rest_int(values[DURATION], 0);
    if (!failed && !pyro_rest_is(values[STATUS], "COMPLETED"))
        return PYRO_OK;
    pyro_rest_line(reading, PREFIX "SQLExecutionEnd");
    pyro_rest_add_int(reading, "executionId", id);
    if (submitted_ms != PYRO_NONE && duration_ms >= 0 && duration_ms < INT32_MAX * 1000L)
        pyro_rest_add_int(reading, "time", pyro_add_saturating(submitted_ms, duration_ms));
    if (failed && pyro_rest_string(values[ERROR]).len > 0)
        pyro_rest_add_raw(reading, "errorMessage", values[ERROR]);
    else if (failed)
        pyro_rest_add_raw(reading, "errorMessage", PYRO_SLICE_LITERAL("\"the server does not say why\""));
    return pyro_rest_line_end(reading);
}

static enum pyro_status write_execution(struct pyro_rest_reading *reading, const struct pyro_slice *values,
                                        struct pyro_strbuf *updates)
{
    int64_t id = pyro_rest_int(values[ID], PYRO_NONE), submitted_ms = pyro_rest_time(values[SUBMITTED]);
    if (id < 0)
        return PYRO_OK;
    for (int i = RUNNING_JOBS; i <= FAILED_JOBS; i++)
        if (!keep_jobs(reading, id, values[i]))
            return pyro_rest_no_memory(reading);
    pyro_rest_line(reading, PREFIX "SQLExecutionStart");
    pyro_rest_add_int(reading, "executionId", id);
    pyro_rest_add_raw(reading, "rootExecutionId", values[ROOT]);
    pyro_rest_add_raw(reading, "description", values[DESCRIPTION]);
    pyro_rest_add_raw(reading, "physicalPlanDescription", values[PLAN]);
    pyro_strbuf_clear(updates);
    pyro_rest_add_plan(reading, values[NODES], values[EDGES], values[PLAN], updates);
    pyro_rest_add_time(reading, "time", submitted_ms);
    pyro_rest_add_raw(reading, "modifiedConfigs", values[MODIFIED_CONFIGS]);
    pyro_rest_add_raw(reading, "queryId", values[QUERY_ID]);
    PYRO_TRY(pyro_rest_line_end(reading));
    if (updates->failed)
        return pyro_rest_no_memory(reading);
    if (updates->len > 0) {
        pyro_rest_line(reading, PREFIX "DriverAccumUpdates");
        pyro_rest_add_int(reading, "executionId", id);
        pyro_rest_begin(reading, "accumUpdates", '[');
        pyro_strbuf_add_slice(&reading->lines, pyro_strbuf_slice(updates));
        pyro_rest_end(reading, ']');
        PYRO_TRY(pyro_rest_line_end(reading));
    }
    return write_end(reading, values, id, submitted_ms);
}

static enum pyro_status read_page(struct pyro_rest_reading *reading, struct pyro_strbuf *updates, int64_t offset,
                                  int64_t *newest, int64_t *ret_count)
{
    char page[128];
    struct pyro_json_reader json;
    bool there;
    snprintf(page, sizeof(page), "sql?details=true&planDescription=true&offset=%lld&length=%d", (long long)offset,
             PAGE_EXECUTIONS);
    *ret_count = 0;
    PYRO_TRY(pyro_rest_get_optional(reading, page, &json, &there));
    if (!there || !pyro_json_enter_array(&json))
        return PYRO_OK;
    for (bool first = true; pyro_json_next_element(&json, &first); ++*ret_count) {
        struct pyro_slice values[execution_keys_count];
        if (!pyro_rest_take(&json, execution_keys, execution_keys_count, values))
            continue;
        int64_t id = pyro_rest_int(values[ID], -1);
        *newest = id > *newest ? id : *newest;
        PYRO_TRY(write_execution(reading, values, updates));
    }
    return pyro_rest_check(reading, page, &json);
}

static int compare_jobs(const void *left, const void *right)
{
    const struct pyro_rest_job_execution *a = left, *b = right;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return (a->execution > b->execution) - (a->execution < b->execution);
}

static int compare_metrics(const void *left, const void *right)
{
    const struct pyro_rest_stage_metric *a = left, *b = right;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->attempt != b->attempt)
        return a->attempt < b->attempt ? -1 : 1;
    return (a->accumulator > b->accumulator) - (a->accumulator < b->accumulator);
}

enum pyro_status pyro_rest_read_sql(struct pyro_rest_reading *reading)
{
    enum { MOST_EXECUTIONS = 1 << 20 };
    struct pyro_strbuf updates;
    int64_t newest = -1, listed = 0, count = PAGE_EXECUTIONS;
    enum pyro_status status = PYRO_OK;
    pyro_strbuf_init(&updates, reading->source->allocator);
    while (status == PYRO_OK && count == PAGE_EXECUTIONS && listed < MOST_EXECUTIONS) {
        status = read_page(reading, &updates, listed, &newest, &count);
        listed += count;
    }
    pyro_strbuf_done(&updates);
    if (reading->executions.count > 1)
        qsort(reading->executions.items, reading->executions.count, sizeof(*reading->executions.items), compare_jobs);
    if (reading->metrics.count > 1)
        qsort(reading->metrics.items, reading->metrics.count, sizeof(*reading->metrics.items), compare_metrics);
    if (newest + 1 > listed)
        reading->facts->lost_executions = (uint64_t)(newest + 1 - listed);
    return status;
}
