/* logs: the event logs of an application or attempt as a zip archive, made while it is sent. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "libraries/libarchive.h"
#include "serve/spark/spark_request.h"
#include "source/discovery/names.h"
#include "source/input.h"

enum { PIECE_BYTES = 64 << 10 };

/* One entry of the archive; a folder's name ends in a slash, and there is nothing in it. */
struct entry {
    struct pyro_slice name;
    struct pyro_log_part part;
};

struct archive_stream {
    struct pyro_arena arena; /* names and paths */
    PYRO_VEC(struct entry) entries;
    size_t next;
    bool inside; /* `input` is open, of the entry before `next` */
    bool closed; /* the archive's end is written */
    struct pyro_input input;
    struct archive *archive;
    struct pyro_strbuf made; /* not sent yet */
    size_t sent;
    char piece[PIECE_BYTES];
};

/* ---- What goes in ---- */

static bool add_entry(struct archive_stream *stream, struct pyro_slice folder, struct pyro_slice name,
                      struct pyro_slice path, struct pyro_slice member)
{
    struct entry *entry = pyro_vec_push(&stream->entries, NULL);
    if (!entry)
        return false;
    entry->name = folder.len ? pyro_arena_printf(&stream->arena, "%.*s/%.*s", (int)folder.len, folder.ptr,
                                                 (int)name.len, name.ptr)
                             : pyro_arena_copy(&stream->arena, name);
    entry->part.path = path.ptr ? pyro_arena_copy(&stream->arena, path) : PYRO_SLICE_NULL;
    entry->part.member = pyro_arena_copy(&stream->arena, member);
    return entry->name.ptr && (!path.ptr || entry->part.path.ptr) && (!member.ptr || entry->part.member.ptr);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *file)
{
    return file->d_name[0] != '.'; /* Hadoop hides its checksums, .NAME.crc */
}

/* All files of a rolling log's folder, as they are now. */
static bool add_folder(struct archive_stream *stream, struct pyro_slice folder)
{
    struct dirent **names = NULL;
    struct pyro_slice base = pyro_base_name(folder);
    struct pyro_slice path = pyro_arena_copy(&stream->arena, folder);
    bool ok = path.ptr && add_entry(stream, base, PYRO_SLICE_LITERAL(""), PYRO_SLICE_NULL, PYRO_SLICE_NULL);
    int count = ok ? scandir(path.ptr, &names, is_shown, by_name) : 0;
    for (int i = 0; i < count; i++) {
        struct pyro_slice name = pyro_slice_from(names[i]->d_name);
        struct pyro_slice whole = pyro_arena_printf(&stream->arena, "%.*s/%s", (int)folder.len, folder.ptr, name.ptr);
        struct stat status;
        ok = ok && whole.ptr;
        if (ok && stat(whole.ptr, &status) == 0 && S_ISREG(status.st_mode))
            ok = add_entry(stream, base, name, whole, PYRO_SLICE_NULL);
        free(names[i]);
    }
    free(names);
    return ok && count >= 0;
}

static bool add_log(struct archive_stream *stream, const struct pyro_log *log)
{
    if (log->layout == PYRO_LAYOUT_ROLLING && log->part_count && !log->parts[0].member.ptr)
        return add_folder(stream, log->path);
    struct pyro_slice folder = log->part_count > 1 ? pyro_base_name(log->path) : PYRO_SLICE_NULL;
    bool ok = !folder.ptr || add_entry(stream, folder, PYRO_SLICE_LITERAL(""), PYRO_SLICE_NULL, PYRO_SLICE_NULL);
    for (size_t i = 0; ok && i < log->part_count; i++) {
        const struct pyro_log_part *part = &log->parts[i];
        ok = add_entry(stream, folder, pyro_base_name(part->member.ptr ? part->member : part->path), part->path,
                       part->member);
    }
    return ok;
}

/* ---- Making the archive ---- */

static la_ssize_t take(struct archive *archive, void *context, const void *bytes, size_t len)
{
    struct archive_stream *stream = context;
    (void)archive;
    pyro_strbuf_add(&stream->made, bytes, len);
    return stream->made.failed ? -1 : (la_ssize_t)len;
}

static bool begin_entry(struct archive_stream *stream)
{
    const struct entry *entry = &stream->entries.items[stream->next++];
    struct archive_entry *header = archive_entry_new();
    bool folder = !entry->part.path.ptr;
    struct stat status;
    if (!header || (!folder && pyro_input_open(&stream->input, &entry->part, NULL, NULL) != PYRO_OK)) {
        archive_entry_free(header);
        return false;
    }
    stream->inside = !folder;
    archive_entry_set_pathname_utf8(header, entry->name.ptr);
    archive_entry_set_filetype(header, folder ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(header, folder ? 0755 : 0644);
    if (!folder && stat(entry->part.path.ptr, &status) == 0)
        archive_entry_set_mtime(header, status.st_mtime, 0);
    /* No size is said: a log may grow while it is read. */
    int result = archive_write_header(stream->archive, header);
    archive_entry_free(header);
    return result == ARCHIVE_OK || result == ARCHIVE_WARN;
}

static bool copy_piece(struct archive_stream *stream)
{
    size_t len = 0;
    if (pyro_input_read(&stream->input, stream->piece, sizeof(stream->piece), &len, NULL) != PYRO_OK)
        return false;
    if (len)
        return archive_write_data(stream->archive, stream->piece, len) == (la_ssize_t)len;
    pyro_input_close(&stream->input);
    stream->inside = false;
    return archive_write_finish_entry(stream->archive) == ARCHIVE_OK;
}

static bool advance(struct archive_stream *stream)
{
    if (stream->inside)
        return copy_piece(stream);
    if (stream->next < stream->entries.count)
        return begin_entry(stream);
    stream->closed = true;
    return archive_write_close(stream->archive) == ARCHIVE_OK;
}

static int64_t read_archive(void *context, char *buffer, size_t size)
{
    struct archive_stream *stream = context;
    while (stream->sent == stream->made.len) {
        pyro_strbuf_clear(&stream->made);
        stream->sent = 0;
        if (stream->closed)
            return SERVE_STREAM_END;
        if (!advance(stream))
            return SERVE_STREAM_BROKEN;
    }
    size_t len = stream->made.len - stream->sent;
    len = len < size ? len : size;
    memcpy(buffer, stream->made.data + stream->sent, len);
    stream->sent += len;
    return (int64_t)len;
}

static void close_archive(void *context)
{
    struct archive_stream *stream = context;
    if (stream->inside)
        pyro_input_close(&stream->input);
    if (stream->archive)
        archive_write_free(stream->archive);
    stream->archive = NULL;
    pyro_strbuf_done(&stream->made);
    pyro_vec_done(&stream->entries, NULL);
    pyro_arena_done(&stream->arena);
    pyro_release(NULL, stream);
}

static struct archive_stream *open_archive(void)
{
    struct archive_stream *stream = pyro_allocate(NULL, sizeof(*stream));
    if (!stream)
        return NULL;
    memset(stream, 0, sizeof(*stream));
    pyro_arena_init(&stream->arena, NULL);
    pyro_strbuf_init(&stream->made, NULL);
    stream->archive = pyro_archive_load(NULL) == PYRO_OK ? archive_write_new() : NULL;
    if (stream->archive && archive_write_set_format_zip(stream->archive) == ARCHIVE_OK &&
        archive_write_set_bytes_per_block(stream->archive, 0) == ARCHIVE_OK &&
        archive_write_open(stream->archive, stream, NULL, take, NULL) == ARCHIVE_OK)
        return stream;
    close_archive(stream);
    return NULL;
}

/* ---- The request ---- */

static bool is_asked_for(const struct spark_request *request, const struct pyro_attempt *attempt)
{
    return !request->attempt_id.ptr ||
           (attempt->attempt_id.ptr && pyro_slice_eq(attempt->attempt_id, request->attempt_id));
}

/* Of runs that are only stored, or made of text logs, there is none. */
static bool has_event_log(const struct pyro_catalog_list *list, const struct pyro_attempt *attempt)
{
    const struct pyro_log *log = pyro_catalog_list_files(list, attempt);
    return log->part_count > 0 && log->layout != PYRO_LAYOUT_LOGS;
}

static bool has_files(struct spark_request *request, const struct pyro_catalog_list *list,
                      const struct pyro_catalog_app *app)
{
    for (size_t i = 0; i < app->attempt_count; i++)
        if (is_asked_for(request, &app->attempts[i]) && has_event_log(list, &app->attempts[i]))
            return true;
    return false;
}

/* Whether Spark would find the attempt; without an id, an application whose attempts have ids must have number 1. */
static bool is_there(struct spark_request *request, const struct pyro_catalog_app *app)
{
    if (app && pyro_catalog_app_attempt(app, request->attempt_id))
        return true;
    if (request->attempt_id.ptr)
        return false;
    request->attempt_id = PYRO_SLICE_LITERAL("1");
    bool found = app && pyro_catalog_app_attempt(app, request->attempt_id);
    if (found)
        request->attempt_id = PYRO_SLICE_NULL;
    return found;
}

void pyro_spark_logs(struct spark_request *request)
{
    const struct pyro_catalog_list *list = pyro_serve_list(request->http);
    const struct pyro_catalog_app *app = pyro_catalog_list_find(list, request->app_id);
    if (!is_there(request, app) || !has_files(request, list, app)) {
        pyro_spark_no_such_app(request);
        return;
    }
    struct archive_stream *stream = open_archive();
    bool ok = stream != NULL;
    for (size_t i = 0; ok && i < app->attempt_count; i++)
        if (is_asked_for(request, &app->attempts[i]) && has_event_log(list, &app->attempts[i]))
            ok = add_log(stream, pyro_catalog_list_files(list, &app->attempts[i]));
    if (!ok) {
        if (stream)
            close_archive(stream);
        pyro_spark_error(request, 503, "Event logs are not available for app: %.*s.", (int)request->app_id.len,
                         request->app_id.ptr);
        return;
    }
    char name[256];
    bool attempt = request->attempt_id.ptr != NULL;
    int len = snprintf(name, sizeof(name), "attachment; filename=eventLogs-%.*s%s%.*s.zip", (int)request->app_id.len,
                       request->app_id.ptr, attempt ? "-" : "", attempt ? (int)request->attempt_id.len : 0,
                       attempt ? request->attempt_id.ptr : "");
    request->http->type = "application/octet-stream";
    request->http->stream = (struct serve_stream){read_archive, close_archive, stream, -1};
    if (len > 0 && (size_t)len < sizeof(name))
        pyro_serve_header(request->http, "Content-Disposition", pyro_slice_from(name));
}
