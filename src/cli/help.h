/* Help texts, all made from the verb and option tables. */
#ifndef PYROMETER_CLI_HELP_H
#define PYROMETER_CLI_HELP_H

#include "output.h"

/* For cli_print(). `context` of cli_help_verb is the verb; the others take NULL. */
void cli_help_short(struct cli_output *output, const void *context);
void cli_help_all(struct cli_output *output, const void *context);
void cli_help_verb(struct cli_output *output, const void *context);

/* "-o, --output FILE" */
void cli_option_label(const struct cli_option *option, char *text, size_t size);

#endif
