#include "decode/logs/log_files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/archives/archive_formats.h"
#include "source/discovery/names.h"
#include "source/discovery/walk.h"
#include "source/http/http.h"

struct search {
    struct pyro_log_files *files;
    size_t argument;
    bool folder; /* that was named, and not a file */
};

enum pyro_status pyro_log_files_refuse(struct pyro_log_files *files, struct pyro_slice path, struct pyro_slice reason)
{
    struct pyro_log_problem *row = pyro_vec_push(&files->unreadable, files->allocator);
    if (!row)
        return PYRO_ERROR_MEMORY;
    *row = (struct pyro_log_problem){pyro_arena_copy(&files->arena, path), pyro_arena_copy(&files->arena, reason)};
    return row->path.ptr && row->reason.ptr ? PYRO_OK : PYRO_ERROR_MEMORY;
}

static enum pyro_status add(struct search *search, const struct pyro_log_part *part, bool named)
{
    struct pyro_log_files *files = search->files;
    struct pyro_log_candidate *item = pyro_vec_push(&files->items, files->allocator);
    if (!item)
        return PYRO_ERROR_MEMORY;
    *item = (struct pyro_log_candidate){
        .part = *part, .path = pyro_part_name(part), .argument = search->argument, .named = named};
    return PYRO_OK;
}

/* The source layer finds members of archives; what it makes of their names is not needed here. */
static enum pyro_status add_archive(struct search *search, const char *path)
{
    struct pyro_log_files *files = search->files;
    struct pyro_log_list *list = pyro_vec_push(&files->archives, files->allocator);
    const struct pyro_known known = {.unlimited = files->unlimited, .unpack = true};
    if (!list)
        return PYRO_ERROR_MEMORY;
    PYRO_TRY(pyro_source_discover_again(&path, 1, &known, files->allocator, list, NULL));
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->logs[i].part_count; k++)
            PYRO_TRY(add(search, &list->logs[i].parts[k], false));
    for (size_t i = 0; i < list->unreadable_count && list->count == 0; i++)
        PYRO_TRY(pyro_log_files_refuse(files, list->unreadable[i].path, list->unreadable[i].message));
    return PYRO_OK;
}

/* The part's texts last until this returns. */
static enum pyro_status take_file(void *context, struct pyro_slice folder, const struct pyro_log_part *part,
                                  struct pyro_error *error)
{
    struct search *search = context;
    struct pyro_log_files *files = search->files;
    struct pyro_log_part kept = *part;
    (void)folder;
    (void)error;
    if (pyro_archive_of_file(part->path.ptr, !search->folder) != PYRO_ARCHIVE_NONE)
        return add_archive(search, part->path.ptr);
    kept.path = pyro_arena_copy(&files->arena, part->path);
    kept.inside = pyro_arena_copy(&files->arena, part->inside);
    kept.most_bytes = files->unlimited ? 0 : part->most_bytes;
    kept.limit_option = PYRO_LIFT_LIMITS;
    return kept.path.ptr && !files->arena.failed ? add(search, &kept, !search->folder) : PYRO_ERROR_MEMORY;
}

static enum pyro_status walk(struct search *search, const char *path)
{
    struct pyro_log_files *files = search->files;
    struct pyro_walk_result result = {0};
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status status = pyro_walk(path, files->allocator, take_file, search, &result, &error);
    files->too_many += result.too_many;
    files->too_deep += result.too_deep;
    files->refused += result.refused;
    if (status != PYRO_ERROR_INPUT)
        return status;
    return pyro_log_files_refuse(files, pyro_slice_from(path), pyro_slice_from(error.message));
}

static enum pyro_status find_path(struct search *search, const char *text)
{
    struct pyro_log_files *files = search->files;
    struct stat status;
    if (pyro_is_url(text))
        return pyro_log_files_refuse(files, pyro_slice_from(text),
                                     PYRO_SLICE_LITERAL("is an address: save the log to a file"));
    bool stream = strcmp(text, "-") == 0 || (stat(text, &status) == 0 && S_ISFIFO(status.st_mode));
    if (stream) {
        const struct pyro_log_part part = {.path = pyro_arena_copy(&files->arena, pyro_slice_from(text))};
        return part.path.ptr ? add(search, &part, true) : PYRO_ERROR_MEMORY;
    }
    search->folder = stat(text, &status) == 0 && S_ISDIR(status.st_mode);
    return walk(search, text);
}

static int compare(const void *a, const void *b)
{
    const struct pyro_log_candidate *x = a, *y = b;
    if (x->argument != y->argument)
        return x->argument < y->argument ? -1 : 1;
    return pyro_natural_compare(x->path, y->path);
}

static int compare_paths(const void *a, const void *b)
{
    const struct pyro_log_candidate *x = a, *y = b;
    int order = pyro_slice_compare(x->path, y->path);
    return order ? order : (x->argument > y->argument) - (x->argument < y->argument);
}

/* A file that two of the paths lead to is read once. */
static void sort(struct pyro_log_files *files)
{
    struct pyro_log_candidate *items = files->items.items;
    size_t kept = 0;
    if (files->items.count == 0)
        return;
    qsort(items, files->items.count, sizeof(*items), compare_paths);
    for (size_t i = 0; i < files->items.count; i++)
        if (kept == 0 || !pyro_slice_eq(items[kept - 1].path, items[i].path))
            items[kept++] = items[i];
    files->items.count = kept;
    qsort(items, kept, sizeof(*items), compare);
}

enum pyro_status pyro_log_files_find(const char *const *paths, size_t count, bool unlimited,
                                     const struct pyro_allocator *allocator, struct pyro_log_files *files,
                                     struct pyro_error *error)
{
    *files = (struct pyro_log_files){.allocator = allocator, .unlimited = unlimited};
    pyro_arena_init(&files->arena, allocator);
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; i < count && status == PYRO_OK; i++)
        status = find_path(&(struct search){.files = files, .argument = i}, paths[i]);
    sort(files);
    return status == PYRO_OK ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_log_files_of_parts(const struct pyro_log_part *parts, size_t count,
                                         const struct pyro_allocator *allocator, struct pyro_log_files *files,
                                         struct pyro_error *error)
{
    *files = (struct pyro_log_files){.allocator = allocator};
    pyro_arena_init(&files->arena, allocator);
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; i < count && status == PYRO_OK; i++)
        status = add(&(struct search){.files = files, .argument = i}, &parts[i], true);
    return status == PYRO_OK ? PYRO_OK : pyro_no_memory(error);
}

void pyro_log_files_done(struct pyro_log_files *files)
{
    for (size_t i = 0; i < files->archives.count; i++)
        pyro_log_list_done(&files->archives.items[i]);
    pyro_vec_done(&files->archives, files->allocator);
    pyro_vec_done(&files->items, files->allocator);
    pyro_vec_done(&files->unreadable, files->allocator);
    pyro_arena_done(&files->arena);
}
