#include "trace_kit.h"

#include <string.h>

enum { START = 1000000000, STAGE = 3, CPUS = 4 };

void trace_new(struct trace *trace)
{
    const struct pyro_thread_row executor = {.parent = -1,
                                             .clock = -1,
                                             .pid = EXECUTOR,
                                             .tid = PYRO_NONE,
                                             .host = PYRO_SLICE_LITERAL("h"),
                                             .executor = PYRO_SLICE_LITERAL("1")};
    *trace = (struct trace){.tracks = pyro_tracks_new(NULL)};
    assert_non_null(trace->tracks);
    struct pyro_task_process *process = pyro_vec_push(&trace->windows.processes, NULL);
    assert_non_null(process);
    *process = (struct pyro_task_process){.host = PYRO_SLICE_LITERAL("h"),
                                          .executor = PYRO_SLICE_LITERAL("1"),
                                          .label = PYRO_SLICE_LITERAL("executor 1"),
                                          .pid = EXECUTOR,
                                          .row = pyro_tracks_add_thread(trace->tracks, &executor)};
}

void trace_task(struct trace *trace, int64_t task, int64_t start, int64_t end)
{
    const struct pyro_thread_row thread = {.parent = 0,
                                           .clock = -1,
                                           .pid = EXECUTOR,
                                           .tid = TASK,
                                           .host = PYRO_SLICE_LITERAL("h"),
                                           .executor = PYRO_SLICE_LITERAL("1"),
                                           .role = PYRO_SLICE_LITERAL("task")};
    struct pyro_task_window *window = pyro_vec_push(&trace->windows.items, NULL);
    assert_non_null(window);
    *window = (struct pyro_task_window){.host = PYRO_SLICE_LITERAL("h"),
                                        .pid = EXECUTOR,
                                        .tid = TASK,
                                        .thread = pyro_tracks_add_thread(trace->tracks, &thread),
                                        .start_ns = START + start,
                                        .end_ns = end < INT64_MAX ? START + end : end,
                                        .task = task,
                                        .stage = STAGE,
                                        .stage_attempt = 0};
}

void trace_at(struct trace *trace, int64_t time)
{
    if (trace->kernel.first_ns == PYRO_NONE)
        trace->kernel.first_ns = trace->kernel.last_ns = START + time;
    assert_true(START + time >= trace->kernel.last_ns);
    trace->kernel.last_ns = START + time;
}

void trace_start(struct trace *trace)
{
    assert_true(pyro_task_windows_settle(&trace->windows, trace->tracks));
    pyro_kernel_begin(&trace->kernel, trace->tracks, &trace->windows, NULL);
    trace->host = pyro_kernel_host(&trace->kernel, PYRO_SLICE_LITERAL("h"));
    assert_int_equal(trace->host, 0);
    trace_at(trace, 0);
    for (int cpu = 0; cpu < CPUS; cpu++)
        assert_non_null(pyro_kernel_cpu(&trace->kernel, trace->host, cpu));
    trace_name(trace, EXECUTOR, EXECUTOR, "java");
    trace_name(trace, TASK, EXECUTOR, "Executor task l");
    trace_name(trace, HELPER, EXECUTOR, "Helper");
    trace_name(trace, COLLECTOR, EXECUTOR, "GC Thread#0");
    trace_name(trace, PYTHON, PYTHON, "python3");
    trace_name(trace, STRESS, STRESS, "stress");
    trace_name(trace, OTHER, OTHER, "other");
}

struct pyro_kthread *trace_thread(struct trace *trace, int64_t tid)
{
    struct pyro_kthread *thread = pyro_kernel_thread(&trace->kernel, trace->host, tid);
    assert_true(thread || tid == IDLE);
    return thread;
}

void trace_name(struct trace *trace, int64_t tid, int64_t pid, const char *name)
{
    pyro_kthread_process(&trace->kernel, trace_thread(trace, tid), pid);
    pyro_kthread_name(&trace->kernel, trace_thread(trace, tid), pyro_slice_from(name));
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

void trace_switch(struct trace *trace, int32_t cpu, int64_t prev, int64_t state, int64_t next, int64_t time)
{
    trace_at(trace, time);
    pyro_kernel_switch(&trace->kernel, pyro_kernel_cpu(&trace->kernel, trace->host, cpu), cpu,
                       trace_thread(trace, prev), state, trace_thread(trace, next), START + time);
}

void trace_waking(struct trace *trace, int32_t on, int64_t tid, int64_t time)
{
    trace_at(trace, time);
    pyro_kernel_waking(&trace->kernel, pyro_kernel_cpu(&trace->kernel, trace->host, on), trace_thread(trace, tid),
                       START + time);
}

void trace_wake(struct trace *trace, int32_t on, int64_t tid, int64_t target, int64_t time)
{
    trace_at(trace, time);
    pyro_kernel_wake(&trace->kernel, pyro_kernel_cpu(&trace->kernel, trace->host, on), trace_thread(trace, tid), target,
                     START + time);
}

void trace_enter(struct trace *trace, int64_t tid, const char *call, int64_t descriptor, int64_t time)
{
    trace_at(trace, time);
    pyro_kernel_enter_call(&trace->kernel, trace_thread(trace, tid), pyro_syscall_by_name(pyro_slice_from(call)),
                           descriptor, START + time);
}

void trace_leave(struct trace *trace, int64_t tid, int64_t ret, int64_t time)
{
    trace_at(trace, time);
    pyro_kernel_leave_call(&trace->kernel, trace_thread(trace, tid), -1, ret, START + time);
}

void trace_issue(struct trace *trace, int64_t device, int64_t sector, int64_t tid, int64_t time)
{
    trace_at(trace, time);
    const struct pyro_krequest request = {
        .sector = sector, .from_ns = START + time, .bytes = 4096, .issuer = trace_thread(trace, tid)};
    pyro_device_issue(&trace->kernel, trace->host, device, &request);
}

void trace_complete(struct trace *trace, int32_t cpu, int64_t device, int64_t sector, int64_t time)
{
    trace_at(trace, time);
    pyro_device_complete(&trace->kernel, trace->host, pyro_kernel_cpu(&trace->kernel, trace->host, cpu), device, sector,
                         START + time);
}

void trace_wait(struct trace *trace, const char *call, int64_t descriptor, int64_t state, int32_t on, int64_t ret,
                int64_t from, int64_t until)
{
    trace_enter(trace, TASK, call, descriptor, from);
    trace_switch(trace, 0, TASK, state, IDLE, from);
    trace_wake(trace, on, TASK, 0, until);
    trace_switch(trace, 0, IDLE, RUNS, TASK, until);
    trace_leave(trace, TASK, ret, until);
}

void trace_end(struct trace *trace, int64_t time)
{
    trace_at(trace, time);
    pyro_kernel_end(&trace->kernel);
    assert_false(trace->kernel.no_memory);
    for (size_t i = 0; i < trace->kernel.all.count; i++) {
        int64_t whole = 0;
        for (int state = 0; state < PYRO_KERNEL_STATES; state++)
            whole += trace_sum(trace, trace->kernel.all.items[i]->tid, (enum pyro_kernel_state)state);
        assert_int_equal(whole, time);
    }
    assert_true(pyro_kernel_write(&trace->kernel));
    assert_true(pyro_tracks_seal(trace->tracks));
}

void trace_done(struct trace *trace)
{
    pyro_kernel_done(&trace->kernel);
    pyro_task_windows_done(&trace->windows);
    pyro_tracks_free(trace->tracks);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

int64_t trace_sum(const struct trace *trace, int64_t tid, enum pyro_kernel_state state)
{
    int64_t ns = 0;
    for (size_t i = 0; i < trace->kernel.all.count; i++)
        if (trace->kernel.all.items[i]->tid == tid)
            ns += trace->kernel.all.items[i]->sums[state];
    return ns;
}

static bool is_text(struct pyro_slice text, const char *expected)
{
    return !expected || (*expected ? pyro_slice_is(text, expected) : !text.ptr);
}

int64_t trace_account(const struct trace *trace, int64_t task, enum pyro_kernel_state state,
                      enum pyro_kernel_state root, const char *what, const char *by)
{
    size_t first, count = pyro_tracks_waits_of(trace->tracks, task, &first);
    int64_t ns = 0;
    for (size_t i = first; i < first + count; i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(trace->tracks, i);
        assert_int_equal(row.stage, STAGE);
        if (row.state == state && row.root == root && is_text(row.what, what) && is_text(row.by, by))
            ns += row.duration_ns;
    }
    return ns;
}

int64_t trace_whole(const struct trace *trace, int64_t task)
{
    size_t first, count = pyro_tracks_waits_of(trace->tracks, task, &first);
    int64_t ns = 0;
    for (size_t i = first; i < first + count; i++)
        ns += pyro_tracks_task_wait(trace->tracks, i).duration_ns;
    return ns;
}
