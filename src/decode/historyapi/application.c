/* The application and its environment. */
#include "decode/historyapi/reading.h"

#define KEY PYRO_JSON_KEY

static const struct pyro_json_key attempt_keys[] = {
    KEY("attemptId"), KEY("startTime"), KEY("endTime"), KEY("sparkUser"), KEY("completed"), KEY("appSparkVersion"),
};
enum { ATTEMPT_ID, START, END, USER, COMPLETED, VERSION, ATTEMPT_KEYS };

/* Leaves the members of the attempt that is asked for in `values`; the first one is the newest. */
static void choose_attempt(struct pyro_slice attempts, const char *wanted, struct pyro_slice *values)
{
    struct pyro_json json;
    pyro_api_start(&json, attempts);
    for (unsigned i = 0; i < ATTEMPT_KEYS; i++)
        values[i] = PYRO_SLICE_NULL;
    if (!attempts.ptr || !pyro_json_enter_array(&json))
        return;
    for (bool first = true, found = false; pyro_json_next_element(&json, &first) && !found;) {
        struct pyro_slice members[ATTEMPT_KEYS];
        if (!pyro_api_take(&json, attempt_keys, ATTEMPT_KEYS, members))
            continue;
        found = !wanted || pyro_api_is(members[ATTEMPT_ID], wanted);
        if (found)
            memcpy(values, members, sizeof(members));
    }
}

static enum pyro_status write_application(struct pyro_api_reading *reading)
{
    static const struct pyro_json_key keys[] = {KEY("id"), KEY("name"), KEY("attempts")};
    struct pyro_slice values[3], attempt[ATTEMPT_KEYS];
    struct pyro_json json;
    PYRO_TRY(pyro_api_get(reading, "", &reading->body, &json));
    pyro_api_take(&json, keys, 3, values);
    PYRO_TRY(pyro_api_check(reading, "", &json));
    if (!pyro_api_string(values[0]).ptr)
        return pyro_error_set(reading->error, PYRO_ERROR_INPUT,
                              "the server's answer holds no application: check the address");
    choose_attempt(values[2], reading->source->attempt, attempt);
    pyro_api_line(reading, "SparkListenerLogStart");
    pyro_api_add_raw(reading, "Spark Version", attempt[VERSION]);
    PYRO_TRY(pyro_api_line_end(reading));
    pyro_api_line(reading, "SparkListenerApplicationStart");
    pyro_api_add_raw(reading, "App Name", values[1]);
    pyro_api_add_raw(reading, "App ID", values[0]);
    pyro_api_add_time(reading, "Timestamp", pyro_api_time(attempt[START]));
    pyro_api_add_raw(reading, "User", attempt[USER]);
    pyro_api_add_raw(reading, "App Attempt ID", attempt[ATTEMPT_ID]);
    reading->facts->completed = attempt[COMPLETED].ptr && pyro_slice_is(attempt[COMPLETED], "true");
    if (reading->facts->completed)
        reading->ended_ms = pyro_api_time(attempt[END]);
    return pyro_api_line_end(reading);
}

/* ---- Environment ------------------------------------------------------------------------------------------------- */

/* [[KEY,VALUE],...] as {KEY:VALUE,...}. */
static void add_pairs(struct pyro_api_reading *reading, const char *name, struct pyro_slice pairs)
{
    struct pyro_json json;
    pyro_api_start(&json, pairs);
    if (!pairs.ptr || !pyro_json_enter_array(&json))
        return;
    pyro_api_add_raw(reading, name, PYRO_SLICE_LITERAL("{"));
    size_t begin = reading->lines.len;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        struct pyro_slice texts[2] = {PYRO_SLICE_NULL, PYRO_SLICE_NULL}, rest;
        size_t count = 0;
        if (!pyro_json_enter_array(&json))
            continue;
        for (bool inner = true; pyro_json_next_element(&json, &inner);)
            pyro_json_take_raw(&json, count < 2 ? &texts[count++] : &rest);
        if (json.error || !pyro_api_string(texts[0]).ptr || !pyro_api_string(texts[1]).ptr)
            continue;
        if (reading->lines.len > begin)
            pyro_api_add(reading, ",");
        pyro_strbuf_add_slice(&reading->lines, texts[0]);
        pyro_api_add(reading, ":");
        pyro_strbuf_add_slice(&reading->lines, texts[1]);
    }
    pyro_api_add(reading, "}");
}

/* {"cores":{"resourceName":"cores","amount":2,...},...} with what the event's reader asks for. */
static void add_requests(struct pyro_api_reading *reading, const char *name, struct pyro_slice requests)
{
    static const struct pyro_json_key keys[] = {KEY("resourceName"), KEY("amount")};
    struct pyro_json json;
    struct pyro_json_object object;
    pyro_api_start(&json, requests);
    if (!requests.ptr || !pyro_json_enter_object(&json, &object))
        return;
    pyro_api_add_raw(reading, name, PYRO_SLICE_LITERAL("{"));
    size_t begin = reading->lines.len;
    while (pyro_json_next(&json, &object, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice key = object.name, values[2];
        if (!pyro_api_take(&json, keys, 2, values) || !values[1].ptr)
            continue;
        pyro_strbuf_add_text(&reading->lines, reading->lines.len > begin ? ",\"" : "\"");
        pyro_strbuf_add_slice(&reading->lines, key);
        pyro_api_add(reading, "\":{");
        pyro_api_add_raw(reading, "Resource Name", values[0]);
        pyro_api_add_raw(reading, "Amount", values[1]);
        pyro_api_add(reading, "}");
    }
    pyro_api_add(reading, "}");
}

static enum pyro_status write_profiles(struct pyro_api_reading *reading, struct pyro_slice profiles)
{
    static const struct pyro_json_key keys[] = {KEY("id"), KEY("executorResources"), KEY("taskResources")};
    struct pyro_json json;
    pyro_api_start(&json, profiles);
    if (!profiles.ptr || !pyro_json_enter_array(&json))
        return PYRO_OK;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        struct pyro_slice values[3];
        if (!pyro_api_take(&json, keys, 3, values))
            continue;
        pyro_api_line(reading, "SparkListenerResourceProfileAdded");
        pyro_api_add_raw(reading, "Resource Profile Id", values[0]);
        add_requests(reading, "Executor Resource Requests", values[1]);
        add_requests(reading, "Task Resource Requests", values[2]);
        PYRO_TRY(pyro_api_line_end(reading));
    }
    return PYRO_OK;
}

static void add_runtime(struct pyro_api_reading *reading, struct pyro_slice runtime)
{
    static const struct pyro_json_key keys[] = {KEY("javaVersion"), KEY("javaHome"), KEY("scalaVersion")};
    struct pyro_slice values[3];
    if (!pyro_api_take_text(runtime, keys, 3, values))
        return;
    pyro_api_add_raw(reading, "JVM Information", PYRO_SLICE_LITERAL("{"));
    pyro_api_add_raw(reading, "Java Version", values[0]);
    pyro_api_add_raw(reading, "Java Home", values[1]);
    pyro_api_add_raw(reading, "Scala Version", values[2]);
    pyro_api_add(reading, "}");
}

static enum pyro_status write_environment(struct pyro_api_reading *reading)
{
    static const struct pyro_json_key keys[] = {
        KEY("runtime"),           KEY("sparkProperties"),  KEY("hadoopProperties"), KEY("systemProperties"),
        KEY("metricsProperties"), KEY("classpathEntries"), KEY("resourceProfiles"),
    };
    static const char *const names[] = {"Spark Properties", "Hadoop Properties", "System Properties",
                                        "Metrics Properties", "Classpath Entries"};
    struct pyro_slice values[7];
    struct pyro_json json;
    bool there;
    PYRO_TRY(pyro_api_get_optional(reading, "environment", &json, &there));
    if (!there)
        return PYRO_OK;
    pyro_api_take(&json, keys, 7, values);
    PYRO_TRY(pyro_api_check(reading, "environment", &json));
    PYRO_TRY(write_profiles(reading, values[6]));
    pyro_api_line(reading, "SparkListenerEnvironmentUpdate");
    add_runtime(reading, values[0]);
    for (int i = 0; i < 5; i++)
        add_pairs(reading, names[i], values[1 + i]);
    return pyro_api_line_end(reading);
}

enum pyro_status pyro_api_read_application(struct pyro_api_reading *reading)
{
    PYRO_TRY(write_application(reading));
    return write_environment(reading);
}

enum pyro_status pyro_api_end_application(struct pyro_api_reading *reading)
{
    if (!reading->facts->completed)
        return PYRO_OK;
    pyro_api_line(reading, "SparkListenerApplicationEnd");
    pyro_api_add_time(reading, "Timestamp", reading->ended_ms);
    return pyro_api_line_end(reading);
}
