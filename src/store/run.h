/* What a store keeps of one run: made here once (make_run.c, aggregates.c), written by every backend. */
#ifndef PYRO_STORE_RUN_H
#define PYRO_STORE_RUN_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "base/strings/strbuf.h"
#include "model/viewers.h"
#include "rules/rule.h"

/* One number of a run under its path, such as "stages.inputBytes.max" (docs/store.md). */
struct pyro_aggregate {
    const char *name;
    double value; /* finite */
    bool lasting; /* the name is static: every run has it at this address. Else it is in the arena of the run */
};

/* A property of Spark's, or a tag of a classification. */
struct pyro_run_pair {
    struct pyro_slice key, value;
};

/* What the run was allocated and used in one span of time; the sums over all rows are those of the run. */
struct pyro_usage_row {
    int64_t start_ms, span_ms; /* start: a multiple of span */
    int64_t slot_ms;           /* of task slots */
    int64_t core_ms, busy_core_ms, mib_ms;
    int64_t input_bytes, output_bytes, shuffle_bytes;
};

/* What was allocated, the driver's share included, unpriced: docs/cost.md. */
struct pyro_allocation_row {
    int64_t core_ms, mib_ms; /* PYRO_NONE: unknown */
    struct pyro_slice parts; /* JSON object: part of the cost -> core milliseconds, which add up; null: unknown */
    struct pyro_slice platform, instance, region; /* null: unknown */
};

/* One setting that a finding advises to change. */
struct pyro_advice_row {
    /* previous: as set, else Spark's default; null: unknown. Advice on code has an empty key and value. */
    struct pyro_slice finding, rule, key, previous, value;
    int64_t saves_low_ms, saves_ms, saves_high_ms, saves_core_ms; /* PYRO_NONE: unknown */
};

/* The claim under which a crawler works on a run: a record under an older epoch than the store's is refused. */
struct pyro_lease {
    const char *key, *owner;
    const char *stamp; /* of the log that was read: what `done` is remembered with */
    int64_t epoch;
};

/* What a store keeps of one run. Texts are never null where nothing else is said. */
struct pyro_run {
    const struct pyro_diagnosis *diagnosis;
    struct pyro_slice app_id, attempt, name; /* name: pyro_app_name() */
    struct pyro_slice report;                /* the JSON report */
    struct pyro_slice raw;                   /* the merged document of the History Server; null: not known */
    struct pyro_slice path;                  /* absolute where it is one of the file system */
    struct pyro_slice source;                /* the History Server or folder that a crawler found it at; null: none */
    /* By the rules of a classification; else by the name (docs/store.md). */
    struct pyro_slice application, type, version, tag;
    struct pyro_slice queue; /* null: unknown */
    int64_t input_bytes;     /* PYRO_NONE: unknown */
    bool is_final_attempt;   /* no later attempt is known */
    int64_t recorded_ms;
    struct pyro_access_lists access;
    const char *baseline;           /* NULL: none */
    const struct pyro_lease *lease; /* NULL: none, as of `diagnose --store` */
    struct pyro_allocation_row allocation;
    struct pyro_arena arena;
    struct pyro_strbuf text, document; /* behind `report` and `raw` */
    PYRO_VEC(struct pyro_aggregate) aggregates;
    PYRO_VEC(struct pyro_run_pair) properties;
    PYRO_VEC(struct pyro_run_pair) tags;
    PYRO_VEC(struct pyro_usage_row) usage;
    PYRO_VEC(struct pyro_advice_row) advice;
};

/* What is known of a run in addition to its log. Its texts must outlive the run. */
struct pyro_run_origin {
    const char *baseline;        /* NULL: none */
    const char *source;          /* as in struct pyro_run; NULL: none */
    const char *history_host;    /* of the History Server that it was found at; NULL: none */
    const char *history_version; /* the Spark version of that server, by whose rules aggregates are counted; NULL: the
                                  * log's own */
    bool has_later_attempt;
};
/* Makes all of a run but its tags. With an application that was loaded without pyro_load_options.history, `raw` is null
 * and aggregates are those of the report only. pyro_run_done() in every case. */
enum pyro_status pyro_run_make(const struct pyro_diagnosis *diagnosis, const struct pyro_run_origin *origin,
                               struct pyro_run *ret, struct pyro_error *error);
void pyro_run_done(struct pyro_run *run);

/* ---- Its parts, for pyro_run_make() only. False: no memory ---- */

bool pyro_run_add_properties(struct pyro_run *run);
bool pyro_run_add_advice(struct pyro_run *run);
bool pyro_run_add_allocation(struct pyro_run *run);
bool pyro_run_add_usage(struct pyro_run *run);
/* Of the core account: cores without a task. */
int64_t pyro_idle_core_ms(const struct pyro_numbers *numbers);
/* After its usage. `spark_4`: as a server of Spark 4 counts. */
bool pyro_run_aggregate(struct pyro_run *run, bool spark_4);
/* Milliseconds since 1970. */
int64_t pyro_store_now_ms(void);

/* An input that could not be read, or a step that failed. */
struct pyro_store_error_row {
    int64_t time_ms;
    const char *application, *step, *type, *message, *raw; /* raw: NULL: none */
    const char *attempt, *source;                          /* NULL: none */
    int64_t tries;
};

/* A number of a cluster at one time. */
struct pyro_cluster_row {
    struct pyro_slice source, name;
    int64_t time_ms;
    double value;
};

/* A configuration that was suggested, as it is now. */
struct pyro_suggestion_row {
    struct pyro_slice id, application, state, goal, document;
    struct pyro_slice target, note; /* null: none */
    int64_t time_ms;
};

/* What a store says of a run without its report. Texts are valid during the call that gives them; `attempt` is empty
 * where there is none, and any of the others may be null. */
struct pyro_stored_run {
    struct pyro_slice app_id, attempt, name, user, spark_version, status, outcome, path, source;
    int64_t start_ms, end_ms; /* PYRO_NONE: unknown */
    int64_t recorded_ms;
    bool knows_access; /* else `access` says nothing: who may see it is not known */
    struct pyro_access_lists access;
};

#endif
