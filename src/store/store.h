/* Stores: runs, findings and people's verdicts over time.
 *
 * What is kept of a run is made here once (record.c, aggregates.c); a backend only writes and reads rows. SQLite is one
 * (sqlite.c); another is one file and one row of backends.def. */
#ifndef PYRO_STORE_STORE_H
#define PYRO_STORE_STORE_H

#include "advice/feedback.h"
#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "model/access.h"
#include "rules/rule.h"

/* One number of a run under its path, such as "stages.inputBytes.max" (docs/store.md). */
struct pyro_aggregate {
    const char *name; /* in the arena of the run */
    double value;     /* finite */
};

/* What a store keeps of one run. */
struct pyro_run {
    const struct pyro_diagnosis *diagnosis;
    struct pyro_slice app_id, attempt, name; /* never null; name: pyro_app_name() */
    struct pyro_slice report;                /* the JSON report */
    struct pyro_slice path;                  /* absolute where it is one of the file system */
    int64_t recorded_ms;
    struct pyro_access_lists access;
    const char *baseline; /* NULL: none */
    struct pyro_arena arena;
    struct pyro_strbuf text; /* behind `report` */
    PYRO_VEC(struct pyro_aggregate) aggregates;
};
/* pyro_run_done() in every case. */
enum pyro_status pyro_run_make(const struct pyro_diagnosis *diagnosis, const char *baseline, struct pyro_run *ret,
                               struct pyro_error *error);
void pyro_run_done(struct pyro_run *run);
/* Milliseconds since 1970. */
int64_t pyro_store_now_ms(void);
/* Fills run->aggregates. False: no memory. */
bool pyro_run_aggregate(struct pyro_run *run);
/* What a store tells of a run without its report. Texts are valid during the call that gives them; `attempt` is empty
 * where there is none, and any of the others may be null. */
struct pyro_stored_run {
    struct pyro_slice app_id, attempt, name, user, spark_version, status, path;
    int64_t start_ms, end_ms; /* PYRO_NONE: unknown */
    int64_t recorded_ms;
    bool knows_access; /* else `access` says nothing: who may see it is not known */
    struct pyro_access_lists access;
};
/* One verdict as it is kept. `application` is what pyro_app_name() gives. */
struct pyro_verdict_row {
    int64_t time_ms;
    enum pyro_feedback_verdict verdict;
    const char *application, *finding, *rule, *note; /* "" where there is none */
};

struct pyro_store_error_row {
    int64_t time_ms;
    const char *application, *step, *type, *message, *raw;
};

struct pyro_backend {
    const char *scheme; /* "sqlite" */
    /* Where it only reads, nothing is made or changed, and what is not there is an error. */
    enum pyro_status (*open)(const char *place, bool writes, const struct pyro_allocator *allocator, void **ret,
                             struct pyro_error *error);
    void (*close)(void *state);
    /* All of it or nothing, also beside other writers. */
    enum pyro_status (*record)(void *state, const struct pyro_run *run, struct pyro_error *error);
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
    /* Appends the report of a run, and gives the key of what it was redacted by. PYRO_ERROR_INPUT: there is no such
     * run. */
    enum pyro_status (*report)(void *state, struct pyro_slice app_id, struct pyro_slice attempt,
                               struct pyro_strbuf *out, uint64_t *ret_redaction, struct pyro_error *error);
    /* Changes when somebody else has written. */
    int64_t (*state)(void *state);
};

/* ---- For the server ---- */

/* Whether it names a store rather than a file or a folder. */
bool pyro_store_is_url(const char *text);
/* Where the store is, behind the scheme of its URL. */
const char *pyro_store_place(const char *url);
/* Opens one that is there, for the functions below only. */
enum pyro_status pyro_store_open_to_read(const char *url, pyro_store **ret, struct pyro_error *error);
enum pyro_status pyro_store_each_stored(pyro_store *store,
                                        int (*take)(void *context, const struct pyro_stored_run *run), void *context,
                                        struct pyro_error *error);
enum pyro_status pyro_store_report(pyro_store *store, struct pyro_slice app_id, struct pyro_slice attempt,
                                   struct pyro_strbuf *out, struct pyro_error *error);
int64_t pyro_store_state(pyro_store *store);

#define PYRO_BACKEND(name) extern const struct pyro_backend pyro_backend_##name;
#include "store/backends.def"
#undef PYRO_BACKEND

#endif
