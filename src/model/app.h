/* The model of one application: what analyses, rules and reports read. Immutable once pyro_app_seal() has run.
 *
 * Every string is a slice into the application's string pool; rows refer to each other by row number. Analyses fill the
 * derived columns and `numbers` while sealing; nothing changes afterwards. */
#ifndef PYRO_MODEL_APP_H
#define PYRO_MODEL_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collections/vec.h"
#include "base/error.h"
#include "base/memory/arena.h"
#include "model/column.h"
#include "model/history/attempt.h"
#include "model/rows.h"
#include "model/task_table.h"

struct pyro_string_pool;

struct pyro_event_count {
    struct pyro_slice name; /* without org.apache.spark...; as a report shows it */
    uint64_t count;
    bool known;
};

/* What is known about the log itself before any verdict. */
struct pyro_integrity {
    uint64_t bytes; /* decompressed */
    uint64_t lines;
    PYRO_VEC(struct pyro_event_count) events; /* by name */
    uint64_t bad_lines;
    uint64_t bad_lines_kept; /* rows of `rejects`: at most PYRO_REJECTS_KEPT */
    uint64_t repeated_events;
    uint64_t replaced_characters; /* invalid UTF-8 and lone surrogates that became U+FFFD */
    uint64_t tasks_started, tasks_ended;
    uint64_t missing_parts;      /* of a rolling log */
    uint64_t contradicted_times; /* of events, set aside; of `checked_times` that are known */
    uint64_t checked_times;
    uint64_t contradicted_task_values; /* set aside */
    uint64_t contradicted_task_times;  /* of them, launches and ends */
    uint64_t unmeasured_tasks;         /* tasks that succeeded, with no metrics or none that were measured */
    bool application_contradicted;     /* its start or end, by most of them */
    bool contradictory;                /* more confidence is lost to contradictions than to what is missing */
    uint64_t events_missing;           /* inside the log: others show that Spark must have written them */
    uint64_t task_starts_missing, executor_events_missing; /* of them, those that are counted while the log is read */
    bool truncated; /* the end is missing: cut file, damaged compression, no ApplicationEnd */
    bool compacted, in_progress;
    bool beginning_missing;   /* no start of the application: nothing is known of what came before the first event */
    bool partial;             /* so much is missing or repeated that the course of the run is not known as a whole */
    bool course_unknown;      /* partial, or a hundredth of its values contradict each other or are missing */
    bool settings_unknown;    /* no setting of Spark was read, which is not the same as all having their defaults */
    bool rest;                /* not read from a log but from REST answers */
    bool logged;              /* there is no event log: made of text logs and other files */
    bool forgotten;           /* the server had thrown away jobs, stages or SQL executions */
    uint64_t tasks_forgotten; /* tasks that it had counted and thrown away */
    struct pyro_slice source_url;      /* null ptr: not remote */
    double confidence;                 /* 0..1, docs/formulas.md */
    PYRO_VEC(struct pyro_slice) notes; /* one line each: damage found, with its place */
};

enum { PYRO_REJECTS_KEPT = 1000, PYRO_NOTES_KEPT = 100 };

/* What a resource profile asks for of one resource; 0: nothing. */
struct pyro_profile_resource {
    int64_t profile;
    struct pyro_slice name;
    double task, executor; /* for a task, for an executor */
    unsigned rank;         /* of what says so, 0 first */
};

/* A plan that adaptive execution replaced, without metrics: earlier_nodes [first_node, first_node + node_count),
 * parents before children. Kept where PYRO_WANT_PLAN_CHANGES was asked for. */
struct pyro_earlier_plan {
    size_t sql_row;
    int64_t planned_ms;
    size_t first_node, node_count;
};
struct pyro_earlier_node {
    struct pyro_slice name, detail;
    int64_t parent; /* number of the node in its plan; PYRO_NONE: the root */
    const struct pyro_operator *known;
};

/* Records beyond the first for the same row: totals count records, as a reader of the log's lines would. */
struct pyro_repeats {
    int64_t jobs, failed_jobs, stages, failed_stages, sql_executions;
};

/* Parts of wall time and of allocated core time, in the order in which reports show them. */
enum pyro_wall_part {
    PYRO_WALL_RESOURCE_WAIT,
    PYRO_WALL_DRIVER,
    PYRO_WALL_SCHEDULING,
    PYRO_WALL_SCHEDULER_DELAY,
    PYRO_WALL_DESERIALIZE,
    PYRO_WALL_COMPUTE,
    PYRO_WALL_GC,
    PYRO_WALL_SHUFFLE_FETCH_WAIT,
    PYRO_WALL_SHUFFLE_WRITE,
    PYRO_WALL_RESULT_SERIALIZE,
    PYRO_WALL_GETTING_RESULT,
    PYRO_WALL_PARTS
};
enum pyro_core_part {
    PYRO_CORE_SCHEDULER_DELAY,
    PYRO_CORE_DESERIALIZE,
    PYRO_CORE_COMPUTE,
    PYRO_CORE_GC,
    PYRO_CORE_SHUFFLE_FETCH_WAIT,
    PYRO_CORE_SHUFFLE_WRITE,
    PYRO_CORE_RESULT_SERIALIZE,
    PYRO_CORE_GETTING_RESULT,
    PYRO_CORE_FAILED_TASKS,
    PYRO_CORE_IDLE_NO_WORK,
    PYRO_CORE_IDLE_DRIVER,
    PYRO_CORE_IDLE_WAIT,
    PYRO_CORE_PARTS
};
extern const char *const pyro_wall_part_names[PYRO_WALL_PARTS];
extern const char *const pyro_core_part_names[PYRO_CORE_PARTS];

/* Derived by src/analyze; formulas in docs/formulas.md. INT fields may be PYRO_NONE. */
struct pyro_numbers {
    int64_t jobs, failed_jobs, stages, failed_stages, tasks, failed_tasks, killed_tasks, executors, cores_peak,
        sql_executions;
    int64_t run_ms, cpu_ms, gc_ms, input_bytes, output_bytes, shuffle_read_bytes, shuffle_write_bytes,
        memory_spill_bytes, disk_spill_bytes;
    int64_t task_ms; /* sum of task durations */
    int64_t wall_total_ms, wall_ms[PYRO_WALL_PARTS];
    int64_t core_total_ms, core_ms[PYRO_CORE_PARTS];
    int64_t longest_pause_ms; /* in which executors had no task */
    int64_t phase_wait_ms, phase_compute_ms, phase_write_ms;
    int64_t critical_path_ms, ideal_ms, one_core_ms, driver_ms;
    int64_t executor_heap_peak_bytes, executor_heap_limit_bytes, driver_heap_peak_bytes, driver_heap_limit_bytes,
        storage_peak_bytes;
    double executor_heap_used_share, cache_hit_share; /* NaN when unknown */
};

/* A row and what Spark calls it; sorted by that. */
struct pyro_place {
    int64_t id, attempt; /* attempt: of stages, else 0 */
    size_t row;
};

struct pyro_places {
    struct pyro_place *items;
    size_t count;
};

struct pyro_history;

struct pyro_app {
    const struct pyro_allocator *allocator;
    int references; /* atomic */
    bool sealed;
    struct pyro_string_pool *strings; /* reference-counted; every slice points into it */
    enum pyro_redaction redaction;    /* of its texts */
    struct pyro_slice path;           /* the log, as given */
    struct pyro_slice codec;

    struct pyro_application_row application;
    struct pyro_integrity integrity;
    struct pyro_repeats repeats;
    PYRO_VEC(struct pyro_job) jobs;
    PYRO_VEC(struct pyro_stage) stages;
    struct pyro_task_table tasks;
    PYRO_VEC(struct pyro_unfinished_task) unfinished_tasks; /* by id */
    PYRO_VEC(struct pyro_executor) executors;
    PYRO_VEC(struct pyro_sql_execution) sql;
    PYRO_VEC(struct pyro_sql_node) sql_nodes;         /* grouped by sql, ascending */
    PYRO_VEC(struct pyro_sql_metric) sql_metrics;     /* grouped by sql, then node */
    PYRO_VEC(struct pyro_earlier_plan) earlier_plans; /* of one execution in the order of their making */
    PYRO_VEC(struct pyro_earlier_node) earlier_nodes;
    PYRO_VEC(struct pyro_rdd) rdds;
    PYRO_VEC(struct pyro_exclusion) exclusions;
    PYRO_VEC(struct pyro_operation) operations;
    PYRO_VEC(struct pyro_process) processes;
    PYRO_VEC(struct pyro_stream_batch) streams;
    PYRO_VEC(struct pyro_failure) failures;
    PYRO_VEC(struct pyro_property) properties; /* sorted by kind, then key; the newest value of each */
    PYRO_VEC(struct pyro_reject) rejects;
    PYRO_VEC(struct pyro_attribute) attributes; /* those of the application first; derived */
    struct pyro_history *history;               /* what a History Server shows of it; NULL: it was not asked for */
    struct pyro_attempt listed;                 /* how such a server lists it, where `history` */
    struct pyro_tracks *tracks; /* what other files than the log recorded, sealed; NULL: there are none */

    uint32_t *tasks_by_stage; /* task rows grouped by stage row, in log order; tasks.count entries */
    PYRO_VEC(struct pyro_profile_resource) profile_resources; /* by profile, then name; derived from properties */
    struct pyro_places stage_places, job_places, sql_places;  /* see pyro_app_index() */
    struct pyro_numbers numbers;
};

/* An empty application with one reference; pyro_app_release() frees it. NULL when there is no memory. */
struct pyro_app *pyro_app_new(const struct pyro_allocator *allocator);
/* All rows of an application that is still being built, before any analysis; NULL when there is no memory. The copy
 * shares the string pool. */
struct pyro_app *pyro_app_copy(const struct pyro_app *app);

/* Sets every column of a row to unknown: INT to PYRO_NONE, REAL to NaN, TEXT to a null slice; what is not a column to
 * 0. Not for tasks. */
void pyro_row_init(enum pyro_table_id table, void *row);

/* Calls `visit` with every text of the rows, which it may change; texts that are numbers of the pool are not among
 * them. */
typedef void pyro_text_visit(void *context, struct pyro_slice *text);
void pyro_app_each_text(struct pyro_app *app, pyro_text_visit *visit, void *context);

/* Adds a line about damage of the log; at most PYRO_NOTES_KEPT are kept. False: no memory. */
bool pyro_app_note(struct pyro_app *app, struct pyro_slice text);

/* Text behind a number in a task column. */
struct pyro_slice pyro_app_text(const struct pyro_app *app, int64_t id);

/* Rows of any table in one way. tasks: `row` counts app->tasks. */
size_t pyro_app_row_count(const struct pyro_app *app, enum pyro_table_id table);
struct pyro_value pyro_app_value(const struct pyro_app *app, enum pyro_table_id table, size_t row, size_t column);

/* Value of a Spark property ("spark." and the rest), or a null slice. */
struct pyro_slice pyro_app_property(const struct pyro_app *app, const char *key);
/* Value of a property of any kind ("resource_profile", "metrics", ...), or a null slice. */
struct pyro_slice pyro_app_property_of(const struct pyro_app *app, const char *kind, const char *key);
/* As Spark reads it; `fallback` when it is unset or malformed. Sizes, in bytes: "1g", "512m", or a number
 * of `unit` bytes without suffix. */
int64_t pyro_app_property_int(const struct pyro_app *app, const char *key, int64_t fallback);
int64_t pyro_app_property_size(const struct pyro_app *app, const char *key, int64_t unit, int64_t fallback);
/* A time in ms: "3s", "500ms", "2min", or a number of `unit` ms without suffix. */
int64_t pyro_app_property_time(const struct pyro_app *app, const char *key, int64_t unit, int64_t fallback);
/* What a property's value says, as Spark reads it: any case, blanks around it. */
bool pyro_property_bool(struct pyro_slice value, bool fallback);
int64_t pyro_property_int(struct pyro_slice value, int64_t fallback);
int64_t pyro_property_size(struct pyro_slice value, int64_t unit, int64_t fallback);
int64_t pyro_property_time(struct pyro_slice value, int64_t unit, int64_t fallback);
/* A plain decimal number ("0.1875"). */
double pyro_property_decimal(struct pyro_slice value, double fallback);
bool pyro_app_property_bool(const struct pyro_app *app, const char *key, bool fallback);

/* The value with which a SQL execution ran: as its session changed it (Spark 3.3 and later say so), else the
 * application's. `sql`: an execution's id, or PYRO_NONE. */
struct pyro_slice pyro_sql_property(const struct pyro_app *app, int64_t sql, const char *key);
int64_t pyro_sql_property_int(const struct pyro_app *app, int64_t sql, const char *key, int64_t fallback);
int64_t pyro_sql_property_size(const struct pyro_app *app, int64_t sql, const char *key, int64_t unit,
                               int64_t fallback);
bool pyro_sql_property_bool(const struct pyro_app *app, int64_t sql, const char *key, bool fallback);
/* The value that the session changed, or a null slice. */
struct pyro_slice pyro_sql_changed_property(const struct pyro_app *app, int64_t sql, struct pyro_slice key);
/* Reads the first line of a text of KEY=VALUE lines and takes it off; false at the end. */
bool pyro_property_next(struct pyro_slice *rest, struct pyro_slice *key, struct pyro_slice *value);

/* Makes finding rows by id fast, for as long as none is added; false when there is no memory. */
bool pyro_app_index(struct pyro_app *app);
/* Row number, or -1. One by one until pyro_app_index() was called. */
ptrdiff_t pyro_app_find_stage(const struct pyro_app *app, int64_t id, int64_t attempt);
ptrdiff_t pyro_app_find_job(const struct pyro_app *app, int64_t id);
ptrdiff_t pyro_app_find_sql(const struct pyro_app *app, int64_t id);

#endif
