/* Tasks that started and have no end: until when they are taken to have run, and their places behind those that ended.
 */
#ifndef PYRO_ANALYZE_UNFINISHED_TASKS_H
#define PYRO_ANALYZE_UNFINISHED_TASKS_H

#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"

/* Sweeps number all tasks: those of app->tasks, then app->unfinished_tasks. */
static inline size_t pyro_all_tasks(const struct pyro_app *app)
{
    return app->tasks.count + app->unfinished_tasks.count;
}
static inline const struct pyro_unfinished_task *pyro_unfinished_at(const struct pyro_app *app, size_t number)
{
    return number < app->tasks.count ? NULL : &app->unfinished_tasks.items[number - app->tasks.count];
}
static inline int32_t pyro_executor_of(const struct pyro_app *app, size_t number)
{
    return number < app->tasks.count ? app->tasks.executor_rows[number] : pyro_unfinished_at(app, number)->executor_row;
}
static inline int32_t pyro_stage_of(const struct pyro_app *app, size_t number)
{
    return number < app->tasks.count ? app->tasks.stage_rows[number] : pyro_unfinished_at(app, number)->stage_row;
}

/* From launch to `until_ms`, 0 or more. */
static inline int64_t pyro_unfinished_ms(const struct pyro_unfinished_task *task)
{
    return pyro_task_duration(task->launch_ms, task->until_ms);
}

/* The same as part of the window; false: none of it is in there. */
static inline bool pyro_unfinished_interval(const struct pyro_window *window, const struct pyro_unfinished_task *task,
                                            uint64_t *from, uint64_t *to)
{
    if (pyro_unfinished_ms(task) == 0)
        return false;
    *from = pyro_window_at(window, task->launch_ms);
    *to = pyro_window_at(window, task->until_ms);
    return *from < *to;
}

#endif
