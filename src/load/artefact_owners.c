#include "load/artefact_owners.h"

#include "base/collections/hash.h"
#include "source/discovery/names.h"

void pyro_artefact_folders_init(struct pyro_artefact_folders *folders, const struct pyro_allocator *allocator)
{
    *folders = (struct pyro_artefact_folders){.allocator = allocator};
    pyro_map_init(&folders->rows, allocator);
}

void pyro_artefact_folders_done(struct pyro_artefact_folders *folders)
{
    pyro_vec_done(&folders->items, folders->allocator);
    pyro_map_done(&folders->rows);
}

/* NULL: no memory. */
static struct pyro_artefact_folder *put(struct pyro_artefact_folders *folders, struct pyro_slice path)
{
    uint64_t *row = pyro_map_put(&folders->rows, pyro_hash_slice(path), NULL);
    if (!row)
        return NULL;
    if (*row)
        return &folders->items.items[*row - 1];
    struct pyro_artefact_folder *added = pyro_vec_push(&folders->items, folders->allocator);
    if (!added)
        return NULL;
    *added = (struct pyro_artefact_folder){0};
    *row = folders->items.count;
    return added;
}

bool pyro_artefact_folders_add(struct pyro_artefact_folders *folders, const struct pyro_log *log,
                               struct pyro_slice path)
{
    if (log->part_count == 0)
        return true; /* an address */
    const struct pyro_log_part *part = &log->parts[0];
    /* The folder of a rolling log is the log: what counts is the folder that has it. */
    bool folder = !part->member.ptr && log->layout == PYRO_LAYOUT_ROLLING;
    struct pyro_slice at = pyro_folder_name(folder             ? pyro_folder_name(part->path)
                                            : part->member.ptr ? path
                                                               : part->path);
    if (folder) {
        struct pyro_artefact_folder *inside = put(folders, pyro_folder_name(part->path));
        if (!inside)
            return false;
        inside->directly++;
        inside->own = path;
    }
    for (bool directly = true; at.ptr; at = pyro_folder_name(at), directly = false) {
        struct pyro_artefact_folder *row = put(folders, at);
        if (!row)
            return false;
        *(directly ? &row->directly : &row->below) += 1;
        *(directly ? &row->own : &row->other) = path;
    }
    return true;
}

/* A folder with event logs of its own has no need of those below it. */
static struct pyro_artefact_owner owner_in(const struct pyro_artefact_folder *folder)
{
    size_t count = folder->directly ? folder->directly : folder->below;
    if (count != 1)
        return (struct pyro_artefact_owner){.kind = PYRO_OWNER_NOBODY};
    return (struct pyro_artefact_owner){PYRO_OWNER_LOG, folder->directly ? folder->own : folder->other};
}

struct pyro_artefact_owner pyro_artefact_owner_of(const struct pyro_artefact_folders *folders,
                                                  const struct pyro_artefact_file *file, size_t event_logs)
{
    if (file->source.application.ptr)
        return (struct pyro_artefact_owner){PYRO_OWNER_APPLICATION, file->source.application};
    if (event_logs == 1)
        return (struct pyro_artefact_owner){.kind = PYRO_OWNER_ANY};
    for (struct pyro_slice path = pyro_folder_name(file->part.member.ptr ? file->source.path : file->part.path);
         folders && path.ptr; path = pyro_folder_name(path)) {
        const uint64_t *row = pyro_map_get(&folders->rows, pyro_hash_slice(path));
        if (row)
            return owner_in(&folders->items.items[*row - 1]);
    }
    return (struct pyro_artefact_owner){.kind = PYRO_OWNER_NOBODY};
}

bool pyro_artefact_belongs(const struct pyro_artefact_file *file, struct pyro_slice application, struct pyro_slice log)
{
    switch (file->owner.kind) {
    case PYRO_OWNER_APPLICATION:
        return pyro_slice_eq(file->owner.name, application);
    case PYRO_OWNER_LOG:
        return pyro_slice_eq(file->owner.name, log);
    case PYRO_OWNER_ANY:
        return true;
    case PYRO_OWNER_NOBODY:
        break;
    }
    return false;
}
