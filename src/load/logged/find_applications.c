/* Which applications there are among files without an event log. */
#include "base/collections/hash.h"
#include "load/logged/logged.h"
#include "source/discovery/names.h"

struct owned {
    struct pyro_slice id, folder; /* folder: that all its files lie in, or the archive; null: none */
    size_t count;
};

struct finding {
    struct pyro_artefact_list *artefacts;
    struct pyro_arena *arena;
    const struct pyro_map *with_events; /* hashes of the ids that have an event log; NULL: nothing has one */
    struct owned *items;
    size_t count;
    struct pyro_map rows;    /* hash of the id -> row + 1 */
    struct pyro_map folders; /* hash of the path -> how many applications it is the folder of */
};

/* That of a file; members of archives have the archive. */
static struct pyro_slice folder_of(const struct pyro_log_part *part)
{
    return part->member.ptr ? part->path : pyro_folder_name(part->path);
}

/* The nearest folder that has both. */
static struct pyro_slice common_folder(struct pyro_slice folder, const struct pyro_log_part *part)
{
    struct pyro_slice path = part->path;
    if (part->member.ptr && pyro_slice_eq(folder, path))
        return folder;
    while (folder.ptr &&
           !(path.len > folder.len && path.ptr[folder.len] == '/' && memcmp(path.ptr, folder.ptr, folder.len) == 0))
        folder = pyro_folder_name(folder);
    return folder;
}

static struct owned *owned_of(struct finding *finding, const struct pyro_artefact_file *file)
{
    if (finding->count == 0)
        return NULL;
    if (finding->rows.count == 0)
        return &finding->items[0];
    const uint64_t *row =
        file->source.application.ptr ? pyro_map_get(&finding->rows, pyro_hash_slice(file->source.application)) : NULL;
    if (row)
        return &finding->items[*row - 1];
    return finding->count == 1 && finding->artefacts->event_logs == 0 ? &finding->items[0] : NULL;
}

static bool list_ids(struct finding *finding)
{
    for (size_t i = 0; i < finding->artefacts->count; i++) {
        struct pyro_slice id = finding->artefacts->items[i].source.application;
        if (id.ptr && finding->with_events && pyro_map_get(finding->with_events, pyro_hash_slice(id)))
            continue;
        uint64_t *row = id.ptr ? pyro_map_put(&finding->rows, pyro_hash_slice(id), NULL) : NULL;
        if (id.ptr && !row)
            return false;
        if (!row || *row)
            continue;
        finding->items[finding->count++] = (struct owned){.id = id};
        *row = finding->count;
    }
    finding->count += finding->count == 0 && finding->artefacts->event_logs == 0; /* one without a name */
    return true;
}

/* `event_log`: the only one, whose files those are that name no application; NULL: there are none or several. */
static void give_files(struct finding *finding, const struct pyro_log *event_log)
{
    for (size_t i = 0; i < finding->artefacts->count; i++) {
        struct pyro_artefact_file *file = &finding->artefacts->items[i];
        struct owned *owned = owned_of(finding, file);
        if (file->owner.kind == PYRO_OWNER_ANY && finding->artefacts->event_logs > 0 && finding->count > 0)
            file->owner = event_log ? (struct pyro_artefact_owner){PYRO_OWNER_LOG, event_log->path}
                                    : (struct pyro_artefact_owner){.kind = PYRO_OWNER_NOBODY};
        bool only = finding->count == 1 && finding->artefacts->event_logs == 0;
        if (finding->artefacts->event_logs == 0)
            file->owner = (struct pyro_artefact_owner){.kind = PYRO_OWNER_NOBODY};
        if (!owned)
            continue;
        if (only)
            file->owner.kind = PYRO_OWNER_ANY;
        else
            file->owner = (struct pyro_artefact_owner){PYRO_OWNER_APPLICATION, owned->id};
        owned->folder = owned->count++ == 0 ? folder_of(&file->part) : common_folder(owned->folder, &file->part);
    }
}

/* What the log is called: its folder, unless another application has the same one, or may have it as an event log. */
static struct pyro_slice name_of(struct finding *finding, const struct owned *owned)
{
    struct pyro_slice folder = owned->folder.ptr ? owned->folder : PYRO_SLICE_LITERAL(".");
    uint64_t *owners = pyro_map_get(&finding->folders, pyro_hash_slice(folder));
    if (finding->artefacts->event_logs == 0 && (!owners || *owners == 1))
        return pyro_arena_copy(finding->arena, folder);
    return pyro_arena_printf(finding->arena, "%.*s!%.*s", (int)folder.len, folder.ptr, (int)owned->id.len,
                             owned->id.ptr ? owned->id.ptr : "");
}

static bool count_folders(struct finding *finding)
{
    for (size_t i = 0; i < finding->count; i++) {
        struct pyro_slice folder = finding->items[i].folder;
        uint64_t *owners =
            pyro_map_put(&finding->folders, pyro_hash_slice(folder.ptr ? folder : PYRO_SLICE_LITERAL(".")), NULL);
        if (!owners)
            return false;
        ++*owners;
    }
    return true;
}

static bool make_logs(struct finding *finding, struct pyro_log *logs)
{
    for (size_t i = 0; i < finding->count; i++) {
        const struct owned *owned = &finding->items[i];
        logs[i] = (struct pyro_log){
            .path = name_of(finding, owned),
            .layout = PYRO_LAYOUT_LOGS,
            .parts = pyro_arena_array(finding->arena, owned->count + 1, sizeof(*logs[i].parts)),
        };
        if (!logs[i].path.ptr || !logs[i].parts)
            return false;
    }
    for (size_t i = 0; i < finding->artefacts->count; i++) {
        const struct pyro_artefact_file *file = &finding->artefacts->items[i];
        const struct owned *owned = owned_of(finding, file);
        struct pyro_log *log = owned ? &logs[owned - finding->items] : NULL;
        if (log)
            log->parts[log->part_count++] = file->part;
    }
    return true;
}

enum pyro_status pyro_logged_find(struct pyro_artefact_list *artefacts, const struct pyro_map *with_events,
                                  struct pyro_log_list *list, struct pyro_error *error)
{
    struct finding finding = {.artefacts = artefacts, .arena = &list->arena, .with_events = with_events};
    pyro_map_init(&finding.rows, list->arena.allocator);
    pyro_map_init(&finding.folders, list->arena.allocator);
    finding.items = pyro_arena_array(finding.arena, artefacts->count + 1, sizeof(*finding.items));
    bool ok = finding.items && list_ids(&finding);
    struct pyro_log *logs = ok ? pyro_arena_array(finding.arena, finding.count + 1, sizeof(*logs)) : NULL;
    ok = logs != NULL;
    if (ok)
        give_files(&finding, list->count == 1 ? &list->logs[0] : NULL);
    ok = ok && count_folders(&finding) && make_logs(&finding, logs);
    pyro_map_done(&finding.rows);
    pyro_map_done(&finding.folders);
    if (!ok)
        return pyro_no_memory(error);
    artefacts->event_logs += finding.count;
    list->logs = logs;
    list->count = finding.count;
    return PYRO_OK;
}
