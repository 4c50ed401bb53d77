/* pyrometer serve DIR */
#include "load.h"

#include <stdio.h>
#include <time.h>

static void wait_for_signal(void)
{
    while (!cli_stop_signal()) {
        const struct timespec moment = {.tv_nsec = 100000000}; /* a signal ends it at once */
        nanosleep(&moment, NULL);
    }
}

static int run(const struct cli_call *call)
{
    struct pyro_server_options options = {.size = sizeof(options), .host = cli_value(call, "host")};
    struct pyro_error error = {0};
    pyro_server *server = NULL;
    if (!cli_unsigned_value(call, "port", 0, 65535, &options.port) ||
        !cli_size_value(call, "memory", &options.memory_bytes) ||
        !cli_size_value(call, "max-upload", &options.max_upload_bytes))
        return CLI_EXIT_USAGE;
    options.upload_folder = cli_value(call, "uploads");
    cli_catch_signals();
    enum pyro_status status = pyro_server_start(call->arguments[0], &options, &server, &error);
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
    .most = 1,
    .options = options,
    .choices = "@files",
    .description =
        "Answers the REST API of Spark's History Server (/api/v1, as Spark 3.5 does) for the logs in a folder: "
        "applications, jobs, stages, tasks, executors, RDDs, environment. docs/serve.md lists what is answered.\n\n"
        "Prints one line, 'listening on http://HOST:PORT/', as soon as it listens; requests wait until the folder has "
        "been looked at. Ctrl-C or SIGTERM ends it.",
    .examples = examples,
};
