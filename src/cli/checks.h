/* What `serve` and `mcp` need of this build and this machine, tried out. */
#ifndef PYROMETER_CLI_CHECKS_H
#define PYROMETER_CLI_CHECKS_H

#include "cli.h"

enum { CLI_CHECKS_MAX = 100 };

struct cli_check {
    const char *kind, *name;
    bool available;
    char detail[512];
};

/* Tries it out. A call's options --tokens, --tls-cert, --tls-key and --cache are those of `serve`. Gives the number of
 * rows. */
size_t cli_checks(const struct cli_call *call, struct cli_check *ret);

/* What the file of --config names, for 'crawl': adds rows behind `count` others. False: the file is not valid, which
 * was reported. */
bool cli_crawl_checks(const struct cli_call *call, struct cli_check *ret, size_t *count);

#endif
