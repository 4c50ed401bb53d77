/* Stores: runs, findings and people's verdicts over time.
 *
 * What is kept of a run is made here once (make_run.c, aggregates.c); a backend only writes and reads rows. SQLite is
 * one (sqlite/); another is one folder and one row of backends.def. */
#ifndef PYRO_STORE_STORE_H
#define PYRO_STORE_STORE_H

#include "advice/feedback.h"
#include "base/memory/arena.h"
#include "base/strings/strbuf.h"
#include "store/query.h"
#include "store/retention.h"
#include "store/run.h"
#include "store/work.h"

/* One verdict as it is kept. `application` is what pyro_app_name() gives. */
struct pyro_verdict_row {
    int64_t time_ms;
    enum pyro_feedback_verdict verdict;
    const char *application, *finding, *rule, *note; /* "" where there is none */
};

/* What became of one run of several that were to be recorded. */
enum pyro_record_result {
    PYRO_RECORD_KEPT,
    PYRO_RECORD_LATE,    /* its lease belongs to another owner now: nothing of it was kept */
    PYRO_RECORD_CONFLICT /* the store has another run of this id, which started at another time: nothing was kept */
};

struct pyro_backend {
    const char *scheme; /* "sqlite" */
    /* Where it only reads, nothing is made or changed, and what is not there is an error. */
    enum pyro_status (*open)(const char *place, bool writes, const struct pyro_allocator *allocator, void **ret,
                             struct pyro_error *error);
    void (*close)(void *state);
    /* Each run wholly or not at all, also while others write; with a lease its item is done afterwards. Where it fails,
     * none of them is kept, or (where the store has no transactions) those of which `results` says so. */
    enum pyro_status (*record)(void *state, const struct pyro_run *const *runs, size_t count,
                               enum pyro_record_result *results, struct pyro_error *error);
    enum pyro_status (*record_error)(void *state, const struct pyro_store_error_row *row, struct pyro_error *error);
    /* Finds the one application that has (or, where `application` is given, has had) the finding, by the newest run;
     * fills application and rule of `row` from the arena. */
    enum pyro_status (*find_finding)(void *state, const char *application, const char *finding,
                                     struct pyro_arena *arena, struct pyro_verdict_row *row, struct pyro_error *error);
    enum pyro_status (*add_verdict)(void *state, const struct pyro_verdict_row *row, struct pyro_error *error);
    /* The newest verdict of each application and finding (of missed ones: every one), oldest first. */
    enum pyro_status (*each_verdict)(void *state, int (*take)(void *context, const struct pyro_verdict_row *row),
                                     void *context, struct pyro_error *error);
    /* Every run whose start, end and core time are known, by start. */
    enum pyro_status (*each_run)(void *state, int (*take)(void *context, const struct pyro_past_run *run),
                                 void *context, struct pyro_error *error);
    /* The run that bears the name, its texts in the arena, and the key of what they were redacted by. */
    enum pyro_status (*baseline)(void *state, const char *name, struct pyro_arena *arena, struct pyro_baseline *ret,
                                 uint64_t *ret_redaction, struct pyro_error *error);
    /* Every run, by application and attempt. */
    enum pyro_status (*each_stored)(void *state, int (*take)(void *context, const struct pyro_stored_run *run),
                                    void *context, struct pyro_error *error);
    /* One question; `viewer` NULL: of a user who may see everything. *ret is in the arena. PYRO_ERROR_ARGUMENT: more
     * groups than may be, or it took too long. */
    enum pyro_status (*query)(void *state, const struct pyro_query *query, const struct pyro_query_viewer *viewer,
                              struct pyro_arena *arena, struct pyro_query_answer *ret, struct pyro_error *error);
    /* Forgets what is too old, or too much for the store's size. PYRO_ERROR_OUTPUT: stopped halfway. */
    enum pyro_status (*prune)(void *state, const struct pyro_prune *prune, struct pyro_pruned *ret,
                              struct pyro_error *error);
    /* *ret is in the arena. */
    enum pyro_status (*stat)(void *state, struct pyro_arena *arena, struct pyro_store_stat *ret,
                             struct pyro_error *error);
    const struct pyro_work_backend *work;
    enum pyro_status (*add_cluster)(void *state, const struct pyro_cluster_row *rows, size_t count,
                                    struct pyro_error *error);
    /* Replaces the one with this id. */
    enum pyro_status (*put_suggestion)(void *state, const struct pyro_suggestion_row *row, struct pyro_error *error);
    /* Appends the report of a run, and gives the key of what it was redacted by. PYRO_ERROR_INPUT: there is no such
     * run. */
    enum pyro_status (*report)(void *state, struct pyro_slice app_id, struct pyro_slice attempt,
                               struct pyro_strbuf *out, uint64_t *ret_redaction, struct pyro_error *error);
    /* Changes when another connection has written. */
    int64_t (*state)(void *state);
};

/* ---- For the server and for views of fleets ---- */

/* Whether it names a store rather than a file or a folder. */
bool pyro_store_is_url(const char *text);
/* Appends the URL without a name, a password and parameters: what may be shown. */
void pyro_store_add_label(const char *url, struct pyro_strbuf *to);
/* Whether the store is a file of this machine. */
bool pyro_store_has_file(const char *url);
/* Where the store is, behind the scheme of its URL. */
const char *pyro_store_place(const char *url);
/* Opens an existing one, for the functions below only. */
enum pyro_status pyro_store_open_to_read(const char *url, pyro_store **ret, struct pyro_error *error);
enum pyro_status pyro_store_each_stored(pyro_store *store,
                                        int (*take)(void *context, const struct pyro_stored_run *run), void *context,
                                        struct pyro_error *error);
enum pyro_status pyro_store_report(pyro_store *store, struct pyro_slice app_id, struct pyro_slice attempt,
                                   struct pyro_strbuf *out, struct pyro_error *error);
int64_t pyro_store_state(pyro_store *store);
/* An answer in the arena, its texts without secrets that were kept by an earlier version. Errors as of the backend's
 * `query`. */
enum pyro_status pyro_store_ask(pyro_store *store, const struct pyro_query *query,
                                const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                struct pyro_query_answer *ret, struct pyro_error *error);

/* ---- For crawlers ---- */

/* The work that the store shares out, and the state for its functions. */
const struct pyro_work_backend *pyro_store_work(pyro_store *store, void **ret_state);
/* Records runs that were made before, as the backend's `record` does. */
enum pyro_status pyro_store_record_runs(pyro_store *store, const struct pyro_run *const *runs, size_t count,
                                        enum pyro_record_result *results, struct pyro_error *error);
/* Replaces the texts of a row by what may be kept of them. False: no memory. */
bool pyro_store_clean_error(pyro_store *store, struct pyro_store_error_row *row, struct pyro_arena *arena);
/* Keeps numbers of clusters. */
enum pyro_status pyro_store_add_cluster(pyro_store *store, const struct pyro_cluster_row *rows, size_t count,
                                        struct pyro_error *error);
/* Adds a row to the errors; its texts are clean. */
enum pyro_status pyro_store_add_error(pyro_store *store, const struct pyro_store_error_row *row,
                                      struct pyro_error *error);

/* ---- For suggestions ---- */

/* Keeps a suggestion; one with the same id is replaced. */
enum pyro_status pyro_store_put_suggestion(pyro_store *store, const struct pyro_suggestion_row *row,
                                           struct pyro_error *error);

#define PYRO_BACKEND(name) extern const struct pyro_backend pyro_backend_##name;
#include "store/backends.def"
#undef PYRO_BACKEND

#endif
