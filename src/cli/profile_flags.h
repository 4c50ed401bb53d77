/* pyrometer profile flags: options of spark-submit that make drivers and executors record profiles. */
#ifndef PYROMETER_CLI_PROFILE_FLAGS_H
#define PYROMETER_CLI_PROFILE_FLAGS_H

#include "cli.h"

int cli_profile_flags(const struct cli_call *call);

#endif
