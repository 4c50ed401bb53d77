/* What stays of runs that are deleted: a document for each day and application. */
#ifndef PYRO_STORE_OPENSEARCH_DAYS_H
#define PYRO_STORE_OPENSEARCH_DAYS_H

#include "store/opensearch/opensearch.h"

/* A run that may go, and what of it a day keeps. */
struct pyro_old_run {
    struct pyro_slice id, application;
    int64_t time_ms, completed, duration_ms, core_ms, input_bytes;
    bool gone; /* another one has deleted it */
};

/* Adds runs, none of them twice, and marks those that were removed; their order changes. *ret_days: the ids of their
 * days as JSON strings. Then the runs are deleted, and their days need not name them any longer. */
enum pyro_status pyro_opensearch_add_to_days(struct pyro_opensearch *store, struct pyro_old_run *runs, size_t count,
                                             struct pyro_strbuf *ret_days, struct pyro_error *error);
enum pyro_status pyro_opensearch_forget_in_days(struct pyro_opensearch *store, const char *days, const char *runs,
                                                struct pyro_error *error);

#endif
