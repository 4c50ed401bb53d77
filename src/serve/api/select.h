/* Which applications of a list are asked for, and in which order. */
#ifndef PYRO_SERVE_API_SELECT_H
#define PYRO_SERVE_API_SELECT_H

#include "serve/api/api_request.h"

struct api_selection {
    struct pyro_slice search, user;
    size_t status, sort;
    int64_t now_ms, stale_ms; /* for pyro_catalog_outcome() */
    bool ascending;
    int64_t offset, limit;
};

/* False: a parameter is wrong, and the request is answered. */
bool pyro_api_read_selection(struct api_request *request, struct api_selection *ret);
/* All that are selected, in order, of all pages; to be released. NULL: no memory. */
const struct pyro_catalog_app **pyro_api_select(const struct pyro_catalog_list *list,
                                                const struct api_selection *selection, size_t *ret_count);
/* PYRO_NONE while it runs. */
int64_t pyro_api_duration(const struct pyro_attempt *attempt);

#endif
