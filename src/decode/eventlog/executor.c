/* Executors coming and going, and their memory: SparkListenerExecutorAdded, ExecutorRemoved, BlockManagerAdded,
 * BlockManagerRemoved, ExecutorMetricsUpdate, StageExecutorMetrics. */
#include "base/collections/hash.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/block_manager_id.h"
#include "decode/eventlog/decoders.h"
#include "decode/eventlog/task_events.h"

static uint64_t executor_identity(struct pyro_builder *builder, struct pyro_slice id, int64_t time_ms)
{
    return pyro_hash_mix((uint64_t)time_ms ^ (uint64_t)pyro_intern(builder->app->strings, id) << 44);
}

/* {"gpu": {"name": "gpu", "addresses": ["0", "1"]}} becomes "gpu=2". */
static void decode_resources(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_executor *found)
{
    PYRO_JSON_KEYS(keys, (NAME, "name"), (ADDRESSES, "addresses"));
    struct pyro_json_object resources, resource;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, builder->allocator);
    if (pyro_json_peek(json) != '{') {
        pyro_json_skip(json);
    } else if (pyro_json_enter_object(json, &resources)) {
        while (pyro_json_next_any(json, &resources, NULL, 0) != PYRO_JSON_END) {
            struct pyro_slice name = pyro_build_decode(builder, resources.name);
            uint64_t count = 0;
            if (pyro_json_peek(json) != '{') {
                pyro_json_skip(json);
                continue;
            }
            pyro_json_enter_object(json, &resource);
            for (int key; (key = PYRO_JSON_NEXT(json, &resource, keys)) != PYRO_JSON_END;) {
                bool first = true;
                if (key != ADDRESSES || pyro_json_peek(json) != '[') {
                    pyro_json_skip(json);
                    continue;
                }
                pyro_json_enter_array(json);
                for (; pyro_json_next_element(json, &first); count++)
                    pyro_json_skip(json);
            }
            if (json->error || count == 0)
                continue;
            pyro_strbuf_printf(&text, "%s%.*s=%llu", text.len ? "," : "", (int)name.len, name.ptr,
                               (unsigned long long)count);
        }
    }
    if (text.len)
        found->resources = pyro_intern_slice(builder->app->strings, pyro_strbuf_slice(&text));
    builder->failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void decode_executor_info(struct pyro_json_reader *json, struct pyro_builder *builder,
                                 struct pyro_executor *found)
{
    PYRO_JSON_KEYS(keys, (HOST, "Host"), (TOTAL_CORES, "Total Cores"), (LOG_URLS, "Log Urls"),
                   (ATTRIBUTES, "Attributes"), (RESOURCES, "Resources"), (RESOURCE_PROFILE_ID, "Resource Profile Id"),
                   (REGISTRATION_TIME, "Registration Time"), (REQUEST_TIME, "Request Time"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == HOST)
            pyro_build_text(builder, json, &found->host);
        else if (key == TOTAL_CORES)
            pyro_json_take_int(json, &found->cores);
        else if (key == RESOURCE_PROFILE_ID)
            pyro_json_take_int(json, &found->resource_profile);
        else if (key == RESOURCES)
            decode_resources(json, builder, found);
        else if (key == REGISTRATION_TIME)
            pyro_json_take_int(json, &found->registered_ms);
        else if (key == REQUEST_TIME)
            pyro_json_take_int(json, &found->requested_ms);
        else
            pyro_json_skip(json);
    }
}

bool pyro_decode_executor_added(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (TIMESTAMP, "Timestamp"), (EXECUTOR_ID, "Executor ID"),
                   (EXECUTOR_INFO, "Executor Info"));
    struct pyro_executor found;
    struct pyro_json_object object;
    pyro_row_init(PYRO_TABLE_executors, &found);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == TIMESTAMP)
            pyro_json_take_int(json, &found.added_ms);
        else if (key == EXECUTOR_ID)
            pyro_build_text(builder, json, &found.id);
        else if (key == EXECUTOR_INFO)
            decode_executor_info(json, builder, &found);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    if (!found.id.ptr)
        return pyro_json_refuse(json, "an executor without an id");
    pyro_build_time(builder, found.added_ms);
    pyro_build_identity(builder, PYRO_IDENTITY_EXECUTOR_ADDED, executor_identity(builder, found.id, found.added_ms));
    struct pyro_executor *row = pyro_build_executor(builder, found.id);
    if (row && row->added_ms == found.added_ms)
        return true; /* the same event again */
    row = pyro_build_add_executor(builder, found.id);
    if (row) {
        *row = found;
        pyro_build_take_early(builder, row);
    }
    return !builder->failed;
}

bool pyro_decode_executor_removed(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (TIMESTAMP, "Timestamp"), (EXECUTOR_ID, "Executor ID"),
                   (REMOVED_REASON, "Removed Reason"));
    struct pyro_slice id = PYRO_SLICE_NULL, reason = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    int64_t time_ms = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == TIMESTAMP)
            pyro_json_take_int(json, &time_ms);
        else if (key == EXECUTOR_ID)
            pyro_build_text(builder, json, &id);
        else if (key == REMOVED_REASON)
            pyro_build_text(builder, json, &reason);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    if (!id.ptr)
        return pyro_json_refuse(json, "an executor without an id");
    pyro_build_time(builder, time_ms);
    pyro_build_identity(builder, PYRO_IDENTITY_EXECUTOR_REMOVED, executor_identity(builder, id, time_ms));
    struct pyro_executor *executor = pyro_build_executor(builder, id);
    struct pyro_early_executor *early = executor ? NULL : pyro_build_early_executor(builder, id);
    if (executor && executor->removed_ms == PYRO_NONE) {
        executor->removed_ms = time_ms;
        executor->remove_reason = reason;
    } else if (early) {
        early->removed_ms = time_ms;
        early->remove_reason = reason;
    }
    struct pyro_failure *failure = pyro_build_failure(builder, "executor");
    if (failure) {
        failure->id = failure->executor = id;
        failure->time_ms = time_ms;
        failure->message = pyro_intern_slice(builder->app->strings, pyro_build_cut(reason, 2000));
    }
    return !builder->failed;
}

void pyro_decode_block_manager_id(struct pyro_json_reader *json, struct pyro_builder *builder,
                                  struct pyro_slice *executor)
{
    PYRO_JSON_KEYS(keys, (EXECUTOR_ID, "Executor ID"), (HOST, "Host"), (PORT, "Port"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == EXECUTOR_ID)
            pyro_build_text(builder, json, executor);
        else
            pyro_json_skip(json);
    }
}

/* The newest event of an executor's block manager, whatever the order of the log. */
static void note_block_manager(struct pyro_builder *builder, const struct pyro_executor *row, uint64_t event)
{
    uint64_t *newest = pyro_map_put(&builder->block_managers, (uint64_t)(row - builder->app->executors.items), NULL);
    builder->failed |= !newest;
    if (newest && event > *newest)
        *newest = event;
}

static bool decode_block_manager(struct pyro_json_reader *json, struct pyro_builder *builder, bool removed)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (BLOCK_MANAGER_ID, "Block Manager ID"), (MAXIMUM_MEMORY, "Maximum Memory"),
                   (TIMESTAMP, "Timestamp"));
    struct pyro_slice executor = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    int64_t memory = PYRO_NONE, time_ms = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == BLOCK_MANAGER_ID)
            pyro_decode_block_manager_id(json, builder, &executor);
        else if (key == MAXIMUM_MEMORY)
            pyro_json_take_int(json, &memory);
        else if (key == TIMESTAMP)
            pyro_json_take_int(json, &time_ms);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    pyro_build_time(builder, time_ms);
    struct pyro_executor *row = executor.ptr ? pyro_build_executor(builder, executor) : NULL;
    struct pyro_early_executor *early =
        executor.ptr && !row && memory >= 0 ? pyro_build_early_executor(builder, executor) : NULL;
    if (row && memory >= 0)
        row->storage_memory_bytes = memory;
    else if (early)
        early->storage_memory_bytes = memory;
    if (row && time_ms > 0 && time_ms < INT64_MAX / 2)
        note_block_manager(builder, row, 2 * (uint64_t)time_ms + removed);
    return !builder->failed;
}

bool pyro_decode_block_manager_added(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return decode_block_manager(json, builder, false);
}

bool pyro_decode_block_manager_removed(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return decode_block_manager(json, builder, true);
}

/* "Executor Metrics Updated": [{"Stage ID", "Stage Attempt ID", "Executor Metrics": {...}}, ...] */
static void decode_updates(struct pyro_json_reader *json, int64_t *peaks)
{
    PYRO_JSON_KEYS(keys, (STAGE_ID, "Stage ID"), (STAGE_ATTEMPT_ID, "Stage Attempt ID"),
                   (EXECUTOR_METRICS, "Executor Metrics"));
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
            if (key == EXECUTOR_METRICS)
                pyro_decode_executor_metrics(json, peaks);
            else
                pyro_json_skip(json);
        }
    }
}

bool pyro_decode_executor_metrics_update(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (EXECUTOR_ID, "Executor ID"), (METRICS_UPDATED, "Metrics Updated"),
                   (EXECUTOR_METRICS_UPDATED, "Executor Metrics Updated"));
    struct pyro_slice executor = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    int64_t peaks[PYRO_PEAK_COUNT] = {0};
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == EXECUTOR_ID)
            pyro_build_text(builder, json, &executor);
        else if (key == EXECUTOR_METRICS_UPDATED)
            decode_updates(json, peaks);
        else
            pyro_json_skip(json);
    }
    if (!json->error && executor.ptr)
        pyro_build_executor_peaks(builder, executor, peaks);
    return !json->error && !builder->failed;
}

bool pyro_decode_stage_executor_metrics(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (EXECUTOR_ID, "Executor ID"), (STAGE_ID, "Stage ID"),
                   (STAGE_ATTEMPT_ID, "Stage Attempt ID"), (EXECUTOR_METRICS, "Executor Metrics"));
    struct pyro_slice executor = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    int64_t peaks[PYRO_PEAK_COUNT] = {0};
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == EXECUTOR_ID)
            pyro_build_text(builder, json, &executor);
        else if (key == EXECUTOR_METRICS)
            pyro_decode_executor_metrics(json, peaks);
        else
            pyro_json_skip(json);
    }
    if (!json->error && executor.ptr)
        pyro_build_executor_peaks(builder, executor, peaks);
    return !json->error && !builder->failed;
}
