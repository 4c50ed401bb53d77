/* Threads of traced machines, and what each did at each moment: run-length spans of kernel_states.def, exhaustive and
 * exclusive from the beginning of the trace.
 *
 *     events in the order of their times -> kernel_events.c -> transitions (kernel_states.c) -> spans that ended
 *         -> sums by thread, and accounts of the tasks that the thread had (kernel_accounts.c)
 *
 * Why a thread waited is found from the system call that it was in, from what it returned and from who woke it
 * (kernel_waits.c). Memory: threads, their newest spans, and the accounts of tasks that run. */
#ifndef PYRO_DECODE_TRACE_KERNEL_H
#define PYRO_DECODE_TRACE_KERNEL_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "decode/trace/syscalls.h"
#include "decode/trace/task_windows.h"
#include "model/tracks/tracks.h"

enum {
    PYRO_KTHREAD_RECENT = 48,        /* newest spans that are kept of each thread */
    PYRO_KTHREADS_MAX = 1 << 17,     /* further ones are not followed */
    PYRO_KERNEL_CPUS_MAX = 8192,     /* of one host */
    PYRO_KERNEL_DEVICES_MAX = 256,   /* of all hosts */
    PYRO_DEVICE_RECENT = 128,        /* newest requests of a device that have ended */
    PYRO_DEVICE_PENDING_MAX = 4096,  /* requests of a device that have not */
    PYRO_ACCOUNT_ROWS_MAX = 64,      /* parts of a task's time; the rest is put together */
    PYRO_THROTTLED_NS_MIN = 1000000, /* an idle processor takes a thread that can run at once; not after this long */
};

/* What a span is about: row of syscalls.def (>= 0), or the device -2 - number; PYRO_ABOUT_NOTHING. */
#define PYRO_ABOUT_NOTHING        (-1)
#define PYRO_ABOUT_DEVICE(device) (-2 - (device))

struct pyro_kthread;

struct pyro_kspan {
    int64_t from_ns, until_ns;
    enum pyro_kernel_state state;
    int about;
    struct pyro_kthread *by; /* who ran on the processor, or ended the wait; NULL: no one, not known, an interrupt */
    /* Of a recent span that the thread did not wait in: how much of it was in the kernel, and how long it could run
     * while others did; `by` is who did so longest at once. */
    int64_t system_ns, runnable_ns, longest_ns;
};

/* A wait whose reason may still become clear when the system call returns. */
struct pyro_kwait {
    bool open;
    bool deep; /* it could not be interrupted (state D) */
    int64_t from_ns, until_ns;
    struct pyro_kthread *by;
    int device;   /* whose request had just ended; -1: none */
    bool faulted; /* it touched a page that was not there */
};

struct pyro_kthread {
    int64_t tid, pid; /* pid -1: not known */
    int32_t host;
    struct pyro_slice name; /* in the tracks' pool; null: not known */
    int32_t row;            /* of the tracks' threads; -1: none yet */
    int32_t cpu;            /* it runs on, waits for, or was last on; -1 */
    enum pyro_kernel_state state;
    bool blocked, deep; /* it waits; its state is found when that ends */
    bool queued;        /* one of its processor's waiters */
    bool in_call, ended;
    bool faulted;       /* the newest that it did was to touch a page that is not there */
    int call;           /* the system call that it is in; -1: one without a row, or none */
    int64_t descriptor; /* first argument of that */
    int64_t called_ns;  /* begin of its newest call; 0: none was seen, as of threads of the kernel */
    int64_t since_ns;   /* begin of its state */
    struct pyro_kwait wait;
    /* Who is waking it, and the device whose request had just ended there: the wakeup itself may come on another
     * processor, by an interrupt. */
    bool waking;
    struct pyro_kthread *waking_by;
    int waking_device;
    int64_t waking_ns;
    struct pyro_kthread *next_waiter;
    struct pyro_kspan recent[PYRO_KTHREAD_RECENT];
    unsigned recent_at;
    int64_t sums[PYRO_KERNEL_STATES], counts[PYRO_KERNEL_STATES];
    struct pyro_slice label;                /* as others name it; null: not made yet */
    const struct pyro_task_window *windows; /* the tasks that it had, by time */
    size_t window_count, window_at;
    struct pyro_task_account *account; /* of windows[window_at]; NULL: none yet */
};

struct pyro_kcpu {
    struct pyro_kthread *current; /* NULL: idle, or not known */
    bool known;
    struct pyro_kthread *waiters;
    int done_device; /* whose request ended last here; -1 */
    int64_t done_ns;
};

struct pyro_khost {
    struct pyro_slice name;
    PYRO_VEC(struct pyro_kcpu) cpus;
};

struct pyro_krequest {
    int64_t sector, from_ns, until_ns, bytes;
    struct pyro_kthread *issuer;
};

struct pyro_kdevice {
    int32_t host;
    int64_t number;
    struct pyro_slice name; /* "253:0" */
    PYRO_VEC(struct pyro_krequest) pending;
    struct pyro_krequest recent[PYRO_DEVICE_RECENT];
    unsigned recent_at;
};

struct pyro_call_sums {
    int64_t count, errors, duration_ns, bytes;
};

struct pyro_kloss {
    int32_t host;
    int64_t from_ns, until_ns;
};

struct pyro_kernel {
    const struct pyro_allocator *allocator;
    struct pyro_tracks *tracks;
    struct pyro_arena arena; /* threads */
    struct pyro_map threads; /* host << 40 ^ tid -> address of the newest thread with that id */
    PYRO_VEC(struct pyro_kthread *) all;
    PYRO_VEC(struct pyro_khost) hosts;
    PYRO_VEC(struct pyro_kdevice) devices;
    struct pyro_map descriptors; /* of a process -> enum pyro_descriptor */
    struct pyro_map workers;     /* host << 40 ^ process -> 1: a Python worker that a task waited for */
    struct pyro_task_windows *windows;
    PYRO_VEC(struct pyro_kloss) losses;
    struct pyro_call_sums *calls; /* by row of syscalls.def, then one for all others */
    bool has_calls;               /* system calls were recorded */
    bool has_faults;              /* page faults were */
    int64_t first_ns, last_ns;    /* of the trace; first PYRO_NONE: no event yet */
    int64_t unmatched;            /* system calls whose begin or end is missing */
    int64_t migrations;
    bool no_memory;
};

/* kernel_threads.c */
void pyro_kernel_begin(struct pyro_kernel *kernel, struct pyro_tracks *tracks, struct pyro_task_windows *windows,
                       const struct pyro_allocator *allocator);
void pyro_kernel_done(struct pyro_kernel *kernel);
int32_t pyro_kernel_host(struct pyro_kernel *kernel, struct pyro_slice name); /* -1: no memory */
/* NULL: no memory, or too many. `tid` 0 is the idle thread, which is none. */
struct pyro_kthread *pyro_kernel_thread(struct pyro_kernel *kernel, int32_t host, int64_t tid);
/* Whether no other thread has got its id since. */
bool pyro_kernel_is_newest(const struct pyro_kernel *kernel, const struct pyro_kthread *thread);
struct pyro_kcpu *pyro_kernel_cpu(struct pyro_kernel *kernel, int32_t host, int64_t cpu); /* NULL: no memory, or none */
void pyro_kthread_name(struct pyro_kernel *kernel, struct pyro_kthread *thread, struct pyro_slice name);
void pyro_kthread_process(struct pyro_kernel *kernel, struct pyro_kthread *thread, int64_t pid);
/* As the account of `whose` names it: a thread of the same process by its name, others by their process. */
struct pyro_slice pyro_kthread_label(struct pyro_kernel *kernel, struct pyro_kthread *thread,
                                     const struct pyro_kthread *whose);
bool pyro_kthread_is_python(const struct pyro_kthread *thread);
/* A task waited for it: its process is a Python worker of the application. */
void pyro_kthread_is_worker(struct pyro_kernel *kernel, struct pyro_kthread *thread);

/* kernel_states.c: all at a time that does not go back. */
void pyro_kernel_switch(struct pyro_kernel *kernel, struct pyro_kcpu *cpu, int32_t number, struct pyro_kthread *prev,
                        int64_t prev_state, struct pyro_kthread *next, int64_t time_ns);
void pyro_kernel_waking(struct pyro_kernel *kernel, const struct pyro_kcpu *cpu, struct pyro_kthread *thread,
                        int64_t time_ns);
void pyro_kernel_wake(struct pyro_kernel *kernel, struct pyro_kcpu *cpu, struct pyro_kthread *thread, int64_t target,
                      int64_t time_ns);
void pyro_kernel_migrate(struct pyro_kernel *kernel, struct pyro_kthread *thread, int64_t target, int64_t time_ns);
void pyro_kernel_enter_call(struct pyro_kernel *kernel, struct pyro_kthread *thread, int call, int64_t descriptor,
                            int64_t time_ns);
void pyro_kernel_leave_call(struct pyro_kernel *kernel, struct pyro_kthread *thread, int call, int64_t ret,
                            int64_t time_ns);
/* Of the thread that an event came from, where it is not the one that was known. */
void pyro_kernel_runs(struct pyro_kernel *kernel, struct pyro_kcpu *cpu, int32_t number, struct pyro_kthread *thread,
                      int64_t time_ns);
/* Nothing is known of the host's threads until they are seen again. */
void pyro_kernel_lost(struct pyro_kernel *kernel, int32_t host, int64_t from_ns, int64_t until_ns);
void pyro_kernel_end(struct pyro_kernel *kernel);

/* kernel_waits.c */
enum pyro_descriptor { PYRO_DESCRIPTOR_UNKNOWN, PYRO_DESCRIPTOR_FILE, PYRO_DESCRIPTOR_SOCKET, PYRO_DESCRIPTOR_PIPE };
void pyro_kernel_note_descriptor(struct pyro_kernel *kernel, const struct pyro_kthread *thread, int64_t descriptor,
                                 enum pyro_descriptor kind);
/* Ends the open wait of a thread, if there is one. `ret`: what the call returned; PYRO_NONE: not known. */
void pyro_kwait_resolve(struct pyro_kernel *kernel, struct pyro_kthread *thread, int64_t ret);

/* block_devices.c */
void pyro_device_issue(struct pyro_kernel *kernel, int32_t host, int64_t number, const struct pyro_krequest *request);
void pyro_device_complete(struct pyro_kernel *kernel, int32_t host, struct pyro_kcpu *cpu, int64_t number,
                          int64_t sector, int64_t time_ns);
/* Whose requests kept the device busy most of the time; NULL: of no one. *device may be -1: any of the host. */
struct pyro_kthread *pyro_device_busy(struct pyro_kernel *kernel, int32_t host, int *device, int64_t from_ns,
                                      int64_t until_ns);

/* kernel_accounts.c */
/* Takes a span that has ended. */
void pyro_kernel_take(struct pyro_kernel *kernel, struct pyro_kthread *thread, const struct pyro_kspan *span);
/* A system call of the thread ended. bytes PYRO_NONE: it neither reads nor writes. */
void pyro_kernel_count_call(struct pyro_kernel *kernel, struct pyro_kthread *thread, int call, int64_t bytes,
                            int64_t time_ns);
/* Adds to the account of the task that is open. */
void pyro_account_add(struct pyro_kernel *kernel, struct pyro_kthread *thread, enum pyro_kernel_state state,
                      enum pyro_kernel_state root, int about, struct pyro_slice by, int64_t duration_ns);
void pyro_accounts_end(struct pyro_kernel *kernel);
/* kernel_waits.c: spreads a wait over what the one who ended it did meanwhile, and so on. */
void pyro_kwait_blame(struct pyro_kernel *kernel, struct pyro_kthread *thread, const struct pyro_kspan *span);
/* Text of `about`; null: nothing. */
struct pyro_slice pyro_kernel_about(const struct pyro_kernel *kernel, int about);

/* Writes the rows of all threads, calls and losses. False: no memory. */
bool pyro_kernel_write(struct pyro_kernel *kernel);

#endif
