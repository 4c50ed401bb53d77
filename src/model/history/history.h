/* One application as the Spark History Server keeps it: what its REST API shows, job by job, stage by stage and task by
 * task, with Spark's own way of counting. Built from the events in the order of the log (decode/sparkview), or of such
 * a server's answers (decode/rest/rest_history.h); immutable afterwards, reference-counted. Tasks lie in the same
 * column chunks as those of app.h. */
#ifndef PYRO_MODEL_HISTORY_HISTORY_H
#define PYRO_MODEL_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/strings/slice.h"
#include "model/history/sql.h"
#include "model/task_table.h"

struct pyro_memo;
struct pyro_string_pool;

enum pyro_history_metric {
#define HISTORY_METRIC(name, column, stage) PYRO_HISTORY_##name,
#include "model/history/metrics.def"
#undef HISTORY_METRIC
    PYRO_HISTORY_METRICS
};
enum pyro_history_peak {
#define HISTORY_PEAK(name) PYRO_HISTORY_PEAK_##name,
#include "model/history/peaks.def"
#undef HISTORY_PEAK
    PYRO_HISTORY_PEAKS,
    PYRO_HISTORY_PEAKS_SHOWN = PYRO_HISTORY_PEAK_ConcurrentGCCount /* by Spark 3.5 */
};

enum { PYRO_HISTORY_NO_TIME = 0 }; /* Spark's own mark for a time that is not known */

struct pyro_history_peaks {
    bool set;
    int64_t values[PYRO_HISTORY_PEAKS];
};

struct pyro_history_pair {
    struct pyro_slice key, value;
};
typedef PYRO_VEC(struct pyro_history_pair) pyro_history_pairs;

/* An accumulator that a user named. Texts that are not there are null. */
struct pyro_history_accumulable {
    int64_t id;
    struct pyro_slice name, update, value;
};
typedef PYRO_VEC(struct pyro_history_accumulable) pyro_history_accumulables;

struct pyro_history_count {
    struct pyro_slice reason;
    int64_t count;
};
typedef PYRO_VEC(struct pyro_history_count) pyro_history_counts;

enum pyro_history_job_status { PYRO_JOB_RUNNING, PYRO_JOB_SUCCEEDED, PYRO_JOB_FAILED, PYRO_JOB_UNKNOWN };
enum pyro_history_stage_status {
    PYRO_STAGE_ACTIVE,
    PYRO_STAGE_COMPLETE,
    PYRO_STAGE_FAILED,
    PYRO_STAGE_PENDING,
    PYRO_STAGE_SKIPPED
};
enum pyro_history_task_status { PYRO_HTASK_RUNNING, PYRO_HTASK_KILLED, PYRO_HTASK_FAILED, PYRO_HTASK_SUCCESS };

struct pyro_history_job {
    int64_t id, submitted_ms, completed_ms;
    struct pyro_slice name, description, group;
    PYRO_VEC(struct pyro_slice) tags;
    PYRO_VEC(int64_t) stage_ids;
    enum pyro_history_job_status status;
    int64_t tasks, active_tasks, completed_tasks, failed_tasks, killed_tasks, skipped_tasks;
    int64_t active_stages, failed_stages;
    int64_t completed_indices, completed_stages, skipped_stages; /* different ones */
    pyro_history_counts killed;
};

/* What one executor did for one stage attempt. */
struct pyro_history_share {
    struct pyro_slice executor;
    int64_t task_ms, failed, succeeded, killed;
    int64_t metrics[PYRO_HISTORY_METRICS];
    bool excluded;
    struct pyro_history_peaks peaks;
};

struct pyro_history_stage {
    int64_t id, attempt, partitions, submitted_ms, completed_ms, first_launch_ms;
    struct pyro_slice name, description, details, failure, pool;
    enum pyro_history_stage_status status;
    bool live; /* events still change it */
    int64_t profile, mergers;
    bool push_enabled;
    int64_t active, completed, failed, killed;
    int64_t completed_indices; /* different ones */
    int64_t metrics[PYRO_HISTORY_METRICS];
    int64_t shuffle_read; /* bytes, of servers that do not give the local and the remote ones; `answered` only */
    PYRO_VEC(int64_t) rdd_ids;
    PYRO_VEC(uint32_t) jobs; /* rows */
    pyro_history_accumulables accumulables;
    pyro_history_counts killed_reasons;
    PYRO_VEC(struct pyro_history_share) shares;
    PYRO_VEC(uint32_t) tasks; /* numbers, in the order of their start: see pyro_history_task_read() */
    struct pyro_history_peaks peaks;
    int64_t speculative, speculative_active, speculative_completed, speculative_failed, speculative_killed;
};

/* A task as it is shown: made on request. Missing texts are null. */
struct pyro_history_task {
    int64_t id, index, attempt, partition, launch_ms, fetch_ms, finish_ms;
    struct pyro_slice executor, host, locality, error;
    uint32_t executor_text; /* for pyro_history_executor() */
    enum pyro_history_task_status status;
    bool speculative, ended;
    int64_t metrics[PYRO_HISTORY_METRICS]; /* of tasks that ended */
    struct pyro_slice accumulables;        /* for pyro_history_accumulable_next() */
};

struct pyro_history_resource {
    struct pyro_slice name;
    PYRO_VEC(struct pyro_slice) addresses;
};

struct pyro_history_executor {
    struct pyro_slice id, host, host_port;
    bool active, excluded;
    bool remembered; /* removed, but an earlier stage still counts its memory; while it is built only */
    int64_t cores, max_tasks, active_tasks, failed_tasks, completed_tasks, tasks;
    int64_t duration_ms, gc_ms, input_bytes, shuffle_read, shuffle_write;
    int64_t
        resubmitted_ms; /* of duration_ms: tasks whose output was lost, which Spark 3 counts twice and Spark 4 once */
    int64_t rdd_blocks, memory_used, disk_used, max_memory, added_ms, removed_ms;
    int64_t memory_left, on_heap_left, off_heap_left; /* when a block of an RDD changed last */
    PYRO_VEC(uint64_t)
    held; /* RDD row << 32 | block row, or all bits for none, of what it held; while it is built only */
    struct pyro_slice remove_reason;
    pyro_history_pairs logs, attributes;
    PYRO_VEC(struct pyro_history_resource) resources;
    bool memory_known; /* on and off heap */
    int64_t on_heap, off_heap, used_on_heap, used_off_heap;
    int64_t profile;
    PYRO_VEC(int64_t) excluded_stages;
    struct pyro_history_peaks peaks;
};

struct pyro_history_request {
    struct pyro_slice name, script, vendor;
    int64_t amount;
    double task_amount;
};
typedef PYRO_VEC(struct pyro_history_request) pyro_history_requests;
struct pyro_history_profile {
    int64_t id;
    pyro_history_requests executor, task;
};

/* Executors are numbers of their ids' texts. Rows of removed blocks stay, so that the others keep their places. */
struct pyro_history_block {
    struct pyro_slice name;
    int64_t memory, disk; /* bytes */
    PYRO_VEC(uint32_t) executors;
    bool gone;
};
struct pyro_history_holder {
    uint32_t executor;
    int64_t memory, disk, on_heap, off_heap;
    bool gone;
};
struct pyro_history_rdd {
    int64_t id, partitions;
    struct pyro_slice name, level;
    bool gone;                                    /* unpersisted */
    int64_t cached, memory, disk;                 /* blocks, and what they take */
    PYRO_VEC(struct pyro_history_block) blocks;   /* in the order in which they came */
    PYRO_VEC(struct pyro_history_holder) holders; /* executors that hold some */
    struct pyro_map block_rows, holder_rows;      /* partition, executor -> row + 1; while it is built only */
};

struct pyro_history_process {
    struct pyro_slice id, host_port;
    int64_t cores, added_ms;
    pyro_history_pairs logs;
};

enum pyro_history_section {
    PYRO_SECTION_JVM,
    PYRO_SECTION_SPARK,
    PYRO_SECTION_HADOOP,
    PYRO_SECTION_SYSTEM,
    PYRO_SECTION_METRICS,
    PYRO_SECTION_CLASSPATH,
    PYRO_SECTIONS
};

struct pyro_history {
    struct pyro_string_pool *strings;
    int references;            /* atomic */
    bool failed;               /* no memory */
    uint64_t bytes, bad_lines; /* of the log so far */
    int64_t start_ms, end_ms;  /* of the application; end_ms -1 while it runs */
    /* Made of answers: executors, stages and environment only. Nothing in them is left to derive, and numbers that the
     * server does not tell are PYRO_NONE. Never packed. */
    bool answered;
    bool has_environment;
    pyro_history_pairs sections[PYRO_SECTIONS];
    PYRO_VEC(struct pyro_history_job) jobs;
    PYRO_VEC(struct pyro_history_stage) stages;
    /* Tasks are numbered in the order of their start. places[number] is a row of `ended`, or, with the bit
     * PYRO_HISTORY_RUNNING, one of `running`. */
    PYRO_VEC(uint32_t) places;
    struct pyro_task_table ended; /* in the order of their end; accumulables are its metrics */
    PYRO_VEC(int64_t) running;    /* PYRO_TASK_START_COLUMNS values each */
    PYRO_VEC(struct pyro_history_executor) executors;
    PYRO_VEC(struct pyro_history_profile) profiles;
    PYRO_VEC(struct pyro_history_rdd) rdds;
    PYRO_VEC(struct pyro_history_process) processes;
    bool with_sql; /* `sql` is filled */
    PYRO_VEC(struct pyro_history_sql) sql;
    /* Job id, stage id << 32 | attempt, text number of an executor, RDD id, execution id -> row + 1 */
    struct pyro_map job_rows, stage_rows, executor_rows, rdd_rows, sql_rows;
    struct pyro_memo *summaries; /* of stages with many tasks, for the next request; once sealed, NULL: none is kept */
    size_t memory;               /* about what it takes, with all that `summaries` may hold */
};

#define PYRO_HISTORY_RUNNING 0x80000000u

struct pyro_history *pyro_history_new(void);
struct pyro_history *pyro_history_retain(struct pyro_history *history);
void pyro_history_release(struct pyro_history *history);
/* Give back what a row holds. */
void pyro_history_job_done(struct pyro_history_job *job);
void pyro_history_stage_done(struct pyro_history_stage *stage);
void pyro_history_executor_done(struct pyro_history_executor *executor);
/* All of a history that still grows, as it is now: sealed, and untouched by what is added to the old one later. Chunks
 * of tasks and texts are shared. NULL: no memory. */
struct pyro_history *pyro_history_snapshot(const struct pyro_history *history);
/* Ends building: gives back what vectors reserved, seals the tasks and fills `memory`. False: no memory. */
bool pyro_history_seal(struct pyro_history *history);

/* NULL: there is none. */
struct pyro_history_job *pyro_history_job(const struct pyro_history *history, int64_t id);
struct pyro_history_stage *pyro_history_stage(const struct pyro_history *history, int64_t id, int64_t attempt);
struct pyro_history_sql *pyro_history_sql(const struct pyro_history *history, int64_t id);
/* `text`: number of the executor's id in `strings`. */
struct pyro_history_executor *pyro_history_executor(const struct pyro_history *history, uint32_t text);

/* ---- Tasks of a sealed history ---- */

void pyro_history_task_read(const struct pyro_history *history, uint32_t number, struct pyro_history_task *ret);
/* The same of many, column by column. */
void pyro_history_tasks_read(const struct pyro_history *history, const uint32_t *numbers, size_t count,
                             struct pyro_history_task *ret);
/* Reads one after the other; false at the end. */
bool pyro_history_accumulable_next(struct pyro_slice *from, struct pyro_history_accumulable *ret);
void pyro_history_accumulable_put(struct pyro_strbuf *to, const struct pyro_history_accumulable *one);

/* What sorting and summaries need of many tasks, without reading the rest of them. */
enum pyro_history_task_status pyro_history_task_status(const struct pyro_history *history, uint32_t number);
/* One column of some tasks; 0 where a running one has not got it yet. */
void pyro_history_task_column(const struct pyro_history *history, enum pyro_task_column column, const uint32_t *numbers,
                              size_t count, int64_t *values);
/* What the columns finish_ms and status stand for. */
enum pyro_history_task_status pyro_history_status_of(int64_t finish_ms, int64_t status);
/* The column of a metric. */
extern const enum pyro_task_column pyro_history_metric_columns[PYRO_HISTORY_METRICS];

/* Rows of `ended` that follow one another. */
struct pyro_history_run {
    uint32_t first, count;
};
typedef PYRO_VEC(struct pyro_history_run) pyro_history_runs;

/* The stage's tasks that ended, in the order of their end: those that succeeded, and the others. Replaces what the runs
 * held. False: no memory. */
bool pyro_history_stage_runs(const struct pyro_history *history, const struct pyro_history_stage *stage,
                             pyro_history_runs *succeeded, pyro_history_runs *others);
size_t pyro_history_runs_rows(const pyro_history_runs *runs);
/* A column of all rows of the runs, one after the other. */
void pyro_history_runs_read(const struct pyro_history *history, const pyro_history_runs *runs,
                            enum pyro_task_column column, int64_t *values);
/* Whether the column is known, without reading it, to have one value in all rows. */
bool pyro_history_runs_same(const struct pyro_history *history, const pyro_history_runs *runs,
                            enum pyro_task_column column, int64_t *ret);

#endif
