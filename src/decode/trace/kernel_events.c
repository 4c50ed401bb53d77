#include "decode/trace/kernel_events.h"

#include <string.h>

#include "model/column.h"

enum kind {
#define PYRO_TRACE_EVENT(kind, names, ...) KIND_##kind,
#include "decode/trace/trace_events.def"
#undef PYRO_TRACE_EVENT
    KINDS
};

/* Kinds of classes that name their system call are its row, times this, plus the kind. */
enum { CALL_STEP = 64 };

static const struct {
    const char *names;
    const char *slots[PYRO_CTF_SLOTS];
} rows[KINDS] = {
#define PYRO_TRACE_EVENT(kind, names, ...) {names, {__VA_ARGS__}},
#include "decode/trace/trace_events.def"
#undef PYRO_TRACE_EVENT
};

void pyro_kernel_events_init(struct pyro_kernel_events *events, struct pyro_kernel *kernel)
{
    *events = (struct pyro_kernel_events){.kernel = kernel};
    pyro_kernel_events_machine(events, PYRO_MACHINE_X86_64);
}

void pyro_kernel_events_machine(struct pyro_kernel_events *events, enum pyro_machine machine)
{
    for (int i = 0; i < PYRO_SYSCALLS_MAX; i++)
        events->by_number[i] = (int16_t)pyro_syscall_by_number(machine, i);
}

void pyro_kernel_events_done(struct pyro_kernel_events *events)
{
    pyro_vec_done(&events->host_of, events->kernel->allocator);
}

bool pyro_kernel_events_host(struct pyro_kernel_events *events, struct pyro_slice name)
{
    int32_t host = pyro_kernel_host(events->kernel, name);
    int32_t *added = host >= 0 ? pyro_vec_push(&events->host_of, events->kernel->allocator) : NULL;
    if (added)
        *added = host;
    return added != NULL;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Whether one of the names, between bars, is that of the event. *ret_rest: what the star of it stands for. */
static bool matches(const char *names, struct pyro_slice name, struct pyro_slice *ret_rest)
{
    *ret_rest = PYRO_SLICE_NULL;
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, "|");
        bool prefix = len > 0 && at[len - 1] == '*';
        size_t compared = prefix ? len - 1 : len;
        if (name.len >= compared && (prefix || name.len == len) && memcmp(name.ptr, at, compared) == 0) {
            *ret_rest = (struct pyro_slice){name.ptr + compared, name.len - compared};
            return true;
        }
        at += len + (at[len] == '|');
    }
    return false;
}

struct pyro_ctf_wanted pyro_kernel_events_want(struct pyro_slice name)
{
    struct pyro_ctf_wanted wanted = {.kind = -1};
    struct pyro_slice call;
    for (int kind = 0; kind < KINDS; kind++) {
        if (!matches(rows[kind].names, name, &call))
            continue;
        wanted.kind = kind;
        if (kind == KIND_ENTER_NAME || kind == KIND_EXIT_NAME)
            wanted.kind += CALL_STEP * (pyro_syscall_by_name(call) + 1);
        memcpy(wanted.slots, rows[kind].slots, sizeof(wanted.slots));
        break;
    }
    return wanted;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* One that is taken. */
struct taken {
    struct pyro_kernel *kernel;
    const struct pyro_ctf_value *slots;
    struct pyro_kcpu *cpu; /* NULL: not known */
    int32_t host, number;  /* of the processor */
    int64_t time_ns;
    int call; /* row, of classes that name it */
};

static int64_t number_at(const struct taken *taken, int slot)
{
    return taken->slots[slot].known && !taken->slots[slot].text.ptr ? taken->slots[slot].integer : PYRO_NONE;
}

/* The thread that caused the event: as the record says, else the one that runs on the processor. */
static struct pyro_kthread *thread_of(const struct taken *taken, int tid_slot, int pid_slot)
{
    int64_t tid = tid_slot >= 0 ? number_at(taken, tid_slot) : PYRO_NONE;
    struct pyro_kthread *running = taken->cpu ? taken->cpu->current : NULL;
    struct pyro_kthread *thread = running;
    if (tid == 0)
        return NULL;
    if (tid > 0 && (!running || running->tid != tid))
        thread = pyro_kernel_thread(taken->kernel, taken->host, tid);
    if (thread && pid_slot >= 0)
        pyro_kthread_process(taken->kernel, thread, number_at(taken, pid_slot));
    if (thread && taken->cpu)
        pyro_kernel_runs(taken->kernel, taken->cpu, taken->number, thread, taken->time_ns);
    return thread;
}

static void take_switch(const struct taken *taken)
{
    struct pyro_kernel *kernel = taken->kernel;
    struct pyro_kthread *prev = pyro_kernel_thread(kernel, taken->host, number_at(taken, 0));
    struct pyro_kthread *next = pyro_kernel_thread(kernel, taken->host, number_at(taken, 2));
    if (!taken->cpu)
        return;
    if (prev) {
        pyro_kthread_name(kernel, prev, taken->slots[3].text);
        pyro_kthread_process(kernel, prev, number_at(taken, 5));
    }
    if (next)
        pyro_kthread_name(kernel, next, taken->slots[4].text);
    pyro_kernel_switch(kernel, taken->cpu, taken->number, prev, number_at(taken, 1), next, taken->time_ns);
}

static void take_wakeup(const struct taken *taken)
{
    struct pyro_kthread *thread = pyro_kernel_thread(taken->kernel, taken->host, number_at(taken, 0));
    int64_t target = number_at(taken, 1);
    if (!thread)
        return;
    pyro_kthread_name(taken->kernel, thread, taken->slots[2].text);
    pyro_kernel_wake(taken->kernel, taken->cpu, thread, target != PYRO_NONE ? target : taken->number, taken->time_ns);
}

static void take_fork(const struct taken *taken)
{
    struct pyro_kernel *kernel = taken->kernel;
    struct pyro_kthread *child = pyro_kernel_thread(kernel, taken->host, number_at(taken, 0));
    if (!child)
        return;
    pyro_kthread_name(kernel, child, taken->slots[2].text);
    /* perf's child_pid is the thread's own number: whether that is a new process it does not say. */
    if (number_at(taken, 4) == PYRO_NONE)
        pyro_kthread_process(kernel, child, number_at(taken, 1));
}

static void take_exec(const struct taken *taken)
{
    struct pyro_kthread *thread = thread_of(taken, 1, 3);
    struct pyro_slice name = taken->slots[0].text;
    const char *slash = name.len ? memrchr(name.ptr, '/', name.len) : NULL;
    if (slash)
        pyro_slice_drop(&name, (size_t)(slash + 1 - name.ptr));
    if (thread && name.len > 0)
        pyro_kthread_name(taken->kernel, thread, name);
}

static void take_process(const struct taken *taken)
{
    struct pyro_kthread *thread = pyro_kernel_thread(taken->kernel, taken->host, number_at(taken, 0));
    if (!thread)
        return;
    pyro_kthread_process(taken->kernel, thread, number_at(taken, 1));
    if (!thread->name.ptr)
        pyro_kthread_name(taken->kernel, thread, taken->slots[2].text);
}

static void enter(const struct taken *taken, struct pyro_kthread *thread, int call, int64_t descriptor)
{
    if (thread)
        pyro_kernel_enter_call(taken->kernel, thread, call, descriptor, taken->time_ns);
}

static void leave(const struct taken *taken, struct pyro_kthread *thread, int call, int64_t ret)
{
    if (thread)
        pyro_kernel_leave_call(taken->kernel, thread, call, ret != PYRO_NONE ? ret : 0, taken->time_ns);
}

static int call_of_number(const struct pyro_kernel_events *events, int64_t number)
{
    return number >= 0 && number < PYRO_SYSCALLS_MAX ? events->by_number[number] : -1;
}

static void take_issue(const struct taken *taken)
{
    enum { SECTOR = 512 };
    int64_t sectors = number_at(taken, 2), bytes = number_at(taken, 3), device = number_at(taken, 0);
    int64_t tid = number_at(taken, 4);
    struct pyro_kthread *issuer = tid > 0 ? pyro_kernel_thread(taken->kernel, taken->host, tid) : NULL;
    if (bytes == PYRO_NONE || bytes == 0)
        bytes = sectors > 0 && sectors < INT64_MAX / SECTOR ? sectors * SECTOR : 0;
    const struct pyro_krequest request = {
        .sector = number_at(taken, 1), .from_ns = taken->time_ns, .bytes = bytes, .issuer = issuer};
    if (device != PYRO_NONE)
        pyro_device_issue(taken->kernel, taken->host, device, &request);
}

static void take(struct pyro_kernel_events *events, const struct taken *taken, enum kind kind)
{
    switch (kind) {
    case KIND_SWITCH:
        take_switch(taken);
        break;
    case KIND_WAKEUP:
        take_wakeup(taken);
        break;
    case KIND_WAKING: {
        struct pyro_kthread *thread = pyro_kernel_thread(taken->kernel, taken->host, number_at(taken, 0));
        if (thread)
            pyro_kernel_waking(taken->kernel, taken->cpu, thread, taken->time_ns);
        break;
    }
    case KIND_MIGRATE: {
        struct pyro_kthread *thread = pyro_kernel_thread(taken->kernel, taken->host, number_at(taken, 0));
        if (thread)
            pyro_kernel_migrate(taken->kernel, thread, number_at(taken, 1), taken->time_ns);
        break;
    }
    case KIND_FORK:
        take_fork(taken);
        break;
    case KIND_EXEC:
        take_exec(taken);
        break;
    case KIND_PROCESS:
        take_process(taken);
        break;
    case KIND_ENTER_NUMBER:
        enter(taken, thread_of(taken, 4, 5), call_of_number(events, number_at(taken, 0)), number_at(taken, 1));
        break;
    case KIND_EXIT_NUMBER:
        leave(taken, thread_of(taken, 2, 3), call_of_number(events, number_at(taken, 0)), number_at(taken, 1));
        break;
    case KIND_ENTER_NAME:
        enter(taken, thread_of(taken, 1, 2), taken->call, number_at(taken, 0));
        break;
    case KIND_EXIT_NAME:
        leave(taken, thread_of(taken, 1, 2), taken->call, number_at(taken, 0));
        break;
    case KIND_BLOCK_ISSUE:
        take_issue(taken);
        break;
    case KIND_BLOCK_COMPLETE:
        if (number_at(taken, 0) != PYRO_NONE)
            pyro_device_complete(taken->kernel, taken->host, taken->cpu, number_at(taken, 0), number_at(taken, 1),
                                 taken->time_ns);
        break;
    case KIND_PAGE_FAULT: {
        struct pyro_kthread *thread = thread_of(taken, 1, -1);
        taken->kernel->has_faults = true;
        if (thread)
            thread->faulted = true;
        break;
    }
    default:
        break;
    }
}

bool pyro_kernel_events_is_logged(const struct pyro_ctf_event *event)
{
    return event->kind == KIND_LOGGED;
}

void pyro_kernel_events_take(struct pyro_kernel_events *events, const struct pyro_ctf_event *event)
{
    struct pyro_kernel *kernel = events->kernel;
    if ((size_t)event->trace >= events->host_of.count)
        return;
    int64_t time_ns = event->time_ns;
    if (kernel->first_ns == PYRO_NONE)
        kernel->first_ns = kernel->last_ns = time_ns;
    if (time_ns < kernel->last_ns) /* streams agree on the order within a clock's step only */
        time_ns = kernel->last_ns;
    kernel->last_ns = time_ns;
    int32_t host = events->host_of.items[event->trace];
    const struct taken taken = {.kernel = kernel,
                                .slots = event->slots,
                                .cpu = pyro_kernel_cpu(kernel, host, event->cpu),
                                .host = host,
                                .number = event->cpu,
                                .time_ns = time_ns,
                                .call = event->kind / CALL_STEP - 1};
    take(events, &taken, (enum kind)(event->kind % CALL_STEP));
}
