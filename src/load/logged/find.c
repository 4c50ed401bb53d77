/* Which applications there are among files without an event log. */
#include "base/hash.h"
#include "load/logged/logged.h"
#include "source/names.h"

struct owned {
    struct pyro_slice id, folder; /* folder: that all its files lie in; null: none */
    size_t count;
};

struct finding {
    struct pyro_artefact_list *artefacts;
    struct pyro_arena *arena;
    struct owned *items;
    size_t count;
    struct pyro_map rows;    /* hash of the id -> row + 1 */
    struct pyro_map folders; /* hash of the path -> how many applications it is the folder of */
};

/* The nearest folder that has both. */
static struct pyro_slice common_folder(struct pyro_slice folder, struct pyro_slice path)
{
    while (folder.ptr &&
           !(path.len > folder.len && path.ptr[folder.len] == '/' && memcmp(path.ptr, folder.ptr, folder.len) == 0))
        folder = pyro_folder_name(folder);
    return folder;
}

static struct owned *owned_of(struct finding *finding, const struct pyro_artefact_file *file)
{
    if (finding->rows.count == 0)
        return &finding->items[0];
    const uint64_t *row =
        file->source.application.ptr ? pyro_map_get(&finding->rows, pyro_hash_slice(file->source.application)) : NULL;
    return row ? &finding->items[*row - 1] : finding->count == 1 ? &finding->items[0] : NULL;
}

static bool list_ids(struct finding *finding)
{
    for (size_t i = 0; i < finding->artefacts->count; i++) {
        struct pyro_slice id = finding->artefacts->items[i].source.application;
        uint64_t *row = id.ptr ? pyro_map_put(&finding->rows, pyro_hash_slice(id), NULL) : NULL;
        if (id.ptr && !row)
            return false;
        if (!row || *row)
            continue;
        finding->items[finding->count++] = (struct owned){.id = id};
        *row = finding->count;
    }
    finding->count += finding->count == 0; /* one without a name */
    return true;
}

static void give_files(struct finding *finding)
{
    for (size_t i = 0; i < finding->artefacts->count; i++) {
        struct pyro_artefact_file *file = &finding->artefacts->items[i];
        struct owned *owned = owned_of(finding, file);
        file->owner = (struct pyro_artefact_owner){.kind = PYRO_OWNER_NOBODY};
        if (!owned)
            continue;
        if (finding->count == 1)
            file->owner.kind = PYRO_OWNER_ANY;
        else
            file->owner = (struct pyro_artefact_owner){PYRO_OWNER_APPLICATION, owned->id};
        owned->folder =
            owned->count++ == 0 ? pyro_folder_name(file->part.path) : common_folder(owned->folder, file->part.path);
    }
}

/* What the log is called: its folder, unless another application has the same one. */
static struct pyro_slice name_of(struct finding *finding, const struct owned *owned)
{
    struct pyro_slice folder = owned->folder.ptr ? owned->folder : PYRO_SLICE_LITERAL(".");
    uint64_t *owners = pyro_map_get(&finding->folders, pyro_hash_slice(folder));
    if (!owners || *owners == 1)
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

enum pyro_status pyro_logged_find(struct pyro_artefact_list *artefacts, struct pyro_log_list *list,
                                  struct pyro_error *error)
{
    struct finding finding = {.artefacts = artefacts, .arena = &list->arena};
    if (artefacts->count == 0)
        return PYRO_OK;
    pyro_map_init(&finding.rows, list->arena.allocator);
    pyro_map_init(&finding.folders, list->arena.allocator);
    finding.items = pyro_arena_array(finding.arena, artefacts->count + 1, sizeof(*finding.items));
    bool ok = finding.items && list_ids(&finding);
    struct pyro_log *logs = ok ? pyro_arena_array(finding.arena, finding.count + 1, sizeof(*logs)) : NULL;
    ok = logs != NULL;
    if (ok)
        give_files(&finding);
    ok = ok && count_folders(&finding) && make_logs(&finding, logs);
    pyro_map_done(&finding.rows);
    pyro_map_done(&finding.folders);
    if (!ok)
        return pyro_no_memory(error);
    artefacts->event_logs = finding.count;
    list->logs = logs;
    list->count = finding.count;
    return PYRO_OK;
}
