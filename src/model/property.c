/* Properties by name, read as Spark reads them (ConfigBuilder, JavaUtils.byteStringAs). */
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

/* As Java's String.trim(): everything up to and including the space. */
static struct pyro_slice trim(struct pyro_slice text)
{
    while (text.len > 0 && (unsigned char)text.ptr[0] <= ' ') {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    return text;
}

/* Takes digits from the front; false without one or beyond 64 bits. */
static bool take_digits(struct pyro_slice *text, int64_t *ret)
{
    int64_t value = 0;
    size_t digits = 0;
    if (text->len == 0) /* also where there is no text at all */
        return false;
    for (; digits < text->len && text->ptr[digits] >= '0' && text->ptr[digits] <= '9'; digits++)
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(text->ptr[digits] - '0'), &value))
            return false;
    text->ptr += digits;
    text->len -= digits;
    *ret = value;
    return digits > 0;
}

static bool take_sign(struct pyro_slice *text, bool plus)
{
    if (text->len == 0 || (text->ptr[0] != '-' && !(plus && text->ptr[0] == '+')))
        return false;
    bool negative = text->ptr[0] == '-';
    text->ptr++;
    text->len--;
    return negative;
}

int64_t pyro_property_int(struct pyro_slice given, int64_t fallback)
{
    struct pyro_slice text = trim(given);
    bool negative = take_sign(&text, true);
    int64_t value;
    if (!take_digits(&text, &value) || text.len > 0)
        return fallback;
    return negative ? -value : value;
}

static bool same_letters(struct pyro_slice text, const char *lower)
{
    if (text.len != strlen(lower))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char letter = text.ptr[i];
        if (letter >= 'A' && letter <= 'Z')
            letter = (char)(letter - 'A' + 'a');
        if (letter != lower[i])
            return false;
    }
    return true;
}

/* Bytes that a suffix stands for; 0 when Spark knows no such suffix. */
static int64_t suffix_bytes(struct pyro_slice suffix, int64_t unit)
{
    static const char *const names[][2] = {{"b", "b"}, {"k", "kb"}, {"m", "mb"}, {"g", "gb"}, {"t", "tb"}, {"p", "pb"}};
    if (suffix.len == 0)
        return unit;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (same_letters(suffix, names[i][0]) || same_letters(suffix, names[i][1]))
            return (int64_t)1 << (10 * i);
    return 0;
}

int64_t pyro_property_size(struct pyro_slice given, int64_t unit, int64_t fallback)
{
    struct pyro_slice text = trim(given);
    bool negative = take_sign(&text, false);
    int64_t value;
    if (!take_digits(&text, &value))
        return fallback;
    int64_t bytes = suffix_bytes(text, unit); /* a fraction ("1.5g") has no known suffix: Spark refuses it too */
    if (bytes == 0 || __builtin_mul_overflow(value, bytes, &value))
        return fallback;
    return negative ? -value : value;
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
    static const struct {
        const char *suffix;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    struct pyro_slice text = trim(given);
    bool negative = take_sign(&text, false);
    int64_t value;
    if (!take_digits(&text, &value))
        return fallback;
    if (same_letters(text, "us"))
        return negative ? -(value / 1000) : value / 1000;
    int64_t ms = text.len == 0 ? unit : 0;
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (same_letters(text, units[i].suffix))
            ms = units[i].ms;
    if (ms == 0 || __builtin_mul_overflow(value, ms, &value))
        return fallback;
    return negative ? -value : value;
}

int64_t pyro_app_property_time(const struct pyro_app *app, const char *key, int64_t unit, int64_t fallback)
{
    return pyro_property_time(pyro_app_property(app, key), unit, fallback);
}

bool pyro_property_bool(struct pyro_slice value, bool fallback)
{
    struct pyro_slice text = trim(value);
    if (same_letters(text, "true"))
        return true;
    if (same_letters(text, "false"))
        return false;
    return fallback;
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
