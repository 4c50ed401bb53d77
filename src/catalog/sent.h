/* Files that were uploaded by themselves, without an event log. */
#ifndef PYRO_CATALOG_SENT_H
#define PYRO_CATALOG_SENT_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "catalog/catalog.h"
#include "catalog/log.h"
#include "catalog/update.h"
#include "load/artefacts.h"
#include "source/file_stamp.h"

struct pyro_catalog_update;

struct pyro_catalog_sent_file {
    struct pyro_file_stamp stamp;
    enum pyro_artefact_place place; /* of files that are not artefacts, only the path and this are known */
    uint64_t cpu_us;                /* what it took to find out that it is not an event log */
    struct pyro_artefact_file file;
};

struct pyro_catalog_sent_files {
    struct pyro_arena arena;                       /* of the texts */
    PYRO_VEC(struct pyro_catalog_sent_file) items; /* by path */
    struct pyro_map keys;                          /* hash of an application's id -> key of its files */
    uint64_t digest;
};

void pyro_catalog_sent_init(struct pyro_catalog_sent_files *files);
void pyro_catalog_sent_done(struct pyro_catalog_sent_files *files);
/* Fills `ret`, which is initialised, from uploads that could not be read as event logs; `before`: what the last search
 * found, or NULL. */
enum pyro_status pyro_catalog_sent_find(const struct pyro_catalog_update *update, const pyro_catalog_logs *logs,
                                        const struct pyro_catalog_sent_files *before,
                                        struct pyro_catalog_sent_files *ret, struct pyro_error *error);
/* What is known of the file at that path, or NULL; `files` may be NULL. */
const struct pyro_catalog_sent_file *pyro_catalog_sent_at(const struct pyro_catalog_sent_files *files,
                                                          struct pyro_slice path);
typedef PYRO_VEC(struct pyro_log) pyro_catalog_made_logs;
/* Adds a log of PYRO_LAYOUT_LOGS for each application that these files name, at least one of them a text log, and that
 * is not among `known`, hashes of ids. Its texts are those of `files` and of the arena. False: no memory. */
bool pyro_catalog_sent_logged(const struct pyro_catalog_sent_files *files, const struct pyro_map *known,
                              struct pyro_arena *arena, pyro_catalog_made_logs *logs);
/* A number that changes with the files of that application; 0: it has none. */
uint64_t pyro_catalog_sent_key(const struct pyro_catalog_sent_files *files, struct pyro_slice application);

#endif
