/* Files next to the event log of a run, or sent with it: what the functions about text logs and profiles get. */
#ifndef PYRO_SERVE_RUN_FILES_H
#define PYRO_SERVE_RUN_FILES_H

#include "base/memory/arena.h"
#include "catalog/catalog.h"
#include "report/logs/logs.h"

enum serve_files { SERVE_TEXT_LOGS, SERVE_PROFILES };

struct serve_run_files {
    struct pyro_log_parts parts;   /* in the arena, as all texts; uploads among them end at their limit of CPU time */
    enum pyro_redaction redaction; /* of what is shown of them */
};

/* Those that are still where they were found. One thread at a time reads them. False: no memory. */
bool pyro_serve_run_files(struct pyro_catalog *catalog, const struct pyro_catalog_list *list,
                          const struct pyro_attempt *attempt, enum serve_files which, struct pyro_arena *arena,
                          struct serve_run_files *ret);
/* "this run has no text logs next to its event log" */
const char *pyro_serve_no_files(enum serve_files which);

#endif
