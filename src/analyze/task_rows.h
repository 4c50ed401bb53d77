/* What the analyses share beyond their headers. */
#ifndef PYRO_ANALYZE_TASK_ROWS_H
#define PYRO_ANALYZE_TASK_ROWS_H

#include "analyze/accounts/fixed_point.h"
#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"
#include "analyze/analyze.h"
#include "analyze/row_index.h"

/* Tasks are read in runs of this many rows. */
enum { PYRO_READ_ROWS = PYRO_TASK_CHUNK_ROWS };

/* Zeroed memory from the application's allocator for count items, at least one; NULL when there is none. */
void *pyro_scratch(const struct pyro_app *app, size_t count, size_t size);

/* Launch and finish of tasks [first, first + count) into times[0] and times[1]; times[2] is working space. Both are 0
 * for a task that took no time, and for a Resubmitted record: it repeats a task that ended before, and did not run
 * itself. */
void pyro_run_times(const struct pyro_app *app, size_t first, size_t count, int64_t (*times)[PYRO_READ_ROWS]);

/* When a job ran; `stages` is pyro_index_stages(). Where the log gives no time, from its first stage to its last. */
void pyro_job_interval(const struct pyro_app *app, const struct pyro_index *stages, const struct pyro_job *job,
                       int64_t *begin, int64_t *end);

/* A column to add up, and where in a row its sum belongs. */
struct pyro_sum {
    enum pyro_task_column column;
    size_t offset;
};
/* Adds the column of every task to the field of the row that `rows` names for it; unknown values and rows count for
 * nothing. `buffer` holds PYRO_READ_ROWS values. */
void pyro_sum_column(const struct pyro_app *app, const struct pyro_sum *sum, const int32_t *rows, void *table,
                     size_t row_size, int64_t *buffer);

/* floor(value / 10^6), also below 0. */
static inline int64_t pyro_ns_to_ms(int64_t ns)
{
    return ns / 1000000 - (ns % 1000000 < 0);
}

/* CPUs that a task of the stage takes: of its resource profile, else spark.task.cpus. `stage` may be NULL. */
uint32_t pyro_task_cpus(const struct pyro_app *app, const struct pyro_stage *stage);
/* The same for every stage row, from pyro_scratch(). One more entry at the end is for tasks without a stage. */
uint32_t *pyro_stage_cpus(const struct pyro_app *app);
/* Cores of an executor as accounts count them: 0 when unknown, at most what Spark's Int holds. */
static inline uint64_t pyro_executor_cores(const struct pyro_executor *executor)
{
    return executor->cores < 0 ? 0 : executor->cores > INT32_MAX ? INT32_MAX : (uint64_t)executor->cores;
}

#endif
