#include "load/artefacts.h"

#include <stdio.h>
#include <sys/stat.h>

#include "analyze/tracks/task_owners.h"
#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/memory/allocator.h"
#include "base/threads/cpu_meter.h"
#include "decode/artefact_guess.h"
#include "load/artefact_owners.h"
#include "load/logged/logged.h"
#include "load/logged_failures.h"
#include "source/discovery/walk.h"

struct search {
    const struct pyro_allocator *allocator;
    struct pyro_arena *arena;
    const struct pyro_artefact_search *how;
    PYRO_VEC(struct pyro_artefact_file) found;
    struct pyro_map paths; /* hash of a path -> enum pyro_artefact_place */
    char *head;            /* PYRO_ARTEFACT_HEAD bytes */
    size_t texts;          /* text files that nothing recognizes: the first one, and what it looks like */
    struct pyro_slice text;
    const char *text_guess;
};

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool pyro_artefact_file_keep(struct pyro_arena *arena, struct pyro_artefact_file *file)
{
    struct pyro_log_part *part = &file->part;
    struct pyro_artefact_source *source = &file->source;
    struct pyro_slice *const texts[] = {&part->path,       &part->member, &part->label,
                                        &part->inside,     &source->path, &source->application,
                                        &source->executor, &source->host, &file->owner.name};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        bool had = texts[i]->ptr != NULL;
        *texts[i] = pyro_arena_copy(arena, *texts[i]);
        if (had && !texts[i]->ptr)
            return false;
    }
    return true;
}

/* Of 100,000 paths, two have one hash with a chance of one in a thousand million. */
static enum pyro_status note_place(struct search *search, struct pyro_slice path, enum pyro_artefact_place place,
                                   const struct pyro_artefact_file *file, struct pyro_error *error)
{
    const struct pyro_artefact_memory *memory = search->how->memory;
    uint64_t *noted = pyro_map_put(&search->paths, pyro_hash_slice(path), NULL);
    if (!noted || (memory && !memory->keep(memory->context, path, place, file)))
        return pyro_no_memory(error);
    *noted = (uint64_t)place;
    return PYRO_OK;
}

/* Texts of `file` may be released afterwards. `name`: of the file, or of the archive and its member. */
static enum pyro_status add_file(struct search *search, const struct pyro_log_part *part, struct pyro_slice name,
                                 const struct pyro_artefact_file *file, struct pyro_error *error)
{
    struct pyro_artefact_file *added = pyro_vec_push(&search->found, search->allocator);
    if (!added)
        return pyro_no_memory(error);
    *added = *file;
    added->part = *part;
    added->owner = (struct pyro_artefact_owner){.kind = PYRO_OWNER_NOBODY};
    if (!pyro_artefact_file_keep(search->arena, added))
        return pyro_no_memory(error);
    return note_place(search, name, PYRO_PLACE_ARTEFACT, added, error);
}

/* A file that may be the output of a driver or executor which says nothing in the form of a log. */
static enum pyro_status note_text(struct search *search, const struct pyro_log_part *part, size_t len,
                                  struct pyro_error *error)
{
    const struct pyro_slice head = {search->head, len};
    if (len == 0 || memchr(head.ptr, '\0', len))
        return PYRO_OK;
    if (search->texts++ > 0)
        return PYRO_OK;
    search->text_guess = pyro_text_guess(head);
    search->text = pyro_arena_copy(search->arena, part->path);
    return search->text.ptr ? PYRO_OK : pyro_no_memory(error);
}

/* Looks into a file. What cannot be opened stays unseen. `named`: its kind was said. */
static enum pyro_status look(struct search *search, const struct pyro_log_part *part, bool named,
                             enum pyro_artefact_place *ret_place, struct pyro_artefact_file *ret,
                             struct pyro_error *error)
{
    struct pyro_error refused = {.size = sizeof(refused)};
    size_t len;
    enum pyro_status status = pyro_part_head(part, search->allocator, search->head, PYRO_ARTEFACT_HEAD, &len, &refused);
    *ret_place = PYRO_PLACE_UNSEEN;
    if (status == PYRO_ERROR_MEMORY)
        return pyro_no_memory(error);
    if (status != PYRO_OK)
        return PYRO_OK;
    struct pyro_slice head = {search->head, len};
    enum pyro_artefact_kind kind = named ? search->how->kind : pyro_artefact_recognise(head, len < PYRO_ARTEFACT_HEAD);
    *ret = (struct pyro_artefact_file){.source = pyro_artefact_source_of(pyro_part_name(part), head), .kind = kind};
    *ret_place = kind != PYRO_ARTEFACT_KINDS                  ? PYRO_PLACE_ARTEFACT
                 : pyro_slice_find(head, "\"Event\"") != NULL ? PYRO_PLACE_EVENTS
                                                              : PYRO_PLACE_OTHER;
    return *ret_place == PYRO_PLACE_OTHER && !search->how->memory ? note_text(search, part, len, error) : PYRO_OK;
}

static enum pyro_status visit(void *context, struct pyro_slice folder, const struct pyro_log_part *part,
                              struct pyro_error *error)
{
    struct search *search = context;
    const struct pyro_artefact_memory *memory = search->how->memory;
    struct pyro_artefact_file file = {0};
    bool named = search->how->kind != PYRO_ARTEFACT_KINDS && pyro_slice_eq(part->path, folder);
    enum pyro_artefact_place place = memory ? memory->recall(memory->context, part->path, &file) : PYRO_PLACE_UNSEEN;
    if (place == PYRO_PLACE_UNSEEN)
        PYRO_TRY(look(search, part, named, &place, &file, error));
    if (place == PYRO_PLACE_ARTEFACT)
        return add_file(search, part, part->path, &file, error);
    return place == PYRO_PLACE_UNSEEN ? PYRO_OK : note_place(search, part->path, place, NULL, error);
}

/* A log of one file, which may be something else: a file by itself, or a member of an archive. */
static bool is_one_file(const struct pyro_log *log)
{
    return log->layout == PYRO_LAYOUT_SINGLE && log->part_count == 1;
}

/* Looks into the members of archives: what is next to an event log in one belongs to it, as in a folder. */
static enum pyro_status search_members(struct search *search, const struct pyro_log_list *list,
                                       struct pyro_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct pyro_log_part *part = list->logs[i].parts;
        struct pyro_artefact_file file = {0};
        enum pyro_artefact_place place;
        if (!is_one_file(&list->logs[i]) || !part->member.ptr)
            continue;
        PYRO_TRY(look(search, part, false, &place, &file, error));
        file.source.path = list->logs[i].path;
        if (place == PYRO_PLACE_ARTEFACT)
            PYRO_TRY(add_file(search, part, list->logs[i].path, &file, error));
        else if (place != PYRO_PLACE_UNSEEN)
            PYRO_TRY(note_place(search, list->logs[i].path, place, NULL, error));
    }
    return PYRO_OK;
}

/* ---- Not event logs ---------------------------------------------------------------------------------------------- */

static enum pyro_artefact_place place_of(const struct search *search, struct pyro_slice path)
{
    const uint64_t *place = pyro_map_get(&search->paths, pyro_hash_slice(path));
    return place ? (enum pyro_artefact_place) * place : PYRO_PLACE_UNSEEN;
}

/* As places are noted: of a member of an archive also the archive. */
static struct pyro_slice name_of(const struct pyro_log *log)
{
    return log->parts[0].member.ptr ? log->path : log->parts[0].path;
}

static bool may_be_event_log(const struct search *search, const struct pyro_log *log)
{
    return log->part_count != 1 || place_of(search, name_of(log)) != PYRO_PLACE_OTHER;
}

/* Gives each file to its owner. */
static enum pyro_status find_owners(const struct search *search, const struct pyro_log_list *list,
                                    struct pyro_artefact_list *ret, struct pyro_error *error)
{
    struct pyro_artefact_folders folders;
    pyro_artefact_folders_init(&folders, search->allocator);
    bool ok = true;
    ret->event_logs = 0;
    for (size_t i = 0; ok && i < list->count; i++)
        if (may_be_event_log(search, &list->logs[i])) {
            ret->event_logs++;
            /* Lists may outlive the logs that they were made with. */
            struct pyro_slice path = pyro_arena_copy(search->arena, list->logs[i].path);
            ok = path.ptr && pyro_artefact_folders_add(&folders, &list->logs[i], path);
        }
    for (size_t i = 0; ok && i < ret->count; i++)
        ret->items[i].owner = pyro_artefact_owner_of(&folders, &ret->items[i], ret->event_logs);
    pyro_artefact_folders_done(&folders);
    return ok ? PYRO_OK : pyro_no_memory(error);
}

/* A folder that has artefacts only is no longer one without event logs: the caller says what they lack. */
static void take_off(const struct search *search, struct pyro_log_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct pyro_log *log = &list->logs[i];
        if (!is_one_file(log) || place_of(search, name_of(log)) != PYRO_PLACE_ARTEFACT)
            list->logs[kept++] = *log;
    }
    list->count = kept;
    kept = 0;
    for (size_t i = 0; i < list->unreadable_count; i++)
        if (place_of(search, list->unreadable[i].path) != PYRO_PLACE_ARTEFACT)
            list->unreadable[kept++] = list->unreadable[i];
    list->unreadable_count = kept;
}

/* Says of a log that holds no event what it looks like instead; null: it may be one. */
static struct pyro_slice say_other(struct search *search, const struct pyro_log *log, struct pyro_arena *arena)
{
    struct pyro_error refused = {.size = sizeof(refused)};
    struct pyro_guess guess;
    size_t len;
    if (!is_one_file(log) || place_of(search, name_of(log)) != PYRO_PLACE_OTHER ||
        pyro_part_head(&log->parts[0], search->allocator, search->head, PYRO_ARTEFACT_HEAD, &len, &refused) !=
            PYRO_OK ||
        !pyro_artefact_guess((struct pyro_slice){search->head, len}, len < PYRO_ARTEFACT_HEAD, &guess))
        return PYRO_SLICE_NULL;
    return pyro_arena_printf(arena, "%s %s", guess.of_run ? "is" : "is not a Spark event log, but", guess.text);
}

/* Beside an event log, a file without events is not taken for another one: it is named among what cannot be read. */
static bool take_others_off(struct search *search, struct pyro_log_list *list)
{
    size_t kept = 0, events = 0;
    for (size_t i = 0; i < list->count; i++)
        events += may_be_event_log(search, &list->logs[i]);
    if (events == 0 || events == list->count)
        return true;
    struct pyro_unreadable *rows = pyro_arena_array(&list->arena, list->unreadable_count + list->count, sizeof(*rows));
    if (!rows)
        return false;
    if (list->unreadable_count > 0)
        memcpy(rows, list->unreadable, list->unreadable_count * sizeof(*rows));
    list->unreadable = rows;
    for (size_t i = 0; i < list->count; i++) {
        struct pyro_slice why = say_other(search, &list->logs[i], &list->arena);
        if (why.ptr)
            rows[list->unreadable_count++] = (struct pyro_unreadable){.path = list->logs[i].path, .message = why};
        else
            list->logs[kept++] = list->logs[i];
    }
    list->count = kept;
    return true;
}

/* Of a folder whose applications are made of its other files, nothing is wrong that it has no event log. */
static void take_folders_off(const char *const *paths, size_t path_count, struct pyro_log_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->unreadable_count; i++) {
        bool named = false;
        for (size_t k = 0; k < path_count && !named; k++)
            named = pyro_slice_is(list->unreadable[i].path, paths[k]) && is_folder(paths[k]);
        if (!named)
            list->unreadable[kept++] = list->unreadable[i];
    }
    list->unreadable_count = kept;
}

/* Of a folder without an event log, and without files that an application could be made of: what is in it. */
static bool say_what_is_there(const struct search *search, struct pyro_log_list *list)
{
    if (search->texts == 0 || search->found.count > 0 || list->count > 0)
        return true;
    for (size_t i = 0; i < list->unreadable_count; i++) {
        struct pyro_unreadable *row = &list->unreadable[i];
        if (!pyro_slice_starts_with(row->message, "has no event log") ||
            !pyro_slice_starts_with(search->text, row->path.ptr))
            continue;
        row->message = pyro_arena_printf(&list->arena,
                                         "has no event log, only %zu other file%s, such as %s (%s); for errors in logs "
                                         "of drivers and executors, use "
                                         "pyrometer logs errors %s",
                                         search->texts, search->texts == 1 ? "" : "s", search->text.ptr,
                                         search->text_guess, row->path.ptr);
        if (!row->message.ptr)
            return false;
    }
    return true;
}

/* Why a file will belong to no application, or NULL: an event log may have its id. */
static const char *left_why(const struct pyro_artefact_file *file, size_t logs)
{
    if (logs == 0)
        return "belongs to an application whose event log is not here";
    if (file->owner.kind == PYRO_OWNER_NOBODY)
        return "has no application id in its path or text, and there are several applications: put it into a folder "
               "with "
               "the event log that it belongs to";
    return NULL;
}

/* Adds a row of `unreadable` for each such file. */
static bool explain_left(const struct pyro_artefact_list *artefacts, struct pyro_log_list *list)
{
    struct pyro_unreadable *rows =
        pyro_arena_array(&list->arena, list->unreadable_count + artefacts->count + 1, sizeof(*rows));
    if (!rows)
        return false;
    if (list->unreadable_count > 0)
        memcpy(rows, list->unreadable, list->unreadable_count * sizeof(*rows));
    list->unreadable = rows;
    for (size_t i = 0; i < artefacts->count; i++) {
        const char *why = left_why(&artefacts->items[i], artefacts->event_logs);
        if (why)
            rows[list->unreadable_count++] =
                (struct pyro_unreadable){.path = artefacts->items[i].source.path, .message = pyro_slice_from(why)};
    }
    return true;
}

static bool is_event_log(void *context, struct pyro_slice path)
{
    const struct pyro_artefact_memory *memory = ((const struct search *)context)->how->memory;
    return memory && memory->is_event_log(memory->context, path);
}

static enum pyro_status search_paths(struct search *search, const char *const *paths, size_t path_count,
                                     struct pyro_artefact_list *ret, struct pyro_error *error)
{
    for (size_t i = 0; i < path_count; i++) {
        struct pyro_walk_result result = {0};
        if (!is_folder(paths[i]) && !search->how->named)
            continue;
        enum pyro_status status =
            pyro_walk_knowing(paths[i], search->allocator, is_event_log, visit, search, &result, error);
        if (status == PYRO_ERROR_MEMORY)
            return status;
        ret->left_out += result.too_many + result.too_deep;
    }
    return PYRO_OK;
}

enum pyro_status pyro_artefacts_find(const char *const *paths, size_t path_count,
                                     const struct pyro_artefact_search *how, struct pyro_log_list *list,
                                     const struct pyro_allocator *allocator, struct pyro_artefact_list *ret,
                                     struct pyro_error *error)
{
    struct search search = {.allocator = allocator, .arena = &list->arena, .how = how};
    *ret = (struct pyro_artefact_list){0};
    pyro_map_init(&search.paths, allocator);
    search.head = pyro_allocate(allocator, PYRO_ARTEFACT_HEAD);
    if (!search.head)
        return pyro_no_memory(error);
    enum pyro_status status = search_paths(&search, paths, path_count, ret, error);
    if (status == PYRO_OK && !how->memory)
        status = search_members(&search, list, error);
    if (status == PYRO_OK && !how->memory && (!take_others_off(&search, list) || !say_what_is_there(&search, list)))
        status = pyro_no_memory(error);
    pyro_release(allocator, search.head);
    if (status == PYRO_OK && search.found.count > 0) {
        ret->items = pyro_arena_array(search.arena, search.found.count, sizeof(*ret->items));
        if (ret->items) {
            memcpy(ret->items, search.found.items, search.found.count * sizeof(*ret->items));
            ret->count = search.found.count;
            take_off(&search, list);
            status = find_owners(&search, list, ret, error);
            if (status == PYRO_OK && how->logged && (how->with_events || ret->event_logs == 0))
                status = pyro_logged_find(ret, how->with_events, list, error);
            if (status == PYRO_OK && how->logged && list->count > 0 && list->logs[0].layout == PYRO_LAYOUT_LOGS)
                take_folders_off(paths, path_count, list);
            if (status == PYRO_OK && !explain_left(ret, list))
                status = pyro_no_memory(error);
        } else {
            status = pyro_no_memory(error);
        }
    }
    pyro_vec_done(&search.found, allocator);
    pyro_map_done(&search.paths);
    return status;
}

/* ---- Members of archives ----------------------------------------------------------------------------------------- */

/* A path of the archive and the member: the names of both may have ids. */
static enum pyro_status look_at_part(struct search *search, const struct pyro_log_part *part,
                                     struct pyro_artefact_file *file, size_t *count,
                                     enum pyro_artefact_place *ret_place, struct pyro_error *error)
{
    PYRO_TRY(look(search, part, false, ret_place, file, error));
    if (*ret_place != PYRO_PLACE_ARTEFACT)
        return PYRO_OK;
    file->part = *part;
    (*count)++;
    return pyro_artefact_file_keep(search->arena, file) ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_artefacts_of_parts(const struct pyro_log_part *parts, size_t part_count, size_t event_logs,
                                         struct pyro_arena *arena, struct pyro_artefact_list *ret,
                                         enum pyro_artefact_place *ret_places, struct pyro_error *error)
{
    const struct pyro_artefact_search how = {.kind = PYRO_ARTEFACT_KINDS};
    struct search search = {.arena = arena, .how = &how};
    enum pyro_status status = PYRO_OK;
    *ret = (struct pyro_artefact_list){.event_logs = event_logs};
    struct pyro_artefact_file *items = pyro_arena_array(arena, part_count + 1, sizeof(*items));
    if (!items)
        return pyro_no_memory(error);
    ret->items = items;
    search.head = pyro_allocate(NULL, PYRO_ARTEFACT_HEAD);
    if (!search.head)
        return pyro_no_memory(error);
    for (size_t i = 0; i < part_count && status == PYRO_OK; i++)
        status = look_at_part(&search, &parts[i], &items[ret->count], &ret->count, &ret_places[i], error);
    pyro_release(NULL, search.head);
    for (size_t i = 0; i < ret->count; i++)
        items[i].owner = pyro_artefact_owner_of(NULL, &items[i], event_logs);
    return status;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* What all files are read with. */
struct attaching {
    struct pyro_artefact_reading reading;
    const struct pyro_load_settings *settings; /* NULL: progress is not reported */
    struct pyro_cpu_meter *meter;
    struct pyro_cpu_meter *charged; /* the same, or NULL: the file that is read may take any time */
    bool all_charged;               /* be they `metered` or not */
    uint64_t stamp;                 /* of the meter */
    const char *path;               /* of the file that is read */
    struct pyro_reader_check check; /* of all that are read together at the end */
};

/* Asked while a file is read. */
static enum pyro_status go_on(void *context, struct pyro_error *error)
{
    struct attaching *attaching = context;
    const struct pyro_load_settings *settings = attaching->settings;
    const struct pyro_progress progress = {.size = sizeof(progress), .path = attaching->path};
    if (settings && settings->progress && settings->progress(settings->progress_context, &progress) != 0)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
    return pyro_cpu_charge(attaching->charged, &attaching->stamp) ? PYRO_OK
                                                                  : pyro_cpu_exceeded(attaching->meter, error);
}

/* A file that could not even be opened. */
static bool add_refused(struct pyro_tracks *tracks, const struct pyro_artefact_file *file, const char *why)
{
    const struct pyro_artefact_row row = {.kind = pyro_slice_from(pyro_artefact_kind_name(file->kind)),
                                          .path = file->source.path,
                                          .host = file->source.host,
                                          .executor = file->source.executor,
                                          .bytes = PYRO_NONE,
                                          .first_ns = PYRO_NONE,
                                          .last_ns = PYRO_NONE,
                                          .clock = -1,
                                          .problems = pyro_slice_from(why)};
    return pyro_tracks_add_artefact(tracks, &row) >= 0;
}

/* `start_ms`: of the application; PYRO_NONE: not known. */
static enum pyro_status read_file(struct attaching *attaching, const struct pyro_artefact_file *file, int64_t start_ms,
                                  struct pyro_error *error)
{
    struct pyro_artefact_reading *reading = &attaching->reading;
    struct pyro_tracks *tracks = reading->tracks;
    enum { NS_PER_MS = 1000000 };
    struct pyro_artefact_source source = file->source;
    const struct pyro_reader_check check = {go_on, attaching};
    struct pyro_log_part part = file->part;
    part.check = &check;
    attaching->path = part.path.ptr;
    attaching->charged = file->metered || attaching->all_charged ? attaching->meter : NULL;
    attaching->stamp = pyro_cpu_now();
    reading->part = &part;
    struct pyro_error refused = {.size = sizeof(refused)};
    struct pyro_reader *reader = NULL;
    if (start_ms > 0 && start_ms < INT64_MAX / NS_PER_MS)
        source.start_ns = start_ms * NS_PER_MS;
    size_t rows = pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS);
    enum pyro_status status = pyro_reader_open(&part, reading->allocator, &reader, &refused);
    if (status == PYRO_OK) {
        status = pyro_artefact_decode(reading, file->kind, &source, reader, &refused);
        pyro_reader_close(reader);
    }
    reading->part = NULL;
    if (status == PYRO_ERROR_MEMORY)
        return pyro_no_memory(error);
    if (status == PYRO_ERROR_CANCELLED)
        pyro_error_copy(error, &refused);
    if (status == PYRO_OK || status == PYRO_ERROR_CANCELLED)
        return status;
    if (pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS) == rows)
        return add_refused(tracks, file, refused.message) ? PYRO_OK : pyro_no_memory(error);
    struct pyro_artefact_row *row = pyro_tracks_artefact_edit(tracks, (int32_t)rows);
    row->problems = pyro_tracks_text(tracks, pyro_slice_from(refused.message));
    return row->problems.ptr ? PYRO_OK : pyro_no_memory(error);
}

/* When each task started, for logs whose times have no zone. */
static enum pyro_status note_launches(const struct pyro_app *app, struct pyro_value_map *launches,
                                      struct pyro_error *error)
{
    enum { BATCH = 256 };
    int64_t ids[BATCH], times[BATCH];
    for (size_t first = 0; first < app->tasks.count; first += BATCH) {
        size_t count = app->tasks.count - first < BATCH ? app->tasks.count - first : BATCH;
        pyro_task_read(&app->tasks, PYRO_TASK_id, first, count, ids);
        pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, times);
        for (size_t i = 0; i < count; i++) {
            if (times[i] <= 0)
                continue;
            int64_t *place = pyro_value_map_put(launches, ids[i]);
            if (!place)
                return pyro_no_memory(error);
            *place = times[i];
        }
    }
    return PYRO_OK;
}

static bool has_text_log(const struct pyro_artefact_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == PYRO_ARTEFACT_TEXT_LOG)
            return true;
    return false;
}

/* Traces are decoded at the end: by then no file is the one that is read. */
static void check_the_end(struct attaching *attaching)
{
    attaching->check = (struct pyro_reader_check){go_on, attaching};
    attaching->reading.check = &attaching->check;
    attaching->charged = attaching->meter;
    attaching->stamp = pyro_cpu_now();
}

static enum pyro_status read_files(struct attaching *attaching, const struct pyro_artefact_list *list,
                                   struct pyro_app *app, struct pyro_slice log, struct pyro_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        if (pyro_artefact_belongs(&list->items[i], app->application.id, log))
            PYRO_TRY(read_file(attaching, &list->items[i], app->application.start_ms, error));
    check_the_end(attaching);
    PYRO_TRY(pyro_artefacts_end(&attaching->reading, error));
    PYRO_TRY(pyro_task_owners_add(app, error));
    return pyro_logged_failures_add(app, &attaching->reading.logs, error);
}

enum pyro_status pyro_artefacts_attach(const struct pyro_artefact_list *list, struct pyro_app *app,
                                       struct pyro_slice log, const struct pyro_load_settings *settings,
                                       struct pyro_cpu_meter *meter, struct pyro_error *error)
{
    struct attaching attaching = {.settings = settings, .meter = meter};
    struct pyro_value_map launches;
    enum pyro_status status = PYRO_OK;
    bool any = false;
    for (size_t i = 0; i < list->count && !any; i++)
        any = pyro_artefact_belongs(&list->items[i], app->application.id, log);
    if (!any)
        return PYRO_OK;
    app->tracks = pyro_tracks_new(app->allocator);
    if (!app->tracks)
        return pyro_no_memory(error);
    pyro_artefacts_begin(&attaching.reading, app->tracks, app->redaction, app->allocator);
    pyro_value_map_init(&launches, app->allocator);
    attaching.reading.launches = &launches;
    if (has_text_log(list) && !app->integrity.logged) /* else they say nothing that the logs do not */
        status = note_launches(app, &launches, error);
    if (status == PYRO_OK)
        status = read_files(&attaching, list, app, log, error);
    pyro_artefacts_done(&attaching.reading);
    pyro_value_map_done(&launches);
    return status;
}

enum pyro_status pyro_artefacts_read(const struct pyro_artefact_list *list, enum pyro_redaction redaction,
                                     struct pyro_cpu_meter *meter, const struct pyro_allocator *allocator,
                                     struct pyro_tracks **ret, struct pyro_error *error)
{
    struct attaching attaching = {.all_charged = meter != NULL, .meter = meter};
    struct pyro_tracks *tracks = pyro_tracks_new(allocator);
    enum pyro_status status = PYRO_OK;
    if (!tracks)
        return pyro_no_memory(error);
    pyro_artefacts_begin(&attaching.reading, tracks, redaction, allocator);
    for (size_t i = 0; i < list->count && status == PYRO_OK; i++)
        status = read_file(&attaching, &list->items[i], PYRO_NONE, error);
    check_the_end(&attaching);
    if (status == PYRO_OK)
        status = pyro_artefacts_end(&attaching.reading, error);
    pyro_artefacts_done(&attaching.reading);
    if (status == PYRO_OK)
        *ret = tracks;
    else
        pyro_tracks_free(tracks);
    return status;
}
