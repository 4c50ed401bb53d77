/* Parts of recording runs: their items of the work, and which attempt is the final one. */
#ifndef PYRO_STORE_OPENSEARCH_WORK_H
#define PYRO_STORE_OPENSEARCH_WORK_H

#include "store/opensearch/opensearch.h"

const char *pyro_opensearch_work_state(enum pyro_work_state state);
/* Members of an item whose lease ended with this. */
void pyro_opensearch_work_ended(const struct pyro_lease *lease, enum pyro_work_state state, struct pyro_strbuf *to);
/* Of an application's runs that the store shows, only the one that started last is a final attempt. */
enum pyro_status pyro_opensearch_mark_final(struct pyro_opensearch *store, struct pyro_slice app_id,
                                            struct pyro_error *error);

#endif
