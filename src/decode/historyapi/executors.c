/* Executors, and cached RDDs. */
#include <stdlib.h>

#include "decode/historyapi/reading.h"

#define KEY PYRO_JSON_KEY

static const struct pyro_json_key executor_keys[] = {
    KEY("id"),         KEY("hostPort"),          KEY("totalCores"),        KEY("maxMemory"), KEY("addTime"),
    KEY("removeTime"), KEY("removeReason"), KEY("resourceProfileId"), KEY("peakMemoryMetrics"),
};
enum {
    ID,
    HOST_PORT,
    CORES,
    MEMORY,
    ADDED,
    REMOVED,
    REASON,
    PROFILE,
    PEAKS,
    EXECUTOR_KEYS
};

struct executor {
    struct pyro_slice values[EXECUTOR_KEYS];
    int64_t added_ms;
    size_t row;
};

static int compare_executors(const void *left, const void *right)
{
    const struct executor *a = left, *b = right;
    if (a->added_ms != b->added_ms)
        return a->added_ms < b->added_ms ? -1 : 1;
    return a->row > b->row ? -1 : a->row < b->row; /* newest first is the server's order */
}

static enum pyro_status write_added(struct api_reading *reading, const struct executor *executor)
{
    const struct pyro_slice *values = executor->values;
    struct pyro_slice host = api_string(values[HOST_PORT]);
    const char *colon = host.ptr ? memrchr(host.ptr, ':', host.len) : NULL;
    if (colon)
        host.len = (size_t)(colon - host.ptr);
    /* The driver is an executor in local mode only, and has cores only then. */
    if (api_int(values[CORES], 0) > 0) {
        api_line(reading, "SparkListenerExecutorAdded");
        api_add_time(reading, "Timestamp", executor->added_ms);
        api_add_raw(reading, "Executor ID", values[ID]);
        api_add(reading, ",\"Executor Info\":{\"Host\":\"");
        pyro_strbuf_add_slice(&reading->lines, host.ptr ? host : PYRO_SLICE_LITERAL(""));
        api_add(reading, "\"");
        api_add_raw(reading, "Total Cores", values[CORES]);
        api_add_raw(reading, "Resource Profile Id", values[PROFILE]);
        api_add(reading, "}");
        PYRO_TRY(api_line_end(reading));
    }
    api_line(reading, "SparkListenerBlockManagerAdded");
    api_add(reading, ",\"Block Manager ID\":{");
    api_add_raw(reading, "Executor ID", values[ID]);
    api_add(reading, "}");
    api_add_raw(reading, "Maximum Memory", values[MEMORY]);
    api_add_time(reading, "Timestamp", executor->added_ms);
    return api_line_end(reading);
}

static enum pyro_status write_executor(struct api_reading *reading, const struct executor *executor)
{
    const struct pyro_slice *values = executor->values;
    PYRO_TRY(write_added(reading, executor));
    if (values[PEAKS].ptr) {
        api_line(reading, "SparkListenerExecutorMetricsUpdate");
        api_add_raw(reading, "Executor ID", values[ID]);
        api_add(reading, ",\"Executor Metrics Updated\":[{\"Stage ID\":-1,\"Stage Attempt ID\":-1");
        api_add_raw(reading, "Executor Metrics", values[PEAKS]);
        api_add(reading, "}]");
        PYRO_TRY(api_line_end(reading));
    }
    int64_t removed_ms = api_time(values[REMOVED]);
    if (removed_ms == PYRO_NONE)
        return PYRO_OK;
    api_line(reading, "SparkListenerExecutorRemoved");
    api_add_time(reading, "Timestamp", removed_ms);
    api_add_raw(reading, "Executor ID", values[ID]);
    api_add_raw(reading, "Removed Reason", values[REASON].ptr ? values[REASON] : PYRO_SLICE_LITERAL("\"\""));
    return api_line_end(reading);
}

enum pyro_status api_read_executors(struct api_reading *reading)
{
    static const char page[] = "allexecutors";
    const struct pyro_allocator *allocator = reading->source->allocator;
    PYRO_VEC(struct executor) executors = {0};
    struct pyro_json json;
    PYRO_TRY(api_get(reading, page, &reading->body, &json));
    if (pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct executor *executor = pyro_vec_push(&executors, allocator);
            if (!executor) {
                pyro_vec_done(&executors, allocator);
                return api_no_memory(reading);
            }
            api_take(&json, executor_keys, EXECUTOR_KEYS, executor->values);
            executor->added_ms = api_time(executor->values[ADDED]);
            executor->row = executors.count;
        }
    enum pyro_status status = api_check(reading, page, &json);
    if (executors.count > 1)
        qsort(executors.items, executors.count, sizeof(*executors.items), compare_executors);
    for (size_t i = 0; i < executors.count && status == PYRO_OK; i++)
        if (api_string(executors.items[i].values[ID]).ptr)
            status = write_executor(reading, &executors.items[i]);
    pyro_vec_done(&executors, allocator);
    return status;
}

/* ---- Cached RDDs ------------------------------------------------------------------------------------------------- */

int api_compare_rdds(const void *left, const void *right)
{
    const struct api_rdd *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool level_has(struct pyro_slice level, const char *word)
{
    return level.ptr && pyro_slice_find(level, word);
}

/* An RDDInfo without a lineage: the answers do not give one. */
static bool keep_rdd(struct api_reading *reading, const struct pyro_slice *values)
{
    struct pyro_strbuf *texts = &reading->rdd_texts;
    struct pyro_slice level = api_string(values[4]);
    struct api_rdd *rdd = pyro_vec_push(&reading->rdds, reading->source->allocator);
    if (!rdd)
        return false;
    *rdd = (struct api_rdd){api_int(values[0], PYRO_NONE), texts->len, 0};
    pyro_strbuf_printf(texts, "{\"RDD ID\":%lld,\"Name\":", (long long)rdd->id);
    pyro_strbuf_add_slice(texts, values[1].ptr ? values[1] : PYRO_SLICE_LITERAL("\"\""));
    pyro_strbuf_printf(texts,
                       ",\"Storage Level\":{\"Use Disk\":%s,\"Use Memory\":%s,\"Use Off Heap\":%s,"
                       "\"Deserialized\":%s,\"Replication\":%d},\"Number of Partitions\":%lld,"
                       "\"Number of Cached Partitions\":%lld,\"Memory Size\":%lld,\"Disk Size\":%lld}",
                       level_has(level, "Disk") ? "true" : "false", level_has(level, "Memory") ? "true" : "false",
                       level_has(level, "off heap") ? "true" : "false",
                       level_has(level, "Deserialized") ? "true" : "false", level_has(level, "2x") ? 2 : 1,
                       (long long)api_int(values[2], 0), (long long)api_int(values[3], 0),
                       (long long)api_int(values[5], 0), (long long)api_int(values[6], 0));
    rdd->len = texts->len - rdd->begin;
    if (rdd->id == PYRO_NONE)
        reading->rdds.count--;
    return !texts->failed;
}

enum pyro_status api_read_storage(struct api_reading *reading)
{
    static const struct pyro_json_key keys[] = {
        KEY("id"),           KEY("name"),       KEY("numPartitions"), KEY("numCachedPartitions"),
        KEY("storageLevel"), KEY("memoryUsed"), KEY("diskUsed"),
    };
    static const char page[] = "storage/rdd";
    struct pyro_json json;
    bool there;
    PYRO_TRY(api_get_optional(reading, page, &json, &there));
    if (!there || !pyro_json_enter_array(&json))
        return PYRO_OK;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        struct pyro_slice values[7];
        if (api_take(&json, keys, 7, values) && !keep_rdd(reading, values))
            return api_no_memory(reading);
    }
    if (reading->rdds.count > 1)
        qsort(reading->rdds.items, reading->rdds.count, sizeof(*reading->rdds.items), api_compare_rdds);
    return api_check(reading, page, &json);
}
