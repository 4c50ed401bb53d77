/* The applications of a folder, and those of them that are open. */
#ifndef PYRO_SERVE_CATALOG_H
#define PYRO_SERVE_CATALOG_H

#include "session/history.h"

struct serve_app {
    struct pyro_slice id, name;
    struct pyro_attempt *attempts; /* newest first */
    size_t attempt_count;
};

struct serve_catalog;

/* Looks at the folder; logs that cannot be read are left out. */
enum pyro_status pyro_serve_catalog_open(const char *folder, uint64_t memory_bytes, struct serve_catalog **ret,
                                         struct pyro_error *error);
void pyro_serve_catalog_close(struct serve_catalog *catalog);
/* Applications, the one that ended last first. They live as long as the catalog. */
const struct serve_app *pyro_serve_catalog_apps(const struct serve_catalog *catalog, size_t *ret_count);
const struct serve_app *pyro_serve_catalog_find(const struct serve_catalog *catalog, struct pyro_slice id);
/* The history of an attempt (a null id: of the one without), loaded when it is not open; the caller releases it. NULL
 * and PYRO_OK: there is no such attempt. */
enum pyro_status pyro_serve_catalog_history(struct serve_catalog *catalog, struct pyro_slice id,
                                            struct pyro_slice attempt, struct pyro_history **ret,
                                            struct pyro_error *error);

#endif
