/* pyrometer fleet model APP [STORE] */
#ifndef PYROMETER_CLI_FLEET_MODEL_H
#define PYROMETER_CLI_FLEET_MODEL_H

#include "cli.h"

/* Gives the exit status. */
int cli_fleet_model(const struct cli_call *call);

#endif
