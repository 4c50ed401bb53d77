/* Opening and loading logs for verbs, with progress, Ctrl-C and the right exit status. */
#include "loading.h"
#include "timings.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The library borrows it for as long as it reads inputs: as long as the process lives. */
static struct pyro_remote_options remote = {.size = sizeof(remote)};

static bool remote_options(const struct cli_call *call)
{
    const char *mode = cli_value_if_known(call, "remote");
    unsigned limit = 0;
    remote.user = getenv("PYROMETER_HTTP_USER");
    remote.token = getenv("PYROMETER_HTTP_TOKEN");
    if (mode == NULL) /* the verb reads folders only */
        return true;
    remote.mode = strcmp(mode, "log") == 0    ? PYRO_REMOTE_LOG
                  : strcmp(mode, "rest") == 0 ? PYRO_REMOTE_REST
                                              : PYRO_REMOTE_AUTO;
    if (!cli_unsigned_value(call, "timeout", 1, 86400, &remote.timeout_s) ||
        !cli_size_value(call, "max-download", &remote.max_bytes))
        return false;
    if (cli_value_if_known(call, "limit") != NULL && !cli_unsigned_value(call, "limit", 1, 1000000, &limit))
        return false;
    remote.limit = limit;
    return true;
}

bool cli_load_options(const struct cli_call *call, struct cli_progress *progress, struct cli_loading *ret)
{
    struct cli_loading options = {.load.size = sizeof(options.load), .work.size = sizeof(options.work)};
    if (!cli_unsigned_value(call, "threads", 0, 1024, &options.work.threads) ||
        !cli_size_value(call, "max-record-size", &options.load.max_record_bytes))
        return false;
    if (!remote_options(call))
        return false;
    *progress = (struct cli_progress){0};
    options.work.progress = cli_progress_callback;
    options.work.progress_context = progress;
    options.load.remote = &remote;
    options.load.unlimited = cli_value_if_known(call, "no-input-limits") != NULL;
    options.load.redaction = cli_redaction(call);
    cli_timings_start(call, &options.work);
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
        return cli_usage_error(call->verb, "%s has %zu logs; name one of them, such as %s", path, found,
                               pyro_inputs_path(inputs, 0));
    if (pyro_inputs_unreadable_count(inputs) > 0)
        cli_complain_unreadable(pyro_inputs_unreadable_path(inputs, 0), pyro_inputs_unreadable_reason(inputs, 0));
    else
        cli_complain("cannot read %s: it has no event log; name a log", path);
    return CLI_EXIT_INPUT;
}

int cli_open_one(const struct cli_call *call, const char *path, const struct cli_loading *options,
                 struct cli_progress *progress, pyro_inputs **ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    cli_progress_start(progress, 0, 1);
    enum pyro_status opened = pyro_inputs_open(&path, 1, &options->load, &options->work, &inputs, &error);
    cli_progress_erase(progress);
    int status = opened == PYRO_OK ? check_inputs(call, path, inputs) : cli_failure(&error);
    if (status == CLI_EXIT_OK)
        *ret = inputs;
    else
        pyro_inputs_close(inputs);
    return status;
}

int cli_load_one(const struct cli_call *call, const char *path, const struct cli_loading *options,
                 struct cli_progress *progress, pyro_app **ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    int status = cli_open_one(call, path, options, progress, &inputs);
    if (status != CLI_EXIT_OK)
        return status;
    if (pyro_app_load(inputs, 0, &options->load, &options->work, ret, &error) != PYRO_OK)
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
    case PYRO_ERROR_OUTPUT: /* what names no file is our own output, whose close says why */
        if (error->path[0] != '\0')
            cli_complain("cannot write %s: %s", error->path, error->message);
        return CLI_EXIT_OUTPUT;
    case PYRO_ERROR_ARGUMENT:
        cli_complain("%s", error->message);
        return CLI_EXIT_USAGE;
    default:
        cli_complain("%s", error->message[0] != '\0' ? error->message : "internal error; please report it");
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

/* ---- The files of a run ------------------------------------------------------------------------------------------ */

static int load_only(const struct cli_call *call, pyro_inputs *inputs, const struct cli_loading *options,
                     struct cli_progress *progress, pyro_app **ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    const char *path = "";
    for (size_t i = 0; i < pyro_inputs_count(inputs); i++) {
        pyro_app *app = NULL;
        enum pyro_status status = pyro_app_load(inputs, i, &options->load, &options->work, &app, &error);
        cli_progress_erase(progress);
        if (status == PYRO_ERROR_INPUT)
            cli_complain_unreadable(pyro_inputs_path(inputs, i), error.message);
        else if (status != PYRO_OK)
            return cli_failure(&error);
        if (*ret != NULL && app != NULL) {
            pyro_app_release(app);
            return cli_usage_error(call->verb,
                                   "there are several event logs, such as %s and %s; name the folder of one run", path,
                                   pyro_inputs_path(inputs, i));
        }
        if (app != NULL) {
            *ret = app;
            path = pyro_inputs_path(inputs, i);
        }
    }
    return CLI_EXIT_OK;
}

int cli_load_run(const struct cli_call *call, const char *const *paths, size_t count, const struct cli_loading *options,
                 struct cli_progress *progress, pyro_inputs **ret_inputs, pyro_app **ret_app)
{
    struct pyro_error error = {.size = sizeof(error)};
    cli_progress_start(progress, 0, 1);
    enum pyro_status status = pyro_inputs_open(paths, count, &options->load, &options->work, ret_inputs, &error);
    cli_progress_erase(progress);
    return status == PYRO_OK ? load_only(call, *ret_inputs, options, progress, ret_app) : cli_failure(&error);
}
