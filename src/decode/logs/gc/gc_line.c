/* One line of a garbage collector's log.
 *
 * Unified: [2024-03-01T10:15:02.123+0000][1.234s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
 *          24M->4M(256M) 2.345ms, with any choice of decorations.
 * Java 8:  2019-02-14T10:10:07.123+0100: 1.234: [GC (Allocation Failure) [PSYoungGen: 65536K->10720K(76288K)]
 *          65536K->10728K(251392K), 0.0083420 secs] [Times: ...] */
#include <string.h>

#include "base/numbers/calendar.h"
#include "decode/logs/gc/gc_log.h"
#include "model/column.h"

static struct pyro_slice from(struct pyro_slice text, size_t skip)
{
    return (struct pyro_slice){text.ptr + skip, text.len - skip};
}

/* "12.345": in millionths, by digits, so that no locale and no rounding matters. Returns how many bytes it takes. */
static size_t read_decimal(struct pyro_slice text, int64_t *ret_millionths)
{
    int64_t value = 0, unit = 1000000;
    size_t at = 0;
    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9') {
        if (value > INT64_MAX / 100000000)
            return 0;
        value = value * 10 + (text.ptr[at++] - '0');
    }
    if (at == 0 || value > INT64_MAX / 100000000)
        return 0;
    value *= unit;
    if (at + 1 < text.len && (text.ptr[at] == '.' || text.ptr[at] == ','))
        for (at++; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++)
            value += (text.ptr[at] - '0') * (unit /= 10);
    *ret_millionths = value;
    return at;
}

/* "24M", "65536K", "1.5G": bytes. */
static size_t read_size(struct pyro_slice text, int64_t *ret_bytes)
{
    int64_t millionths, unit;
    size_t len = read_decimal(text, &millionths);
    if (len == 0 || len >= text.len)
        return 0;
    switch (text.ptr[len]) {
    case 'B':
        unit = 1;
        break;
    case 'K':
        unit = 1 << 10;
        break;
    case 'M':
        unit = 1 << 20;
        break;
    case 'G':
        unit = 1 << 30;
        break;
    default:
        return 0;
    }
    if (millionths / 1000000 > INT64_MAX / unit / 2)
        return 0;
    *ret_bytes = millionths / 1000000 * unit + millionths % 1000000 * unit / 1000000;
    return len + 1;
}

/* "24M->4M(256M)" */
static size_t read_change(struct pyro_slice text, int64_t *ret_before, int64_t *ret_after)
{
    int64_t before, after, whole;
    size_t at = read_size(text, &before), len;
    if (at == 0 || !pyro_slice_starts_with(from(text, at), "->"))
        return 0;
    at += 2;
    len = read_size(from(text, at), &after);
    if (len == 0 || at + len >= text.len || text.ptr[at + len] != '(')
        return 0;
    at += len + 1;
    len = read_size(from(text, at), &whole);
    if (len == 0 || at + len >= text.len || text.ptr[at + len] != ')')
        return 0;
    *ret_before = before;
    *ret_after = after;
    return at + len + 1;
}

static struct pyro_slice trimmed(struct pyro_slice text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == ':'))
        text = from(text, 1);
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == ','))
        text.len--;
    return text;
}

/* ---- Unified logging --------------------------------------------------------------------------------------------- */

struct decorations {
    bool gc;
    int64_t time_ms, uptime_us;
};

/* What one pair of brackets holds: times, the level, tags; others are passed over. */
static void read_decoration(struct pyro_slice text, struct decorations *ret)
{
    int64_t millionths;
    bool zoned;
    text = trimmed(text);
    if (pyro_date_time_read(text, &ret->time_ms, &zoned) > 0)
        return;
    ret->gc |= pyro_slice_is(text, "gc") || pyro_slice_starts_with(text, "gc,") || pyro_slice_starts_with(text, "gc ");
    size_t len = read_decimal(text, &millionths);
    if (len == 0)
        return;
    struct pyro_slice unit = from(text, len);
    if (pyro_slice_is(unit, "s"))
        ret->uptime_us = millionths;
    else if (pyro_slice_is(unit, "ms"))
        ret->uptime_us = millionths / 1000;
    else if (pyro_slice_is(unit, "ns"))
        ret->uptime_us = millionths / 1000000 / 1000;
}

/* Returns how many bytes the decorations take; 0: there are none. */
static size_t read_decorations(struct pyro_slice line, struct decorations *ret)
{
    size_t at = 0;
    *ret = (struct decorations){.time_ms = PYRO_NONE, .uptime_us = PYRO_NONE};
    while (at < line.len && line.ptr[at] == '[') {
        const char *end = memchr(line.ptr + at, ']', line.len - at);
        if (!end)
            return 0;
        size_t len = (size_t)(end - line.ptr) - at - 1;
        read_decoration((struct pyro_slice){line.ptr + at + 1, len}, ret);
        at += len + 2;
    }
    return at;
}

/* Takes "12.345ms" off the end; false: it does not end so. */
static bool take_duration(struct pyro_slice *text, int64_t *ret_ns)
{
    int64_t millionths;
    if (!pyro_slice_ends_with(*text, "ms"))
        return false;
    size_t begin = text->len - 2;
    while (begin > 0 && text->ptr[begin - 1] != ' ')
        begin--;
    struct pyro_slice number = {text->ptr + begin, text->len - 2 - begin};
    if (number.len == 0 || read_decimal(number, &millionths) != number.len)
        return false;
    *ret_ns = millionths;
    text->len = begin;
    *text = trimmed(*text);
    return true;
}

/* Takes "24M->4M(256M)" off the end, if it has one. */
static void take_change(struct pyro_slice *text, struct pyro_gc_event *event)
{
    size_t begin = text->len;
    while (begin > 0 && text->ptr[begin - 1] != ' ')
        begin--;
    if (read_change(from(*text, begin), &event->before, &event->after) != text->len - begin)
        return;
    text->len = begin;
    *text = trimmed(*text);
}

static bool read_unified(struct pyro_slice line, struct pyro_gc_event *ret)
{
    struct decorations found;
    size_t at = read_decorations(line, &found);
    if (at == 0 || !found.gc)
        return false;
    struct pyro_slice text = trimmed(from(line, at));
    if (pyro_slice_starts_with(text, "GC(")) {
        const char *end = memchr(text.ptr, ')', text.len);
        text = end ? trimmed(from(text, (size_t)(end - text.ptr) + 1)) : text;
    }
    if (text.len > 2 && text.ptr[1] == ':' && (text.ptr[0] == 'Y' || text.ptr[0] == 'y' || text.ptr[0] == 'O'))
        text = trimmed(from(text, 2)); /* generational ZGC: of which generation */
    ret->pause = pyro_slice_starts_with(text, "Pause ");
    if (!ret->pause && !pyro_slice_starts_with(text, "Concurrent "))
        return false;
    ret->at_end = true;
    if (!take_duration(&text, &ret->duration_ns))
        return false;
    take_change(&text, ret);
    ret->name = text;
    ret->time_ms = found.time_ms;
    ret->uptime_us = found.uptime_us;
    return text.len > 0;
}

/* ---- Java 8 ------------------------------------------------------------------------------------------------------ */

/* "[GC ..., 0.0083420 secs]": the change of the whole heap is not in inner brackets, its seconds are the last. */
static bool read_record(struct pyro_slice text, struct pyro_gc_event *ret)
{
    unsigned depth = 0;
    size_t at = 0, name_end = 0;
    bool timed = false, closed = false;
    for (; at < text.len && !closed; at++) {
        char c = text.ptr[at];
        size_t len;
        int64_t seconds;
        if (c == '[') {
            name_end = name_end == 0 && depth == 1 ? at : name_end;
            depth++;
        } else if (c == ']') {
            closed = --depth == 0;
        } else if (depth == 1 && c >= '0' && c <= '9' && text.ptr[at - 1] == ' ') {
            if ((len = read_change(from(text, at), &ret->before, &ret->after)) > 0) {
                name_end = name_end == 0 ? at : name_end;
                at += len - 1;
            } else if ((len = read_decimal(from(text, at), &seconds)) > 0 &&
                       pyro_slice_starts_with(from(text, at + len), " secs")) {
                ret->duration_ns = seconds * 1000;
                timed = true;
                name_end = name_end == 0 ? at : name_end;
                at += len;
            }
        }
    }
    if (!timed || !closed || name_end < 2)
        return false;
    ret->name = trimmed((struct pyro_slice){text.ptr + 1, name_end - 1});
    /* Before Java 9 only CMS says what ran while the program ran, and only as the end of a phase of its own. */
    ret->pause = true;
    return true;
}

static bool read_java8(struct pyro_slice line, struct pyro_gc_event *ret)
{
    int64_t millionths;
    bool zoned;
    size_t len = pyro_date_time_read(line, &ret->time_ms, &zoned);
    if (len > 0)
        line = trimmed(from(line, len));
    else
        ret->time_ms = PYRO_NONE;
    len = read_decimal(line, &millionths);
    if (len > 0 && len < line.len && line.ptr[len] == ':') {
        ret->uptime_us = millionths;
        line = trimmed(from(line, len));
    }
    if (ret->time_ms == PYRO_NONE && ret->uptime_us == PYRO_NONE)
        return false;
    if (!pyro_slice_starts_with(line, "[GC ") && !pyro_slice_starts_with(line, "[Full GC "))
        return false;
    return read_record(line, ret);
}

bool pyro_gc_line_read(struct pyro_slice line, struct pyro_gc_event *ret)
{
    *ret =
        (struct pyro_gc_event){.time_ms = PYRO_NONE, .uptime_us = PYRO_NONE, .before = PYRO_NONE, .after = PYRO_NONE};
    if (line.len == 0)
        return false;
    return line.ptr[0] == '[' ? read_unified(line, ret) : read_java8(line, ret);
}
