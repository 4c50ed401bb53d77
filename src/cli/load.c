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

/* Exit status when a path does not lead to exactly one log. */
static int check_inputs(const struct cli_call *call, const char *path, const pyro_inputs *inputs)
{
    size_t found = pyro_inputs_count(inputs);
    if (found == 1)
        return CLI_EXIT_OK;
    if (found > 1)
        return cli_usage_error(call->verb, "%s holds %zu logs; name one of them, such as %s", path, found,
                               pyro_inputs_path(inputs, 0));
    if (pyro_inputs_unreadable_count(inputs) > 0)
        cli_complain_unreadable(pyro_inputs_unreadable_path(inputs, 0), pyro_inputs_unreadable_reason(inputs, 0));
    else
        cli_complain("cannot read %s: no event log in it; name a log", path);
    return CLI_EXIT_INPUT;
}

int cli_open_one(const struct cli_call *call, const char *path, const struct pyro_options *options,
                 struct cli_progress *progress, pyro_inputs **ret)
{
    struct pyro_error error = {0};
    pyro_inputs *inputs = NULL;
    cli_progress_start(progress, 0, 1);
    enum pyro_status opened = pyro_inputs_open(&path, 1, options, &inputs, &error);
    cli_progress_erase(progress);
    int status = opened == PYRO_OK ? check_inputs(call, path, inputs) : cli_failure(&error);
    if (status == CLI_EXIT_OK)
        *ret = inputs;
    else
        pyro_inputs_close(inputs);
    return status;
}

int cli_load_one(const struct cli_call *call, const char *path, const struct pyro_options *options,
                 struct cli_progress *progress, pyro_app **ret)
{
    struct pyro_error error = {0};
    pyro_inputs *inputs = NULL;
    int status = cli_open_one(call, path, options, progress, &inputs);
    if (status != CLI_EXIT_OK)
        return status;
    if (pyro_app_load(inputs, 0, options, ret, &error) != PYRO_OK)
        status = cli_failure(&error);
    cli_progress_erase(progress);
    pyro_inputs_close(inputs);
    return status;
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
