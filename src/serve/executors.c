/* executors, allexecutors, allmiscellaneousprocess */
#include <stdlib.h>
#include <time.h>

#include "serve/api.h"

static void write_ids(struct serve_json *json, const char *key, const struct pyro_history_executor *executor)
{
    serve_key(json, key);
    serve_open_array(json);
    for (size_t i = 0; i < executor->excluded_stages.count; i++) {
        serve_element(json);
        serve_integer(json, executor->excluded_stages.items[i]);
    }
    serve_close_array(json);
}

static void write_resources(struct serve_json *json, const struct pyro_history_executor *executor)
{
    serve_key(json, "resources");
    serve_open_object(json);
    for (size_t i = 0; i < executor->resources.count; i++) {
        const struct pyro_history_resource *resource = &executor->resources.items[i];
        serve_key_slice(json, resource->name);
        serve_open_object(json);
        serve_put_text(json, "name", resource->name);
        serve_key(json, "addresses");
        serve_open_array(json);
        for (size_t a = 0; a < resource->addresses.count; a++) {
            serve_element(json);
            serve_text(json, resource->addresses.items[a]);
        }
        serve_close_array(json);
        serve_close_object(json);
    }
    serve_close_object(json);
}

/* The driver's time is the application's. */
static int64_t total_duration(const struct pyro_history *history, const struct pyro_history_executor *executor)
{
    if (!pyro_slice_is(executor->id, "driver") || history->end_ms == 0)
        return executor->duration_ms;
    return (history->end_ms > 0 ? history->end_ms : (int64_t)time(NULL) * 1000) - history->start_ms;
}

static int64_t total_gc(const struct pyro_history_executor *executor)
{
    return pyro_slice_is(executor->id, "driver") && executor->peaks.set
               ? executor->peaks.values[PYRO_HISTORY_PEAK_TotalGCTime]
               : executor->gc_ms;
}

static void write_counters(struct serve_json *json, const struct pyro_history *history,
                           const struct pyro_history_executor *executor)
{
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"rddBlocks", executor->rdd_blocks},
        {"memoryUsed", executor->memory_used},
        {"diskUsed", executor->disk_used},
        {"totalCores", executor->cores},
        {"maxTasks", executor->max_tasks},
        {"activeTasks", executor->active_tasks},
        {"failedTasks", executor->failed_tasks},
        {"completedTasks", executor->completed_tasks},
        {"totalTasks", executor->tasks},
        {"totalDuration", total_duration(history, executor)},
        {"totalGCTime", total_gc(executor)},
        {"totalInputBytes", executor->input_bytes},
        {"totalShuffleRead", executor->shuffle_read},
        {"totalShuffleWrite", executor->shuffle_write},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        serve_put_int(json, rows[i].name, rows[i].value);
}

static void write_executor(struct serve_json *json, const struct pyro_history *history,
                           const struct pyro_history_executor *executor)
{
    serve_open_object(json);
    serve_put_text(json, "id", executor->id);
    serve_put_text(json, "hostPort", executor->host_port.ptr ? executor->host_port : executor->host);
    serve_put_bool(json, "isActive", executor->active);
    write_counters(json, history, executor);
    serve_put_bool(json, "isBlacklisted", executor->excluded);
    serve_put_int(json, "maxMemory", executor->max_memory);
    serve_put_date(json, "addTime", executor->added_ms);
    serve_put_time(json, "removeTime", executor->removed_ms);
    serve_put_text(json, "removeReason", executor->remove_reason);
    serve_pairs_object(json, "executorLogs", &executor->logs);
    if (executor->memory_known) {
        serve_key(json, "memoryMetrics");
        serve_open_object(json);
        serve_put_int(json, "usedOnHeapStorageMemory", executor->used_on_heap);
        serve_put_int(json, "usedOffHeapStorageMemory", executor->used_off_heap);
        serve_put_int(json, "totalOnHeapStorageMemory", executor->on_heap);
        serve_put_int(json, "totalOffHeapStorageMemory", executor->off_heap);
        serve_close_object(json);
    }
    write_ids(json, "blacklistedInStages", executor);
    serve_peaks(json, "peakMemoryMetrics", &executor->peaks);
    serve_pairs_object(json, "attributes", &executor->attributes);
    write_resources(json, executor);
    serve_put_int(json, "resourceProfileId", executor->profile);
    serve_put_bool(json, "isExcluded", executor->excluded);
    write_ids(json, "excludedInStages", executor);
    serve_close_object(json);
}

static int by_id(const void *a, const void *b)
{
    return pyro_slice_compare((*(const struct pyro_history_executor *const *)a)->id,
                              (*(const struct pyro_history_executor *const *)b)->id);
}

/* Active ones backwards by id, all of them forwards: the orders of Spark's own indexes. */
static void write_executors(struct serve_request *request, bool active_only)
{
    const struct pyro_history *history = request->history;
    size_t count = history->executors.count;
    const struct pyro_history_executor **executors = pyro_allocate(NULL, (count + 1) * sizeof(*executors));
    if (!executors) {
        serve_error(request, 500, "no memory left");
        return;
    }
    for (size_t i = 0; i < count; i++)
        executors[i] = &history->executors.items[i];
    qsort(executors, count, sizeof(*executors), by_id);
    serve_open_array(&request->json);
    for (size_t i = 0; i < count; i++) {
        const struct pyro_history_executor *executor = executors[active_only ? count - 1 - i : i];
        if (active_only && !executor->active)
            continue;
        serve_element(&request->json);
        write_executor(&request->json, history, executor);
    }
    serve_close_array(&request->json);
    pyro_release(NULL, executors);
}

void serve_executors(struct serve_request *request)
{
    write_executors(request, true);
}

void serve_all_executors(struct serve_request *request)
{
    write_executors(request, false);
}

void serve_processes(struct serve_request *request)
{
    struct serve_json *json = &request->json;
    serve_open_array(json);
    for (size_t i = 0; i < request->history->processes.count; i++) {
        const struct pyro_history_process *process = &request->history->processes.items[i];
        serve_element(json);
        serve_open_object(json);
        serve_put_text(json, "id", process->id);
        serve_put_text(json, "hostPort", process->host_port);
        serve_put_bool(json, "isActive", true);
        serve_put_int(json, "totalCores", process->cores);
        serve_put_date(json, "addTime", process->added_ms);
        serve_pairs_object(json, "processLogs", &process->logs);
        serve_close_object(json);
    }
    serve_close_array(json);
}
