/* Numbers that several rules need, derived from the model without changing it.
 *
 * Rules calculate in double: values come from logs and may be anything, so that sums and differences of 64-bit
 * integers could overflow; a double cannot, and 53 bits are more than an estimate deserves. */
#ifndef PYRO_ANALYZE_APP_FACTS_H
#define PYRO_ANALYZE_APP_FACTS_H

#include "analyze/platform.h"
#include "analyze/task_slots.h"
#include "model/app.h"
#include "model/outcome/run_outcome.h"

/* Spark's default of spark.driver.memory and spark.executor.memory. */
#define PYRO_DEFAULT_HEAP_BYTES (INT64_C(1) << 30)

/* 0 for unknown and negative values. */
double pyro_real(int64_t value);
/* Rounded and clamped to 0..2^62. */
int64_t pyro_whole(double value);
/* to - from, at least 0; 0 when either is unknown. */
double pyro_span(int64_t from, int64_t to);

/* Wall time of the application, from the account or else its duration. */
double pyro_app_wall(const struct pyro_app *app);
/* The wall time, in ms, of which a saving must be a share to matter. Twice what the log holds where that is a part of
 * the run: the whole may be that much longer. */
double pyro_app_judged_wall(const struct pyro_app *app);
bool pyro_app_failed(const struct pyro_app *app);
enum pyro_run_outcome pyro_app_outcome(const struct pyro_app *app);
/* Micro-batches were run: gaps between jobs belong to the trigger. */
bool pyro_app_is_streaming(const struct pyro_app *app);
/* A shell, notebook or server: jobs come when a user asks, so that gaps between them mean nothing. */
bool pyro_app_is_interactive(const struct pyro_app *app);
/* Spark version at least major.minor; unknown versions count as new. */
bool pyro_app_spark_at_least(const struct pyro_app *app, int major, int minor);
/* Adaptive execution is on: by its property, else by the version's default (on since 3.2). */
bool pyro_app_adaptive(const struct pyro_app *app);
/* The same for a SQL execution, whose session may have changed it. */
bool pyro_sql_adaptive(const struct pyro_app *app, int64_t sql);
bool pyro_app_dynamic_allocation(const struct pyro_app *app);
/* It persisted an RDD or a table. */
bool pyro_app_caches(const struct pyro_app *app);
/* spark.sql.shuffle.partitions of a SQL execution; PYRO_NONE: of the application. */
double pyro_sql_shuffle_partitions(const struct pyro_app *app, int64_t sql);
/* The executor with most cores (others may be smaller where a cluster manager gave less); NULL: none is known. */
const struct pyro_executor *pyro_app_largest_executor(const struct pyro_app *app);
/* Cores of the executors of this application, of the largest ones; at least 1. */
double pyro_app_executor_cores(const struct pyro_app *app);
/* Task slots of such an executor, at least 1: whatever a task needs most of (CPUs, GPUs) limits them. */
double pyro_app_slots_per_executor(const struct pyro_app *app);
/* Cores that such an executor has for each of its slots, also those that no task can use. */
double pyro_app_cores_per_slot(const struct pyro_app *app);
/* Slots at the time of most cores, at least 1. */
double pyro_app_peak_slots(const struct pyro_app *app);
/* Heap of an executor (of the driver for local masters), as measured or configured. */
double pyro_app_heap_bytes(const struct pyro_app *app);
/* Heap of the driver, as measured or configured. */
double pyro_app_driver_heap_bytes(const struct pyro_app *app);
/* "spark.executor.memory", or "spark.driver.memory" for local masters. */
const char *pyro_app_heap_key(const struct pyro_app *app);
/* spark.memory.fraction. */
double pyro_app_memory_fraction(const struct pyro_app *app);
/* Memory for execution that one slot of an executor may count on: (heap - 300 MiB) x spark.memory.fraction / slots. */
double pyro_app_slot_memory(const struct pyro_app *app);

/* Average number of task slots alive between two times, for tasks of the stage (NULL: of each executor's own profile);
 * 0 when the log has no executors. */
double pyro_slots_between(const struct pyro_app *app, const struct pyro_stage *stage, int64_t from, int64_t to);

/* When an executor registered, or else its event; PYRO_NONE: unknown. */
int64_t pyro_executor_came_ms(const struct pyro_executor *executor);
/* From the request for an executor to its registration, ms. PYRO_NONE: the log does not say (Spark before 3.4,
 * executors that are not asked for one by one), or what it says contradicts itself. */
int64_t pyro_executor_start_ms(const struct pyro_executor *executor);

/* Of an executor that was decommissioned: it got no task after `launch_ms`, and had none after `finish_ms`. PYRO_NONE:
 * it was not decommissioned, or had no task. */
struct pyro_drained {
    int64_t launch_ms, finish_ms;
};
/* One entry for each row of executors, in the arena; NULL: no memory. */
const struct pyro_drained *pyro_drained_executors(const struct pyro_app *app, struct pyro_arena *arena);

/* When its tasks began, else when it was submitted. */
int64_t pyro_stage_begin(const struct pyro_stage *stage);
double pyro_stage_length(const struct pyro_stage *stage);
/* Whether it says something that some of its tasks take longer, or that they are few or many: not of a stream in
 * real-time mode, whose tasks run as long as the batch, nor of a barrier stage, whose tasks wait for each other and are
 * as many as the program asks for. */
bool pyro_stage_is_compared(const struct pyro_stage *stage);
/* The attempt failed because a task of a barrier stage did: all that its tasks had done was lost. */
bool pyro_stage_failed_at_barrier(const struct pyro_stage *attempt);
/* The most tasks that a barrier stage launches at once: with fewer slots Spark fails its job. 0: there is none. */
double pyro_app_barrier_tasks(const struct pyro_app *app);
/* Bytes that its tasks read: input and shuffle. */
double pyro_stage_read_bytes(const struct pyro_stage *stage);
/* Slots that its tasks could use: those alive while it ran, else its own average concurrency; at least 1. */
double pyro_stage_slots(const struct pyro_app *app, const struct pyro_stage *stage);
/* It belongs to a SQL execution (AQE and spark.sql.* apply). */
bool pyro_stage_is_sql(const struct pyro_stage *stage);
/* The plan of its query has a reader that joined shuffle partitions. */
bool pyro_stage_was_coalesced(const struct pyro_app *app, const struct pyro_stage *stage);

/* When the last stage ended, else the application's end. */
int64_t pyro_app_last_work(const struct pyro_app *app);
/* Of a later attempt the part of its work that had been done before: it computes what was lost and what was still to
 * do; only the former is repeated: the successes of all attempts beyond the number of partitions. */
double pyro_stage_repeated_part(const struct pyro_app *app, const struct pyro_stage *attempt);

/* A failed job that was not just canceled. */
bool pyro_job_failed(const struct pyro_job *job);
/* Row of the last failed stage of the job, or -1. */
ptrdiff_t pyro_job_failed_stage(const struct pyro_app *app, const struct pyro_job *job);
/* The last job failed: nothing came after it, so that the application most likely ended with it. */
bool pyro_app_ended_in_failure(const struct pyro_app *app);

#endif
