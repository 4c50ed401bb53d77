#include "source/discovery/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/collections/vec.h"
#include "source/discovery/names.h"
#include "source/input.h"

struct name {
    struct pyro_slice text;
    unsigned char type; /* DT_UNKNOWN: some file systems do not say */
};

/* A folder whose names are being visited: its entries in order, and how far they are. */
struct level {
    struct name *names;
    size_t count, at;
    size_t path_len; /* of the folder in walk.path */
    DIR *stream;
};

struct walk {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    pyro_walk_known *known; /* NULL: none */
    pyro_walk_visit *visit;
    void *context;
    struct pyro_walk_result *result;
    struct pyro_slice folder; /* as named */
    struct pyro_slice inside; /* its real path */
    char path[PATH_MAX];
    struct level levels[PYRO_WALK_LEVELS];
    unsigned depth;
};

static int compare_names(const void *a, const void *b)
{
    return pyro_natural_compare(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* Lists the folder at walk->path as a new level. */
static enum pyro_status enter(struct walk *walk, size_t path_len, struct pyro_error *error)
{
    PYRO_VEC(struct name) names = {0};
    DIR *stream = opendir(walk->path);
    if (!stream) {
        walk->result->refused++;
        return PYRO_OK;
    }
    const struct dirent *entry;
    bool done = true;
    while (done && (entry = readdir(stream)) != NULL) {
        if (pyro_name_of(pyro_slice_from(entry->d_name)).kind == PYRO_NAME_IGNORED)
            continue;
        struct pyro_slice name = pyro_arena_copy(&walk->arena, pyro_slice_from(entry->d_name));
        done = name.ptr && pyro_vec_reserve(&names, 1, walk->allocator);
        if (done)
            names.items[names.count++] = (struct name){name, entry->d_type};
    }
    struct name *kept = done ? pyro_arena_array(&walk->arena, names.count + 1, sizeof(*kept)) : NULL;
    if (kept && names.count > 0) {
        qsort(names.items, names.count, sizeof(*names.items), compare_names);
        memcpy(kept, names.items, names.count * sizeof(*kept));
    }
    if (kept)
        walk->levels[walk->depth++] = (struct level){kept, names.count, 0, path_len, stream};
    else
        closedir(stream);
    pyro_vec_done(&names, walk->allocator);
    return kept ? PYRO_OK : pyro_no_memory(error);
}

static enum pyro_status visit_file(struct walk *walk, struct pyro_slice path, uint64_t bytes, struct pyro_error *error)
{
    if (walk->result->files >= PYRO_WALK_FILES) {
        walk->result->too_many++;
        return PYRO_OK;
    }
    walk->result->files++;
    const struct pyro_log_part part = {
        .path = path, .most_bytes = pyro_most_decompressed(bytes, 0), .inside = walk->inside};
    return walk->visit(walk->context, walk->folder, &part, error);
}

/* A link to a file inside the folder is the file's second name: it is left out as well. */
static enum pyro_status visit_entry(struct walk *walk, const struct level *level, const struct name *name,
                                    size_t path_len, struct pyro_error *error)
{
    struct stat status;
    struct pyro_slice path = {walk->path, path_len};
    if (name->type == DT_REG && walk->known && walk->known(walk->context, path))
        return visit_file(walk, path, 0, error);
    if (fstatat(dirfd(level->stream), name->text.ptr, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        walk->result->refused += errno != ENOENT; /* just removed */
        return PYRO_OK;
    }
    if (S_ISLNK(status.st_mode)) {
        walk->result->links_out++;
        return PYRO_OK;
    }
    if (S_ISREG(status.st_mode))
        return visit_file(walk, path, (uint64_t)status.st_size, error);
    if (!S_ISDIR(status.st_mode))
        return PYRO_OK;
    if (walk->depth < PYRO_WALK_LEVELS)
        return enter(walk, path_len, error);
    walk->result->too_deep++;
    return PYRO_OK;
}

/* The length of the path of a name of the level, which is in walk->path then; 0: it is too long. */
static size_t go_to(struct walk *walk, const struct level *level, struct pyro_slice name)
{
    size_t before = level->path_len + (walk->path[level->path_len - 1] != '/');
    if (name.len >= sizeof(walk->path) - before)
        return 0;
    walk->path[before - 1] = '/';
    memcpy(walk->path + before, name.ptr, name.len + 1);
    return before + name.len;
}

static enum pyro_status visit_levels(struct walk *walk, struct pyro_error *error)
{
    while (walk->depth > 0) {
        struct level *level = &walk->levels[walk->depth - 1];
        if (level->at == level->count) {
            closedir(level->stream);
            walk->depth--;
            continue;
        }
        const struct name *name = &level->names[level->at++];
        size_t len = go_to(walk, level, name->text);
        if (len == 0)
            walk->result->refused++;
        else
            PYRO_TRY(visit_entry(walk, level, name, len, error));
    }
    return PYRO_OK;
}

static enum pyro_status visit_folder(struct walk *walk, struct pyro_error *error)
{
    PYRO_TRY(enter(walk, walk->folder.len, error));
    enum pyro_status status = visit_levels(walk, error);
    while (walk->depth > 0)
        closedir(walk->levels[--walk->depth].stream);
    return status;
}

static enum pyro_status visit_path(struct walk *walk, const char *path, struct pyro_error *error)
{
    struct stat status;
    size_t len = strlen(path);
    char real[PATH_MAX];
    if (len == 0 || len >= sizeof(walk->path) || stat(path, &status) != 0) {
        int number = len == 0 ? ENOENT : len >= sizeof(walk->path) ? ENAMETOOLONG : errno;
        pyro_error_describe(error, PYRO_ERROR_INPUT, "cannot open: %s", strerror(number));
        pyro_error_at(error, path, UINT64_MAX);
        return PYRO_ERROR_INPUT;
    }
    while (len > 1 && path[len - 1] == '/')
        len--;
    memcpy(walk->path, path, len);
    walk->path[len] = '\0';
    walk->folder = pyro_arena_copy(&walk->arena, (struct pyro_slice){walk->path, len});
    if (!walk->folder.ptr)
        return pyro_no_memory(error);
    if (S_ISREG(status.st_mode))
        return visit_file(walk, walk->folder, (uint64_t)status.st_size, error);
    if (!S_ISDIR(status.st_mode)) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "is neither a file nor a folder");
        pyro_error_at(error, path, UINT64_MAX);
        return PYRO_ERROR_INPUT;
    }
    walk->inside = pyro_arena_copy(&walk->arena, pyro_slice_from(realpath(walk->path, real) ? real : walk->path));
    return walk->inside.ptr ? visit_folder(walk, error) : pyro_no_memory(error);
}

enum pyro_status pyro_walk_knowing(const char *path, const struct pyro_allocator *allocator, pyro_walk_known *known,
                                   pyro_walk_visit *visit, void *context, struct pyro_walk_result *result,
                                   struct pyro_error *error)
{
    struct walk walk = {.allocator = allocator, .known = known, .visit = visit, .context = context, .result = result};
    pyro_arena_init(&walk.arena, allocator);
    enum pyro_status status = visit_path(&walk, path, error);
    pyro_arena_done(&walk.arena);
    return status;
}

enum pyro_status pyro_walk(const char *path, const struct pyro_allocator *allocator, pyro_walk_visit *visit,
                           void *context, struct pyro_walk_result *result, struct pyro_error *error)
{
    return pyro_walk_knowing(path, allocator, NULL, visit, context, result, error);
}

enum pyro_status pyro_part_head(const struct pyro_log_part *part, const struct pyro_allocator *allocator, char *buffer,
                                size_t capacity, size_t *ret_len, struct pyro_error *error)
{
    struct pyro_reader *reader;
    size_t got = 1;
    *ret_len = 0;
    PYRO_TRY(pyro_reader_open(part, allocator, &reader, error));
    enum pyro_status status = PYRO_OK;
    while (status == PYRO_OK && got > 0 && *ret_len < capacity) {
        status = pyro_reader_read(reader, buffer + *ret_len, capacity - *ret_len, &got, error);
        *ret_len += status == PYRO_OK ? got : 0;
    }
    pyro_reader_close(reader);
    return status;
}
