/* Files other than event logs that are next to the logs of the folders. */
#ifndef PYRO_CATALOG_FOUND_ARTEFACTS_H
#define PYRO_CATALOG_FOUND_ARTEFACTS_H

#include "base/memory/arena.h"
#include "catalog/catalog.h"
#include "catalog/log.h"
#include "catalog/update.h"
#include "load/artefacts.h"
#include "source/file_stamp.h"
#include "source/source.h"

struct pyro_catalog_sent_files;

struct pyro_catalog_update;

/* Immutable except the count. */
struct pyro_catalog_artefacts;
/* Looks through the folders of `update`, and through archives that were uploaded with an event log. `logs`: all that
 * was found there, event logs or not. `before`: what the last search found, or NULL. The caller releases the result. */
enum pyro_status pyro_catalog_artefacts_find(const struct pyro_catalog_update *update, const pyro_catalog_logs *logs,
                                             const struct pyro_catalog_artefacts *before,
                                             struct pyro_catalog_artefacts **ret, struct pyro_error *error);
/* NULL stands for nothing found, here and below. */
struct pyro_catalog_artefacts *pyro_catalog_artefacts_retain(const struct pyro_catalog_artefacts *artefacts);
void pyro_catalog_artefacts_release(const struct pyro_catalog_artefacts *artefacts);
/* Whether both have the same files, none of which has changed. */
bool pyro_catalog_artefacts_same(const struct pyro_catalog_artefacts *a, const struct pyro_catalog_artefacts *b);
/* Whether a file was looked into that is neither one of them nor a log of the list that the search had, and has not
 * changed. */
bool pyro_catalog_artefacts_is_other(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path,
                                     struct pyro_file_stamp stamp);
/* Whether the file at that path is one; `stamp`: and has not changed since, NULL: in any case. */
bool pyro_catalog_artefacts_has(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path,
                                const struct pyro_file_stamp *stamp);
/* A number that changes with the files of the run that the log is of; 0: it has none. */
uint64_t pyro_catalog_artefacts_key_of(const struct pyro_catalog_artefacts *artefacts,
                                       const struct pyro_catalog_log *log);
/* The files of the log's run: the next one behind *at, which begins at 0; NULL: there are no more. */
const struct pyro_artefact_file *pyro_catalog_artefacts_next(const struct pyro_catalog_artefacts *artefacts,
                                                             const struct pyro_catalog_log *log, size_t *at);
/* All of them, in the arena; valid as long as `artefacts`. False: no memory. */
bool pyro_catalog_artefacts_of(const struct pyro_catalog_artefacts *artefacts, const struct pyro_catalog_log *log,
                               struct pyro_arena *arena, struct pyro_artefact_list *ret);
/* Those that were uploaded by themselves, of all applications. */
const struct pyro_catalog_sent_files *pyro_catalog_artefacts_sent(const struct pyro_catalog_artefacts *artefacts);
/* What looking at the other files of an upload took. */
uint64_t pyro_catalog_artefacts_cpu(const struct pyro_catalog_artefacts *artefacts, const struct pyro_catalog_log *log);
/* What applications without an event log are made of: a log of PYRO_LAYOUT_LOGS for each; valid as long as `artefacts`.
 */
const struct pyro_log *pyro_catalog_artefacts_logged(const struct pyro_catalog_artefacts *artefacts, size_t *ret_count);
/* Files that belong to no application, and why. */
const struct pyro_unreadable *pyro_catalog_artefacts_left(const struct pyro_catalog_artefacts *artefacts,
                                                          size_t *ret_count);

#endif
