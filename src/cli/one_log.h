/* One log from one argument, loaded and diagnosed: for verbs that take a log, or two. */
#ifndef PYROMETER_CLI_ONE_LOG_H
#define PYROMETER_CLI_ONE_LOG_H

#include "loading.h"

struct cli_log {
    pyro_app *app;
    pyro_diagnosis *diagnosis;
};

/* CLI_EXIT_OK, or the exit status after a complaint. `path` must lead to exactly one log; `config` may be NULL. */
int cli_log_open(const struct cli_call *call, const char *path, const struct cli_loading *options,
                 const pyro_config *config, struct cli_progress *progress, struct cli_log *ret);
void cli_log_close(struct cli_log *log);

#endif
