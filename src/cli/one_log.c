/* One log from one argument, loaded and diagnosed. */
#include "one_log.h"

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

int cli_log_open(const struct cli_call *call, const char *path, const struct pyro_options *options,
                 struct cli_progress *progress, size_t index, size_t count, struct cli_log *ret)
{
    struct pyro_error error = {0};
    struct pyro_options plain = {.size = sizeof(plain)};
    cli_progress_start(progress, index, count);
    if (pyro_inputs_open(&path, 1, options, &ret->inputs, &error) != PYRO_OK)
        return cli_failure(&error);
    int status = check_inputs(call, path, ret->inputs);
    if (status != CLI_EXIT_OK)
        return status;
    enum pyro_status loaded = pyro_app_load(ret->inputs, 0, options, &ret->app, &error);
    cli_progress_erase(progress);
    if (loaded == PYRO_OK)
        loaded = pyro_diagnose(ret->app, &plain, &ret->diagnosis, &error);
    return loaded == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

void cli_log_close(struct cli_log *log)
{
    pyro_diagnosis_free(log->diagnosis);
    pyro_app_release(log->app);
    pyro_inputs_close(log->inputs);
    *log = (struct cli_log){0};
}
