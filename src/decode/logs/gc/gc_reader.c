/* Lines of a garbage collector's log -> events, of whichever form each line is; and what both forms share. */
#include <string.h>

#include "decode/logs/gc/gc_lines.h"
#include "model/column.h"

struct pyro_gc_event pyro_gc_event_none(void)
{
    return (struct pyro_gc_event){
        .time_ms = PYRO_NONE, .uptime_us = PYRO_NONE, .before = PYRO_NONE, .after = PYRO_NONE};
}

void pyro_gc_event_set_name(struct pyro_gc_event *event, struct pyro_slice name)
{
    size_t len = name.len < PYRO_GC_NAME_SIZE ? name.len : PYRO_GC_NAME_SIZE - 1;
    while (len < name.len && len > 0 && ((unsigned char)name.ptr[len] & 0xc0) == 0x80)
        len--; /* not inside a character */
    if (len > 0)
        memcpy(event->name, name.ptr, len);
    event->name[len] = '\0';
}

struct pyro_slice pyro_gc_from(struct pyro_slice text, size_t skip)
{
    pyro_slice_drop(&text, skip);
    return text;
}

struct pyro_slice pyro_gc_trimmed(struct pyro_slice text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == ':'))
        pyro_slice_drop(&text, 1);
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == ','))
        text.len--;
    return text;
}

/* A decimal number in parts of one: `unit` of them. */
static size_t read_parts(struct pyro_slice text, int64_t unit, int64_t *ret)
{
    const int64_t most = INT64_MAX / unit / 100;
    int64_t value = 0;
    size_t at = 0;
    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9') {
        if (value > most)
            return 0;
        value = value * 10 + (text.ptr[at++] - '0');
    }
    if (at == 0 || value > most)
        return 0;
    value *= unit;
    if (at + 1 < text.len && (text.ptr[at] == '.' || text.ptr[at] == ',') && text.ptr[at + 1] >= '0' &&
        text.ptr[at + 1] <= '9')
        for (at++; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++)
            value += (text.ptr[at] - '0') * (unit /= 10);
    *ret = value;
    return at;
}

size_t pyro_gc_read_decimal(struct pyro_slice text, int64_t *ret_millionths)
{
    return read_parts(text, 1000000, ret_millionths);
}

size_t pyro_gc_read_seconds(struct pyro_slice text, int64_t *ret_ns)
{
    return read_parts(text, 1000000000, ret_ns);
}

/* "24M", "65536K", "1.5G": bytes. */
static size_t read_size(struct pyro_slice text, int64_t *ret_bytes)
{
    int64_t millionths, unit;
    size_t len = pyro_gc_read_decimal(text, &millionths);
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

/* "(256M)" */
static size_t read_whole(struct pyro_slice text)
{
    int64_t bytes;
    if (text.len == 0 || text.ptr[0] != '(')
        return 0;
    size_t len = read_size(pyro_gc_from(text, 1), &bytes);
    return len > 0 && len + 1 < text.len && text.ptr[len + 1] == ')' ? len + 2 : 0;
}

size_t pyro_gc_read_change(struct pyro_slice text, int64_t *ret_before, int64_t *ret_after)
{
    int64_t before, after;
    size_t at = read_size(text, &before);
    if (at == 0)
        return 0;
    at += read_whole(pyro_gc_from(text, at));
    if (!pyro_slice_starts_with(pyro_gc_from(text, at), "->"))
        return 0;
    at += 2;
    size_t len = read_size(pyro_gc_from(text, at), &after);
    if (len == 0)
        return 0;
    at += len;
    len = read_whole(pyro_gc_from(text, at));
    if (len == 0)
        return 0;
    *ret_before = before;
    *ret_after = after;
    return at + len;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Gives out the event that waits, if there is one, and lets this one wait. */
static bool let_wait(struct pyro_gc_reader *reader, const struct pyro_gc_event *event, struct pyro_gc_event *ret)
{
    bool had = reader->has_waiting;
    if (had)
        *ret = reader->waiting;
    reader->waiting = *event;
    reader->has_waiting = true;
    return had;
}

/* A line that another thread wrote into the middle of one may have lost its times: those of the line before hold. */
static void give_times(const struct pyro_gc_reader *reader, struct pyro_gc_event *event)
{
    if (event->time_ms == PYRO_NONE && event->uptime_us == PYRO_NONE && reader->has_stamp) {
        event->time_ms = reader->time_ms;
        event->uptime_us = reader->uptime_us;
    }
}

/* Whether the record that begins on a line of its own belongs into the open one, which has one such at most. */
static bool is_inside(struct pyro_gc_reader *reader)
{
    bool inside = reader->record.depth > 0 && reader->record.remark;
    reader->record.remark = false;
    return inside;
}

static bool next_of_java8(struct pyro_gc_reader *reader, struct pyro_slice line, struct pyro_gc_event *ret)
{
    static const char aborted[] = " CMS: abort preclean due to time ";
    struct pyro_gc_event event = pyro_gc_event_none();
    if (pyro_slice_starts_with(line, aborted))
        pyro_slice_drop(&line, strlen(aborted));
    size_t len = pyro_gc_read_stamp(line, &event.time_ms, &event.uptime_us);
    struct pyro_slice text = pyro_gc_from(line, len);
    if (len > 0) {
        reader->has_stamp = true;
        reader->time_ms = event.time_ms;
        reader->uptime_us = event.uptime_us;
    }
    if (pyro_gc_phase_read(text, &event)) {
        give_times(reader, &event);
        return let_wait(reader, &event, ret);
    }
    bool complete = false;
    reader->has_starts |= pyro_gc_record_starts(text);
    if (pyro_gc_record_begins(text) && !is_inside(reader)) {
        reader->record = (struct pyro_gc_record){.event = event};
        complete = pyro_gc_record_begin(&reader->record, text);
        reader->record.event.at_end = reader->has_starts && reader->record.in_ms;
    } else if (reader->record.depth > 0) {
        complete = pyro_gc_record_continue(&reader->record, line);
    } else if (reader->has_waiting && reader->waiting.pause) {
        pyro_gc_read_details(line, &reader->waiting);
    }
    return complete && let_wait(reader, &reader->record.event, ret);
}

bool pyro_gc_reader_next(struct pyro_gc_reader *reader, struct pyro_slice line, struct pyro_gc_event *ret)
{
    struct pyro_gc_event event = pyro_gc_event_none();
    if (line.len > 0 && (line.ptr[0] == '[' || line.ptr[0] == 'G') && pyro_gc_unified_read(line, &event))
        return let_wait(reader, &event, ret);
    return line.len > 0 && next_of_java8(reader, line, ret);
}

bool pyro_gc_reader_end(struct pyro_gc_reader *reader, struct pyro_gc_event *ret)
{
    if (!reader->has_waiting)
        return false;
    *ret = reader->waiting;
    reader->has_waiting = false;
    return true;
}

bool pyro_gc_line_known(struct pyro_slice line)
{
    struct pyro_gc_event event = pyro_gc_event_none();
    if (pyro_gc_unified_known(line))
        return true;
    struct pyro_slice text = pyro_gc_from(line, pyro_gc_read_stamp(line, &event.time_ms, &event.uptime_us));
    return pyro_gc_record_begins(text) || pyro_gc_record_starts(text) || pyro_gc_phase_read(text, &event) ||
           pyro_slice_starts_with(text, "CommandLine flags: -XX:") ||
           pyro_slice_starts_with(text, "{Heap before GC invocations=") ||
           pyro_slice_starts_with(text, "Total time for which application threads were stopped: ");
}
