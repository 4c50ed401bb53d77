/* Logs that stores name. */
#ifndef PYRO_CATALOG_UPDATE_STORES_H
#define PYRO_CATALOG_UPDATE_STORES_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "catalog/catalog.h"

struct pyro_catalog_log;
struct pyro_catalog_named;
struct pyro_catalog_store;

/* What to discover so that the logs that stores name are found. Left out are logs that are found in `folders` anyway,
 * and those that are unchanged according to `known`. */
struct pyro_catalog_roots {
    struct pyro_arena *arena; /* of the paths */
    const char *const *folders;
    size_t folder_count;
    bool (*known)(void *context, const struct pyro_catalog_named *named);
    void *context;
    PYRO_VEC(const char *) paths;
};
/* Adds those of one store. False: no memory. */
bool pyro_catalog_roots_of(struct pyro_catalog_roots *roots, struct pyro_catalog_store *store);
/* Whether the log is of the same attempt as the run. */
bool pyro_catalog_is_of(const struct pyro_catalog_log *log, const struct pyro_catalog_log *run);
/* Whether some run's log is at that path. */
bool pyro_catalog_is_named(struct pyro_catalog_store *const *stores, size_t count, struct pyro_slice path);
/* After an update that could not read everything: what it refused is looked at again. */
void pyro_catalog_forget_refusals(struct pyro_catalog_store *store);
/* Whether the log, which was read, is that of a run whose log is said to be there. */
bool pyro_catalog_accept_named(struct pyro_catalog_store *const *stores, size_t count,
                               const struct pyro_catalog_log *log);

#endif
