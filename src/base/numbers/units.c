#include "base/numbers/units.h"

#include <string.h>
#include <strings.h>

struct suffix {
    const char *name;
    int64_t value;
};

struct pyro_slice pyro_trim(struct pyro_slice text)
{
    while (text.len > 0 && (unsigned char)text.ptr[0] <= ' ') {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    return text;
}

bool pyro_take_digits(struct pyro_slice *text, int64_t *ret)
{
    int64_t value = 0;
    size_t digits = 0;
    for (; digits < text->len && text->ptr[digits] >= '0' && text->ptr[digits] <= '9'; digits++)
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(text->ptr[digits] - '0'), &value))
            return false;
    if (digits == 0)
        return false;
    pyro_slice_drop(text, digits);
    *ret = value;
    return true;
}

bool pyro_decimal_read(struct pyro_slice text, double *ret)
{
    double value = 0, scale = 0;
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && scale <= 0) {
            scale = 1;
        } else if (text.ptr[i] >= '0' && text.ptr[i] <= '9') {
            value = value * 10 + (text.ptr[i] - '0');
            scale *= 10;
            digits++;
        } else {
            return false;
        }
    }
    if (digits == 0 || digits > 15)
        return false;
    *ret = scale > 0 ? value / scale : value; /* both are exact below 2^53 */
    return true;
}

static int64_t find(const struct suffix *suffixes, struct pyro_slice text)
{
    for (; suffixes->name; suffixes++)
        if (text.len == strlen(suffixes->name) && strncasecmp(text.ptr, suffixes->name, text.len) == 0)
            return suffixes->value;
    return 0;
}

int64_t pyro_size_suffix(struct pyro_slice suffix)
{
    static const struct suffix suffixes[] = {
        {"b", 1},
        {"k", INT64_C(1) << 10},
        {"kb", INT64_C(1) << 10},
        {"kib", INT64_C(1) << 10},
        {"m", INT64_C(1) << 20},
        {"mb", INT64_C(1) << 20},
        {"mib", INT64_C(1) << 20},
        {"g", INT64_C(1) << 30},
        {"gb", INT64_C(1) << 30},
        {"gib", INT64_C(1) << 30},
        {"t", INT64_C(1) << 40},
        {"tb", INT64_C(1) << 40},
        {"tib", INT64_C(1) << 40},
        {"p", INT64_C(1) << 50},
        {"pb", INT64_C(1) << 50},
        {"pib", INT64_C(1) << 50},
        {NULL, 0},
    };
    return find(suffixes, suffix);
}

int64_t pyro_time_suffix(struct pyro_slice suffix)
{
    static const struct suffix suffixes[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
    };
    return find(suffixes, suffix);
}

/* The number in front of a suffix. */
static bool take_number(struct pyro_slice *text, bool *ret_negative, int64_t *ret)
{
    *text = pyro_trim(*text);
    *ret_negative = text->len > 0 && text->ptr[0] == '-';
    pyro_slice_drop(text, *ret_negative);
    return pyro_take_digits(text, ret);
}

static bool multiply(bool negative, int64_t value, int64_t unit, int64_t *ret)
{
    if (unit == 0 || __builtin_mul_overflow(value, unit, &value))
        return false;
    *ret = negative ? -value : value;
    return true;
}

bool pyro_spark_size_read(struct pyro_slice text, int64_t unit, int64_t *ret_bytes)
{
    bool negative;
    int64_t value;
    if (!take_number(&text, &negative, &value))
        return false;
    if (text.len == 3) /* "kib": not Spark's */
        return false;
    return multiply(negative, value, text.len > 0 ? pyro_size_suffix(text) : unit, ret_bytes);
}

bool pyro_spark_time_read(struct pyro_slice text, int64_t unit, int64_t *ret_ms)
{
    bool negative;
    int64_t value;
    if (!take_number(&text, &negative, &value))
        return false;
    if (text.len == 2 && strncasecmp(text.ptr, "us", 2) == 0)
        return multiply(negative, value / 1000, 1, ret_ms);
    return multiply(negative, value, text.len > 0 ? pyro_time_suffix(text) : unit, ret_ms);
}
