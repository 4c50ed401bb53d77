/* One line of unified logging.
 *
 *     [2024-03-01T10:15:02.123+0000][1.234s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
 *         24M->4M(256M) 2.345ms
 *
 * With any choice of decorations, also none: where they do not name the tag gc, "GC(0)" and the words behind it do. */
#include <string.h>

#include "base/numbers/calendar.h"
#include "decode/logs/gc/gc_lines.h"
#include "model/column.h"

struct decorations {
    bool gc;
    int64_t time_ms, uptime_us;
};

/* Milliseconds above this are since 1970, not since the start of a process: three years. */
#define MOST_UPTIME_MS INT64_C(100000000000)

/* "1709284502123ms", "1234567890ns": of decorations that are whole numbers. */
static void read_whole_number(struct pyro_slice text, struct decorations *ret)
{
    int64_t value = 0;
    size_t at = 0;
    for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++) {
        if (value > INT64_MAX / 10 - 1)
            return;
        value = value * 10 + (text.ptr[at] - '0');
    }
    struct pyro_slice unit = pyro_gc_from(text, at);
    if (at == 0)
        return;
    if (pyro_slice_is(unit, "ms") && value > MOST_UPTIME_MS)
        ret->time_ms = ret->time_ms == PYRO_NONE ? value : ret->time_ms;
    else if (pyro_slice_is(unit, "ms"))
        ret->uptime_us = value * 1000;
    else if (pyro_slice_is(unit, "ns"))
        ret->uptime_us = value / 1000;
}

/* What one pair of brackets holds: times, the level, tags; others are passed over. */
static void read_decoration(struct pyro_slice text, struct decorations *ret)
{
    int64_t millionths;
    bool zoned;
    text = pyro_gc_trimmed(text);
    if (pyro_date_time_read(text, &ret->time_ms, &zoned) > 0)
        return;
    ret->gc |= pyro_slice_is(text, "gc") || pyro_slice_starts_with(text, "gc,") || pyro_slice_starts_with(text, "gc ");
    size_t len = pyro_gc_read_decimal(text, &millionths);
    if (len > 0 && pyro_slice_is(pyro_gc_from(text, len), "s"))
        ret->uptime_us = millionths;
    else
        read_whole_number(text, ret);
}

/* Returns how many bytes the decorations take. */
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
    if (number.len == 0 || pyro_gc_read_decimal(number, &millionths) != number.len)
        return false;
    *ret_ns = millionths;
    text->len = begin;
    *text = pyro_gc_trimmed(*text);
    return true;
}

/* Takes "24M->4M(256M)" off the end, if it has one. */
static void take_change(struct pyro_slice *text, struct pyro_gc_event *event)
{
    size_t begin = text->len;
    while (begin > 0 && text->ptr[begin - 1] != ' ')
        begin--;
    if (pyro_gc_read_change(pyro_gc_from(*text, begin), &event->before, &event->after) != text->len - begin)
        return;
    text->len = begin;
    *text = pyro_gc_trimmed(*text);
}

/* Takes "GC(12)" off the front. */
static bool take_number(struct pyro_slice *text)
{
    if (!pyro_slice_starts_with(*text, "GC("))
        return false;
    size_t at = 3;
    while (at < text->len && text->ptr[at] >= '0' && text->ptr[at] <= '9')
        at++;
    if (at == 3 || at >= text->len || text->ptr[at] != ')')
        return false;
    *text = pyro_gc_trimmed(pyro_gc_from(*text, at + 1));
    return true;
}

bool pyro_gc_unified_read(struct pyro_slice line, struct pyro_gc_event *ret)
{
    struct decorations found;
    struct pyro_slice text = pyro_gc_trimmed(pyro_gc_from(line, read_decorations(line, &found)));
    if (!take_number(&text) && !found.gc)
        return false;
    if (text.len > 2 && text.ptr[1] == ':' && (text.ptr[0] == 'Y' || text.ptr[0] == 'y' || text.ptr[0] == 'O'))
        text = pyro_gc_trimmed(pyro_gc_from(text, 2)); /* generational ZGC: of which generation */
    ret->pause = pyro_slice_starts_with(text, "Pause ");
    if (!ret->pause && !pyro_slice_starts_with(text, "Concurrent "))
        return false;
    ret->at_end = true;
    if (!take_duration(&text, &ret->duration_ns))
        return false;
    take_change(&text, ret);
    pyro_gc_event_set_name(ret, text);
    ret->time_ms = found.time_ms;
    ret->uptime_us = found.uptime_us;
    return text.len > 0;
}

bool pyro_gc_unified_known(struct pyro_slice line)
{
    static const char *const collectors[] = {"Using G1",       "Using Serial",     "Using The Z Garbage Collector",
                                             "Using Parallel", "Using Shenandoah", "Using Concurrent Mark Sweep",
                                             "Using Epsilon"};
    struct decorations found;
    struct pyro_slice text = pyro_gc_trimmed(pyro_gc_from(line, read_decorations(line, &found)));
    if (found.gc)
        return true;
    if (take_number(&text))
        return pyro_slice_starts_with(text, "Pause ") || pyro_slice_starts_with(text, "Concurrent ") ||
               pyro_slice_starts_with(text, "Garbage Collection (");
    for (size_t i = 0; i < sizeof(collectors) / sizeof(*collectors); i++)
        if (pyro_slice_is(text, collectors[i]))
            return true;
    return false;
}
