/* Files that were sent by themselves and are not event logs: text logs, profiles and the like. Each belongs to the
 * application whose id it has, or for which it was sent. They are remembered from one update to the next. */
#include <stdlib.h>

#include "base/collections/hash.h"
#include "catalog/log.h"
#include "catalog/sent.h"
#include "catalog/update.h"

/* One search, which makes `made` with the help of `before`. */
struct search {
    const struct pyro_catalog_update *update;
    const struct pyro_catalog_sent_files *before;
    struct pyro_catalog_sent_files *made;
    PYRO_VEC(struct pyro_catalog_sent_file) unknown; /* with paths and stamps only */
};

/* ---- Files
 * -------------------------------------------------------------------------------------------------------- */

/* Not a link that another process made. */
static bool is_there(const char *path, struct pyro_file_stamp *ret)
{
    struct stat status;
    bool there = lstat(path, &status) == 0 && S_ISREG(status.st_mode);
    if (there)
        *ret = pyro_file_stamp_of(&status);
    return there;
}

/* Takes over what is known of a file that has not changed, or notes it as one to look into. */
static bool take(struct search *search, struct pyro_slice path, struct pyro_file_stamp stamp, uint64_t cpu_us)
{
    const struct pyro_catalog_sent_file *known = pyro_catalog_sent_at(search->before, path);
    struct pyro_catalog_sent_file *added;
    if (!known || !pyro_file_stamp_eq(known->stamp, stamp)) {
        added = pyro_vec_push(&search->unknown, NULL);
        if (added)
            *added = (struct pyro_catalog_sent_file){
                .file.part.path = path, .stamp = stamp, .cpu_us = known ? known->cpu_us : cpu_us};
        return added != NULL;
    }
    added = pyro_vec_push(&search->made->items, NULL);
    if (!added)
        return false;
    *added = *known;
    return pyro_artefact_file_keep(&search->made->arena, &added->file);
}

/* Those that were known, which are not among the logs any more. */
static bool take_known(struct search *search)
{
    bool ok = true;
    for (size_t i = 0; ok && search->before && i < search->before->items.count; i++) {
        const struct pyro_catalog_sent_file *file = &search->before->items.items[i];
        struct pyro_file_stamp stamp;
        if (file->place == PYRO_PLACE_ARTEFACT && is_there(file->file.part.path.ptr, &stamp))
            ok = take(search, file->file.part.path, stamp, 0);
    }
    return ok;
}

static bool take_logs(struct search *search, const pyro_catalog_logs *logs)
{
    bool ok = true;
    for (size_t i = 0; ok && i < logs->count; i++) {
        const struct pyro_catalog_log *log = logs->items[i];
        const struct pyro_catalog_sent_file *known = pyro_catalog_sent_at(search->before, log->log.path);
        struct pyro_file_stamp stamp;
        bool single = log->log.part_count == 0 || (log->log.layout == PYRO_LAYOUT_SINGLE && log->log.part_count == 1 &&
                                                   !log->log.parts[0].member.ptr);
        if (!log->problem.ptr || log->passing || log->exhausted || !single ||
            (known && known->place == PYRO_PLACE_ARTEFACT) ||
            !pyro_catalog_is_sent(log->log.path, search->update->uploads) || !is_there(log->log.path.ptr, &stamp))
            continue;
        ok = take(search, log->log.path, stamp, log->cpu_us);
    }
    return ok;
}

/* ---- Looking into them ------------------------------------------------------------------------------------------- */

/* The server does not say where it keeps it: the part is called by its name. */
static struct pyro_log_part part_of(const struct search *search, const struct pyro_catalog_sent_file *file)
{
    struct pyro_slice path = file->file.part.path;
    size_t folder = strlen(search->update->uploads) + 1;
    return (struct pyro_log_part){.path = path,
                                  .label = {path.ptr + folder, path.len - folder},
                                  .most_bytes = pyro_most_decompressed(file->stamp.bytes, search->update->costs->ratio),
                                  .limit_option = "--max-upload-ratio"};
}

/* The one that it was sent for, else the one that it names. */
static void find_owner(struct pyro_artefact_file *file)
{
    struct pyro_slice name = file->source.path;
    const char *mark = memrchr(name.ptr, PYRO_CATALOG_SENT_MARK, name.len);
    if (mark) {
        file->source.application = (struct pyro_slice){mark + 1, (size_t)(name.ptr + name.len - mark - 1)};
        file->owner = (struct pyro_artefact_owner){PYRO_OWNER_APPLICATION, file->source.application};
    }
    file->metered = true;
}

static bool add(struct search *search, const struct pyro_catalog_sent_file *unknown, enum pyro_artefact_place place,
                const struct pyro_artefact_file *file)
{
    struct pyro_catalog_sent_file *added = pyro_vec_push(&search->made->items, NULL);
    if (!added)
        return false;
    *added = *unknown;
    added->place = place;
    if (place == PYRO_PLACE_ARTEFACT) {
        added->file = *file;
        find_owner(&added->file);
    }
    return pyro_artefact_file_keep(&search->made->arena, &added->file);
}

static enum pyro_status look_into(struct search *search, struct pyro_arena *arena, struct pyro_error *error)
{
    size_t count = search->unknown.count, at = 0;
    struct pyro_artefact_list found;
    struct pyro_log_part *parts = pyro_arena_array(arena, count + 1, sizeof(*parts));
    enum pyro_artefact_place *places = pyro_arena_array(arena, count + 1, sizeof(*places));
    if (!parts || !places)
        return pyro_no_memory(error);
    for (size_t i = 0; i < count; i++)
        parts[i] = part_of(search, &search->unknown.items[i]);
    PYRO_TRY(pyro_artefacts_of_parts(parts, count, 0, arena, &found, places, error));
    for (size_t i = 0; i < count; i++) {
        const struct pyro_artefact_file *file = places[i] == PYRO_PLACE_ARTEFACT ? &found.items[at++] : NULL;
        if (places[i] != PYRO_PLACE_UNSEEN && !add(search, &search->unknown.items[i], places[i], file))
            return pyro_no_memory(error);
    }
    return PYRO_OK;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct pyro_catalog_sent_file *x = a, *y = b;
    return pyro_slice_compare(x->file.part.path, y->file.part.path);
}

/* Of the file as it is. */
static uint64_t key_of(const struct pyro_catalog_sent_file *file)
{
    const uint64_t numbers[] = {file->stamp.device, file->stamp.inode, file->stamp.bytes,
                                (uint64_t)file->stamp.modified_ns, file->file.kind};
    uint64_t key = pyro_hash_slice(file->file.part.path);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        key = pyro_hash_mix(key ^ numbers[i]);
    return key;
}

/* By path, so that reports do not depend on the order in which files came. */
static bool settle(struct pyro_catalog_sent_files *made)
{
    if (made->items.count)
        qsort(made->items.items, made->items.count, sizeof(*made->items.items), compare);
    for (size_t i = 0; i < made->items.count; i++) {
        const struct pyro_catalog_sent_file *file = &made->items.items[i];
        if (file->place != PYRO_PLACE_ARTEFACT)
            continue;
        uint64_t own = key_of(file);
        uint64_t *key = pyro_map_put(&made->keys, pyro_hash_slice(file->file.owner.name), NULL);
        if (!key)
            return false;
        *key = pyro_hash_mix(*key ^ own) | 1;
        made->digest = pyro_hash_mix(made->digest ^ own) | 1;
    }
    return true;
}

enum pyro_status pyro_catalog_sent_find(const struct pyro_catalog_update *update, const pyro_catalog_logs *logs,
                                        const struct pyro_catalog_sent_files *before,
                                        struct pyro_catalog_sent_files *ret, struct pyro_error *error)
{
    struct search search = {.update = update, .before = before, .made = ret};
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    enum pyro_status status = take_known(&search) && take_logs(&search, logs) ? PYRO_OK : pyro_no_memory(error);
    if (status == PYRO_OK && search.unknown.count)
        status = look_into(&search, &arena, error);
    if (status == PYRO_OK && !settle(ret))
        status = pyro_no_memory(error);
    pyro_vec_done(&search.unknown, NULL);
    pyro_arena_done(&arena);
    return status;
}

void pyro_catalog_sent_init(struct pyro_catalog_sent_files *files)
{
    *files = (struct pyro_catalog_sent_files){.digest = 0};
    pyro_arena_init(&files->arena, NULL);
    pyro_map_init(&files->keys, NULL);
}

void pyro_catalog_sent_done(struct pyro_catalog_sent_files *files)
{
    pyro_vec_done(&files->items, NULL);
    pyro_map_done(&files->keys);
    pyro_arena_done(&files->arena);
}

/* ---- Applications of which there is nothing else ----------------------------------------------------------------- */

/* One of them. */
struct made {
    size_t files, text_logs;
    struct pyro_log *log; /* NULL: not made yet */
};

static bool is_file_of(const struct pyro_catalog_sent_file *file, const struct pyro_map *known)
{
    struct pyro_slice id = file->file.owner.name;
    return file->place == PYRO_PLACE_ARTEFACT && file->file.owner.kind == PYRO_OWNER_APPLICATION && id.ptr &&
           !pyro_map_get(known, pyro_hash_slice(id));
}

/* Hashes of ids -> row + 1. NULL: no memory. */
static struct made *count_files(const struct pyro_catalog_sent_files *files, const struct pyro_map *known,
                                struct pyro_map *rows, struct pyro_arena *arena)
{
    struct made *made = pyro_arena_array(arena, files->items.count + 1, sizeof(*made));
    for (size_t i = 0; made && i < files->items.count; i++) {
        const struct pyro_catalog_sent_file *file = &files->items.items[i];
        bool is_new = false;
        if (!is_file_of(file, known))
            continue;
        uint64_t *row = pyro_map_put(rows, pyro_hash_slice(file->file.owner.name), &is_new);
        if (!row)
            return NULL;
        if (is_new)
            *row = rows->count;
        made[*row - 1].files++;
        made[*row - 1].text_logs += file->file.kind == PYRO_ARTEFACT_TEXT_LOG;
    }
    return made;
}

/* It is called after the first of its files. */
static struct pyro_log *new_log(const struct pyro_catalog_sent_file *file, size_t files, struct pyro_arena *arena,
                                pyro_catalog_made_logs *logs)
{
    struct pyro_log *log = pyro_vec_push(logs, NULL);
    if (!log)
        return NULL;
    *log = (struct pyro_log){
        .path = pyro_arena_printf(arena, "%s!%s", file->file.part.path.ptr, file->file.owner.name.ptr),
        .layout = PYRO_LAYOUT_LOGS,
        .parts = pyro_arena_array(arena, files, sizeof(*log->parts)),
    };
    return log->path.ptr && log->parts ? log : NULL;
}

static bool give_files(const struct pyro_catalog_sent_files *files, const struct pyro_map *known,
                       const struct pyro_map *rows, struct made *made, struct pyro_arena *arena,
                       pyro_catalog_made_logs *logs)
{
    size_t wanted = 0;
    for (size_t i = 0; i < rows->count; i++)
        wanted += made[i].text_logs > 0;
    if (!pyro_vec_reserve(logs, wanted, NULL)) /* so that they stay where they are */
        return false;
    for (size_t i = 0; i < files->items.count; i++) {
        const struct pyro_catalog_sent_file *file = &files->items.items[i];
        const uint64_t *row =
            is_file_of(file, known) ? pyro_map_get(rows, pyro_hash_slice(file->file.owner.name)) : NULL;
        struct made *one = row ? &made[*row - 1] : NULL;
        if (!one || one->text_logs == 0)
            continue;
        if (!one->log)
            one->log = new_log(file, one->files, arena, logs);
        if (!one->log)
            return false;
        one->log->parts[one->log->part_count++] = file->file.part;
    }
    return true;
}

bool pyro_catalog_sent_logged(const struct pyro_catalog_sent_files *files, const struct pyro_map *known,
                              struct pyro_arena *arena, pyro_catalog_made_logs *logs)
{
    struct pyro_map rows;
    pyro_map_init(&rows, NULL);
    struct made *made = count_files(files, known, &rows, arena);
    bool ok = made && give_files(files, known, &rows, made, arena, logs);
    pyro_map_done(&rows);
    return ok;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

const struct pyro_catalog_sent_file *pyro_catalog_sent_at(const struct pyro_catalog_sent_files *files,
                                                          struct pyro_slice path)
{
    const struct pyro_catalog_sent_file wanted = {.file.part.path = path};
    if (!files || files->items.count == 0)
        return NULL;
    return bsearch(&wanted, files->items.items, files->items.count, sizeof(wanted), compare);
}

uint64_t pyro_catalog_sent_key(const struct pyro_catalog_sent_files *files, struct pyro_slice application)
{
    const uint64_t *key = pyro_map_get(&files->keys, pyro_hash_slice(application));
    return key ? *key : 0;
}
