/* stages/ID/ATTEMPT/taskSummary, and the same inside stages */
#include <math.h>

#include "serve/spark/api.h"
#include "serve/spark/sort.h"

static const char *const metric_names[] = {
#define HISTORY_METRIC(name, column, stage) #name,
#include "model/history_metrics.def"
#undef HISTORY_METRIC
};

static void open_member(struct spark_json *json, const char *key)
{
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
}

struct summary {
    const struct pyro_history *history;
    uint32_t *numbers;
    int64_t *values, *more;
    bool failed;      /* no memory */
    size_t succeeded; /* of `numbers`, the first ones; whose number quantiles are shares of */
    size_t count;     /* of `numbers` that a value is taken of */
    size_t ended;     /* of `numbers` */
    size_t quantile_count;
    const double *quantiles;
};

/* The values in summary->values, in any order. Spark walks the sorted list from place to place, the places being shares
 * of the number of tasks that succeeded. */
static void write_values(struct spark_json *json, const char *key, struct summary *summary)
{
    summary->failed |= !pyro_spark_sort(summary->values, NULL, summary->count);
    pyro_spark_key(json, key);
    pyro_spark_open_array(json);
    int64_t place = -1;
    size_t next = 0;
    double last = NAN;
    for (size_t q = 0; q < summary->quantile_count; q++) {
        double share = summary->quantiles[q] * (double)summary->succeeded;
        int64_t limit = (int64_t)summary->succeeded - 1;
        int64_t wanted = share >= (double)limit ? limit : share < -1e15 ? -1000000000000000 : (int64_t)share;
        if (wanted != place) {
            next += wanted - place > 1 ? (size_t)(wanted - place - 1) : 0;
            place = wanted;
            last = next < summary->count ? (double)summary->values[next] : NAN;
            next += next < summary->count;
        }
        pyro_spark_element(json);
        pyro_spark_real(json, last);
    }
    pyro_spark_close_array(json);
}

static void read_column(struct summary *summary, enum pyro_task_column column, int64_t *values)
{
    pyro_history_task_column(summary->history, column, summary->numbers, summary->count, values);
}

static void write_metric(struct spark_json *json, const char *key, struct summary *summary, int metric)
{
    read_column(summary, pyro_history_metric_columns[metric], summary->values);
    write_values(json, key ? key : metric_names[metric], summary);
}

static void write_sum(struct spark_json *json, const char *key, struct summary *summary, int a, int b)
{
    read_column(summary, pyro_history_metric_columns[a], summary->values);
    read_column(summary, pyro_history_metric_columns[b], summary->more);
    for (size_t i = 0; i < summary->count; i++)
        if (__builtin_add_overflow(summary->values[i], summary->more[i], &summary->values[i]))
            summary->values[i] = INT64_MAX;
    write_values(json, key, summary);
}

/* Of all tasks that ended: Spark keeps apart those that failed by their metrics only. */
static void write_derived(struct spark_json *json, const char *key, struct summary *summary,
                          int64_t (*derive)(const struct pyro_history_task *))
{
    enum { BLOCK = 512, COLUMNS = 6 };
    static const enum pyro_task_column columns[COLUMNS] = {
        PYRO_TASK_launch_ms, PYRO_TASK_finish_ms,      PYRO_TASK_getting_result_ms,
        PYRO_TASK_run_ms,    PYRO_TASK_deserialize_ms, PYRO_TASK_result_serialize_ms,
    };
    int64_t read[COLUMNS][BLOCK];
    struct pyro_history_task task = {.ended = true};
    summary->count = summary->ended;
    for (size_t at = 0; at < summary->count; at += BLOCK) {
        size_t count = summary->count - at < BLOCK ? summary->count - at : BLOCK;
        for (int c = 0; c < COLUMNS; c++)
            pyro_history_task_column(summary->history, columns[c], summary->numbers + at, count, read[c]);
        for (size_t i = 0; i < count; i++) {
            task.launch_ms = read[0][i];
            task.finish_ms = read[1][i];
            task.fetch_ms = read[2][i];
            task.metrics[PYRO_HISTORY_executorRunTime] = read[3][i];
            task.metrics[PYRO_HISTORY_executorDeserializeTime] = read[4][i];
            task.metrics[PYRO_HISTORY_resultSerializationTime] = read[5][i];
            summary->values[at + i] = derive(&task);
        }
    }
    write_values(json, key, summary);
    summary->count = summary->succeeded;
}

static void write_shuffle_summary(struct spark_json *json, struct summary *summary)
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

static void write_summary(struct spark_json *json, struct summary *summary)
{
    pyro_spark_open_object(json);
    pyro_spark_key(json, "quantiles");
    pyro_spark_open_array(json);
    for (size_t q = 0; q < summary->quantile_count; q++) {
        pyro_spark_element(json);
        pyro_spark_real(json, summary->quantiles[q]);
    }
    pyro_spark_close_array(json);
    write_derived(json, "duration", summary, pyro_spark_duration);
    for (int i = 0; i <= PYRO_HISTORY_resultSerializationTime; i++)
        write_metric(json, NULL, summary, i);
    write_derived(json, "gettingResultTime", summary, pyro_spark_getting_result);
    write_derived(json, "schedulerDelay", summary, pyro_spark_scheduler_delay);
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

/* Puts the tasks that succeeded before the others that ended; ret->failed: no memory. */
static void begin_summary(const struct pyro_history *history, const struct pyro_history_stage *stage,
                          const double *quantiles, size_t quantile_count, struct summary *ret)
{
    size_t count = stage->tasks.count;
    *ret = (struct summary){.history = history, .quantiles = quantiles, .quantile_count = quantile_count};
    ret->numbers = pyro_allocate(NULL, (count + 1) * sizeof(*ret->numbers));
    ret->values = pyro_allocate(NULL, (count + 1) * sizeof(*ret->values));
    ret->more = pyro_allocate(NULL, (count + 1) * sizeof(*ret->more));
    ret->failed = !ret->numbers || !ret->values || !ret->more;
    for (size_t i = 0; !ret->failed && i < count; i++) {
        uint32_t number = stage->tasks.items[i];
        if (history->places.items[number] & PYRO_HISTORY_RUNNING)
            continue;
        ret->numbers[ret->ended++] = number;
        if (pyro_history_task_status(history, number) == PYRO_HTASK_SUCCESS) {
            ret->numbers[ret->ended - 1] = ret->numbers[ret->succeeded];
            ret->numbers[ret->succeeded++] = number;
        }
    }
    ret->count = ret->succeeded;
}

static void end_summary(struct summary *summary)
{
    pyro_release(NULL, summary->numbers);
    pyro_release(NULL, summary->values);
    pyro_release(NULL, summary->more);
}

bool pyro_spark_write_task_distributions(struct spark_json *json, const struct pyro_history *history,
                                         const struct pyro_history_stage *stage, const double *quantiles, size_t count,
                                         bool *ret_memory)
{
    struct summary summary;
    begin_summary(history, stage, quantiles, count, &summary);
    bool any = !summary.failed && summary.count > 0;
    if (any) {
        pyro_spark_key(json, "taskMetricsDistributions");
        write_summary(json, &summary);
    }
    *ret_memory = !summary.failed;
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
    if (!summary.failed && summary.count > 0)
        write_summary(&request->json, &summary);
    if (summary.failed)
        pyro_spark_error(request, 500, "no memory left");
    else if (summary.count == 0)
        pyro_spark_error(request, 404, "No tasks reported metrics for %lld / %lld yet.", (long long)id,
                         (long long)attempt);
    end_summary(&summary);
}
