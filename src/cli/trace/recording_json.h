/* recording.json: what a recording holds and how it was made. */
#ifndef PYROMETER_CLI_RECORDING_JSON_H
#define PYROMETER_CLI_RECORDING_JSON_H

#include "recorders.h"
#include "task_watch.h"

/* One moment on two clocks. */
struct cli_clocks {
    int64_t monotonic_ns, utc_ns;
};

/* Where perf wrote what it had kept, and because of which task. */
struct cli_snapshot {
    int64_t monotonic_ns;
    struct cli_slow_task task;
};

enum { CLI_SNAPSHOTS_MAX = 256 };

struct cli_recording {
    const char *folder;
    const char *const *command; /* as it was given */
    size_t command_count;
    pid_t attached;         /* 0: to nothing */
    const char *mode_asked; /* NULL: none was */
    bool user, kernel;      /* what is recorded */
    const struct cli_preparation *preparation;
    const struct cli_perf *perf;
    int64_t slow_ms, duty_on_ms, duty_every_ms; /* 0: not asked for */
    uint64_t max_bytes;
    struct cli_clocks started, ended;
    bool has_ended;
    int status;                   /* of the job, as waitpid() gives it; -1: none */
    struct cli_words traces;      /* folders of the kernel's traces, relative to the recording */
    struct cli_words unconverted; /* files of perf that could not be converted */
    struct cli_snapshot snapshots[CLI_SNAPSHOTS_MAX];
    size_t snapshot_count;
    size_t task_files;
    int64_t kernel_dropped, tasks_dropped, lttng_dropped; /* -1: unknown */
};

/* Reads both clocks, the one between two readings of the other. */
struct cli_clocks cli_read_clocks(void);
/* Bytes of all files below a folder of the recording. */
uint64_t cli_recording_bytes(const struct cli_recording *recording, const char *name);
/* Writes recording.json. CLI_EXIT_OK, or the exit status after a complaint. */
int cli_recording_write(const struct cli_recording *recording);

#endif
