#include "fleet/views/times.h"

#include <stddef.h>

#include "base/numbers/calendar.h"
#include "base/numbers/saturate.h"

/* At most `most` digits; the number of digits, 0: there is none. */
static size_t take(const char **at, size_t most, int64_t *ret)
{
    size_t count = 0;
    *ret = 0;
    for (; count < most && **at >= '0' && **at <= '9'; count++, ++*at)
        *ret = *ret * 10 + (**at - '0');
    return count;
}

/* Two digits behind `before`, up to `most`. */
static bool take_part(const char **at, char before, int64_t least, int64_t most, int64_t *ret)
{
    if (**at != before)
        return false;
    ++*at;
    return take(at, 2, ret) == 2 && *ret >= least && *ret <= most;
}

static bool read_date(const char *at, int64_t year, int64_t *ret)
{
    int64_t month, day, hour = 0, minute = 0, second = 0;
    if (!take_part(&at, '-', 1, 12, &month) || !take_part(&at, '-', 1, 31, &day))
        return false;
    if (*at == 'T' || *at == ' ') {
        if (!take_part(&at, *at, 0, 23, &hour) || !take_part(&at, ':', 0, 59, &minute))
            return false;
        if (*at == ':' && !take_part(&at, ':', 0, 60, &second))
            return false;
    }
    at += *at == 'Z';
    if (*at != '\0')
        return false;
    *ret = (((pyro_days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000;
    return true;
}

bool pyro_fleet_time(const char *text, int64_t now_ms, int64_t *ret)
{
    static const struct {
        char name;
        int64_t ms;
    } units[] = {{'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
    int64_t value;
    const char *at = text;
    size_t digits = take(&at, 15, &value);
    if (digits == 4 && *at == '-')
        return read_date(at, value, ret);
    if (digits >= 9 && *at == '\0') {
        *ret = value;
        return true;
    }
    for (size_t i = 0; digits > 0 && digits <= 6 && i < sizeof(units) / sizeof(*units); i++)
        if (*at == units[i].name && at[1] == '\0') {
            *ret = pyro_sub_saturating(now_ms, value * units[i].ms);
            return true;
        }
    return false;
}
