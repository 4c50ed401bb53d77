/* Follows SQL executions as Spark's SQLAppStatusListener does, apart from how the events are read. */
#ifndef PYRO_DECODE_SPARKVIEW_SQL_H
#define PYRO_DECODE_SPARKVIEW_SQL_H

#include "base/strings/strbuf.h"
#include "decode/sparkview/retained_heap.h"

struct pyro_listener;

struct pyro_sql_driver_update {
    int64_t accumulator, value;
};

/* A metric that plans of an execution have; their row is its place in the order in which they came. */
struct pyro_sql_known {
    int64_t accumulator;
    struct pyro_slice type;
};

/* What is known of an execution while events may still change it; the rest is in history->sql, same row. */
struct pyro_sql_live {
    bool live, stored, computed; /* computed: the values are final */
    uint64_t end_events;
    int64_t stored_ms; /* when it was completed, as far as Spark's store knows; -1: not */
    PYRO_VEC(struct pyro_sql_known) known;
    struct pyro_map known_rows; /* accumulator -> row + 1 */
    struct pyro_id_set stages;
    PYRO_VEC(struct pyro_sql_driver_update) driver;
};

/* Values of one metric over the tasks of a stage, by task index. */
struct pyro_sql_values {
    int64_t accumulator;
    struct pyro_value_map values;
    bool needs_max;
    int64_t max, max_task;
};

struct pyro_sql_stage {
    int64_t id, attempt, tasks;
    size_t execution, known; /* row, and how many of its metrics are looked at */
    struct pyro_map rows;    /* accumulator -> row + 1 */
    PYRO_VEC(struct pyro_sql_values) metrics;
    struct pyro_value_map indices; /* task -> index */
    struct pyro_id_set done;       /* indices of tasks that succeeded */
};

struct pyro_sql_follower {
    struct pyro_history *history;
    uint64_t retained; /* executions; 0: all */
    uint64_t stored;   /* that Spark's store has now */
    PYRO_VEC(struct pyro_sql_live) live;
    pyro_retained_heap completed; /* those of them that may go; an entry may be out of date */
    struct pyro_map stages;       /* stage -> struct pyro_sql_stage, 0: none */
    struct pyro_map owners;       /* stage -> live executions that it belongs to */
    struct pyro_map jobs;         /* job -> row << 32 | place among its jobs */
};

void pyro_sql_follower_init(struct pyro_sql_follower *sql, struct pyro_history *history);
void pyro_sql_follower_done(struct pyro_sql_follower *sql);
/* The log is at its end: executions that still run get what is known of them. */
void pyro_sql_follower_flush(struct pyro_sql_follower *sql);
/* The same when more may follow: what is known changes with it. */
void pyro_sql_follower_show(struct pyro_sql_follower *sql);

/* ---- sql_events.c: events about executions themselves ---- */

bool pyro_sql_follows(struct pyro_slice name);
/* False: `name` is none of them. */
bool pyro_sql_event(struct pyro_listener *listener, struct pyro_slice name, struct pyro_slice line);

/* ---- sql.c ---- */

/* The execution's row, a new one if it is over or there was none. SIZE_MAX: no memory. */
size_t pyro_sql_enter(struct pyro_sql_follower *sql, int64_t id);
/* SIZE_MAX: none that still runs. */
size_t pyro_sql_find_live(const struct pyro_sql_follower *sql, int64_t id);
void pyro_sql_know(struct pyro_sql_follower *sql, size_t row, int64_t accumulator, struct pyro_slice type);
void pyro_sql_end(struct pyro_sql_follower *sql, size_t row);

/* A job of an execution starts; its stages follow, one call each. SIZE_MAX: no memory. */
size_t pyro_sql_job_start(struct pyro_sql_follower *sql, int64_t execution, int64_t job);
void pyro_sql_job_stage(struct pyro_sql_follower *sql, size_t row, int64_t stage, int64_t tasks);
void pyro_sql_job_started(struct pyro_sql_follower *sql, size_t row);
void pyro_sql_job_end(struct pyro_sql_follower *sql, int64_t job, bool succeeded);
void pyro_sql_stage_submitted(struct pyro_sql_follower *sql, int64_t stage, int64_t attempt);

void pyro_sql_task_start(struct pyro_sql_follower *sql, int64_t stage, int64_t attempt, int64_t task, int64_t index);
/* The stage of a task that runs and what it is in it; NULL: nothing of it counts. */
struct pyro_sql_stage *pyro_sql_running_task(const struct pyro_sql_follower *sql, int64_t stage, int64_t attempt,
                                             int64_t task, int64_t *ret_index);
/* The stage when the task's accumulables count; else NULL. */
struct pyro_sql_stage *pyro_sql_task(const struct pyro_sql_follower *sql, int64_t stage, int64_t attempt,
                                     int64_t index);
void pyro_sql_task_value(struct pyro_sql_follower *sql, struct pyro_sql_stage *stage, int64_t task, int64_t index,
                         int64_t accumulator, int64_t value);
void pyro_sql_task_succeeded(struct pyro_sql_follower *sql, struct pyro_sql_stage *stage, int64_t index);

/* ---- plan_graph.c ---- */

/* Makes nodes, metrics and edges from a "sparkPlanInfo", which end in pyro_sql_move_graph(). False: there is none, as
 * Spark fails on it (or history->failed). */
bool pyro_sql_graph(struct pyro_history *history, struct pyro_slice plan, struct pyro_history_sql *ret);
void pyro_sql_move_graph(struct pyro_history_sql *from, struct pyro_history_sql *to);

/* ---- sql_metrics.c ---- */

/* Fills the execution's values as Spark words them. */
void pyro_sql_aggregate(struct pyro_sql_follower *sql, size_t row);

#endif
