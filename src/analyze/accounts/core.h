/* Allocated core time, task by task and executor by executor: what the core account adds up, for those who need more
 * than its sums. */
#ifndef PYRO_ANALYZE_ACCOUNTS_CORE_H
#define PYRO_ANALYZE_ACCOUNTS_CORE_H

#include "analyze/accounts/fixed_point.h"

/* What cores without a task wait for, by what the application does. */
enum pyro_idle { PYRO_IDLE_NO_WORK, PYRO_IDLE_DRIVER, PYRO_IDLE_WAIT, PYRO_IDLES };

struct pyro_executor_share {
    uint64_t from, to;           /* ms since the application's start */
    uint64_t cores;              /* 0 when unknown */
    pyro_fixed idle[PYRO_IDLES]; /* whole core ms */
};

struct pyro_core_shares {
    const struct pyro_allocator *allocator;
    int64_t total_ms;                      /* 0: no executor with cores, or more than an int64_t counts: no shares */
    pyro_fixed *tasks;                     /* by task: core ms that it held, fixed point */
    struct pyro_executor_share *executors; /* by row of app->executors */
};

/* Tasks' shares and executors' idle time add up to total_ms, except what rounding took from tasks that had to share
 * cores. pyro_core_shares_done() gives them back. */
enum pyro_status pyro_core_shares_new(const struct pyro_app *app, struct pyro_core_shares *ret,
                                      struct pyro_error *error);
void pyro_core_shares_done(struct pyro_core_shares *shares);

#endif
