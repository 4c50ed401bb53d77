/* Whose a file is that lies near event logs: what it names, else what its folders hold. */
#ifndef PYRO_LOAD_ARTEFACT_OWNERS_H
#define PYRO_LOAD_ARTEFACT_OWNERS_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "load/artefacts.h"

/* A folder that has event logs. */
struct pyro_artefact_folder {
    size_t directly, below;       /* event logs in it, and in its folders */
    struct pyro_slice own, other; /* path of the last one of each */
};

struct pyro_artefact_folders {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_artefact_folder) items;
    struct pyro_map rows; /* hash of the folder's path -> row + 1 */
};

void pyro_artefact_folders_init(struct pyro_artefact_folders *folders, const struct pyro_allocator *allocator);
void pyro_artefact_folders_done(struct pyro_artefact_folders *folders);
/* Counts an event log in the folders that it lies in. `path`: of the log, which owners are named by. False: no memory.
 */
bool pyro_artefact_folders_add(struct pyro_artefact_folders *folders, const struct pyro_log *log,
                               struct pyro_slice path);
/* `folders`: NULL when folders say nothing, as of members of archives. `event_logs`: how many there are in all. */
struct pyro_artefact_owner pyro_artefact_owner_of(const struct pyro_artefact_folders *folders,
                                                  const struct pyro_artefact_file *file, size_t event_logs);

#endif
