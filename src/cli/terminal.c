/* Colors, width, progress and Ctrl-C. */
#include "terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0;
}

bool cli_wants_color(const struct cli_output *output, const char *choice)
{
    if (strcmp(choice, "auto") != 0)
        return strcmp(choice, "always") == 0;
    const char *no_color = getenv("NO_COLOR");
    return output->is_terminal && !is_dumb() && (no_color == NULL || no_color[0] == '\0');
}

static unsigned columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

unsigned cli_text_width(const struct cli_output *output)
{
    unsigned width = output->is_terminal ? columns(output->fd) : 0;
    return width < 80 ? 80 : width > 120 ? 120 : width;
}

static volatile sig_atomic_t stop_signal;
static const char *volatile doomed_path;

static volatile sig_atomic_t grace_s = 2;

/* Stops at once: a second signal, or the library did not come back in time (it may wait for a silent pipe). */
static void end_now(int signal_number)
{
    (void)signal_number;
    if (doomed_path != NULL)
        unlink(doomed_path);
    _exit(CLI_EXIT_SIGNALLED + stop_signal);
}

static void on_signal(int signal_number)
{
    if (stop_signal != 0)
        end_now(signal_number);
    stop_signal = signal_number;
    alarm((unsigned)grace_s);
}

void cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct sigaction before;
        bool ignored = sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (i < 2 || !ignored) /* as nohup has it */
            sigaction(numbers[i], &action, NULL);
    }
    action.sa_handler = end_now;
    sigaction(SIGALRM, &action, NULL);
}

void cli_stop_within(unsigned seconds)
{
    grace_s = (sig_atomic_t)seconds;
}

int cli_stop_signal(void)
{
    return stop_signal;
}

void cli_remove_when_killed(const char *path)
{
    doomed_path = path;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void cli_progress_start(struct cli_progress *progress, size_t index, size_t count)
{
    progress->wanted = isatty(STDERR_FILENO) == 1 && !is_dumb();
    progress->index = index;
    progress->count = count;
    progress->started_ms = now_ms();
    if (index == 0)
        progress->last_ms = progress->started_ms;
}

static void format_bytes(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1000;
    snprintf(text, size, bytes < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static void show(struct cli_progress *progress, const struct pyro_progress *state, int64_t now)
{
    char line[256], done[16], total[16], rate[16];
    int64_t elapsed = now - progress->started_ms > 0 ? now - progress->started_ms : 1;
    double per_second = (double)state->bytes_done * 1000.0 / (double)elapsed;
    size_t len = 0;
    if (progress->count > 1)
        len += (size_t)snprintf(line, sizeof(line), "[%zu/%zu] ", progress->index + 1, progress->count);
    format_bytes(done, sizeof(done), (double)state->bytes_done);
    format_bytes(rate, sizeof(rate), per_second);
    len += (size_t)snprintf(line + len, sizeof(line) - len, "reading: %s", done);
    if (state->bytes_total > 0) {
        format_bytes(total, sizeof(total), (double)state->bytes_total);
        double share = (double)state->bytes_done / (double)state->bytes_total;
        len += (size_t)snprintf(line + len, sizeof(line) - len, " of %s (%.0f %%)", total, share * 100.0);
    }
    len += (size_t)snprintf(line + len, sizeof(line) - len, ", %s/s", rate);
    if (state->bytes_total > state->bytes_done && per_second > 0.0) {
        double left = (double)(state->bytes_total - state->bytes_done) / per_second;
        len += (size_t)snprintf(line + len, sizeof(line) - len, ", %.0f s left", left);
    }
    unsigned width = columns(STDERR_FILENO);
    if (width > 1 && len > width - 1)
        len = width - 1; /* a longer line would wrap, and could not be erased */
    fprintf(stderr, "\r%.*s\033[K", (int)len, line);
    fflush(stderr);
    progress->shown = true;
}

int cli_progress_callback(void *context, const struct pyro_progress *state)
{
    struct cli_progress *progress = context;
    bool wanted = progress->wanted && state->path[0] != '\0'; /* without a path nothing is read */
    int64_t now = wanted ? now_ms() : 0;
    if (wanted && now - progress->last_ms >= 100) {
        show(progress, state, now);
        progress->last_ms = now;
    }
    return stop_signal != 0;
}

void cli_progress_erase(struct cli_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
