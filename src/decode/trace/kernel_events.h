/* Events of traces, by name, to what they mean for threads: rows of trace_events.def. */
#ifndef PYRO_DECODE_TRACE_KERNEL_EVENTS_H
#define PYRO_DECODE_TRACE_KERNEL_EVENTS_H

#include "decode/trace/ctf/ctf.h"
#include "decode/trace/kernel.h"

struct pyro_kernel_events {
    struct pyro_kernel *kernel;
    PYRO_VEC(int32_t) host_of;            /* by number of the trace: its host */
    int16_t by_number[PYRO_SYSCALLS_MAX]; /* number of a system call -> row of syscalls.def, -1 */
};

void pyro_kernel_events_init(struct pyro_kernel_events *events, struct pyro_kernel *kernel);
/* Whose numbers system calls have; those of x86_64 until then. */
void pyro_kernel_events_machine(struct pyro_kernel_events *events, enum pyro_machine machine);
void pyro_kernel_events_done(struct pyro_kernel_events *events);
/* The host of the trace with the next number. False: no memory. */
bool pyro_kernel_events_host(struct pyro_kernel_events *events, struct pyro_slice name);
/* What is wanted of events with that name. */
struct pyro_ctf_wanted pyro_kernel_events_want(struct pyro_slice name);
/* Whether an event is a message of a program: see logged_events.h. */
bool pyro_kernel_events_is_logged(const struct pyro_ctf_event *event);
/* Takes an event of any other kind that was wanted. */
void pyro_kernel_events_take(struct pyro_kernel_events *events, const struct pyro_ctf_event *event);

#endif
