/* perf record over the whole machine. */
#include "recorders.h"

#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ANSWER_MS = 20000,
    STOP_MS = 120000,
    LOOK_MS = 100,
    BUFFER_KIB = 4096,           /* for each processor */
    SNAPSHOT_KIB = 16384,        /* the same, where the buffer is what is kept */
    ALL_BUFFERS_KIB = 512 * 1024 /* at most, on machines with many processors */
};

/* A power of two, as the kernel wants it. */
static unsigned buffer_kib(bool snapshots)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned kib = snapshots ? SNAPSHOT_KIB : BUFFER_KIB;
    while (processors > 0 && kib > 512 && (unsigned long)processors * kib > ALL_BUFFERS_KIB)
        kib /= 2;
    return kib;
}

/* System calls that never wait and say nothing: of a JVM and of Python they are a third of all. */
static const long quiet_calls[] = {SYS_gettid,       SYS_getpid,         SYS_lseek,     SYS_fstat,
                                   SYS_ioctl,        SYS_getrusage,      SYS_getuid,    SYS_geteuid,
                                   SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_epoll_ctl, SYS_sched_getaffinity};

static bool is_call(const char *event)
{
    return strncmp(event, "raw_syscalls:", strlen("raw_syscalls:")) == 0;
}

/* The tracepoints that are, or are not, system calls, with commas between; empty: none. The caller frees it. */
static char *list_of(const struct cli_words *events, bool calls)
{
    size_t bytes = 1;
    for (size_t i = 0; i < events->count; i++)
        bytes += strlen(events->items[i]) + 1;
    char *list = malloc(bytes), *to = list;
    if (list != NULL)
        *list = '\0';
    for (size_t i = 0; list != NULL && i < events->count; i++) {
        if (is_call(events->items[i]) != calls)
            continue;
        if (to != list)
            *to++ = ',';
        to = stpcpy(to, events->items[i]);
    }
    return list;
}

/* "id!=186&&id!=39..." */
static void add_filter(struct cli_words *words)
{
    char filter[16 * sizeof(quiet_calls) / sizeof(*quiet_calls)];
    size_t len = 0;
    for (size_t i = 0; i < sizeof(quiet_calls) / sizeof(*quiet_calls); i++)
        len += (size_t)snprintf(filter + len, sizeof(filter) - len, "%sid!=%ld", i > 0 ? "&&" : "", quiet_calls[i]);
    cli_words_add_pair(words, "--filter", filter);
}

/* One -e for the tracepoints of each kind: --exclude-perf and --filter are for the last one only. */
static void add_events(struct cli_words *words, const struct cli_words *events, bool calls)
{
    char *list = list_of(events, calls);
    if (list == NULL) {
        words->failed = true;
    } else if (*list != '\0') {
        cli_words_add_pair(words, "-e", list);
        cli_words_add(words, "--exclude-perf");
        if (calls)
            add_filter(words);
    }
    free(list);
}

static void add_words(struct cli_words *words, const struct cli_preparation *preparation,
                      const struct cli_perf_options *options, int control, int answers)
{
    cli_words_add(words, preparation->perf);
    cli_words_add(words, "record");
    cli_words_add(words, "-a");
    cli_words_add_pair(words, "-k", "CLOCK_MONOTONIC"); /* that of the records of tasks */
    cli_words_add(words, "-m");
    cli_words_addf(words, "%uK", buffer_kib(options->snapshots));
    cli_words_add(words, "-B");
    cli_words_add(words, "-N");
    add_events(words, &preparation->events, false);
    add_events(words, &preparation->events, true);
    cli_words_add_pair(words, "-D", "-1");
    cli_words_add(words, "--control");
    cli_words_addf(words, "fd:%d,%d", control, answers);
    cli_words_add_pair(words, "-o", options->data);
    if (options->snapshots) {
        cli_words_add(words, "--overwrite");
        cli_words_add(words, "--switch-output=signal");
    } else if (options->max_bytes > 0) {
        cli_words_addf(words, "--max-size=%lluK", (unsigned long long)(options->max_bytes / 1024));
    }
}

/* Three pipes: [0] and [1] control, [2] and [3] answers, [4] and [5] output. */
static bool open_pipes(int *ends)
{
    for (int i = 0; i < 6; i += 2) {
        if (pipe2(ends + i, O_CLOEXEC) != 0) {
            while (i-- > 0)
                close(ends[i]);
            return false;
        }
    }
    return true;
}

static bool start_process(struct cli_perf *perf, const struct cli_preparation *preparation,
                          const struct cli_perf_options *options)
{
    int ends[6];
    struct cli_words words = {0};
    if (!open_pipes(ends))
        return false;
    add_words(&words, preparation, options, ends[0], ends[3]);
    /* It has the other ends, too: when this process is killed, perf would end without completing its file. */
    const int kept[] = {ends[0], ends[3], ends[1], ends[2], -1};
    const struct cli_start start = {.words = (const char *const *)words.items,
                                    .output = ends[5],
                                    .kept = kept,
                                    .apart = true,
                                    .tracefs = preparation->mount};
    errno = ENOMEM;
    pid_t pid = words.failed ? -1 : cli_process_start(&start);
    int error = errno;
    cli_words_free(&words);
    close(ends[0]);
    close(ends[3]);
    close(ends[5]);
    *perf = (struct cli_perf){.pid = pid > 0 ? pid : 0, .control = ends[1], .answers = ends[2], .output = ends[4]};
    fcntl(perf->output, F_SETFL, O_NONBLOCK);
    errno = error;
    return pid > 0;
}

/* Keeps the end of what it prints. */
static void take_output(struct cli_perf *perf)
{
    char part[512];
    ssize_t got;
    while ((got = read(perf->output, part, sizeof(part))) > 0) {
        size_t len = (size_t)got, room = sizeof(perf->said) - 1;
        size_t keep = perf->said_len + len > room ? room - len : perf->said_len;
        memmove(perf->said, perf->said + perf->said_len - keep, keep);
        memcpy(perf->said + keep, part, len);
        perf->said_len = keep + len;
        perf->said[perf->said_len] = '\0';
        if (strstr(perf->said, "size limit reached") != NULL)
            perf->limit_reached = true;
    }
}

bool cli_perf_look(struct cli_perf *perf)
{
    int status;
    if (perf->pid == 0)
        return false;
    take_output(perf);
    if (!cli_process_wait(perf->pid, 0, &status))
        return true;
    take_output(perf);
    perf->pid = 0;
    return false;
}

static void open_window(struct cli_perf *perf)
{
    if (perf->window_count == perf->window_capacity) {
        size_t capacity = perf->window_capacity == 0 ? 16 : 2 * perf->window_capacity;
        struct cli_window *windows = realloc(perf->windows, capacity * sizeof(*windows));
        if (windows == NULL)
            return;
        perf->windows = windows;
        perf->window_capacity = capacity;
    }
    perf->windows[perf->window_count++] = (struct cli_window){.from_ns = cli_monotonic_ns()};
}

static void close_window(struct cli_perf *perf)
{
    if (perf->window_count > 0 && perf->windows[perf->window_count - 1].to_ns == 0)
        perf->windows[perf->window_count - 1].to_ns = cli_monotonic_ns();
}

/* False: it ended, or does not answer. */
static bool await_answer(struct cli_perf *perf)
{
    int64_t until = cli_monotonic_ns() + (int64_t)ANSWER_MS * 1000000;
    char answer[64];
    while (cli_monotonic_ns() < until) {
        struct pollfd waits = {.fd = perf->answers, .events = POLLIN};
        if (poll(&waits, 1, LOOK_MS) > 0)
            return read(perf->answers, answer, sizeof(answer)) > 0;
        if (!cli_perf_look(perf))
            return false;
    }
    return false;
}

bool cli_perf_switch(struct cli_perf *perf, bool on)
{
    static const char enable[] = "enable\n", disable[] = "disable\n";
    if (perf->pid == 0 || perf->on == on)
        return perf->pid != 0;
    if (!on)
        close_window(perf);
    const char *word = on ? enable : disable;
    if (write(perf->control, word, strlen(word)) < 0 || !await_answer(perf))
        return false;
    if (on)
        open_window(perf);
    perf->on = on;
    return true;
}

/* The last line of what it printed that says something. */
static char *last_words(struct cli_perf *perf)
{
    char *end = perf->said + perf->said_len;
    while (end > perf->said && strchr(" \t\r\n", end[-1]) != NULL)
        *--end = '\0';
    char *line = strrchr(perf->said, '\n');
    line = line != NULL ? line + 1 : perf->said;
    return line[0] != '\0' ? cli_format("perf cannot record: %s", line) : strdup("perf does not answer");
}

bool cli_perf_start(struct cli_perf *perf, const struct cli_preparation *preparation,
                    const struct cli_perf_options *options, char **ret_why)
{
    if (!start_process(perf, preparation, options)) {
        *ret_why = cli_format("cannot start %s: %s", preparation->perf, strerror(errno));
        return false;
    }
    if (cli_perf_switch(perf, true))
        return true;
    *ret_why = last_words(perf);
    cli_perf_stop(perf);
    return false;
}

void cli_perf_snapshot(const struct cli_perf *perf)
{
    if (perf->pid > 0)
        kill(perf->pid, SIGUSR2);
}

void cli_perf_stop(struct cli_perf *perf)
{
    int64_t until = cli_monotonic_ns() + (int64_t)STOP_MS * 1000000;
    if (perf->pid > 0)
        kill(perf->pid, SIGINT);
    close_window(perf);
    while (cli_perf_look(perf) && cli_monotonic_ns() < until)
        poll(NULL, 0, LOOK_MS / 5);
    if (perf->pid > 0) {
        int status;
        kill(perf->pid, SIGKILL);
        cli_process_wait(perf->pid, -1, &status);
        perf->pid = 0;
    }
}

void cli_perf_free(struct cli_perf *perf)
{
    if (perf->control > 0) {
        close(perf->control);
        close(perf->answers);
        close(perf->output);
    }
    free(perf->windows);
    *perf = (struct cli_perf){0};
}
