/* stages/ID/ATTEMPT/taskList, and tasks inside stages */
#include "serve/spark/pieces.h"
#include "serve/spark/sort.h"
#include "serve/spark/spark_request.h"
#include "serve/spark/task_times.h"

const char *const pyro_spark_task_statuses[SPARK_TASK_STATUSES] = {"RUNNING", "KILLED", "FAILED", "SUCCESS", "UNKNOWN"};

/* ---- One task ---- */

static const struct spark_name metric_names[] = {
#define HISTORY_METRIC(name, column, stage) SPARK_NAME(#name),
#include "model/history/metrics.def"
#undef HISTORY_METRIC
};

/* What Spark 3.5 shows of a task that failed or was killed: it mixes these up when it marks them as not to be summed
 * (SPARK-54505). All others are under their own names. */
static const struct {
    int shown, of;
} mixed[] = {
    {PYRO_HISTORY_bytesWritten, PYRO_HISTORY_corruptMergedBlockChunks},
    {PYRO_HISTORY_recordsWritten, PYRO_HISTORY_mergedFetchFallbackCount},
    {PYRO_HISTORY_remoteBlocksFetched, PYRO_HISTORY_remoteMergedBlocksFetched},
    {PYRO_HISTORY_localBlocksFetched, PYRO_HISTORY_localMergedBlocksFetched},
    {PYRO_HISTORY_fetchWaitTime, PYRO_HISTORY_remoteMergedChunksFetched},
    {PYRO_HISTORY_remoteBytesRead, PYRO_HISTORY_localMergedChunksFetched},
    {PYRO_HISTORY_remoteBytesReadToDisk, PYRO_HISTORY_remoteMergedBytesRead},
    {PYRO_HISTORY_localBytesRead, PYRO_HISTORY_localMergedBytesRead},
    {PYRO_HISTORY_shuffleRecordsRead, PYRO_HISTORY_remoteReqsDuration},
    {PYRO_HISTORY_corruptMergedBlockChunks, PYRO_HISTORY_remoteMergedReqsDuration},
    {PYRO_HISTORY_mergedFetchFallbackCount, PYRO_HISTORY_bytesWritten},
    {PYRO_HISTORY_remoteMergedBlocksFetched, PYRO_HISTORY_recordsWritten},
    {PYRO_HISTORY_localMergedBlocksFetched, PYRO_HISTORY_remoteBlocksFetched},
    {PYRO_HISTORY_remoteMergedChunksFetched, PYRO_HISTORY_localBlocksFetched},
    {PYRO_HISTORY_localMergedChunksFetched, PYRO_HISTORY_fetchWaitTime},
    {PYRO_HISTORY_remoteMergedBytesRead, PYRO_HISTORY_remoteBytesRead},
    {PYRO_HISTORY_localMergedBytesRead, PYRO_HISTORY_remoteBytesReadToDisk},
    {PYRO_HISTORY_remoteReqsDuration, PYRO_HISTORY_localBytesRead},
    {PYRO_HISTORY_remoteMergedReqsDuration, PYRO_HISTORY_shuffleRecordsRead},
};

/* Those from `first` to `last`. */
static void put_metrics(struct spark_json *json, const struct pyro_history_task *task, int first, int last)
{
    pyro_spark_put_ints(json, metric_names + first, task->metrics + first, (size_t)(last - first) + 1);
}

static void open_member(struct spark_json *json, const char *key)
{
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
}

static void write_task_metrics(struct spark_json *json, const struct pyro_history_task *task)
{
    struct pyro_history_task mixed_up;
    if (task->status != PYRO_HTASK_SUCCESS) {
        mixed_up = *task;
        for (size_t i = 0; i < sizeof(mixed) / sizeof(*mixed); i++)
            mixed_up.metrics[mixed[i].shown] = task->metrics[mixed[i].of];
        task = &mixed_up;
    }
    open_member(json, "taskMetrics");
    put_metrics(json, task, 0, PYRO_HISTORY_peakExecutionMemory);
    open_member(json, "inputMetrics");
    put_metrics(json, task, PYRO_HISTORY_bytesRead, PYRO_HISTORY_recordsRead);
    pyro_spark_close_object(json);
    open_member(json, "outputMetrics");
    put_metrics(json, task, PYRO_HISTORY_bytesWritten, PYRO_HISTORY_recordsWritten);
    pyro_spark_close_object(json);
    open_member(json, "shuffleReadMetrics");
    put_metrics(json, task, PYRO_HISTORY_remoteBlocksFetched, PYRO_HISTORY_localBytesRead);
    pyro_spark_put_int(json, "recordsRead", task->metrics[PYRO_HISTORY_shuffleRecordsRead]);
    put_metrics(json, task, PYRO_HISTORY_remoteReqsDuration, PYRO_HISTORY_remoteReqsDuration);
    open_member(json, "shufflePushReadMetrics");
    put_metrics(json, task, PYRO_HISTORY_corruptMergedBlockChunks, PYRO_HISTORY_remoteMergedReqsDuration);
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
    open_member(json, "shuffleWriteMetrics");
    pyro_spark_put_int(json, "bytesWritten", task->metrics[PYRO_HISTORY_shuffleBytesWritten]);
    pyro_spark_put_int(json, "writeTime", task->metrics[PYRO_HISTORY_shuffleWriteTime]);
    pyro_spark_put_int(json, "recordsWritten", task->metrics[PYRO_HISTORY_shuffleRecordsWritten]);
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
}

static void write_accumulables(struct spark_json *json, struct pyro_slice from)
{
    struct pyro_history_accumulable one;
    pyro_spark_key(json, "accumulatorUpdates");
    pyro_spark_open_array(json);
    while (pyro_history_accumulable_next(&from, &one)) {
        pyro_spark_element(json);
        pyro_spark_write_accumulable(json, &one);
    }
    pyro_spark_close_array(json);
}

void pyro_spark_write_task(struct spark_json *json, const struct pyro_history *history,
                           const struct pyro_history_task *task)
{
    static const pyro_history_pairs no_logs = {0};
    const struct pyro_history_executor *executor = pyro_history_executor(history, task->executor_text);
    bool fetching = !task->ended && task->fetch_ms > 0;
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "taskId", task->id);
    pyro_spark_put_int(json, "index", task->index);
    pyro_spark_put_int(json, "attempt", task->attempt);
    pyro_spark_put_int(json, "partitionId", task->partition);
    pyro_spark_put_date(json, "launchTime", task->launch_ms);
    pyro_spark_put_time(json, "resultFetchStart", task->fetch_ms);
    if (pyro_spark_duration(task) > 0)
        pyro_spark_put_int(json, "duration", pyro_spark_duration(task));
    pyro_spark_put_text(json, "executorId", task->executor);
    pyro_spark_put_text(json, "host", task->host);
    pyro_spark_put_text(json, "status",
                        pyro_slice_from(fetching ? "GET RESULT" : pyro_spark_task_statuses[task->status]));
    pyro_spark_put_text(json, "taskLocality", task->locality);
    pyro_spark_put_bool(json, "speculative", task->speculative);
    write_accumulables(json, task->accumulables);
    pyro_spark_put_text(json, "errorMessage", task->error);
    if (task->ended)
        write_task_metrics(json, task);
    pyro_spark_pairs_object(json, "executorLogs", executor ? &executor->logs : &no_logs);
    pyro_spark_put_int(json, "schedulerDelay", pyro_spark_scheduler_delay(task));
    pyro_spark_put_int(json, "gettingResultTime", pyro_spark_getting_result(task));
    pyro_spark_close_object(json);
}

/* ---- taskList ---- */

/* Failed and killed tasks sort below all others, as Spark keeps their metrics negative. */
static int64_t run_time_key(const struct pyro_history *history, uint32_t number, int64_t run_ms)
{
    if (history->places.items[number] & PYRO_HISTORY_RUNNING)
        return -1;
    return pyro_history_task_status(history, number) == PYRO_HTASK_SUCCESS
               ? run_ms
               : ~run_ms; /* -run_ms - 1, for every number */
}

/* Numbers of a stage's tasks by id, or by run time and then id. NULL: no memory. */
static uint32_t *sorted_tasks(const struct pyro_history *history, const struct pyro_history_stage *stage,
                              bool by_run_time)
{
    size_t count = stage->tasks.count;
    uint32_t *numbers = pyro_allocate(NULL, (count + 1) * sizeof(*numbers));
    int64_t *keys = pyro_allocate(NULL, (count + 1) * sizeof(*keys));
    bool ok = numbers && keys;
    if (ok) {
        if (count)
            memcpy(numbers, stage->tasks.items, count * sizeof(*numbers));
        pyro_history_task_column(history, PYRO_TASK_id, numbers, count, keys);
        ok = pyro_spark_sort(keys, numbers, count);
    }
    if (ok && by_run_time) {
        pyro_history_task_column(history, PYRO_TASK_run_ms, numbers, count, keys);
        for (size_t i = 0; i < count; i++)
            keys[i] = run_time_key(history, numbers[i], keys[i]);
        ok = pyro_spark_sort(keys, numbers, count);
    }
    pyro_release(NULL, keys);
    if (!ok) {
        pyro_release(NULL, numbers);
        return NULL;
    }
    return numbers;
}

struct task_list {
    const struct pyro_history *history;
    uint32_t *numbers; /* of those that are shown, in order */
    size_t count, at;
};

static bool next_tasks(void *context, struct spark_json *json)
{
    struct task_list *list = context;
    struct pyro_history_task tasks[SPARK_TASKS_AT_ONCE];
    size_t rest = list->count - list->at, count = rest < SPARK_TASKS_AT_ONCE ? rest : SPARK_TASKS_AT_ONCE;
    if (count > 0)
        pyro_history_tasks_read(list->history, list->numbers + list->at, count, tasks);
    for (size_t i = 0; i < count; i++) {
        pyro_spark_element(json);
        pyro_spark_write_task(json, list->history, &tasks[i]);
    }
    list->at += count;
    if (list->at < list->count)
        return true;
    pyro_spark_close_array(json);
    return false;
}

static void close_tasks(void *context)
{
    struct task_list *list = context;
    pyro_release(NULL, list->numbers);
    pyro_release(NULL, list);
}

void pyro_spark_task_list(struct spark_request *request)
{
    static const char *const orders[] = {"ID", "INCREASING_RUNTIME", "DECREASING_RUNTIME", "runtime", "-runtime"};
    enum { BY_ID, DESCENDING = 2, DESCENDING_TOO = 4 };
    int64_t offset, length;
    uint32_t wanted, order;
    if (!pyro_spark_number(request, "offset", 0, &offset) || !pyro_spark_number(request, "length", 20, &length) ||
        !pyro_spark_choices(request, "sortBy", orders, 5, &order) ||
        !pyro_spark_choices(request, "status", pyro_spark_task_statuses, SPARK_TASK_STATUSES, &wanted))
        return;
    bool none = wanted != UINT32_MAX && wanted & SPARK_NULL_CHOICE;
    if (none || (length <= 0 && wanted == UINT32_MAX)) {
        pyro_spark_fault(request, 500);
        return;
    }
    const struct pyro_history_stage *stage = pyro_history_stage(request->history, pyro_serve_id(request->arguments[0]),
                                                                pyro_serve_id(request->arguments[1]));
    uint32_t first = (uint32_t)__builtin_ctz(order);
    bool descending = first == DESCENDING || first == DESCENDING_TOO;
    bool by_run_time = first != BY_ID && order != SPARK_NULL_CHOICE;
    uint32_t *numbers = stage ? sorted_tasks(request->history, stage, by_run_time) : NULL;
    if (stage && !numbers) {
        pyro_spark_error(request, 503, "no memory left");
        return;
    }
    struct task_list *list = pyro_allocate(NULL, sizeof(*list));
    if (!list) {
        pyro_release(NULL, numbers);
        pyro_spark_error(request, 503, "no memory left");
        return;
    }
    size_t count = stage ? stage->tasks.count : 0, shown = 0;
    for (size_t i = 0; descending && i < count / 2; i++) {
        uint32_t number = numbers[i];
        numbers[i] = numbers[count - 1 - i];
        numbers[count - 1 - i] = number;
    }
    for (size_t i = 0; i < count && (int64_t)shown < length; i++)
        if (wanted >> pyro_history_task_status(request->history, numbers[i]) & 1 && offset-- <= 0)
            numbers[shown++] = numbers[i];
    *list = (struct task_list){request->history, numbers, shown, 0};
    pyro_spark_open_array(&request->json);
    pyro_spark_answer_pieces(request, &(const struct spark_pieces){next_tasks, close_tasks, list});
}
