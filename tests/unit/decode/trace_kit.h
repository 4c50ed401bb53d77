/* Traces of the kernel written in C: events of a host, in the order of their times. Times are nanoseconds after the
 * first event. */
#ifndef PYRO_TEST_DECODE_TRACE_KIT_H
#define PYRO_TEST_DECODE_TRACE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/trace/kernel.h"
#include "model/column.h"

/* TASK is a thread of executor 1 (process EXECUTOR), HELPER and COLLECTOR two others of it; the rest are processes. */
enum { IDLE = 0, EXECUTOR = 10, TASK = 11, HELPER = 12, COLLECTOR = 13, PYTHON = 77, STRESS = 99, OTHER = 98 };
/* What sched_switch says of the thread that leaves. */
enum { RUNS = 0, SLEEPS = 1, DEEP = 2, STOPS = 4, DIES = 0x10, PREEMPTED = 0x100 };
enum { DISK_A = 253 << 20, DISK_B = (253 << 20) + 1, MS = 1000000 };

struct trace {
    struct pyro_kernel kernel;
    struct pyro_tracks *tracks;
    struct pyro_task_windows windows;
    int32_t host;
};

void trace_new(struct trace *trace);
/* A task that the thread TASK had; all before the first event. */
void trace_task(struct trace *trace, int64_t task, int64_t start, int64_t end);
/* The first event is at 0, and names the threads above. */
void trace_start(struct trace *trace);
void trace_at(struct trace *trace, int64_t time);
struct pyro_kthread *trace_thread(struct trace *trace, int64_t tid);
void trace_name(struct trace *trace, int64_t tid, int64_t pid, const char *name);
void trace_switch(struct trace *trace, int32_t cpu, int64_t prev, int64_t state, int64_t next, int64_t time);
void trace_waking(struct trace *trace, int32_t on, int64_t tid, int64_t time);
void trace_wake(struct trace *trace, int32_t on, int64_t tid, int64_t target, int64_t time);
void trace_enter(struct trace *trace, int64_t tid, const char *call, int64_t descriptor, int64_t time);
void trace_leave(struct trace *trace, int64_t tid, int64_t ret, int64_t time);
void trace_issue(struct trace *trace, int64_t device, int64_t sector, int64_t tid, int64_t time);
void trace_complete(struct trace *trace, int32_t cpu, int64_t device, int64_t sector, int64_t time);
/* A task thread that waits in a call: enters it, leaves the processor 0, is woken from `on`, runs on, leaves it. */
void trace_wait(struct trace *trace, const char *call, int64_t descriptor, int64_t state, int32_t on, int64_t ret,
                int64_t from, int64_t until);
/* Ends the trace. Asserts that all states of each thread add up to the whole time. */
void trace_end(struct trace *trace, int64_t time);
void trace_done(struct trace *trace);

/* Of all threads with that number. */
int64_t trace_sum(const struct trace *trace, int64_t tid, enum pyro_kernel_state state);
/* Of a task: rows of this kind; NULL: of any `what`, or any `by`; "": of none. */
int64_t trace_account(const struct trace *trace, int64_t task, enum pyro_kernel_state state,
                      enum pyro_kernel_state root, const char *what, const char *by);
/* All rows of a task. */
int64_t trace_whole(const struct trace *trace, int64_t task);

#endif
