#include <stdio.h>

#include "base/collections/hash.h"
#include "decode/trace/kernel.h"
#include "model/column.h"

void pyro_kernel_begin(struct pyro_kernel *kernel, struct pyro_tracks *tracks, struct pyro_task_windows *windows,
                       const struct pyro_allocator *allocator)
{
    *kernel = (struct pyro_kernel){
        .allocator = allocator, .tracks = tracks, .windows = windows, .first_ns = PYRO_NONE, .last_ns = PYRO_NONE};
    pyro_arena_init(&kernel->arena, allocator);
    pyro_map_init(&kernel->threads, allocator);
    pyro_map_init(&kernel->descriptors, allocator);
    pyro_map_init(&kernel->workers, allocator);
    kernel->calls = pyro_arena_array(&kernel->arena, (size_t)pyro_syscall_count() + 1, sizeof(*kernel->calls));
    kernel->no_memory = kernel->calls == NULL;
}

void pyro_kernel_done(struct pyro_kernel *kernel)
{
    for (size_t i = 0; i < kernel->hosts.count; i++)
        pyro_vec_done(&kernel->hosts.items[i].cpus, kernel->allocator);
    for (size_t i = 0; i < kernel->devices.count; i++)
        pyro_vec_done(&kernel->devices.items[i].pending, kernel->allocator);
    pyro_vec_done(&kernel->hosts, kernel->allocator);
    pyro_vec_done(&kernel->devices, kernel->allocator);
    pyro_vec_done(&kernel->losses, kernel->allocator);
    pyro_vec_done(&kernel->all, kernel->allocator);
    pyro_map_done(&kernel->threads);
    pyro_map_done(&kernel->descriptors);
    pyro_map_done(&kernel->workers);
    pyro_arena_done(&kernel->arena);
}

int32_t pyro_kernel_host(struct pyro_kernel *kernel, struct pyro_slice name)
{
    for (size_t i = 0; i < kernel->hosts.count; i++)
        if (pyro_slice_eq(kernel->hosts.items[i].name, name))
            return (int32_t)i;
    struct pyro_khost *added = pyro_vec_push(&kernel->hosts, kernel->allocator);
    if (!added)
        return -1;
    added->name = name.ptr ? pyro_tracks_text(kernel->tracks, name) : name;
    return (int32_t)(kernel->hosts.count - 1);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static uint64_t thread_key(int32_t host, int64_t tid)
{
    return pyro_hash_mix((uint64_t)tid ^ (uint64_t)(uint32_t)host << 40);
}

/* Nothing is known of it before it is seen: since the first event, or since another one with its number ended. */
static struct pyro_kthread *add_thread(struct pyro_kernel *kernel, int32_t host, int64_t tid, int64_t since_ns)
{
    struct pyro_kthread *thread = NULL;
    if (pyro_vec_reserve(&kernel->all, 1, kernel->allocator))
        thread = pyro_arena_array(&kernel->arena, 1, sizeof(*thread));
    if (!thread) {
        kernel->no_memory = true;
        return NULL;
    }
    *thread = (struct pyro_kthread){.tid = tid,
                                    .pid = -1,
                                    .host = host,
                                    .row = -1,
                                    .cpu = -1,
                                    .call = -1,
                                    .state = PYRO_KERNEL_UNKNOWN,
                                    .since_ns = since_ns};
    thread->windows = pyro_task_windows_of(kernel->windows, kernel->hosts.items[host].name, tid, &thread->window_count);
    if (thread->windows)
        thread->row = thread->windows->thread;
    kernel->all.items[kernel->all.count++] = thread;
    return thread;
}

struct pyro_kthread *pyro_kernel_thread(struct pyro_kernel *kernel, int32_t host, int64_t tid)
{
    if (tid <= 0)
        return NULL;
    uint64_t *place = pyro_map_get(&kernel->threads, thread_key(host, tid));
    const struct pyro_kthread *ended = NULL;
    if (place && !((struct pyro_kthread *)(uintptr_t)*place)->ended)
        return (struct pyro_kthread *)(uintptr_t)*place;
    if (place)
        ended = (const struct pyro_kthread *)(uintptr_t)*place;
    if (kernel->all.count >= PYRO_KTHREADS_MAX)
        return NULL;
    struct pyro_kthread *thread = add_thread(kernel, host, tid, ended ? ended->since_ns : kernel->first_ns);
    place = thread ? pyro_map_put(&kernel->threads, thread_key(host, tid), NULL) : NULL;
    if (!place) {
        kernel->no_memory |= kernel->all.count < PYRO_KTHREADS_MAX;
        return NULL;
    }
    *place = (uint64_t)(uintptr_t)thread;
    return thread;
}

bool pyro_kernel_is_newest(const struct pyro_kernel *kernel, const struct pyro_kthread *thread)
{
    const uint64_t *place = pyro_map_get(&kernel->threads, thread_key(thread->host, thread->tid));
    return place && *place == (uint64_t)(uintptr_t)thread;
}

struct pyro_kcpu *pyro_kernel_cpu(struct pyro_kernel *kernel, int32_t host, int64_t cpu)
{
    struct pyro_khost *where = &kernel->hosts.items[host];
    if (cpu < 0 || cpu >= PYRO_KERNEL_CPUS_MAX)
        return NULL;
    while (where->cpus.count <= (size_t)cpu) {
        struct pyro_kcpu *added = pyro_vec_push(&where->cpus, kernel->allocator);
        if (!added) {
            kernel->no_memory = true;
            return NULL;
        }
        added->done_device = -1;
    }
    return &where->cpus.items[cpu];
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

void pyro_kthread_name(struct pyro_kernel *kernel, struct pyro_kthread *thread, struct pyro_slice name)
{
    if (!name.ptr || name.len == 0 || pyro_slice_eq(thread->name, name))
        return;
    thread->name = pyro_tracks_text(kernel->tracks, name);
    thread->label = PYRO_SLICE_NULL;
    kernel->no_memory |= !thread->name.ptr;
}

void pyro_kthread_process(struct pyro_kernel *kernel, struct pyro_kthread *thread, int64_t pid)
{
    (void)kernel;
    if (pid <= 0 || thread->pid == pid)
        return;
    thread->pid = pid;
    thread->label = PYRO_SLICE_NULL;
}

/* The name of its process is that of its first thread. */
static struct pyro_slice process_name(const struct pyro_kernel *kernel, const struct pyro_kthread *thread)
{
    const uint64_t *place = pyro_map_get(&kernel->threads, thread_key(thread->host, thread->pid));
    const struct pyro_kthread *first = place ? (const struct pyro_kthread *)(uintptr_t)*place : NULL;
    return first && first->name.ptr ? first->name : thread->name;
}

static struct pyro_slice make_label(struct pyro_kernel *kernel, const struct pyro_kthread *thread)
{
    char text[128];
    int64_t pid = thread->pid > 0 ? thread->pid : thread->tid;
    const struct pyro_task_process *process =
        pyro_task_windows_process(kernel->windows, kernel->hosts.items[thread->host].name, pid);
    bool worker = pyro_map_get(&kernel->workers, thread_key(thread->host, pid)) != NULL;
    struct pyro_slice name = process  ? process->label
                             : worker ? PYRO_SLICE_LITERAL("Python worker")
                                      : process_name(kernel, thread);
    int len = snprintf(text, sizeof(text), "%.*s (%lld)", (int)(name.len < 64 ? name.len : 64),
                       name.ptr ? name.ptr : "", (long long)pid);
    struct pyro_slice made = {text, (size_t)len};
    if (!name.ptr) /* only its number is known */
        made = (struct pyro_slice){text + 1, (size_t)len - 1};
    return pyro_tracks_text(kernel->tracks, made);
}

struct pyro_slice pyro_kthread_label(struct pyro_kernel *kernel, struct pyro_kthread *thread,
                                     const struct pyro_kthread *whose)
{
    if (!thread || thread == whose)
        return PYRO_SLICE_NULL;
    if (thread->pid > 0 && thread->pid == whose->pid && thread->host == whose->host && thread->name.ptr)
        return thread->name;
    if (!thread->label.ptr)
        thread->label = make_label(kernel, thread);
    kernel->no_memory |= !thread->label.ptr;
    return thread->label;
}

bool pyro_kthread_is_python(const struct pyro_kthread *thread)
{
    return thread && pyro_slice_starts_with(thread->name, "python");
}

void pyro_kthread_is_worker(struct pyro_kernel *kernel, struct pyro_kthread *thread)
{
    bool fresh = false;
    if (thread->pid > 0 && !pyro_map_put(&kernel->workers, thread_key(thread->host, thread->pid), &fresh))
        kernel->no_memory = true;
    if (fresh)
        thread->label = PYRO_SLICE_NULL;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool write_thread(struct pyro_kernel *kernel, struct pyro_kthread *thread)
{
    if (thread->row < 0) {
        const struct pyro_task_process *process =
            pyro_task_windows_process(kernel->windows, kernel->hosts.items[thread->host].name, thread->pid);
        const struct pyro_thread_row row = {.parent = process ? process->row : -1,
                                            .clock = -1,
                                            .pid = thread->pid > 0 ? thread->pid : PYRO_NONE,
                                            .tid = thread->tid,
                                            .host = kernel->hosts.items[thread->host].name,
                                            .executor = process ? process->executor : PYRO_SLICE_NULL,
                                            .name = thread->name};
        thread->row = pyro_tracks_add_thread(kernel->tracks, &row);
        if (thread->row < 0)
            return false;
    }
    for (int state = 0; state < PYRO_KERNEL_STATES; state++) {
        const struct pyro_thread_time_row row = {thread->row, (enum pyro_kernel_state)state, thread->sums[state],
                                                 thread->counts[state]};
        if (row.duration_ns > 0 && !pyro_tracks_add_thread_time(kernel->tracks, &row))
            return false;
    }
    return true;
}

bool pyro_kernel_write(struct pyro_kernel *kernel)
{
    bool done = !kernel->no_memory;
    for (size_t i = 0; i < kernel->all.count && done; i++)
        done = write_thread(kernel, kernel->all.items[i]);
    for (int i = 0; i <= pyro_syscall_count() && done; i++) {
        const struct pyro_call_sums *sums = &kernel->calls[i];
        const struct pyro_syscall *call = pyro_syscall(i);
        bool moves = call && (call->class == PYRO_CALL_READ || call->class == PYRO_CALL_WRITE);
        const struct pyro_trace_call_row row = {.name = pyro_slice_from(call ? call->name : "other"),
                                                .count = sums->count,
                                                .duration_ns = sums->duration_ns,
                                                .errors = sums->errors,
                                                .bytes = moves ? sums->bytes : PYRO_NONE};
        done = sums->count == 0 || pyro_tracks_add_trace_call(kernel->tracks, &row);
    }
    return done;
}
