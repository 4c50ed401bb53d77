#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 1 << 16, LOOK_MS = 20 };

int64_t cli_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool cli_mount_tracefs(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tracefs", "/sys/kernel/tracing", "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* Between fork() and exec(). */
static void prepare_child(const struct cli_start *start)
{
    sigset_t none;
    sigemptyset(&none);
    /* Which the command itself ignores. A recorder whose reader was killed has to complete its file. */
    signal(SIGPIPE, start->apart ? SIG_IGN : SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (start->apart) {
        setsid();
        prctl(PR_SET_PDEATHSIG, SIGINT);
    }
    if (start->output >= 0) {
        dup2(start->output, STDOUT_FILENO);
        dup2(start->output, STDERR_FILENO);
    }
    for (const int *kept = start->kept; kept != NULL && *kept >= 0; kept++)
        fcntl(*kept, F_SETFD, 0);
    for (const char *const *each = start->environment; each != NULL && *each != NULL; each++)
        putenv((char *)(uintptr_t)*each); /* which lives as long as this process */
    sigprocmask(SIG_SETMASK, &none, NULL);
}

pid_t cli_process_start(const struct cli_start *start)
{
    int failure[2], error = 0;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        prepare_child(start);
        if (!start->tracefs || cli_mount_tracefs())
            execvp(start->words[0], (char *const *)(uintptr_t)start->words); /* which it only reads */
        error = errno;
        ssize_t written = write(failure[1], &error, sizeof(error));
        _exit(written == sizeof(error) ? 127 : 126);
    }
    error = pid < 0 ? errno : 0;
    close(failure[1]);
    while (pid > 0 && read(failure[0], &error, sizeof(error)) < 0 && errno == EINTR)
        ;
    close(failure[0]);
    if (pid > 0 && error != 0) {
        int status;
        cli_process_wait(pid, -1, &status);
        pid = -1;
    }
    errno = error;
    return pid;
}

bool cli_process_wait(pid_t pid, int ms, int *ret_status)
{
    int64_t until = cli_monotonic_ns() + (int64_t)ms * 1000000;
    for (;;) {
        pid_t ended = waitpid(pid, ret_status, ms < 0 ? 0 : WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return true;
        if (ms >= 0 && cli_monotonic_ns() >= until)
            return false;
        if (ms >= 0)
            poll(NULL, 0, LOOK_MS);
    }
}

int cli_exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Until the other end is closed; what is more than the buffer takes is lost. False: not within the time. */
static bool read_all(int descriptor, char *buffer, int64_t until_ns)
{
    char rest[4096];
    size_t len = 0;
    buffer[0] = '\0';
    for (;;) {
        int64_t left_ms = (until_ns - cli_monotonic_ns()) / 1000000;
        struct pollfd waits = {.fd = descriptor, .events = POLLIN};
        if (left_ms <= 0)
            return false;
        if (poll(&waits, 1, (int)left_ms) <= 0)
            continue;
        bool full = len + 1 >= OUTPUT_BYTES;
        ssize_t got =
            full ? read(descriptor, rest, sizeof(rest)) : read(descriptor, buffer + len, OUTPUT_BYTES - len - 1);
        if (got == 0 || (got < 0 && errno != EINTR))
            return got == 0;
        if (got > 0 && !full)
            len += (size_t)got;
        buffer[len] = '\0';
    }
}

char *cli_process_output(const struct cli_start *start, int ms, int *ret_status)
{
    int ends[2], status = 0;
    char *buffer = malloc(OUTPUT_BYTES);
    if (buffer == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        free(buffer);
        return NULL;
    }
    struct cli_start with_output = *start;
    with_output.output = ends[1];
    int64_t until_ns = cli_monotonic_ns() + (int64_t)ms * 1000000;
    pid_t pid = cli_process_start(&with_output);
    close(ends[1]);
    bool done = pid > 0 && read_all(ends[0], buffer, until_ns);
    close(ends[0]);
    if (pid > 0 && !done)
        kill(pid, SIGKILL);
    if (pid > 0)
        cli_process_wait(pid, -1, &status);
    if (ret_status != NULL)
        *ret_status = status;
    if (!done) {
        free(buffer);
        return NULL;
    }
    return buffer;
}

char *cli_find_program(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path != NULL ? path : "/usr/bin:/bin"; *at != '\0';) {
        size_t len = strcspn(at, ":");
        char *file = NULL;
        if (len > 0 && asprintf(&file, "%.*s/%s", (int)len, at, name) >= 0 && access(file, X_OK) == 0)
            return file;
        free(len > 0 ? file : NULL);
        at += len + (at[len] == ':');
    }
    return NULL;
}
