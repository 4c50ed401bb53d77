/* stages/ID/ATTEMPT/taskList and taskSummary, and tasks inside stages */
#include <stdlib.h>

#include "serve/spark/api.h"

const char *const pyro_spark_task_statuses[4] = {"RUNNING", "KILLED", "FAILED", "SUCCESS"};

const struct pyro_history_executor *pyro_spark_find_executor(const struct pyro_history *history, struct pyro_slice id)
{
    for (size_t i = 0; i < history->executors.count; i++)
        if (pyro_slice_eq(history->executors.items[i].id, id))
            return &history->executors.items[i];
    return NULL;
}

void pyro_spark_pairs_object(struct spark_json *json, const char *key, const pyro_history_pairs *pairs)
{
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
    for (size_t i = 0; i < pairs->count; i++) {
        pyro_spark_key_slice(json, pairs->items[i].key);
        pyro_spark_text(json, pairs->items[i].value);
    }
    pyro_spark_close_object(json);
}

/* ---- What Spark derives of a task ---- */

static int64_t duration(const struct pyro_history_task *task)
{
    return task->ended && task->finish_ms > task->launch_ms ? task->finish_ms - task->launch_ms : 0;
}

static int64_t getting_result(const struct pyro_history_task *task)
{
    return task->ended && task->fetch_ms > 0 ? task->launch_ms + duration(task) - task->fetch_ms : 0;
}

static int64_t scheduler_delay(const struct pyro_history_task *task)
{
    if (!task->metrics)
        return 0;
    int64_t delay = duration(task) - task->metrics[PYRO_HISTORY_executorRunTime] -
                    task->metrics[PYRO_HISTORY_executorDeserializeTime] -
                    task->metrics[PYRO_HISTORY_resultSerializationTime] - getting_result(task);
    return delay > 0 ? delay : 0;
}

/* ---- One task ---- */

static const char *const metric_names[] = {
#define HISTORY_METRIC(name, group, key, stage) #name,
#include "model/history_metrics.def"
#undef HISTORY_METRIC
};

static void put_metric(struct spark_json *json, const char *name, const struct pyro_history_task *task, int metric)
{
    pyro_spark_put_int(json, name ? name : metric_names[metric], task->metrics[metric]);
}

static void open_member(struct spark_json *json, const char *key)
{
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
}

static void write_task_metrics(struct spark_json *json, const struct pyro_history_task *task)
{
    open_member(json, "taskMetrics");
    for (int i = 0; i <= PYRO_HISTORY_peakExecutionMemory; i++)
        put_metric(json, NULL, task, i);
    open_member(json, "inputMetrics");
    put_metric(json, NULL, task, PYRO_HISTORY_bytesRead);
    put_metric(json, NULL, task, PYRO_HISTORY_recordsRead);
    pyro_spark_close_object(json);
    open_member(json, "outputMetrics");
    put_metric(json, NULL, task, PYRO_HISTORY_bytesWritten);
    put_metric(json, NULL, task, PYRO_HISTORY_recordsWritten);
    pyro_spark_close_object(json);
    open_member(json, "shuffleReadMetrics");
    for (int i = PYRO_HISTORY_remoteBlocksFetched; i <= PYRO_HISTORY_remoteReqsDuration; i++)
        put_metric(json, i == PYRO_HISTORY_shuffleRecordsRead ? "recordsRead" : NULL, task, i);
    open_member(json, "shufflePushReadMetrics");
    for (int i = PYRO_HISTORY_corruptMergedBlockChunks; i <= PYRO_HISTORY_remoteMergedReqsDuration; i++)
        put_metric(json, NULL, task, i);
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
    open_member(json, "shuffleWriteMetrics");
    put_metric(json, "bytesWritten", task, PYRO_HISTORY_shuffleBytesWritten);
    put_metric(json, "writeTime", task, PYRO_HISTORY_shuffleWriteTime);
    put_metric(json, "recordsWritten", task, PYRO_HISTORY_shuffleRecordsWritten);
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
}

void pyro_spark_write_task(struct spark_json *json, const struct pyro_history *history,
                           const struct pyro_history_task *task)
{
    static const pyro_history_pairs no_logs = {0};
    const struct pyro_history_executor *executor = pyro_spark_find_executor(history, task->executor);
    bool fetching = !task->ended && task->fetch_ms > 0;
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "taskId", task->id);
    pyro_spark_put_int(json, "index", task->index);
    pyro_spark_put_int(json, "attempt", task->attempt);
    pyro_spark_put_int(json, "partitionId", task->partition);
    pyro_spark_put_date(json, "launchTime", task->launch_ms);
    pyro_spark_put_time(json, "resultFetchStart", task->fetch_ms);
    if (task->ended)
        pyro_spark_put_int(json, "duration", duration(task));
    pyro_spark_put_text(json, "executorId", task->executor);
    pyro_spark_put_text(json, "host", task->host);
    pyro_spark_put_text(json, "status",
                        pyro_slice_from(fetching ? "GET RESULT" : pyro_spark_task_statuses[task->status]));
    pyro_spark_put_text(json, "taskLocality", task->locality);
    pyro_spark_put_bool(json, "speculative", task->speculative);
    pyro_spark_accumulables(json, task->accumulables, task->accumulable_count);
    pyro_spark_put_text(json, "errorMessage", task->error);
    if (task->metrics)
        write_task_metrics(json, task);
    pyro_spark_pairs_object(json, "executorLogs", executor ? &executor->logs : &no_logs);
    pyro_spark_put_int(json, "schedulerDelay", scheduler_delay(task));
    pyro_spark_put_int(json, "gettingResultTime", getting_result(task));
    pyro_spark_close_object(json);
}

/* ---- taskList ---- */

/* Failed and killed tasks sort below all others, as Spark keeps their metrics negative. */
static int64_t run_time_key(const struct pyro_history_task *task)
{
    int64_t run = task->metrics ? task->metrics[PYRO_HISTORY_executorRunTime] : -1;
    return task->metrics && task->status != PYRO_HTASK_SUCCESS ? -run - 1 : run;
}

static int by_id(const void *a, const void *b)
{
    const struct pyro_history_task *x = *(const struct pyro_history_task *const *)a,
                                   *y = *(const struct pyro_history_task *const *)b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_run_time(const void *a, const void *b)
{
    int64_t x = run_time_key(*(const struct pyro_history_task *const *)a),
            y = run_time_key(*(const struct pyro_history_task *const *)b);
    return x != y ? (x > y) - (x < y) : by_id(a, b);
}

static int by_run_time_descending(const void *a, const void *b)
{
    return by_run_time(b, a);
}

/* NULL: no memory. */
static const struct pyro_history_task **sorted_tasks(const struct pyro_history *history,
                                                     const struct pyro_history_stage *stage,
                                                     int (*order)(const void *, const void *))
{
    const struct pyro_history_task **tasks = pyro_allocate(NULL, (stage->tasks.count + 1) * sizeof(*tasks));
    for (size_t i = 0; tasks && i < stage->tasks.count; i++)
        tasks[i] = &history->tasks.items[stage->tasks.items[i]];
    if (tasks)
        qsort(tasks, stage->tasks.count, sizeof(*tasks), order);
    return tasks;
}

void pyro_spark_task_list(struct spark_request *request)
{
    static const char *const orders[] = {"ID", "INCREASING_RUNTIME", "DECREASING_RUNTIME", "runtime", "-runtime"};
    static int (*const compare[])(const void *, const void *) = {by_id, by_run_time, by_run_time_descending,
                                                                 by_run_time, by_run_time_descending};
    int64_t offset, length;
    uint32_t wanted, order;
    if (!pyro_spark_number(request, "offset", 0, &offset) || !pyro_spark_number(request, "length", 20, &length) ||
        !pyro_spark_choices(request, "sortBy", orders, 5, &order) ||
        !pyro_spark_choices(request, "status", pyro_spark_task_statuses, 4, &wanted))
        return;
    const struct pyro_history_stage *stage = pyro_history_stage(request->history, pyro_serve_id(request->arguments[0]),
                                                                pyro_serve_id(request->arguments[1]));
    const struct pyro_history_task **tasks =
        stage ? sorted_tasks(request->history, stage, compare[__builtin_ctz(order)]) : NULL;
    if (stage && !tasks) {
        pyro_spark_error(request, 500, "no memory left");
        return;
    }
    pyro_spark_open_array(&request->json);
    for (size_t i = 0; stage && i < stage->tasks.count && length > 0; i++) {
        if (!(wanted >> tasks[i]->status & 1) || offset-- > 0)
            continue;
        pyro_spark_element(&request->json);
        pyro_spark_write_task(&request->json, request->history, tasks[i]);
        length--;
    }
    pyro_spark_close_array(&request->json);
    pyro_release(NULL, tasks);
}

/* ---- taskSummary ---- */

struct summary {
    const struct pyro_history_task **tasks;
    int64_t *values;
    size_t count, quantile_count;
    const double *quantiles;
};

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The values in summary->values, in any order. */
static void write_values(struct spark_json *json, const char *key, const struct summary *summary)
{
    qsort(summary->values, summary->count, sizeof(*summary->values), compare_numbers);
    pyro_spark_key(json, key);
    pyro_spark_open_array(json);
    for (size_t q = 0; q < summary->quantile_count; q++) {
        double place = summary->quantiles[q] * (double)summary->count;
        size_t index = place < 0 ? 0 : place >= (double)summary->count ? summary->count - 1 : (size_t)place;
        pyro_spark_element(json);
        pyro_spark_real(json, (double)summary->values[index]);
    }
    pyro_spark_close_array(json);
}

static void write_metric(struct spark_json *json, const char *key, const struct summary *summary, int metric)
{
    for (size_t i = 0; i < summary->count; i++)
        summary->values[i] = summary->tasks[i]->metrics[metric];
    write_values(json, key ? key : metric_names[metric], summary);
}

static void write_sum(struct spark_json *json, const char *key, const struct summary *summary, int a, int b)
{
    for (size_t i = 0; i < summary->count; i++)
        if (__builtin_add_overflow(summary->tasks[i]->metrics[a], summary->tasks[i]->metrics[b], &summary->values[i]))
            summary->values[i] = INT64_MAX;
    write_values(json, key, summary);
}

static void write_derived(struct spark_json *json, const char *key, const struct summary *summary,
                          int64_t (*derive)(const struct pyro_history_task *))
{
    for (size_t i = 0; i < summary->count; i++)
        summary->values[i] = derive(summary->tasks[i]);
    write_values(json, key, summary);
}

static void write_shuffle_summary(struct spark_json *json, const struct summary *summary)
{
    open_member(json, "shuffleReadMetrics");
    write_sum(json, "readBytes", summary, PYRO_HISTORY_localBytesRead, PYRO_HISTORY_remoteBytesRead);
    write_metric(json, "readRecords", summary, PYRO_HISTORY_shuffleRecordsRead);
    for (int i = PYRO_HISTORY_remoteBlocksFetched; i <= PYRO_HISTORY_remoteBytesReadToDisk; i++)
        write_metric(json, NULL, summary, i);
    write_sum(json, "totalBlocksFetched", summary, PYRO_HISTORY_remoteBlocksFetched, PYRO_HISTORY_localBlocksFetched);
    write_metric(json, NULL, summary, PYRO_HISTORY_remoteReqsDuration);
    open_member(json, "shufflePushReadMetricsDist");
    for (int i = PYRO_HISTORY_corruptMergedBlockChunks; i <= PYRO_HISTORY_remoteMergedReqsDuration; i++)
        write_metric(json, NULL, summary, i);
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
    open_member(json, "shuffleWriteMetrics");
    write_metric(json, "writeBytes", summary, PYRO_HISTORY_shuffleBytesWritten);
    write_metric(json, "writeRecords", summary, PYRO_HISTORY_shuffleRecordsWritten);
    write_metric(json, "writeTime", summary, PYRO_HISTORY_shuffleWriteTime);
    pyro_spark_close_object(json);
}

static void write_summary(struct spark_json *json, const struct summary *summary)
{
    pyro_spark_open_object(json);
    pyro_spark_key(json, "quantiles");
    pyro_spark_open_array(json);
    for (size_t q = 0; q < summary->quantile_count; q++) {
        pyro_spark_element(json);
        pyro_spark_real(json, summary->quantiles[q]);
    }
    pyro_spark_close_array(json);
    write_derived(json, "duration", summary, duration);
    for (int i = 0; i <= PYRO_HISTORY_resultSerializationTime; i++)
        write_metric(json, NULL, summary, i);
    write_derived(json, "gettingResultTime", summary, getting_result);
    write_derived(json, "schedulerDelay", summary, scheduler_delay);
    write_metric(json, NULL, summary, PYRO_HISTORY_peakExecutionMemory);
    write_metric(json, NULL, summary, PYRO_HISTORY_memoryBytesSpilled);
    write_metric(json, NULL, summary, PYRO_HISTORY_diskBytesSpilled);
    open_member(json, "inputMetrics");
    write_metric(json, NULL, summary, PYRO_HISTORY_bytesRead);
    write_metric(json, NULL, summary, PYRO_HISTORY_recordsRead);
    pyro_spark_close_object(json);
    open_member(json, "outputMetrics");
    write_metric(json, NULL, summary, PYRO_HISTORY_bytesWritten);
    write_metric(json, NULL, summary, PYRO_HISTORY_recordsWritten);
    pyro_spark_close_object(json);
    write_shuffle_summary(json, summary);
    pyro_spark_close_object(json);
}

/* Tasks that succeeded, with metrics; ret->tasks NULL: no memory. */
static void begin_summary(const struct pyro_history *history, const struct pyro_history_stage *stage,
                          const double *quantiles, size_t quantile_count, struct summary *ret)
{
    size_t kept = 0;
    *ret = (struct summary){.quantiles = quantiles, .quantile_count = quantile_count};
    ret->tasks = sorted_tasks(history, stage, by_id);
    ret->values = pyro_allocate(NULL, (stage->tasks.count + 1) * sizeof(*ret->values));
    for (size_t i = 0; ret->tasks && i < stage->tasks.count; i++)
        if (ret->tasks[i]->status == PYRO_HTASK_SUCCESS && ret->tasks[i]->metrics)
            ret->tasks[kept++] = ret->tasks[i];
    ret->count = kept;
}

static void end_summary(struct summary *summary)
{
    pyro_release(NULL, summary->tasks);
    pyro_release(NULL, summary->values);
}

bool pyro_spark_write_task_distributions(struct spark_json *json, const struct pyro_history *history,
                                         const struct pyro_history_stage *stage, const double *quantiles, size_t count,
                                         bool *ret_memory)
{
    struct summary summary;
    begin_summary(history, stage, quantiles, count, &summary);
    *ret_memory = summary.tasks && summary.values;
    bool any = *ret_memory && summary.count > 0;
    if (any) {
        pyro_spark_key(json, "taskMetricsDistributions");
        write_summary(json, &summary);
    }
    end_summary(&summary);
    return any;
}

void pyro_spark_task_summary(struct spark_request *request)
{
    double quantiles[SPARK_QUANTILES];
    size_t count;
    struct summary summary = {0};
    if (!pyro_spark_quantiles(request, "0.05,0.25,0.5,0.75,0.95", quantiles, &count))
        return;
    int64_t id = pyro_serve_id(request->arguments[0]), attempt = pyro_serve_id(request->arguments[1]);
    const struct pyro_history_stage *stage = pyro_history_stage(request->history, id, attempt);
    if (stage)
        begin_summary(request->history, stage, quantiles, count, &summary);
    if (stage && (!summary.tasks || !summary.values))
        pyro_spark_error(request, 500, "no memory left");
    else if (summary.count == 0)
        pyro_spark_error(request, 404, "No tasks reported metrics for %lld / %lld yet.", (long long)id,
                         (long long)attempt);
    else
        write_summary(&request->json, &summary);
    end_summary(&summary);
}
