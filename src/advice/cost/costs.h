/* Several applications, and their sums by what the user asks for. */
#ifndef PYRO_ADVICE_COST_COSTS_H
#define PYRO_ADVICE_COST_COSTS_H

#include "advice/cost/advise.h"
#include "base/threads/stop.h"

enum pyro_cost_by {
    PYRO_BY_APPLICATION,
    PYRO_BY_USER,
    PYRO_BY_QUEUE,
    PYRO_BY_PLATFORM,
    PYRO_BY_POOL, /* this and the next ones: parts of applications */
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
    double node_hour, driver_hour; /* of a node of executors, and of the driver's own: millionths; NaN: unknown */
};

struct pyro_cost_unreadable {
    struct pyro_slice path, reason;
};

struct pyro_costs {
    struct pyro_arena arena;
    const struct pyro_prices *prices;
    struct pyro_money_options money;
    struct pyro_advise_options advise;
    struct pyro_options progress; /* of the caller, for `stop` */
    struct pyro_stop stop;
    enum pyro_cost_by by;
    struct pyro_slice by_text, by_key;
    PYRO_VEC(struct pyro_cost_entry) entries;
    PYRO_VEC(struct pyro_cost_unreadable) unreadable;
    PYRO_VEC(struct pyro_past) past; /* runs of a store, in any order */
    bool has_past;                   /* a store was asked, even where it has no run */
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

/* Nodes of a cluster that several of the applications ran on: hosts, from when the first application came there to when
 * the last one went. */
struct pyro_cluster {
    struct pyro_slice name, reason;
    double confidence;
    int64_t applications, nodes, from_ms, to_ms;
    int64_t node_ms;    /* the hosts' lifetimes */
    int64_t idle_ms;    /* of these, without an application */
    int64_t claimed_ms; /* what applications were given one by one: more than used where they shared hosts */
    struct pyro_slice currency;
    bool known; /* every price is, in one currency */
    int64_t micros, idle_micros, applications_micros;
};
/* By name. In an arena of the caller's. NULL: no memory. */
struct pyro_cluster *pyro_costs_clusters(const struct pyro_costs *costs, struct pyro_arena *arena, size_t *ret_count);

#endif
