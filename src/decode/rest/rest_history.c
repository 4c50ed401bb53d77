#include "decode/rest/rest_history.h"

#include <string.h>

#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/rest/rest_reading.h"

/* More than servers have; rows are larger than the answers that they are made of. */
enum { MOST_ROWS = 200000, MOST_ITEMS = 4000000 };

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Valid until the next call; null where the text is. */
static struct pyro_slice decode(struct pyro_rest_history *shown, struct pyro_slice raw)
{
    if (!raw.ptr)
        return raw;
    pyro_strbuf_clear(&shown->scratch);
    pyro_text_decode(&shown->scratch, raw, NULL);
    shown->history->failed |= shown->scratch.failed;
    return pyro_strbuf_slice(&shown->scratch);
}

/* A text as it is written between its quotes. */
static struct pyro_slice keep(struct pyro_rest_history *shown, struct pyro_slice raw)
{
    struct pyro_slice text = decode(shown, raw);
    struct pyro_slice kept = text.ptr ? pyro_intern_slice(shown->history->strings, text) : text;
    shown->history->failed |= text.ptr && !kept.ptr;
    return kept;
}

static struct pyro_slice keep_text(struct pyro_rest_history *shown, struct pyro_slice value)
{
    return keep(shown, pyro_rest_string(value));
}

/* The same of a value that its name may forbid to show; of a setting also what Spark's expression finds in it. */
static struct pyro_slice keep_value(struct pyro_rest_history *shown, struct pyro_slice name, struct pyro_slice value,
                                    bool setting)
{
    struct pyro_slice text = decode(shown, pyro_rest_string(value));
    struct pyro_slice kept = text.ptr ? pyro_intake_value(&shown->intake, name, text, setting) : text;
    shown->history->failed |= text.ptr && !kept.ptr;
    return kept;
}

static bool is_true(struct pyro_slice value)
{
    return value.ptr && pyro_slice_is(value, "true");
}

static int64_t time_of(struct pyro_slice value)
{
    int64_t time_ms = pyro_rest_time(value);
    return time_ms == PYRO_NONE ? PYRO_HISTORY_NO_TIME : time_ms;
}

static double real_of(struct pyro_slice value)
{
    struct pyro_json_reader json;
    double number = 0;
    pyro_rest_start(&json, value);
    return value.ptr && pyro_json_take_double(&json, &number) ? number : 0;
}

static int64_t or_zero(int64_t number)
{
    return number == PYRO_NONE ? 0 : number;
}

static bool enter_array(struct pyro_json_reader *json, struct pyro_slice value)
{
    pyro_rest_start(json, value);
    return value.ptr && pyro_json_enter_array(json);
}

static bool enter_object(struct pyro_json_reader *json, struct pyro_slice value, struct pyro_json_object *object)
{
    pyro_rest_start(json, value);
    return value.ptr && pyro_json_enter_object(json, object);
}

/* The next whole number of an array; false at its end. */
static bool next_int(struct pyro_json_reader *json, bool *first, int64_t *ret)
{
    while (pyro_json_next_element(json, first)) {
        struct pyro_slice value = PYRO_SLICE_NULL;
        pyro_json_take_raw(json, &value);
        *ret = pyro_rest_int(value, PYRO_NONE);
        if (*ret != PYRO_NONE)
            return true;
    }
    return false;
}

/* Numbers of an object, one for each key; PYRO_NONE: it is missing, or no whole number. */
static void take_numbers(struct pyro_slice value, const struct pyro_json_key *keys, unsigned count, int64_t *ret)
{
    struct pyro_json_reader json;
    struct pyro_json_object object;
    for (unsigned i = 0; i < count; i++)
        ret[i] = PYRO_NONE;
    if (!enter_object(&json, value, &object))
        return;
    for (int key; (key = pyro_json_next(&json, &object, keys, count)) != PYRO_JSON_END;) {
        struct pyro_slice number = PYRO_SLICE_NULL;
        if (key < 0)
            pyro_json_skip(&json);
        else if (pyro_json_take_raw(&json, &number))
            ret[key] = pyro_rest_int(number, PYRO_NONE);
    }
}

/* Keys and members of a struct, in pairs: NUMBER(key, member). */
#define KEY_ROW(key, member)    PYRO_JSON_KEY(#key),
#define MEMBER_ROW(key, member) row->member = *number++;

static void take_peaks(struct pyro_slice value, struct pyro_history_peaks *ret)
{
    static const struct pyro_json_key keys[PYRO_HISTORY_PEAKS] = {
#define HISTORY_PEAK(name) PYRO_JSON_KEY(#name),
#include "model/history/peaks.def"
#undef HISTORY_PEAK
    };
    ret->set = value.len > 0 && value.ptr[0] == '{';
    if (ret->set)
        take_numbers(value, keys, PYRO_HISTORY_PEAKS, ret->values);
}

/* One more item of a list in a row; false: there are too many. */
static bool has_room(struct pyro_rest_history *shown)
{
    shown->too_many |= ++shown->items > MOST_ITEMS;
    return !shown->too_many;
}

static void add_pair(struct pyro_rest_history *shown, pyro_history_pairs *pairs, struct pyro_slice name,
                     struct pyro_slice value, bool setting)
{
    struct pyro_history_pair *pair = has_room(shown) ? pyro_vec_push(pairs, NULL) : NULL;
    shown->history->failed |= !shown->too_many && !pair;
    if (!pair)
        return;
    pair->key = keep(shown, name);
    pair->value = keep_value(shown, pair->key, value, setting);
}

/* ---- Environment ------------------------------------------------------------------------------------------------- */

/* What the application itself wants hidden, before any of its texts is kept. */
static void read_own_expressions(struct pyro_rest_history *shown, struct pyro_slice properties)
{
    struct pyro_slice name, value;
    struct pyro_strbuf expression;
    struct pyro_json_reader json;
    pyro_strbuf_init(&expression, NULL);
    if (enter_array(&json, properties))
        for (bool first = true; pyro_rest_next_pair(&json, &first, &name, &value);) {
            struct pyro_slice key = decode(shown, pyro_rest_string(name));
            if (!pyro_slice_find(key, "redaction"))
                continue;
            pyro_strbuf_clear(&expression);
            pyro_text_decode(&expression, pyro_rest_string(value), NULL);
            pyro_secrets_configure(&shown->intake.secrets, key, pyro_strbuf_slice(&expression));
        }
    shown->history->failed |= expression.failed;
    pyro_strbuf_done(&expression);
}

static void take_properties(struct pyro_rest_history *shown, struct pyro_slice properties, pyro_history_pairs *pairs)
{
    struct pyro_slice name, value;
    struct pyro_json_reader json;
    if (enter_array(&json, properties))
        for (bool first = true; pyro_rest_next_pair(&json, &first, &name, &value) && !shown->too_many;)
            add_pair(shown, pairs, pyro_rest_string(name), value, true);
}

static void take_runtime(struct pyro_rest_history *shown, struct pyro_slice runtime)
{
    PYRO_JSON_KEYS(keys, (JAVA_VERSION, "javaVersion"), (JAVA_HOME, "javaHome"), (SCALA_VERSION, "scalaVersion"));
    static const char *const names[keys_count] = {
        [JAVA_VERSION] = "Java Version", [JAVA_HOME] = "Java Home", [SCALA_VERSION] = "Scala Version"};
    struct pyro_slice values[keys_count];
    pyro_rest_take_text(runtime, keys, keys_count, values);
    for (int i = 0; i < keys_count; i++) {
        struct pyro_history_pair *pair = pyro_vec_push(&shown->history->sections[PYRO_SECTION_JVM], NULL);
        shown->history->failed |= !pair;
        if (pair)
            *pair = (struct pyro_history_pair){pyro_slice_from(names[i]), keep_text(shown, values[i])};
    }
}

static void take_requests(struct pyro_rest_history *shown, struct pyro_slice value, pyro_history_requests *requests)
{
    PYRO_JSON_KEYS(keys, (AMOUNT, "amount"), (SCRIPT, "discoveryScript"), (VENDOR, "vendor"));
    struct pyro_json_reader json;
    struct pyro_json_object object;
    if (!enter_object(&json, value, &object))
        return;
    while (pyro_json_next_any(&json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice name = object.name, values[keys_count];
        if (!pyro_rest_take(&json, keys, keys_count, values))
            continue;
        struct pyro_history_request *request = has_room(shown) ? pyro_vec_push(requests, NULL) : NULL;
        shown->history->failed |= !shown->too_many && !request;
        if (!request)
            return;
        *request = (struct pyro_history_request){
            .name = keep(shown, name),
            .script = keep_text(shown, values[SCRIPT]),
            .vendor = keep_text(shown, values[VENDOR]),
            .amount = pyro_rest_int(values[AMOUNT], 0),
            .task_amount = real_of(values[AMOUNT]),
        };
    }
}

static void take_profile(struct pyro_rest_history *shown, struct pyro_slice value)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (EXECUTOR_RESOURCES, "executorResources"), (TASK_RESOURCES, "taskResources"));
    struct pyro_slice values[keys_count];
    if (!pyro_rest_take_text(value, keys, keys_count, values))
        return;
    struct pyro_history_profile *profile = has_room(shown) ? pyro_vec_push(&shown->history->profiles, NULL) : NULL;
    shown->history->failed |= !shown->too_many && !profile;
    if (!profile)
        return;
    profile->id = pyro_rest_int(values[ID], 0);
    take_requests(shown, values[EXECUTOR_RESOURCES], &profile->executor);
    take_requests(shown, values[TASK_RESOURCES], &profile->task);
}

/* ---- Executors --------------------------------------------------------------------------------------------------- */

#define EXECUTOR_NUMBERS(NUMBER)                                                                                       \
    NUMBER(rddBlocks, rdd_blocks)                                                                                      \
    NUMBER(memoryUsed, memory_used)                                                                                    \
    NUMBER(diskUsed, disk_used)                                                                                        \
    NUMBER(totalCores, cores)                                                                                          \
    NUMBER(maxTasks, max_tasks)                                                                                        \
    NUMBER(activeTasks, active_tasks)                                                                                  \
    NUMBER(failedTasks, failed_tasks)                                                                                  \
    NUMBER(completedTasks, completed_tasks)                                                                            \
    NUMBER(totalTasks, tasks)                                                                                          \
    NUMBER(totalDuration, duration_ms)                                                                                 \
    NUMBER(totalGCTime, gc_ms)                                                                                         \
    NUMBER(totalInputBytes, input_bytes)                                                                               \
    NUMBER(totalShuffleRead, shuffle_read)                                                                             \
    NUMBER(totalShuffleWrite, shuffle_write)                                                                           \
    NUMBER(maxMemory, max_memory)                                                                                      \
    NUMBER(resourceProfileId, profile)
#define MEMORY_NUMBERS(NUMBER)                                                                                         \
    NUMBER(usedOnHeapStorageMemory, used_on_heap)                                                                      \
    NUMBER(usedOffHeapStorageMemory, used_off_heap)                                                                    \
    NUMBER(totalOnHeapStorageMemory, on_heap)                                                                          \
    NUMBER(totalOffHeapStorageMemory, off_heap)

static void take_executor_numbers(struct pyro_slice value, struct pyro_slice memory, struct pyro_history_executor *row)
{
    static const struct pyro_json_key keys[] = {EXECUTOR_NUMBERS(KEY_ROW)}, memory_keys[] = {MEMORY_NUMBERS(KEY_ROW)};
    enum { COUNT = sizeof(keys) / sizeof(*keys), MEMORY_COUNT = sizeof(memory_keys) / sizeof(*memory_keys) };
    int64_t numbers[COUNT > MEMORY_COUNT ? COUNT : MEMORY_COUNT], *number = numbers;
    take_numbers(value, keys, COUNT, numbers);
    EXECUTOR_NUMBERS(MEMBER_ROW)
    /* Every Spark tells these. */
    row->cores = or_zero(row->cores);
    row->duration_ms = or_zero(row->duration_ms);
    row->max_memory = or_zero(row->max_memory);
    row->memory_known = memory.len > 0 && memory.ptr[0] == '{';
    number = numbers;
    take_numbers(memory, memory_keys, MEMORY_COUNT, numbers);
    MEMORY_NUMBERS(MEMBER_ROW)
}

static void take_resources(struct pyro_rest_history *shown, struct pyro_slice value,
                           struct pyro_history_executor *executor)
{
    PYRO_JSON_KEYS(keys, (ADDRESSES, "addresses"));
    struct pyro_json_reader json, addresses;
    struct pyro_json_object object;
    if (!enter_object(&json, value, &object))
        return;
    while (pyro_json_next_any(&json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice name = object.name, values[keys_count];
        if (!pyro_rest_take(&json, keys, keys_count, values))
            continue;
        struct pyro_history_resource *resource = has_room(shown) ? pyro_vec_push(&executor->resources, NULL) : NULL;
        shown->history->failed |= !shown->too_many && !resource;
        if (!resource)
            return;
        resource->name = keep(shown, name);
        if (enter_array(&addresses, values[ADDRESSES]))
            for (bool first = true; pyro_json_next_element(&addresses, &first) && has_room(shown);) {
                struct pyro_slice text = PYRO_SLICE_NULL;
                pyro_json_take_raw(&addresses, &text);
                struct pyro_slice *address = pyro_vec_push(&resource->addresses, NULL);
                shown->history->failed |= !address;
                if (address)
                    *address = keep_text(shown, text);
            }
    }
}

static void take_attributes(struct pyro_rest_history *shown, struct pyro_slice value, pyro_history_pairs *pairs)
{
    struct pyro_json_reader json;
    struct pyro_json_object object;
    if (!enter_object(&json, value, &object))
        return;
    while (pyro_json_next_any(&json, &object, NULL, 0) != PYRO_JSON_END && !shown->too_many) {
        struct pyro_slice name = object.name, text = PYRO_SLICE_NULL;
        if (pyro_json_take_raw(&json, &text) && pyro_rest_string(text).ptr)
            add_pair(shown, pairs, name, text, false);
    }
}

/* Whether the key of a row is new; if so, the row is the next one of `count`. */
static bool is_new_row(struct pyro_history *history, struct pyro_map *rows, uint64_t key, size_t count)
{
    bool added = false;
    uint64_t *row = pyro_map_put(rows, key, &added);
    history->failed |= !row;
    if (row && added)
        *row = count + 1;
    return row && added;
}

static struct pyro_history_executor *add_executor(struct pyro_rest_history *shown, struct pyro_slice id)
{
    struct pyro_history *history = shown->history;
    if (!is_new_row(history, &history->executor_rows, pyro_intern(history->strings, id), history->executors.count))
        return NULL;
    struct pyro_history_executor *executor = pyro_vec_push(&history->executors, NULL);
    history->failed |= !executor;
    if (executor)
        executor->id = id;
    return executor;
}

static void take_executor(struct pyro_rest_history *shown, struct pyro_slice value)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (HOST_PORT, "hostPort"), (ACTIVE, "isActive"), (BLACKLISTED, "isBlacklisted"),
                   (ADDED, "addTime"), (REMOVED, "removeTime"), (REASON, "removeReason"), (MEMORY, "memoryMetrics"),
                   (BLACKLISTED_IN, "blacklistedInStages"), (PEAKS, "peakMemoryMetrics"), (ATTRIBUTES, "attributes"),
                   (RESOURCES, "resources"), (EXCLUDED, "isExcluded"), (EXCLUDED_IN, "excludedInStages"));
    struct pyro_slice values[keys_count];
    struct pyro_json_reader json;
    int64_t stage;
    pyro_rest_take_text(value, keys, keys_count, values);
    struct pyro_slice id = keep_text(shown, values[ID]);
    struct pyro_history_executor *executor = id.ptr ? add_executor(shown, id) : NULL;
    if (!executor)
        return;
    take_executor_numbers(value, values[MEMORY], executor);
    take_peaks(values[PEAKS], &executor->peaks);
    executor->host_port = keep_text(shown, values[HOST_PORT]);
    executor->active = is_true(values[ACTIVE]);
    executor->excluded = is_true(values[BLACKLISTED]) || is_true(values[EXCLUDED]);
    executor->added_ms = time_of(values[ADDED]);
    executor->removed_ms = time_of(values[REMOVED]);
    executor->remove_reason = keep_text(shown, values[REASON]);
    if (enter_array(&json, values[EXCLUDED_IN].ptr ? values[EXCLUDED_IN] : values[BLACKLISTED_IN]))
        for (bool first = true; next_int(&json, &first, &stage) && has_room(shown);) {
            int64_t *place = pyro_vec_push(&executor->excluded_stages, NULL);
            shown->history->failed |= !place;
            if (place)
                *place = stage;
        }
    take_attributes(shown, values[ATTRIBUTES], &executor->attributes);
    take_resources(shown, values[RESOURCES], executor);
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

#define STAGE_NUMBERS(NUMBER)                                                                                          \
    NUMBER(numTasks, partitions)                                                                                       \
    NUMBER(numActiveTasks, active)                                                                                     \
    NUMBER(numCompleteTasks, completed)                                                                                \
    NUMBER(numFailedTasks, failed)                                                                                     \
    NUMBER(numKilledTasks, killed)                                                                                     \
    NUMBER(numCompletedIndices, completed_indices)                                                                     \
    NUMBER(resourceProfileId, profile)                                                                                 \
    NUMBER(shuffleMergersCount, mergers)                                                                               \
    NUMBER(shuffleReadBytes, shuffle_read)

static void take_stage_numbers(struct pyro_slice value, struct pyro_history_stage *row)
{
    static const struct pyro_json_key keys[] = {STAGE_NUMBERS(KEY_ROW)}, metric_keys[PYRO_HISTORY_METRICS] = {
#define HISTORY_METRIC(name, column, stage) PYRO_JSON_KEY(#stage),
#include "model/history/metrics.def"
#undef HISTORY_METRIC
                                                                         };
    enum { COUNT = sizeof(keys) / sizeof(*keys) };
    int64_t numbers[COUNT], *number = numbers;
    take_numbers(value, keys, COUNT, numbers);
    STAGE_NUMBERS(MEMBER_ROW)
    take_numbers(value, metric_keys, PYRO_HISTORY_METRICS, row->metrics);
    /* Every Spark tells these. */
    row->partitions = or_zero(row->partitions);
    row->completed = or_zero(row->completed);
    row->metrics[PYRO_HISTORY_bytesRead] = or_zero(row->metrics[PYRO_HISTORY_bytesRead]);
    row->metrics[PYRO_HISTORY_bytesWritten] = or_zero(row->metrics[PYRO_HISTORY_bytesWritten]);
}

static void take_accumulables(struct pyro_rest_history *shown, struct pyro_slice value,
                              pyro_history_accumulables *accumulables)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (NAME, "name"), (UPDATE, "update"), (VALUE, "value"));
    struct pyro_slice values[keys_count];
    struct pyro_json_reader json;
    if (!enter_array(&json, value))
        return;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        if (!pyro_rest_take(&json, keys, keys_count, values) || !pyro_rest_string(values[NAME]).ptr)
            continue;
        struct pyro_history_accumulable *added = has_room(shown) ? pyro_vec_push(accumulables, NULL) : NULL;
        shown->history->failed |= !shown->too_many && !added;
        if (!added)
            return;
        added->id = pyro_rest_int(values[ID], 0);
        added->name = keep_text(shown, values[NAME]);
        struct pyro_slice *const texts[] = {&added->update, &added->value};
        for (int i = 0; i < 2; i++) {
            struct pyro_slice text = values[UPDATE + i];
            bool count = pyro_is_count(pyro_rest_string(text));
            *texts[i] = count ? keep_text(shown, text) : keep_value(shown, added->name, text, false);
        }
    }
}

static void take_reasons(struct pyro_rest_history *shown, struct pyro_slice value, pyro_history_counts *counts)
{
    struct pyro_json_reader json;
    struct pyro_json_object object;
    if (!enter_object(&json, value, &object))
        return;
    while (pyro_json_next_any(&json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice reason = object.name, number = PYRO_SLICE_NULL;
        pyro_json_take_raw(&json, &number);
        int64_t count = pyro_rest_int(number, PYRO_NONE);
        if (count == PYRO_NONE)
            continue;
        struct pyro_history_count *added = has_room(shown) ? pyro_vec_push(counts, NULL) : NULL;
        shown->history->failed |= !shown->too_many && !added;
        if (!added)
            return;
        *added = (struct pyro_history_count){keep(shown, reason), count};
    }
}

/* NULL: it is none, or there is no memory. */
static struct pyro_history_stage *add_stage(struct pyro_rest_history *shown, int64_t id, int64_t attempt,
                                            struct pyro_slice status)
{
    static const char *const statuses[] = {[PYRO_STAGE_ACTIVE] = "ACTIVE",
                                           [PYRO_STAGE_COMPLETE] = "COMPLETE",
                                           [PYRO_STAGE_FAILED] = "FAILED",
                                           [PYRO_STAGE_PENDING] = "PENDING",
                                           [PYRO_STAGE_SKIPPED] = "SKIPPED"};
    enum { STATUSES = sizeof(statuses) / sizeof(*statuses) };
    struct pyro_history *history = shown->history;
    size_t which = 0;
    while (which < STATUSES && !pyro_rest_is(status, statuses[which]))
        which++;
    if (which == STATUSES || id < 0 || attempt < 0 || id > INT32_MAX || attempt > INT32_MAX)
        return NULL;
    if (!is_new_row(history, &history->stage_rows, (uint64_t)id << 32 | (uint64_t)attempt, history->stages.count))
        return NULL;
    struct pyro_history_stage *stage = pyro_vec_push(&history->stages, NULL);
    history->failed |= !stage;
    if (!stage)
        return NULL;
    stage->id = id;
    stage->attempt = attempt;
    stage->status = (enum pyro_history_stage_status)which;
    return stage;
}

static void take_stage(struct pyro_rest_history *shown, struct pyro_slice value)
{
    PYRO_JSON_KEYS(keys, (STATUS, "status"), (ID, "stageId"), (ATTEMPT, "attemptId"), (SUBMITTED, "submissionTime"),
                   (LAUNCHED, "firstTaskLaunchedTime"), (COMPLETED, "completionTime"), (FAILURE, "failureReason"),
                   (NAME, "name"), (DESCRIPTION, "description"), (POOL, "schedulingPool"), (RDDS, "rddIds"),
                   (ACCUMULABLES, "accumulatorUpdates"), (REASONS, "killedTasksSummary"),
                   (PEAKS, "peakExecutorMetrics"), (PUSH, "isShufflePushEnabled"));
    struct pyro_slice values[keys_count];
    struct pyro_json_reader json;
    int64_t rdd;
    pyro_rest_take_text(value, keys, keys_count, values);
    struct pyro_history_stage *stage =
        add_stage(shown, pyro_rest_int(values[ID], -1), pyro_rest_int(values[ATTEMPT], 0), values[STATUS]);
    if (!stage)
        return;
    take_stage_numbers(value, stage);
    take_peaks(values[PEAKS], &stage->peaks);
    stage->submitted_ms = time_of(values[SUBMITTED]);
    stage->first_launch_ms = time_of(values[LAUNCHED]);
    stage->completed_ms = time_of(values[COMPLETED]);
    stage->failure = keep_text(shown, values[FAILURE]);
    stage->name = keep_text(shown, values[NAME]);
    stage->description = keep_text(shown, values[DESCRIPTION]);
    stage->pool = keep_text(shown, values[POOL]);
    stage->push_enabled = is_true(values[PUSH]);
    if (enter_array(&json, values[RDDS]))
        for (bool first = true; next_int(&json, &first, &rdd) && has_room(shown);) {
            int64_t *place = pyro_vec_push(&stage->rdd_ids, NULL);
            shown->history->failed |= !place;
            if (place)
                *place = rdd;
        }
    take_accumulables(shown, values[ACCUMULABLES], &stage->accumulables);
    take_reasons(shown, values[REASONS], &stage->killed_reasons);
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

static void take_rows(struct pyro_rest_history *shown, struct pyro_json_reader *json,
                      void (*take)(struct pyro_rest_history *shown, struct pyro_slice row))
{
    size_t rows = 0;
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; !shown->too_many && !shown->history->failed && pyro_json_next_element(json, &first);) {
        struct pyro_slice row = PYRO_SLICE_NULL;
        shown->too_many |= ++rows > MOST_ROWS;
        if (pyro_json_take_raw(json, &row))
            take(shown, row);
    }
}

/* Long texts, which stores do not keep, are passed over. */
static void take_environment(struct pyro_rest_history *shown, struct pyro_json_reader *json)
{
    PYRO_JSON_KEYS(keys, (RUNTIME, "runtime"), (SPARK, "sparkProperties"), (METRICS, "metricsProperties"),
                   (PROFILES, "resourceProfiles"));
    struct pyro_slice values[keys_count];
    struct pyro_json_reader profiles;
    struct pyro_history *history = shown->history;
    history->has_environment = pyro_rest_take(json, keys, keys_count, values);
    if (!history->has_environment)
        return;
    read_own_expressions(shown, values[SPARK]);
    take_runtime(shown, values[RUNTIME]);
    take_properties(shown, values[SPARK], &history->sections[PYRO_SECTION_SPARK]);
    take_properties(shown, values[METRICS], &history->sections[PYRO_SECTION_METRICS]);
    pyro_rest_start(&profiles, values[PROFILES]);
    if (values[PROFILES].ptr)
        take_rows(shown, &profiles, take_profile);
}

enum pyro_status pyro_rest_history_read(struct pyro_rest_history *shown, const char *page, struct pyro_json_reader json,
                                        struct pyro_error *error)
{
    if (strcmp(page, "environment") == 0)
        take_environment(shown, &json);
    else if (strcmp(page, "allexecutors") == 0)
        take_rows(shown, &json, take_executor);
    else if (strcmp(page, "stages") == 0)
        take_rows(shown, &json, take_stage);
    if (shown->history->failed)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to read REST answers");
    if (shown->too_many)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the answer of the server to %s has more rows than are read",
                              page);
    return PYRO_OK;
}

bool pyro_rest_history_begin(struct pyro_rest_history *shown, enum pyro_redaction redaction)
{
    *shown = (struct pyro_rest_history){.history = pyro_history_new()};
    pyro_strbuf_init(&shown->scratch, NULL);
    if (!shown->history)
        return false;
    shown->history->answered = true;
    pyro_intake_init(&shown->intake, shown->history->strings, redaction, NULL);
    return true;
}

void pyro_rest_history_done(struct pyro_rest_history *shown)
{
    pyro_history_release(shown->history);
    pyro_strbuf_done(&shown->scratch);
    pyro_intake_done(&shown->intake);
}

struct pyro_history *pyro_rest_history_give(struct pyro_rest_history *shown)
{
    struct pyro_history *history = shown->history;
    if (history->failed || pyro_intake_failed(&shown->intake) || !pyro_history_seal(history))
        return NULL;
    pyro_intake_leave(&shown->intake);
    shown->history = NULL;
    return history;
}
