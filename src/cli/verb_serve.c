/* pyrometer serve DIR... */
#include "load.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STOP_SECONDS = 20 };

static void wait_for_signal(void)
{
    while (!cli_stop_signal()) {
        const struct timespec moment = {.tv_nsec = 100000000}; /* a signal ends it at once */
        nanosleep(&moment, NULL);
    }
}

/* --cache, else where the user's caches are; NULL: nowhere. */
static const char *cache_folder(const struct cli_call *call, char *buffer, size_t bytes)
{
    const char *given = cli_value(call, "cache"), *base = getenv("XDG_CACHE_HOME"), *middle = "";
    if (given != NULL)
        return given;
    if (base == NULL || base[0] != '/') {
        base = getenv("HOME");
        middle = "/.cache";
    }
    if (base == NULL || base[0] != '/')
        return NULL;
    int len = snprintf(buffer, bytes, "%s%s/pyrometer", base, middle);
    return len > 0 && (size_t)len < bytes ? buffer : NULL;
}

static int run(const struct cli_call *call)
{
    struct pyro_server_options options = {.size = sizeof(options), .host = cli_value(call, "host")};
    struct pyro_error error = {0};
    pyro_server *server = NULL;
    if (!cli_unsigned_value(call, "port", 0, 65535, &options.port) ||
        !cli_size_value(call, "memory", &options.memory_bytes) ||
        !cli_size_value(call, "max-upload", &options.max_upload_bytes) ||
        !cli_interval_value(call, "update-interval", &options.update_ms))
        return CLI_EXIT_USAGE;
    char cache[PATH_MAX];
    if (cli_value(call, "no-cache") == NULL)
        options.cache = cache_folder(call, cache, sizeof(cache));
    options.upload_folder = cli_value(call, "uploads");
    cli_catch_signals();
    enum pyro_status status = pyro_server_start(call->arguments, call->argument_count, &options, &server, &error);
    if (status == PYRO_ERROR_ARGUMENT)
        return cli_usage_error(call->verb, "%s", error.message);
    if (status == PYRO_ERROR_OUTPUT) {
        cli_complain("%s", error.message);
        return CLI_EXIT_OUTPUT;
    }
    if (status != PYRO_OK)
        return cli_failure(&error);
    printf("listening on http://%s:%u/\n", options.host, pyro_server_port(server));
    bool written = fflush(stdout) == 0;
    if (written)
        wait_for_signal();
    alarm(STOP_SECONDS); /* in place of the two seconds that other verbs have: answers that have begun are finished */
    pyro_server_stop(server);
    return written ? CLI_EXIT_OK : CLI_EXIT_OUTPUT;
}

static const struct cli_option options[] = {
    {"port", 'p', "N", NULL, "18080",
     "Listen on this port; 0 takes a free one, which the line on standard output names."},
    {"host", 0, "ADDRESS", NULL, "127.0.0.1",
     "Listen on this IPv4 address. There are no passwords: whoever can reach it reads every log in DIR."},
    {"memory", 0, "SIZE", NULL, "1G",
     "Keep applications open up to about this much memory; those asked for last stay."},
    {"uploads", 0, "FOLDER", NULL, NULL,
     "Keep uploaded logs in this folder, which is made where it is not there. Without it they are kept below $TMPDIR "
     "and "
     "go with the server."},
    {"max-upload", 0, "SIZE", NULL, "2G", "Refuse uploads that are larger."},
    {"update-interval", 0, "TIME", NULL, "10s",
     "Look at the folders this often, from 100ms to 1d: for logs that are new, have grown, were renamed or are gone."},
    {"cache", 0, "DIR", NULL, NULL,
     "Keep what was found in this folder, so that the next start needs to read only what has changed. Default: "
     "$XDG_CACHE_HOME/pyrometer, or ~/.cache/pyrometer."},
    {"no-cache", 0, NULL, NULL, NULL, "Keep nothing between starts."},
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer serve /var/log/spark-events", "Answers where a History Server would, on http://127.0.0.1:18080/."},
    {"curl http://127.0.0.1:18080/api/v1/applications", "The list of applications, as Spark gives it."},
    {"pyrometer serve --port 0 DIR", "On a free port, for scripts: read the line that it prints."},
    {0},
};

const struct cli_verb_body cli_verb_serve = {
    .run = run,
    .least = 1,
    .most = SIZE_MAX,
    .options = options,
    .choices = "@files",
    .description =
        "Answers the REST API of Spark's History Server (/api/v1, as Spark 3.5 does) for the logs in folders: "
        "applications, jobs, stages, tasks, executors, RDDs, environment. docs/serve.md lists what is answered.\n\n"
        "Prints one line, 'listening on http://HOST:PORT/', as soon as it listens; requests wait until the folders "
        "have been looked at. Ctrl-C or SIGTERM ends it.",
    .examples = examples,
};
