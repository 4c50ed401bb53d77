/* The application itself: SparkListenerLogStart, ApplicationStart, ApplicationEnd, EnvironmentUpdate,
 * ResourceProfileAdded. */
#include "base/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

#define KEY PYRO_JSON_KEY

bool pyro_decode_log_start(struct pyro_json *json, struct pyro_builder *builder)
{
    static const struct pyro_json_key keys[] = {KEY("Event"), KEY("Spark Version")};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, 2)) != PYRO_JSON_END;) {
        if (key == 1)
            pyro_build_text(builder, json, &builder->app->application.spark_version);
        else
            pyro_json_skip(json);
    }
    return !json->error && !builder->failed;
}

bool pyro_decode_application_start(struct pyro_json *json, struct pyro_builder *builder)
{
    static const struct pyro_json_key keys[] = {
        KEY("Event"), KEY("App Name"), KEY("App ID"), KEY("Timestamp"), KEY("User"), KEY("App Attempt ID"),
    };
    struct pyro_application_row row = builder->app->application, *app = &row;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, 6)) != PYRO_JSON_END;) {
        switch (key) {
        case 1:
            pyro_build_text(builder, json, &app->name);
            break;
        case 2:
            pyro_build_text(builder, json, &app->id);
            break;
        case 3:
            pyro_json_take_int(json, &app->start_ms);
            break;
        case 4:
            pyro_build_text(builder, json, &app->user);
            break;
        case 5:
            pyro_build_text(builder, json, &app->attempt);
            break;
        default:
            pyro_json_skip(json);
        }
    }
    if (json->error || builder->failed)
        return false;
    builder->app->application = row;
    builder->started = true;
    pyro_build_identity(builder, PYRO_IDENTITY_APPLICATION_START, 0);
    pyro_build_time(builder, app->start_ms);
    return !builder->failed;
}

bool pyro_decode_application_end(struct pyro_json *json, struct pyro_builder *builder)
{
    static const struct pyro_json_key keys[] = {KEY("Event"), KEY("Timestamp"), KEY("ExitCode")};
    struct pyro_application_row row = builder->app->application, *app = &row;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, 3)) != PYRO_JSON_END;) {
        if (key == 1)
            pyro_json_take_int(json, &app->end_ms);
        else if (key == 2)
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

static void decode_properties(struct pyro_json *json, struct pyro_builder *builder, const char *kind)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    while (pyro_json_next(json, &object, NULL, 0) != PYRO_JSON_END && !builder->failed) {
        struct pyro_slice name = pyro_build_decode(builder, object.name), value = PYRO_SLICE_NULL;
        if (pyro_json_peek(json) == '"')
            pyro_build_text(builder, json, &value);
        else
            pyro_json_skip(json);
        if (!json->error && strcmp(kind, "spark") == 0)
            pyro_secrets_configure(&builder->secrets, name, value);
        if (!json->error)
            pyro_build_property(builder, kind, name, value);
    }
}

bool pyro_decode_environment_update(struct pyro_json *json, struct pyro_builder *builder)
{
    static const struct pyro_json_key keys[] = {
        KEY("Event"),
        KEY("JVM Information"),
        KEY("Spark Properties"),
        KEY("Hadoop Properties"),
        KEY("System Properties"),
        KEY("Metrics Properties"),
        KEY("Classpath Entries"),
    };
    static const char *const kinds[] = {NULL, "jvm", "spark", "hadoop", "system", "metrics", "classpath"};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, 7)) != PYRO_JSON_END;) {
        if (key >= 1)
            decode_properties(json, builder, kinds[key]);
        else
            pyro_json_skip(json);
    }
    return !json->error && !builder->failed;
}

/* {"cores": {"Resource Name": "cores", "Amount": 4, ...}, ...} becomes properties "ID.executor.cores" = "4". */
static void decode_requests(struct pyro_json *json, struct pyro_builder *builder, int64_t profile, const char *side)
{
    static const struct pyro_json_key keys[] = {KEY("Resource Name"), KEY("Amount")};
    struct pyro_json_object requests, request;
    if (!pyro_json_enter_object(json, &requests))
        return;
    while (pyro_json_next(json, &requests, NULL, 0) != PYRO_JSON_END) {
        struct pyro_slice name = pyro_build_decode(builder, requests.name), amount = PYRO_SLICE_NULL;
        if (!pyro_json_enter_object(json, &request))
            continue;
        for (int key; (key = pyro_json_next(json, &request, keys, 2)) != PYRO_JSON_END;) {
            if (key == 1)
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

bool pyro_decode_resource_profile_added(struct pyro_json *json, struct pyro_builder *builder)
{
    static const struct pyro_json_key keys[] = {
        KEY("Event"),
        KEY("Resource Profile Id"),
        KEY("Executor Resource Requests"),
        KEY("Task Resource Requests"),
    };
    struct pyro_json_object object;
    int64_t profile = 0; /* Spark writes the id before the requests */
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, 4)) != PYRO_JSON_END;) {
        if (key == 1)
            pyro_json_take_int(json, &profile);
        else if (key >= 2)
            decode_requests(json, builder, profile, key == 2 ? "executor" : "task");
        else
            pyro_json_skip(json);
    }
    return !json->error && !builder->failed;
}
