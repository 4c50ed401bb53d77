#include "analyze/memory/shortage.h"

#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/memory/container.h"
#include "model/failure_text.h"

enum { CODE_KILLED = 137 };

enum pyro_shortage pyro_executor_shortage(const struct pyro_app *app, const struct pyro_executor *executor)
{
    const double nearly = 0.85; /* a killed process sent its last metrics some seconds before */
    struct pyro_slice reason = executor->remove_reason, master = app->application.master;
    enum pyro_removal_kind kind = pyro_removal_kind(reason);
    if (kind == PYRO_REMOVAL_VIRTUAL_MEMORY)
        return PYRO_SHORTAGE_VIRTUAL;
    if (kind == PYRO_REMOVAL_CONTAINER_MEMORY)
        return PYRO_SHORTAGE_CONTAINER;
    if (kind == PYRO_REMOVAL_HEAP_MEMORY)
        return PYRO_SHORTAGE_HEAP;
    if (kind != PYRO_REMOVAL_KILLED || pyro_exit_code(reason) != CODE_KILLED)
        return PYRO_SHORTAGE_NONE;
    bool limited = pyro_text_has(master, "yarn") || pyro_text_has(master, "k8s");
    bool full = pyro_real(executor->heap_peak_bytes) >= nearly * pyro_app_heap_bytes(app);
    return limited || full ? PYRO_SHORTAGE_CONTAINER : PYRO_SHORTAGE_NONE;
}

bool pyro_task_died_of_shortage(const struct pyro_app *app, size_t task)
{
    int64_t row = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, task);
    struct pyro_slice reason = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_reason, task));
    return row >= 0 && row < (int64_t)app->executors.count && pyro_slice_find(reason, "ExecutorLost") &&
           pyro_executor_shortage(app, &app->executors.items[row]) != PYRO_SHORTAGE_NONE;
}

struct pyro_overhead pyro_executor_overhead(const struct pyro_app *app)
{
    const double mib = 1024.0 * 1024;
    double set = (double)pyro_app_property_size(app, "spark.executor.memoryOverhead", 1024 * 1024, 0);
    double asked = (double)pyro_executor_container(app, -1).overhead_mib * mib; /* 0: this cluster has none */
    double usual = fmax(pyro_app_heap_bytes(app) * 0.1, 384 * mib);
    struct pyro_overhead overhead = {.bytes = asked > 0 ? asked : set > 0 ? set : usual};
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        double used, limit;
        if (pyro_executor_shortage(app, executor) != PYRO_SHORTAGE_CONTAINER ||
            !pyro_container_memory(executor->remove_reason, &used, &limit))
            continue;
        struct pyro_container given = pyro_executor_container(app, executor->resource_profile);
        double other = (double)(given.heap_mib + given.offheap_mib + given.pyspark_mib) * mib;
        overhead.bytes = fmax(overhead.bytes, limit - other);
        overhead.next_bytes = fmax(overhead.next_bytes, used - other);
    }
    overhead.next_bytes = fmax(overhead.next_bytes, 2 * overhead.bytes);
    return overhead;
}
