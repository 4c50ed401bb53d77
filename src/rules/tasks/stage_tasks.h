/* The successful tasks of one stage side by side, for rules that compare a task with its peers. */
#ifndef PYRO_RULES_TASKS_STAGE_TASKS_H
#define PYRO_RULES_TASKS_STAGE_TASKS_H

#include "rules/rule.h"

struct pyro_stage_task {
    size_t row; /* in app->tasks */
    double launch, finish, duration;
    double read_bytes, read_records, written; /* written: records of output and shuffle write */
    bool cold;   /* among the first tasks of its executor, one for each slot: class loading, JIT, Python workers */
    bool opener; /* among the first tasks of this stage on its executor: code generation, first fetches */
    double cap;  /* duration without the fault; the rule's */
};

struct pyro_stage_tasks {
    struct pyro_stage_task *items; /* by launch time */
    size_t count;
    double median_ms, cold_median_ms, opener_median_ms;
    double median_bytes, median_records, median_written; /* of the median task; where that is 0 the mean */
    double work_ms, begin, end;
};

/* For each executor row the launch time up to which its tasks are cold. */
struct pyro_cold {
    double *until;
    size_t count;
};
bool pyro_cold_load(struct pyro_rule_context *context, struct pyro_cold *cold);
void pyro_cold_done(struct pyro_rule_context *context, struct pyro_cold *cold);

/* False when there is no memory (and context->failed is set). `cold` may be NULL. */
bool pyro_stage_tasks_load(struct pyro_rule_context *context, size_t stage_row, const struct pyro_cold *cold,
                           struct pyro_stage_tasks *ret);
void pyro_stage_tasks_done(struct pyro_rule_context *context, struct pyro_stage_tasks *tasks);

/* What a healthy task in the same state of warmth takes. */
double pyro_stage_task_usual_ms(const struct pyro_stage_tasks *tasks, const struct pyro_stage_task *task);
/* How many times the data of its peers a task has: the largest of bytes read, records read, records written. At least
 * 1 where nothing is known. */
double pyro_stage_task_data_ratio(const struct pyro_stage_tasks *tasks, const struct pyro_stage_task *task);
/* When the stage would end if no task took longer than its cap, with unchanged launches. */
double pyro_stage_tasks_capped_end(const struct pyro_stage_tasks *tasks);

#endif
