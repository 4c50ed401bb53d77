#include "analyze/analyze.h"

enum pyro_status pyro_analyze(struct pyro_app *app, struct pyro_error *error)
{
    if (!pyro_task_table_seal(&app->tasks))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for %zu tasks", app->tasks.count);
    /* Row numbers of tasks, and of stages that jobs and SQL executions refer to, are 32 bits wide. */
    if (app->tasks.count > INT32_MAX / 4 || app->unfinished_tasks.count > INT32_MAX / 4 ||
        app->stages.count > INT32_MAX || app->executors.count > INT32_MAX || app->jobs.count > INT32_MAX ||
        app->sql.count > INT32_MAX)
        return pyro_error_lasts(error, pyro_error_set(error, PYRO_ERROR_INPUT,
                                                      "the log has more than %d tasks, stages, jobs or executors",
                                                      INT32_MAX / 4));
    if (!pyro_app_index(app))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for %zu stages", app->stages.count);
    static enum pyro_status (*const steps[])(struct pyro_app *, struct pyro_error *) = {
        pyro_analyze_profiles,   pyro_analyze_stages,     pyro_analyze_executors, pyro_analyze_unfinished,
        pyro_analyze_jobs,       pyro_analyze_totals,     pyro_analyze_wall,      pyro_analyze_core,
        pyro_analyze_phases,     pyro_analyze_bounds,     pyro_analyze_memory,    pyro_analyze_task_metrics,
        pyro_analyze_attributes, pyro_analyze_confidence,
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        PYRO_TRY(steps[i](app, error));
    app->sealed = true;
    return PYRO_OK;
}
