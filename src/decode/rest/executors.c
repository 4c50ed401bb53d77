/* Executors, and cached RDDs. */
#include <stdlib.h>

#include "decode/rest/rest_reading.h"

PYRO_JSON_KEYS(executor_keys, (ID, "id"), (HOST_PORT, "hostPort"), (CORES, "totalCores"), (MEMORY, "maxMemory"),
               (ADDED, "addTime"), (REMOVED, "removeTime"), (REASON, "removeReason"), (PROFILE, "resourceProfileId"),
               (PEAKS, "peakMemoryMetrics"));

struct executor {
    struct pyro_slice values[executor_keys_count];
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

static enum pyro_status write_added(struct pyro_rest_reading *reading, const struct executor *executor)
{
    const struct pyro_slice *values = executor->values;
    struct pyro_slice host = pyro_rest_string(values[HOST_PORT]);
    const char *colon = host.ptr ? memrchr(host.ptr, ':', host.len) : NULL;
    if (colon)
        host.len = (size_t)(colon - host.ptr);
    /* The driver is an executor in local mode only, and has cores only then. */
    if (pyro_rest_int(values[CORES], 0) > 0) {
        pyro_rest_line(reading, "SparkListenerExecutorAdded");
        pyro_rest_add_time(reading, "Timestamp", executor->added_ms);
        pyro_rest_add_raw(reading, "Executor ID", values[ID]);
        pyro_rest_begin(reading, "Executor Info", '{');
        pyro_compact_as_written(&reading->lines, "Host", host);
        pyro_rest_add_raw(reading, "Total Cores", values[CORES]);
        pyro_rest_add_raw(reading, "Resource Profile Id", values[PROFILE]);
        pyro_rest_end(reading, '}');
        PYRO_TRY(pyro_rest_line_end(reading));
    }
    pyro_rest_line(reading, "SparkListenerBlockManagerAdded");
    pyro_rest_begin(reading, "Block Manager ID", '{');
    pyro_rest_add_raw(reading, "Executor ID", values[ID]);
    pyro_rest_end(reading, '}');
    pyro_rest_add_raw(reading, "Maximum Memory", values[MEMORY]);
    pyro_rest_add_time(reading, "Timestamp", executor->added_ms);
    return pyro_rest_line_end(reading);
}

static enum pyro_status write_executor(struct pyro_rest_reading *reading, const struct executor *executor)
{
    const struct pyro_slice *values = executor->values;
    PYRO_TRY(write_added(reading, executor));
    if (values[PEAKS].ptr) {
        pyro_rest_line(reading, "SparkListenerExecutorMetricsUpdate");
        pyro_rest_add_raw(reading, "Executor ID", values[ID]);
        pyro_rest_begin(reading, "Executor Metrics Updated", '[');
        pyro_rest_begin(reading, NULL, '{');
        pyro_rest_add_int(reading, "Stage ID", -1);
        pyro_rest_add_int(reading, "Stage Attempt ID", -1);
        pyro_rest_add_raw(reading, "Executor Metrics", values[PEAKS]);
        pyro_rest_end(reading, '}');
        pyro_rest_end(reading, ']');
        PYRO_TRY(pyro_rest_line_end(reading));
    }
    int64_t removed_ms = pyro_rest_time(values[REMOVED]);
    if (removed_ms == PYRO_NONE)
        return PYRO_OK;
    pyro_rest_line(reading, "SparkListenerExecutorRemoved");
    pyro_rest_add_time(reading, "Timestamp", removed_ms);
    pyro_rest_add_raw(reading, "Executor ID", values[ID]);
    pyro_rest_add_raw(reading, "Removed Reason", values[REASON].ptr ? values[REASON] : PYRO_SLICE_LITERAL("\"\""));
    return pyro_rest_line_end(reading);
}

enum pyro_status pyro_rest_read_executors(struct pyro_rest_reading *reading)
{
    static const char page[] = "allexecutors";
    const struct pyro_allocator *allocator = reading->source->allocator;
    PYRO_VEC(struct executor) executors = {0};
    struct pyro_json_reader json;
    PYRO_TRY(pyro_rest_get(reading, page, &reading->body, &json));
    if (pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct executor *executor = pyro_vec_push(&executors, allocator);
            if (!executor) {
                pyro_vec_done(&executors, allocator);
                return pyro_rest_no_memory(reading);
            }
            pyro_rest_take(&json, executor_keys, executor_keys_count, executor->values);
            executor->added_ms = pyro_rest_time(executor->values[ADDED]);
            executor->row = executors.count;
        }
    enum pyro_status status = pyro_rest_check(reading, page, &json);
    if (executors.count > 1)
        qsort(executors.items, executors.count, sizeof(*executors.items), compare_executors);
    for (size_t i = 0; i < executors.count && status == PYRO_OK; i++)
        if (pyro_rest_string(executors.items[i].values[ID]).ptr)
            status = write_executor(reading, &executors.items[i]);
    pyro_vec_done(&executors, allocator);
    return status;
}

/* ---- Cached RDDs ------------------------------------------------------------------------------------------------- */

int pyro_rest_compare_rdds(const void *left, const void *right)
{
    const struct pyro_rest_rdd *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool level_has(struct pyro_slice level, const char *word)
{
    return level.ptr && pyro_slice_find(level, word);
}

PYRO_JSON_KEYS(rdd_keys, (RDD_ID, "id"), (RDD_NAME, "name"), (RDD_NUM_PARTITIONS, "numPartitions"),
               (RDD_NUM_CACHED_PARTITIONS, "numCachedPartitions"), (RDD_STORAGE_LEVEL, "storageLevel"),
               (RDD_MEMORY_USED, "memoryUsed"), (RDD_DISK_USED, "diskUsed"));

/* An RDDInfo without a lineage: the answers do not give one. */
static bool keep_rdd(struct pyro_rest_reading *reading, const struct pyro_slice *values)
{
    struct pyro_strbuf *texts = &reading->rdd_texts;
    struct pyro_slice level = pyro_rest_string(values[RDD_STORAGE_LEVEL]);
    struct pyro_rest_rdd *rdd = pyro_vec_push(&reading->rdds, reading->source->allocator);
    if (!rdd)
        return false;
    *rdd = (struct pyro_rest_rdd){pyro_rest_int(values[RDD_ID], PYRO_NONE), texts->len, 0};
    pyro_strbuf_add_char(texts, '{');
    pyro_compact_name(texts, "RDD ID");
    pyro_strbuf_add_int(texts, rdd->id);
    pyro_compact_json(texts, "Name", values[RDD_NAME].ptr ? values[RDD_NAME] : PYRO_SLICE_LITERAL("\"\""));
    pyro_compact_begin(texts, "Storage Level", '{');
    pyro_compact_bool(texts, "Use Disk", level_has(level, "Disk"));
    pyro_compact_bool(texts, "Use Memory", level_has(level, "Memory"));
    pyro_compact_bool(texts, "Use Off Heap", level_has(level, "off heap"));
    pyro_compact_bool(texts, "Deserialized", level_has(level, "Deserialized"));
    pyro_compact_int(texts, "Replication", level_has(level, "2x") ? 2 : 1);
    pyro_compact_end(texts, '}');
    pyro_compact_int(texts, "Number of Partitions", pyro_rest_int(values[RDD_NUM_PARTITIONS], 0));
    pyro_compact_int(texts, "Number of Cached Partitions", pyro_rest_int(values[RDD_NUM_CACHED_PARTITIONS], 0));
    pyro_compact_int(texts, "Memory Size", pyro_rest_int(values[RDD_MEMORY_USED], 0));
    pyro_compact_int(texts, "Disk Size", pyro_rest_int(values[RDD_DISK_USED], 0));
    pyro_compact_end(texts, '}');
    rdd->len = texts->len - rdd->begin;
    if (rdd->id == PYRO_NONE)
        reading->rdds.count--;
    return !texts->failed;
}

enum pyro_status pyro_rest_read_storage(struct pyro_rest_reading *reading)
{
    static const char page[] = "storage/rdd";
    struct pyro_json_reader json;
    bool there;
    PYRO_TRY(pyro_rest_get_optional(reading, page, &json, &there));
    if (!there || !pyro_json_enter_array(&json))
        return PYRO_OK;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        struct pyro_slice values[rdd_keys_count];
        if (pyro_rest_take(&json, rdd_keys, rdd_keys_count, values) && !keep_rdd(reading, values))
            return pyro_rest_no_memory(reading);
    }
    if (reading->rdds.count > 1)
        qsort(reading->rdds.items, reading->rdds.count, sizeof(*reading->rdds.items), pyro_rest_compare_rdds);
    return pyro_rest_check(reading, page, &json);
}
