#include "analyze/task_rows.h"

#include "analyze/accounts/split.h"

void pyro_run_times(const struct pyro_app *app, size_t first, size_t count, int64_t (*times)[PYRO_READ_ROWS])
{
    pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, times[0]);
    pyro_task_read(&app->tasks, PYRO_TASK_finish_ms, first, count, times[1]);
    pyro_task_read(&app->tasks, PYRO_TASK_status, first, count, times[2]);
    for (size_t i = 0; i < count; i++)
        if (times[2][i] == PYRO_TASK_RESUBMITTED || pyro_task_duration(times[0][i], times[1][i]) == 0)
            times[0][i] = times[1][i] = 0;
}
