/* Thread dumps: what `jstack` and `kill -3` write of a JVM. Each thread of a dump is one sample at the time of the
 * dump. */
#include <string.h>

#include "decode/logs/line_time.h"
#include "decode/profiling/reading.h"

static const char DUMP[] = "Full thread dump ", STATE[] = "   java.lang.Thread.State: ";

struct dumping {
    struct pyro_profile_reading *reading;
    struct pyro_strbuf text;  /* of the frames of a thread, innermost first, each with "\n" */
    struct pyro_strbuf name;  /* of the thread */
    PYRO_VEC(size_t) ends;    /* of its frames in `text` */
    int64_t time_ns, line_ns; /* of the dump; of the line before */
    int64_t tid;
    enum pyro_thread_state state;
    bool in_dump, in_thread, zoned, native, cut;
};

/* ---- A thread ---------------------------------------------------------------------------------------------------- */

/* The innermost frame is added last. */
static int32_t add_stack(struct dumping *dump)
{
    const char *text = pyro_strbuf_slice(&dump->text).ptr;
    int32_t stack = -1;
    for (size_t i = dump->ends.count; i-- > 0;) {
        size_t begin = i ? dump->ends.items[i - 1] : 0;
        int32_t frame = pyro_profile_frame_row(
            dump->reading, (struct pyro_slice){text + begin, dump->ends.items[i] - begin}, PYRO_SLICE_LITERAL("java"));
        stack = frame < 0 ? -1 : pyro_tracks_add_stack(dump->reading->tracks, stack, frame);
        if (stack < 0)
            return -1;
    }
    return stack;
}

/* A worker keeps the name of its last task while it is idle: only inside of a task's run() it is at work for it. */
static bool has_owner(const struct dumping *dump, struct pyro_profile_task *ret)
{
    return pyro_profile_task_of_name(pyro_strbuf_slice(&dump->name), ret) &&
           pyro_slice_find(pyro_strbuf_slice(&dump->text), "$TaskRunner");
}

static bool add_sample(struct dumping *dump)
{
    struct pyro_profile_reading *reading = dump->reading;
    const struct pyro_profile_process process = {.pid = PYRO_NONE, .role = "jvm"};
    struct pyro_profile_task task;
    int32_t thread = pyro_profile_thread_row(reading, &process, pyro_strbuf_slice(&dump->name), dump->tid);
    const struct pyro_sample_row row = {
        .thread = thread,
        .stack = thread < 0 ? -1 : add_stack(dump),
        .time_ns = dump->time_ns,
        .event = PYRO_SAMPLE_WALL,
        .state = dump->native && dump->state == PYRO_STATE_RUNNING ? PYRO_STATE_NATIVE : dump->state,
        .weight = 1,
    };
    if (row.stack < 0 || !pyro_profile_sample(reading, &row))
        return false;
    return !has_owner(dump, &task) || pyro_profile_owned(reading, thread, &task, dump->time_ns, PYRO_NONE);
}

/* A thread of the JVM itself has no frames. */
static bool end_thread(struct dumping *dump)
{
    bool ok = true;
    dump->reading->facts->stacks_cut += dump->cut;
    if (dump->in_thread && dump->ends.count > 0) {
        dump->reading->facts->records++;
        ok = add_sample(dump);
    }
    pyro_strbuf_clear(&dump->text);
    dump->ends.count = 0;
    dump->in_thread = dump->native = dump->cut = false;
    dump->state = PYRO_STATE_UNKNOWN;
    return ok && !dump->text.failed && !dump->name.failed;
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
    pyro_strbuf_clear(&dump->name);
    pyro_strbuf_add_slice(&dump->name, (struct pyro_slice){line.ptr + 1, (size_t)(end - line.ptr) - 1});
    dump->tid = tid_of((struct pyro_slice){end, (size_t)(line.ptr + line.len - end)});
    dump->in_thread = true;
    return !dump->name.failed;
}

static enum pyro_thread_state state_of(struct pyro_slice text)
{
    if (pyro_slice_starts_with(text, "RUNNABLE"))
        return PYRO_STATE_RUNNING;
    if (pyro_slice_starts_with(text, "BLOCKED"))
        return PYRO_STATE_BLOCKED;
    return pyro_slice_starts_with(text, "WAITING") || pyro_slice_starts_with(text, "TIMED_WAITING")
               ? PYRO_STATE_WAITING
               : PYRO_STATE_UNKNOWN;
}

/* "java.lang.Thread.run(java.base@17.0.15/Thread.java:840)" as "java.lang.Thread.run:840". */
static bool add_frame(struct dumping *dump, struct pyro_slice frame)
{
    const char *open = frame.len ? memchr(frame.ptr, '(', frame.len) : NULL;
    size_t digits = 0;
    if (dump->ends.count == PYRO_PROFILE_DEPTH) {
        dump->cut = true;
        return true;
    }
    if (dump->ends.count == 0)
        dump->native = pyro_slice_ends_with(frame, "Native Method)");
    pyro_strbuf_add_slice(&dump->text, (struct pyro_slice){frame.ptr, open ? (size_t)(open - frame.ptr) : frame.len});
    size_t end = frame.len && frame.ptr[frame.len - 1] == ')' ? frame.len - 1 : 0;
    while (digits < end && frame.ptr[end - 1 - digits] >= '0' && frame.ptr[end - 1 - digits] <= '9')
        digits++;
    if (open && digits > 0 && digits < end && frame.ptr[end - 1 - digits] == ':')
        pyro_strbuf_add_slice(&dump->text, (struct pyro_slice){frame.ptr + end - 1 - digits, digits + 1});
    if (dump->text.failed || !pyro_vec_reserve(&dump->ends, 1, dump->reading->allocator))
        return false;
    dump->ends.items[dump->ends.count++] = dump->text.len;
    return true;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* The time of a dump stands alone on the line before it. */
static void note_time(struct dumping *dump, struct pyro_slice line)
{
    int64_t ms;
    bool zoned;
    size_t n = pyro_line_time_read(line, &ms, &zoned);
    dump->line_ns = n > 0 && n == line.len ? pyro_profile_ns((double)ms) : PYRO_NONE;
    if (dump->line_ns != PYRO_NONE)
        dump->zoned = zoned;
}

static bool take_line(void *context, struct pyro_slice line)
{
    struct dumping *dump = context;
    if (pyro_slice_starts_with(line, DUMP)) {
        dump->time_ns = dump->line_ns;
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
        dump->state = state_of((struct pyro_slice){line.ptr + sizeof(STATE) - 1, line.len - (sizeof(STATE) - 1)});
    if (dump->in_thread && pyro_slice_starts_with(line, "\tat "))
        return add_frame(dump, (struct pyro_slice){line.ptr + 4, line.len - 4});
    return true;
}

enum pyro_status pyro_profile_decode_jstack(struct pyro_profile_reading *reading)
{
    struct dumping dump = {.reading = reading, .time_ns = PYRO_NONE, .line_ns = PYRO_NONE};
    pyro_strbuf_init(&dump.text, reading->allocator);
    pyro_strbuf_init(&dump.name, reading->allocator);
    enum pyro_status status = pyro_profile_lines(reading, take_line, &dump);
    if (status == PYRO_OK && !end_thread(&dump))
        status = pyro_no_memory(reading->error);
    if (status == PYRO_OK && !dump.zoned) {
        struct pyro_clock_row *clock = pyro_tracks_clock_edit(reading->tracks, reading->clock);
        clock->base = PYRO_SLICE_LITERAL("local");
        clock->method = PYRO_SLICE_LITERAL("assumed");
    }
    pyro_strbuf_done(&dump.text);
    pyro_strbuf_done(&dump.name);
    pyro_vec_done(&dump.ends, reading->allocator);
    return status;
}
