/* Transitions: each closes the state that a thread was in, and opens the next. */
#include "base/numbers/saturate.h"
#include "decode/trace/kernel.h"
#include "model/column.h"

/* States of threads that the kernel gives to sched_switch (include/linux/sched.h); none of them: it could still run. */
enum {
    TASK_INTERRUPTIBLE = 1,
    TASK_UNINTERRUPTIBLE = 2,
    TASK_STOPPED = 4,
    TASK_TRACED = 8,
    TASK_PARKED = 0x40,
    TASK_IDLE = 0x80,
    TASK_REPORTED = 0xff
};

/* Ends the state of a thread that does not wait. */
static void close_state(struct pyro_kernel *kernel, struct pyro_kthread *thread, enum pyro_kernel_state next,
                        int64_t time_ns)
{
    const struct pyro_kspan span = {.from_ns = thread->since_ns,
                                    .until_ns = time_ns,
                                    .state = thread->state,
                                    .about = thread->state == PYRO_KERNEL_SYSTEM ? thread->call : PYRO_ABOUT_NOTHING};
    if (time_ns > thread->since_ns)
        pyro_kernel_take(kernel, thread, &span);
    thread->state = next;
    thread->since_ns = time_ns;
}

/* ---- Threads that could run -------------------------------------------------------------------------------------- */

static void unqueue(struct pyro_kernel *kernel, struct pyro_kthread *thread)
{
    struct pyro_kcpu *cpu = thread->queued ? pyro_kernel_cpu(kernel, thread->host, thread->cpu) : NULL;
    struct pyro_kthread **place = cpu ? &cpu->waiters : NULL;
    while (place && *place && *place != thread)
        place = &(*place)->next_waiter;
    if (place && *place)
        *place = thread->next_waiter;
    thread->queued = false;
    thread->next_waiter = NULL;
}

static void queue(struct pyro_kernel *kernel, struct pyro_kthread *thread, int64_t number, int64_t time_ns)
{
    struct pyro_kcpu *cpu = pyro_kernel_cpu(kernel, thread->host, number);
    thread->state = PYRO_KERNEL_RUNNABLE;
    thread->since_ns = time_ns;
    unqueue(kernel, thread); /* where events are missing */
    if (!cpu)
        return;
    thread->cpu = (int32_t)number;
    thread->next_waiter = cpu->waiters;
    thread->queued = true;
    cpu->waiters = thread;
}

/* It could run until now, while `ran` did; NULL: the processor was idle. */
static void waited(struct pyro_kernel *kernel, struct pyro_kthread *thread, struct pyro_kthread *ran, bool known,
                   int64_t time_ns)
{
    if (time_ns <= thread->since_ns)
        return;
    bool throttled = known && !ran && time_ns - thread->since_ns >= PYRO_THROTTLED_NS_MIN;
    const struct pyro_kspan span = {.from_ns = thread->since_ns,
                                    .until_ns = time_ns,
                                    .state = throttled ? PYRO_KERNEL_THROTTLED : PYRO_KERNEL_RUNNABLE,
                                    .about = PYRO_ABOUT_NOTHING,
                                    .by = ran};
    pyro_kernel_take(kernel, thread, &span);
    thread->since_ns = time_ns;
}

/* The one that runs until now is what all that wait for the processor waited for. */
static void charge_waiters(struct pyro_kernel *kernel, struct pyro_kcpu *cpu, struct pyro_kthread *ran, bool known,
                           int64_t time_ns)
{
    for (struct pyro_kthread *waiter = cpu->waiters; waiter; waiter = waiter->next_waiter)
        waited(kernel, waiter, ran, known, time_ns);
}

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

/* The wait is over, but its reason may become clearer when the call returns. */
static void end_wait(struct pyro_kernel *kernel, struct pyro_kthread *thread, struct pyro_kthread *by, int device,
                     int64_t time_ns)
{
    pyro_kwait_resolve(kernel, thread, PYRO_NONE);
    thread->wait = (struct pyro_kwait){.open = true,
                                       .deep = thread->deep,
                                       .from_ns = thread->since_ns,
                                       .until_ns = time_ns,
                                       .by = by,
                                       .device = device,
                                       .faulted = thread->faulted};
    thread->blocked = thread->faulted = thread->waking = false;
    thread->since_ns = time_ns;
    if (!thread->in_call) /* nothing more will be known */
        pyro_kwait_resolve(kernel, thread, PYRO_NONE);
}

/* It waited when it was last seen, and has run since: what woke it was lost, but who asked for that may be known. */
static void end_unseen_wait(struct pyro_kernel *kernel, struct pyro_kthread *thread, enum pyro_kernel_state then,
                            int64_t time_ns)
{
    if (!thread->waking) {
        end_wait(kernel, thread, NULL, -1, time_ns);
        return;
    }
    end_wait(kernel, thread, thread->waking_by, thread->waking_device, thread->waking_ns);
    thread->state = then;
}

static void leave_cpu(struct pyro_kernel *kernel, struct pyro_kthread *thread, int32_t number, int64_t state,
                      int64_t time_ns)
{
    if (thread->blocked)
        end_unseen_wait(kernel, thread, PYRO_KERNEL_UNKNOWN, time_ns);
    pyro_kwait_resolve(kernel, thread, PYRO_NONE);
    state &= TASK_REPORTED;
    unqueue(kernel, thread);
    close_state(kernel, thread, PYRO_KERNEL_RUNNABLE, time_ns);
    if (state == 0) {
        queue(kernel, thread, number, time_ns);
    } else if (state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE | TASK_PARKED | TASK_IDLE)) {
        thread->blocked = true;
        thread->deep = (state & TASK_UNINTERRUPTIBLE) != 0;
    } else if (state & (TASK_STOPPED | TASK_TRACED)) {
        thread->state = PYRO_KERNEL_STOPPED;
    } else {
        thread->ended = true;
        thread->state = PYRO_KERNEL_UNKNOWN;
    }
}

static void take_cpu(struct pyro_kernel *kernel, struct pyro_kthread *thread, int32_t number, struct pyro_kthread *ran,
                     bool known, int64_t time_ns)
{
    if (thread->blocked)
        end_unseen_wait(kernel, thread, PYRO_KERNEL_RUNNABLE, time_ns);
    if (thread->state == PYRO_KERNEL_RUNNABLE)
        waited(kernel, thread, ran, known, time_ns);
    unqueue(kernel, thread);
    enum pyro_kernel_state next = thread->in_call ? PYRO_KERNEL_SYSTEM : PYRO_KERNEL_USER;
    close_state(kernel, thread, next, time_ns);
    thread->cpu = number;
}

/* It ran on the processor, and another thread does so now: when it left is not known, so nothing is since it was seen.
 * Traces of single processes have many of these. */
static void lose_thread(struct pyro_kernel *kernel, struct pyro_kthread *thread, int32_t number, int64_t time_ns)
{
    bool runs = thread->state == PYRO_KERNEL_USER || thread->state == PYRO_KERNEL_SYSTEM;
    if (!runs || thread->cpu != number) /* it was seen elsewhere since */
        return;
    thread->state = PYRO_KERNEL_UNKNOWN;
    close_state(kernel, thread, PYRO_KERNEL_UNKNOWN, time_ns);
    thread->in_call = false;
    thread->called_ns = 0;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

void pyro_kernel_switch(struct pyro_kernel *kernel, struct pyro_kcpu *cpu, int32_t number, struct pyro_kthread *prev,
                        int64_t prev_state, struct pyro_kthread *next, int64_t time_ns)
{
    if (cpu->current && cpu->current != prev)
        lose_thread(kernel, cpu->current, number, time_ns);
    charge_waiters(kernel, cpu, prev, true, time_ns);
    if (next) /* before the one that leaves becomes a waiter */
        take_cpu(kernel, next, number, prev, true, time_ns);
    if (prev && prev != next)
        leave_cpu(kernel, prev, number, prev_state, time_ns);
    cpu->current = next;
    cpu->known = true;
}

void pyro_kernel_runs(struct pyro_kernel *kernel, struct pyro_kcpu *cpu, int32_t number, struct pyro_kthread *thread,
                      int64_t time_ns)
{
    if (cpu->current == thread)
        return;
    if (cpu->current)
        lose_thread(kernel, cpu->current, number, time_ns);
    charge_waiters(kernel, cpu, cpu->current, false, time_ns);
    take_cpu(kernel, thread, number, NULL, false, time_ns);
    cpu->current = thread;
    cpu->known = true;
}

/* Who woke it: only in a system call can a thread do that. Else an interrupt did, which came by chance while that
 * thread ran; so do threads of the kernel, which work for interrupts most of the time. */
static struct pyro_kthread *waker(const struct pyro_kernel *kernel, const struct pyro_kcpu *cpu)
{
    struct pyro_kthread *thread = cpu ? cpu->current : NULL;
    if (!thread || (kernel->has_calls && !thread->in_call))
        return NULL;
    return thread;
}

/* Where a processor wakes a thread of another one, which is idle, it only says so there: that one then wakes it. */
void pyro_kernel_waking(struct pyro_kernel *kernel, const struct pyro_kcpu *cpu, struct pyro_kthread *thread,
                        int64_t time_ns)
{
    enum { DONE_NS = 1000000 }; /* a request that ended just now ended the wait */
    bool done = cpu && cpu->done_device >= 0 && time_ns - cpu->done_ns <= DONE_NS;
    thread->waking = thread->blocked;
    thread->waking_ns = time_ns;
    thread->waking_by = waker(kernel, cpu);
    thread->waking_device = done ? cpu->done_device : -1;
}

void pyro_kernel_wake(struct pyro_kernel *kernel, struct pyro_kcpu *cpu, struct pyro_kthread *thread, int64_t target,
                      int64_t time_ns)
{
    bool fresh = thread->state == PYRO_KERNEL_UNKNOWN;
    if (thread->blocked) {
        if (!thread->waking) /* was not recorded */
            pyro_kernel_waking(kernel, cpu, thread, time_ns);
        end_wait(kernel, thread, thread->waking_by, thread->waking_device, time_ns);
    } else if (fresh || thread->state == PYRO_KERNEL_STOPPED) {
        close_state(kernel, thread, PYRO_KERNEL_RUNNABLE, time_ns);
    } else {
        return; /* it runs, or could */
    }
    queue(kernel, thread, target, time_ns);
}

void pyro_kernel_migrate(struct pyro_kernel *kernel, struct pyro_kthread *thread, int64_t target, int64_t time_ns)
{
    kernel->migrations++;
    if (!thread->queued || thread->cpu == target)
        return;
    const struct pyro_kcpu *cpu = pyro_kernel_cpu(kernel, thread->host, thread->cpu);
    waited(kernel, thread, cpu ? cpu->current : NULL, cpu && cpu->known, time_ns);
    unqueue(kernel, thread);
    queue(kernel, thread, target, time_ns);
}

void pyro_kernel_enter_call(struct pyro_kernel *kernel, struct pyro_kthread *thread, int call, int64_t descriptor,
                            int64_t time_ns)
{
    kernel->has_calls = true;
    kernel->unmatched += thread->in_call;
    close_state(kernel, thread, PYRO_KERNEL_SYSTEM, time_ns);
    thread->in_call = true;
    thread->faulted = false;
    thread->call = call;
    thread->descriptor = descriptor;
    thread->called_ns = time_ns;
}

static void note_descriptors(struct pyro_kernel *kernel, const struct pyro_kthread *thread,
                             const struct pyro_syscall *call, int64_t ret)
{
    if (!call || ret < 0)
        return;
    switch (call->class) {
    case PYRO_CALL_OPEN:
        pyro_kernel_note_descriptor(kernel, thread, ret, PYRO_DESCRIPTOR_FILE);
        break;
    case PYRO_CALL_SOCKET:
    case PYRO_CALL_ACCEPT:
        pyro_kernel_note_descriptor(kernel, thread, ret, PYRO_DESCRIPTOR_SOCKET);
        break;
    case PYRO_CALL_NETWORK:
        pyro_kernel_note_descriptor(kernel, thread, thread->descriptor, PYRO_DESCRIPTOR_SOCKET);
        break;
    case PYRO_CALL_CLOSE:
        pyro_kernel_note_descriptor(kernel, thread, thread->descriptor, PYRO_DESCRIPTOR_UNKNOWN);
        break;
    default:
        break;
    }
}

void pyro_kernel_leave_call(struct pyro_kernel *kernel, struct pyro_kthread *thread, int call, int64_t ret,
                            int64_t time_ns)
{
    kernel->has_calls = true;
    pyro_kwait_resolve(kernel, thread, ret);
    if (!thread->in_call) { /* it began before the trace, or that event is lost */
        kernel->unmatched++;
        thread->called_ns = time_ns;
        close_state(kernel, thread, PYRO_KERNEL_USER, time_ns);
        return;
    }
    if (call >= 0 && thread->call != call) {
        kernel->unmatched++;
        thread->call = call;
    }
    close_state(kernel, thread, PYRO_KERNEL_USER, time_ns);
    const struct pyro_syscall *row = pyro_syscall(thread->call);
    struct pyro_call_sums *sums = &kernel->calls[row ? thread->call : pyro_syscall_count()];
    bool moves = row && (row->class == PYRO_CALL_READ || row->class == PYRO_CALL_WRITE);
    int64_t bytes = !moves ? PYRO_NONE : ret > 0 ? ret : 0;
    sums->count++;
    sums->errors += ret < 0;
    sums->duration_ns = pyro_add_saturating(sums->duration_ns, time_ns - thread->called_ns);
    if (moves)
        sums->bytes = pyro_add_saturating(sums->bytes, bytes);
    note_descriptors(kernel, thread, row, ret);
    pyro_kernel_count_call(kernel, thread, thread->call, bytes, time_ns);
    thread->in_call = false;
    thread->call = -1;
}

void pyro_kernel_lost(struct pyro_kernel *kernel, int32_t host, int64_t from_ns, int64_t until_ns)
{
    struct pyro_kloss *loss = pyro_vec_push(&kernel->losses, kernel->allocator);
    if (!loss) {
        kernel->no_memory = true;
        return;
    }
    *loss = (struct pyro_kloss){host, from_ns, until_ns};
    for (size_t i = 0; i < kernel->all.count; i++) {
        struct pyro_kthread *thread = kernel->all.items[i];
        if (thread->host != host || thread->ended)
            continue;
        int64_t at_ns = from_ns < kernel->last_ns ? from_ns : kernel->last_ns;
        if (at_ns < thread->since_ns)
            at_ns = thread->since_ns;
        if (thread->blocked)
            end_wait(kernel, thread, NULL, -1, at_ns);
        pyro_kwait_resolve(kernel, thread, PYRO_NONE);
        unqueue(kernel, thread);
        close_state(kernel, thread, PYRO_KERNEL_UNKNOWN, at_ns);
        thread->in_call = false;
        thread->called_ns = 0;
    }
    struct pyro_khost *where = &kernel->hosts.items[host];
    for (size_t i = 0; i < where->cpus.count; i++) {
        where->cpus.items[i].current = NULL;
        where->cpus.items[i].known = false;
    }
}

void pyro_kernel_end(struct pyro_kernel *kernel)
{
    for (size_t i = 0; i < kernel->all.count; i++) {
        struct pyro_kthread *thread = kernel->all.items[i];
        if (!pyro_kernel_is_newest(kernel, thread)) /* another one has its number, and the time since */
            continue;
        if (thread->blocked)
            end_wait(kernel, thread, NULL, -1, kernel->last_ns);
        pyro_kwait_resolve(kernel, thread, PYRO_NONE);
        if (thread->queued) {
            const struct pyro_kcpu *cpu = pyro_kernel_cpu(kernel, thread->host, thread->cpu);
            waited(kernel, thread, cpu ? cpu->current : NULL, cpu && cpu->known, kernel->last_ns);
        }
        close_state(kernel, thread, PYRO_KERNEL_UNKNOWN, kernel->last_ns);
    }
    pyro_accounts_end(kernel);
}
