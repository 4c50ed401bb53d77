/* Starting, asking and ending other programs. */
#ifndef PYROMETER_CLI_PROCESSES_H
#define PYROMETER_CLI_PROCESSES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cli_start {
    const char *const *words;       /* the program, looked for on PATH, and its arguments; ends with NULL */
    const char *const *environment; /* "NAME=VALUE" in addition to the own ones; ends with NULL; NULL: none */
    int output;                     /* takes standard output and standard error; -1: the own ones */
    const int *kept;                /* descriptors that it inherits; ends with -1; NULL: none */
    bool apart;   /* in a session of its own: Ctrl-C does not reach it; SIGINT ends it with this process */
    bool tracefs; /* mounts the kernel's tracing files where only it sees them */
};

/* -1: errno says why. The process has no signals blocked. */
pid_t cli_process_start(const struct cli_start *start);
/* Mounts tracefs in a mount namespace of this process alone. False: errno says why. */
bool cli_mount_tracefs(void);
/* Waits at most `ms`; less than 0: without limit. False: it still runs. *ret_status is as waitpid() gives it. */
bool cli_process_wait(pid_t pid, int ms, int *ret_status);
/* An exit status as shells give it. */
int cli_exit_status(int status);
/* What a program prints in at most `ms`; the caller frees it. NULL: it cannot be started, or takes longer.
 * *ret_status may be NULL. */
char *cli_process_output(const struct cli_start *start, int ms, int *ret_status);
/* The path of a program on PATH; the caller frees it. NULL: there is none. */
char *cli_find_program(const char *name);

int64_t cli_monotonic_ns(void);

#endif
