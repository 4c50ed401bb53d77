/* Folders of event logs. An item is named by its path below the folder: the name of a log has its application and
 * attempt, and need not be opened for that. */
#include "fleet/crawl/list_folders.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "source/file_stamp.h"
#include "source/http/http.h"
#include "source/source.h"
#include "store/store.h"

#define WRITTEN ".inprogress"

/* ---- What is known ----------------------------------------------------------------------------------------------- */

static uint64_t item_hash(struct pyro_slice name, struct pyro_slice stamp)
{
    return pyro_hash_mix(pyro_hash_slice(name) * 3 + pyro_hash_slice(stamp));
}

static uint64_t file_hash(const char *path, struct pyro_file_stamp stamp)
{
    uint64_t hash = pyro_hash_slice(pyro_slice_from(path));
    const uint64_t numbers[] = {stamp.device, stamp.inode, stamp.bytes, (uint64_t)stamp.modified_ns};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        hash = pyro_hash_mix(hash ^ numbers[i]);
    return hash;
}

static bool add_hash(struct pyro_crawl_list *list, uint64_t hash, const struct pyro_allocator *allocator)
{
    uint64_t *place = pyro_vec_push(&list->hashes, allocator);
    if (place)
        *place = hash;
    return place != NULL;
}

bool pyro_crawl_remember(struct pyro_crawl_memory *memory, const struct pyro_crawl_list *list)
{
    bool ok = true;
    for (size_t i = 0; i < list->hashes.count && ok; i++) {
        uint64_t *place = pyro_map_put(&memory->known, list->hashes.items[i], NULL);
        ok = place != NULL;
        if (ok)
            *place = 1;
    }
    return ok;
}

static struct pyro_slice key_of(const struct pyro_crawl_source *source, struct pyro_slice name,
                                struct pyro_arena *arena)
{
    return pyro_arena_printf(arena, "%s %.*s", source->label, (int)name.len, name.ptr);
}

bool pyro_crawl_list_add(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *list, struct pyro_slice name,
                         struct pyro_slice stamp, int64_t end_ms)
{
    const struct pyro_allocator *allocator = listing->settings->allocator;
    uint64_t hash = item_hash(name, stamp);
    list->seen++;
    if (pyro_map_get(&listing->memory->known, hash))
        return true;
    struct pyro_work_item *item = pyro_vec_push(&list->items, allocator);
    if (!item)
        return false;
    *item = (struct pyro_work_item){
        .key = key_of(listing->source, name, &list->arena),
        .source = pyro_slice_from(listing->source->label),
        .stamp = pyro_arena_copy(&list->arena, stamp),
        .end_ms = end_ms,
    };
    return item->key.ptr && item->stamp.ptr && add_hash(list, hash, allocator);
}

struct pyro_slice pyro_crawl_key_name(const struct pyro_crawl_source *source, struct pyro_slice key)
{
    size_t skip = strlen(source->label) + 1;
    return skip <= key.len ? (struct pyro_slice){key.ptr + skip, key.len - skip} : key;
}

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

static bool is_unchanged(void *context, const char *path, const struct stat *status)
{
    const struct pyro_crawl_listing *listing = context;
    return pyro_map_get(&listing->memory->known, file_hash(path, pyro_file_stamp_of(status))) != NULL;
}

/* All parts of a log as they are now. */
struct state_of_log {
    uint64_t bytes, hash;
    int64_t modified_ns;
    bool gone;
};

static struct state_of_log look_at(const struct pyro_log *log)
{
    struct state_of_log state = {.hash = 1};
    for (size_t i = 0; i < log->part_count; i++) {
        struct pyro_file_stamp stamp = pyro_file_stamp_at(log->parts[i].path.ptr);
        state.gone |= stamp.inode == 0;
        state.bytes += stamp.bytes;
        state.modified_ns = stamp.modified_ns > state.modified_ns ? stamp.modified_ns : state.modified_ns;
        /* Not its device, which changes when a folder is mounted again, nor its path, which loses ".inprogress". */
        const uint64_t numbers[] = {stamp.inode, stamp.bytes, (uint64_t)stamp.modified_ns};
        for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
            state.hash = pyro_hash_mix(state.hash ^ numbers[n]);
    }
    return state;
}

static struct pyro_slice relative(const struct pyro_crawl_source *source, struct pyro_slice path)
{
    size_t skip = strlen(source->label);
    if (path.len >= skip && memcmp(path.ptr, source->label, skip) == 0) {
        while (skip < path.len && path.ptr[skip] == '/')
            skip++;
        path = (struct pyro_slice){path.ptr + skip, path.len - skip};
    }
    if (pyro_slice_ends_with(path, WRITTEN))
        path.len -= sizeof(WRITTEN) - 1;
    return path;
}

static bool add_log(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *list, const struct pyro_log *log)
{
    struct state_of_log state = look_at(log);
    int64_t modified_ms = state.modified_ns / 1000000;
    char stamp[100];
    /* What is being written is taken when it has ended, or when it seems that no process writes it any more. */
    if (state.gone ||
        (log->in_progress && pyro_add_saturating(modified_ms, listing->settings->still_ms) > pyro_store_now_ms()))
        return true;
    if (listing->settings->min_end_ms != PYRO_NONE && modified_ms < listing->settings->min_end_ms)
        return true; /* nothing was written since */
    snprintf(stamp, sizeof(stamp), "%zu:%llu:%lld:%016llx", log->part_count, (unsigned long long)state.bytes,
             (long long)state.modified_ns, (unsigned long long)state.hash);
    for (size_t i = 0; i < log->part_count; i++)
        if (!add_hash(list, file_hash(log->parts[i].path.ptr, pyro_file_stamp_at(log->parts[i].path.ptr)),
                      listing->settings->allocator))
            return false;
    return pyro_crawl_list_add(listing, list, relative(listing->source, log->path), pyro_slice_from(stamp),
                               modified_ms);
}

/* Whether it is the file that the runs go into, or its journal: each pass changes them. */
static bool is_store(const struct pyro_crawl_listing *listing, struct pyro_slice path)
{
    static const char *const ends[] = {"-journal", "-wal", "-shm"};
    const char *url = listing->settings->store;
    char name[PATH_MAX];
    struct stat store, file;
    if (!url || strncmp(url, "sqlite:", 7) != 0 || path.len >= sizeof(name) || stat(pyro_store_place(url), &store) != 0)
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (pyro_slice_ends_with(path, ends[i])) {
            path.len -= strlen(ends[i]);
            break;
        }
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    return stat(name, &file) == 0 && file.st_dev == store.st_dev && file.st_ino == store.st_ino;
}

/* A file that is not a log: reading it says why, once. Then it is not read until it changes. */
static bool add_other(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *list, struct pyro_slice path)
{
    if (is_store(listing, path))
        return true;
    struct pyro_log_part part = {.path = path};
    const struct pyro_log log = {.path = path, .parts = &part, .part_count = 1};
    return add_log(listing, list, &log);
}

static enum pyro_status list_folder(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *ret,
                                    struct pyro_error *error)
{
    const char *const paths[] = {listing->source->given};
    const struct pyro_known known = {
        .unchanged = is_unchanged, .context = pyro_unconst(listing), .unlimited = listing->settings->unlimited};
    struct pyro_log_list found;
    if (access(paths[0], R_OK) != 0) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "cannot read the source: %s", strerror(errno));
        pyro_error_at(error, paths[0], UINT64_MAX);
        return PYRO_ERROR_INPUT;
    }
    enum pyro_status status = pyro_source_discover_again(paths, 1, &known, listing->settings->allocator, &found, error);
    bool ok = true;
    for (size_t i = 0; status == PYRO_OK && ok && i < found.count; i++)
        ok = add_log(listing, ret, &found.logs[i]);
    for (size_t i = 0; status == PYRO_OK && ok && i < found.unreadable_count; i++)
        if (!pyro_slice_is(found.unreadable[i].path, paths[0])) /* an empty folder is one without news */
            ok = add_other(listing, ret, found.unreadable[i].path);
    pyro_log_list_done(&found);
    return status == PYRO_OK && !ok ? pyro_no_memory(error) : status;
}

struct pyro_slice pyro_crawl_server_key(const struct pyro_crawl_source *source, struct pyro_slice app_id,
                                        struct pyro_slice attempt, struct pyro_arena *arena)
{
    struct pyro_strbuf name;
    pyro_strbuf_init(&name, arena->allocator);
    pyro_http_escape(&name, app_id);
    pyro_strbuf_add_char(&name, '/');
    pyro_http_escape(&name, attempt);
    struct pyro_slice key = name.failed ? PYRO_SLICE_NULL : key_of(source, pyro_strbuf_slice(&name), arena);
    pyro_strbuf_done(&name);
    return key;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

enum pyro_status pyro_crawl_list(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *ret,
                                 struct pyro_error *error)
{
    *ret = (struct pyro_crawl_list){0};
    pyro_arena_init(&ret->arena, listing->settings->allocator);
    return listing->source->server ? pyro_crawl_list_server(listing, ret, error) : list_folder(listing, ret, error);
}

void pyro_crawl_list_done(struct pyro_crawl_list *list, const struct pyro_allocator *allocator)
{
    pyro_vec_done(&list->items, allocator);
    pyro_vec_done(&list->hashes, allocator);
    pyro_arena_done(&list->arena);
}

/* The path below a folder; a log in progress has another name than its item. */
static struct pyro_slice find_path(const struct pyro_crawl_source *source, struct pyro_slice name,
                                   struct pyro_arena *arena, struct pyro_slice *ret_inside)
{
    struct pyro_slice path = name.len ? pyro_arena_printf(arena, "%s/%.*s", source->given, (int)name.len, name.ptr)
                                      : pyro_arena_copy(arena, pyro_slice_from(source->given));
    if (!path.ptr || access(path.ptr, F_OK) == 0)
        return path;
    struct pyro_slice written = pyro_arena_printf(arena, "%s" WRITTEN, path.ptr);
    if (!written.ptr || access(written.ptr, F_OK) == 0)
        return written;
    const char *member = strchr(path.ptr, '!');
    if (!member)
        return path;
    *ret_inside = path;
    return pyro_arena_copy(arena, (struct pyro_slice){path.ptr, (size_t)(member - path.ptr)});
}

struct pyro_slice pyro_crawl_address(const struct pyro_crawl_source *source, struct pyro_slice key,
                                     struct pyro_arena *arena, struct pyro_slice *ret_inside)
{
    struct pyro_slice name = pyro_crawl_key_name(source, key);
    *ret_inside = PYRO_SLICE_NULL;
    if (!source->server)
        return find_path(source, name, arena, ret_inside);
    struct pyro_slice api = pyro_crawl_api(source, arena);
    if (name.len && name.ptr[name.len - 1] == '/') /* no attempt */
        name.len--;
    return api.ptr ? pyro_arena_printf(arena, "%s/%.*s", api.ptr, (int)name.len, name.ptr) : api;
}
