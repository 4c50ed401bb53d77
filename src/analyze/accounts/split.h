/* Task splits in runs, several times faster than pyro_task_split() one by one. */
#ifndef PYRO_ANALYZE_ACCOUNTS_SPLIT_H
#define PYRO_ANALYZE_ACCOUNTS_SPLIT_H

#include "analyze/accounts/fixed_point.h"

enum { PYRO_SPLIT_RUN = 512, PYRO_SPLIT_COLUMNS = 11 };

/* Space that reading a run takes; too large for some stacks, so it comes from the allocator. */
struct pyro_split_run {
    int64_t columns[PYRO_SPLIT_COLUMNS][PYRO_SPLIT_RUN];
    struct pyro_task_split splits[PYRO_SPLIT_RUN];
};

/* Splits of the tasks [first, first + count), count <= PYRO_SPLIT_RUN. */
void pyro_split_read(const struct pyro_app *app, size_t first, size_t count, struct pyro_split_run *run);

/* finish - launch; 0 for a task of which one is unknown, or that ends before it starts. */
static inline int64_t pyro_task_duration(int64_t launch, int64_t finish)
{
    return launch > 0 && finish > launch ? finish - launch : 0;
}

#endif
