/* Stores: runs, findings and people's verdicts over time.
 *
 * What is kept of a run is made here once (record.c, aggregates.c); a backend only writes and reads rows. SQLite is one
 * (sqlite.c); another is one file and one row of backends.def. */
#ifndef PYRO_STORE_STORE_H
#define PYRO_STORE_STORE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "rules/feedback.h"
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
    enum pyro_status (*open)(const char *place, const struct pyro_allocator *allocator, void **ret,
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
    /* The run that bears the name, its texts in the arena. */
    enum pyro_status (*baseline)(void *state, const char *name, struct pyro_arena *arena, struct pyro_baseline *ret,
                                 struct pyro_error *error);
};

#define PYRO_BACKEND(name) extern const struct pyro_backend pyro_backend_##name;
#include "store/backends.def"
#undef PYRO_BACKEND

#endif
