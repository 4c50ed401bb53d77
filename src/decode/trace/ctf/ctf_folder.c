/* The files of a trace's folder that are its streams. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "decode/trace/ctf/ctf_merge.h"
#include "source/input.h"

static int compare_names(const void *a, const void *b)
{
    const struct pyro_slice *left = a, *right = b;
    return pyro_slice_compare(*left, *right);
}

static bool is_candidate(const char *name)
{
    return name[0] != '.' && strcmp(name, "metadata") != 0 && strcmp(name, "index") != 0;
}

/* Names of files, sorted. *ret_more: there are more than are taken. */
static enum pyro_status list_names(const char *folder, struct pyro_ctf_source *source, struct ctf_names *names,
                                   const struct pyro_allocator *allocator, struct pyro_error *error)
{
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    bool memory = true;
    if (!opened) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "%s", strerror(errno));
        pyro_error_at(error, folder, UINT64_MAX);
        return PYRO_ERROR_INPUT;
    }
    while (memory && names->count < PYRO_CTF_STREAMS_MAX && (entry = readdir(opened)) != NULL) {
        struct stat status;
        if (!is_candidate(entry->d_name) || fstatat(dirfd(opened), entry->d_name, &status, 0) != 0 ||
            S_ISDIR(status.st_mode) || status.st_size == 0)
            continue;
        struct pyro_slice path = pyro_arena_printf(&source->arena, "%s/%s", folder, entry->d_name);
        memory = path.ptr && pyro_vec_reserve(names, 1, allocator);
        if (memory)
            names->items[names->count++] = path;
    }
    closedir(opened);
    if (!memory)
        return pyro_no_memory(error);
    if (names->count > 1)
        qsort(names->items, names->count, sizeof(*names->items), compare_names);
    return PYRO_OK;
}

/* Says that a file is not read; of many, only how many there are. */
static void note(struct pyro_ctf_source *source, struct pyro_slice path, const char *why, size_t count)
{
    enum { NAMED = 3 };
    const char *slash = strrchr(path.ptr, '/');
    if (count > NAMED)
        return;
    pyro_strbuf_printf(&source->problem, "%s%s %s", count > 1 ? "; " : "", slash ? slash + 1 : path.ptr, why);
}

/* Opens a file and reads its first header. *ret_stream NULL: it is not a stream. */
static enum pyro_status open_stream(struct pyro_ctf *ctf, struct pyro_ctf_source *source, struct pyro_slice path,
                                    const char **ret_why, struct pyro_error *error)
{
    struct pyro_ctf_stream **place = pyro_vec_push(&ctf->streams, ctf->allocator);
    struct pyro_ctf_stream *stream = place ? pyro_allocate(ctf->allocator, sizeof(*stream)) : NULL;
    if (!stream) {
        ctf->streams.count -= place != NULL;
        return pyro_no_memory(error);
    }
    *stream = (struct pyro_ctf_stream){.source = source, .path = path, .fd = -1, .event.cpu = -1};
    *place = stream;
    stream->event.trace = source->number;
    stream->run.store = &source->store;
    stream->lose = ctf->calls.lose;
    stream->context = ctf->calls.context;
    int failure = pyro_ctf_stream_open(stream, ctf->streams.count <= PYRO_CTF_OPEN_FILES, ctf->allocator);
    if (failure == ENOMEM)
        return pyro_no_memory(error);
    int opened = failure == 0 ? pyro_ctf_open_packet(stream, ctf->allocator) : 0;
    if (opened == -1)
        return pyro_no_memory(error);
    if (opened == 1)
        return PYRO_OK;
    *ret_why = failure == ELOOP && source->inside.ptr ? PYRO_LEADS_OUT
               : failure != 0                         ? strerror(failure)
                                                      : "is not a stream of this trace";
    pyro_ctf_stream_close(stream, ctf->allocator);
    pyro_release(ctf->allocator, stream);
    ctf->streams.count--;
    return PYRO_OK;
}

static enum pyro_status open_all(struct pyro_ctf *ctf, struct pyro_ctf_source *source, const struct ctf_names *names,
                                 struct pyro_error *error)
{
    const int64_t years_ns = INT64_C(1000000000000000000); /* from 1970 to 2001 */
    size_t others = 0;
    for (size_t i = 0; i < names->count; i++) {
        const char *why = NULL;
        PYRO_TRY(open_stream(ctf, source, names->items[i], &why, error));
        if (why) {
            note(source, names->items[i], why, ++others);
            continue;
        }
        const struct pyro_ctf_stream *stream = ctf->streams.items[ctf->streams.count - 1];
        source->facts.streams++;
        if (pyro_ctf_stream_time(stream, stream->packet.begin_clock) >= years_ns)
            source->facts.absolute = true;
    }
    if (others > 3)
        pyro_strbuf_printf(&source->problem, "; %zu more files", others - 3);
    if (source->problem.failed)
        return pyro_no_memory(error);
    if (source->problem.len > 0)
        source->facts.problem = pyro_strbuf_slice(&source->problem);
    return PYRO_OK;
}

enum pyro_status pyro_ctf_open_streams(struct pyro_ctf *ctf, struct pyro_ctf_source *source, const char *folder,
                                       struct pyro_error *error)
{
    struct ctf_names names = {NULL, 0, 0};
    enum pyro_status status = list_names(folder, source, &names, ctf->allocator, error);
    if (status == PYRO_OK)
        status = open_all(ctf, source, &names, error);
    pyro_vec_done(&names, ctf->allocator);
    return status;
}
