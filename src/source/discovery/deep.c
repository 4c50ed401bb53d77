/* Event logs in the folders of a folder: files with the names of rolling logs and those of Databricks, and files that
 * begin as event logs do. Other files do not concern a search for event logs. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/memory/allocator.h"
#include "source/discovery/discovery.h"
#include "source/discovery/walk.h"
#include "source/input.h"

enum { HEAD_BYTES = 4096 };

struct deep {
    struct pyro_discovery *discovery;
    struct pyro_slice folder;
    pyro_found_vec *found;
    size_t kept; /* files known to be unchanged */
    char *head;
};

/* Folders between the one that was named and the file. */
static size_t depth_of(struct pyro_slice folder, struct pyro_slice path)
{
    size_t depth = 0;
    for (size_t i = folder.len + 1; i < path.len; i++)
        depth += path.ptr[i] == '/';
    return depth;
}

/* Whether another path that was named leads to it: that one finds it. */
static bool is_named_apart(const struct pyro_discovery *discovery, struct pyro_slice folder, struct pyro_slice path)
{
    for (; path.len > folder.len; path = pyro_folder_name(path))
        if (pyro_map_get(&discovery->named, pyro_hash_slice(path)))
            return true;
    return false;
}

/* A file that cannot be opened may be one. */
static enum pyro_status name_refused(struct deep *deep, struct pyro_slice path)
{
    int fd = pyro_open_regular(path.ptr);
    if (fd < 0)
        return errno == ENOENT ? PYRO_OK : pyro_add_failure(deep->discovery, path, "cannot read", errno);
    close(fd);
    return PYRO_OK;
}

static enum pyro_status begins_as_event_log(struct deep *deep, const struct pyro_log_part *part, bool *ret)
{
    struct pyro_error refused = {.size = sizeof(refused)};
    size_t len = 0;
    enum pyro_status status = pyro_part_head(part, deep->discovery->allocator, deep->head, HEAD_BYTES, &len, &refused);
    struct pyro_slice head = {deep->head, len};
    if (status == PYRO_ERROR_INPUT)
        PYRO_TRY(name_refused(deep, part->path));
    *ret = status == PYRO_OK && len > 0 && head.ptr[0] == '{' && pyro_slice_find(head, "\"Event\"") &&
           pyro_slice_find(head, "SparkListener");
    return status == PYRO_ERROR_MEMORY ? status : PYRO_OK;
}

static enum pyro_status add(struct deep *deep, struct pyro_slice path, uint64_t bytes)
{
    path = pyro_arena_copy(deep->discovery->arena, path);
    return path.ptr ? pyro_add_found(deep->discovery, deep->found, path, bytes) : PYRO_ERROR_MEMORY;
}

static enum pyro_status look_at(struct deep *deep, const struct pyro_log_part *part, enum pyro_name_kind kind,
                                const struct stat *status)
{
    const struct pyro_known *known = deep->discovery->known;
    uint64_t bytes = (uint64_t)status->st_size;
    bool is_log = true;
    if (kind == PYRO_NAME_STATUS)
        return add(deep, part->path, 0); /* empty by intent */
    if (kind == PYRO_NAME_PART)
        return add(deep, part->path, bytes);
    if (known->unchanged && known->unchanged(known->context, part->path.ptr, status)) {
        deep->kept++;
        return kind == PYRO_NAME_SINGLE ? PYRO_OK : add(deep, part->path, bytes);
    }
    if (bytes == 0 || (known->no_event_log && known->no_event_log(known->context, part->path.ptr, status)))
        return PYRO_OK;
    PYRO_TRY(begins_as_event_log(deep, part, &is_log));
    return is_log ? add(deep, part->path, bytes) : PYRO_OK;
}

static enum pyro_status visit(void *context, struct pyro_slice folder, const struct pyro_log_part *part,
                              struct pyro_error *error)
{
    struct deep *deep = context;
    enum pyro_name_kind kind = pyro_name_of(pyro_base_name(part->path)).kind;
    size_t depth = depth_of(folder, part->path);
    struct stat status;
    (void)error;
    /* The folder itself, and names of parts in its own folders, have been looked at. */
    if (depth == 0 || (depth == 1 && kind != PYRO_NAME_SINGLE) || pyro_is_untrusted(deep->discovery, part->path) ||
        is_named_apart(deep->discovery, folder, part->path) || stat(part->path.ptr, &status) != 0)
        return PYRO_OK;
    return look_at(deep, part, kind, &status);
}

/* What is in the folder itself. */
static bool is_looked_at(void *context, struct pyro_slice path)
{
    const struct deep *deep = context;
    return depth_of(deep->folder, path) == 0;
}

enum pyro_status pyro_discover_deep(struct pyro_discovery *discovery, struct pyro_slice path, pyro_found_vec *found,
                                    size_t *ret_kept)
{
    const struct pyro_known *known = discovery->known;
    struct pyro_walk_result result = {0};
    struct pyro_error refused = {.size = sizeof(refused)};
    struct deep deep = {.discovery = discovery, .folder = path, .found = found};
    *ret_kept = 0;
    if (!known || !known->deep || (known->untrusted && pyro_slice_is(path, known->untrusted)))
        return PYRO_OK;
    deep.head = pyro_allocate(discovery->allocator, HEAD_BYTES);
    if (!deep.head)
        return PYRO_ERROR_MEMORY;
    enum pyro_status status =
        pyro_walk_knowing(path.ptr, discovery->allocator, is_looked_at, visit, &deep, &result, &refused);
    pyro_release(discovery->allocator, deep.head);
    *ret_kept = deep.kept;
    return status == PYRO_ERROR_MEMORY ? status : PYRO_OK;
}
