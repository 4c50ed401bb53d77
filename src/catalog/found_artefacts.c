/* What applications left next to their event logs in the folders: found as load/artefacts.h finds it, remembered from
 * one update to the next so that no unchanged file is opened, and given to the runs that it belongs to. */
#include "catalog/found_artefacts.h"
#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/memory/allocator.h"
#include "catalog/log.h"
#include "catalog/sent.h"
#include "catalog/update.h"
#include "load/load.h"
#include "load/logged/logged.h"

/* A file that was looked into. */
struct seen_file {
    struct pyro_slice path;
    struct pyro_file_stamp stamp;
    enum pyro_artefact_place place;
    size_t artefact; /* its number in `found`, of PYRO_PLACE_ARTEFACT */
};

/* An archive that was sent: what is in it belongs to the event logs in it, and to no others. Without event logs, it
 * makes applications of its own. */
struct sent_archive {
    struct pyro_slice path;
    struct pyro_file_stamp stamp;
    struct pyro_artefact_list found;
    bool has_events;
    uint64_t key;
    uint64_t cpu_us; /* what it took to find out that they are not event logs */
};

struct pyro_catalog_artefacts {
    atomic_int references;
    /* Its arena has all texts; its rows of `unreadable` are files without an application, its logs are of applications
     * without an event log. */
    struct pyro_log_list list;
    struct pyro_artefact_list found;
    pyro_catalog_made_logs logged; /* those of `list`, of archives, and of files that were sent by themselves */
    PYRO_VEC(struct seen_file) seen;
    struct pyro_map by_path; /* hash of the path, or the next number that is free -> row of `seen` + 1 */
    struct pyro_map keys;    /* key_of_owner() -> key of its files */
    PYRO_VEC(struct sent_archive) archives;
    struct pyro_map archive_rows; /* as by_path */
    struct pyro_catalog_sent_files sent;
    uint64_t digest;
};

/* ---- Life -------------------------------------------------------------------------------------------------------- */

struct pyro_catalog_artefacts *pyro_catalog_artefacts_retain(const struct pyro_catalog_artefacts *artefacts)
{
    struct pyro_catalog_artefacts *counted = pyro_unconst(artefacts);
    if (counted)
        atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pyro_catalog_artefacts_release(const struct pyro_catalog_artefacts *artefacts)
{
    struct pyro_catalog_artefacts *counted = pyro_unconst(artefacts);
    if (!counted || atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) != 1)
        return;
    pyro_vec_done(&counted->logged, NULL);
    pyro_vec_done(&counted->seen, NULL);
    pyro_vec_done(&counted->archives, NULL);
    pyro_map_done(&counted->by_path);
    pyro_map_done(&counted->archive_rows);
    pyro_map_done(&counted->keys);
    pyro_catalog_sent_done(&counted->sent);
    pyro_log_list_done(&counted->list);
    pyro_release(NULL, counted);
}

/* ---- What is remembered ------------------------------------------------------------------------------------------ */

static const struct seen_file *find_seen(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path)
{
    const uint64_t *row;
    for (uint64_t key = pyro_hash_slice(path); artefacts && (row = pyro_map_get(&artefacts->by_path, key)); key++)
        if (pyro_slice_eq(artefacts->seen.items[*row - 1].path, path))
            return &artefacts->seen.items[*row - 1];
    return NULL;
}

static bool add_seen(struct pyro_catalog_artefacts *artefacts, const struct seen_file *file)
{
    struct seen_file *added = pyro_vec_push(&artefacts->seen, NULL);
    bool is_new = false;
    if (!added)
        return false;
    *added = *file;
    added->path = pyro_arena_copy(&artefacts->list.arena, file->path);
    for (uint64_t key = pyro_hash_slice(file->path); !is_new; key++) {
        uint64_t *row = pyro_map_put(&artefacts->by_path, key, &is_new);
        if (!row)
            return false;
        if (is_new)
            *row = artefacts->seen.count;
    }
    return added->path.ptr != NULL;
}

/* One search, which makes `made` with the help of `before`. */
struct search {
    const struct pyro_catalog_update *update;
    struct pyro_catalog_artefacts *made;
    const struct pyro_catalog_artefacts *before;
    struct pyro_map event_logs;   /* hashes of the paths of their files */
    struct pyro_map with_events;  /* hashes of the ids of their applications */
    struct pyro_file_stamp stamp; /* of the file that was recalled last */
    bool known;                   /* that was an event log, or an upload */
    size_t count;                 /* of artefacts */
};

static bool is_event_log(void *context, struct pyro_slice path)
{
    const struct search *search = context;
    return !pyro_catalog_is_sent(path, search->update->uploads) &&
           pyro_map_get(&search->event_logs, pyro_hash_slice(path));
}

static enum pyro_artefact_place recall(void *context, struct pyro_slice path, struct pyro_artefact_file *ret)
{
    struct search *search = context;
    bool sent = pyro_catalog_is_sent(path, search->update->uploads); /* their folder may be in another one */
    search->known = sent || pyro_map_get(&search->event_logs, pyro_hash_slice(path)) != NULL;
    if (search->known)
        return sent ? PYRO_PLACE_OTHER : PYRO_PLACE_EVENTS;
    const struct seen_file *seen = find_seen(search->before, path);
    search->stamp = pyro_file_stamp_at(path.ptr);
    if (!seen || !pyro_file_stamp_eq(seen->stamp, search->stamp))
        return PYRO_PLACE_UNSEEN;
    if (seen->place == PYRO_PLACE_ARTEFACT && seen->artefact != SIZE_MAX)
        *ret = search->before->found.items[seen->artefact];
    return seen->place;
}

static bool keep(void *context, struct pyro_slice path, enum pyro_artefact_place place,
                 const struct pyro_artefact_file *file)
{
    struct search *search = context;
    const struct seen_file seen = {path, search->stamp, place, search->count};
    search->count += file != NULL;
    return !search->update->stopping(search->update->context) && (search->known || add_seen(search->made, &seen));
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

static bool is_upload(const struct pyro_catalog_update *update, const char *folder)
{
    return update->uploads && strcmp(update->uploads, folder) == 0;
}

/* The logs of the folders, as pyro_artefacts_find() wants them; uploads are not among them, since what anybody sends
 * says nothing of other runs. */
static bool take_logs(struct search *search, const pyro_catalog_logs *logs)
{
    struct pyro_log_list *list = &search->made->list;
    list->logs = pyro_arena_array(&list->arena, logs->count + 1, sizeof(*list->logs));
    bool ok = list->logs != NULL;
    for (size_t i = 0; ok && i < logs->count; i++) {
        const struct pyro_catalog_log *log = logs->items[i];
        if (log->log.part_count == 0 || log->named_by_store ||
            pyro_catalog_is_sent(log->log.path, search->update->uploads))
            continue;
        list->logs[list->count++] = log->log;
        for (size_t k = 0; ok && k < log->log.part_count && !log->problem.ptr; k++)
            ok = pyro_map_put(&search->event_logs, pyro_hash_slice(log->log.parts[k].path), NULL) != NULL;
    }
    return ok;
}

/* Applications that need not be made of their text logs. */
static bool take_ids(struct search *search, const pyro_catalog_logs *logs)
{
    bool ok = true;
    for (size_t i = 0; ok && i < logs->count; i++) {
        const struct pyro_catalog_log *log = logs->items[i];
        if (!log->problem.ptr && log->attempt.app_id.ptr &&
            !pyro_catalog_is_sent(log->log.path, search->update->uploads))
            ok = pyro_map_put(&search->with_events, pyro_hash_slice(log->attempt.app_id), NULL) != NULL;
    }
    return ok;
}

static bool add_logged(struct pyro_catalog_artefacts *made, const struct pyro_log_list *list)
{
    bool ok = true;
    for (size_t i = 0; ok && i < list->count; i++) {
        struct pyro_log *added = pyro_vec_push(&made->logged, NULL);
        ok = added != NULL;
        if (ok)
            *added = list->logs[i];
    }
    return ok;
}

static enum pyro_status run(struct search *search, const pyro_catalog_logs *logs, struct pyro_error *error)
{
    const struct pyro_catalog_update *update = search->update;
    const struct pyro_artefact_memory memory = {is_event_log, recall, keep, search};
    const struct pyro_artefact_search how = {
        .kind = PYRO_ARTEFACT_KINDS, .memory = &memory, .logged = true, .with_events = &search->with_events};
    struct pyro_catalog_artefacts *made = search->made;
    const char **folders = pyro_arena_array(&made->list.arena, update->folder_count + 1, sizeof(*folders));
    size_t count = 0;
    if (!folders || !take_logs(search, logs) || !take_ids(search, logs))
        return PYRO_ERROR_MEMORY;
    const struct pyro_log *taken = made->list.logs;
    for (size_t i = 0; i < update->folder_count; i++)
        if (!is_upload(update, update->folders[i]))
            folders[count++] = update->folders[i];
    enum pyro_status status = pyro_artefacts_find(folders, count, &how, &made->list, NULL, &made->found, error);
    if (made->list.logs == taken) { /* whose texts are the catalog's */
        made->list.logs = NULL;
        made->list.count = 0;
    }
    return status == PYRO_OK && !add_logged(made, &made->list) ? PYRO_ERROR_MEMORY : status;
}

/* ---- Uploads ----------------------------------------------------------------------------------------------------- */

static bool is_member_of(const struct pyro_catalog_log *log, struct pyro_slice archive)
{
    return log->log.part_count > 0 && log->log.parts[0].member.ptr && pyro_slice_eq(log->log.parts[0].path, archive);
}

static const struct sent_archive *find_archive(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path)
{
    const uint64_t *row;
    for (uint64_t key = pyro_hash_slice(path); artefacts && (row = pyro_map_get(&artefacts->archive_rows, key)); key++)
        if (pyro_slice_eq(artefacts->archives.items[*row - 1].path, path))
            return &artefacts->archives.items[*row - 1];
    return NULL;
}

/* NULL: no memory. */
static struct sent_archive *add_archive(struct pyro_catalog_artefacts *artefacts, struct pyro_slice path)
{
    struct sent_archive *added = pyro_vec_push(&artefacts->archives, NULL);
    bool is_new = false;
    if (!added)
        return NULL;
    *added = (struct sent_archive){.path = pyro_arena_copy(&artefacts->list.arena, path),
                                   .stamp = pyro_file_stamp_at(path.ptr)};
    for (uint64_t key = pyro_hash_slice(path); !is_new; key++) {
        uint64_t *row = pyro_map_put(&artefacts->archive_rows, key, &is_new);
        if (!row)
            return NULL;
        if (is_new)
            *row = artefacts->archives.count;
    }
    return added->path.ptr ? added : NULL;
}

/* Those that an earlier search found in the same archive. */
static bool copy_archive(struct search *search, const struct sent_archive *before, struct sent_archive *archive)
{
    struct pyro_arena *arena = &search->made->list.arena;
    size_t count = before->found.count;
    archive->found = before->found;
    archive->cpu_us = before->cpu_us;
    archive->found.items = pyro_arena_array(arena, count + 1, sizeof(*archive->found.items));
    bool ok = archive->found.items != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        archive->found.items[i] = before->found.items[i];
        ok = pyro_artefact_file_keep(arena, &archive->found.items[i]);
    }
    return ok;
}

/* Its members that are not event logs. */
static enum pyro_status look_into(struct search *search, const pyro_catalog_logs *logs, struct sent_archive *archive,
                                  struct pyro_error *error)
{
    struct pyro_arena *arena = &search->made->list.arena;
    struct pyro_log_part *parts = pyro_arena_array(arena, logs->count + 1, sizeof(*parts));
    enum pyro_artefact_place *places = pyro_arena_array(arena, logs->count + 1, sizeof(*places));
    size_t count = 0, events = 0, at = 0;
    if (!parts || !places)
        return PYRO_ERROR_MEMORY;
    for (size_t i = 0; i < logs->count; i++) {
        const struct pyro_catalog_log *log = logs->items[i];
        if (!is_member_of(log, archive->path))
            continue;
        events += !log->problem.ptr;
        if (log->problem.ptr && log->log.part_count == 1)
            parts[count++] = log->log.parts[0];
    }
    PYRO_TRY(pyro_artefacts_of_parts(parts, count, events, arena, &archive->found, places, error));
    for (size_t i = 0; i < archive->found.count; i++)
        archive->found.items[i].metered = true;
    for (size_t i = 0; i < logs->count; i++) {
        const struct pyro_catalog_log *log = logs->items[i];
        if (!is_member_of(log, archive->path) || !log->problem.ptr || log->log.part_count != 1 ||
            places[at++] != PYRO_PLACE_ARTEFACT)
            continue;
        archive->cpu_us += log->cpu_us;
    }
    return PYRO_OK;
}

/* Its members are known by what the list calls them, and the stamp of the archive. */
static bool see_members(struct search *search, struct sent_archive *archive)
{
    const struct pyro_file_stamp stamp = archive->stamp;
    for (size_t i = 0; i < archive->found.count; i++) {
        const struct pyro_log_part *part = &archive->found.items[i].part;
        struct pyro_slice label =
            pyro_arena_printf(&search->made->list.arena, "%s!%s", part->path.ptr, part->member.ptr);
        const struct seen_file seen = {label, stamp, PYRO_PLACE_ARTEFACT, SIZE_MAX};
        if (!label.ptr || !add_seen(search->made, &seen))
            return false;
        uint64_t own = pyro_hash_slice(label) ^ stamp.inode ^ stamp.bytes ^ (uint64_t)stamp.modified_ns;
        archive->key = pyro_hash_mix(archive->key ^ own) | 1;
        search->made->digest = pyro_hash_mix(search->made->digest ^ own) | 1;
    }
    return true;
}

/* The applications of an archive without an event log. */
static enum pyro_status take_logged(struct search *search, struct sent_archive *archive, struct pyro_error *error)
{
    struct pyro_catalog_artefacts *made = search->made;
    struct pyro_log_list logged = {.arena = made->list.arena};
    archive->found.event_logs = 0;
    enum pyro_status status = pyro_logged_find(&archive->found, NULL, &logged, error);
    made->list.arena = logged.arena;
    return status == PYRO_OK && !add_logged(made, &logged) ? PYRO_ERROR_MEMORY : status;
}

/* Once, whatever number of its members there are. */
static enum pyro_status take_archive(struct search *search, const pyro_catalog_logs *logs, struct pyro_slice path,
                                     bool has_events, struct pyro_error *error)
{
    struct pyro_catalog_artefacts *made = search->made;
    if (find_archive(made, path))
        return PYRO_OK;
    struct sent_archive *archive = add_archive(made, path);
    if (!archive)
        return PYRO_ERROR_MEMORY;
    const struct sent_archive *before = find_archive(search->before, path);
    bool known = before && pyro_file_stamp_eq(before->stamp, archive->stamp);
    if (known ? !copy_archive(search, before, archive) : look_into(search, logs, archive, error) != PYRO_OK)
        return PYRO_ERROR_MEMORY;
    archive->has_events = has_events;
    if (!has_events && archive->found.count > 0)
        PYRO_TRY(take_logged(search, archive, error));
    return see_members(search, archive) ? PYRO_OK : PYRO_ERROR_MEMORY;
}

/* Archives with a member that is an event log, or with one that is none. */
static enum pyro_status take_members(struct search *search, const pyro_catalog_logs *logs, bool events,
                                     struct pyro_error *error)
{
    for (size_t i = 0; i < logs->count; i++) {
        const struct pyro_catalog_log *log = logs->items[i];
        if (log->log.part_count > 0 && log->log.parts[0].member.ptr && events == !log->problem.ptr &&
            pyro_catalog_is_sent(log->log.path, search->update->uploads))
            PYRO_TRY(take_archive(search, logs, log->log.parts[0].path, events, error));
    }
    return PYRO_OK;
}

/* Those without an event log have no member among the logs any more, since all are known to be none. */
static enum pyro_status take_known(struct search *search, const pyro_catalog_logs *logs, struct pyro_error *error)
{
    for (size_t i = 0; search->before && i < search->before->archives.count; i++) {
        const struct sent_archive *before = &search->before->archives.items[i];
        if (!before->has_events && before->found.count > 0 &&
            pyro_file_stamp_eq(before->stamp, pyro_file_stamp_at(before->path.ptr)))
            PYRO_TRY(take_archive(search, logs, before->path, false, error));
    }
    return PYRO_OK;
}

static enum pyro_status take_uploads(struct search *search, const pyro_catalog_logs *logs, struct pyro_error *error)
{
    PYRO_TRY(take_members(search, logs, true, error));
    PYRO_TRY(take_known(search, logs, error));
    return take_members(search, logs, false, error);
}

/* Applications that exist without a file that was sent by itself. */
static bool note_id(struct pyro_map *ids, struct pyro_slice id)
{
    return !id.ptr || pyro_map_put(ids, pyro_hash_slice(id), NULL) != NULL;
}

static bool note_ids(const struct pyro_catalog_artefacts *made, const pyro_catalog_logs *logs, struct pyro_map *ids)
{
    bool ok = true;
    for (size_t i = 0; ok && i < logs->count; i++)
        ok = logs->items[i]->problem.ptr || note_id(ids, logs->items[i]->attempt.app_id);
    for (size_t i = 0; ok && i < made->found.count; i++)
        ok = note_id(ids, made->found.items[i].source.application);
    for (size_t i = 0; ok && i < made->archives.count; i++) {
        const struct sent_archive *archive = &made->archives.items[i];
        for (size_t k = 0; ok && !archive->has_events && k < archive->found.count; k++)
            ok = note_id(ids, archive->found.items[k].source.application);
    }
    return ok;
}

static enum pyro_status take_sent(struct search *search, const pyro_catalog_logs *logs, struct pyro_error *error)
{
    struct pyro_catalog_artefacts *made = search->made;
    struct pyro_map ids;
    PYRO_TRY(pyro_catalog_sent_find(search->update, logs, search->before ? &search->before->sent : NULL, &made->sent,
                                    error));
    if (made->sent.items.count == 0)
        return PYRO_OK;
    pyro_map_init(&ids, NULL);
    bool ok =
        note_ids(made, logs, &ids) && pyro_catalog_sent_logged(&made->sent, &ids, &made->list.arena, &made->logged);
    pyro_map_done(&ids);
    return ok ? PYRO_OK : PYRO_ERROR_MEMORY;
}

/* Changes with the file. */
static uint64_t key_of(const struct pyro_artefact_file *file, struct pyro_file_stamp stamp)
{
    const uint64_t numbers[] = {stamp.device, stamp.inode, stamp.bytes, (uint64_t)stamp.modified_ns, file->kind};
    uint64_t key = pyro_hash_slice(file->part.path);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        key = pyro_hash_mix(key ^ numbers[i]);
    return key;
}

/* An id and a path may be the same text. */
static uint64_t key_of_owner(enum pyro_artefact_owner_kind kind, struct pyro_slice name)
{
    return pyro_hash_mix(pyro_hash_slice(name) ^ (uint64_t)kind);
}

static bool make_keys(struct pyro_catalog_artefacts *made)
{
    for (size_t i = 0; i < made->seen.count; i++) {
        const struct seen_file *seen = &made->seen.items[i];
        if (seen->place != PYRO_PLACE_ARTEFACT || seen->artefact == SIZE_MAX)
            continue;
        const struct pyro_artefact_file *file = &made->found.items[seen->artefact];
        uint64_t owner = key_of_owner(file->owner.kind, file->owner.name), own = key_of(file, seen->stamp);
        uint64_t *key = pyro_map_put(&made->keys, owner, NULL);
        if (!key)
            return false;
        *key = pyro_hash_mix(*key ^ own) | 1;
        made->digest = pyro_hash_mix(made->digest ^ own ^ owner);
    }
    if (made->found.count > 0)
        made->digest = pyro_hash_mix(made->digest ^ made->found.event_logs) | 1;
    return true;
}

enum pyro_status pyro_catalog_artefacts_find(const struct pyro_catalog_update *update, const pyro_catalog_logs *logs,
                                             const struct pyro_catalog_artefacts *before,
                                             struct pyro_catalog_artefacts **ret, struct pyro_error *error)
{
    struct pyro_catalog_artefacts *made = pyro_allocate(NULL, sizeof(*made));
    if (!made)
        return PYRO_ERROR_MEMORY;
    *made = (struct pyro_catalog_artefacts){0};
    atomic_init(&made->references, 1);
    pyro_arena_init(&made->list.arena, NULL);
    pyro_map_init(&made->by_path, NULL);
    pyro_map_init(&made->archive_rows, NULL);
    pyro_map_init(&made->keys, NULL);
    pyro_catalog_sent_init(&made->sent);
    struct search search = {.update = update, .made = made, .before = before};
    pyro_map_init(&search.event_logs, NULL);
    pyro_map_init(&search.with_events, NULL);
    enum pyro_status status = run(&search, logs, error);
    if (status == PYRO_OK && !make_keys(made))
        status = PYRO_ERROR_MEMORY;
    if (status == PYRO_OK)
        status = take_uploads(&search, logs, error);
    if (status == PYRO_OK)
        status = take_sent(&search, logs, error);
    if (made->sent.digest)
        made->digest = pyro_hash_mix(made->digest ^ made->sent.digest) | 1;
    pyro_map_done(&search.event_logs);
    pyro_map_done(&search.with_events);
    if (status == PYRO_OK)
        *ret = made;
    else
        pyro_catalog_artefacts_release(made);
    return status;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

bool pyro_catalog_artefacts_same(const struct pyro_catalog_artefacts *a, const struct pyro_catalog_artefacts *b)
{
    return (a ? a->digest : 0) == (b ? b->digest : 0);
}

bool pyro_catalog_artefacts_has(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path,
                                const struct pyro_file_stamp *stamp)
{
    const struct seen_file *seen = find_seen(artefacts, path);
    if (seen && seen->place == PYRO_PLACE_ARTEFACT && (!stamp || pyro_file_stamp_eq(seen->stamp, *stamp)))
        return true;
    const struct pyro_catalog_sent_file *sent = pyro_catalog_sent_at(artefacts ? &artefacts->sent : NULL, path);
    return sent && sent->place == PYRO_PLACE_ARTEFACT && (!stamp || pyro_file_stamp_eq(sent->stamp, *stamp));
}

bool pyro_catalog_artefacts_is_other(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path,
                                     struct pyro_file_stamp stamp)
{
    const struct seen_file *seen = find_seen(artefacts, path);
    return seen && seen->place != PYRO_PLACE_ARTEFACT && pyro_file_stamp_eq(seen->stamp, stamp);
}

static const struct sent_archive *archive_of(const struct pyro_catalog_artefacts *artefacts,
                                             const struct pyro_catalog_log *log)
{
    bool member = log->uploaded && log->log.part_count > 0 && log->log.parts[0].member.ptr;
    return member ? find_archive(artefacts, log->log.parts[0].path) : NULL;
}

uint64_t pyro_catalog_artefacts_key_of(const struct pyro_catalog_artefacts *artefacts,
                                       const struct pyro_catalog_log *log)
{
    if (!artefacts || log->stored || !log->attempt.app_id.ptr)
        return 0;
    uint64_t key = pyro_catalog_sent_key(&artefacts->sent, log->attempt.app_id);
    if (log->uploaded) {
        const struct sent_archive *archive = archive_of(artefacts, log);
        return key ^ (archive ? archive->key : 0);
    }
    const uint64_t owners[] = {key_of_owner(PYRO_OWNER_APPLICATION, log->attempt.app_id),
                               key_of_owner(PYRO_OWNER_LOG, log->log.path),
                               key_of_owner(PYRO_OWNER_ANY, PYRO_SLICE_NULL)};
    for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
        const uint64_t *own = pyro_map_get(&artefacts->keys, owners[i]);
        key ^= own ? *own : 0;
    }
    return key;
}

uint64_t pyro_catalog_artefacts_cpu(const struct pyro_catalog_artefacts *artefacts, const struct pyro_catalog_log *log)
{
    const struct sent_archive *archive = archive_of(artefacts, log);
    return archive ? archive->cpu_us : 0;
}

const struct pyro_artefact_file *pyro_catalog_artefacts_next(const struct pyro_catalog_artefacts *artefacts,
                                                             const struct pyro_catalog_log *log, size_t *at)
{
    const struct sent_archive *archive = archive_of(artefacts, log);
    const struct pyro_artefact_list none = {.count = 0}, *list = archive         ? &archive->found
                                                                 : log->uploaded ? &none
                                                                                 : &artefacts->found;
    size_t count = list->count + artefacts->sent.items.count;
    while (*at < count) {
        size_t i = (*at)++;
        const struct pyro_catalog_sent_file *sent =
            i < list->count ? NULL : &artefacts->sent.items.items[i - list->count];
        const struct pyro_artefact_file *file = sent ? &sent->file : &list->items[i];
        if ((!sent || sent->place == PYRO_PLACE_ARTEFACT) &&
            pyro_artefact_belongs(file, log->attempt.app_id, log->log.path))
            return file;
    }
    return NULL;
}

bool pyro_catalog_artefacts_of(const struct pyro_catalog_artefacts *artefacts, const struct pyro_catalog_log *log,
                               struct pyro_arena *arena, struct pyro_artefact_list *ret)
{
    const struct pyro_artefact_file *file;
    size_t count = 0;
    *ret = (struct pyro_artefact_list){.count = 0};
    for (size_t at = 0; pyro_catalog_artefacts_next(artefacts, log, &at);)
        count++;
    ret->items = pyro_arena_array(arena, count + 1, sizeof(*ret->items));
    for (size_t at = 0; ret->items && (file = pyro_catalog_artefacts_next(artefacts, log, &at)) != NULL;)
        ret->items[ret->count++] = *file;
    return ret->items != NULL;
}

const struct pyro_catalog_sent_files *pyro_catalog_artefacts_sent(const struct pyro_catalog_artefacts *artefacts)
{
    return artefacts ? &artefacts->sent : NULL;
}

const struct pyro_log *pyro_catalog_artefacts_logged(const struct pyro_catalog_artefacts *artefacts, size_t *ret_count)
{
    *ret_count = artefacts ? artefacts->logged.count : 0;
    return artefacts ? artefacts->logged.items : NULL;
}

const struct pyro_unreadable *pyro_catalog_artefacts_left(const struct pyro_catalog_artefacts *artefacts,
                                                          size_t *ret_count)
{
    *ret_count = artefacts ? artefacts->list.unreadable_count : 0;
    return artefacts ? artefacts->list.unreadable : NULL;
}
