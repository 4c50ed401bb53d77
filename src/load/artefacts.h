/* What applications left in addition to their event logs: files found in the folders that were named, and read into the
 * tracks of the application that they belong to. */
#ifndef PYRO_LOAD_ARTEFACTS_H
#define PYRO_LOAD_ARTEFACTS_H

#include "base/collections/map.h"
#include "base/options.h"
#include "decode/artefact_kinds.h"
#include "model/app.h"
#include "source/source.h"

/* Who a file belongs to. */
enum pyro_artefact_owner_kind {
    PYRO_OWNER_NOBODY,
    PYRO_OWNER_APPLICATION, /* the one whose id the file names */
    PYRO_OWNER_LOG,         /* the one of an event log: it is the only one of the nearest folder that has any */
    PYRO_OWNER_ANY          /* there is only one event log */
};

struct pyro_artefact_owner {
    enum pyro_artefact_owner_kind kind;
    struct pyro_slice name; /* the application's id, or the path of the event log; else null */
};

struct pyro_artefact_file {
    struct pyro_log_part part;
    struct pyro_artefact_source source;
    enum pyro_artefact_kind kind;
    struct pyro_artefact_owner owner; /* known when the search has ended */
    bool metered;                     /* anybody may have sent it: what reading it takes is limited */
};

struct pyro_artefact_list {
    struct pyro_artefact_file *items; /* in the order of the paths, then of their names; in the caller's arena */
    size_t count;
    size_t left_out;   /* files and folders beyond the limits of source/discovery/walk.h */
    size_t event_logs; /* of the paths, those left out that turned out to be other files: notes, empty ones */
};

/* What a file in a folder is. */
enum pyro_artefact_place {
    PYRO_PLACE_UNSEEN,   /* nothing is known of it */
    PYRO_PLACE_ARTEFACT, /* one of the list */
    PYRO_PLACE_EVENTS,   /* an event log */
    PYRO_PLACE_OTHER     /* neither, so that it is not an event log */
};

/* For callers that look at the same folders again and again: no file is opened that they know. */
struct pyro_artefact_memory {
    /* Whether recall() says PYRO_PLACE_EVENTS of the path, without looking at the file. */
    bool (*is_event_log)(void *context, struct pyro_slice path);
    /* What is known of the file; of an artefact *ret, whose texts last until the search ends. */
    enum pyro_artefact_place (*recall)(void *context, struct pyro_slice path, struct pyro_artefact_file *ret);
    /* Gets what each file is that was recalled or looked at; `file`: of an artefact, in the list's arena. False: no
     * memory. */
    bool (*keep)(void *context, struct pyro_slice path, enum pyro_artefact_place place,
                 const struct pyro_artefact_file *file);
    void *context;
};

/* How they are looked for. */
struct pyro_artefact_search {
    bool named;                                /* also at paths that are files */
    enum pyro_artefact_kind kind;              /* of those; PYRO_ARTEFACT_KINDS: what their content says */
    const struct pyro_artefact_memory *memory; /* NULL: none */
    /* What has no event log gets a log of PYRO_LAYOUT_LOGS for each application, which the list gets instead of what it
     * has. */
    bool logged;
    const struct pyro_map
        *with_events; /* hashes of the ids that have one; NULL: only if there is no event log at all */
};

/* Looks through the paths that are folders. Logs of `list` that turn out to be such files are taken off it, and so are
 * the reasons why they could not be read. Everything that is kept belongs to the list's arena. Fails with
 * PYRO_ERROR_MEMORY only: what cannot be opened is not an artefact. */
enum pyro_status pyro_artefacts_find(const char *const *paths, size_t path_count,
                                     const struct pyro_artefact_search *how, struct pyro_log_list *list,
                                     const struct pyro_allocator *allocator, struct pyro_artefact_list *ret,
                                     struct pyro_error *error);

/* Looks into parts that were found before, such as members of an archive, one after the other. `ret` gets those that
 * are such files, in the arena, where `event_logs` is as given; ret_place says what each part is. */
enum pyro_status pyro_artefacts_of_parts(const struct pyro_log_part *parts, size_t part_count, size_t event_logs,
                                         struct pyro_arena *arena, struct pyro_artefact_list *ret,
                                         enum pyro_artefact_place *ret_places, struct pyro_error *error);

/* Makes all texts of a file last as long as the arena. False: no memory. */
bool pyro_artefact_file_keep(struct pyro_arena *arena, struct pyro_artefact_file *file);

/* Whether a file belongs to the application with that id, whose event log has that path. */
bool pyro_artefact_belongs(const struct pyro_artefact_file *file, struct pyro_slice application, struct pyro_slice log);

/* Reads the files that belong to an application into app->tracks. A file that cannot be read becomes a row with its
 * problem. `log`: the path of its event log. `settings`: resolved; what reading takes of files that are `metered` is
 * charged to `meter`, which may be NULL: those beyond that are rows with this problem. */
struct pyro_cpu_meter;
enum pyro_status pyro_artefacts_attach(const struct pyro_artefact_list *list, struct pyro_app *app,
                                       struct pyro_slice log, const struct pyro_load_settings *settings,
                                       struct pyro_cpu_meter *meter, struct pyro_error *error);
/* Reads all of them into new tracks, of whatever application they are. What reading any of them takes is charged to
 * `meter`, which may be NULL; those beyond that are rows with this problem. */
enum pyro_status pyro_artefacts_read(const struct pyro_artefact_list *list, enum pyro_redaction redaction,
                                     struct pyro_cpu_meter *meter, const struct pyro_allocator *allocator,
                                     struct pyro_tracks **ret, struct pyro_error *error);

#endif
