/* Executors that ended because their memory was exhausted. */
#ifndef PYRO_ANALYZE_MEMORY_SHORTAGE_H
#define PYRO_ANALYZE_MEMORY_SHORTAGE_H

#include "model/app.h"
#include "model/failure_kinds.h"

/* Of the reason for which an executor was removed. A SIGKILL (exit code 137) counts where a container's limit can be
 * behind it: YARN and Kubernetes, or a heap that was nearly full. */
enum pyro_shortage pyro_executor_shortage(const struct pyro_app *app, const struct pyro_executor *executor);

/* A task row's executor ended because of exhausted memory, and the task with it. */
bool pyro_task_died_of_shortage(const struct pyro_app *app, size_t task);

/* The memory overhead of executors: what they had, and what to try after one of them exceeded its container: twice as
 * much, and not less than it used. What YARN says of killed containers counts, since it rounds containers up. */
struct pyro_overhead {
    double bytes, next_bytes;
};
struct pyro_overhead pyro_executor_overhead(const struct pyro_app *app);

#endif
