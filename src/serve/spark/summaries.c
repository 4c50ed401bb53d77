#include "serve/spark/summaries.h"

#include <math.h>

#include "base/collections/memo.h"
#include "serve/spark/task_times.h"

#define METRIC(name)                                                                                                   \
    {                                                                                                                  \
        SPARK_NAME(#name), SUMMARY_METRIC, PYRO_HISTORY_##name, PYRO_HISTORY_##name                                    \
    }
#define CALLED(name, metric)                                                                                           \
    {                                                                                                                  \
        SPARK_NAME(name), SUMMARY_METRIC, PYRO_HISTORY_##metric, PYRO_HISTORY_##metric                                 \
    }
#define SUM(name, a, b)                                                                                                \
    {                                                                                                                  \
        SPARK_NAME(name), SUMMARY_SUM, PYRO_HISTORY_##a, PYRO_HISTORY_##b                                              \
    }
#define OTHER(name, kind)                                                                                              \
    {                                                                                                                  \
        SPARK_NAME(name), SUMMARY_##kind, (enum pyro_history_metric)0, (enum pyro_history_metric)0                     \
    }

const struct spark_summary_row pyro_spark_summary_rows[SPARK_SUMMARY_ROWS] = {
    OTHER("duration", DURATION),
    METRIC(executorDeserializeTime),
    METRIC(executorDeserializeCpuTime),
    METRIC(executorRunTime),
    METRIC(executorCpuTime),
    METRIC(resultSize),
    METRIC(jvmGcTime),
    METRIC(resultSerializationTime),
    OTHER("gettingResultTime", GETTING_RESULT),
    OTHER("schedulerDelay", SCHEDULER_DELAY),
    METRIC(peakExecutionMemory),
    METRIC(memoryBytesSpilled),
    METRIC(diskBytesSpilled),
    OTHER("inputMetrics", OPEN),
    METRIC(bytesRead),
    METRIC(recordsRead),
    OTHER("", CLOSE),
    OTHER("outputMetrics", OPEN),
    METRIC(bytesWritten),
    METRIC(recordsWritten),
    OTHER("", CLOSE),
    OTHER("shuffleReadMetrics", OPEN),
    SUM("readBytes", localBytesRead, remoteBytesRead),
    CALLED("readRecords", shuffleRecordsRead),
    METRIC(remoteBlocksFetched),
    METRIC(localBlocksFetched),
    METRIC(fetchWaitTime),
    METRIC(remoteBytesRead),
    METRIC(remoteBytesReadToDisk),
    SUM("totalBlocksFetched", remoteBlocksFetched, localBlocksFetched),
    METRIC(remoteReqsDuration),
    OTHER("shufflePushReadMetricsDist", OPEN),
    METRIC(corruptMergedBlockChunks),
    METRIC(mergedFetchFallbackCount),
    METRIC(remoteMergedBlocksFetched),
    METRIC(localMergedBlocksFetched),
    METRIC(remoteMergedChunksFetched),
    METRIC(localMergedChunksFetched),
    METRIC(remoteMergedBytesRead),
    METRIC(localMergedBytesRead),
    METRIC(remoteMergedReqsDuration),
    OTHER("", CLOSE),
    OTHER("", CLOSE),
    OTHER("shuffleWriteMetrics", OPEN),
    CALLED("writeBytes", shuffleBytesWritten),
    CALLED("writeRecords", shuffleRecordsWritten),
    CALLED("writeTime", shuffleWriteTime),
    OTHER("", CLOSE),
};

void pyro_spark_summaries_init(struct spark_summaries *summaries, const struct pyro_history *history,
                               const double *quantiles, size_t quantile_count)
{
    *summaries = (struct spark_summaries){.history = history, .quantiles = quantiles, .quantile_count = quantile_count};
    pyro_strbuf_init(&summaries->text, NULL);
}

void pyro_spark_summaries_done(struct spark_summaries *summaries)
{
    pyro_strbuf_done(&summaries->text);
    pyro_vec_done(&summaries->succeeded, NULL);
    pyro_vec_done(&summaries->others, NULL);
    pyro_spark_select_done(&summaries->room);
    pyro_release(NULL, summaries->values);
    pyro_release(NULL, summaries->more);
    summaries->values = summaries->more = NULL;
}

static bool reserve(struct spark_summaries *summaries, size_t count)
{
    if (count <= summaries->capacity)
        return true;
    pyro_release(NULL, summaries->values);
    pyro_release(NULL, summaries->more);
    summaries->values = pyro_allocate(NULL, count * sizeof(*summaries->values));
    summaries->more = pyro_allocate(NULL, count * sizeof(*summaries->more));
    bool ok = summaries->values && summaries->more;
    summaries->capacity = ok ? count : 0;
    return ok;
}

/* ---- Places ---- */

struct places {
    size_t ranks[SPARK_QUANTILES];
    size_t first, end; /* quantiles that have a value; ranks[0] is of `first` */
};

/* Spark walks the sorted list of `count` values from place to place, the places being shares of the number of tasks
 * that succeeded. */
static struct places find_places(const struct spark_summaries *summaries, size_t succeeded, size_t count)
{
    struct places places = {.first = 0};
    int64_t place = -1;
    size_t next = 0, rank = 0;
    for (size_t q = 0; q < summaries->quantile_count; q++) {
        int64_t wanted = pyro_spark_place(summaries->quantiles[q], succeeded);
        if (wanted != place) {
            int64_t skipped = (int64_t)((uint64_t)wanted - (uint64_t)place - 1); /* which wraps, as there */
            next += skipped > 0 ? (size_t)skipped : 0;
            place = wanted;
            rank = next++;
        }
        if (place == -1 && next == 0) { /* before the first value */
            places.first = places.end = q + 1;
            continue;
        }
        if (rank >= count)
            break; /* and so it is for all that follow */
        places.ranks[q - places.first] = rank;
        places.end = q + 1;
    }
    return places;
}

/* ---- Values ---- */

static bool pick(struct spark_summaries *summaries, const struct places *places, size_t count, double *to)
{
    int64_t picked[SPARK_QUANTILES];
    size_t places_count = places->end - places->first;
    if (!pyro_spark_select(&summaries->room, summaries->values, count, places->ranks, places_count, picked))
        return false;
    for (size_t q = 0; q < summaries->quantile_count; q++)
        to[q] = q >= places->first && q < places->end ? (double)picked[q - places->first] : NAN;
    return true;
}

static void fill(const struct spark_summaries *summaries, const struct places *places, int64_t value, double *to)
{
    for (size_t q = 0; q < summaries->quantile_count; q++)
        to[q] = q >= places->first && q < places->end ? (double)value : NAN;
}

static bool pick_metric(struct spark_summaries *summaries, const struct spark_summary_row *row,
                        const struct places *places, size_t count, double *to)
{
    enum pyro_task_column column = pyro_history_metric_columns[row->metric];
    int64_t same;
    if (pyro_history_runs_same(summaries->history, &summaries->succeeded, column, &same)) {
        fill(summaries, places, same, to);
        return true;
    }
    pyro_history_runs_read(summaries->history, &summaries->succeeded, column, summaries->values);
    return pick(summaries, places, count, to);
}

static bool pick_sum(struct spark_summaries *summaries, const struct spark_summary_row *row,
                     const struct places *places, size_t count, double *to)
{
    const enum pyro_task_column a = pyro_history_metric_columns[row->metric],
                                b = pyro_history_metric_columns[row->other];
    int64_t *values = summaries->values, *more = summaries->more;
    pyro_history_runs_read(summaries->history, &summaries->succeeded, a, values);
    pyro_history_runs_read(summaries->history, &summaries->succeeded, b, more);
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(values[i], more[i], &values[i]))
            values[i] = INT64_MAX;
    return pick(summaries, places, count, to);
}

/* In the order in which derived numbers need more of them. */
static const enum pyro_task_column derived_columns[] = {
    PYRO_TASK_launch_ms, PYRO_TASK_finish_ms,      PYRO_TASK_getting_result_ms,
    PYRO_TASK_run_ms,    PYRO_TASK_deserialize_ms, PYRO_TASK_result_serialize_ms,
};
enum { BLOCK = 512, DERIVED_COLUMNS = sizeof(derived_columns) / sizeof(*derived_columns) };

/* One task after the other; `read` has its columns, zero those that `kind` does not need. */
static inline __attribute__((always_inline)) void derive_block(enum spark_summary_kind kind, int64_t (*read)[BLOCK],
                                                               size_t count, int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        struct pyro_history_task task;
        task.ended = true;
        task.launch_ms = read[0][i];
        task.finish_ms = read[1][i];
        task.fetch_ms = read[2][i];
        task.metrics[PYRO_HISTORY_executorRunTime] = read[3][i];
        task.metrics[PYRO_HISTORY_executorDeserializeTime] = read[4][i];
        task.metrics[PYRO_HISTORY_resultSerializationTime] = read[5][i];
        values[i] = kind == SUMMARY_DURATION         ? pyro_spark_duration(&task)
                    : kind == SUMMARY_GETTING_RESULT ? pyro_spark_getting_result(&task)
                                                     : pyro_spark_scheduler_delay(&task);
    }
}

/* One after the other of the runs' rows, in `values`. */
static int64_t *derive(const struct spark_summaries *summaries, const pyro_history_runs *runs,
                       enum spark_summary_kind kind, int64_t *values)
{
    size_t columns = kind == SUMMARY_DURATION ? 2 : kind == SUMMARY_GETTING_RESULT ? 3 : DERIVED_COLUMNS;
    int64_t read[DERIVED_COLUMNS][BLOCK] = {{0}};
    for (size_t r = 0; r < runs->count; r++) {
        const struct pyro_history_run *run = &runs->items[r];
        for (uint32_t at = 0; at < run->count; at += BLOCK) {
            size_t count = run->count - at < BLOCK ? run->count - at : BLOCK;
            for (size_t c = 0; c < columns; c++)
                pyro_task_read(&summaries->history->ended, derived_columns[c], run->first + at, count, read[c]);
            if (kind == SUMMARY_DURATION)
                derive_block(SUMMARY_DURATION, read, count, values);
            else if (kind == SUMMARY_GETTING_RESULT)
                derive_block(SUMMARY_GETTING_RESULT, read, count, values);
            else
                derive_block(SUMMARY_SCHEDULER_DELAY, read, count, values);
            values += count;
        }
    }
    return values;
}

static bool is_never_fetched(const struct spark_summaries *summaries, const pyro_history_runs *runs)
{
    int64_t fetched;
    return runs->count == 0 ||
           (pyro_history_runs_same(summaries->history, runs, PYRO_TASK_getting_result_ms, &fetched) && fetched <= 0);
}

/* Of all tasks that ended: Spark keeps apart those that failed by their metrics only. */
static bool pick_derived(struct spark_summaries *summaries, const struct spark_summary_row *row,
                         const struct places *places, size_t count, double *to)
{
    if (row->kind == SUMMARY_GETTING_RESULT && is_never_fetched(summaries, &summaries->succeeded) &&
        is_never_fetched(summaries, &summaries->others)) {
        fill(summaries, places, 0, to);
        return true;
    }
    int64_t *rest = derive(summaries, &summaries->succeeded, row->kind, summaries->values);
    derive(summaries, &summaries->others, row->kind, rest);
    return pick(summaries, places, count, to);
}

static bool compute(struct spark_summaries *summaries, size_t succeeded, size_t ended)
{
    const struct places of_succeeded = find_places(summaries, succeeded, succeeded),
                        of_ended = find_places(summaries, succeeded, ended);
    double *to = summaries->picked;
    bool ok = reserve(summaries, ended);
    for (size_t i = 0; ok && i < SPARK_SUMMARY_ROWS; i++) {
        const struct spark_summary_row *row = &pyro_spark_summary_rows[i];
        if (row->kind == SUMMARY_OPEN || row->kind == SUMMARY_CLOSE)
            continue;
        ok = row->kind == SUMMARY_METRIC ? pick_metric(summaries, row, &of_succeeded, succeeded, to)
             : row->kind == SUMMARY_SUM  ? pick_sum(summaries, row, &of_succeeded, succeeded, to)
                                         : pick_derived(summaries, row, &of_ended, ended, to);
        to += summaries->quantile_count;
    }
    return ok;
}

enum spark_summary_state pyro_spark_summaries_compute(struct spark_summaries *summaries,
                                                      const struct pyro_history_stage *stage)
{
    enum { DEAR = 1000 }; /* tasks: of fewer it takes no longer to compute than to look up */
    struct {
        int64_t id, attempt;
        double quantiles[SPARK_QUANTILES];
    } key = {.id = stage->id, .attempt = stage->attempt};
    struct pyro_memo *memo = stage->tasks.count >= DEAR ? summaries->history->summaries : NULL;
    size_t bytes = SPARK_SUMMARY_VALUES * summaries->quantile_count * sizeof(*summaries->picked);
    memcpy(key.quantiles, summaries->quantiles, summaries->quantile_count * sizeof(*key.quantiles));
    const struct pyro_slice name = {(const char *)&key, offsetof(__typeof__(key), quantiles) +
                                                            summaries->quantile_count * sizeof(*key.quantiles)};
    if (pyro_memo_get(memo, name, summaries->picked, bytes))
        return SUMMARY_THERE;
    if (!pyro_history_stage_runs(summaries->history, stage, &summaries->succeeded, &summaries->others))
        return SUMMARY_NO_MEMORY;
    size_t succeeded = pyro_history_runs_rows(&summaries->succeeded);
    if (succeeded == 0)
        return SUMMARY_NO_TASKS;
    if (!compute(summaries, succeeded, succeeded + pyro_history_runs_rows(&summaries->others)))
        return SUMMARY_NO_MEMORY;
    pyro_memo_put(memo, name, (struct pyro_slice){(const char *)summaries->picked, bytes});
    return SUMMARY_THERE;
}
