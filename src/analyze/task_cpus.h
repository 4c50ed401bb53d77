/* How many tasks an executor runs at once: its cores, and the CPUs of a task. */
#ifndef PYRO_ANALYZE_TASK_CPUS_H
#define PYRO_ANALYZE_TASK_CPUS_H

#include "model/app.h"

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
