/* One stage attempt: its members, its tasks, its executors, and summaries over both. */
#include "serve/spark/stage.h"
#include "base/numbers/saturate.h"

#include <math.h>

#include "serve/spark/sort.h"

/* ---- Executors of a stage ---- */

enum share_value {
    SHARE_TASK_TIME,
    SHARE_FAILED,
    SHARE_SUCCEEDED,
    SHARE_KILLED,
    SHARE_INPUT_BYTES,
    SHARE_INPUT_RECORDS,
    SHARE_OUTPUT_BYTES,
    SHARE_OUTPUT_RECORDS,
    SHARE_SHUFFLE_READ,
    SHARE_SHUFFLE_READ_RECORDS,
    SHARE_SHUFFLE_WRITE,
    SHARE_SHUFFLE_WRITE_RECORDS,
    SHARE_MEMORY_SPILLED,
    SHARE_DISK_SPILLED,
    SHARE_VALUES
};
static const struct spark_name share_names[SHARE_VALUES] = {
    SPARK_NAME("taskTime"),           SPARK_NAME("failedTasks"),      SPARK_NAME("succeededTasks"),
    SPARK_NAME("killedTasks"),        SPARK_NAME("inputBytes"),       SPARK_NAME("inputRecords"),
    SPARK_NAME("outputBytes"),        SPARK_NAME("outputRecords"),    SPARK_NAME("shuffleRead"),
    SPARK_NAME("shuffleReadRecords"), SPARK_NAME("shuffleWrite"),     SPARK_NAME("shuffleWriteRecords"),
    SPARK_NAME("memoryBytesSpilled"), SPARK_NAME("diskBytesSpilled"),
};

static void share_values(const struct pyro_history_share *share, int64_t *values)
{
    const int64_t *metrics = share->metrics;
    values[SHARE_TASK_TIME] = share->task_ms;
    values[SHARE_FAILED] = share->failed;
    values[SHARE_SUCCEEDED] = share->succeeded;
    values[SHARE_KILLED] = share->killed;
    values[SHARE_INPUT_BYTES] = metrics[PYRO_HISTORY_bytesRead];
    values[SHARE_INPUT_RECORDS] = metrics[PYRO_HISTORY_recordsRead];
    values[SHARE_OUTPUT_BYTES] = metrics[PYRO_HISTORY_bytesWritten];
    values[SHARE_OUTPUT_RECORDS] = metrics[PYRO_HISTORY_recordsWritten];
    values[SHARE_SHUFFLE_READ] =
        pyro_add_wrapping(metrics[PYRO_HISTORY_remoteBytesRead], metrics[PYRO_HISTORY_localBytesRead]);
    values[SHARE_SHUFFLE_READ_RECORDS] = metrics[PYRO_HISTORY_shuffleRecordsRead];
    values[SHARE_SHUFFLE_WRITE] = metrics[PYRO_HISTORY_shuffleBytesWritten];
    values[SHARE_SHUFFLE_WRITE_RECORDS] = metrics[PYRO_HISTORY_shuffleRecordsWritten];
    values[SHARE_MEMORY_SPILLED] = metrics[PYRO_HISTORY_memoryBytesSpilled];
    values[SHARE_DISK_SPILLED] = metrics[PYRO_HISTORY_diskBytesSpilled];
}

static void write_shares(struct spark_json *json, const struct pyro_history_stage *stage)
{
    pyro_spark_key(json, "executorSummary");
    pyro_spark_open_object(json);
    for (size_t i = 0; i < stage->shares.count; i++) {
        const struct pyro_history_share *share = &stage->shares.items[i];
        int64_t values[SHARE_VALUES];
        share_values(share, values);
        pyro_spark_key_slice(json, share->executor);
        pyro_spark_open_object(json);
        pyro_spark_put_ints(json, share_names, values, SHARE_VALUES);
        pyro_spark_put_bool(json, "isBlacklistedForStage", share->excluded);
        pyro_spark_peaks(json, "peakMemoryMetrics", &share->peaks);
        pyro_spark_put_bool(json, "isExcludedForStage", share->excluded);
        pyro_spark_close_object(json);
    }
    pyro_spark_close_object(json);
}

/* Spark's quantiles over executors: of the sorted values, the one at the share of their number, taken in 32 bits.
 * False: no memory. */
static bool write_quantiles(struct spark_json *json, const struct spark_name *name, int64_t *values, size_t count,
                            const struct spark_stage_wish *wish)
{
    if (!pyro_spark_sort(values, NULL, count))
        return false;
    pyro_spark_name(json, name);
    pyro_spark_open_array(json);
    for (size_t q = 0; q < wish->quantile_count; q++) {
        uint32_t place = (uint32_t)pyro_spark_place(wish->quantiles[q], count);
        pyro_spark_element(json);
        pyro_spark_real(json, place < count ? (double)values[place] : NAN);
    }
    pyro_spark_close_array(json);
    return true;
}

bool pyro_spark_stage_refused(const struct pyro_history_stage *stage, const struct spark_stage_wish *wish)
{
    size_t count = wish->summaries ? stage->shares.count : 0;
    for (size_t q = 0; count && q < wish->quantile_count; q++)
        if ((uint32_t)pyro_spark_place(wish->quantiles[q], count) > INT32_MAX)
            return true;
    return false;
}

static bool write_share_distributions(struct spark_json *json, const struct pyro_history_stage *stage,
                                      struct spark_stage_wish *wish)
{
    size_t count = stage->shares.count;
    bool ok = true;
    if (count == 0)
        return true;
    int64_t *values = pyro_allocate(NULL, count * (SHARE_VALUES + 1) * sizeof(*values));
    if (!values)
        return false;
    int64_t *all = values + count; /* of one executor after the other */
    for (size_t i = 0; i < count; i++)
        share_values(&stage->shares.items[i], all + i * SHARE_VALUES);
    pyro_spark_key(json, "executorMetricsDistributions");
    pyro_spark_open_object(json);
    pyro_spark_write_quantiles(json, &wish->numbers);
    for (size_t v = 0; v < SHARE_VALUES; v++) {
        for (size_t i = 0; i < count; i++)
            values[i] = all[i * SHARE_VALUES + v];
        ok &= write_quantiles(json, &share_names[v], values, count, wish);
    }
    pyro_spark_key(json, "peakMemoryMetrics");
    pyro_spark_open_object(json);
    for (int p = 0; p < PYRO_HISTORY_PEAKS_SHOWN; p++) {
        size_t known = 0; /* executors that reported their memory */
        for (size_t i = 0; i < count; i++)
            if (stage->shares.items[i].peaks.set)
                values[known++] = stage->shares.items[i].peaks.values[p];
        if (known == 0)
            values[known++] = 0;
        ok &= write_quantiles(json, &pyro_spark_peak_names[p], values, known, wish);
    }
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
    pyro_release(NULL, values);
    return ok;
}

/* ---- Stages ---- */

/* Some of the tasks; false: those were the last. */
static bool write_tasks(struct spark_json *json, struct spark_stage_text *text)
{
    const struct pyro_history_stage *stage = text->stage;
    uint32_t numbers[SPARK_TASKS_AT_ONCE] = {0};
    struct pyro_history_task tasks[SPARK_TASKS_AT_ONCE];
    size_t count = 0;
    for (; text->task < stage->tasks.count && count < SPARK_TASKS_AT_ONCE; text->task++) {
        uint32_t number = stage->tasks.items[text->task];
        if (text->wish->tasks >> pyro_history_task_status(text->history, number) & 1)
            numbers[count++] = number;
    }
    pyro_history_tasks_read(text->history, numbers, count, tasks);
    for (size_t i = 0; i < count; i++) {
        char id[SPARK_INTEGER_BYTES];
        pyro_spark_key_slice(json, (struct pyro_slice){id, (size_t)(pyro_spark_write_integer(id, tasks[i].id) - id)});
        pyro_spark_write_task(json, text->history, &tasks[i]);
    }
    return text->task < stage->tasks.count;
}

static void write_speculation(struct spark_json *json, const struct pyro_history_stage *stage)
{
    if (!stage->speculative)
        return;
    pyro_spark_key(json, "speculationSummary");
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "numTasks", stage->speculative);
    pyro_spark_put_int(json, "numActiveTasks", stage->speculative_active);
    pyro_spark_put_int(json, "numCompletedTasks", stage->speculative_completed);
    pyro_spark_put_int(json, "numFailedTasks", stage->speculative_failed);
    pyro_spark_put_int(json, "numKilledTasks", stage->speculative_killed);
    pyro_spark_close_object(json);
}

/* What follows its tasks. False: no memory. */
static bool write_tail(struct spark_json *json, const struct pyro_history_stage *stage, struct spark_stage_wish *wish)
{
    bool ok = true;
    if (wish->details) {
        write_shares(json, stage);
        write_speculation(json, stage);
    }
    pyro_spark_stage_profile(json, stage);
    if (wish->summaries)
        ok = pyro_spark_write_task_distributions(json, &wish->numbers, stage) &&
             write_share_distributions(json, stage, wish);
    pyro_spark_close_stage(json, stage);
    return ok;
}

void pyro_spark_stage_begin(struct spark_stage_text *text, const struct pyro_history *history,
                            const struct pyro_history_stage *stage, struct spark_stage_wish *wish)
{
    *text = (struct spark_stage_text){.history = history, .stage = stage, .wish = wish};
}

bool pyro_spark_stage_next(struct spark_stage_text *text, struct spark_json *json)
{
    bool details = text->wish->details;
    if (!text->begun) {
        pyro_spark_open_stage(json, text->stage);
        text->begun = true;
        if (details) {
            pyro_spark_key(json, "tasks");
            pyro_spark_open_object(json);
        }
    }
    if (details && write_tasks(json, text))
        return true;
    if (details)
        pyro_spark_close_object(json);
    json->out->failed |= !write_tail(json, text->stage, text->wish);
    return false;
}
