/* Files next to the event log of a run: what the functions of pyrometer.h about text logs and profiles get. */
#ifndef PYRO_SERVE_RUN_FILES_H
#define PYRO_SERVE_RUN_FILES_H

#include "base/arena.h"
#include "catalog/catalog.h"

enum serve_files { SERVE_TEXT_LOGS, SERVE_PROFILES };

struct serve_run_files {
    const char *const *paths; /* in the arena, as all texts */
    size_t count;
    enum pyro_redaction redaction; /* of what is shown of them */
};

/* Those that are still where they were found. False: no memory. */
bool pyro_serve_run_files(struct pyro_catalog *catalog, const struct pyro_catalog_list *list,
                          const struct pyro_attempt *attempt, enum serve_files which, struct pyro_arena *arena,
                          struct serve_run_files *ret);
/* "this run has no text logs next to its event log" */
const char *pyro_serve_no_files(enum serve_files which);

#endif
