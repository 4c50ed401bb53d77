/* How a verb ends: its output file, the form of a text, and the exit status. */
#ifndef PYROMETER_CLI_ENDING_H
#define PYROMETER_CLI_ENDING_H

#include "loading.h"
#include "result_output.h"

#define CLI_OPTION_WIDTH                                                                                               \
    {                                                                                                                  \
        "width", 'w', "N", NULL, NULL,                                                                                 \
            "Set the width of the text in columns. Default: the width of the terminal, between 80 and 120; without a " \
            "terminal 80."                                                                                             \
    }
#define CLI_OPTION_COLOR                                                                                               \
    {                                                                                                                  \
        "color", 0, "WHEN", "auto always never", "auto",                                                               \
            "Color the text. auto: on a terminal, unless NO_COLOR is set or TERM is dumb."                             \
    }

/* --width; `ret` keeps 0 without it. False: reported as wrong usage. */
bool cli_width_value(const struct cli_call *call, struct pyro_report_options *ret);

/* Opens the file of --output, catches signals, and sets what `report` (may be NULL) needs of it: color, and a
 * width unless it has one. CLI_EXIT_OK, or the exit status after a complaint. */
int cli_result_open(const struct cli_call *call, struct cli_output *output, struct pyro_report_options *report);

/* Closes the output, which is kept if `status` is CLI_EXIT_OK or CLI_EXIT_GATE. Gives the exit status. */
int cli_result_close(struct cli_output *output, int status);
/* The same after a call of the library; reports its error. */
int cli_result_close_after(struct cli_output *output, enum pyro_status status, const struct pyro_error *error);

#endif
