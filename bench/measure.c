/* Runs a command and writes what it cost into a file, as one line of JSON:
 *
 *     measure RESULT_FILE SAMPLE_MICROSECONDS COMMAND ARGUMENT...
 *
 * wall, user and system seconds, the peak of resident memory, and, unless SAMPLE_MICROSECONDS is 0, the peak of
 * anonymous memory as /proc shows it. It is a program of its own because a child's peak counts the memory of its
 * parent: this one has almost none. The exit status is the command's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* The process's anonymous memory now, in KiB; 0 when it has ended. */
static long anonymous_kib(const char *status_path)
{
    FILE *file = fopen(status_path, "r");
    if (!file) {
        return 0;
    }
    char line[256];
    long kib = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "RssAnon: %ld", &kib) == 1) {
            break;
        }
    }
    fclose(file);
    return kib;
}

/* Waits for the child's end; returns its peak of anonymous memory. */
static long watch(pid_t child, long sample_us, int *status, struct rusage *usage)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
    const struct timespec pause = {sample_us / 1000000, sample_us % 1000000 * 1000};
    long peak = 0;
    for (;;) {
        pid_t ended = wait4(child, status, sample_us > 0 ? WNOHANG : 0, usage);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            return peak;
        }
        long now = anonymous_kib(path);
        peak = now > peak ? now : peak;
        nanosleep(&pause, NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: measure RESULT_FILE SAMPLE_MICROSECONDS COMMAND ARGUMENT...\n");
        return 2;
    }
    FILE *result = fopen(argv[1], "we");
    if (!result) {
        fprintf(stderr, "measure: cannot write %s: %s\n", argv[1], strerror(errno));
        return 4;
    }
    double begin = seconds_now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[3], argv + 3);
        fprintf(stderr, "measure: cannot run %s: %s\n", argv[3], strerror(errno));
        _exit(127);
    }
    int status = -1;
    struct rusage usage = {0};
    long anonymous = child < 0 ? 0 : watch(child, strtol(argv[2], NULL, 10), &status, &usage);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    fprintf(result, "{\"status\":%d,\"wall_s\":%.6f,\"user_s\":%.6f,\"system_s\":%.6f,", code, seconds_now() - begin,
            seconds_of(usage.ru_utime), seconds_of(usage.ru_stime));
    fprintf(result, "\"peak_kib\":%ld,\"anonymous_kib\":%ld}\n", usage.ru_maxrss, anonymous);
    return fclose(result) == 0 ? code : 4;
}
