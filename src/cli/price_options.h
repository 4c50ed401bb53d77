/* --prices, for verbs that say what runs cost. */
#ifndef PYROMETER_CLI_PRICE_OPTIONS_H
#define PYROMETER_CLI_PRICE_OPTIONS_H

#include "cli.h"

/* The prices that come with pyrometer, and those of the files that --prices names. */
enum pyro_status cli_prices_open(const struct cli_call *call, pyro_prices **ret, struct pyro_error *error);

#endif
