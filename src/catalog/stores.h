/* The runs that a store has; one thread at a time. */
#ifndef PYRO_CATALOG_STORES_H
#define PYRO_CATALOG_STORES_H

#include "base/collections/vec.h"
#include "base/strings/strbuf.h"
#include "catalog/catalog.h"
#include "catalog/log.h"
#include "source/file_stamp.h"

/* A log that a store names. */
struct pyro_catalog_named {
    const struct pyro_catalog_log *run; /* of `runs` */
    bool refused;                       /* the file is not this run's log, and so not read again until it changes */
    bool tried;                         /* that was found by the update that goes on, or the last one */
    struct pyro_file_stamp root;        /* of the file or folder there when that was found */
};
typedef PYRO_VEC(struct pyro_catalog_named) pyro_catalog_named_vec;

struct pyro_catalog_store {
    char *url;
    struct pyro_strbuf label;     /* what may be shown of it */
    pyro_store *store;            /* NULL: it could not be opened lately */
    struct pyro_file_stamp stamp; /* of its file */
    int64_t state;                /* when `runs` were read */
    pyro_catalog_logs runs;       /* by path: as if there were no log */
    pyro_catalog_named_vec named; /* those whose path is one of this machine, by that path */
};
/* The store must be there. */
enum pyro_status pyro_catalog_store_open(const char *url, struct pyro_catalog_store **ret, struct pyro_error *error);
void pyro_catalog_store_close(struct pyro_catalog_store *store);
/* Reads its runs where they have changed. While it cannot be read they do not change. */
void pyro_catalog_store_update(struct pyro_catalog_store *store, uint64_t *identities);
/* The report of a run that is only stored, as it is now. */
enum pyro_status pyro_catalog_stored_report(const struct pyro_catalog_log *log, struct pyro_strbuf *out,
                                            struct pyro_error *error);

#endif
