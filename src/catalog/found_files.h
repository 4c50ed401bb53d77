/* What was found in folders, kept between starts; one thread at a time. */
#ifndef PYRO_CATALOG_FOUND_FILES_H
#define PYRO_CATALOG_FOUND_FILES_H

#include "catalog/catalog.h"
#include "catalog/log.h"

struct pyro_catalog_index;
/* PYRO_ERROR_OUTPUT: nothing can be kept in that folder, which is made when missing. */
enum pyro_status pyro_catalog_index_open(const char *folder, enum pyro_redaction redaction,
                                         struct pyro_catalog_index **ret, struct pyro_error *error);
void pyro_catalog_index_close(struct pyro_catalog_index *index);
/* Adds what is kept of the logs of `folder`. False: no memory. */
bool pyro_catalog_index_read(struct pyro_catalog_index *index, const char *folder,
                             const struct pyro_catalog_options *options, pyro_catalog_logs *logs, uint64_t *identities);
/* Keeps what is new in `now` of that folder, and forgets what is not there any more. Failing does no harm. */
void pyro_catalog_index_write(struct pyro_catalog_index *index, const char *folder,
                              const struct pyro_catalog_list *before, const struct pyro_catalog_list *now);

#endif
