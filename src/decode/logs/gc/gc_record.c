/* Records of the garbage collectors of Java 7 and 8.
 *
 *     2019-02-14T10:10:07.123+0100: 1.234: [GC (Allocation Failure) [PSYoungGen: 65536K->10720K(76288K)]
 *         65536K->10728K(251392K), 0.0083420 secs] [Times: ...]
 *
 * With -XX:+PrintTenuringDistribution, PrintAdaptiveSizePolicy, PrintReferenceGC, PrintHeapAtGC and others, what they
 * print is inside the record, which then has several lines: a record ends where its outer bracket closes. Its
 * seconds and the change of the whole heap are in no inner bracket.
 *
 * Shenandoah of Java 8 has records of its own, of pauses and of phases that run next to the program. Their times are
 * those of their begin, or with -XX:+PrintGCDetails, which writes a line for the begin as well, of their end:
 *
 *     1.234: [Pause Final Mark (process weakrefs), start]
 *     1.236: [Pause Final Mark (process weakrefs), 2.279 ms]
 *     1.236: [Concurrent cleanup 1447M->684M(2048M), 0.103 ms] */
#include <string.h>

#include "base/numbers/calendar.h"
#include "decode/logs/gc/gc_lines.h"
#include "model/column.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t pyro_gc_read_stamp(struct pyro_slice line, int64_t *ret_time_ms, int64_t *ret_uptime_us)
{
    int64_t millionths;
    bool zoned;
    size_t at = line.len > 0 && line.ptr[0] == '}'; /* the end of what PrintHeapAtGC wrote */
    *ret_time_ms = *ret_uptime_us = PYRO_NONE;
    size_t begin = at, len = pyro_date_time_read(pyro_gc_from(line, at), ret_time_ms, &zoned);
    if (len > 0 && at + len < line.len && line.ptr[at + len] == ':')
        at += len + 1;
    else
        *ret_time_ms = PYRO_NONE;
    while (at < line.len && line.ptr[at] == ' ')
        at++;
    len = pyro_gc_read_decimal(pyro_gc_from(line, at), &millionths);
    if (len > 0 && at + len + 1 < line.len && line.ptr[at + len] == ':' && line.ptr[at + len + 1] == ' ') {
        *ret_uptime_us = millionths;
        at += len + 2;
    }
    if (*ret_time_ms == PYRO_NONE && *ret_uptime_us == PYRO_NONE)
        return begin;
    if (at < line.len && line.ptr[at] == '#') { /* "#12: " of PrintGCID */
        size_t end = at + 1;
        while (end < line.len && is_digit(line.ptr[end]))
            end++;
        if (end + 1 < line.len && line.ptr[end] == ':' && line.ptr[end + 1] == ' ')
            at = end + 2;
    }
    return at;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* "(System.gc())": with its inner parentheses; 0: it does not close on this line. */
static size_t read_parenthesised(struct pyro_slice text)
{
    unsigned depth = 0;
    for (size_t at = 0; at < text.len; at++) {
        depth += text.ptr[at] == '(';
        if (text.ptr[at] == ')' && --depth == 0)
            return at + 1;
    }
    return 0;
}

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || c == '-';
}

/* Of "[GC pause (G1 Evacuation Pause) (young) 1.2: [...": the kind, its words and its causes. Returns 0 for what is not
 * a record. */
static size_t read_name(struct pyro_slice text)
{
    size_t end = pyro_slice_starts_with(text, "[GC") ? 3 : pyro_slice_starts_with(text, "[Full GC") ? 8 : 0;
    for (size_t at = end; end > 0 && at < text.len;) {
        size_t len = 0;
        while (at < text.len && text.ptr[at] == ' ')
            at++;
        if (at < text.len && text.ptr[at] == '(')
            len = read_parenthesised(pyro_gc_from(text, at));
        else
            while (at + len < text.len && is_name_letter(text.ptr[at + len]))
                len++;
        if (len == 0)
            break;
        at += len;
        if (text.ptr[at - 1] != '-') /* "--": a promotion failed */
            end = at;
    }
    return end;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "[Pause Init Mark", "[Concurrent update references": of Shenandoah. */
static size_t shenandoah_kind(struct pyro_slice text)
{
    size_t at = pyro_slice_starts_with(text, "[Pause ") ? 7 : pyro_slice_starts_with(text, "[Concurrent ") ? 12 : 0;
    return at > 0 && at < text.len && is_letter(text.ptr[at]) ? at : 0;
}

/* Up to the change of the heap, the comma, or what another thread wrote behind blanks. */
static size_t read_shenandoah_name(struct pyro_slice text)
{
    size_t at = shenandoah_kind(text);
    while (at < text.len && !strchr(",]", text.ptr[at]) &&
           !(text.ptr[at - 1] == ' ' && (is_digit(text.ptr[at]) || text.ptr[at] == ' ')))
        at++;
    while (at > 0 && text.ptr[at - 1] == ' ')
        at--;
    return at;
}

bool pyro_gc_record_starts(struct pyro_slice text)
{
    size_t len = shenandoah_kind(text) ? read_shenandoah_name(text) : 0;
    return len > 0 && pyro_slice_starts_with(pyro_gc_from(text, len), ", start]");
}

/* What may follow "[GC" in a record, but not in "[GC]" or "[GCLogger]". */
bool pyro_gc_record_begins(struct pyro_slice text)
{
    static const char *const behind[] = {"AdaptiveSize", "Before GC"};
    size_t at = pyro_slice_starts_with(text, "[GC") ? 3 : pyro_slice_starts_with(text, "[Full GC") ? 8 : 0;
    if (shenandoah_kind(text))
        return !pyro_gc_record_starts(text);
    if (at == 0 || pyro_slice_starts_with(text, "[GC concurrent-"))
        return false;
    if (at == text.len)
        return true;
    if (strchr(" [-(", text.ptr[at]) || is_digit(text.ptr[at]))
        return true;
    for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
        if (pyro_slice_starts_with(pyro_gc_from(text, at), behind[i]))
            return true;
    return false;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* ", 0.0083420 secs" right before the bracket that closes the record; of Shenandoah, ", 2.279 ms". */
static bool read_seconds(struct pyro_slice text, struct pyro_gc_record *record)
{
    int64_t ns;
    size_t len = record->in_ms ? pyro_gc_read_decimal(text, &ns) : pyro_gc_read_seconds(text, &ns);
    if (len == 0 || !pyro_slice_starts_with(pyro_gc_from(text, len), record->in_ms ? " ms]" : " secs]"))
        return false;
    record->event.duration_ns = ns;
    record->timed = true;
    return true;
}

/* "   1:   123456   7890123  [C": of a class histogram, with brackets that do not close. */
static bool is_histogram_row(struct pyro_slice line)
{
    size_t at = 0, digits;
    while (at < line.len && line.ptr[at] == ' ')
        at++;
    for (digits = 0; at < line.len && is_digit(line.ptr[at]); at++)
        digits++;
    if (digits == 0 || at + 2 >= line.len || line.ptr[at] != ':' || line.ptr[at + 1] != ' ')
        return false;
    for (at++; at < line.len && line.ptr[at] == ' '; at++)
        ;
    for (digits = 0; at < line.len && is_digit(line.ptr[at]); at++)
        digits++;
    return digits > 0 && at < line.len && line.ptr[at] == ' ';
}

bool pyro_gc_record_continue(struct pyro_gc_record *record, struct pyro_slice text)
{
    if (is_histogram_row(text))
        return false;
    for (size_t at = 0; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == '[') {
            /* An interval of addresses, "[0x0000, 0x1000)", closes with another bracket. */
            record->depth += !pyro_slice_starts_with(pyro_gc_from(text, at), "[0x");
        } else if (c == ']') {
            if (--record->depth == 0)
                return record->timed;
        } else if (record->depth == 1 && is_digit(c) && (at == 0 || text.ptr[at - 1] == ' ')) {
            struct pyro_slice rest = pyro_gc_from(text, at);
            size_t len = pyro_gc_read_change(rest, &record->event.before, &record->event.after);
            if (len > 0)
                at += len - 1;
            else
                read_seconds(rest, record);
        }
    }
    return false;
}

bool pyro_gc_record_begin(struct pyro_gc_record *record, struct pyro_slice text)
{
    record->in_ms = shenandoah_kind(text) > 0;
    size_t len = record->in_ms ? read_shenandoah_name(text) : read_name(text);
    pyro_gc_event_set_name(&record->event, pyro_gc_from((struct pyro_slice){text.ptr, len}, 1));
    /* Phases of other collectors are read by pyro_gc_phase_read(). */
    record->event.pause = !pyro_slice_starts_with(text, "[Concurrent ");
    record->remark = pyro_slice_find(text, "[YG occupancy: ") != NULL;
    record->depth = 1;
    return pyro_gc_record_continue(record, pyro_gc_from(text, 1));
}

void pyro_gc_read_details(struct pyro_slice line, struct pyro_gc_event *event)
{
    struct pyro_slice text = pyro_gc_trimmed(line);
    const char *heap = NULL;
    if (pyro_slice_starts_with(text, "[Eden: ") && (heap = pyro_slice_find(text, " Heap: ")))
        pyro_slice_drop(&text, (size_t)(heap - text.ptr) + strlen(" Heap: "));
    else if (pyro_slice_starts_with(text, "[ ")) /* "[ 24M->4M(256M)]" of Java 6 */
        text = pyro_gc_trimmed(pyro_gc_from(text, 1));
    else
        return;
    pyro_gc_read_change(text, &event->before, &event->after);
}

/* ---- Concurrent phases ------------------------------------------------------------------------------------------- */

/* "[GC concurrent-mark-end, 0.0123456 secs]", which older versions write with "sec" or without unit. */
static bool read_g1_phase(struct pyro_slice text, struct pyro_gc_event *ret)
{
    const char *end = pyro_slice_find(text, "-end, ");
    int64_t ns;
    if (!end)
        return false;
    size_t name = (size_t)(end - text.ptr);
    struct pyro_slice rest = pyro_gc_from(text, name + strlen("-end, "));
    size_t len = pyro_gc_read_seconds(rest, &ns);
    rest = pyro_gc_from(rest, len);
    if (len == 0 || !(pyro_slice_starts_with(rest, "]") || pyro_slice_starts_with(rest, " sec]") ||
                      pyro_slice_starts_with(rest, " secs]")))
        return false;
    ret->duration_ns = ns;
    pyro_gc_event_set_name(ret, (struct pyro_slice){text.ptr + 1, name - 1});
    return true;
}

/* "[CMS-concurrent-mark: 0.010/0.013 secs]": processor time and time. */
static bool read_cms_phase(struct pyro_slice text, struct pyro_gc_event *ret)
{
    const char *colon = memchr(text.ptr, ':', text.len);
    int64_t ns;
    if (!colon)
        return false;
    size_t name = (size_t)(colon - text.ptr);
    struct pyro_slice rest = pyro_gc_trimmed(pyro_gc_from(text, name + 1));
    size_t len = pyro_gc_read_seconds(rest, &ns);
    if (len == 0 || len >= rest.len || rest.ptr[len] != '/')
        return false;
    rest = pyro_gc_from(rest, len + 1);
    len = pyro_gc_read_seconds(rest, &ns);
    if (len == 0 || !pyro_slice_starts_with(pyro_gc_from(rest, len), " secs]"))
        return false;
    ret->duration_ns = ns;
    pyro_gc_event_set_name(ret, (struct pyro_slice){text.ptr + 1, name - 1});
    return true;
}

bool pyro_gc_phase_read(struct pyro_slice text, struct pyro_gc_event *ret)
{
    bool read = pyro_slice_starts_with(text, "[GC concurrent-")    ? read_g1_phase(text, ret)
                : pyro_slice_starts_with(text, "[CMS-concurrent-") ? read_cms_phase(text, ret)
                                                                   : false;
    if (read)
        ret->at_end = true;
    return read;
}
