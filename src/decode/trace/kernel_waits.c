/* Why a thread waited, and what that came down to. */
#include <errno.h>

#include "base/collections/hash.h"
#include "decode/trace/kernel.h"
#include "model/column.h"

/* Threads that wait for each other: what is beyond is said of the last one. */
enum { CHAIN_MAX = 4 };

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

static uint64_t descriptor_key(const struct pyro_kthread *thread, int64_t descriptor)
{
    int64_t process = thread->pid > 0 ? thread->pid : thread->tid;
    uint64_t hash = pyro_hash_mix((uint64_t)process ^ (uint64_t)(uint32_t)thread->host << 40);
    return pyro_hash_mix(hash + (uint64_t)descriptor);
}

void pyro_kernel_note_descriptor(struct pyro_kernel *kernel, const struct pyro_kthread *thread, int64_t descriptor,
                                 enum pyro_descriptor kind)
{
    enum { DESCRIPTORS_MAX = 1 << 20 };
    if (descriptor < 0 || kernel->descriptors.count >= DESCRIPTORS_MAX)
        return;
    uint64_t key = descriptor_key(thread, descriptor);
    uint64_t *place = kind == PYRO_DESCRIPTOR_UNKNOWN ? pyro_map_get(&kernel->descriptors, key)
                                                      : pyro_map_put(&kernel->descriptors, key, NULL);
    if (place)
        *place = (uint64_t)kind;
    else
        kernel->no_memory |= kind != PYRO_DESCRIPTOR_UNKNOWN;
}

static enum pyro_descriptor descriptor_of(const struct pyro_kernel *kernel, const struct pyro_kthread *thread)
{
    const uint64_t *place = pyro_map_get(&kernel->descriptors, descriptor_key(thread, thread->descriptor));
    return place ? (enum pyro_descriptor) * place : PYRO_DESCRIPTOR_UNKNOWN;
}

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

/* State D: the kernel itself waits, for a device or for one of its locks. */
static enum pyro_kernel_state deep_reason(const struct pyro_kernel *kernel, const struct pyro_kthread *thread,
                                          const struct pyro_kwait *wait)
{
    const struct pyro_syscall *call = pyro_syscall(thread->call);
    if (thread->in_call && call &&
        (call->class == PYRO_CALL_MEMORY || call->class == PYRO_CALL_FUTEX || call->class == PYRO_CALL_POLL))
        return PYRO_KERNEL_KERNEL_LOCK;
    if (thread->in_call)
        return PYRO_KERNEL_DISK;
    if (kernel->has_faults ? wait->faulted : thread->called_ns > 0)
        return PYRO_KERNEL_PAGE_FAULT;
    /* A thread of the kernel, or a call that was not recorded: one that a request of a device ended waited for that. */
    return wait->device >= 0 ? PYRO_KERNEL_DISK : PYRO_KERNEL_WAITING;
}

/* Whether a Python worker of the application ended the wait. Where the plugin does not list what the executor has
 * started, any other process of Python may be one. */
static bool by_worker(const struct pyro_kernel *kernel, const struct pyro_kthread *thread,
                      const struct pyro_kwait *wait)
{
    const struct pyro_kthread *by = wait->by;
    if (!pyro_kthread_is_python(by) || by->pid == thread->pid)
        return false;
    return pyro_task_windows_is_child(kernel->windows, kernel->hosts.items[by->host].name, by->pid) != 0;
}

/* Of a call on one descriptor. Where the trace did not see what it is: threads end waits for pipes, interrupts those
 * for the network. */
static enum pyro_kernel_state stream_reason(const struct pyro_kernel *kernel, const struct pyro_kthread *thread,
                                            const struct pyro_kwait *wait)
{
    if (by_worker(kernel, thread, wait))
        return PYRO_KERNEL_PYTHON;
    switch (descriptor_of(kernel, thread)) {
    case PYRO_DESCRIPTOR_FILE:
        return PYRO_KERNEL_DISK;
    case PYRO_DESCRIPTOR_SOCKET:
        return PYRO_KERNEL_NETWORK;
    case PYRO_DESCRIPTOR_PIPE:
        return PYRO_KERNEL_PIPE;
    default:
        return wait->by ? PYRO_KERNEL_PIPE : PYRO_KERNEL_NETWORK;
    }
}

static enum pyro_kernel_state light_reason(const struct pyro_kernel *kernel, const struct pyro_kthread *thread,
                                           const struct pyro_kwait *wait, int64_t ret)
{
    const struct pyro_syscall *call = pyro_syscall(thread->call);
    if (!thread->in_call || !call)
        return PYRO_KERNEL_WAITING;
    switch (call->class) {
    case PYRO_CALL_READ:
    case PYRO_CALL_WRITE:
        return stream_reason(kernel, thread, wait);
    case PYRO_CALL_FILE:
    case PYRO_CALL_OPEN:
    case PYRO_CALL_CLOSE:
        return PYRO_KERNEL_DISK;
    case PYRO_CALL_NETWORK:
    case PYRO_CALL_ACCEPT:
    case PYRO_CALL_SOCKET:
        return by_worker(kernel, thread, wait) ? PYRO_KERNEL_PYTHON : PYRO_KERNEL_NETWORK;
    case PYRO_CALL_POLL:
        if (ret == 0)
            return PYRO_KERNEL_TIMER;
        return by_worker(kernel, thread, wait) ? PYRO_KERNEL_PYTHON : PYRO_KERNEL_NETWORK;
    case PYRO_CALL_FUTEX:
        return ret == -ETIMEDOUT ? PYRO_KERNEL_TIMER : PYRO_KERNEL_FUTEX;
    case PYRO_CALL_LOCK:
        return PYRO_KERNEL_FUTEX;
    case PYRO_CALL_SLEEP:
        return PYRO_KERNEL_TIMER;
    case PYRO_CALL_MEMORY:
        return PYRO_KERNEL_KERNEL_LOCK;
    default:
        return PYRO_KERNEL_WAITING;
    }
}

static struct pyro_kspan span_of(struct pyro_kernel *kernel, const struct pyro_kthread *thread,
                                 const struct pyro_kwait *wait, int64_t ret)
{
    struct pyro_kspan span = {.from_ns = wait->from_ns,
                              .until_ns = wait->until_ns,
                              .about = thread->in_call ? thread->call : PYRO_ABOUT_NOTHING,
                              .by = wait->by};
    span.state = wait->deep ? deep_reason(kernel, thread, wait) : light_reason(kernel, thread, wait, ret);
    if (span.state == PYRO_KERNEL_DISK || span.state == PYRO_KERNEL_PAGE_FAULT) {
        int device = wait->device;
        span.by = pyro_device_busy(kernel, thread->host, &device, wait->from_ns, wait->until_ns);
        if (device >= 0)
            span.about = PYRO_ABOUT_DEVICE(device);
    }
    return span;
}

void pyro_kwait_resolve(struct pyro_kernel *kernel, struct pyro_kthread *thread, int64_t ret)
{
    if (!thread->wait.open)
        return;
    thread->wait.open = false;
    if (thread->wait.until_ns <= thread->wait.from_ns)
        return;
    const struct pyro_kspan span = span_of(kernel, thread, &thread->wait, ret);
    if (span.state == PYRO_KERNEL_PYTHON && thread->window_count > 0)
        pyro_kthread_is_worker(kernel, span.by);
    pyro_kernel_take(kernel, thread, &span);
}

/* ---- What it came down to ---------------------------------------------------------------------------------------- */

struct blame {
    struct pyro_kernel *kernel;
    struct pyro_kthread *whose;
    enum pyro_kernel_state state; /* of the thread that has the task */
};

static bool waits_for_thread(enum pyro_kernel_state state)
{
    return state == PYRO_KERNEL_FUTEX || state == PYRO_KERNEL_PIPE || state == PYRO_KERNEL_PYTHON ||
           state == PYRO_KERNEL_NETWORK || state == PYRO_KERNEL_KERNEL_LOCK;
}

/* Whose fault a span is: of running threads their own, of those that wait for the processor that of who ran. */
static struct pyro_slice culprit(struct blame *blame, struct pyro_kthread *thread, const struct pyro_kspan *span)
{
    bool of_other =
        span->state == PYRO_KERNEL_RUNNABLE || span->state == PYRO_KERNEL_DISK || span->state == PYRO_KERNEL_PAGE_FAULT;
    return pyro_kthread_label(blame->kernel, of_other ? span->by : thread, blame->whose);
}

static void add_part(struct blame *blame, struct pyro_kthread *thread, const struct pyro_kspan *span, int64_t ns)
{
    pyro_account_add(blame->kernel, blame->whose, blame->state, span->state, span->about, culprit(blame, thread, span),
                     ns);
}

/* Of a span in which it did not wait: the part in which it was in the kernel, or others had its processor. Returns
 * that. */
static int64_t add_share(struct blame *blame, struct pyro_kthread *thread, const struct pyro_kspan *span,
                         enum pyro_kernel_state state, int64_t of_ns, int64_t ns)
{
    double share = of_ns > 0 ? (double)of_ns / (double)(span->until_ns - span->from_ns) : 0;
    const struct pyro_kspan part = {.state = state, .about = PYRO_ABOUT_NOTHING, .by = span->by};
    int64_t part_ns = (int64_t)((share < 1 ? share : 1) * (double)ns);
    if (part_ns > 0)
        add_part(blame, thread, &part, part_ns);
    return part_ns;
}

/* What the thread has done since its newest span; not a span yet. */
static struct pyro_kspan open_span(const struct pyro_kthread *thread, int64_t until_ns)
{
    struct pyro_kspan span = {.from_ns = thread->since_ns,
                              .until_ns = until_ns,
                              .state = thread->state,
                              .about = thread->in_call ? thread->call : PYRO_ABOUT_NOTHING};
    if (thread->blocked)
        span.state = PYRO_KERNEL_WAITING;
    return span;
}

/* Spreads [from, until) over what `thread` did then; returns how much of it is known. */
static int64_t spread(struct blame *blame, struct pyro_kthread *thread, int64_t from_ns, int64_t until_ns, int depth);

static int64_t spread_span(struct blame *blame, struct pyro_kthread *thread, const struct pyro_kspan *span,
                           int64_t from_ns, int64_t until_ns, int depth)
{
    int64_t start_ns = span->from_ns > from_ns ? span->from_ns : from_ns;
    int64_t end_ns = span->until_ns < until_ns ? span->until_ns : until_ns;
    if (end_ns <= start_ns)
        return 0;
    int64_t rest_ns = end_ns - start_ns;
    if (waits_for_thread(span->state) && span->by && span->by != blame->whose && depth < CHAIN_MAX)
        rest_ns -= spread(blame, span->by, start_ns, end_ns, depth + 1);
    int64_t system_ns = add_share(blame, thread, span, PYRO_KERNEL_SYSTEM, span->system_ns, rest_ns);
    int64_t runnable_ns = add_share(blame, thread, span, PYRO_KERNEL_RUNNABLE, span->runnable_ns, rest_ns);
    rest_ns -= system_ns + runnable_ns;
    if (rest_ns > 0)
        add_part(blame, thread, span, rest_ns);
    return end_ns - start_ns;
}

static int64_t spread(struct blame *blame, struct pyro_kthread *thread, int64_t from_ns, int64_t until_ns, int depth)
{
    const struct pyro_kspan open = open_span(thread, until_ns);
    int64_t known_ns = 0;
    if (open.state != PYRO_KERNEL_UNKNOWN && open.until_ns > open.from_ns)
        known_ns += spread_span(blame, thread, &open, from_ns, until_ns, depth);
    if (thread->wait.open && thread->wait.until_ns > thread->wait.from_ns) { /* in the call that it is still in */
        const struct pyro_kspan span = span_of(blame->kernel, thread, &thread->wait, PYRO_NONE);
        known_ns += spread_span(blame, thread, &span, from_ns, until_ns, depth);
    }
    for (unsigned i = 1; i <= PYRO_KTHREAD_RECENT; i++) {
        const struct pyro_kspan *span =
            &thread->recent[(thread->recent_at + PYRO_KTHREAD_RECENT - i) % PYRO_KTHREAD_RECENT];
        if (span->until_ns <= from_ns || span->until_ns <= span->from_ns)
            continue; /* older: they are nearly in order of time */
        if (span->state != PYRO_KERNEL_UNKNOWN)
            known_ns += spread_span(blame, thread, span, from_ns, until_ns, depth);
    }
    return known_ns < until_ns - from_ns ? known_ns : until_ns - from_ns;
}

void pyro_kwait_blame(struct pyro_kernel *kernel, struct pyro_kthread *thread, const struct pyro_kspan *span)
{
    struct blame blame = {kernel, thread, span->state};
    int64_t rest_ns = span->until_ns - span->from_ns;
    if (waits_for_thread(span->state) && span->by && span->by != thread)
        rest_ns -= spread(&blame, span->by, span->from_ns, span->until_ns, 0);
    if (rest_ns > 0)
        pyro_account_add(kernel, thread, span->state, span->state, span->about,
                         pyro_kthread_label(kernel, span->by, thread), rest_ns);
}
