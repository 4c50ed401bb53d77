/* Logs that stores name: where to look for them, and which run one is of. */
#include <limits.h>
#include <stdlib.h>

#include "catalog/log.h"
#include "catalog/stores.h"
#include "catalog/update_stores.h"

/* ---- Where to look ---- */

static bool is_file(const char *path, struct stat *status)
{
    return stat(path, status) == 0 && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)); /* others may block */
}

/* The file or folder itself, or the archive that it is a member of; NULL: there is none. */
static const char *root_of(struct pyro_arena *arena, struct pyro_slice path, struct stat *status)
{
    if (is_file(path.ptr, status))
        return path.ptr;
    for (size_t len = path.len; len > 1; len--) {
        if (path.ptr[len - 1] != '!')
            continue;
        struct pyro_slice archive = pyro_arena_copy(arena, (struct pyro_slice){path.ptr, len - 1});
        if (archive.ptr && is_file(archive.ptr, status) && S_ISREG(status->st_mode))
            return archive.ptr;
    }
    return NULL;
}

/* Folders are searched for logs one level deep. */
static bool is_found_in(const char *root, const char *folder)
{
    size_t len = strlen(folder);
    const char *slash = strrchr(root, '/');
    bool top = strcmp(folder, "/") == 0;
    return strcmp(root, folder) == 0 || (top ? slash == root : slash == root + len && memcmp(root, folder, len) == 0);
}

static bool is_found_anyway(const char *root, char *const *folders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (folders[i] && is_found_in(root, folders[i]))
            return true;
    return false;
}

static bool add_root(struct pyro_catalog_roots *roots, struct pyro_catalog_named *named, char *const *folders)
{
    struct stat status;
    const char *root = root_of(roots->arena, named->run->stored->path, &status);
    named->tried = false;
    if (!root || is_found_anyway(root, folders, roots->folder_count))
        return true;
    struct pyro_file_stamp stamp = pyro_file_stamp_of(&status);
    if (named->refused && pyro_file_stamp_eq(named->root, stamp))
        return true;
    if (roots->known(roots->context, named))
        return true;
    named->root = stamp;
    named->refused = named->tried = true; /* until it is found to be that run's */
    const char *last = roots->paths.count ? roots->paths.items[roots->paths.count - 1] : NULL;
    if (last && strcmp(last, root) == 0)
        return true;
    const char **place = pyro_vec_push(&roots->paths, NULL);
    if (place)
        *place = root;
    return place != NULL;
}

bool pyro_catalog_roots_of(struct pyro_catalog_roots *roots, struct pyro_catalog_store *store)
{
    char **folders = pyro_allocate(NULL, (roots->folder_count + 1) * sizeof(*folders));
    bool ok = folders != NULL;
    for (size_t i = 0; ok && i < roots->folder_count; i++)
        folders[i] = realpath(roots->folders[i], NULL); /* as the paths in stores are */
    for (size_t i = 0; ok && i < store->named.count; i++)
        ok = add_root(roots, &store->named.items[i], folders);
    for (size_t i = 0; folders && i < roots->folder_count; i++)
        free(folders[i]);
    pyro_release(NULL, folders);
    return ok;
}

/* ---- Which run it is ---- */

bool pyro_catalog_is_of(const struct pyro_catalog_log *log, const struct pyro_catalog_log *run)
{
    struct pyro_slice a = log->attempt.attempt_id, b = run->attempt.attempt_id;
    return log->attempt.app_id.ptr && pyro_slice_eq(log->attempt.app_id, run->attempt.app_id) &&
           (a.ptr && b.ptr ? pyro_slice_eq(a, b) : a.ptr == b.ptr);
}

/* The first one at that path. */
static size_t first_at(const struct pyro_catalog_store *store, struct pyro_slice path)
{
    size_t low = 0, high = store->named.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pyro_slice_compare(store->named.items[middle].run->stored->path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct pyro_catalog_store *store, size_t i, struct pyro_slice path)
{
    return i < store->named.count && pyro_slice_eq(store->named.items[i].run->stored->path, path);
}

bool pyro_catalog_is_named(struct pyro_catalog_store *const *stores, size_t count, struct pyro_slice path)
{
    for (size_t i = 0; i < count; i++)
        if (is_at(stores[i], first_at(stores[i], path), path))
            return true;
    return false;
}

void pyro_catalog_forget_refusals(struct pyro_catalog_store *store)
{
    for (size_t i = 0; i < store->named.count; i++)
        if (store->named.items[i].tried)
            store->named.items[i].refused = store->named.items[i].tried = false;
}

bool pyro_catalog_accept_named(struct pyro_catalog_store *const *stores, size_t count,
                               const struct pyro_catalog_log *log)
{
    bool accepted = false;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = first_at(stores[i], log->log.path); is_at(stores[i], j, log->log.path); j++) {
            struct pyro_catalog_named *named = &stores[i]->named.items[j];
            if (!pyro_catalog_is_of(log, named->run))
                continue;
            named->refused = false;
            accepted = true;
        }
    }
    return accepted;
}
