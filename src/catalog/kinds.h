/* What can be opened of a log: histories and diagnoses (kinds.c, diagnoses.c). */
#ifndef PYRO_CATALOG_KINDS_H
#define PYRO_CATALOG_KINDS_H

#include "catalog/catalog.h"

struct pyro_catalog_log;

enum pyro_catalog_kind { PYRO_CATALOG_HISTORY, PYRO_CATALOG_SQL_HISTORY, PYRO_CATALOG_DIAGNOSIS, PYRO_CATALOG_KINDS };

/* What is opened: a log and the files next to it. */
struct pyro_catalog_run {
    const struct pyro_catalog_log *log;
    const struct pyro_catalog_artefacts *artefacts; /* NULL: none are of this run, or the kind needs none */
    uint64_t key;                                   /* pyro_catalog_artefacts_key_of() the log */
};

/* What a load gives. */
struct pyro_catalog_loaded {
    void *value;
    uint64_t memory;
    bool partial; /* something could not be had this time: it is loaded again when it is asked for next */
};

struct pyro_catalog_kind_row {
    /* `before`: what is open of the same files, only no longer fresh, or NULL; `*state`: what the kind keeps in
     * addition.
     */
    enum pyro_status (*load)(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                             void *before, void **state, struct pyro_catalog_loaded *ret, struct pyro_error *error);
    void *(*retain)(void *value);
    void (*release)(void *value);
    void (*close)(void *state); /* NULL is ignored */
};
extern const struct pyro_catalog_kind_row *const pyro_catalog_kinds[PYRO_CATALOG_KINDS];
extern const struct pyro_catalog_kind_row pyro_catalog_kind_diagnosis; /* diagnoses.c */

#endif
