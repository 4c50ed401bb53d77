/* Opening and loading logs for verbs, with progress, Ctrl-C and the right exit status. */
#include "load.h"

#include <signal.h>
#include <string.h>

bool cli_load_options(const struct cli_call *call, struct cli_progress *progress, struct pyro_options *ret)
{
    struct pyro_options options = {.size = sizeof(options)};
    if (!cli_unsigned_value(call, "threads", 0, 1024, &options.threads) ||
        !cli_size_value(call, "max-record-size", &options.max_record_bytes))
        return false;
    *progress = (struct cli_progress){0};
    options.progress = cli_progress_callback;
    options.progress_context = progress;
    *ret = options;
    return true;
}

int cli_failure(const struct pyro_error *error)
{
    switch (error->code) {
    case PYRO_ERROR_CANCELLED:
        return CLI_EXIT_SIGNALLED + (cli_stop_signal() != 0 ? cli_stop_signal() : SIGINT);
    case PYRO_ERROR_INPUT:
        cli_complain_unreadable(error->path, error->message);
        return CLI_EXIT_INPUT;
    case PYRO_ERROR_OUTPUT: /* the output's close says why */
        return CLI_EXIT_OUTPUT;
    case PYRO_ERROR_ARGUMENT:
        cli_complain("%s", error->message);
        return CLI_EXIT_USAGE;
    default:
        cli_complain("%s", error->message[0] != '\0' ? error->message : "an internal error; please report it");
        return CLI_EXIT_OUTPUT;
    }
}

void cli_complain_unreadable(const char *path, const char *reason)
{
    if (path[0] == '\0')
        cli_complain("%s", reason);
    else
        cli_complain("cannot read %s: %s", strcmp(path, "-") == 0 ? "standard input" : path, reason);
}
