/* What a scalar of a YAML file means. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/files/yaml_file.h"
#include "base/numbers/units.h"

/* A scalar without quotes, or NULL. */
static const char *plain(const struct pyro_yaml *node)
{
    return node && node->kind == PYRO_YAML_SCALAR && !node->quoted ? node->text.ptr : NULL;
}

bool pyro_yaml_is_null(const struct pyro_yaml *node)
{
    const char *text = plain(node);
    return text && (!*text || !strcmp(text, "~") || !strcasecmp(text, "null"));
}

bool pyro_yaml_bool(const struct pyro_yaml *node, bool *ret)
{
    const char *text = plain(node);
    bool yes = text && !strcasecmp(text, "true");
    if (!yes && !(text && !strcasecmp(text, "false")))
        return false;
    *ret = yes;
    return true;
}

/* A decimal number at *at, which moves behind it. Digits go through an integer and a power of ten, since strtod() reads
 * a point only where the locale has one. */
static bool take_number(const char **at, double *ret)
{
    enum { DIGITS = 19, LARGEST = 100000 };
    const char *p = *at;
    bool negative = *p == '-', point = false, any = false;
    uint64_t digits = 0;
    long exponent = 0, written = 0;
    p += *p == '-' || *p == '+';
    for (int kept = 0; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
        } else {
            any = true;
            if (kept < DIGITS) {
                digits = digits * 10 + (uint64_t)(*p - '0');
                kept += digits != 0;
                exponent -= point && exponent > -LARGEST;
            } else {
                exponent += !point && exponent < LARGEST;
            }
        }
    }
    if (!any)
        return false;
    if ((*p | 0x20) == 'e') {
        const char *q = p + 1;
        bool small = *q == '-';
        q += *q == '-' || *q == '+';
        if (isdigit((unsigned char)*q)) {
            for (; isdigit((unsigned char)*q); q++)
                if (written < LARGEST)
                    written = written * 10 + (*q - '0');
            exponent += small ? -written : written;
            p = q;
        }
    }
    char text[64];
    snprintf(text, sizeof(text), "%s%llue%ld", negative ? "-" : "", (unsigned long long)digits, exponent);
    double value = strtod(text, NULL);
    if (!isfinite(value))
        return false;
    *at = p;
    *ret = value;
    return true;
}

bool pyro_yaml_number(const struct pyro_yaml *node, double *ret)
{
    const char *text = plain(node);
    double value;
    if (!text || !take_number(&text, &value) || *text)
        return false;
    *ret = value;
    return true;
}

/* Rounds to an integer; false outside what an int64_t holds. */
static bool to_int(double value, int64_t *ret)
{
    if (!(fabs(value) < 9.2e18))
        return false;
    *ret = (int64_t)llround(value);
    return true;
}

bool pyro_yaml_int(const struct pyro_yaml *node, int64_t *ret)
{
    const char *text = plain(node);
    char *end;
    if (!text || (!isdigit((unsigned char)*text) && *text != '-' && *text != '+'))
        return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *ret = value;
    return true;
}

/* Durations, sizes and shares are read from quoted texts too: people quote what has a unit. */
static const char *scalar(const struct pyro_yaml *node)
{
    return node && node->kind == PYRO_YAML_SCALAR ? node->text.ptr : NULL;
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

bool pyro_yaml_share(const struct pyro_yaml *node, double *ret)
{
    const char *text = scalar(node);
    double value;
    if (!text || !take_number(&text, &value))
        return false;
    text = skip_blanks(text);
    if (*text == '%') {
        value /= 100;
        text++;
    }
    if (*text || value < 0)
        return false;
    *ret = value;
    return true;
}

/* The letters at *at, which moves behind them. */
static struct pyro_slice take_letters(const char **at)
{
    const char *first = *at;
    while (isalpha((unsigned char)**at))
        ++*at;
    return (struct pyro_slice){first, (size_t)(*at - first)};
}

/* Milliseconds of a unit: Spark's suffixes, and words; 0: it is none. */
static int64_t duration_unit(struct pyro_slice name)
{
    static const char *const words[][2] = {{"sec", "s"}, {"hour", "h"}, {"hours", "h"}, {"day", "d"}, {"days", "d"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (name.len == strlen(words[i][0]) && strncasecmp(name.ptr, words[i][0], name.len) == 0)
            name = pyro_slice_from(words[i][1]);
    return pyro_time_suffix(name);
}

bool pyro_yaml_duration(const struct pyro_yaml *node, int64_t *ret)
{
    const char *text = scalar(node);
    double sum = 0, value;
    if (!text || !take_number(&text, &value) || value < 0)
        return false;
    text = skip_blanks(text);
    if (!*text)
        return to_int(value, ret);
    for (;;) {
        int64_t unit = duration_unit(take_letters(&text));
        if (unit == 0)
            return false;
        sum += value * (double)unit;
        text = skip_blanks(text);
        if (!*text)
            return to_int(sum, ret);
        if (!take_number(&text, &value) || value < 0)
            return false;
        text = skip_blanks(text);
    }
}

bool pyro_yaml_size(const struct pyro_yaml *node, int64_t *ret)
{
    const char *text = scalar(node);
    double value;
    if (!text || !take_number(&text, &value) || value < 0)
        return false;
    text = skip_blanks(text);
    struct pyro_slice suffix = take_letters(&text);
    int64_t unit = suffix.len > 0 ? pyro_size_suffix(suffix) : 1;
    return unit > 0 && !*text && to_int(value * (double)unit, ret);
}

bool pyro_yaml_text(const struct pyro_yaml *node, const char **ret)
{
    if (!node || node->kind != PYRO_YAML_SCALAR || pyro_yaml_is_null(node))
        return false;
    *ret = node->text.ptr;
    return true;
}
