#include "conversion.h"

#include "perf_data.h"
#include "processes.h"
#include "result_output.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50, LARGE_BYTES = 256 << 20 };

static int is_data(const struct dirent *entry)
{
    return strncmp(entry->d_name, "perf.data", 9) == 0;
}

/* Files of perf in the recording: one, or one for each snapshot, whose names are their times. */
static struct dirent **find_data(const char *folder, int *ret_count)
{
    struct dirent **found = NULL;
    *ret_count = scandir(folder, &found, is_data, alphasort);
    return *ret_count > 0 ? found : NULL;
}

/* A trace that lacks its end would be taken for a complete one. */
static void remove_trace(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

/* Whether Ctrl-C asked to stop; waits a while for it. */
static bool is_stopped(void)
{
    const struct timespec wait = {.tv_nsec = LOOK_MS * 1000000L};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    return sigtimedwait(&signals, NULL, &wait) > 0;
}

/* False: it failed, or was stopped. */
static bool convert(const char *perf, const char *data, const char *trace, bool *ret_stopped)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), status = 0;
    char *to = cli_format("--to-ctf=%s", trace);
    const char *const words[] = {perf, "data", "convert", "--force", to, "-i", data, NULL};
    const struct cli_start start = {.words = words, .output = nowhere, .apart = true};
    pid_t pid = to != NULL ? cli_process_start(&start) : -1;
    while (pid > 0 && !cli_process_wait(pid, 0, &status)) {
        if (is_stopped()) {
            *ret_stopped = true;
            kill(pid, SIGKILL);
        }
    }
    if (nowhere >= 0)
        close(nowhere);
    free(to);
    return pid > 0 && cli_exit_status(status) == 0;
}

static void count_lost(struct cli_recording *recording, const char *data)
{
    uint64_t lost = 0;
    if (cli_perf_lost(data, &lost))
        recording->kernel_dropped = (recording->kernel_dropped > 0 ? recording->kernel_dropped : 0) + (int64_t)lost;
}

/* `name` is of the trace, in the recording. */
static void convert_one(struct cli_recording *recording, const char *data_name, const char *name, bool *stopped)
{
    char *data = cli_format("%s/%s", recording->folder, data_name);
    char *trace = cli_format("%s/%s", recording->folder, name);
    if (data != NULL && trace != NULL) {
        count_lost(recording, data);
        if (!*stopped && convert(recording->preparation->perf, data, trace, stopped)) {
            cli_words_add(&recording->traces, name);
            unlink(data);
        } else {
            remove_trace(trace);
            cli_words_add(&recording->unconverted, data_name);
            cli_complain("the kernel's trace stays in perf's own form; to convert it: perf data convert --force "
                         "--to-ctf=%s -i %s",
                         trace, data);
        }
    }
    free(trace);
    free(data);
}

/* A million events take perf some ten seconds. */
static void say_size(const struct cli_recording *recording, struct dirent *const *found, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += cli_recording_bytes(recording, found[i]->d_name);
    if (bytes > LARGE_BYTES)
        cli_complain("converting %llu MiB of the kernel's trace; Ctrl-C leaves them in perf's own form",
                     (unsigned long long)(bytes >> 20));
}

void cli_convert(struct cli_recording *recording)
{
    int count = 0;
    bool stopped = false;
    struct dirent **found = find_data(recording->folder, &count);
    say_size(recording, found, count);
    for (int i = 0; i < count; i++) {
        char *name = recording->slow_ms > 0 ? cli_format("kernel/%03d", i + 1) : strdup("kernel");
        if (name != NULL)
            convert_one(recording, found[i]->d_name, name, &stopped);
        free(name);
        free(found[i]);
    }
    free(found);
}
