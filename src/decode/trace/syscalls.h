/* System calls by number and name, and what a thread waits for in them: rows of syscalls.def. */
#ifndef PYRO_DECODE_TRACE_SYSCALLS_H
#define PYRO_DECODE_TRACE_SYSCALLS_H

#include <stdint.h>

#include "base/strings/slice.h"

enum pyro_syscall_class {
    PYRO_CALL_OTHER,
    PYRO_CALL_READ,    /* fd: a file, a socket or a pipe */
    PYRO_CALL_WRITE,   /* fd */
    PYRO_CALL_FILE,    /* on files only */
    PYRO_CALL_OPEN,    /* returns the descriptor of a file */
    PYRO_CALL_CLOSE,   /* fd */
    PYRO_CALL_SOCKET,  /* returns the descriptor of a socket */
    PYRO_CALL_ACCEPT,  /* waits for a peer, and returns its socket */
    PYRO_CALL_NETWORK, /* on sockets only */
    PYRO_CALL_POLL,    /* waits for any of several descriptors */
    PYRO_CALL_FUTEX,
    PYRO_CALL_LOCK, /* of files, semaphores */
    PYRO_CALL_SLEEP,
    PYRO_CALL_MEMORY, /* changes the address space or the process */
    PYRO_CALL_PIPES,
    PYRO_CALL_CHILD /* waits for a child or a signal */
};

enum pyro_machine { PYRO_MACHINE_X86_64, PYRO_MACHINE_AARCH64 };

enum { PYRO_SYSCALLS_MAX = 512 };

struct pyro_syscall {
    const char *name;
    int number[2]; /* by enum pyro_machine */
    enum pyro_syscall_class class;
};

/* Row of the table; -1: it is not in it. */
int pyro_syscall_by_number(enum pyro_machine machine, int64_t number);
int pyro_syscall_by_name(struct pyro_slice name);
const struct pyro_syscall *pyro_syscall(int row);
int pyro_syscall_count(void);

#endif
