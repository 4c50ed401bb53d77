#include "load/artefacts.h"

#include <stdio.h>
#include <sys/stat.h>

#include "analyze/task_owners.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "load/logged_failures.h"
#include "source/walk.h"

enum file { FILE_UNSEEN, FILE_ARTEFACT, FILE_OTHER };

struct search {
    const struct pyro_allocator *allocator;
    struct pyro_arena *arena;
    PYRO_VEC(struct pyro_artefact_file) found;
    struct pyro_map paths; /* hash of a path -> enum file of what is no event log */
    char *head;            /* PYRO_ARTEFACT_HEAD bytes */
};

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Copies what points into the path or the head. */
static bool keep_source(struct pyro_arena *arena, struct pyro_artefact_source *source)
{
    struct pyro_slice *const texts[] = {&source->path, &source->application, &source->executor, &source->host};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        bool had = texts[i]->ptr != NULL;
        *texts[i] = pyro_arena_copy(arena, *texts[i]);
        if (had && !texts[i]->ptr)
            return false;
    }
    return true;
}

/* Of 100,000 paths, two have one hash with a chance of one in a thousand million. */
static enum pyro_status note_path(struct search *search, struct pyro_slice path, enum file file,
                                  struct pyro_error *error)
{
    uint64_t *place = pyro_map_put(&search->paths, pyro_hash_slice(path), NULL);
    if (!place)
        return pyro_no_memory(error);
    *place = (uint64_t)file;
    return PYRO_OK;
}

static enum pyro_status visit(void *context, struct pyro_slice folder, const struct pyro_log_part *part,
                              struct pyro_error *error)
{
    struct search *search = context;
    struct pyro_error refused = {.size = sizeof(refused)};
    size_t len;
    (void)folder;
    enum pyro_status status = pyro_part_head(part, search->allocator, search->head, PYRO_ARTEFACT_HEAD, &len, &refused);
    if (status == PYRO_ERROR_MEMORY)
        return pyro_no_memory(error);
    if (status != PYRO_OK)
        return PYRO_OK;
    struct pyro_slice head = {search->head, len};
    enum pyro_artefact_kind kind = pyro_artefact_recognise(head, len < PYRO_ARTEFACT_HEAD);
    if (kind == PYRO_ARTEFACT_KINDS)
        return pyro_slice_find(head, "\"Event\"") ? PYRO_OK : note_path(search, part->path, FILE_OTHER, error);
    struct pyro_artefact_file *file = pyro_vec_push(&search->found, search->allocator);
    if (!file)
        return pyro_no_memory(error);
    *file =
        (struct pyro_artefact_file){.part = *part, .source = pyro_artefact_source_of(part->path, head), .kind = kind};
    file->part.path = pyro_arena_copy(search->arena, part->path);
    file->part.inside = pyro_arena_copy(search->arena, part->inside);
    if (!file->part.path.ptr || !keep_source(search->arena, &file->source))
        return pyro_no_memory(error);
    return note_path(search, part->path, FILE_ARTEFACT, error);
}

/* ---- Not event logs ---------------------------------------------------------------------------------------------- */

static enum file file_at(const struct search *search, struct pyro_slice path)
{
    const uint64_t *place = pyro_map_get(&search->paths, pyro_hash_slice(path));
    return place ? (enum file) * place : FILE_UNSEEN;
}

/* Logs that may be event logs. */
static size_t count_event_logs(const struct search *search, const struct pyro_log_list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->logs[i].part_count != 1 || file_at(search, list->logs[i].parts[0].path) != FILE_OTHER;
    return count;
}

/* A folder that has artefacts only is no longer one without event logs: the caller says what they lack. */
static void take_off(const struct search *search, struct pyro_log_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct pyro_log *log = &list->logs[i];
        bool single = log->layout == PYRO_LAYOUT_SINGLE && log->part_count == 1 && !log->parts[0].member.ptr;
        if (!single || file_at(search, log->parts[0].path) != FILE_ARTEFACT)
            list->logs[kept++] = *log;
    }
    list->count = kept;
    kept = 0;
    for (size_t i = 0; i < list->unreadable_count; i++)
        if (file_at(search, list->unreadable[i].path) != FILE_ARTEFACT)
            list->unreadable[kept++] = list->unreadable[i];
    list->unreadable_count = kept;
}

/* Why a file will belong to no application, or NULL: an event log may have its id. */
static const char *left_why(const struct pyro_artefact_file *file, size_t logs)
{
    if (logs == 0)
        return "belongs to an application whose event log is not here";
    if (!file->source.application.ptr && logs > 1)
        return "has no application id in its path or text, and there are several event logs: put it into a folder with "
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

static enum pyro_status search_paths(struct search *search, const char *const *paths, size_t path_count,
                                     struct pyro_artefact_list *ret, struct pyro_error *error)
{
    for (size_t i = 0; i < path_count; i++) {
        struct pyro_walk_result result = {0};
        if (!is_folder(paths[i]))
            continue;
        enum pyro_status status = pyro_walk(paths[i], search->allocator, visit, search, &result, error);
        if (status == PYRO_ERROR_MEMORY)
            return status;
        ret->left_out += result.too_many + result.too_deep;
    }
    return PYRO_OK;
}

enum pyro_status pyro_artefacts_find(const char *const *paths, size_t path_count, struct pyro_log_list *list,
                                     const struct pyro_allocator *allocator, struct pyro_artefact_list *ret,
                                     struct pyro_error *error)
{
    struct search search = {.allocator = allocator, .arena = &list->arena};
    *ret = (struct pyro_artefact_list){0};
    pyro_map_init(&search.paths, allocator);
    search.head = pyro_allocate(allocator, PYRO_ARTEFACT_HEAD);
    if (!search.head)
        return pyro_no_memory(error);
    enum pyro_status status = search_paths(&search, paths, path_count, ret, error);
    pyro_release(allocator, search.head);
    if (status == PYRO_OK && search.found.count > 0) {
        ret->items = pyro_arena_array(search.arena, search.found.count, sizeof(*ret->items));
        if (ret->items) {
            memcpy(ret->items, search.found.items, search.found.count * sizeof(*ret->items));
            ret->count = search.found.count;
            take_off(&search, list);
            ret->event_logs = count_event_logs(&search, list);
            status = explain_left(ret, list) ? PYRO_OK : pyro_no_memory(error);
        } else {
            status = pyro_no_memory(error);
        }
    }
    pyro_vec_done(&search.found, allocator);
    pyro_map_done(&search.paths);
    return status;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool belongs(const struct pyro_artefact_list *list, size_t index, const struct pyro_app *app)
{
    struct pyro_slice id = list->items[index].source.application;
    return id.ptr ? pyro_slice_eq(id, app->application.id) : list->event_logs == 1;
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

static enum pyro_status read_file(struct pyro_artefact_reading *reading, const struct pyro_artefact_file *file,
                                  const struct pyro_app *app, struct pyro_error *error)
{
    struct pyro_tracks *tracks = reading->tracks;
    enum { NS_PER_MS = 1000000 };
    struct pyro_artefact_source source = file->source;
    struct pyro_error refused = {.size = sizeof(refused)};
    struct pyro_reader *reader = NULL;
    int64_t start_ms = app->application.start_ms;
    if (start_ms > 0 && start_ms < INT64_MAX / NS_PER_MS)
        source.start_ns = start_ms * NS_PER_MS;
    size_t rows = pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS);
    enum pyro_status status = pyro_reader_open(&file->part, app->allocator, &reader, &refused);
    if (status == PYRO_OK) {
        status = pyro_artefact_decode(reading, file->kind, &source, reader, &refused);
        pyro_reader_close(reader);
    }
    if (status == PYRO_ERROR_MEMORY)
        return pyro_no_memory(error);
    if (status == PYRO_OK)
        return PYRO_OK;
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

static enum pyro_status read_files(struct pyro_artefact_reading *reading, const struct pyro_artefact_list *list,
                                   struct pyro_app *app, struct pyro_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        if (belongs(list, i, app))
            PYRO_TRY(read_file(reading, &list->items[i], app, error));
    PYRO_TRY(pyro_artefacts_end(reading, error));
    PYRO_TRY(pyro_task_owners_add(app, error));
    return pyro_logged_failures_add(app, &reading->logs, error);
}

enum pyro_status pyro_artefacts_attach(const struct pyro_artefact_list *list, struct pyro_app *app,
                                       struct pyro_error *error)
{
    struct pyro_artefact_reading reading;
    struct pyro_value_map launches;
    enum pyro_status status = PYRO_OK;
    bool any = false;
    for (size_t i = 0; i < list->count && !any; i++)
        any = belongs(list, i, app);
    if (!any)
        return PYRO_OK;
    app->tracks = pyro_tracks_new(app->allocator);
    if (!app->tracks)
        return pyro_no_memory(error);
    pyro_artefacts_begin(&reading, app->tracks, app->redaction, app->allocator);
    pyro_value_map_init(&launches, app->allocator);
    reading.launches = &launches;
    if (has_text_log(list))
        status = note_launches(app, &launches, error);
    if (status == PYRO_OK)
        status = read_files(&reading, list, app, error);
    pyro_artefacts_done(&reading);
    pyro_value_map_done(&launches);
    return status;
}
