/* Opening and loading logs for verbs, with progress, Ctrl-C and the right exit status. */
#ifndef PYROMETER_CLI_LOADING_H
#define PYROMETER_CLI_LOADING_H

#include "terminal.h"

/* What reading a log takes. */
struct cli_loading {
    struct pyro_load_options load;
    struct pyro_options work;
};

/* Fills the library's options from --threads and --max-record-size, and connects progress and Ctrl-C. False: reported
 * as wrong usage. */
bool cli_load_options(const struct cli_call *call, struct cli_progress *progress, struct cli_loading *ret);

/* Opens the inputs at `path`, which must be one log; the same exit statuses. */
int cli_open_one(const struct cli_call *call, const char *path, const struct cli_loading *options,
                 struct cli_progress *progress, pyro_inputs **ret);

/* Loads the one log at `path`, with progress. CLI_EXIT_OK, or the exit status after a complaint: nothing readable
 * there, or more than one log. */
int cli_load_one(const struct cli_call *call, const char *path, const struct cli_loading *options,
                 struct cli_progress *progress, pyro_app **ret);

/* Opens the files of one run and loads the event log among them, if there is one; else *ret_app is NULL. Logs that
 * cannot be read are only mentioned. The caller releases what it gets in any case. */
int cli_load_run(const struct cli_call *call, const char *const *paths, size_t count, const struct cli_loading *options,
                 struct cli_progress *progress, pyro_inputs **ret_inputs, pyro_app **ret_app);

/* Exit status for a failure that is not of one input: no memory, an internal error, Ctrl-C. Reports it. */
int cli_failure(const struct pyro_error *error);

/* Says on standard error that one input cannot be read. */
void cli_complain_unreadable(const char *path, const char *reason);

/* SQLite, which runs the statements of strangers, may take a quarter of this, at least 32 and at most 256 MiB: what
 * would need more fails. */
void cli_limit_sqlite(uint64_t memory);

#endif
