/* One log from one argument, loaded and diagnosed. */
#include "one_log.h"

int cli_log_open(const struct cli_call *call, const char *path, const struct cli_loading *options,
                 const pyro_config *config, struct cli_progress *progress, struct cli_log *ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    int status = cli_load_one(call, path, options, progress, &ret->app);
    if (status != CLI_EXIT_OK)
        return status;
    struct pyro_diagnose_options rules = {.size = sizeof(rules), .config = config};
    return pyro_diagnose(ret->app, &rules, &options->work, &ret->diagnosis, &error) == PYRO_OK ? CLI_EXIT_OK
                                                                                               : cli_failure(&error);
}

void cli_log_close(struct cli_log *log)
{
    pyro_diagnosis_free(log->diagnosis);
    pyro_app_release(log->app);
    *log = (struct cli_log){0};
}
