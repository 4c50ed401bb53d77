/* The parts of `pyrometer trace`. */
#ifndef PYROMETER_CLI_TRACE_H
#define PYROMETER_CLI_TRACE_H

#include "cli.h"

/* trace record -- COMMAND...: runs a job and records it. Gives the exit status, which is the job's. */
int cli_trace_record(const struct cli_call *call);
/* trace analyze PATH... */
int cli_trace_analyze(const struct cli_call *call);

#endif
