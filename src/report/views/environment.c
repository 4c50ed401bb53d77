/* pyrometer.environment/1: properties of Spark, the system, Hadoop and the JVM, whose secrets are left out when a log
 * is read. */
#include "base/secrets/secrets.h"
#include "report/views/views.h"

/* Those of one kind as an object; rows are sorted by kind, then name. */
static void write_kind(struct pyro_json_writer *json, const struct pyro_app *app, const char *kind, uint64_t *redacted)
{
    pyro_json_line(json);
    pyro_json_begin(json, kind, '{');
    for (size_t i = 0; i < app->properties.count; i++) {
        const struct pyro_property *property = &app->properties.items[i];
        if (!pyro_slice_is(property->kind, kind) || !property->key.ptr)
            continue;
        *redacted += property->value.ptr && pyro_slice_find(property->value, PYRO_REDACTED) != NULL;
        pyro_json_line(json);
        pyro_json_key(json, property->key);
        pyro_json_text(json, NULL, property->value);
    }
    pyro_json_end(json, '}');
}

enum pyro_status pyro_view_environment(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                       struct pyro_error *error)
{
    static const char *const kinds[] = {"spark", "system", "hadoop", "jvm", "metrics"};
    const struct pyro_app *app = request->app;
    uint64_t redacted = 0;
    (void)error;
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "schema", "pyrometer.environment/1");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        write_kind(json, app, kinds[i], &redacted);
    pyro_json_line(json);
    pyro_json_begin(json, "classpath", '[');
    for (size_t i = 0; i < app->properties.count; i++) {
        if (!pyro_slice_is(app->properties.items[i].kind, "classpath"))
            continue;
        pyro_json_line(json);
        pyro_json_text(json, NULL, app->properties.items[i].key);
    }
    pyro_json_end(json, ']');
    pyro_json_line(json);
    pyro_json_count(json, "redacted", redacted);
    pyro_json_end(json, '}');
    return PYRO_OK;
}
