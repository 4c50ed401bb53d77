#include "base/numbers/calendar.h"

/* Years are counted from March, so that the day that some have more comes last, and eras of 400 years from the year 0
 * (H. Hinnant's formulas). */
enum { ERA_DAYS = 146097, EPOCH = 719468 };

int64_t pyro_days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH;
}

void pyro_day_split(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day)
{
    days += EPOCH;
    int64_t era = (days >= 0 ? days : days - (ERA_DAYS - 1)) / ERA_DAYS;
    unsigned of_era = (unsigned)(days - era * ERA_DAYS);
    unsigned of_400 = (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA_DAYS - 1)) / 365;
    unsigned of_year = of_era - (365 * of_400 + of_400 / 4 - of_400 / 100);
    unsigned from_march = (5 * of_year + 2) / 153;
    *ret_day = of_year - (153 * from_march + 2) / 5 + 1;
    *ret_month = from_march < 10 ? from_march + 3 : from_march - 9;
    *ret_year = (int64_t)of_400 + era * 400 + (*ret_month <= 2);
}

size_t pyro_fraction_read(struct pyro_slice text, int64_t *ret_ms)
{
    enum { MOST = 9, KEPT = 3 };
    int64_t ms = 0;
    size_t n = 0;
    for (; n < text.len && n < MOST && (unsigned char)(text.ptr[n] - '0') < 10; n++)
        if (n < KEPT)
            ms = ms * 10 + (text.ptr[n] - '0');
    for (size_t i = n; i < KEPT; i++)
        ms *= 10;
    *ret_ms = n ? ms : 0;
    return n;
}

size_t pyro_zone_read(struct pyro_slice text, int64_t *ret_seconds)
{
    const char *p = text.ptr;
    *ret_seconds = 0;
    if (text.len >= 1 && p[0] == 'Z')
        return 1;
    if (text.len >= 3 && (memcmp(p, "UTC", 3) == 0 || memcmp(p, "GMT", 3) == 0))
        return 3;
    if (text.len < 3 || (p[0] != '+' && p[0] != '-'))
        return 0;
    int hours = pyro_two_digits(p + 1), minutes = 0;
    size_t used = 3;
    if (text.len >= 6 && p[3] == ':') {
        minutes = pyro_two_digits(p + 4);
        used = 6;
    } else if (text.len >= 5 && pyro_two_digits(p + 3) >= 0) {
        minutes = pyro_two_digits(p + 3);
        used = 5;
    }
    if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59)
        return 0;
    *ret_seconds = (p[0] == '-' ? -1 : 1) * (int64_t)(hours * 3600 + minutes * 60);
    return used;
}

/* "24/03/01" or "2024-03-01"; the bytes that it takes. */
static size_t read_date(struct pyro_slice text, int64_t *ret_days)
{
    enum { CENTURY = 2000, TURN = 70 };
    const char *p = text.ptr;
    size_t long_year = text.len >= 10 && (p[4] == '-' || p[4] == '/') ? 2 : 0;
    if (text.len < 8 + long_year)
        return 0;
    int century = long_year ? pyro_two_digits(p) : 0, year = pyro_two_digits(p + long_year);
    p += long_year;
    char sign = p[2];
    if (century < 0 || year < 0 || (sign != '/' && sign != '-') || p[5] != sign)
        return 0;
    int month = pyro_two_digits(p + 3), day = pyro_two_digits(p + 6);
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return 0;
    year = long_year ? century * 100 + year : year + (year < TURN ? CENTURY : CENTURY - 100);
    *ret_days = pyro_days_of(year, month, day);
    return 8 + long_year;
}

/* ".123", ",123456" and the zone, if the text has them. */
static size_t read_rest(struct pyro_slice text, int64_t *ms, bool *ret_zoned)
{
    size_t at = 0;
    int64_t part, zone;
    if (text.len > 1 && (text.ptr[0] == '.' || text.ptr[0] == ',')) {
        size_t digits = pyro_fraction_read((struct pyro_slice){text.ptr + 1, text.len - 1}, &part);
        if (digits > 0) {
            *ms += part;
            at = digits + 1;
        }
    }
    /* A blank before a zone: "+0100" and "UTC" only, since " - message" may follow as well. */
    size_t blank = at + 3 < text.len && text.ptr[at] == ' ' && (text.ptr[at + 1] == 'U' || text.ptr[at + 1] == '+');
    struct pyro_slice rest = {text.ptr + at + blank, text.len - at - blank};
    size_t used = pyro_zone_read(rest, &zone);
    *ret_zoned = used > 0;
    *ms -= zone * 1000; /* cannot overflow: a day of some year below 10,000 */
    return used ? at + blank + used : at;
}

size_t pyro_date_time_read(struct pyro_slice text, int64_t *ret_ms, bool *ret_zoned)
{
    int64_t days;
    size_t at = read_date(text, &days);
    if (at == 0 || text.len < at + 9 || (text.ptr[at] != ' ' && text.ptr[at] != 'T'))
        return 0;
    const char *p = text.ptr + at + 1;
    int hour = pyro_two_digits(p), minute = pyro_two_digits(p + 3), second = pyro_two_digits(p + 6);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 || p[2] != ':' || p[5] != ':')
        return 0;
    *ret_ms = ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000;
    at += 9;
    return at + read_rest((struct pyro_slice){text.ptr + at, text.len - at}, ret_ms, ret_zoned);
}
