#include "recording_json.h"

#include "processes.h"
#include "result_output.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK_TRIES = 5, DEPTH = 8 };

struct cli_clocks cli_read_clocks(void)
{
    struct cli_clocks best = {0};
    int64_t least = INT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        struct timespec wall;
        int64_t before = cli_monotonic_ns();
        clock_gettime(CLOCK_REALTIME, &wall);
        int64_t width = cli_monotonic_ns() - before;
        if (width < least) {
            least = width;
            best = (struct cli_clocks){before + width / 2, (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec};
        }
    }
    return best;
}

static uint64_t bytes_below(const char *path, unsigned depth)
{
    uint64_t bytes = 0;
    struct stat found;
    struct dirent *entry;
    if (lstat(path, &found) != 0 || (!S_ISDIR(found.st_mode) && !S_ISREG(found.st_mode)))
        return 0;
    if (S_ISREG(found.st_mode))
        return (uint64_t)found.st_size;
    DIR *folder = depth > 0 ? opendir(path) : NULL;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        bool own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        char *below = own ? NULL : cli_format("%s/%s", path, entry->d_name);
        bytes += below != NULL ? bytes_below(below, depth - 1) : 0;
        free(below);
    }
    if (folder != NULL)
        closedir(folder);
    return bytes;
}

uint64_t cli_recording_bytes(const struct cli_recording *recording, const char *name)
{
    char *path = cli_format("%s/%s", recording->folder, name);
    uint64_t bytes = path != NULL ? bytes_below(path, DEPTH) : 0;
    free(path);
    return bytes;
}

static void put_text(struct cli_output *output, const char *name, const char *value)
{
    cli_putf(output, ",\n \"%s\": ", name);
    if (value != NULL)
        cli_put_json(output, value);
    else
        cli_puts(output, "null");
}

static void put_number(struct cli_output *output, const char *name, int64_t value)
{
    if (value >= 0)
        cli_putf(output, ",\n \"%s\": %lld", name, (long long)value);
    else
        cli_putf(output, ",\n \"%s\": null", name);
}

static void put_list(struct cli_output *output, const char *name, const struct cli_words *words)
{
    cli_putf(output, ",\n \"%s\": [", name);
    for (size_t i = 0; i < words->count; i++) {
        cli_puts(output, i > 0 ? ", " : "");
        cli_put_json(output, words->items[i]);
    }
    cli_puts(output, "]");
}

/* ---- The command, without its secrets -----------------------------------------------------------------------------
 */

/* Whether something of this name is not for others; `len` bytes. */
static bool is_secret_name(const char *name, size_t len)
{
    static const char *const parts[] = {"password",   "passwd",     "secret",      "token",
                                        "credential", "access.key", "account.key", "apikey"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        for (size_t at = 0; at + strlen(parts[i]) <= len; at++)
            if (strncasecmp(name + at, parts[i], strlen(parts[i])) == 0)
                return true;
    return false;
}

static void put_command(struct cli_output *output, const struct cli_recording *recording)
{
    bool hides = false;
    cli_puts(output, ",\n \"command\": [");
    for (size_t i = 0; i < recording->command_count; i++) {
        const char *word = recording->command[i];
        size_t name = strcspn(word, "=");
        cli_puts(output, i > 0 ? ", " : "");
        if (hides) {
            cli_puts(output, "\"*********(redacted)\"");
        } else if (word[name] == '=' && is_secret_name(word, name)) {
            char *shown = cli_format("%.*s=*********(redacted)", (int)name, word);
            cli_put_json(output, shown != NULL ? shown : "");
            free(shown);
        } else {
            cli_put_json(output, word);
        }
        hides = !hides && word[0] == '-' && word[name] == '\0' && is_secret_name(word, name);
    }
    cli_puts(output, "]");
}

/* ---- Parts ---------------------------------------------------------------------------------------------------------
 */

static void put_clocks(struct cli_output *output, const char *name, const struct cli_clocks *clocks, bool known)
{
    if (known)
        cli_putf(output, "\"%s\": {\"monotonic_ns\": %lld, \"utc_ns\": %lld}", name, (long long)clocks->monotonic_ns,
                 (long long)clocks->utc_ns);
    else
        cli_putf(output, "\"%s\": null", name);
}

static void put_host(struct cli_output *output)
{
    struct utsname system;
    if (uname(&system) != 0)
        memset(&system, 0, sizeof(system));
    put_text(output, "host", system.nodename);
    put_text(output, "kernel_release", system.release);
    put_text(output, "machine", system.machine);
    put_number(output, "processors", sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_tool(struct cli_output *output, const char **separator, const char *name, const char *path,
                     const char *version)
{
    if (path == NULL)
        return;
    cli_putf(output, "%s{\"name\": \"%s\", \"path\": ", *separator, name);
    cli_put_json(output, path);
    cli_puts(output, ", \"version\": ");
    if (version != NULL)
        cli_put_json(output, version);
    else
        cli_puts(output, "null");
    cli_puts(output, "}");
    *separator = ", ";
}

static void put_tools(struct cli_output *output, const struct cli_preparation *preparation)
{
    const char *separator = "";
    cli_puts(output, ",\n \"tools\": [");
    put_tool(output, &separator, "pyrometer", "pyrometer", pyro_version());
    put_tool(output, &separator, "perf", preparation->perf, preparation->perf_version);
    put_tool(output, &separator, "lttng", preparation->lttng, preparation->lttng_version);
    put_tool(output, &separator, "plugin", preparation->plugin, NULL);
    cli_puts(output, "]");
}

static void put_refused(struct cli_output *output, const struct cli_preparation *preparation)
{
    cli_puts(output, ",\n \"refused\": [");
    for (size_t i = 0; i < preparation->refused_count; i++) {
        const struct cli_refusal *refusal = &preparation->refused[i];
        cli_putf(output, "%s{\"what\": \"%s\", \"why\": ", i > 0 ? ", " : "", refusal->what);
        cli_put_json(output, refusal->why);
        cli_puts(output, ", \"command\": ");
        if (refusal->command != NULL)
            cli_put_json(output, refusal->command);
        else
            cli_puts(output, "null");
        cli_puts(output, "}");
    }
    cli_puts(output, "]");
}

static void put_windows(struct cli_output *output, const struct cli_perf *perf)
{
    cli_puts(output, ",\n \"windows\": [");
    for (size_t i = 0; i < perf->window_count; i++) {
        cli_putf(output, "%s{\"from_ns\": %lld, \"to_ns\": ", i > 0 ? ", " : "", (long long)perf->windows[i].from_ns);
        if (perf->windows[i].to_ns > 0)
            cli_putf(output, "%lld}", (long long)perf->windows[i].to_ns);
        else
            cli_puts(output, "null}");
    }
    cli_puts(output, "]");
}

static void put_snapshots(struct cli_output *output, const struct cli_recording *recording)
{
    cli_puts(output, ",\n \"snapshots\": [");
    for (size_t i = 0; i < recording->snapshot_count; i++) {
        const struct cli_snapshot *snapshot = &recording->snapshots[i];
        cli_putf(output, "%s{\"monotonic_ns\": %lld, \"task\": %lld, \"duration_ns\": %lld, \"running\": %s}",
                 i > 0 ? ", " : "", (long long)snapshot->monotonic_ns, (long long)snapshot->task.task,
                 (long long)snapshot->task.duration_ns, snapshot->task.running ? "true" : "false");
    }
    cli_puts(output, "]");
}

static void put_options(struct cli_output *output, const struct cli_recording *recording)
{
    put_text(output, "mode_asked", recording->mode_asked);
    put_text(output, "mode_used",
             recording->user && recording->kernel ? "both"
             : recording->kernel                  ? "kernel"
                                                  : "user");
    put_number(output, "max_bytes", recording->max_bytes > 0 ? (int64_t)recording->max_bytes : -1);
    put_number(output, "slow_ms", recording->slow_ms > 0 ? recording->slow_ms : -1);
    put_number(output, "duty_on_ms", recording->duty_every_ms > 0 ? recording->duty_on_ms : -1);
    put_number(output, "duty_every_ms", recording->duty_every_ms > 0 ? recording->duty_every_ms : -1);
}

static void put_result(struct cli_output *output, const struct cli_recording *recording)
{
    static const char *const parts[] = {"eventlog", "tasks", "kernel", "ust"};
    bool exited = recording->status >= 0 && WIFEXITED(recording->status);
    bool killed = recording->status >= 0 && WIFSIGNALED(recording->status);
    put_number(output, "exit_status", exited ? WEXITSTATUS(recording->status) : -1);
    put_number(output, "signal", killed ? WTERMSIG(recording->status) : -1);
    cli_puts(output, ",\n \"bytes\": {");
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        cli_putf(output, "%s\"%s\": %llu", i > 0 ? ", " : "", parts[i],
                 (unsigned long long)cli_recording_bytes(recording, parts[i]));
    cli_puts(output, "},\n \"dropped\": {\"kernel\": ");
    const int64_t dropped[] = {recording->kernel_dropped, recording->tasks_dropped, recording->lttng_dropped};
    static const char *const after[] = {", \"tasks\": ", ", \"ust\": ", "}"};
    for (size_t i = 0; i < 3; i++) {
        if (dropped[i] >= 0)
            cli_putf(output, "%lld", (long long)dropped[i]);
        else
            cli_puts(output, "null");
        cli_puts(output, after[i]);
    }
}

static void put_recording(struct cli_output *output, const struct cli_recording *recording)
{
    char directory[4096];
    cli_puts(output, "{\n \"schema\": \"pyrometer.recording/1\"");
    put_text(output, "state", recording->has_ended ? "ended" : "running");
    put_number(output, "started_ms", recording->started.utc_ns / 1000000);
    put_number(output, "ended_ms", recording->has_ended ? recording->ended.utc_ns / 1000000 : -1);
    cli_puts(output, ",\n \"clocks\": {");
    put_clocks(output, "start", &recording->started, true);
    cli_puts(output, ", ");
    put_clocks(output, "end", &recording->ended, recording->has_ended);
    cli_puts(output, "}");
    put_host(output);
    put_tools(output, recording->preparation);
    put_command(output, recording);
    put_text(output, "directory", getcwd(directory, sizeof(directory)));
    put_number(output, "attached", recording->attached > 0 ? recording->attached : -1);
    put_options(output, recording);
    put_refused(output, recording->preparation);
    put_list(output, "events", &recording->preparation->events);
    put_list(output, "kernel_traces", &recording->traces);
    put_list(output, "unconverted", &recording->unconverted);
    put_windows(output, recording->perf);
    cli_putf(output, ",\n \"limit_reached\": %s", recording->perf->limit_reached ? "true" : "false");
    put_snapshots(output, recording);
    put_number(output, "task_files", (int64_t)recording->task_files);
    put_result(output, recording);
    cli_puts(output, "\n}\n");
}

int cli_recording_write(const struct cli_recording *recording)
{
    struct cli_output output;
    char *path = cli_format("%s/recording.json", recording->folder);
    if (path == NULL) {
        cli_complain("no memory left");
        return CLI_EXIT_OUTPUT;
    }
    int status = cli_output_open(&output, path);
    free(path);
    if (status != CLI_EXIT_OK)
        return status;
    put_recording(&output, recording);
    return cli_output_close(&output, true);
}
