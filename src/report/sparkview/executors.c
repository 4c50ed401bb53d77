/* Executors, removed ones too. */
#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "report/sparkview/sparkview.h"

static void write_ids(struct spark_json *json, const char *key, const struct pyro_history_executor *executor)
{
    pyro_spark_key(json, key);
    pyro_spark_open_array(json);
    for (size_t i = 0; i < executor->excluded_stages.count; i++) {
        pyro_spark_element(json);
        pyro_spark_integer(json, executor->excluded_stages.items[i]);
    }
    pyro_spark_close_array(json);
}

static void write_resources(struct spark_json *json, const struct pyro_history_executor *executor)
{
    pyro_spark_key(json, "resources");
    pyro_spark_open_object(json);
    for (size_t i = 0; i < executor->resources.count; i++) {
        const struct pyro_history_resource *resource = &executor->resources.items[i];
        pyro_spark_key_slice(json, resource->name);
        pyro_spark_open_object(json);
        pyro_spark_put_text(json, "name", resource->name);
        pyro_spark_key(json, "addresses");
        pyro_spark_open_array(json);
        for (size_t a = 0; a < resource->addresses.count; a++) {
            pyro_spark_element(json);
            pyro_spark_text(json, resource->addresses.items[a]);
        }
        pyro_spark_close_array(json);
        pyro_spark_close_object(json);
    }
    pyro_spark_close_object(json);
}

/* The driver's time is the application's. */
int64_t pyro_spark_executor_duration(const struct pyro_history *history, const struct pyro_history_executor *executor,
                                     bool spark_4, int64_t now_ms)
{
    if (history->answered || !pyro_slice_is(executor->id, "driver") || history->end_ms == 0)
        return spark_4 ? pyro_sub_wrapping(executor->duration_ms, executor->resubmitted_ms) : executor->duration_ms;
    return pyro_sub_wrapping(history->end_ms > 0 ? history->end_ms : now_ms, history->start_ms);
}

int64_t pyro_spark_executor_gc(const struct pyro_history *history, const struct pyro_history_executor *executor)
{
    return !history->answered && pyro_slice_is(executor->id, "driver") && executor->peaks.set
               ? executor->peaks.values[PYRO_HISTORY_PEAK_TotalGCTime]
               : executor->gc_ms;
}

static void write_counters(struct spark_json *json, const struct pyro_history *history,
                           const struct pyro_history_executor *executor, int64_t now_ms)
{
    pyro_spark_put_int(json, "rddBlocks", executor->rdd_blocks);
    pyro_spark_put_int(json, "memoryUsed", executor->memory_used);
    pyro_spark_put_int(json, "diskUsed", executor->disk_used);
    pyro_spark_put_int(json, "totalCores", executor->cores);
    pyro_spark_put_int(json, "maxTasks", executor->max_tasks);
    pyro_spark_put_int(json, "activeTasks", executor->active_tasks);
    pyro_spark_put_int(json, "failedTasks", executor->failed_tasks);
    pyro_spark_put_int(json, "completedTasks", executor->completed_tasks);
    pyro_spark_put_int(json, "totalTasks", executor->tasks);
    pyro_spark_put_int(json, "totalDuration", pyro_spark_executor_duration(history, executor, json->spark_4, now_ms));
    pyro_spark_put_int(json, "totalGCTime", pyro_spark_executor_gc(history, executor));
    pyro_spark_put_int(json, "totalInputBytes", executor->input_bytes);
    pyro_spark_put_int(json, "totalShuffleRead", executor->shuffle_read);
    pyro_spark_put_int(json, "totalShuffleWrite", executor->shuffle_write);
}

static void write_executor(struct spark_json *json, const struct pyro_history *history,
                           const struct pyro_history_executor *executor, int64_t now_ms)
{
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "id", executor->id);
    pyro_spark_put_text(json, "hostPort", executor->host_port.ptr ? executor->host_port : executor->host);
    pyro_spark_put_bool(json, "isActive", executor->active);
    write_counters(json, history, executor, now_ms);
    pyro_spark_put_bool(json, "isBlacklisted", executor->excluded);
    pyro_spark_put_int(json, "maxMemory", executor->max_memory);
    pyro_spark_put_date(json, "addTime", executor->added_ms);
    pyro_spark_put_time(json, "removeTime", executor->removed_ms);
    pyro_spark_put_text(json, "removeReason", executor->remove_reason);
    if (!json->brief)
        pyro_spark_pairs_object(json, "executorLogs", &executor->logs);
    if (executor->memory_known) {
        pyro_spark_key(json, "memoryMetrics");
        pyro_spark_open_object(json);
        pyro_spark_put_int(json, "usedOnHeapStorageMemory", executor->used_on_heap);
        pyro_spark_put_int(json, "usedOffHeapStorageMemory", executor->used_off_heap);
        pyro_spark_put_int(json, "totalOnHeapStorageMemory", executor->on_heap);
        pyro_spark_put_int(json, "totalOffHeapStorageMemory", executor->off_heap);
        pyro_spark_close_object(json);
    }
    write_ids(json, "blacklistedInStages", executor);
    pyro_spark_peaks(json, "peakMemoryMetrics", &executor->peaks);
    pyro_spark_pairs_object(json, "attributes", &executor->attributes);
    write_resources(json, executor);
    pyro_spark_put_int(json, "resourceProfileId", executor->profile);
    pyro_spark_put_bool(json, "isExcluded", executor->excluded);
    write_ids(json, "excludedInStages", executor);
    pyro_spark_close_object(json);
}

static int by_id(const void *a, const void *b)
{
    return pyro_slice_compare((*(const struct pyro_history_executor *const *)a)->id,
                              (*(const struct pyro_history_executor *const *)b)->id);
}

bool pyro_spark_write_executors(struct spark_json *json, const struct pyro_history *history, int64_t now_ms,
                                bool active_only)
{
    size_t count = history->executors.count;
    const struct pyro_history_executor **executors = pyro_allocate(NULL, (count + 1) * sizeof(*executors));
    if (!executors)
        return false;
    for (size_t i = 0; i < count; i++)
        executors[i] = &history->executors.items[i];
    qsort(executors, count, sizeof(*executors), by_id);
    pyro_spark_open_array(json);
    for (size_t i = 0; i < count; i++) {
        const struct pyro_history_executor *executor = executors[active_only ? count - 1 - i : i];
        if (active_only && !executor->active)
            continue;
        pyro_spark_element(json);
        write_executor(json, history, executor, now_ms);
    }
    pyro_spark_close_array(json);
    pyro_release(NULL, executors);
    return true;
}
