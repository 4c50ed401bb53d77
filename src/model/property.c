/* Properties by name, read as Spark reads them (base/numbers/units.h). */
#include <strings.h>

#include "base/numbers/units.h"
#include "model/app.h"

struct pyro_slice pyro_app_property_of(const struct pyro_app *app, const char *kind, const char *key)
{
    struct pyro_slice kind_text = pyro_slice_from(kind), key_text = pyro_slice_from(key);
    size_t low = 0, high = app->properties.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pyro_property *property = &app->properties.items[middle];
        int order = pyro_slice_compare(property->kind, kind_text);
        if (order == 0)
            order = pyro_slice_compare(property->key, key_text);
        if (order == 0)
            return property->value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return PYRO_SLICE_NULL;
}

struct pyro_slice pyro_app_property(const struct pyro_app *app, const char *key)
{
    return pyro_app_property_of(app, "spark", key);
}

int64_t pyro_property_int(struct pyro_slice given, int64_t fallback)
{
    struct pyro_slice text = pyro_trim(given);
    bool signs = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+'), negative = signs && text.ptr[0] == '-';
    int64_t value;
    pyro_slice_drop(&text, signs);
    if (!pyro_take_digits(&text, &value) || text.len > 0)
        return fallback;
    return negative ? -value : value;
}

double pyro_property_decimal(struct pyro_slice text, double fallback)
{
    double value;
    return pyro_decimal_read(text, &value) ? value : fallback;
}

int64_t pyro_property_size(struct pyro_slice given, int64_t unit, int64_t fallback)
{
    int64_t bytes;
    return pyro_spark_size_read(given, unit, &bytes) ? bytes : fallback;
}

int64_t pyro_app_property_int(const struct pyro_app *app, const char *key, int64_t fallback)
{
    return pyro_property_int(pyro_app_property(app, key), fallback);
}

int64_t pyro_app_property_size(const struct pyro_app *app, const char *key, int64_t unit, int64_t fallback)
{
    return pyro_property_size(pyro_app_property(app, key), unit, fallback);
}

int64_t pyro_property_time(struct pyro_slice given, int64_t unit, int64_t fallback)
{
    int64_t ms;
    return pyro_spark_time_read(given, unit, &ms) ? ms : fallback;
}

int64_t pyro_app_property_time(const struct pyro_app *app, const char *key, int64_t unit, int64_t fallback)
{
    return pyro_property_time(pyro_app_property(app, key), unit, fallback);
}

static bool is_word(struct pyro_slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

bool pyro_property_bool(struct pyro_slice value, bool fallback)
{
    struct pyro_slice text = pyro_trim(value);
    return is_word(text, "true") || (fallback && !is_word(text, "false"));
}

bool pyro_app_property_bool(const struct pyro_app *app, const char *key, bool fallback)
{
    return pyro_property_bool(pyro_app_property(app, key), fallback);
}

bool pyro_property_next(struct pyro_slice *rest, struct pyro_slice *key, struct pyro_slice *value)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    const char *equals = memchr(rest->ptr, '=', len);
    size_t name = equals ? (size_t)(equals - rest->ptr) : len;
    *key = (struct pyro_slice){rest->ptr, name};
    *value = equals ? (struct pyro_slice){equals + 1, len - name - 1} : PYRO_SLICE_LITERAL("");
    size_t taken = len + (end != NULL);
    *rest = (struct pyro_slice){rest->ptr + taken, rest->len - taken};
    return true;
}

struct pyro_slice pyro_sql_changed_property(const struct pyro_app *app, int64_t sql, struct pyro_slice key)
{
    ptrdiff_t row = sql == PYRO_NONE ? -1 : pyro_app_find_sql(app, sql);
    struct pyro_slice rest = row < 0 ? PYRO_SLICE_NULL : app->sql.items[row].modified_configs, name, value;
    while (pyro_property_next(&rest, &name, &value))
        if (pyro_slice_eq(name, key))
            return value;
    return PYRO_SLICE_NULL;
}

struct pyro_slice pyro_sql_property(const struct pyro_app *app, int64_t sql, const char *key)
{
    struct pyro_slice changed = pyro_sql_changed_property(app, sql, pyro_slice_from(key));
    return changed.ptr ? changed : pyro_app_property(app, key);
}

int64_t pyro_sql_property_int(const struct pyro_app *app, int64_t sql, const char *key, int64_t fallback)
{
    return pyro_property_int(pyro_sql_property(app, sql, key), fallback);
}

int64_t pyro_sql_property_size(const struct pyro_app *app, int64_t sql, const char *key, int64_t unit, int64_t fallback)
{
    return pyro_property_size(pyro_sql_property(app, sql, key), unit, fallback);
}

bool pyro_sql_property_bool(const struct pyro_app *app, int64_t sql, const char *key, bool fallback)
{
    return pyro_property_bool(pyro_sql_property(app, sql, key), fallback);
}
