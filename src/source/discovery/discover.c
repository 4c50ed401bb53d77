/* Paths -> logs. Only names and the first bytes of files are looked at. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "source/archives/unpack.h"
#include "source/codecs/codec.h"
#include "source/discovery/discovery.h"
#include "source/http/http.h"
#include "source/input.h"
#include "source/text_encoding.h"

bool pyro_is_untrusted(const struct pyro_discovery *discovery, struct pyro_slice path)
{
    const char *folder = discovery->known ? discovery->known->untrusted : NULL;
    return folder && pyro_slice_starts_with(path, folder) && path.ptr[strlen(folder)] == '/';
}

uint64_t pyro_most_of(const struct pyro_discovery *discovery, struct pyro_slice path, uint64_t stored_bytes,
                      const char **ret_option)
{
    const struct pyro_known *known = discovery->known;
    bool untrusted = known && pyro_is_untrusted(discovery, path);
    *ret_option = untrusted ? known->untrusted_by : PYRO_LIFT_LIMITS;
    if (!untrusted && known && known->unlimited)
        return 0;
    return pyro_most_decompressed(stored_bytes, untrusted ? known->untrusted_ratio : 0);
}

enum pyro_status pyro_add_unreadable(struct pyro_discovery *discovery, struct pyro_slice path,
                                     struct pyro_slice message)
{
    path = pyro_arena_copy(discovery->arena, path);
    if (!path.ptr || !message.ptr)
        return PYRO_ERROR_MEMORY;
    struct pyro_unreadable *row = pyro_vec_push(&discovery->unreadable, discovery->allocator);
    if (!row)
        return PYRO_ERROR_MEMORY;
    *row = (struct pyro_unreadable){.path = path, .message = message};
    return PYRO_OK;
}

/* Whether an error number is about the file itself, not about what the system can give at the moment. */
static bool is_lasting(int number)
{
    static const int lasting[] = {ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EISDIR, EINVAL, ENXIO};
    for (size_t i = 0; i < sizeof(lasting) / sizeof(*lasting); i++)
        if (lasting[i] == number)
            return true;
    return false;
}

enum pyro_status pyro_add_failure(struct pyro_discovery *discovery, struct pyro_slice path, const char *what,
                                  int number)
{
    const char *advice = number == ENOENT   ? ": check the path"
                         : number == EACCES ? ": ask for read permission, or run as another user"
                                            : "";
    PYRO_TRY(pyro_add_unreadable(discovery, path,
                                 pyro_arena_printf(discovery->arena, "%s: %s%s", what, strerror(number), advice)));
    discovery->unreadable.items[discovery->unreadable.count - 1].passing = !is_lasting(number);
    return PYRO_OK;
}

/* ---- One file ---------------------------------------------------------------------------------------------------- */

enum content { CONTENT_LOG, CONTENT_EMPTY, CONTENT_ARCHIVE, CONTENT_BINARY, CONTENT_UNREADABLE };

/* Sets errno with CONTENT_UNREADABLE, and *ret with CONTENT_ARCHIVE. `look`: pyro_archive_of_head(). */
static enum content look_inside(const char *path, bool look, enum pyro_archive_format *ret)
{
    int fd = pyro_open_regular(path);
    if (fd < 0)
        return CONTENT_UNREADABLE;
    unsigned char head[PYRO_ARCHIVE_HEAD];
    ssize_t len = pread(fd, head, sizeof(head), 0);
    int failure = errno;
    close(fd);
    errno = failure;
    if (len < 0)
        return CONTENT_UNREADABLE;
    if (len == 0)
        return CONTENT_EMPTY;
    *ret = pyro_archive_of_head(path, head, (size_t)len, look);
    if (*ret != PYRO_ARCHIVE_NONE)
        return CONTENT_ARCHIVE;
    size_t sniffed = len < PYRO_SNIFF_BYTES ? (size_t)len : PYRO_SNIFF_BYTES;
    size_t mark;
    return !pyro_codec_recognise(head, sniffed) && memchr(head, '\0', sniffed) &&
                   pyro_text_encoding_of(head, sniffed, &mark) == PYRO_TEXT_BYTES
               ? CONTENT_BINARY
               : CONTENT_LOG;
}

enum pyro_status pyro_add_found(struct pyro_discovery *discovery, pyro_found_vec *found, struct pyro_slice path,
                                uint64_t stored_bytes)
{
    struct pyro_found *file = pyro_vec_push(found, discovery->allocator);
    if (!file)
        return PYRO_ERROR_MEMORY;
    *file = (struct pyro_found){
        .path = path, .label = path, .name = pyro_name_of(pyro_base_name(path)), .empty = stored_bytes == 0};
    file->most_bytes = pyro_most_of(discovery, path, stored_bytes, &file->limit_option);
    return PYRO_OK;
}

/* A file that was named itself is a log whatever its name says. */
static enum pyro_status add_alone(struct pyro_discovery *discovery, struct pyro_slice path, bool empty)
{
    struct pyro_found file = {.path = path, .label = path, .name = pyro_name_of(pyro_base_name(path)), .empty = empty};
    struct stat status;
    file.name.kind = PYRO_NAME_SINGLE;
    if (stat(path.ptr, &status) == 0 && S_ISREG(status.st_mode))
        file.most_bytes = pyro_most_of(discovery, path, (uint64_t)status.st_size, &file.limit_option);
    return pyro_group_found(discovery, &file, 1);
}

static enum pyro_status discover_file(struct pyro_discovery *discovery, struct pyro_slice path)
{
    enum pyro_archive_format format;
    enum content content = look_inside(path.ptr, true, &format);
    if (content == CONTENT_UNREADABLE)
        return pyro_add_failure(discovery, path, "cannot read", errno);
    if (content == CONTENT_ARCHIVE)
        return pyro_discover_archive(discovery, path, format);
    return add_alone(discovery, path, content == CONTENT_EMPTY);
}

/* ---- A folder ---------------------------------------------------------------------------------------------------- */

struct folder_scan {
    pyro_found_vec found;
    size_t subfolders; /* without logs */
    size_t kept;       /* files known to be unchanged */
};

static struct pyro_slice join(struct pyro_discovery *discovery, struct pyro_slice folder, const char *name)
{
    size_t len = strlen(name), before = folder.len + !pyro_slice_ends_with(folder, "/");
    char *path = pyro_arena_alloc(discovery->arena, before + len + 1);
    if (!path)
        return PYRO_SLICE_NULL;
    memcpy(path, folder.ptr, folder.len);
    path[before - 1] = '/';
    memcpy(path + before, name, len + 1);
    return (struct pyro_slice){path, before + len};
}

/* A file that is renamed or made a link afterwards is found out when it is opened. */
static bool leads_out(const struct pyro_discovery *discovery, struct pyro_slice path)
{
    char real[PATH_MAX];
    struct stat status;
    return discovery->inside.ptr && lstat(path.ptr, &status) == 0 && S_ISLNK(status.st_mode) &&
           realpath(path.ptr, real) && !pyro_path_is_inside(real, discovery->inside);
}

/* `link`: the path may be that of a symbolic link. */
static enum pyro_status scan_file(struct pyro_discovery *discovery, struct folder_scan *scan, struct pyro_slice path,
                                  const struct stat *status, bool link)
{
    const struct pyro_known *known = discovery->known;
    enum pyro_name_kind kind = pyro_name_of(pyro_base_name(path)).kind;
    uint64_t stored = (uint64_t)status->st_size;
    if (link && leads_out(discovery, path))
        return pyro_add_unreadable(discovery, path, PYRO_SLICE_LITERAL(PYRO_LEADS_OUT));
    if (kind == PYRO_NAME_STATUS) /* empty by intent */
        return pyro_add_found(discovery, &scan->found, path, 0);
    if (known && known->unchanged && known->unchanged(known->context, path.ptr, status)) {
        scan->kept++;
        return kind == PYRO_NAME_SINGLE ? PYRO_OK : pyro_add_found(discovery, &scan->found, path, stored);
    }
    enum pyro_archive_format format;
    switch (look_inside(path.ptr, pyro_is_untrusted(discovery, path), &format)) {
    case CONTENT_UNREADABLE:
        return pyro_add_failure(discovery, path, "cannot read", errno);
    case CONTENT_ARCHIVE:
        return pyro_discover_archive(discovery, path, format);
    case CONTENT_BINARY:
        return pyro_add_unreadable(
            discovery, path,
            PYRO_SLICE_LITERAL("is not an event log: neither text nor compressed with zstd, lz4, snappy, lzf or gzip"));
    case CONTENT_EMPTY:
        return pyro_add_found(discovery, &scan->found, path, 0);
    case CONTENT_LOG:
        break;
    }
    return pyro_add_found(discovery, &scan->found, path, stored ? stored : 1); /* written to since */
}

static enum pyro_status scan_subfolder(struct pyro_discovery *discovery, struct folder_scan *scan,
                                       struct pyro_slice path);

/* `path` is that of `name` in the folder `fd`. */
static enum pyro_status scan_entry(struct pyro_discovery *discovery, struct folder_scan *scan, int fd, const char *name,
                                   struct pyro_slice path)
{
    struct stat status;
    if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? PYRO_OK : pyro_add_failure(discovery, path, "cannot read", errno); /* just removed */
    bool link = S_ISLNK(status.st_mode);
    if (link && fstatat(fd, name, &status, 0) != 0)
        return pyro_add_failure(discovery, path, "cannot follow this symbolic link", errno);
    if (S_ISREG(status.st_mode))
        return scan_file(discovery, scan, path, &status, link);
    if (S_ISDIR(status.st_mode)) /* links to folders lead out of the place that was named */
        return link ? PYRO_OK : scan_subfolder(discovery, scan, path);
    return pyro_add_unreadable(discovery, path,
                               PYRO_SLICE_LITERAL("is a pipe, device or socket: name a pipe directly to read it"));
}

/* Calls scan_entry() for each name, or, in a subfolder, scan_file() for the names that only logs have. */
static enum pyro_status scan_names(struct pyro_discovery *discovery, struct folder_scan *scan, struct pyro_slice folder,
                                   DIR *stream, bool subfolder)
{
    const struct dirent *entry;
    errno = 0; /* which alone says whether the end was an error */
    while ((entry = readdir(stream)) != NULL) {
        errno = 0;
        enum pyro_name_kind kind = pyro_name_of(pyro_slice_from(entry->d_name)).kind;
        if (kind == PYRO_NAME_IGNORED || (subfolder && kind == PYRO_NAME_SINGLE))
            continue;
        struct pyro_slice path = join(discovery, folder, entry->d_name);
        if (!path.ptr)
            return PYRO_ERROR_MEMORY;
        struct stat status;
        if (!subfolder)
            PYRO_TRY(scan_entry(discovery, scan, dirfd(stream), entry->d_name, path));
        else if (fstatat(dirfd(stream), entry->d_name, &status, 0) != 0)
            PYRO_TRY(errno == ENOENT ? PYRO_OK : pyro_add_failure(discovery, path, "cannot read", errno));
        else if (S_ISREG(status.st_mode))
            PYRO_TRY(scan_file(discovery, scan, path, &status, true));
        errno = 0;
    }
    return errno ? pyro_add_failure(discovery, folder, "cannot list this folder completely", errno) : PYRO_OK;
}

static enum pyro_status scan_subfolder(struct pyro_discovery *discovery, struct folder_scan *scan,
                                       struct pyro_slice path)
{
    size_t before = scan->found.count;
    DIR *stream = opendir(path.ptr);
    if (!stream)
        return pyro_add_failure(discovery, path, "cannot list this folder", errno);
    enum pyro_status status = scan_names(discovery, scan, path, stream, true);
    closedir(stream);
    if (status != PYRO_OK || scan->found.count > before)
        return status;
    if (pyro_slice_starts_with(pyro_base_name(path), "eventlog_v2_"))
        return pyro_add_unreadable(discovery, path,
                                   PYRO_SLICE_LITERAL("is the folder of a rolling log, but has none of its events_* "
                                                      "parts: copy the whole folder"));
    scan->subfolders++;
    return PYRO_OK;
}

/* The folder itself may be a link. */
static enum pyro_status find_inside(struct pyro_discovery *discovery, struct pyro_slice path)
{
    char real[PATH_MAX];
    if (!discovery->known || !discovery->known->inside)
        return PYRO_OK;
    if (!realpath(path.ptr, real))
        snprintf(real, sizeof(real), "%s", path.ptr);
    discovery->inside = pyro_arena_copy(discovery->arena, pyro_slice_from(real));
    return discovery->inside.ptr ? PYRO_OK : PYRO_ERROR_MEMORY;
}

static enum pyro_status discover_folder(struct pyro_discovery *discovery, struct pyro_slice path)
{
    size_t rows = discovery->logs.count + discovery->unreadable.count;
    DIR *stream = opendir(path.ptr);
    if (!stream)
        return pyro_add_failure(discovery, path, "cannot list this folder", errno);
    struct folder_scan scan = {0};
    enum pyro_status status = find_inside(discovery, path);
    if (status == PYRO_OK)
        status = scan_names(discovery, &scan, path, stream, false);
    closedir(stream);
    size_t kept = 0;
    if (status == PYRO_OK)
        status = pyro_discover_deep(discovery, path, &scan.found, &kept);
    scan.kept += kept;
    if (status == PYRO_OK)
        status = pyro_group_found(discovery, scan.found.items, scan.found.count);
    discovery->inside = PYRO_SLICE_NULL;
    pyro_vec_done(&scan.found, discovery->allocator);
    if (status != PYRO_OK || scan.kept || discovery->logs.count + discovery->unreadable.count > rows)
        return status;
    return pyro_add_unreadable(
        discovery, path,
        scan.subfolders && !(discovery->known && discovery->known->deep)
            ? PYRO_SLICE_LITERAL("has no event log; subfolders are not searched: name one of them")
            : PYRO_SLICE_LITERAL("has no event log"));
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

static enum pyro_status discover_stdin(struct pyro_discovery *discovery, struct pyro_slice path)
{
    if (discovery->stdin_taken)
        return pyro_add_unreadable(discovery, path, PYRO_SLICE_LITERAL("standard input can be read only once"));
    discovery->stdin_taken = true;
    return add_alone(discovery, path, false);
}

static enum pyro_status discover_path(struct pyro_discovery *discovery, const char *text)
{
    struct pyro_slice path = pyro_arena_copy(discovery->arena, pyro_slice_from(text));
    if (!path.ptr)
        return PYRO_ERROR_MEMORY;
    if (pyro_slice_is(path, "-"))
        return discover_stdin(discovery, path);
    if (pyro_is_url(text)) {
        struct pyro_log *log = pyro_vec_push(&discovery->logs, discovery->allocator);
        if (log)
            *log = (struct pyro_log){.path = path, .layout = PYRO_LAYOUT_REMOTE};
        return log ? PYRO_OK : PYRO_ERROR_MEMORY;
    }
    struct stat status;
    if (stat(path.ptr, &status) != 0)
        return pyro_add_failure(discovery, path, "cannot open", errno);
    if (S_ISREG(status.st_mode))
        return discover_file(discovery, path);
    if (S_ISFIFO(status.st_mode)) /* not looked into: its bytes come only once */
        return add_alone(discovery, path, false);
    if (!S_ISDIR(status.st_mode))
        return pyro_add_unreadable(discovery, path,
                                   PYRO_SLICE_LITERAL("is a device or socket: give a file, folder or pipe"));
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    path = pyro_arena_copy(discovery->arena, path); /* so that it ends in NUL again */
    return path.ptr ? discover_folder(discovery, path) : PYRO_ERROR_MEMORY;
}

static int compare_logs(const void *a, const void *b)
{
    return pyro_natural_compare(((const struct pyro_log *)a)->path, ((const struct pyro_log *)b)->path);
}

static int compare_unreadable(const void *a, const void *b)
{
    return pyro_natural_compare(((const struct pyro_unreadable *)a)->path, ((const struct pyro_unreadable *)b)->path);
}

/* Folders are listed in whatever order the file system likes: what one path gave is put into the order of names. */
static enum pyro_status discover_sorted(struct pyro_discovery *discovery, const char *path)
{
    size_t logs = discovery->logs.count, rows = discovery->unreadable.count;
    PYRO_TRY(discover_path(discovery, path));
    if (discovery->logs.count - logs > 1)
        qsort(discovery->logs.items + logs, discovery->logs.count - logs, sizeof(struct pyro_log), compare_logs);
    if (discovery->unreadable.count - rows > 1)
        qsort(discovery->unreadable.items + rows, discovery->unreadable.count - rows, sizeof(struct pyro_unreadable),
              compare_unreadable);
    return PYRO_OK;
}

static enum pyro_status note_named(struct pyro_discovery *discovery, const char *text)
{
    struct pyro_slice path = pyro_slice_from(text);
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    return pyro_map_put(&discovery->named, pyro_hash_slice(path), NULL) ? PYRO_OK : PYRO_ERROR_MEMORY;
}

/* Copies `count` items of `size` bytes to the arena; NULL also for none. */
static void *settle(struct pyro_arena *arena, const void *items, size_t count, size_t size)
{
    void *copy = count ? pyro_arena_array(arena, count, size) : NULL;
    return copy ? memcpy(copy, items, count * size) : NULL;
}

static enum pyro_status settle_list(struct pyro_discovery *discovery, struct pyro_log_list *ret)
{
    ret->logs = settle(discovery->arena, discovery->logs.items, discovery->logs.count, sizeof(struct pyro_log));
    ret->unreadable = settle(discovery->arena, discovery->unreadable.items, discovery->unreadable.count,
                             sizeof(struct pyro_unreadable));
    if ((discovery->logs.count && !ret->logs) || (discovery->unreadable.count && !ret->unreadable))
        return PYRO_ERROR_MEMORY;
    ret->count = discovery->logs.count;
    ret->unreadable_count = discovery->unreadable.count;
    ret->unpack = discovery->unpack;
    return PYRO_OK;
}

enum pyro_status pyro_source_discover(const char *const *paths, size_t path_count,
                                      const struct pyro_allocator *allocator, struct pyro_log_list *ret,
                                      struct pyro_error *error)
{
    return pyro_source_discover_again(paths, path_count, NULL, allocator, ret, error);
}

enum pyro_status pyro_source_discover_again(const char *const *paths, size_t path_count, const struct pyro_known *known,
                                            const struct pyro_allocator *allocator, struct pyro_log_list *ret,
                                            struct pyro_error *error)
{
    memset(ret, 0, sizeof(*ret));
    pyro_arena_init(&ret->arena, allocator);
    struct pyro_discovery discovery = {.allocator = allocator, .arena = &ret->arena, .known = known};
    enum pyro_status status = PYRO_OK;
    pyro_map_init(&discovery.named, allocator);
    for (size_t i = 0; i < path_count && status == PYRO_OK && known && known->deep; i++)
        status = note_named(&discovery, paths[i]);
    for (size_t i = 0; i < path_count && status == PYRO_OK; i++)
        status = discover_sorted(&discovery, paths[i]);
    if (status == PYRO_OK)
        status = settle_list(&discovery, ret);
    pyro_vec_done(&discovery.logs, allocator);
    pyro_vec_done(&discovery.unreadable, allocator);
    pyro_map_done(&discovery.named);
    if (status != PYRO_OK) {
        pyro_unpack_done(discovery.unpack);
        ret->unpack = NULL;
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for the list of logs");
    }
    return PYRO_OK;
}

void pyro_log_list_done(struct pyro_log_list *list)
{
    pyro_unpack_done(list->unpack);
    pyro_arena_done(&list->arena);
    list->unpack = NULL;
    list->logs = NULL;
    list->unreadable = NULL;
    list->count = list->unreadable_count = 0;
}
