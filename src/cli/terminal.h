/* Colors, width, progress and Ctrl-C. */
#ifndef PYROMETER_CLI_TERMINAL_H
#define PYROMETER_CLI_TERMINAL_H

#include "cli.h"
#include "result_output.h"

/* --color: "auto" means a terminal that is not dumb, and NO_COLOR not set. */
bool cli_wants_color(const struct cli_output *output, const char *choice);
/* Columns for text: the terminal's, at least 80 and at most 120; 80 elsewhere. */
unsigned cli_text_width(const struct cli_output *output);

/* Ctrl-C, SIGTERM, and SIGHUP, SIGQUIT and SIGXCPU unless they are ignored, ask to stop. A second one, or two seconds,
 * end the process, removing the unfinished output. */
void cli_catch_signals(void);
/* How long the process may take to stop, instead of two seconds. */
void cli_stop_within(unsigned seconds);
/* The signal that asked to stop, or 0. */
int cli_stop_signal(void);
/* The file to remove when a second signal ends the process; NULL: none. Kept by reference. */
void cli_remove_when_killed(const char *path);

/* Progress on standard error, only where that is a terminal, erased when done. */
struct cli_progress {
    bool shown, wanted;
    size_t index, count; /* this log among how many */
    int64_t started_ms, last_ms;
};
void cli_progress_start(struct cli_progress *progress, size_t index, size_t count);
/* For pyro_options.progress, with a struct cli_progress as its context. */
int cli_progress_callback(void *context, const struct pyro_progress *state);
void cli_progress_erase(struct cli_progress *progress);

#endif
