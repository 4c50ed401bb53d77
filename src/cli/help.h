/* Help texts, all made from the verb and option tables. */
#ifndef PYROMETER_CLI_HELP_H
#define PYROMETER_CLI_HELP_H

#include "result_output.h"

/* For cli_print(). `context` of cli_help_verb is the verb; the others take NULL. */
void cli_help_short(struct cli_output *output, const void *context);
void cli_help_all(struct cli_output *output, const void *context);
void cli_help_verb(struct cli_output *output, const void *context);

/* "-o, --output FILE" */
void cli_option_label(const struct cli_option *option, char *text, size_t size);
/* What an option does: its own text, or what the verb's table says. */
const char *cli_option_help(const struct cli_verb_body *body, const struct cli_option *option);

/* What an exit status means. `only` and `never` are names of verbs, separated by spaces, or NULL. */
struct cli_exit_meaning {
    int status;
    const char *only, *never;
    const char *meaning;
};

/* The statuses of a verb (NULL: of the command) one by one, from NULL on; NULL: that was the last. */
const struct cli_exit_meaning *cli_next_exit(const struct cli_exit_meaning *previous, const struct cli_verb *verb);

#endif
