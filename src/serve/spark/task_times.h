/* What Spark derives of a task. Inline: summaries derive them of every task of a stage. */
#ifndef PYRO_SERVE_SPARK_TASK_TIMES_H
#define PYRO_SERVE_SPARK_TASK_TIMES_H

#include "base/numbers/saturate.h"
#include "model/history/history.h"

static inline int64_t pyro_spark_duration(const struct pyro_history_task *task)
{
    return task->ended && task->finish_ms > task->launch_ms ? pyro_sub_saturating(task->finish_ms, task->launch_ms) : 0;
}

static inline int64_t pyro_spark_getting_result(const struct pyro_history_task *task)
{
    return task->ended && task->fetch_ms > 0
               ? pyro_sub_wrapping(pyro_add_saturating(task->launch_ms, pyro_spark_duration(task)), task->fetch_ms)
               : 0;
}

static inline int64_t pyro_spark_scheduler_delay(const struct pyro_history_task *task)
{
    if (!task->ended)
        return 0;
    static const unsigned parts[] = {PYRO_HISTORY_executorRunTime, PYRO_HISTORY_executorDeserializeTime,
                                     PYRO_HISTORY_resultSerializationTime};
    int64_t delay = pyro_sub_wrapping(pyro_spark_duration(task), pyro_spark_getting_result(task));
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        delay = pyro_sub_wrapping(delay, task->metrics[parts[i]]);
    return delay > 0 ? delay : 0;
}

#endif
