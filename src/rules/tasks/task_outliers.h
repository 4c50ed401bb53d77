/* The slow tasks of one stage, each with its cause, as the rules data-skew, slow-host and straggler judge them: for
 * documents that show a stage. A stage may have some although no rule has a finding: fixing them would save too
 * little. */
#ifndef PYRO_RULES_TASKS_TASK_OUTLIERS_H
#define PYRO_RULES_TASKS_TASK_OUTLIERS_H

#include "rules/rule.h"

enum { PYRO_OUTLIERS_MAX = 100 };

struct pyro_outlier {
    size_t row; /* in app->tasks */
    double duration_ms, median_ms;
    const char *cause;      /* "data", "gc", "fetch_wait", "host", ...: docs/api.md */
    struct pyro_slice text; /* the rest of a sentence about the task */
};

/* At most PYRO_OUTLIERS_MAX, the slowest first, in the arena; thresholds are those of the diagnosis. False: no memory.
 */
bool pyro_stage_outliers(const struct pyro_diagnosis *diagnosis, size_t stage_row, struct pyro_arena *arena,
                         struct pyro_outlier **ret, size_t *ret_count);
/* A threshold as it was for this diagnosis; NaN: no such rule or threshold. */
double pyro_diagnosis_limit(const struct pyro_diagnosis *diagnosis, const char *rule, const char *name);

#endif
