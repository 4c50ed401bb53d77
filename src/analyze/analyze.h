/* Numbers before judgement: fills the derived columns and app->numbers of a decoded application, then seals it.
 * Formulas, units and sources: docs/formulas.md. Everything is integer arithmetic, so that neither thread counts nor
 * compilers show. */
#ifndef PYRO_ANALYZE_ANALYZE_H
#define PYRO_ANALYZE_ANALYZE_H

#include "model/app.h"

/* Runs every analysis below in its order and marks the application sealed. */
enum pyro_status pyro_analyze(struct pyro_app *app, struct pyro_error *error);

/* Steps of pyro_analyze(), each in the file of its name. */
enum pyro_status pyro_analyze_profiles(struct pyro_app *app,
                                       struct pyro_error *error); /* in task_slots.c: what resource profiles ask for */
enum pyro_status pyro_analyze_stages(struct pyro_app *app,
                                     struct pyro_error *error); /* per-stage sums, quantiles, tasks_by_stage */
enum pyro_status pyro_analyze_executors(struct pyro_app *app,
                                        struct pyro_error *error); /* per-executor sums, executor rows of tasks */
enum pyro_status
pyro_analyze_unfinished(struct pyro_app *app,
                        struct pyro_error *error); /* until when tasks without an end ran; busy time of executors */
enum pyro_status pyro_analyze_jobs(struct pyro_app *app,
                                   struct pyro_error *error); /* jobs and SQL executions from their stages */
enum pyro_status pyro_analyze_totals(struct pyro_app *app, struct pyro_error *error);
enum pyro_status pyro_analyze_wall(struct pyro_app *app, struct pyro_error *error);
enum pyro_status pyro_analyze_core(struct pyro_app *app, struct pyro_error *error);
enum pyro_status pyro_analyze_phases(struct pyro_app *app, struct pyro_error *error);
enum pyro_status pyro_analyze_bounds(struct pyro_app *app, struct pyro_error *error);
enum pyro_status pyro_analyze_memory(struct pyro_app *app, struct pyro_error *error);
enum pyro_status
pyro_analyze_task_metrics(struct pyro_app *app,
                          struct pyro_error *error); /* SQL metrics over tasks, where these were read */
enum pyro_status pyro_analyze_attributes(struct pyro_app *app, struct pyro_error *error);
enum pyro_status pyro_analyze_confidence(struct pyro_app *app, struct pyro_error *error);

/* How one task's duration is split; parts add up to `duration_ms`. Shared by wall and core accounts and by rules. */
struct pyro_task_split {
    int64_t duration_ms;
    int64_t scheduler_delay, deserialize, compute, gc, shuffle_fetch_wait, shuffle_write, result_serialize,
        getting_result;
};
struct pyro_task_split pyro_task_split(const struct pyro_app *app, size_t task);

/* Spark's quantile of ascending values: element at floor(count * percent / 100), at most the last. count > 0. */
int64_t pyro_quantile(const int64_t *sorted, size_t count, unsigned percent);

#endif
