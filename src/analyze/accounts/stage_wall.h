/* The wall account by stage: whose work the application was waiting for. Computed when asked for; the application keeps
 * only the sums over all stages (app->numbers.wall_ms). */
#ifndef PYRO_ANALYZE_ACCOUNTS_STAGE_WALL_H
#define PYRO_ANALYZE_ACCOUNTS_STAGE_WALL_H

#include "analyze/accounts/fixed_point.h"

/* First attempts of a stage and their successful tasks; what was done again is counted apart. */
struct pyro_stage_wall {
    pyro_fixed tasks;                   /* wall time that its tasks have in the account */
    pyro_fixed scheduling;              /* the same while no task ran */
    int64_t task_ms;                    /* sum of the tasks' durations */
    int64_t split_ms[PYRO_SPLIT_PARTS]; /* of them */
};

struct pyro_wall_split {
    int64_t length_ms;
    pyro_fixed resource_wait, driver;
    pyro_fixed again; /* failed and killed tasks, and repeated stage attempts */
};

/* Fills stages[app->stages.count + 1], by row; the last one is for tasks without a stage. With `split` it adds up to
 * length_ms, except less than a millisecond of rounding. */
enum pyro_status pyro_wall_by_stage(const struct pyro_app *app, struct pyro_wall_split *split,
                                    struct pyro_stage_wall *stages, struct pyro_error *error);

#endif
