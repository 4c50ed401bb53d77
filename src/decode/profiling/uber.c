/* Uber's JVM profiler: records CpuAndMemory, IO and ProcessInfo. Names of pools and collectors are the JVM's own, so
 * that any collector will do. */
#include "decode/profiling/profile_records.h"

enum { MEASURES_MAX = 128 };

/* One record: the process, and what it measured. The process may be named behind the numbers. */
struct measures {
    struct pyro_slice name, host, role;
    double time;
    struct {
        enum pyro_profile_series series;
        struct pyro_slice label;
        double value;
    } items[MEASURES_MAX];
    size_t count;
};

static void add_measure(struct measures *measures, enum pyro_profile_series series, struct pyro_slice label,
                        double value)
{
    if (measures->count == MEASURES_MAX || !(value >= 0))
        return;
    measures->items[measures->count].series = series;
    measures->items[measures->count].label = label;
    measures->items[measures->count].value = value;
    measures->count++;
}

static void take_measure(struct pyro_json_reader *json, struct measures *measures, enum pyro_profile_series series)
{
    double value = PYRO_PROFILE_NO_NUMBER;
    pyro_profile_take_number(json, &value);
    add_measure(measures, series, PYRO_SLICE_NULL, value);
}

static void write_measures(struct pyro_profile_records *records, struct pyro_json_reader *json,
                           const struct measures *measures)
{
    struct pyro_profile_reading *reading = records->reading;
    int64_t time_ns = pyro_profile_ns(measures->time);
    if (json->error || !pyro_json_record_end(json))
        return;
    if (time_ns == PYRO_NONE) {
        pyro_json_refuse(json, "no time");
        return;
    }
    const struct pyro_profile_process process = {
        .host = measures->host,
        .pid = pyro_profile_pid_of_name(measures->name),
        .role = pyro_slice_is(measures->role, "driver") ? "driver" : "jvm",
    };
    int32_t thread = pyro_profile_process_row(reading, &process);
    records->no_memory |= thread < 0;
    for (size_t i = 0; i < measures->count && !records->no_memory; i++)
        records->no_memory = !pyro_profile_point(reading, thread, measures->items[i].series, measures->items[i].label,
                                                 time_ns, measures->items[i].value);
}

static bool enter_record(struct pyro_json_reader *json, struct pyro_json_object *object, struct measures *measures)
{
    measures->name = measures->host = measures->role = PYRO_SLICE_NULL;
    measures->time = PYRO_PROFILE_NO_NUMBER;
    measures->count = 0;
    return pyro_json_enter_object(json, object) || pyro_json_refuse(json, "not a record");
}

/* ---- CpuAndMemory ------------------------------------------------------------------------------------------------ */

PYRO_JSON_KEYS(part_keys, (PART_NAME, "name"), (PART_TIME, "collectionTime"), (PART_COUNT, "collectionCount"),
               (PART_USED, "usageUsed"), (PART_COMMITTED, "usageCommitted"), (PART_BUFFER, "memoryUsed"));

static const enum pyro_profile_series part_series[part_keys_count] = {
    [PART_TIME] = PYRO_PROFILE_GC_TIME,       [PART_COUNT] = PYRO_PROFILE_GC_COUNT,
    [PART_USED] = PYRO_PROFILE_POOL_USED,     [PART_COMMITTED] = PYRO_PROFILE_POOL_COMMITTED,
    [PART_BUFFER] = PYRO_PROFILE_BUFFER_USED,
};

/* An array of pools or collectors, each with its name and numbers. */
static void take_parts(struct pyro_json_reader *json, struct measures *measures)
{
    bool first = true;
    if (!pyro_json_enter_array(json))
        return;
    while (pyro_json_next_element(json, &first)) {
        struct pyro_json_object object;
        struct pyro_slice name = PYRO_SLICE_NULL;
        double values[part_keys_count];
        for (int i = 0; i < part_keys_count; i++)
            values[i] = PYRO_PROFILE_NO_NUMBER;
        if (!pyro_json_enter_object(json, &object)) {
            if (json->error)
                return;
            continue;
        }
        for (int key; (key = PYRO_JSON_NEXT(json, &object, part_keys)) != PYRO_JSON_END;) {
            if (key == PART_NAME)
                pyro_json_take_string(json, &name, NULL);
            else if (key >= 0)
                pyro_profile_take_number(json, &values[key]);
            else
                pyro_json_skip(json);
        }
        for (int i = PART_NAME + 1; i < part_keys_count && name.ptr; i++)
            add_measure(measures, part_series[i], name, values[i]);
    }
}

PYRO_JSON_KEYS(memory_keys, (MEMORY_NON_HEAP, "nonHeapMemoryTotalUsed"), (MEMORY_BUFFERS, "bufferPools"),
               (MEMORY_HEAP, "heapMemoryTotalUsed"), (MEMORY_TIME, "epochMillis"),
               (MEMORY_NON_HEAP_COMMITTED, "nonHeapMemoryCommitted"), (MEMORY_COMMITTED, "heapMemoryCommitted"),
               (MEMORY_POOLS, "memoryPools"), (MEMORY_CPU, "processCpuLoad"), (MEMORY_SYSTEM, "systemCpuLoad"),
               (MEMORY_CPU_TIME, "processCpuTime"), (MEMORY_HOST, "host"), (MEMORY_NAME, "name"), (MEMORY_GC, "gc"),
               (MEMORY_ROLE, "role"), (MEMORY_RSS, "vmRSS"), (MEMORY_PEAK, "vmHWM"), (MEMORY_SIZE, "vmSize"));

static void take_memory_member(struct pyro_profile_records *records, struct pyro_json_reader *json, int key,
                               struct measures *measures)
{
    static const struct {
        int key;
        enum pyro_profile_series series;
    } plain[] = {
        {MEMORY_NON_HEAP, PYRO_PROFILE_NON_HEAP_USED},
        {MEMORY_HEAP, PYRO_PROFILE_HEAP_USED},
        {MEMORY_NON_HEAP_COMMITTED, PYRO_PROFILE_NON_HEAP_COMMITTED},
        {MEMORY_COMMITTED, PYRO_PROFILE_HEAP_COMMITTED},
        {MEMORY_CPU, PYRO_PROFILE_CPU_PROCESS},
        {MEMORY_SYSTEM, PYRO_PROFILE_CPU_SYSTEM},
        {MEMORY_CPU_TIME, PYRO_PROFILE_CPU_TIME},
        {MEMORY_RSS, PYRO_PROFILE_RSS},
        {MEMORY_PEAK, PYRO_PROFILE_RSS_PEAK},
        {MEMORY_SIZE, PYRO_PROFILE_VIRTUAL},
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        if (plain[i].key == key) {
            take_measure(json, measures, plain[i].series);
            return;
        }
    }
    if (key == MEMORY_TIME)
        pyro_profile_take_number(json, &measures->time);
    else if (key == MEMORY_NAME)
        measures->name = pyro_profile_take_text(records, json);
    else if (key == MEMORY_HOST)
        measures->host = pyro_profile_take_text(records, json);
    else if (key == MEMORY_ROLE)
        measures->role = pyro_profile_take_text(records, json);
    else if (key == MEMORY_GC || key == MEMORY_POOLS || key == MEMORY_BUFFERS)
        take_parts(json, measures);
    else
        pyro_json_skip(json);
}

void pyro_profile_memory_record(struct pyro_profile_records *records, struct pyro_json_reader *json)
{
    struct pyro_json_object object;
    struct measures measures;
    if (!enter_record(json, &object, &measures))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, memory_keys)) != PYRO_JSON_END;)
        take_memory_member(records, json, key, &measures);
    write_measures(records, json, &measures);
}

/* ---- IO and ProcessInfo ------------------------------------------------------------------------------------------ */

PYRO_JSON_KEYS(bytes_keys, (BYTES_READ, "read_bytes"), (BYTES_WRITTEN, "write_bytes"), (BYTES_READ_CALLS, "rchar"),
               (BYTES_WRITTEN_CALLS, "wchar"));

/* {"io": {"rchar": ..., ...}} */
static void take_self(struct pyro_json_reader *json, struct measures *measures)
{
    PYRO_JSON_KEYS(self_keys, (SELF_IO, "io"));
    static const enum pyro_profile_series series[bytes_keys_count] = {
        [BYTES_READ] = PYRO_PROFILE_IO_READ,
        [BYTES_WRITTEN] = PYRO_PROFILE_IO_WRITTEN,
        [BYTES_READ_CALLS] = PYRO_PROFILE_IO_READ_CALLS,
        [BYTES_WRITTEN_CALLS] = PYRO_PROFILE_IO_WRITTEN_CALLS,
    };
    struct pyro_json_object self, object;
    if (!pyro_json_enter_object(json, &self))
        return;
    while (PYRO_JSON_NEXT_KNOWN(json, &self, self_keys) == SELF_IO) {
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = PYRO_JSON_NEXT_KNOWN(json, &object, bytes_keys)) != PYRO_JSON_END;)
            take_measure(json, measures, series[key]);
    }
}

PYRO_JSON_KEYS(process_keys, (PROCESS_TIME, "epochMillis"), (PROCESS_NAME, "name"), (PROCESS_HOST, "host"),
               (PROCESS_ROLE, "role"), (PROCESS_SELF, "self"), (PROCESS_HEAP, "xmxBytes"));

/* IO, and ProcessInfo, of which only the heap's limit is kept: no command lines, no class paths. */
void pyro_profile_process_record(struct pyro_profile_records *records, struct pyro_json_reader *json)
{
    struct pyro_json_object object;
    struct measures measures;
    if (!enter_record(json, &object, &measures))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, process_keys)) != PYRO_JSON_END;) {
        if (key == PROCESS_TIME)
            pyro_profile_take_number(json, &measures.time);
        else if (key == PROCESS_NAME)
            measures.name = pyro_profile_take_text(records, json);
        else if (key == PROCESS_HOST)
            measures.host = pyro_profile_take_text(records, json);
        else if (key == PROCESS_ROLE)
            measures.role = pyro_profile_take_text(records, json);
        else if (key == PROCESS_SELF)
            take_self(json, &measures);
        else if (key == PROCESS_HEAP)
            take_measure(json, &measures, PYRO_PROFILE_HEAP_MAX);
        else
            pyro_json_skip(json);
    }
    write_measures(records, json, &measures);
}
