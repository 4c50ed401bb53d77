/* stages, stages/ID, stages/ID/ATTEMPT */
#include <stdio.h>
#include <stdlib.h>

#include "serve/spark/api.h"
#include "serve/spark/sort.h"
#include "serve/spark/summaries.h"

static const char *const statuses[] = {"ACTIVE", "COMPLETE", "FAILED", "PENDING", "SKIPPED"};
enum { STATUSES = sizeof(statuses) / sizeof(*statuses) };

/* What a request wants of each stage. */
struct wish {
    bool details, summaries;
    uint32_t tasks; /* statuses */
    double quantiles[SPARK_QUANTILES];
    size_t quantile_count;
    struct spark_summaries numbers; /* where `summaries` */
};

void pyro_spark_write_accumulable(struct spark_json *json, const struct pyro_history_accumulable *one)
{
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "id", one->id);
    pyro_spark_put_text(json, "name", one->name);
    pyro_spark_put_text(json, "update", one->update);
    pyro_spark_put_text(json, "value", one->value);
    pyro_spark_close_object(json);
}

void pyro_spark_accumulables(struct spark_json *json, const struct pyro_history_accumulable *items, size_t count)
{
    pyro_spark_key(json, "accumulatorUpdates");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < count; i++) {
        pyro_spark_element(json);
        pyro_spark_write_accumulable(json, &items[i]);
    }
    pyro_spark_close_array(json);
}

void pyro_spark_peaks(struct spark_json *json, const char *key, const struct pyro_history_peaks *peaks)
{
    static const struct spark_name names[] = {
#define HISTORY_PEAK(name) SPARK_NAME(#name),
#include "model/history_peaks.def"
#undef HISTORY_PEAK
    };
    if (!peaks->set)
        return;
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
    pyro_spark_put_ints(json, names, peaks->values, PYRO_HISTORY_PEAKS);
    pyro_spark_close_object(json);
}

void pyro_spark_counts_object(struct spark_json *json, const char *key, const pyro_history_counts *counts)
{
    pyro_spark_key(json, key);
    pyro_spark_open_object(json);
    for (size_t i = 0; i < counts->count; i++) {
        pyro_spark_key_slice(json, counts->items[i].reason);
        pyro_spark_integer(json, counts->items[i].count);
    }
    pyro_spark_close_object(json);
}

/* ---- Metrics ---- */

static void write_metrics(struct spark_json *json, const int64_t *metrics, bool push_enabled, int64_t mergers)
{
    static const struct spark_name names[] = {
#define HISTORY_METRIC(name, column, stage) SPARK_NAME(#stage),
#include "model/history_metrics.def"
#undef HISTORY_METRIC
    };
    enum { READ = PYRO_HISTORY_shuffleRecordsRead, WRITE = PYRO_HISTORY_shuffleBytesWritten };
    pyro_spark_put_ints(json, names, metrics, READ);
    pyro_spark_put_int(json, "shuffleReadBytes",
                       metrics[PYRO_HISTORY_localBytesRead] + metrics[PYRO_HISTORY_remoteBytesRead]);
    pyro_spark_put_ints(json, names + READ, metrics + READ, WRITE - READ);
    pyro_spark_put_bool(json, "isShufflePushEnabled", push_enabled);
    pyro_spark_put_int(json, "shuffleMergersCount", mergers);
    pyro_spark_put_ints(json, names + WRITE, metrics + WRITE, PYRO_HISTORY_METRICS - WRITE);
}

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
    values[SHARE_SHUFFLE_READ] = metrics[PYRO_HISTORY_remoteBytesRead] + metrics[PYRO_HISTORY_localBytesRead];
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

/* Spark's quantiles over executors: of the sorted values, the one at the share of their number. False: no memory. */
static bool write_quantiles(struct spark_json *json, const struct spark_name *name, int64_t *values, size_t count,
                            const struct wish *wish)
{
    if (!pyro_spark_sort(values, NULL, count))
        return false;
    pyro_spark_name(json, name);
    pyro_spark_open_array(json);
    for (size_t q = 0; q < wish->quantile_count; q++) {
        double place = wish->quantiles[q] * (double)count;
        size_t index = place < 0 ? 0 : place >= (double)count ? count - 1 : (size_t)place;
        pyro_spark_element(json);
        pyro_spark_real(json, (double)values[index]);
    }
    pyro_spark_close_array(json);
    return true;
}

static bool write_share_distributions(struct spark_json *json, const struct pyro_history_stage *stage,
                                      struct wish *wish)
{
    static const struct spark_name peak_names[] = {
#define HISTORY_PEAK(name) SPARK_NAME(#name),
#include "model/history_peaks.def"
#undef HISTORY_PEAK
    };
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
    for (int p = 0; p < PYRO_HISTORY_PEAKS; p++) {
        size_t known = 0; /* executors that told of their memory */
        for (size_t i = 0; i < count; i++)
            if (stage->shares.items[i].peaks.set)
                values[known++] = stage->shares.items[i].peaks.values[p];
        if (known == 0)
            values[known++] = 0;
        ok &= write_quantiles(json, &peak_names[p], values, known, wish);
    }
    pyro_spark_close_object(json);
    pyro_spark_close_object(json);
    pyro_release(NULL, values);
    return ok;
}

/* ---- Stages ---- */

static void write_tasks(struct spark_json *json, const struct pyro_history *history,
                        const struct pyro_history_stage *stage, const struct wish *wish)
{
    pyro_spark_key(json, "tasks");
    pyro_spark_open_object(json);
    for (size_t i = 0; i < stage->tasks.count; i++) {
        struct pyro_history_task task;
        if (!(wish->tasks >> pyro_history_task_status(history, stage->tasks.items[i]) & 1))
            continue;
        pyro_history_task_read(history, stage->tasks.items[i], &task);
        char id[32];
        int len = snprintf(id, sizeof(id), "%lld", (long long)task.id);
        pyro_spark_key_slice(json, (struct pyro_slice){id, (size_t)len});
        pyro_spark_write_task(json, history, &task);
    }
    pyro_spark_close_object(json);
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

/* False: no memory. */
static bool write_stage(struct spark_json *json, const struct pyro_history *history,
                        const struct pyro_history_stage *stage, struct wish *wish)
{
    bool ok = true;
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "status", pyro_slice_from(statuses[stage->status]));
    pyro_spark_put_int(json, "stageId", stage->id);
    pyro_spark_put_int(json, "attemptId", stage->attempt);
    pyro_spark_put_int(json, "numTasks", stage->partitions);
    pyro_spark_put_int(json, "numActiveTasks", stage->active);
    pyro_spark_put_int(json, "numCompleteTasks", stage->completed);
    pyro_spark_put_int(json, "numFailedTasks", stage->failed);
    pyro_spark_put_int(json, "numKilledTasks", stage->killed);
    pyro_spark_put_int(json, "numCompletedIndices", stage->completed_indices);
    pyro_spark_put_time(json, "submissionTime", stage->submitted_ms);
    pyro_spark_put_time(json, "firstTaskLaunchedTime", stage->first_launch_ms);
    pyro_spark_put_time(json, "completionTime", stage->completed_ms);
    pyro_spark_put_text(json, "failureReason", stage->failure);
    write_metrics(json, stage->metrics, stage->push_enabled, stage->mergers);
    pyro_spark_put_text(json, "name", stage->name.ptr ? stage->name : PYRO_SLICE_LITERAL(""));
    pyro_spark_put_text(json, "description", stage->description);
    pyro_spark_put_text(json, "details", stage->details.ptr ? stage->details : PYRO_SLICE_LITERAL(""));
    pyro_spark_put_text(json, "schedulingPool", stage->pool);
    pyro_spark_key(json, "rddIds");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < stage->rdd_ids.count; i++) {
        pyro_spark_element(json);
        pyro_spark_integer(json, stage->rdd_ids.items[i]);
    }
    pyro_spark_close_array(json);
    pyro_spark_accumulables(json, stage->accumulables.items, stage->accumulables.count);
    if (wish->details) {
        write_tasks(json, history, stage, wish);
        write_shares(json, stage);
        write_speculation(json, stage);
    }
    pyro_spark_counts_object(json, "killedTasksSummary", &stage->killed_reasons);
    pyro_spark_put_int(json, "resourceProfileId", stage->profile);
    pyro_spark_peaks(json, "peakExecutorMetrics", &stage->peaks);
    if (wish->summaries)
        ok = pyro_spark_write_task_distributions(json, &wish->numbers, stage) &&
             write_share_distributions(json, stage, wish);
    pyro_spark_close_object(json);
    return ok;
}

static bool read_wish(struct spark_request *request, struct wish *wish, bool details)
{
    wish->details = pyro_serve_parameter(request->http, "details").ptr ? pyro_spark_flag(request, "details") : details;
    wish->summaries = pyro_spark_flag(request, "withSummaries");
    if (!pyro_spark_choices(request, "taskStatus", pyro_spark_task_statuses, SPARK_TASK_STATUSES, &wish->tasks) ||
        !pyro_spark_quantiles(request, "0.0,0.25,0.5,0.75,1.0", wish->quantiles, &wish->quantile_count))
        return false;
    pyro_spark_summaries_init(&wish->numbers, request->history, wish->quantiles, wish->quantile_count);
    return true;
}

/* Whether the stage has tasks of the statuses that were asked for; lists with details show no others. */
static bool has_tasks(const struct pyro_history_stage *stage, const struct wish *wish)
{
    const int64_t counts[SPARK_TASK_STATUSES] = {stage->active, stage->killed, stage->failed, stage->completed,
                                                 stage->partitions - stage->failed - stage->killed - stage->active -
                                                     stage->completed};
    if (!wish->details || wish->tasks == UINT32_MAX)
        return true;
    for (int i = 0; i < SPARK_TASK_STATUSES; i++)
        if (wish->tasks >> i & 1 && counts[i] > 0)
            return true;
    return false;
}

/* Rows of the stage's attempts, or of all (`id` < 0), by id and attempt; NULL: no memory. */
static uint32_t *sorted_stages(const struct pyro_history *history, int64_t id, size_t *ret_count)
{
    size_t count = 0;
    int64_t *keys = pyro_allocate(NULL, (history->stages.count + 1) * sizeof(*keys));
    uint32_t *rows = pyro_allocate(NULL, (history->stages.count + 1) * sizeof(*rows));
    for (size_t i = 0; keys && rows && i < history->stages.count; i++) {
        const struct pyro_history_stage *stage = &history->stages.items[i];
        if (id >= 0 && stage->id != id)
            continue;
        keys[count] = (int64_t)((uint64_t)stage->id << 32 | (uint64_t)stage->attempt); /* both have 31 bits */
        rows[count++] = (uint32_t)i;
    }
    bool ok = keys && rows && pyro_spark_sort(keys, rows, count);
    pyro_release(NULL, keys);
    if (!ok) {
        pyro_release(NULL, rows);
        return NULL;
    }
    *ret_count = count;
    return rows;
}

/* `id` < 0: all. */
static void write_stages(struct spark_request *request, int64_t id, uint32_t wanted, struct wish *wish)
{
    const struct pyro_history *history = request->history;
    size_t count = 0;
    bool ok = true;
    uint32_t *rows = sorted_stages(history, id, &count);
    pyro_spark_open_array(&request->json);
    for (size_t i = 0; rows && i < count && ok; i++) {
        const struct pyro_history_stage *stage = &history->stages.items[rows[id < 0 ? count - 1 - i : i]];
        if (!(wanted >> stage->status & 1) || (id < 0 && !has_tasks(stage, wish)))
            continue;
        pyro_spark_element(&request->json);
        ok = write_stage(&request->json, history, stage, wish);
    }
    pyro_spark_close_array(&request->json);
    if (!rows || !ok)
        pyro_spark_error(request, 500, "no memory left");
    else if (id >= 0 && count == 0)
        pyro_spark_error(request, 404, "unknown stage: %lld", (long long)id);
    pyro_release(NULL, rows);
    pyro_spark_summaries_done(&wish->numbers);
}

void pyro_spark_stages(struct spark_request *request)
{
    struct wish wish;
    uint32_t wanted;
    if (pyro_spark_choices(request, "status", statuses, STATUSES, &wanted) && read_wish(request, &wish, false))
        write_stages(request, -1, wanted, &wish);
}

void pyro_spark_stage(struct spark_request *request)
{
    struct wish wish;
    if (read_wish(request, &wish, true))
        write_stages(request, pyro_serve_id(request->arguments[0]), UINT32_MAX, &wish);
}

/* As Spark words it: which attempts there are, or that there is no such stage. */
const struct pyro_history_stage *pyro_spark_find_stage(struct spark_request *request)
{
    const struct pyro_history *history = request->history;
    int64_t id = pyro_serve_id(request->arguments[0]), attempt = pyro_serve_id(request->arguments[1]);
    const struct pyro_history_stage *found = pyro_history_stage(history, id, attempt);
    if (found)
        return found;
    char ids[400] = "";
    size_t len = 0;
    for (size_t i = 0; i < history->stages.count && len + 32 < sizeof(ids); i++)
        if (history->stages.items[i].id == id)
            len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s%lld", len ? "," : "",
                                    (long long)history->stages.items[i].attempt);
    if (len)
        pyro_spark_error(request, 404, "unknown attempt for stage %lld.  Found attempts: [%s]", (long long)id, ids);
    else
        pyro_spark_error(request, 404, "unknown stage: %lld", (long long)id);
    return NULL;
}

void pyro_spark_stage_attempt(struct spark_request *request)
{
    struct wish wish;
    const struct pyro_history_stage *stage = pyro_spark_find_stage(request);
    if (!stage || !read_wish(request, &wish, true))
        return;
    if (!write_stage(&request->json, request->history, stage, &wish))
        pyro_spark_error(request, 500, "no memory left");
    pyro_spark_summaries_done(&wish.numbers);
}
