#include "decode/logs/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/http.h"
#include "source/input.h"
#include "source/names.h"

struct folder {
    struct pyro_slice path; /* NUL-terminated */
    unsigned depth;
};

struct search {
    struct pyro_log_files *files;
    size_t argument;
    struct pyro_slice root; /* the real path of the folder that was named; null: none */
    PYRO_VEC(struct folder) folders;
};

enum pyro_status pyro_log_files_refuse(struct pyro_log_files *files, struct pyro_slice path, struct pyro_slice reason)
{
    struct pyro_log_problem *row = pyro_vec_push(&files->unreadable, files->allocator);
    if (!row)
        return PYRO_ERROR_MEMORY;
    *row = (struct pyro_log_problem){pyro_arena_copy(&files->arena, path), pyro_arena_copy(&files->arena, reason)};
    return row->path.ptr && row->reason.ptr ? PYRO_OK : PYRO_ERROR_MEMORY;
}

static enum pyro_status refuse_errno(struct pyro_log_files *files, struct pyro_slice path, const char *what, int number)
{
    const char *advice = number == ENOENT   ? ": check the path"
                         : number == EACCES ? ": ask for read permission, or run as another user"
                                            : "";
    struct pyro_slice reason = pyro_arena_printf(&files->arena, "%s: %s%s", what, strerror(number), advice);
    return reason.ptr ? pyro_log_files_refuse(files, path, reason) : PYRO_ERROR_MEMORY;
}

static enum pyro_status add(struct search *search, const struct pyro_log_part *part, struct pyro_slice path, bool named)
{
    struct pyro_log_files *files = search->files;
    if (files->items.count >= PYRO_LOG_FILES_MOST) {
        files->full = true;
        return PYRO_OK;
    }
    struct pyro_log_candidate *item = pyro_vec_push(&files->items, files->allocator);
    if (!item)
        return PYRO_ERROR_MEMORY;
    *item = (struct pyro_log_candidate){.part = *part, .path = path, .argument = search->argument, .named = named};
    return PYRO_OK;
}

static bool is_archive(const char *path)
{
    char head[4];
    int fd = pyro_open_regular(path);
    if (fd < 0)
        return false;
    ssize_t len = pread(fd, head, sizeof(head), 0);
    close(fd);
    return len == sizeof(head) && memcmp(head, "PK\003\004", sizeof(head)) == 0;
}

/* The source layer finds members of archives; what it makes of their names is not needed here. */
static enum pyro_status add_archive(struct search *search, struct pyro_slice path)
{
    struct pyro_log_files *files = search->files;
    struct pyro_log_list *list = pyro_vec_push(&files->archives, files->allocator);
    const struct pyro_known known = {.unlimited = files->unlimited};
    if (!list)
        return PYRO_ERROR_MEMORY;
    PYRO_TRY(pyro_source_discover_again(&path.ptr, 1, &known, files->allocator, list, NULL));
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->logs[i].part_count; k++)
            PYRO_TRY(add(search, &list->logs[i].parts[k], pyro_part_name(&list->logs[i].parts[k]), false));
    for (size_t i = 0; i < list->unreadable_count && list->count == 0; i++)
        PYRO_TRY(pyro_log_files_refuse(files, list->unreadable[i].path, list->unreadable[i].message));
    return PYRO_OK;
}

static enum pyro_status add_file(struct search *search, struct pyro_slice path, const struct stat *status, bool named)
{
    struct pyro_log_part part = {.path = path, .limit_option = PYRO_LIFT_LIMITS};
    if (S_ISREG(status->st_mode) && is_archive(path.ptr))
        return add_archive(search, path);
    if (S_ISREG(status->st_mode) && !search->files->unlimited)
        part.most_bytes = pyro_most_decompressed((uint64_t)status->st_size, 0);
    return add(search, &part, path, named);
}

/* Links to folders lead out of the place that was named, and so may links to files. */
static bool leads_out(const struct search *search, struct pyro_slice path)
{
    char real[PATH_MAX];
    return !realpath(path.ptr, real) || !pyro_path_is_inside(real, search->root);
}

static enum pyro_status take_entry(struct search *search, const struct folder *folder, struct pyro_slice path)
{
    struct stat status;
    if (lstat(path.ptr, &status) != 0)
        return errno == ENOENT ? PYRO_OK : refuse_errno(search->files, path, "cannot read", errno);
    if (S_ISLNK(status.st_mode)) {
        if (stat(path.ptr, &status) != 0 || !S_ISREG(status.st_mode) || leads_out(search, path))
            return PYRO_OK;
        return add_file(search, path, &status, false);
    }
    if (S_ISREG(status.st_mode))
        return add_file(search, path, &status, false);
    if (!S_ISDIR(status.st_mode) || folder->depth + 1 > PYRO_LOG_FOLDERS_DEEP)
        return PYRO_OK;
    struct folder *inner = pyro_vec_push(&search->folders, search->files->allocator);
    if (!inner)
        return PYRO_ERROR_MEMORY;
    *inner = (struct folder){path, folder->depth + 1};
    return PYRO_OK;
}

static enum pyro_status list_folder(struct search *search, struct folder folder)
{
    struct pyro_log_files *files = search->files;
    const char *separator = pyro_slice_ends_with(folder.path, "/") ? "" : "/";
    DIR *stream = opendir(folder.path.ptr);
    if (!stream)
        return refuse_errno(files, folder.path, "cannot list this folder", errno);
    enum pyro_status status = PYRO_OK;
    const struct dirent *entry;
    while (status == PYRO_OK && !files->full && (entry = readdir(stream)) != NULL) {
        if (pyro_name_of(pyro_slice_from(entry->d_name)).kind == PYRO_NAME_IGNORED)
            continue;
        struct pyro_slice path = pyro_arena_printf(&files->arena, "%s%s%s", folder.path.ptr, separator, entry->d_name);
        status = path.ptr ? take_entry(search, &folder, path) : PYRO_ERROR_MEMORY;
    }
    closedir(stream);
    return status;
}

static enum pyro_status walk(struct search *search, struct pyro_slice path)
{
    char real[PATH_MAX];
    if (!realpath(path.ptr, real))
        return refuse_errno(search->files, path, "cannot open", errno);
    search->root = pyro_arena_copy(&search->files->arena, pyro_slice_from(real));
    struct folder *first = pyro_vec_push(&search->folders, search->files->allocator);
    if (!search->root.ptr || !first)
        return PYRO_ERROR_MEMORY;
    *first = (struct folder){path, 0};
    while (search->folders.count > 0)
        PYRO_TRY(list_folder(search, search->folders.items[--search->folders.count]));
    return PYRO_OK;
}

static enum pyro_status find_path(struct search *search, const char *text)
{
    struct pyro_log_files *files = search->files;
    struct pyro_slice path = pyro_arena_copy(&files->arena, pyro_slice_from(text));
    struct stat status;
    if (!path.ptr)
        return PYRO_ERROR_MEMORY;
    if (pyro_slice_is(path, "-"))
        return add(search, &(struct pyro_log_part){.path = path}, path, true);
    if (pyro_is_url(text))
        return pyro_log_files_refuse(files, path, PYRO_SLICE_LITERAL("is an address: save the log to a file"));
    if (stat(path.ptr, &status) != 0)
        return refuse_errno(files, path, "cannot open", errno);
    if (!S_ISDIR(status.st_mode))
        return S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)
                   ? add_file(search, path, &status, true)
                   : pyro_log_files_refuse(files, path,
                                           PYRO_SLICE_LITERAL("is a device or socket: give a file or folder"));
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    path = pyro_arena_copy(&files->arena, path); /* so that it ends in NUL again */
    return path.ptr ? walk(search, path) : PYRO_ERROR_MEMORY;
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
    for (size_t i = 0; i < count && status == PYRO_OK; i++) {
        struct search search = {.files = files, .argument = i};
        status = find_path(&search, paths[i]);
        pyro_vec_done(&search.folders, allocator);
    }
    sort(files);
    return status == PYRO_OK ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the list of logs");
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
