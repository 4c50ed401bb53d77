/* The programs that record while a job runs: perf for the kernel, LTTng for user space. */
#ifndef PYROMETER_CLI_RECORDERS_H
#define PYROMETER_CLI_RECORDERS_H

#include "preparation.h"

#include <stdint.h>
#include <sys/types.h>

/* A time in which the kernel was recorded, on the monotonic clock. */
struct cli_window {
    int64_t from_ns, to_ns; /* to_ns 0: it is open */
};

struct cli_perf {
    pid_t pid; /* 0: it does not run */
    int control, answers, output;
    char said[2048]; /* the end of what it printed */
    size_t said_len;
    bool on, limit_reached;
    struct cli_window *windows;
    size_t window_count, window_capacity;
};

struct cli_perf_options {
    const char *data;   /* the file that it writes */
    uint64_t max_bytes; /* 0: without limit */
    bool snapshots;     /* keeps the newest events in memory until cli_perf_snapshot() */
};

/* Starts perf, which records nothing yet. False: *ret_why says why not; the caller frees it. */
bool cli_perf_start(struct cli_perf *perf, const struct cli_preparation *preparation,
                    const struct cli_perf_options *options, char **ret_why);
/* Switches recording on or off, and waits until it is. */
bool cli_perf_switch(struct cli_perf *perf, bool on);
void cli_perf_snapshot(const struct cli_perf *perf);
/* Reads what it printed. False: it has ended by itself. */
bool cli_perf_look(struct cli_perf *perf);
/* Ends it, and waits until its file is complete. */
void cli_perf_stop(struct cli_perf *perf);
void cli_perf_free(struct cli_perf *perf);

struct cli_lttng {
    pid_t daemon; /* the own session daemon; 0: one that runs already */
    char *lttng, *session;
    char *home; /* "LTTNG_HOME=..." for the job; NULL: unchanged */
    bool recording;
};

/* Starts a session that writes into "ust" of `folder`. False: *ret_why says why not. */
bool cli_lttng_start(struct cli_lttng *lttng, const struct cli_preparation *preparation, const char *folder,
                     char **ret_why);
/* Ends the session, so that its trace is complete. Gives the number of events that it dropped; -1: unknown. */
int64_t cli_lttng_stop(struct cli_lttng *lttng);
void cli_lttng_free(struct cli_lttng *lttng);

#endif
