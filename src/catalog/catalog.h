/* The applications of some folders and stores: what is listed, and what of it is open.
 *
 *     folders, stores -> update (every update interval) -> list (immutable) -> open history or diagnosis (kept up to a
 * limit)
 *
 * All functions may be called from any thread. A list is what was found at one time: it does not change while someone
 * holds it, whatever happens to the files. */
#ifndef PYRO_CATALOG_CATALOG_H
#define PYRO_CATALOG_CATALOG_H

#include "history/history.h"
#include "model/viewers.h"

/* Different runs may have one id: local mode makes it of the time, a standalone master starts its count again when it
 * starts. The one to show first keeps it; the others are applications of their own with the id ID~START, which names
 * that run even when it has ID alone. */
struct pyro_catalog_app {
    struct pyro_slice id, name;
    const struct pyro_attempt *attempts; /* newest first, with that id; their `log` is for pyro_catalog_list_log() */
    size_t attempt_count;
};

/* What became of a run, as it is now (since 1970). */
enum pyro_run_outcome pyro_catalog_outcome(const struct pyro_attempt *attempt, int64_t now_ms, int64_t stale_ms);
/* Of its end or, where that is missing, of its last event as far as it is known. */
int64_t pyro_catalog_last_ms(const struct pyro_attempt *attempt);

/* A run of which only the stored part is available: its log is missing, or cannot be read. */
struct pyro_catalog_stored {
    const char *url;        /* of the store */
    struct pyro_slice path; /* where the log was, ends in NUL; null: unknown */
    int64_t recorded_ms;
    bool knows_access; /* else it is not known who may see it, except its owner */
    struct pyro_access_lists access;
};

/* A log as it was found on disk. */
struct pyro_catalog_log_info {
    struct pyro_slice path; /* the file, the folder of a rolling log, or ARCHIVE!MEMBER; ends in NUL; of a run that is
                             * only stored, where the log was, or null */
    uint64_t bytes;         /* as stored */
    bool in_progress;       /* its name says that it is being written */
    bool uploaded;          /* it is in the uploads folder */
    uint64_t cpu_us;        /* what looking at it took, of an upload */
    const struct pyro_catalog_stored *stored; /* NULL: there is a log; valid as long as the list */
    uint64_t files;                           /* changes with the other files of the run; 0: it has none */
};

struct pyro_catalog_unreadable {
    struct pyro_slice path, reason; /* both end in NUL */
    bool passing;                   /* it may be readable at the next update */
    uint64_t cpu_us;                /* what finding that out took, of an upload */
    bool exhausted;                 /* and that was all that it may take */
};

struct pyro_log;
struct pyro_catalog_list;
struct pyro_catalog;

/* What uploads may cost, each of them. */
struct pyro_upload_costs {
    uint64_t ratio;      /* of decompressed bytes to stored ones beyond 64 MiB; 0: 1,000 */
    uint64_t line_bytes; /* of one line; 0: as of any log */
    uint64_t cpu_us;     /* of processor time for each time that it is read; 0: any */
};

struct pyro_catalog_options {
    const char *const *folders; /* and URLs of stores, whose runs are listed beside */
    size_t folder_count;
    const char *uploads;            /* one more folder, whose logs are marked; NULL: none */
    struct pyro_upload_costs costs; /* of those */
    bool unlimited;                 /* other logs may decompress to any size, archives hold any number of files */
    bool follow_links;              /* also to what lies outside the folders */
    const char *cache;              /* the folder for what is kept between starts; NULL: nothing is kept */
    uint64_t memory_bytes;          /* about what open applications may take */
    unsigned update_ms;             /* how often folders are looked at */
    bool watch; /* update also when something changes there, where the system says so (watch_folder.h) */
    struct pyro_retained_limits retained; /* what histories forget */
    const char *store; /* URL of the store whose verdicts change diagnoses; NULL: none. Must outlive the catalog */
    struct pyro_load_options load;
    struct pyro_diagnose_options rules;
    struct pyro_options work; /* for loading and diagnosing: allocator and progress are not used */
};

/* Begins the first update on threads of its own and returns. Texts of `options` are copied, except what `load` points
 * to, which must outlive the catalog. */
enum pyro_status pyro_catalog_open(const struct pyro_catalog_options *options, struct pyro_catalog **ret,
                                   struct pyro_error *error);
/* Wakes all that wait; pyro_catalog_wait() does not wait any more. */
void pyro_catalog_stop(struct pyro_catalog *catalog);
void pyro_catalog_close(struct pyro_catalog *catalog);

/* ---- Lists ---- */

/* What is listed now, once the first update is done; the caller releases it. */
const struct pyro_catalog_list *pyro_catalog_list(struct pyro_catalog *catalog);
void pyro_catalog_list_release(const struct pyro_catalog_list *list);
/* Counts changes: equal numbers mean equal lists. */
uint64_t pyro_catalog_list_generation(const struct pyro_catalog_list *list);
/* Applications, the one that ended last first, those that run last. */
const struct pyro_catalog_app *pyro_catalog_list_apps(const struct pyro_catalog_list *list, size_t *ret_count);
const struct pyro_catalog_app *pyro_catalog_list_find(const struct pyro_catalog_list *list, struct pyro_slice id);
/* The attempt with that id (null: the one without), or NULL. */
const struct pyro_attempt *pyro_catalog_app_attempt(const struct pyro_catalog_app *app, struct pyro_slice attempt);
struct pyro_catalog_log_info pyro_catalog_list_log(const struct pyro_catalog_list *list,
                                                   const struct pyro_attempt *attempt);
/* The files that it is made of (none: it is only stored); valid as long as the list. */
const struct pyro_log *pyro_catalog_list_files(const struct pyro_catalog_list *list,
                                               const struct pyro_attempt *attempt);
/* The run's files other than event logs: the next one behind *at, which begins at 0; NULL: there are no more. Valid as
 * long as the list. */
struct pyro_artefact_file;
const struct pyro_artefact_file *pyro_catalog_list_file(const struct pyro_catalog_list *list,
                                                        const struct pyro_attempt *attempt, size_t *at);
/* A file in the folder of uploads called NAME~ID was sent for the application ID, whatever it says itself. */
#define PYRO_CATALOG_SENT_MARK '~'
/* A file that was sent by itself and is not an event log. */
struct pyro_catalog_sent {
    struct pyro_slice application; /* whose file it is; null: it does not say that */
    const char *kind;              /* "text-log" */
    uint64_t cpu_us;               /* what it took to find out that it is not an event log */
};
/* The one at that path in the folder of uploads; false: there is none. */
bool pyro_catalog_list_sent(const struct pyro_catalog_list *list, struct pyro_slice path,
                            struct pyro_catalog_sent *ret);
/* What a user may see or not. */
struct pyro_catalog_seen {
    uint64_t identity; /* stands for the same log in every list */
    const struct pyro_log *files;
    const struct pyro_attempt *attempt;
    const struct pyro_catalog_stored *stored; /* NULL: `files` say who may see it */
};
/* The list with only those attempts that a user may see, and nothing of what could not be read, nor of other logs than
 * those that are listed; the caller releases it. NULL: no memory; that counts as an empty list. */
typedef bool pyro_catalog_visible(void *context, const struct pyro_catalog_seen *seen);
const struct pyro_catalog_list *pyro_catalog_list_visible(const struct pyro_catalog_list *list,
                                                          pyro_catalog_visible *visible, void *context);
/* What was found and is not listed, and why, by path. */
const struct pyro_catalog_unreadable *pyro_catalog_list_unreadable(const struct pyro_catalog_list *list,
                                                                   size_t *ret_count);

/* Waits until the list is no longer of that generation, at most so long; gives the generation that it then has. Lists
 * change when logs come, go, are renamed or grow. */
uint64_t pyro_catalog_wait(struct pyro_catalog *catalog, uint64_t since, unsigned timeout_ms);
bool pyro_catalog_stopping(struct pyro_catalog *catalog);
/* Looks at the folders now, and returns when that is done; false: the update failed, and the list is an older one. */
bool pyro_catalog_refresh(struct pyro_catalog *catalog);

/* ---- Open applications ----
 *
 * NULL and PYRO_OK: there is no such attempt (a null id: the one without). A call for something that is not open loads
 * it; other calls for the same wait, and the rest do not. A log that has grown is caught up with by the first who asks;
 * other calls meanwhile get the earlier state. What is given out stays valid until it is released, even when it is
 * closed, changed or deleted.
 *
 * `caller`: once it is stopped, waiting ends, and so does reading unless others wait for the same:
 * PYRO_ERROR_CANCELLED, whose message says why. NULL: nothing stops it. */

/* On whose behalf something is opened. Its functions may be called from any thread. */
struct pyro_catalog_caller {
    const struct pyro_allocator *allocator; /* of what is loaded, which may outlive the caller; NULL: malloc() */
    const char *no_memory;                  /* the message of PYRO_ERROR_MEMORY; NULL: the library's own */
    /* Why its work is to end, a constant; NULL: it goes on. `ret_for_all`: it ends though others wait for the same. */
    const char *(*stopped)(void *context, bool *ret_for_all);
    void (*reading)(void *context, bool begins); /* it begins to read a log, or ends; NULL: not wanted */
    void *context;
};

/* `with_sql`: with SQL executions, which are read only if asked for. */
enum pyro_status pyro_catalog_history(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                      struct pyro_slice id, struct pyro_slice attempt, bool with_sql,
                                      struct pyro_history **ret, struct pyro_error *error);

/* A loaded application and what the rules say of it; of a run that is only stored, the report. Immutable. */
struct pyro_catalog_diagnosis {
    pyro_app *app;             /* NULL: there is only the report */
    pyro_diagnosis *diagnosis; /* NULL with `app` */
    struct pyro_slice report;  /* pyrometer.report/1 as it was stored; null if there is an `app` */
    bool partial;              /* without what people said, which could not be read: to be asked for again */
};
/* PYRO_ERROR_INPUT also if there is only the report. */
enum pyro_status pyro_catalog_diagnosis(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                        struct pyro_slice id, struct pyro_slice attempt,
                                        const struct pyro_catalog_diagnosis **ret, struct pyro_error *error);
/* The same, or the report where that is all. */
enum pyro_status pyro_catalog_report(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                     struct pyro_slice id, struct pyro_slice attempt,
                                     const struct pyro_catalog_diagnosis **ret, struct pyro_error *error);
void pyro_catalog_diagnosis_release(const struct pyro_catalog_diagnosis *diagnosis);

/* Diagnoses that are open are made again when they are asked for next: what they depend on has changed. */
void pyro_catalog_forget_diagnoses(struct pyro_catalog *catalog);

/* Processor time that reading an upload may take, each time; 0: any. */
uint64_t pyro_catalog_upload_cpu(const struct pyro_catalog *catalog);
/* How secrets are hidden in what it loads. */
enum pyro_redaction pyro_catalog_redaction(const struct pyro_catalog *catalog);

/* Closes what is not being read, the half that was not asked for longest first. */
void pyro_catalog_shrink(struct pyro_catalog *catalog);

/* The URL of the `index`-th store among the folders; NULL beyond the last one. */
const char *pyro_catalog_store_url(const struct pyro_catalog *catalog, size_t index);

/* What is open now, and how many folders are watched. */
struct pyro_catalog_usage {
    size_t open;
    uint64_t memory_bytes, loads, hits, evictions;
    size_t watched, unwatched; /* the latter: where only the updates that are taken anyway find what is new */
};
struct pyro_catalog_usage pyro_catalog_usage(struct pyro_catalog *catalog);

#endif
