#include "text/humanize.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/numbers/none.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const int64_t day = 24 * (int64_t)HOUR;

/* value / unit with one decimal below ten, rounded to whole numbers above. */
static void add_scaled(struct pyro_strbuf *buffer, int64_t value, int64_t unit)
{
    int64_t whole = value / unit, rest = value % unit;
    int64_t tenths = whole < 10 ? whole * 10 + (rest * 10 + unit / 2) / unit : 100;
    if (tenths < 100 && tenths % 10)
        pyro_strbuf_printf(buffer, "%lld.%lld", (long long)(tenths / 10), (long long)(tenths % 10));
    else if (tenths < 100)
        pyro_strbuf_add_int(buffer, tenths / 10);
    else
        pyro_strbuf_add_int(buffer, whole + (rest >= unit - rest ? 1 : 0));
}

static void add_pair(struct pyro_strbuf *buffer, int64_t ms, int64_t big, const char *big_name, int64_t small,
                     const char *small_name)
{
    int64_t units = ms / small + (ms % small >= small - ms % small ? 1 : 0);
    int64_t ratio = big / small;
    pyro_strbuf_add_int(buffer, units / ratio);
    pyro_strbuf_add_text(buffer, big_name);
    if (units % ratio) {
        pyro_strbuf_add_char(buffer, ' ');
        pyro_strbuf_add_int(buffer, units % ratio);
        pyro_strbuf_add_text(buffer, small_name);
    }
}

/* Takes away the sign, or says that there is no value. */
static bool begin(struct pyro_strbuf *buffer, int64_t *value)
{
    if (*value == PYRO_NONE) {
        pyro_strbuf_add_char(buffer, '-');
        return false;
    }
    if (*value < 0) {
        pyro_strbuf_add_char(buffer, '-');
        *value = -*value;
    }
    return true;
}

void pyro_human_ms(struct pyro_strbuf *buffer, int64_t ms)
{
    if (!begin(buffer, &ms))
        return;
    if (ms < SECOND) {
        pyro_strbuf_add_int(buffer, ms);
        pyro_strbuf_add_text(buffer, " ms");
    } else if (ms < MINUTE - SECOND / 2) {
        add_scaled(buffer, ms, SECOND);
        pyro_strbuf_add_text(buffer, " s");
    } else if (ms < 10 * MINUTE - SECOND / 2) {
        add_pair(buffer, ms, MINUTE, " min", SECOND, " s");
    } else if (ms < HOUR - MINUTE / 2) {
        add_scaled(buffer, ms, MINUTE);
        pyro_strbuf_add_text(buffer, " min");
    } else if (ms < 2 * day) {
        add_pair(buffer, ms, HOUR, " h", MINUTE, " min");
    } else {
        add_pair(buffer, ms, day, " d", HOUR, " h");
    }
}

void pyro_human_ms_range(struct pyro_strbuf *buffer, int64_t low, int64_t high)
{
    if (low == PYRO_NONE || high == PYRO_NONE || low < 0 || high < low) {
        pyro_human_ms(buffer, high);
        return;
    }
    int64_t unit = high < SECOND ? 1 : high < 2 * MINUTE ? SECOND : high < 2 * HOUR ? MINUTE : HOUR;
    const char *name = unit == 1 ? " ms" : unit == SECOND ? " s" : unit == MINUTE ? " min" : " h";
    size_t from = buffer->len;
    add_scaled(buffer, low, unit);
    size_t low_len = buffer->len - from;
    pyro_strbuf_add_char(buffer, '-');
    size_t high_at = buffer->len;
    add_scaled(buffer, high, unit);
    if (buffer->failed)
        return;
    bool same = buffer->len - high_at == low_len && memcmp(buffer->data + from, buffer->data + high_at, low_len) == 0;
    bool zero = low_len == 1 && buffer->data[from] == '0';
    if (same || zero) {
        buffer->len = from;
        if (zero && !same)
            pyro_strbuf_add_text(buffer, "up to ");
        add_scaled(buffer, high, unit);
    }
    pyro_strbuf_add_text(buffer, name);
}

void pyro_human_bytes(struct pyro_strbuf *buffer, int64_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    if (!begin(buffer, &bytes))
        return;
    size_t i = 0;
    int64_t unit = 1;
    while (i + 1 < sizeof(units) / sizeof(*units) && bytes / unit >= 1024) {
        unit *= 1024;
        i++;
    }
    /* EiB times ten would overflow in add_scaled(): drop bits that no one will see. */
    if (unit > 1024) {
        bytes /= 1024;
        unit /= 1024;
    }
    add_scaled(buffer, bytes, unit);
    pyro_strbuf_add_text(buffer, units[i]);
}

void pyro_human_count(struct pyro_strbuf *buffer, int64_t count)
{
    if (!begin(buffer, &count))
        return;
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%lld", (long long)count);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            pyro_strbuf_add_char(buffer, ',');
        pyro_strbuf_add_char(buffer, digits[i]);
    }
}

/* value * scale as an integer, or PYRO_NONE. */
static int64_t scaled(double value, double scale)
{
    double product = value * scale;
    if (!isfinite(product) || fabs(product) > 9e15)
        return PYRO_NONE;
    return llround(product);
}

/* One decimal below ten, whole numbers above. */
static void add_decimal(struct pyro_strbuf *buffer, double value)
{
    int64_t thousandths = scaled(value, 1000);
    if (!begin(buffer, &thousandths))
        return;
    if (thousandths > 0 && thousandths < 50) {
        pyro_strbuf_add_text(buffer, thousandths < 5 ? "<0.01" : "");
        if (thousandths >= 5)
            pyro_strbuf_printf(buffer, "0.%02lld", (long long)((thousandths + 5) / 10));
    } else if (thousandths < 9950) {
        add_scaled(buffer, thousandths, 1000);
    } else {
        pyro_human_count(buffer, (thousandths + 500) / 1000);
    }
}

void pyro_human_share(struct pyro_strbuf *buffer, double share)
{
    add_decimal(buffer, share * 100);
    if (isfinite(share))
        pyro_strbuf_add_text(buffer, " %");
}

void pyro_human_hundredths(struct pyro_strbuf *buffer, double value)
{
    int64_t hundredths = scaled(value, 100);
    if (begin(buffer, &hundredths))
        pyro_strbuf_printf(buffer, "%lld.%02lld", (long long)(hundredths / 100), (long long)(hundredths % 100));
}

void pyro_human_quantity(struct pyro_strbuf *buffer, double value, const char *unit)
{
    if (!unit)
        unit = "";
    if (!strcmp(unit, "ms")) {
        pyro_human_ms(buffer, scaled(value, 1));
    } else if (!strcmp(unit, "bytes")) {
        pyro_human_bytes(buffer, scaled(value, 1));
    } else if (!strcmp(unit, "share")) {
        pyro_human_share(buffer, value);
    } else {
        add_decimal(buffer, value);
        if (!strcmp(unit, "ratio")) {
            pyro_strbuf_add_text(buffer, " x");
        } else if (*unit && strcmp(unit, "count")) {
            pyro_strbuf_add_char(buffer, ' ');
            pyro_strbuf_add_text(buffer, unit);
        }
    }
}

void pyro_human_time(struct pyro_strbuf *buffer, int64_t epoch_ms, int64_t utc_offset_s)
{
    int64_t seconds;
    struct tm tm;
    if (epoch_ms == PYRO_NONE ||
        __builtin_add_overflow(epoch_ms / 1000 - (epoch_ms % 1000 < 0), utc_offset_s, &seconds)) {
        pyro_strbuf_add_char(buffer, '-');
        return;
    }
    time_t time = (time_t)seconds;
    if (!gmtime_r(&time, &tm) || tm.tm_year > 8099 || tm.tm_year < -1899) {
        pyro_strbuf_add_char(buffer, '-');
        return;
    }
    pyro_strbuf_printf(buffer, "%04d-%02d-%02d %02d:%02d:%02d ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                       tm.tm_hour, tm.tm_min, tm.tm_sec);
    if (utc_offset_s == 0) {
        pyro_strbuf_add_text(buffer, "UTC");
    } else {
        int64_t minutes = (utc_offset_s < 0 ? -utc_offset_s : utc_offset_s) / 60;
        pyro_strbuf_printf(buffer, "%c%02lld:%02lld", utc_offset_s < 0 ? '-' : '+', (long long)(minutes / 60),
                           (long long)(minutes % 60));
    }
}

void pyro_human_permille(struct pyro_strbuf *buffer, unsigned permille)
{
    pyro_strbuf_printf(buffer, "%u.%u %%", permille / 10, permille % 10);
}

void pyro_permille_parts(const int64_t *parts, size_t count, unsigned *permille)
{
    /* 128 bits: a part times 1000 may not fit 64. */
    unsigned __int128 total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts[i] > 0 ? (uint64_t)parts[i] : 0;
    unsigned given = 0;
    unsigned __int128 rest[32];
    for (size_t i = 0; i < count; i++) {
        unsigned __int128 scaled_part = total && parts[i] > 0 ? (unsigned __int128)parts[i] * 1000 : 0;
        permille[i] = total ? (unsigned)(scaled_part / total) : 0;
        rest[i] = total ? scaled_part % total : 0;
        given += permille[i];
    }
    while (total && given < 1000) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            if (rest[i] > rest[best])
                best = i;
        permille[best]++;
        rest[best] = 0;
        given++;
    }
}
