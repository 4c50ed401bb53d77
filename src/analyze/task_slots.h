/* How many tasks an executor runs at once: its cores and other resources (GPUs), and what a task takes of each. */
#ifndef PYRO_ANALYZE_TASK_SLOTS_H
#define PYRO_ANALYZE_TASK_SLOTS_H

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

/* What limits the number of tasks that an executor runs at once. */
struct pyro_slots {
    int64_t count;           /* tasks */
    uint32_t cpus;           /* of each */
    struct pyro_slice limit; /* name of the resource of which there is least: "cpus", "gpu" */
    double task, executor;   /* of that resource: what a task takes, and what there is */
};

/* Tasks of a resource profile on an executor with this number of cores: the minimum over its CPUs and all resources
 * that a task takes, as Spark computes it (ResourceProfile.calculateTasksAndLimitingResource): below 1, that many tasks
 * share one unit. `resources` as in the table executors, null for what its own profile `executor_profile` or
 * spark.executor.resource.NAME.amount asks for. A resource of which the log does not say what an executor has limits
 * nothing. Profiles below 0 are the default one. */
struct pyro_slots pyro_slots_of(const struct pyro_app *app, int64_t profile, int64_t executor_profile, int64_t cores,
                                struct pyro_slice resources);
/* Of a stage on an executor, of the executor's own profile where `stage` is NULL. At least 1. */
int64_t pyro_executor_slots(const struct pyro_app *app, const struct pyro_executor *executor,
                            const struct pyro_stage *stage);
/* Whether tasks of the stage may run there: of the same profile, or of one that asks for nothing of executors; that
 * shares those of the default profile while dynamic allocation is off. */
bool pyro_executor_serves(const struct pyro_app *app, const struct pyro_executor *executor,
                          const struct pyro_stage *stage);
/* The profile of the executors that run tasks of a profile: its own, or the default one, whose executors it shares. */
int64_t pyro_serving_profile(const struct pyro_app *app, int64_t profile);

#endif
