/* From folders to a list. */
#ifndef PYRO_CATALOG_UPDATE_H
#define PYRO_CATALOG_UPDATE_H

#include "catalog/catalog.h"
#include "source/file_stamp.h"
#include "source/source.h"

struct pyro_catalog_log;
struct pyro_catalog_store;

struct pyro_catalog_update {
    const char *const *folders;
    size_t folder_count;
    const char *uploads; /* one of the folders, or NULL */
    const struct pyro_upload_costs *costs;
    bool unlimited, follow_links;
    struct pyro_catalog_store *const *stores;
    size_t store_count;
    unsigned threads;
    enum pyro_redaction redaction;          /* of what the list shows */
    const struct pyro_catalog_list *before; /* what was found last time */
    bool (*stopping)(void *context);        /* asked often; true ends the update early */
    void (*partial)(void *context,
                    struct pyro_catalog_list *list); /* takes over what was found so far; NULL: not wanted */
    void *context;
    uint64_t *identities;                            /* how many were given out */
    const struct pyro_catalog_artefacts **artefacts; /* what the last update found, and then what this one does */
};
/* A log as it is listed, with its attempt or why it cannot be read; NULL: no memory, or *ret_gone. (log.c) */
struct pyro_catalog_log *pyro_catalog_log_scan(const struct pyro_catalog_update *update, const struct pyro_log *log,
                                               const struct pyro_file_stamp *stamps, bool *ret_gone);
/* *ret is NULL when nothing has changed, or when it was stopped. */
enum pyro_status pyro_catalog_update(const struct pyro_catalog_update *update, struct pyro_catalog_list **ret,
                                     struct pyro_error *error);

#endif
