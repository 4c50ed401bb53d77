/* The application itself: SparkListenerLogStart, ApplicationStart, ApplicationEnd, EnvironmentUpdate,
 * ResourceProfileAdded. */
#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

bool pyro_decode_log_start(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (SPARK_VERSION, "Spark Version"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == SPARK_VERSION)
            pyro_build_text(builder, json, &builder->app->application.spark_version);
        else
            pyro_json_skip(json);
    }
    builder->starts.log_line = builder->starts.line;
    builder->starts.log_part = builder->part_path;
    return !json->error && !builder->failed;
}

/* The same event may be logged again; without ids (before Spark 1.3), name and time distinguish them. */
static bool is_other(const struct pyro_application_row *a, const struct pyro_application_row *b)
{
    if (a->id.ptr && b->id.ptr)
        return !pyro_slice_eq(a->id, b->id) ||
               (a->attempt.ptr && b->attempt.ptr && !pyro_slice_eq(a->attempt, b->attempt));
    return !a->id.ptr && !b->id.ptr && a->start_ms != b->start_ms && !pyro_slice_eq(a->name, b->name);
}

/* Notes where another application begins: with its LogStart, where that is in front of it. */
static void note_second(struct pyro_builder *builder, const struct pyro_application_row *row, bool headless)
{
    struct pyro_application_starts *starts = &builder->starts;
    if (starts->part.ptr)
        return;
    bool has_start = starts->log_line > 1 && pyro_slice_eq(starts->log_part, builder->part_path);
    starts->part = builder->part_path.ptr ? builder->part_path : PYRO_SLICE_LITERAL("");
    starts->id = row->id;
    starts->attempt = row->attempt;
    starts->split = has_start ? starts->log_line : starts->line;
    starts->headless = headless;
}

/* Whether everything before was over when the application started, and a log started after it: two files that were
 * joined, of which the first lacks its beginning. */
static bool is_after_others(const struct pyro_builder *builder, const struct pyro_application_row *row)
{
    return !builder->started && builder->starts.log_line > 1 && builder->latest_scheduling_ms != PYRO_NONE &&
           row->start_ms != PYRO_NONE && builder->latest_scheduling_ms < row->start_ms;
}

enum pyro_status pyro_builder_check_single(const struct pyro_builder *builder, struct pyro_error *error)
{
    const struct pyro_application_starts *starts = &builder->starts;
    const struct pyro_application_row *first = &builder->app->application;
    bool same = pyro_slice_eq(first->id, starts->id) && !starts->headless;
    struct pyro_slice a = same ? first->attempt : first->id, b = same ? starts->attempt : starts->id;
    if (!starts->part.ptr)
        return PYRO_OK;
    if (starts->headless)
        a = PYRO_SLICE_LITERAL("one without its beginning");
    pyro_error_describe(error, PYRO_ERROR_INPUT, "holds two %s, %.*s (lines 1 to %llu) and %.*s: split it at line %llu",
                        same ? "attempts of an application" : "applications", (int)(a.ptr ? a.len : 1),
                        a.ptr ? a.ptr : "?", (unsigned long long)starts->split - 1, (int)(b.ptr ? b.len : 1),
                        b.ptr ? b.ptr : "?", (unsigned long long)starts->split);
    pyro_error_at(error, starts->part.ptr, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

bool pyro_decode_application_start(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (APP_NAME, "App Name"), (APP_ID, "App ID"), (TIMESTAMP, "Timestamp"),
                   (USER, "User"), (APP_ATTEMPT_ID, "App Attempt ID"));
    struct pyro_application_row row = builder->app->application, *app = &row;
    const struct pyro_application_row first = row;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        switch (key) {
        case APP_NAME:
            pyro_build_text(builder, json, &app->name);
            break;
        case APP_ID:
            pyro_build_text(builder, json, &app->id);
            break;
        case TIMESTAMP:
            pyro_json_take_int(json, &app->start_ms);
            break;
        case USER:
            pyro_build_text(builder, json, &app->user);
            break;
        case APP_ATTEMPT_ID:
            pyro_build_text(builder, json, &app->attempt);
            break;
        default:
            pyro_json_skip(json);
        }
    }
    if (json->error || builder->failed)
        return false;
    bool headless = is_after_others(builder, &row);
    if (headless || (builder->started && is_other(&first, &row)))
        note_second(builder, &row, headless);
    else
        builder->app->application = row;
    builder->started = true;
    pyro_build_identity(builder, PYRO_IDENTITY_APPLICATION_START, 0);
    pyro_build_time(builder, app->start_ms);
    return !builder->failed;
}

bool pyro_decode_application_end(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (TIMESTAMP, "Timestamp"), (EXIT_CODE, "ExitCode"));
    struct pyro_application_row row = builder->app->application, *app = &row;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == TIMESTAMP)
            pyro_json_take_int(json, &app->end_ms);
        else if (key == EXIT_CODE)
            pyro_json_take_int(json, &app->exit_code);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    builder->app->application = row;
    builder->ended = true;
    pyro_build_identity(builder, PYRO_IDENTITY_APPLICATION_END, 0);
    pyro_build_time(builder, app->end_ms);
    return !builder->failed;
}

static void decode_properties(struct pyro_json_reader *json, struct pyro_builder *builder, const char *kind,
                              bool settings)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    while (pyro_json_next_any(json, &object, NULL, 0) != PYRO_JSON_END && !builder->failed) {
        struct pyro_slice name = pyro_build_decode(builder, object.name), raw = PYRO_SLICE_NULL, value = raw;
        bool plain = false;
        if (pyro_json_peek(json) == '"')
            pyro_json_take_string(json, &raw, &plain);
        else
            pyro_json_skip(json);
        if (json->error || builder->failed)
            break;
        if (raw.ptr && !plain)
            raw = pyro_build_scratch(builder, raw);
        if (raw.ptr)
            value = settings ? pyro_intake_value(&builder->intake, name, raw, true)
                             : pyro_intern_slice(builder->app->strings, raw);
        builder->failed |= raw.ptr && !value.ptr;
        pyro_build_property(builder, kind, name, value);
    }
}

/* What the log itself wants hidden, before anything of the event is kept. */
static void read_own_expressions(struct pyro_json_reader json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (SPARK_PROPERTIES, "Spark Properties"));
    struct pyro_json_object object, properties;
    struct pyro_strbuf name;
    bool changed = false;
    pyro_strbuf_init(&name, builder->allocator);
    if (!pyro_json_enter_object(&json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(&json, &object, keys)) != PYRO_JSON_END;) {
        if (key != SPARK_PROPERTIES)
            pyro_json_skip(&json);
        if (key != SPARK_PROPERTIES || !pyro_json_enter_object(&json, &properties))
            continue;
        while (pyro_json_next_any(&json, &properties, NULL, 0) != PYRO_JSON_END) {
            struct pyro_slice raw = PYRO_SLICE_NULL;
            pyro_strbuf_clear(&name);
            pyro_text_decode(&name, properties.name, NULL);
            if (pyro_json_peek(&json) != '"' || !pyro_slice_find(pyro_strbuf_slice(&name), "redaction"))
                pyro_json_skip(&json);
            else if (pyro_json_take_string(&json, &raw, NULL) && raw.ptr)
                changed |= pyro_secrets_configure(&builder->intake.secrets, pyro_strbuf_slice(&name),
                                                  pyro_build_scratch(builder, raw));
        }
    }
    builder->failed |= name.failed;
    pyro_strbuf_done(&name);
    if (changed)
        pyro_build_look_again(builder);
}

bool pyro_decode_environment_update(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (JVM_INFORMATION, "JVM Information"), (SPARK_PROPERTIES, "Spark Properties"),
                   (HADOOP_PROPERTIES, "Hadoop Properties"), (SYSTEM_PROPERTIES, "System Properties"),
                   (METRICS_PROPERTIES, "Metrics Properties"), (CLASSPATH_ENTRIES, "Classpath Entries"));
    static const struct {
        const char *name;
        bool settings;
    } kinds[keys_count] = {[JVM_INFORMATION] = {"jvm", false},       [SPARK_PROPERTIES] = {"spark", true},
                           [HADOOP_PROPERTIES] = {"hadoop", true},   [SYSTEM_PROPERTIES] = {"system", true},
                           [METRICS_PROPERTIES] = {"metrics", true}, [CLASSPATH_ENTRIES] = {"classpath", false}};
    struct pyro_json_object object;
    read_own_expressions(*json, builder);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key >= 0 && kinds[key].name)
            decode_properties(json, builder, kinds[key].name, kinds[key].settings);
        else
            pyro_json_skip(json);
    }
    return !json->error && !builder->failed;
}

/* {"cores": {"Resource Name": "cores", "Amount": 4, ...}, ...} becomes properties "ID.executor.cores" = "4". */
static void decode_requests(struct pyro_json_reader *json, struct pyro_builder *builder, int64_t profile,
                            const char *side)
{
    PYRO_JSON_KEYS(keys, (RESOURCE_NAME, "Resource Name"), (AMOUNT, "Amount"));
    struct pyro_json_object requests, request;
    if (!pyro_json_enter_object(json, &requests))
        return;
    while (pyro_json_next_any(json, &requests, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice name = pyro_build_decode(builder, requests.name), amount = PYRO_SLICE_NULL;
        if (!pyro_json_enter_object(json, &request))
            continue;
        for (int key; (key = PYRO_JSON_NEXT(json, &request, keys)) != PYRO_JSON_END;) {
            if (key == AMOUNT)
                pyro_json_take_raw(json, &amount);
            else
                pyro_json_skip(json);
        }
        if (json->error || builder->failed || !amount.ptr)
            continue;
        pyro_strbuf_clear(&builder->scratch);
        pyro_strbuf_printf(&builder->scratch, "%lld.%s.%.*s", (long long)profile, side, (int)name.len, name.ptr);
        pyro_build_property(builder, "resource_profile", pyro_strbuf_slice(&builder->scratch), amount);
    }
}

bool pyro_decode_resource_profile_added(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (RESOURCE_PROFILE_ID, "Resource Profile Id"),
                   (EXECUTOR_RESOURCE_REQUESTS, "Executor Resource Requests"),
                   (TASK_RESOURCE_REQUESTS, "Task Resource Requests"));
    struct pyro_json_object object;
    int64_t profile = 0; /* Spark writes the id before the requests */
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == RESOURCE_PROFILE_ID)
            pyro_json_take_int(json, &profile);
        else if (key == EXECUTOR_RESOURCE_REQUESTS)
            decode_requests(json, builder, profile, "executor");
        else if (key == TASK_RESOURCE_REQUESTS)
            decode_requests(json, builder, profile, "task");
        else
            pyro_json_skip(json);
    }
    return !json->error && !builder->failed;
}
