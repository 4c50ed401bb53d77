/* The application and its environment. */
#include "decode/rest/rest_reading.h"

PYRO_JSON_KEYS(attempt_keys, (ATTEMPT_ID, "attemptId"), (START, "startTime"), (END, "endTime"), (USER, "sparkUser"),
               (COMPLETED, "completed"), (VERSION, "appSparkVersion"));

/* Leaves the members of the attempt that is asked for in `values`; the first one is the newest. */
static void choose_attempt(struct pyro_slice attempts, const char *wanted, struct pyro_slice *values)
{
    struct pyro_json_reader json;
    pyro_rest_start(&json, attempts);
    for (unsigned i = 0; i < attempt_keys_count; i++)
        values[i] = PYRO_SLICE_NULL;
    if (!attempts.ptr || !pyro_json_enter_array(&json))
        return;
    for (bool first = true, found = false; pyro_json_next_element(&json, &first) && !found;) {
        struct pyro_slice members[attempt_keys_count];
        if (!pyro_rest_take(&json, attempt_keys, attempt_keys_count, members))
            continue;
        found = !wanted || pyro_rest_is(members[ATTEMPT_ID], wanted);
        if (found)
            memcpy(values, members, sizeof(members));
    }
}

static enum pyro_status write_application(struct pyro_rest_reading *reading)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (NAME, "name"), (ATTEMPTS, "attempts"));
    struct pyro_slice values[keys_count], attempt[attempt_keys_count];
    struct pyro_json_reader json;
    PYRO_TRY(pyro_rest_get(reading, "", &reading->body, &json));
    pyro_rest_take(&json, keys, keys_count, values);
    PYRO_TRY(pyro_rest_check(reading, "", &json));
    if (!pyro_rest_string(values[ID]).ptr)
        return pyro_error_set(reading->error, PYRO_ERROR_INPUT,
                              "the answer of the server has no application: check the address");
    choose_attempt(values[ATTEMPTS], reading->source->attempt, attempt);
    reading->started_ms = pyro_rest_time(attempt[START]);
    pyro_rest_line(reading, "SparkListenerLogStart");
    pyro_rest_add_raw(reading, "Spark Version", attempt[VERSION]);
    PYRO_TRY(pyro_rest_line_end(reading));
    pyro_rest_line(reading, "SparkListenerApplicationStart");
    pyro_rest_add_raw(reading, "App Name", values[NAME]);
    pyro_rest_add_raw(reading, "App ID", values[ID]);
    pyro_rest_add_time(reading, "Timestamp", reading->started_ms);
    pyro_rest_add_raw(reading, "User", attempt[USER]);
    pyro_rest_add_raw(reading, "App Attempt ID", attempt[ATTEMPT_ID]);
    reading->facts->completed = attempt[COMPLETED].ptr && pyro_slice_is(attempt[COMPLETED], "true");
    if (reading->facts->completed)
        reading->ended_ms = pyro_rest_time(attempt[END]);
    return pyro_rest_line_end(reading);
}

/* ---- Environment ------------------------------------------------------------------------------------------------- */

/* [[KEY,VALUE],...] as {KEY:VALUE,...}. */
static void add_pairs(struct pyro_rest_reading *reading, const char *name, struct pyro_slice pairs)
{
    struct pyro_slice key, value;
    struct pyro_json_reader json;
    pyro_rest_start(&json, pairs);
    if (!pairs.ptr || !pyro_json_enter_array(&json))
        return;
    pyro_rest_begin(reading, name, '{');
    for (bool first = true; pyro_rest_next_pair(&json, &first, &key, &value);) {
        pyro_compact_name_as_written(&reading->lines, pyro_rest_string(key));
        pyro_strbuf_add_slice(&reading->lines, value);
    }
    pyro_rest_end(reading, '}');
}

/* {"cores":{"resourceName":"cores","amount":2,...},...} with what the event's reader asks for. */
static void add_requests(struct pyro_rest_reading *reading, const char *name, struct pyro_slice requests)
{
    PYRO_JSON_KEYS(keys, (RESOURCE_NAME, "resourceName"), (AMOUNT, "amount"));
    struct pyro_json_reader json;
    struct pyro_json_object object;
    pyro_rest_start(&json, requests);
    if (!requests.ptr || !pyro_json_enter_object(&json, &object))
        return;
    pyro_rest_begin(reading, name, '{');
    while (pyro_json_next_any(&json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice key = object.name, values[keys_count];
        if (!pyro_rest_take(&json, keys, keys_count, values) || !values[AMOUNT].ptr)
            continue;
        pyro_compact_name_as_written(&reading->lines, key);
        pyro_strbuf_add_char(&reading->lines, '{');
        pyro_rest_add_raw(reading, "Resource Name", values[RESOURCE_NAME]);
        pyro_rest_add_raw(reading, "Amount", values[AMOUNT]);
        pyro_rest_end(reading, '}');
    }
    pyro_rest_end(reading, '}');
}

static enum pyro_status write_profiles(struct pyro_rest_reading *reading, struct pyro_slice profiles)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (EXECUTOR_RESOURCES, "executorResources"), (TASK_RESOURCES, "taskResources"));
    struct pyro_json_reader json;
    pyro_rest_start(&json, profiles);
    if (!profiles.ptr || !pyro_json_enter_array(&json))
        return PYRO_OK;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        struct pyro_slice values[keys_count];
        if (!pyro_rest_take(&json, keys, keys_count, values))
            continue;
        pyro_rest_line(reading, "SparkListenerResourceProfileAdded");
        pyro_rest_add_raw(reading, "Resource Profile Id", values[ID]);
        add_requests(reading, "Executor Resource Requests", values[EXECUTOR_RESOURCES]);
        add_requests(reading, "Task Resource Requests", values[TASK_RESOURCES]);
        PYRO_TRY(pyro_rest_line_end(reading));
    }
    return PYRO_OK;
}

static void add_runtime(struct pyro_rest_reading *reading, struct pyro_slice runtime)
{
    PYRO_JSON_KEYS(keys, (JAVA_VERSION, "javaVersion"), (JAVA_HOME, "javaHome"), (SCALA_VERSION, "scalaVersion"));
    struct pyro_slice values[keys_count];
    if (!pyro_rest_take_text(runtime, keys, keys_count, values))
        return;
    pyro_rest_begin(reading, "JVM Information", '{');
    pyro_rest_add_raw(reading, "Java Version", values[JAVA_VERSION]);
    pyro_rest_add_raw(reading, "Java Home", values[JAVA_HOME]);
    pyro_rest_add_raw(reading, "Scala Version", values[SCALA_VERSION]);
    pyro_rest_end(reading, '}');
}

static enum pyro_status write_environment(struct pyro_rest_reading *reading)
{
    PYRO_JSON_KEYS(keys, (RUNTIME, "runtime"), (SPARK_PROPERTIES, "sparkProperties"),
                   (HADOOP_PROPERTIES, "hadoopProperties"), (SYSTEM_PROPERTIES, "systemProperties"),
                   (METRICS_PROPERTIES, "metricsProperties"), (CLASSPATH_ENTRIES, "classpathEntries"),
                   (RESOURCE_PROFILES, "resourceProfiles"));
    static const char *const names[keys_count] = {[SPARK_PROPERTIES] = "Spark Properties",
                                                  [HADOOP_PROPERTIES] = "Hadoop Properties",
                                                  [SYSTEM_PROPERTIES] = "System Properties",
                                                  [METRICS_PROPERTIES] = "Metrics Properties",
                                                  [CLASSPATH_ENTRIES] = "Classpath Entries"};
    struct pyro_slice values[keys_count];
    struct pyro_json_reader json;
    bool there;
    PYRO_TRY(pyro_rest_get_optional(reading, "environment", &json, &there));
    if (!there)
        return PYRO_OK;
    pyro_rest_take(&json, keys, keys_count, values);
    PYRO_TRY(pyro_rest_check(reading, "environment", &json));
    reading->push_based = pyro_slice_find(values[SPARK_PROPERTIES], "\"spark.shuffle.push.enabled\"") != NULL;
    PYRO_TRY(write_profiles(reading, values[RESOURCE_PROFILES]));
    pyro_rest_line(reading, "SparkListenerEnvironmentUpdate");
    add_runtime(reading, values[RUNTIME]);
    for (int i = 0; i < keys_count; i++)
        if (names[i])
            add_pairs(reading, names[i], values[i]);
    return pyro_rest_line_end(reading);
}

enum pyro_status pyro_rest_read_application(struct pyro_rest_reading *reading)
{
    PYRO_TRY(write_application(reading));
    return write_environment(reading);
}

enum pyro_status pyro_rest_end_application(struct pyro_rest_reading *reading)
{
    if (!reading->facts->completed)
        return PYRO_OK;
    pyro_rest_line(reading, "SparkListenerApplicationEnd");
    pyro_rest_add_time(reading, "Timestamp", reading->ended_ms);
    return pyro_rest_line_end(reading);
}
