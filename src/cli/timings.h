/* --timings: what the phases of a run take, on standard error. */
#ifndef PYROMETER_CLI_TIMINGS_H
#define PYROMETER_CLI_TIMINGS_H

#include "cli.h"

/* Connects `work` where the verb has the option and it was given. */
void cli_timings_start(const struct cli_call *call, struct pyro_options *work);
/* A phase of the command itself, around calls of the library that do not report any. */
void cli_timings_begin(void);
void cli_timings_end(const char *name);
/* Prints what was measured since cli_timings_start(); nothing without it. */
void cli_timings_print(void);

#endif
