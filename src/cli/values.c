/* Values of options: numbers, sizes, offsets from UTC, formats. */
#include "cli.h"

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

bool cli_interval_value(const struct cli_call *call, const char *name, unsigned *ret_ms)
{
    static const struct {
        const char *text;
        uint64_t ms;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    const char *text = cli_value(call, name), *at = text;
    uint64_t value, day = 86400000;
    bool good = false;
    if (digits(&at, &value))
        for (size_t i = 0; i < sizeof(units) / sizeof(*units) && !good; i++)
            good = strcmp(at, units[i].text) == 0 && !__builtin_mul_overflow(value, units[i].ms, &value) &&
                   value >= 100 && value <= day;
    if (!good)
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a time from 100ms to 1d, such as 10s", name, text);
    else
        *ret_ms = (unsigned)value;
    return good;
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
