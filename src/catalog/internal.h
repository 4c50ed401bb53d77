/* What the catalog's files share. */
#ifndef PYRO_CATALOG_INTERNAL_H
#define PYRO_CATALOG_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/strings/strbuf.h"
#include "base/threads/cpu_meter.h"
#include "base/threads/thread.h"
#include "catalog/catalog.h"
#include "catalog/watch_folder.h"
#include "load/artefacts.h"
#include "source/file_stamp.h"
#include "source/source.h"

/* ---- log.c: one log on disk ---- */

/* Immutable but for the count and, until it is listed, its identity. One block of memory. */
struct pyro_catalog_log {
    atomic_int references;
    uint64_t identity;              /* stays when the log grows or is renamed; 0: not given yet */
    struct pyro_log log;            /* no parts: no log was found there, as `problem` says, or it is only stored */
    struct pyro_file_stamp *stamps; /* of its parts */
    struct pyro_attempt attempt;
    struct pyro_slice problem; /* why it is not listed; null: it is */
    bool passing;              /* the problem is of the moment: the next update reads the log again */
    bool uploaded;
    uint64_t cpu_us;                          /* what looking at it took, of an upload; 0 after a restart */
    bool exhausted;                           /* which was all that it may take */
    bool named_by_store;                      /* found where a store says that the log of one of its runs is */
    const struct pyro_catalog_stored *stored; /* NULL: it is a log */
};

/* Copies everything, but for the store's URL. `attempt` NULL: there is a problem. `stored`: NULL for logs. NULL: no
 * memory. */
struct pyro_catalog_log *pyro_catalog_log_new(const struct pyro_log *log, const struct pyro_file_stamp *stamps,
                                              const struct pyro_attempt *attempt, struct pyro_slice problem,
                                              const struct pyro_catalog_stored *stored);
struct pyro_catalog_log *pyro_catalog_log_retain(const struct pyro_catalog_log *log);
void pyro_catalog_log_release(const struct pyro_catalog_log *log);
/* Whether both were found with the same files, none of which has changed. */
bool pyro_catalog_log_same(const struct pyro_catalog_log *log, const struct pyro_log *other,
                           const struct pyro_file_stamp *stamps);
/* Whether it is below the folder of uploads, which may be NULL. */
bool pyro_catalog_is_uploaded(const struct pyro_catalog_log *log, const char *uploads);
bool pyro_catalog_is_sent(struct pyro_slice path, const char *uploads);
uint64_t pyro_catalog_log_bytes(const struct pyro_catalog_log *log);
/* stat() of every part; false: one is gone. `stamps` has room for the parts. */
bool pyro_catalog_log_stat(const struct pyro_log *log, struct pyro_file_stamp *stamps);

typedef PYRO_VEC(struct pyro_catalog_log *) pyro_catalog_logs;
void pyro_catalog_logs_done(pyro_catalog_logs *logs);

/* ---- limited.c ---- */

/* Inputs that are this log. With `limits`, which only uploads have, reading them ends with PYRO_ERROR_INPUT beyond
 * those; `meter` must outlive the inputs. */
enum pyro_status pyro_catalog_inputs_of(const struct pyro_log *log, const struct pyro_upload_costs *limits,
                                        struct pyro_cpu_meter *meter, enum pyro_redaction redaction, pyro_inputs **ret,
                                        struct pyro_error *error);

struct pyro_catalog_update;

/* ---- sent.c: files that were uploaded by themselves ---- */

struct pyro_catalog_sent_file {
    struct pyro_file_stamp stamp;
    enum pyro_artefact_place place; /* of those that are no artefacts, only the path and this are known */
    uint64_t cpu_us;                /* what finding out took that it is no event log */
    struct pyro_artefact_file file;
};

struct pyro_catalog_sent_files {
    struct pyro_arena arena;                       /* of the texts */
    PYRO_VEC(struct pyro_catalog_sent_file) items; /* by path */
    struct pyro_map keys;                          /* hash of an application's id -> key of its files */
    uint64_t digest;
};

void pyro_catalog_sent_init(struct pyro_catalog_sent_files *files);
void pyro_catalog_sent_done(struct pyro_catalog_sent_files *files);
/* Fills `ret`, which is initialised, from uploads that could not be read as event logs; `before`: what the last search
 * found, or NULL. */
enum pyro_status pyro_catalog_sent_find(const struct pyro_catalog_update *update, const pyro_catalog_logs *logs,
                                        const struct pyro_catalog_sent_files *before,
                                        struct pyro_catalog_sent_files *ret, struct pyro_error *error);
/* What is known of the file at that path, or NULL; `files` may be NULL. */
const struct pyro_catalog_sent_file *pyro_catalog_sent_at(const struct pyro_catalog_sent_files *files,
                                                          struct pyro_slice path);
typedef PYRO_VEC(struct pyro_log) pyro_catalog_made_logs;
/* Adds a log of PYRO_LAYOUT_LOGS for each application that these files name, at least one of them a text log, and that
 * is not among `known`, hashes of ids. Its texts are those of `files` and of the arena. False: no memory. */
bool pyro_catalog_sent_logged(const struct pyro_catalog_sent_files *files, const struct pyro_map *known,
                              struct pyro_arena *arena, pyro_catalog_made_logs *logs);
/* A number that changes with the files of that application; 0: it has none. */
uint64_t pyro_catalog_sent_key(const struct pyro_catalog_sent_files *files, struct pyro_slice application);

/* ---- found_artefacts.c: files other than event logs ---- */

/* Immutable but for the count. */
struct pyro_catalog_artefacts;
/* Looks through the folders of `update`, and through archives that were uploaded with an event log. `logs`: all that
 * was found there, event logs or not. `before`: what the last search found, or NULL. The caller releases the result. */
enum pyro_status pyro_catalog_artefacts_find(const struct pyro_catalog_update *update, const pyro_catalog_logs *logs,
                                             const struct pyro_catalog_artefacts *before,
                                             struct pyro_catalog_artefacts **ret, struct pyro_error *error);
/* NULL stands for nothing found, here and below. */
struct pyro_catalog_artefacts *pyro_catalog_artefacts_retain(const struct pyro_catalog_artefacts *artefacts);
void pyro_catalog_artefacts_release(const struct pyro_catalog_artefacts *artefacts);
/* Whether both have the same files, none of which has changed. */
bool pyro_catalog_artefacts_same(const struct pyro_catalog_artefacts *a, const struct pyro_catalog_artefacts *b);
/* Whether a file was looked into that is neither one of them nor a log of the list that the search had, and has not
 * changed. */
bool pyro_catalog_artefacts_is_other(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path,
                                     struct pyro_file_stamp stamp);
/* Whether the file at that path is one; `stamp`: and has not changed since, NULL: in any case. */
bool pyro_catalog_artefacts_has(const struct pyro_catalog_artefacts *artefacts, struct pyro_slice path,
                                const struct pyro_file_stamp *stamp);
/* A number that changes with the files of the run that the log is of; 0: it has none. */
uint64_t pyro_catalog_artefacts_key_of(const struct pyro_catalog_artefacts *artefacts,
                                       const struct pyro_catalog_log *log);
/* The files of the log's run: the next one behind *at, which begins at 0; NULL: there are no more. */
const struct pyro_artefact_file *pyro_catalog_artefacts_next(const struct pyro_catalog_artefacts *artefacts,
                                                             const struct pyro_catalog_log *log, size_t *at);
/* All of them, in the arena; valid as long as `artefacts`. False: no memory. */
bool pyro_catalog_artefacts_of(const struct pyro_catalog_artefacts *artefacts, const struct pyro_catalog_log *log,
                               struct pyro_arena *arena, struct pyro_artefact_list *ret);
/* Those that were uploaded by themselves, of all applications. */
const struct pyro_catalog_sent_files *pyro_catalog_artefacts_sent(const struct pyro_catalog_artefacts *artefacts);
/* What looking at the other files of an upload took. */
uint64_t pyro_catalog_artefacts_cpu(const struct pyro_catalog_artefacts *artefacts, const struct pyro_catalog_log *log);
/* What applications without an event log are made of: a log of PYRO_LAYOUT_LOGS for each; valid as long as `artefacts`.
 */
const struct pyro_log *pyro_catalog_artefacts_logged(const struct pyro_catalog_artefacts *artefacts, size_t *ret_count);
/* Files that belong to no application, and why. */
const struct pyro_unreadable *pyro_catalog_artefacts_left(const struct pyro_catalog_artefacts *artefacts,
                                                          size_t *ret_count);

/* ---- application_list.c ---- */

/* A list of these logs and the files next to them, which it retains; NULL: no memory. Reorders the logs: by path. */
struct pyro_catalog_list *pyro_catalog_list_new(pyro_catalog_logs *logs,
                                                const struct pyro_catalog_artefacts *artefacts);
/* The files next to its logs, or NULL. */
const struct pyro_catalog_artefacts *pyro_catalog_list_artefacts(const struct pyro_catalog_list *list);
/* Before anybody else has it. */
void pyro_catalog_list_set_generation(struct pyro_catalog_list *list, uint64_t generation);
struct pyro_catalog_list *pyro_catalog_list_retain(const struct pyro_catalog_list *list);
/* Whether something of it could not be looked at for now. */
bool pyro_catalog_list_is_passing(const struct pyro_catalog_list *list);
/* All that was found, by path; listed or not. */
struct pyro_catalog_log *const *pyro_catalog_list_logs(const struct pyro_catalog_list *list, size_t *ret_count);
/* The log at that path, or NULL. */
struct pyro_catalog_log *pyro_catalog_list_at(const struct pyro_catalog_list *list, struct pyro_slice path);
const struct pyro_catalog_log *pyro_catalog_list_log_of(const struct pyro_catalog_list *list,
                                                        const struct pyro_attempt *attempt);

/* ---- stores.c: the runs that a store has; one thread at a time ---- */

/* A log that a store names. */
struct pyro_catalog_named {
    const struct pyro_catalog_log *run; /* of `runs` */
    bool refused;                /* what is there is not this run's log, and so not read again until it changes */
    bool tried;                  /* that was found by the update that goes on, or the last one */
    struct pyro_file_stamp root; /* of the file or folder there when that was found */
};
typedef PYRO_VEC(struct pyro_catalog_named) pyro_catalog_named_vec;

struct pyro_catalog_store {
    char *url;
    struct pyro_strbuf label;     /* what may be shown of it */
    pyro_store *store;            /* NULL: it could not be opened lately */
    struct pyro_file_stamp stamp; /* of its file */
    int64_t state;                /* when `runs` were read */
    pyro_catalog_logs runs;       /* by path: as if no log were there */
    pyro_catalog_named_vec named; /* those whose path is one of this machine, by that path */
};
/* The store must be there. */
enum pyro_status pyro_catalog_store_open(const char *url, struct pyro_catalog_store **ret, struct pyro_error *error);
void pyro_catalog_store_close(struct pyro_catalog_store *store);
/* Reads its runs where they have changed. While it cannot be read they stay as they were. */
void pyro_catalog_store_update(struct pyro_catalog_store *store, uint64_t *identities);
/* The report of a run that is only stored, as it is now. */
enum pyro_status pyro_catalog_stored_report(const struct pyro_catalog_log *log, struct pyro_strbuf *out,
                                            struct pyro_error *error);

/* ---- update_stores.c: logs that stores name ---- */

/* What to discover so that the logs that stores name are found. Left out are logs that are found in `folders` anyway,
 * and those that `known` says are as they were. */
struct pyro_catalog_roots {
    struct pyro_arena *arena; /* of the paths */
    const char *const *folders;
    size_t folder_count;
    bool (*known)(void *context, const struct pyro_catalog_named *named);
    void *context;
    PYRO_VEC(const char *) paths;
};
/* Adds those of one store. False: no memory. */
bool pyro_catalog_roots_of(struct pyro_catalog_roots *roots, struct pyro_catalog_store *store);
/* Whether the log is of the same attempt as the run. */
bool pyro_catalog_is_of(const struct pyro_catalog_log *log, const struct pyro_catalog_log *run);
/* Whether some run's log is at that path. */
bool pyro_catalog_is_named(struct pyro_catalog_store *const *stores, size_t count, struct pyro_slice path);
/* After an update that could not read everything: what it refused is looked at again. */
void pyro_catalog_forget_refusals(struct pyro_catalog_store *store);
/* Whether the log, which was read, is that of a run whose log is said to be there. */
bool pyro_catalog_accept_named(struct pyro_catalog_store *const *stores, size_t count,
                               const struct pyro_catalog_log *log);

/* ---- update.c: from folders to a list ---- */

struct pyro_catalog_update {
    const char *const *folders;
    size_t folder_count;
    const char *uploads; /* one of the folders, or NULL */
    const struct pyro_upload_costs *costs;
    bool unlimited, follow_links;
    struct pyro_catalog_store *const *stores;
    size_t store_count;
    unsigned threads;
    enum pyro_redaction redaction;          /* of what the list shows */
    const struct pyro_catalog_list *before; /* what was found last time */
    bool (*stopping)(void *context);        /* asked often; true ends the update early */
    void (*partial)(void *context,
                    struct pyro_catalog_list *list); /* takes over what is there so far; NULL: not wanted */
    void *context;
    uint64_t *identities;                            /* how many were given out */
    const struct pyro_catalog_artefacts **artefacts; /* what the last update found, and then what this one does */
};
/* A log as it is listed, with its attempt or why it cannot be read; NULL: no memory, or *ret_gone. (log.c) */
struct pyro_catalog_log *pyro_catalog_log_scan(const struct pyro_catalog_update *update, const struct pyro_log *log,
                                               const struct pyro_file_stamp *stamps, bool *ret_gone);
/* *ret is NULL when nothing has changed, or when it was stopped. */
enum pyro_status pyro_catalog_update(const struct pyro_catalog_update *update, struct pyro_catalog_list **ret,
                                     struct pyro_error *error);

/* ---- found_files.c: what is kept between starts; one thread at a time ---- */

struct pyro_catalog_index;
/* PYRO_ERROR_OUTPUT: nothing can be kept in that folder, which is made when missing. */
enum pyro_status pyro_catalog_index_open(const char *folder, enum pyro_redaction redaction,
                                         struct pyro_catalog_index **ret, struct pyro_error *error);
void pyro_catalog_index_close(struct pyro_catalog_index *index);
/* Adds what is kept of the logs of `folder`. False: no memory. */
bool pyro_catalog_index_read(struct pyro_catalog_index *index, const char *folder,
                             const struct pyro_catalog_options *options, pyro_catalog_logs *logs, uint64_t *identities);
/* Keeps what is new in `now` of that folder, and forgets what is not there any more. Failing does no harm. */
void pyro_catalog_index_write(struct pyro_catalog_index *index, const char *folder,
                              const struct pyro_catalog_list *before, const struct pyro_catalog_list *now);

/* ---- follow_log.c: logs that are being written ---- */

/* How far a log was read. Zeroed: not at all. */
struct pyro_catalog_position {
    const struct pyro_catalog_log *log; /* as it was then; retained */
    size_t part;
    uint64_t offset;
};
typedef enum pyro_status pyro_catalog_feed(void *context, const void *bytes, size_t len, struct pyro_error *error);

/* Whether the log is one that can be read on: plain files that are being written. */
bool pyro_catalog_can_follow(const struct pyro_catalog_log *log);
/* Whether `log` is what was read before, and perhaps more. */
bool pyro_catalog_position_fits(const struct pyro_catalog_position *position, const struct pyro_catalog_log *log);
/* Feeds what follows the position, which moves there. PYRO_ERROR_ARGUMENT: it is no plain file. After a failure the
 * position and what was fed must be done away with. */
enum pyro_status pyro_catalog_read_on(struct pyro_catalog_position *position, const struct pyro_catalog_log *log,
                                      pyro_catalog_feed *feed, void *context, struct pyro_error *error);
void pyro_catalog_position_done(struct pyro_catalog_position *position);

/* ---- open.c and kinds.c: what is open ---- */

enum pyro_catalog_kind { PYRO_CATALOG_HISTORY, PYRO_CATALOG_SQL_HISTORY, PYRO_CATALOG_DIAGNOSIS, PYRO_CATALOG_KINDS };

/* What is opened: a log and the files next to it. */
struct pyro_catalog_run {
    const struct pyro_catalog_log *log;
    const struct pyro_catalog_artefacts *artefacts; /* NULL: none are of this run, or the kind needs none */
    uint64_t key;                                   /* pyro_catalog_artefacts_key_of() the log */
};

/* What a load gives. */
struct pyro_catalog_loaded {
    void *value;
    uint64_t memory;
    bool partial; /* something could not be had this time: it is loaded again when it is asked for next */
};

struct pyro_catalog_kind_row {
    /* `before`: what is open of the same files, only no longer fresh, or NULL; `*state`: what the kind keeps beside it.
     */
    enum pyro_status (*load)(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                             void *before, void **state, struct pyro_catalog_loaded *ret, struct pyro_error *error);
    void *(*retain)(void *value);
    void (*release)(void *value);
    void (*close)(void *state); /* NULL is ignored */
};
extern const struct pyro_catalog_kind_row *const pyro_catalog_kinds[PYRO_CATALOG_KINDS];
extern const struct pyro_catalog_kind_row pyro_catalog_kind_diagnosis; /* diagnoses.c */

struct pyro_catalog_slot {
    uint64_t identity; /* of the log */
    enum pyro_catalog_kind kind;
    const struct pyro_catalog_log *log; /* as it was when `value` was loaded; NULL: it never was */
    uint64_t key;                       /* of the files next to it, then */
    void *value, *state;
    uint64_t memory;
    uint64_t used;             /* when it was asked for last, counted in requests */
    uint64_t fresh;            /* catalog->freshness as `value` was loaded; 0: it is to be loaded again */
    size_t waiting;            /* requests that hold a pointer to this slot */
    bool loading;              /* `state` belongs to the request that loads */
    struct pyro_error failure; /* code PYRO_OK: none; else why `failed` could not be loaded: kept where it lasts */
    const struct pyro_catalog_log *failed;
};

struct pyro_catalog {
    struct pyro_catalog_options options; /* texts are the catalog's */
    char **folders;
    PYRO_VEC(struct pyro_catalog_store *) stores; /* of the updating thread */
    struct pyro_catalog_watch *watch;             /* NULL: nothing is watched */
    struct pyro_thread updater;
    atomic_bool stop;
    uint64_t identities;                  /* of the updating thread, as the next three */
    struct pyro_catalog_index *index;     /* NULL: nothing is kept */
    const struct pyro_catalog_list *kept; /* what the index holds; NULL before the first update */
    const struct pyro_catalog_artefacts *artefacts;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t listed; /* a list, the end of an update, or stop */
    pthread_cond_t loaded;
    struct pyro_catalog_list *list; /* never NULL */
    uint64_t generation;
    bool first_done;
    uint64_t updates_begun, updates_ended;
    bool update_failed; /* the last update found no memory, and the list is that of the one before */
    bool wanted;        /* an update is wanted at once */
    PYRO_VEC(struct pyro_catalog_slot *) open;
    uint64_t clock;
    unsigned loading;   /* loads under way */
    uint64_t freshness; /* counts what makes open diagnoses old; begins at 1 */
    struct pyro_catalog_usage usage;
};

/* The open thing of that kind of the attempt, retained. Of what is only stored there are no histories. */
enum pyro_status pyro_catalog_open_kind(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                        enum pyro_catalog_kind kind, struct pyro_slice id, struct pyro_slice attempt,
                                        void **ret, struct pyro_error *error);
/* Forgets what is open of logs that are no longer there. Under the mutex. */
void pyro_catalog_sweep(struct pyro_catalog *catalog);
void pyro_catalog_close_all(struct pyro_catalog *catalog);

#endif
