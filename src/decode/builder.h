/* Builds the model of one application from batches, in the order of its log. */
#ifndef PYRO_DECODE_BUILDER_H
#define PYRO_DECODE_BUILDER_H

#include "base/collections/map.h"
#include "base/strings/strbuf.h"
#include "decode/batch.h"
#include "decode/intake.h"
#include "decode/task_checks.h"
#include "model/app.h"

/* A metric of a plan's node. Plans have hundreds of them, of few kinds: rows are made at the end. */
struct pyro_plan_metric {
    int64_t accumulator; /* PYRO_NONE: unknown */
    uint32_t node, kind; /* row of builder->metric_kinds */
};

/* Name and type of metrics, numbers of the pool. */
struct pyro_metric_kind {
    uint32_t name, type;
};

/* An operator; texts are numbers of the pool. */
struct pyro_plan_node {
    const struct pyro_operator *known;
    uint32_t name, detail, metadata; /* UINT32_MAX: unknown */
    int32_t parent;                  /* -1: the root */
    uint32_t depth;
    uint64_t exact_print, columnless_print; /* these five as in struct pyro_sql_node */
    uint32_t condition_length;
    bool computes, distinct;
};

/* The newest plan of one SQL execution. Adaptive execution replaces it time and again: its text is kept until the
 * execution ends, and only the last one is decoded. */
struct pyro_sql_plan {
    char *text; /* as logged, PYRO_SCAN_PADDING bytes behind it; NULL once it is decoded */
    size_t text_len, text_capacity;
    const char *error; /* why the newest text could not be decoded, or NULL; static */
    uint64_t replaced; /* characters of its texts that became U+FFFD; counted at the end, as is the error */
    PYRO_VEC(struct pyro_plan_node) nodes;
    PYRO_VEC(struct pyro_plan_metric) metrics;
    unsigned earlier; /* plans of this execution in app->earlier_plans */
};

/* What tells a repeated event: one set for each kind of identity. */
enum pyro_identity {
    PYRO_IDENTITY_APPLICATION_START,
    PYRO_IDENTITY_APPLICATION_END,
    PYRO_IDENTITY_EXECUTOR_ADDED,
    PYRO_IDENTITY_EXECUTOR_REMOVED,
    PYRO_IDENTITY_JOB_START,
    PYRO_IDENTITY_JOB_END,
    PYRO_IDENTITY_TASK_START,
    PYRO_IDENTITY_TASK_END,
    PYRO_IDENTITY_TASK_RESUBMITTED,
    PYRO_IDENTITY_SQL_START,
    PYRO_IDENTITY_SQL_END,
    PYRO_IDENTITIES
};

/* Bytes of an RDD's blocks in all executors together, as block updates tell. */
struct pyro_cached {
    int64_t memory_bytes, disk_bytes;
};

/* What is known of a stage attempt in addition to its row. */
struct pyro_stage_state {
    uint32_t older;            /* row + 1 of the stage attempt that had this one's place in the map before, 0: none */
    bool submitted, completed; /* by an event */
};

struct pyro_executor_peaks {
    int64_t values[PYRO_PEAK_COUNT];
};

/* What is said of an executor before its own event. */
struct pyro_early_executor {
    int64_t removed_ms, storage_memory_bytes; /* PYRO_NONE: nothing yet */
    struct pyro_slice remove_reason;
};

struct pyro_started_task {
    struct pyro_unfinished_task row;
    uint32_t executor; /* text number, UINT32_MAX: unknown */
};

/* Where applications begin in the log, so that two of them are not taken for one. */
struct pyro_application_starts {
    uint64_t line;     /* of the event that is being decoded, in its part */
    uint64_t log_line; /* of the newest LogStart; 0: none */
    struct pyro_slice log_part;
    struct pyro_slice id, attempt, part; /* of the second application; `part` also says that there is one */
    uint64_t split;                      /* the line of that part with which it begins */
    bool headless;                       /* the first one has no start event */
};

struct pyro_builder {
    const struct pyro_allocator *allocator;
    uint32_t wanted;
    struct pyro_app *app;
    bool failed; /* no memory */

    struct pyro_id_set seen[PYRO_IDENTITIES];
    struct pyro_map jobs, sql, rdds, executors;         /* id (text number for executors) -> newest row + 1 */
    struct pyro_map stages;                             /* hash of id and attempt -> newest row + 1 */
    PYRO_VEC(struct pyro_stage_state) stage_states;     /* by stage row */
    size_t last_stage_row;                              /* where the last task belonged */
    struct pyro_map operations;                         /* text number of the operation's id -> row + 1 */
    struct pyro_map cached_memory, cached_disk;         /* hash of RDD, partition and executor -> bytes there now */
    PYRO_VEC(struct pyro_cached) cached;                /* by RDD row: bytes there now */
    struct pyro_map properties;                         /* text numbers of kind and key -> row + 1 */
    struct pyro_value_map accumulators, driver_updates; /* accumulator id -> value */
    struct pyro_map operators;        /* text number of a name -> row of pyro_operators + 1, 0: none */
    struct pyro_map metric_kind_rows; /* name << 32 | type -> row + 1 */
    PYRO_VEC(struct pyro_metric_kind) metric_kinds;
    size_t plan_text_bytes;               /* of all plans that are not decoded yet */
    PYRO_VEC(struct pyro_sql_plan) plans; /* by SQL row */
    /* Peaks of memory by executor id: batches hold them before or after the executor's own event, wherever they are
     * cut. */
    struct pyro_map peak_rows; /* text number -> row + 1 */
    PYRO_VEC(struct pyro_executor_peaks) peaks;
    struct pyro_map block_managers; /* row of an executor -> 2 x time of its block manager's last event, + 1: it went */
    struct pyro_map early_rows;     /* of executors without an event so far: text number -> row + 1 */
    PYRO_VEC(struct pyro_early_executor) early;
    PYRO_VEC(uint64_t) event_counts; /* by row of events.def */
    struct pyro_map unknown_events;  /* text number -> count */
    uint64_t other_events;           /* unknown events beyond the names that are kept apart */

    int64_t earliest_ms, latest_ms; /* of all times seen; PYRO_NONE before the first */
    int64_t latest_scheduling_ms; /* of events of jobs, stages and SQL executions: depends on no cut between batches */
    struct pyro_task_doubts doubts; /* values of tasks that were set aside so far */
    bool started, ended;            /* ApplicationStart, ApplicationEnd seen */
    enum pyro_job_end last_job;     /* how the last jobs ended */
    /* Tasks that started and whose end was not seen when their batch was applied. Those that ended since are taken out
     * now and then, so that the list stays about as long as tasks run at once. */
    PYRO_VEC(struct pyro_started_task) started_tasks;
    size_t started_tasks_left; /* of them, when that was done last */

    struct pyro_application_starts starts;
    bool rolled;                      /* a file of Databricks' log said which one it is */
    int64_t rollover;                 /* number of the newest one */
    uint64_t missing_rollovers;       /* of files before it */
    struct pyro_slice part_path;      /* where rejected records are said to be */
    uint64_t part_lines, part_offset; /* read of that part before the current batch */
    struct pyro_strbuf scratch;
    /* Texts that come again and again, by the hash of what is logged: only once are they decoded and looked through. */
    struct pyro_map frames;    /* a call stack -> number of the user's line in it + 2; 1: there is none */
    struct pyro_map metadatas; /* an operator's metadata -> number of its text + 1 */
    struct pyro_intake intake; /* through which all texts come into app->strings */
};

enum pyro_status pyro_builder_init(struct pyro_builder *builder, const struct pyro_allocator *allocator,
                                   uint32_t wanted, enum pyro_redaction redaction, struct pyro_error *error);
void pyro_builder_done(struct pyro_builder *builder);

/* The next batches come from this part of the log. */
bool pyro_builder_begin_part(struct pyro_builder *builder, struct pyro_slice path);
/* Adds what a batch holds; batches of one log come in its order. False: no memory. */
bool pyro_builder_apply(struct pyro_builder *builder, const struct pyro_batch *batch);
/* A record longer than the limit, which was skipped. */
bool pyro_builder_reject_long(struct pyro_builder *builder, uint64_t len);

/* Takes the tasks that ended out of builder->started_tasks. */
void pyro_builder_drop_ended(struct pyro_builder *builder);

/* How many events were recognized so far: 0 means that this is not an event log. */
uint64_t pyro_builder_known_events(const struct pyro_builder *builder);
/* Refuses events that are not those of an application or of a part of one: nothing started, and nothing was done. A
 * header is not a run. `path`: of the log, for the error. */
enum pyro_status pyro_builder_require_application(const struct pyro_builder *builder, const char *path,
                                                  struct pyro_error *error);

/* PYRO_ERROR_INPUT where the log has events of two applications, with both and the line that divides them. */
enum pyro_status pyro_builder_check_single(const struct pyro_builder *builder, struct pyro_error *error);

/* What the names and bytes of the log's files said; the rest follows from the events. */
struct pyro_log_facts {
    bool in_progress, compacted, damaged;
    uint64_t missing_parts;
};

/* Hands the application over, not analyzed yet. `copy`: the builder stays usable (snapshots of growing logs); otherwise
 * it may only be done away with. */
enum pyro_status pyro_builder_finish(struct pyro_builder *builder, const struct pyro_log_facts *facts, bool copy,
                                     struct pyro_app **ret, struct pyro_error *error);

/* ---- For the decoders of events ---- */

/* Reads a string (null leaves *text) and interns it. */
bool pyro_build_text(struct pyro_builder *builder, struct pyro_json_reader *json, struct pyro_slice *text);
/* The same of a plan or a statement. */
bool pyro_build_plan_text(struct pyro_builder *builder, struct pyro_json_reader *json, struct pyro_slice *text);
/* Decodes a JSON string's raw contents into the scratch buffer, which the result is in. */
struct pyro_slice pyro_build_scratch(struct pyro_builder *builder, struct pyro_slice raw);
/* The text of a JSON string's raw contents. */
struct pyro_slice pyro_build_decode(struct pyro_builder *builder, struct pyro_slice raw);
/* A number as a text of the pool. */
struct pyro_slice pyro_build_number(struct pyro_builder *builder, int64_t number);
/* The log's own expressions have changed: looks at all that was kept before again. */
bool pyro_build_look_again(struct pyro_builder *builder);
void pyro_build_time(struct pyro_builder *builder, int64_t time_ms);
/* The same for an event of a job, stage or SQL execution. */
void pyro_build_scheduling_time(struct pyro_builder *builder, int64_t time_ms);
/* Counts the event as repeated, and returns true, when one with this identity was seen. */
bool pyro_build_identity(struct pyro_builder *builder, enum pyro_identity kind, uint64_t identity);
/* Rows, added when new; NULL when there is no memory. Valid until the next row is added. */
struct pyro_stage *pyro_build_stage(struct pyro_builder *builder, int64_t id, int64_t attempt);
/* Notes that an event submitted or completed the stage; true, and counted as repeated, when one did before. */
bool pyro_build_stage_event(struct pyro_builder *builder, const struct pyro_stage *stage, bool completion);
/* Row of a stage attempt in `app` (the builder's own, or a copy of it), or -1. */
ptrdiff_t pyro_build_find_stage(const struct pyro_builder *builder, const struct pyro_app *app, int64_t id,
                                int64_t attempt);
struct pyro_job *pyro_build_job(struct pyro_builder *builder, int64_t id);
struct pyro_sql_execution *pyro_build_sql(struct pyro_builder *builder, int64_t id);
struct pyro_rdd *pyro_build_rdd(struct pyro_builder *builder, int64_t id);
/* Newest row of an executor id, or NULL when none was added. */
struct pyro_executor *pyro_build_executor(struct pyro_builder *builder, struct pyro_slice id);
struct pyro_executor *pyro_build_add_executor(struct pyro_builder *builder, struct pyro_slice id);
/* What was said of the executor before it was added; made where there is nothing yet. NULL: no memory. */
struct pyro_early_executor *pyro_build_early_executor(struct pyro_builder *builder, struct pyro_slice id);
/* Gives the newest row of the executor what was said of it before. */
void pyro_build_take_early(struct pyro_builder *builder, struct pyro_executor *executor);
void pyro_build_executor_peaks(struct pyro_builder *builder, struct pyro_slice executor, const int64_t *peaks);
struct pyro_failure *pyro_build_failure(struct pyro_builder *builder, const char *kind);
void pyro_build_property(struct pyro_builder *builder, const char *kind, struct pyro_slice key,
                         struct pyro_slice value);
/* The user's own line in a call stack as Spark logs it, or `fallback`. `details`: raw contents of a JSON string. */
struct pyro_slice pyro_build_call_site(struct pyro_builder *builder, struct pyro_slice details,
                                       struct pyro_slice fallback);

#endif
