/* Tasks that are slower than their peers, task by task: what the rules straggler and data-skew judge by, for them and
 * for documents that show single tasks. */
#ifndef PYRO_RULES_TASKS_SLOW_TASKS_H
#define PYRO_RULES_TASKS_SLOW_TASKS_H

#include "rules/tasks/stage_tasks.h"

/* ---- Slow without more data ---- */

enum pyro_slow_cause {
    PYRO_SLOW_UNKNOWN,
    PYRO_SLOW_GC,
    PYRO_SLOW_FETCH,
    PYRO_SLOW_DELAY,
    PYRO_SLOW_WRITE,
    PYRO_SLOW_RESULT,
    PYRO_SLOW_SPILL,
    PYRO_SLOW_WAITING,
    PYRO_SLOW_COMPUTING,
    PYRO_SLOW_HOST,
    PYRO_SLOW_LOCALITY,
    PYRO_SLOW_RETRY,
    /* What a trace of the kernel saw. */
    PYRO_SLOW_PROCESSOR,
    PYRO_SLOW_THROTTLED,
    PYRO_SLOW_DISK,
    PYRO_SLOW_NETWORK,
    PYRO_SLOW_LOCK,
    PYRO_SLOW_PAGES
};

/* Thresholds of the rule straggler. */
struct pyro_slow_limits {
    double ratio, cold_allowance_ms, opener_allowance_ms, slow_ms, cause_share;
};

bool pyro_task_is_slow(const struct pyro_slow_limits *limits, const struct pyro_stage_tasks *tasks,
                       const struct pyro_stage_task *task);

/* What all slow tasks of a stage are compared with. */
struct pyro_slow_stage {
    struct pyro_slow_limits limits;
    const struct pyro_stage_tasks *tasks;
    size_t usual;  /* row of app->tasks: one in the middle of the stage */
    bool one_host; /* all slow tasks ran on one host, while others ran elsewhere */
};
/* `slow`: how many tasks are slow. `tasks` has at least one. */
void pyro_slow_stage_init(const struct pyro_app *app, const struct pyro_slow_limits *limits,
                          const struct pyro_stage_tasks *tasks, double slow, struct pyro_slow_stage *ret);
/* *cause_ms: the time that it explains, 0 where it is not about time. */
enum pyro_slow_cause pyro_slow_task_cause(const struct pyro_app *app, const struct pyro_slow_stage *stage,
                                          const struct pyro_stage_task *task, double *cause_ms);
/* The rest of a sentence about the task: "it waited 3.2 s more for shuffle blocks". `row`: of app->tasks. */
const char *pyro_slow_explain(struct pyro_rule_context *context, enum pyro_slow_cause cause, double cause_ms,
                              size_t row);

/* ---- Slow for its data ---- */

/* Thresholds of the rule data-skew. */
struct pyro_heavy_limits {
    double ratio, follows, plain_ratio, batch_ratio, batch_time_ratio, slow_ms;
};
/* `data`: pyro_stage_task_data_ratio(). */
bool pyro_task_is_heavy(const struct pyro_app *app, const struct pyro_heavy_limits *limits,
                        const struct pyro_stage *stage, const struct pyro_stage_tasks *tasks,
                        const struct pyro_stage_task *task, double data);

#endif
