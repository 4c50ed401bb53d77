/* Lists of applications, as the files of the catalog make and read them (catalog.h has what others read). */
#ifndef PYRO_CATALOG_APPLICATION_LIST_H
#define PYRO_CATALOG_APPLICATION_LIST_H

#include "catalog/catalog.h"
#include "catalog/log.h"

struct pyro_catalog_artefacts;

/* A list of these logs and the files next to them, which it retains; NULL: no memory. Reorders the logs: by path. */
struct pyro_catalog_list *pyro_catalog_list_new(pyro_catalog_logs *logs,
                                                const struct pyro_catalog_artefacts *artefacts);
/* The files next to its logs, or NULL. */
const struct pyro_catalog_artefacts *pyro_catalog_list_artefacts(const struct pyro_catalog_list *list);
/* Before anybody else has it. */
void pyro_catalog_list_set_generation(struct pyro_catalog_list *list, uint64_t generation);
struct pyro_catalog_list *pyro_catalog_list_retain(const struct pyro_catalog_list *list);
/* Whether something of it could not be looked at for now. */
bool pyro_catalog_list_is_passing(const struct pyro_catalog_list *list);
/* All that was found, by path; listed or not. */
struct pyro_catalog_log *const *pyro_catalog_list_logs(const struct pyro_catalog_list *list, size_t *ret_count);
/* The log at that path, or NULL. */
struct pyro_catalog_log *pyro_catalog_list_at(const struct pyro_catalog_list *list, struct pyro_slice path);
const struct pyro_catalog_log *pyro_catalog_list_log_of(const struct pyro_catalog_list *list,
                                                        const struct pyro_attempt *attempt);

#endif
