#include "decode/profiling/thread_dump.h"

void pyro_thread_dump_init(struct pyro_thread_dump *dump, struct pyro_profile_reading *reading)
{
    *dump = (struct pyro_thread_dump){.reading = reading, .time_ns = PYRO_NONE};
    pyro_strbuf_init(&dump->text, reading->allocator);
    pyro_strbuf_init(&dump->name, reading->allocator);
}

void pyro_thread_dump_done(struct pyro_thread_dump *dump)
{
    pyro_strbuf_done(&dump->text);
    pyro_strbuf_done(&dump->name);
    pyro_vec_done(&dump->ends, dump->reading->allocator);
}

/* The innermost frame is added last. */
static int32_t add_stack(struct pyro_thread_dump *dump)
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
static bool has_owner(const struct pyro_thread_dump *dump, struct pyro_profile_task *ret)
{
    return pyro_profile_task_of_name(pyro_strbuf_slice(&dump->name), ret) &&
           pyro_slice_find(pyro_strbuf_slice(&dump->text), "$TaskRunner");
}

static bool add_sample(struct pyro_thread_dump *dump)
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
bool pyro_thread_dump_end(struct pyro_thread_dump *dump, bool taken)
{
    bool ok = true;
    dump->reading->facts->stacks_cut += dump->cut;
    if (taken && dump->ends.count > 0) {
        dump->reading->facts->records++;
        ok = add_sample(dump);
    }
    pyro_strbuf_clear(&dump->text);
    dump->ends.count = 0;
    dump->native = dump->cut = false;
    dump->state = PYRO_STATE_UNKNOWN;
    return ok && !dump->text.failed && !dump->name.failed;
}

enum pyro_thread_state pyro_thread_dump_state(struct pyro_slice text)
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
bool pyro_thread_dump_frame(struct pyro_thread_dump *dump, struct pyro_slice frame)
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
