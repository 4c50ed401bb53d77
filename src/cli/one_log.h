/* One log from one argument, loaded and diagnosed: for verbs that take a log, or two. */
#ifndef PYROMETER_CLI_ONE_LOG_H
#define PYROMETER_CLI_ONE_LOG_H

#include "load.h"

struct cli_log {
    pyro_inputs *inputs;
    pyro_app *app;
    pyro_diagnosis *diagnosis;
};

/* Exit status; what is wrong was said. `path` must lead to exactly one log. */
int cli_log_open(const struct cli_call *call, const char *path, const struct pyro_options *options,
                 struct cli_progress *progress, size_t index, size_t count, struct cli_log *ret);
void cli_log_close(struct cli_log *log);

#endif
