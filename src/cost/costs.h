/* Several applications, and their sums by what the user asks for. */
#ifndef PYRO_COST_COSTS_H
#define PYRO_COST_COSTS_H

#include "cost/money.h"

enum pyro_cost_by {
    PYRO_BY_APPLICATION,
    PYRO_BY_USER,
    PYRO_BY_QUEUE,
    PYRO_BY_PLATFORM,
    PYRO_BY_POOL, /* from here on parts of applications */
    PYRO_BY_GROUP,
    PYRO_BY_JOB,
    PYRO_BY_STAGE,
    PYRO_BY_SQL,
    PYRO_BY_TAG, /* with a key */
    PYRO_BY_PROPERTY
};

struct pyro_cost_entry {
    struct pyro_cost *cost;
    struct pyro_slice key; /* what it is grouped by, where that is one thing for a whole application; null: unknown */
};

struct pyro_unreadable {
    struct pyro_slice path, reason;
};

struct pyro_costs {
    struct pyro_arena arena;
    const struct pyro_prices *prices;
    struct pyro_money_options money;
    int64_t deadline_ms; /* 0: none */
    enum pyro_cost_by by;
    struct pyro_slice by_text, by_key;
    PYRO_VEC(struct pyro_cost_entry) entries;
    PYRO_VEC(struct pyro_unreadable) unreadable;
};

/* One row of the table that was asked for. */
struct pyro_cost_group {
    struct pyro_slice key; /* null: unknown, or what no job, stage, ... took */
    struct pyro_slice currency;
    int64_t applications;
    struct pyro_cost_amount total;
    bool known; /* its money is */
};
/* Groups, largest money first, then core time, then name. In an arena of the caller's. NULL: no memory. */
struct pyro_cost_group *pyro_costs_group(const struct pyro_costs *costs, struct pyro_arena *arena, size_t *ret_count);

#endif
