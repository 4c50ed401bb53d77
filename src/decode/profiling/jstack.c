/* Thread dumps: what `jstack` and `kill -3` write of a JVM. Each thread of a dump is one sample at the time of the
 * dump. */
#include <string.h>

#include "base/numbers/calendar.h"
#include "decode/profiling/thread_dump.h"

static const char DUMP[] = "Full thread dump ", STATE[] = "   java.lang.Thread.State: ";

struct dumping {
    struct pyro_thread_dump dump;
    int64_t line_ns; /* time of the line before */
    bool in_dump, in_thread, zoned;
};

/* ---- A thread ---------------------------------------------------------------------------------------------------- */

static bool end_thread(struct dumping *dump)
{
    bool taken = dump->in_thread;
    dump->in_thread = false;
    return pyro_thread_dump_end(&dump->dump, taken);
}

/* The last `"` that the fields of a thread follow: a name may have any character. */
static const char *end_of_name(struct pyro_slice line)
{
    static const char *const fields[] = {"\" #", "\" daemon prio=", "\" prio=", "\" os_prio=", "\" virtual"};
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        const char *end = NULL;
        struct pyro_slice rest = {line.ptr + 1, line.len - 1};
        for (const char *found; (found = pyro_slice_find(rest, fields[i])) != NULL;) {
            end = found;
            rest = (struct pyro_slice){found + 1, (size_t)(line.ptr + line.len - found - 1)};
        }
        if (end)
            return end;
    }
    return NULL;
}

/* "nid=0x20ca", or "nid=8410" of JDK 21 and later. */
static int64_t tid_of(struct pyro_slice fields)
{
    const char *at = pyro_slice_find(fields, "nid="), *end = fields.ptr + fields.len;
    int64_t value = 0;
    if (!at)
        return PYRO_NONE;
    at += 4;
    bool hex = end - at > 2 && at[0] == '0' && at[1] == 'x';
    at += hex ? 2 : 0;
    const char *first = at;
    for (; at < end && at - first < 12; at++) {
        int digit = *at >= '0' && *at <= '9' ? *at - '0' : hex && *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;
        if (digit < 0)
            break;
        value = value * (hex ? 16 : 10) + digit;
    }
    return at > first ? value : PYRO_NONE;
}

static bool begin_thread(struct dumping *dump, struct pyro_slice line)
{
    const char *end = end_of_name(line);
    if (!end_thread(dump))
        return false;
    if (!end)
        return true;
    struct pyro_thread_dump *thread = &dump->dump;
    pyro_strbuf_clear(&thread->name);
    pyro_strbuf_add_slice(&thread->name, (struct pyro_slice){line.ptr + 1, (size_t)(end - line.ptr) - 1});
    thread->tid = tid_of((struct pyro_slice){end, (size_t)(line.ptr + line.len - end)});
    dump->in_thread = true;
    return !thread->name.failed;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* The time of a dump is alone on the line before it. */
static void note_time(struct dumping *dump, struct pyro_slice line)
{
    int64_t ms;
    bool zoned;
    size_t n = pyro_date_time_read(line, &ms, &zoned);
    dump->line_ns = n > 0 && n == line.len ? pyro_profile_ns((double)ms) : PYRO_NONE;
    if (dump->line_ns != PYRO_NONE)
        dump->zoned = zoned;
}

static bool take_line(void *context, struct pyro_slice line)
{
    struct dumping *dump = context;
    if (pyro_slice_starts_with(line, DUMP)) {
        dump->dump.time_ns = dump->line_ns;
        dump->in_dump = true;
        return end_thread(dump);
    }
    if (line.len == 0)
        return end_thread(dump);
    note_time(dump, line);
    if (!dump->in_dump)
        return true;
    if (*line.ptr == '"')
        return begin_thread(dump, line);
    if (dump->in_thread && pyro_slice_starts_with(line, STATE))
        dump->dump.state =
            pyro_thread_dump_state((struct pyro_slice){line.ptr + sizeof(STATE) - 1, line.len - (sizeof(STATE) - 1)});
    if (dump->in_thread && pyro_slice_starts_with(line, "\tat "))
        return pyro_thread_dump_frame(&dump->dump, (struct pyro_slice){line.ptr + 4, line.len - 4});
    return true;
}

enum pyro_status pyro_profile_decode_jstack(struct pyro_profile_reading *reading)
{
    struct dumping dump = {.line_ns = PYRO_NONE};
    pyro_thread_dump_init(&dump.dump, reading);
    enum pyro_status status = pyro_profile_lines(reading, take_line, &dump);
    if (status == PYRO_OK && !end_thread(&dump))
        status = pyro_no_memory(reading->error);
    if (status == PYRO_OK && !dump.zoned) {
        struct pyro_clock_row *clock = pyro_tracks_clock_edit(reading->tracks, reading->clock);
        clock->base = PYRO_SLICE_LITERAL("local");
        clock->method = PYRO_SLICE_LITERAL("assumed");
    }
    pyro_thread_dump_done(&dump.dump);
    return status;
}
