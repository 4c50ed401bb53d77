/* Telling the caller how far a load has come, and asking whether to go on. */
#ifndef PYRO_SOURCE_PROGRESS_H
#define PYRO_SOURCE_PROGRESS_H

#include "base/options.h"
#include "source/source.h"

struct pyro_progress_meter {
    const struct pyro_load_settings *options;
    struct pyro_progress progress;
    uint64_t last_ns; /* when the callback was called */
};

/* Returns the bytes of the log's files as stored, 0 when unknown. */
uint64_t pyro_progress_start(struct pyro_progress_meter *meter, const struct pyro_load_settings *options,
                             const struct pyro_log *log);
/* Calls the callback at most every 20 ms; PYRO_ERROR_CANCELLED when it asks to stop. */
enum pyro_status pyro_progress_report(struct pyro_progress_meter *meter, uint64_t bytes_done, struct pyro_error *error);

#endif
