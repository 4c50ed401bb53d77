#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/replace_file.h"
#include "base/options.h"
#include "export/trace_compass/trace_compass.h"

enum { METADATA, STREAM, ANALYSIS, FILES };

struct folder {
    char ctf[PATH_MAX], files[FILES][PATH_MAX];
};

static enum pyro_status fail(struct pyro_error *error, const char *path, int failure)
{
    pyro_error_describe(error, PYRO_ERROR_OUTPUT, "%s", strerror(failure));
    pyro_error_at(error, path, 0);
    return PYRO_ERROR_OUTPUT;
}

/* Every file in the trace's folder whose name does not begin with a dot is a stream of it, so that the analysis is
 * next to that folder. */
static bool name_files(struct folder *folder, const char *path)
{
    static const char *const names[FILES] = {"ctf/metadata", "ctf/tasks", "analysis.xml"};
    bool fits = snprintf(folder->ctf, sizeof(folder->ctf), "%s/ctf", path) < (int)sizeof(folder->ctf);
    for (size_t i = 0; i < FILES; i++) {
        int len = snprintf(folder->files[i], sizeof(folder->files[i]), "%s/%s", path, names[i]);
        fits = fits && len > 0 && len < (int)sizeof(folder->files[i]);
    }
    return fits;
}

static enum pyro_status replace(const char *path, const struct pyro_strbuf *text, struct pyro_error *error)
{
    const struct pyro_replacement how = {.access = PYRO_NEW_FILE_BY_UMASK};
    if (text->failed)
        return pyro_no_memory(error);
    int failure = pyro_replace_file(path, pyro_strbuf_slice(text), &how);
    return failure ? fail(error, path, failure) : PYRO_OK;
}

/* An earlier export is replaced. A stream cannot be read without its metadata: they go first, and come last. */
static enum pyro_status make_room(const struct folder *folder, struct pyro_error *error)
{
    if (!pyro_new_folder_by_umask(folder->ctf) && errno != EEXIST)
        return fail(error, folder->ctf, errno);
    for (size_t i = METADATA; i <= STREAM; i++)
        if (unlink(folder->files[i]) != 0 && errno != ENOENT)
            return fail(error, folder->files[i], errno);
    return PYRO_OK;
}

static enum pyro_status write_stream(const struct folder *folder, const struct pyro_compass_order *order,
                                     struct pyro_compass_writer *writer, struct pyro_error *error)
{
    pyro_compass_write_events(order, writer);
    bool written = pyro_compass_end(writer);
    if (close(writer->fd) != 0 && writer->failure == 0)
        writer->failure = errno;
    if (written && writer->failure == 0)
        return PYRO_OK;
    unlink(folder->files[STREAM]);
    return writer->failure ? fail(error, folder->files[STREAM], writer->failure) : pyro_no_memory(error);
}

static enum pyro_status write_trace(const struct folder *folder, const pyro_app *app,
                                    const struct pyro_compass_order *order, struct pyro_error *error)
{
    struct pyro_compass_writer writer;
    struct pyro_strbuf metadata;
    int file = pyro_new_file(folder->files[STREAM], PYRO_NEW_FILE_BY_UMASK);
    if (file < 0)
        return fail(error, folder->files[STREAM], errno);
    pyro_compass_init(&writer, file, pyro_compass_first_ns(order), app->allocator);
    pyro_strbuf_init(&metadata, app->allocator);
    enum pyro_status status = write_stream(folder, order, &writer, error);
    if (status == PYRO_OK) {
        pyro_compass_add_metadata(&metadata, &writer, app->application.id);
        status = replace(folder->files[METADATA], &metadata, error);
    }
    pyro_strbuf_done(&metadata);
    pyro_compass_done(&writer);
    return status;
}

enum pyro_status pyro_trace_compass_write(const pyro_app *app, const pyro_diagnosis *diagnosis, const char *path,
                                          const struct pyro_options *options, struct pyro_error *error)
{
    struct pyro_options own;
    struct folder folder;
    struct pyro_strbuf xml;
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    if (!app || !path || (diagnosis && diagnosis->app != app))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the application or the folder is missing, or the diagnosis is of another application");
    if (!name_files(&folder, path))
        return fail(error, path, ENAMETOOLONG);
    PYRO_TRY(make_room(&folder, error));
    pyro_strbuf_init(&xml, own.allocator);
    pyro_add_trace_compass_analysis(&xml);
    enum pyro_status status = replace(folder.files[ANALYSIS], &xml, error);
    pyro_strbuf_done(&xml);
    if (status != PYRO_OK)
        return status;
    struct pyro_compass_order *order = pyro_compass_order_new(app, diagnosis);
    if (!order)
        return pyro_no_memory(error);
    status = write_trace(&folder, app, order, error);
    pyro_compass_order_free(order);
    return status;
}
