/* What applications left beside their event logs: files found in the folders that were named, and read into the tracks
 * of the application that they belong to. */
#ifndef PYRO_LOAD_ARTEFACTS_H
#define PYRO_LOAD_ARTEFACTS_H

#include "base/options.h"
#include "decode/artefacts.h"
#include "model/app.h"
#include "source/source.h"

struct pyro_artefact_file {
    struct pyro_log_part part;
    struct pyro_artefact_source source;
    enum pyro_artefact_kind kind;
};

struct pyro_artefact_list {
    struct pyro_artefact_file *items; /* in the order of the paths, then of their names; in the caller's arena */
    size_t count;
    size_t left_out;   /* files and folders beyond the limits of source/walk.h */
    size_t event_logs; /* of the paths, those left out that turned out to be other files: notes, empty ones */
};

/* Looks through the paths that are folders. Logs of `list` that turn out to be such files are taken off it, and so are
 * the reasons why they could not be read. Everything that is kept belongs to the list's arena. Fails with
 * PYRO_ERROR_MEMORY only: what cannot be opened is no artefact. */
enum pyro_status pyro_artefacts_find(const char *const *paths, size_t path_count, struct pyro_log_list *list,
                                     const struct pyro_allocator *allocator, struct pyro_artefact_list *ret,
                                     struct pyro_error *error);

/* Reads the files that belong to an application into app->tracks: those that name its id, and, where it is the only
 * event log, those that name none. A file that cannot be read becomes a row with its problem. */
enum pyro_status pyro_artefacts_attach(const struct pyro_artefact_list *list, struct pyro_app *app,
                                       struct pyro_error *error);

#endif
