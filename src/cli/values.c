/* Values of options: numbers, sizes, offsets from UTC, formats. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool digits(const char **at, uint64_t *ret)
{
    uint64_t value = 0;
    const char *p = *at;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return false;
    *at = p;
    *ret = value;
    return true;
}

bool cli_unsigned_value(const struct cli_call *call, const char *name, unsigned least, unsigned most, unsigned *ret)
{
    const char *text = cli_value(call, name), *at = text;
    uint64_t value;
    if (!digits(&at, &value) || *at != '\0' || value < least || value > most) {
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a number from %u to %u", name, text, least, most);
        return false;
    }
    *ret = (unsigned)value;
    return true;
}

bool cli_size_value(const struct cli_call *call, const char *name, uint64_t *ret)
{
    const char *text = cli_value(call, name), *at = text;
    uint64_t value;
    bool good = digits(&at, &value);
    if (good && *at != '\0') {
        static const char units[] = "KMGT";
        const char *unit = strchr(units, *at & ~0x20);
        good = unit != NULL && (*at & 0x40) != 0;
        if (good) {
            at++;
            if ((*at == 'i' || *at == 'I') && (at[1] == 'B' || at[1] == 'b'))
                at += 2;
            else if (*at == 'B' || *at == 'b')
                at++;
            good = *at == '\0' && !__builtin_mul_overflow(value, UINT64_C(1) << (10 * (unit - units + 1)), &value);
        }
    }
    if (!good || value < 1024 || value > UINT64_C(1) << 40) {
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a size from 1K to 1T, such as 64M", name, text);
        return false;
    }
    *ret = value;
    return true;
}

/* Digits, with a point or without. */
static bool decimal(const char **at, double *ret)
{
    const char *text = *at;
    double value = 0, places = 1;
    size_t whole = strspn(text, "0123456789");
    for (size_t i = 0; i < whole; i++)
        value = value * 10 + (text[i] - '0');
    text += whole;
    if (*text == '.' && text[1] >= '0' && text[1] <= '9')
        for (text++; *text >= '0' && *text <= '9'; text++, places *= 10)
            value = value * 10 + (*text - '0');
    *at = text;
    *ret = value / places;
    return whole > 0;
}

/* A number of seconds, or of the unit after it; 0: it is not a number. */
static double milliseconds(const char *text)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1},   {"s", 1000},  {"", 1000},       {"m", 6e4},        {"min", 6e4},
                 {"h", 36e5}, {"d", 864e5}, {"w", 7 * 864e5}, {"y", 365 * 864e5}};
    double value;
    if (decimal(&text, &value))
        for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
            if (strcmp(units[i].name, text) == 0)
                return value * units[i].ms;
    return 0;
}

bool cli_time_value(const struct cli_call *call, const char *name, int64_t *ret_ms)
{
    double ms = milliseconds(cli_value(call, name));
    if (!(ms >= 1 && ms <= 1e15)) {
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a time such as 90s, 30m or 2h", name,
                        cli_value(call, name));
        return false;
    }
    *ret_ms = (int64_t)ms;
    return true;
}

bool cli_interval_value(const struct cli_call *call, const char *name, unsigned *ret_ms)
{
    double ms = milliseconds(cli_value(call, name));
    if (!(ms >= 100 && ms <= 864e5)) {
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a time from 100ms to 1d, such as 10s", name,
                        cli_value(call, name));
        return false;
    }
    *ret_ms = (unsigned)ms;
    return true;
}

bool cli_amount_value(const struct cli_call *call, const char *name, double most, double *ret)
{
    const char *text = cli_value(call, name), *at = text;
    if (!decimal(&at, ret) || *at != '\0' || !(*ret > 0) || *ret > most) {
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a number greater than 0 and at most %g", name, text,
                        most);
        return false;
    }
    return true;
}

bool cli_offset_value(const struct cli_call *call, const char *name, int64_t *ret_seconds)
{
    const char *text = cli_value(call, name);
    if (strcmp(text, "UTC") == 0 || strcmp(text, "utc") == 0 || strcmp(text, "Z") == 0) {
        *ret_seconds = 0;
        return true;
    }
    if (strcmp(text, "local") == 0) {
        time_t now = time(NULL);
        struct tm local;
        *ret_seconds = localtime_r(&now, &local) != NULL ? (int64_t)local.tm_gmtoff : 0;
        return true;
    }
    if (strlen(text) == 6 && (text[0] == '+' || text[0] == '-') && text[3] == ':') {
        const char *hour_at = text + 1, *minute_at = text + 4;
        uint64_t hours, minutes;
        if (digits(&hour_at, &hours) && digits(&minute_at, &minutes) && hour_at == text + 3 && *minute_at == '\0' &&
            hours <= 14 && minutes <= 59) {
            int64_t seconds = (int64_t)(hours * 3600 + minutes * 60);
            *ret_seconds = text[0] == '-' ? -seconds : seconds;
            return true;
        }
    }
    cli_usage_error(call->verb, "--%s cannot be '%s'; it is UTC, local, or an offset such as +02:00", name, text);
    return false;
}

bool cli_format_value(const struct cli_call *call, const char *name, enum pyro_format *ret)
{
    const char *text = cli_value(call, name);
    for (unsigned i = 0; pyro_format_name(i) != NULL; i++) {
        if (strcmp(pyro_format_name(i), text) == 0) {
            *ret = (enum pyro_format)i;
            return true;
        }
    }
    cli_usage_error(call->verb, "this build cannot write '%s'", text);
    return false;
}

const char *cli_store_url(const struct cli_call *call)
{
    const char *url = cli_value(call, "store"), *environment = getenv("PYROMETER_STORE");
    if (url != NULL)
        return url;
    return environment != NULL && *environment != '\0' ? environment : NULL;
}

enum pyro_redaction cli_redaction(const struct cli_call *call)
{
    const char *how = cli_value_if_known(call, "redact");
    return how != NULL && strcmp(how, "spark") == 0 ? PYRO_REDACT_SPARK : PYRO_REDACT_WIDE;
}

const char *cli_cache_folder(const struct cli_call *call, char *buffer, size_t bytes)
{
    const char *given = cli_value(call, "cache"), *base = getenv("XDG_CACHE_HOME"), *middle = "";
    if (given != NULL)
        return given;
    if (base == NULL || base[0] != '/') {
        base = getenv("HOME");
        middle = "/.cache";
    }
    if (base == NULL || base[0] != '/')
        return NULL;
    int len = snprintf(buffer, bytes, "%s%s/pyrometer", base, middle);
    return len > 0 && (size_t)len < bytes ? buffer : NULL;
}

bool cli_flame_number(const struct cli_call *call, const char *name, unsigned bit, unsigned *filters, int64_t *ret)
{
    const char *text = cli_value(call, name);
    size_t digits = text != NULL ? strspn(text, "0123456789") : 0;
    if (text == NULL)
        return true;
    if (digits == 0 || digits > 18 || text[digits] != '\0') {
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a number such as 7", name, text);
        return false;
    }
    *ret = strtoll(text, NULL, 10);
    *filters |= bit;
    return true;
}
