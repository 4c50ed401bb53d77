/* What an application was given, what it did with it, and what that costs. docs/cost.md has the formulas.
 *
 * Everything is integers that add up exactly: core time in ms, memory time in MiB ms, money in millionths of the
 * currency's unit. Texts are copied into the cost's own arena, so that it outlives the application. */
#ifndef PYRO_COST_COST_H
#define PYRO_COST_COST_H

#include "analyze/memory/container.h"
#include "analyze/platform.h"
#include "base/memory/arena.h"
#include "model/app.h"

/* What core time, memory time and money were spent on, in the order of reports. */
enum pyro_cost_part {
    PYRO_COST_USEFUL,      /* tasks that succeeded, the first time their partition was computed */
    PYRO_COST_SPILL,       /* of these: writing to disk what did not fit into memory, and reading it (estimated) */
    PYRO_COST_GC,          /* of these: garbage collection */
    PYRO_COST_WAITING,     /* of these: scheduler delay, waiting for shuffle data, fetching results */
    PYRO_COST_SPECULATIVE, /* copies that lost their race, and originals that did */
    PYRO_COST_RETRIED,     /* attempts that failed or were killed, and partitions computed again */
    PYRO_COST_TASK_PARTS,  /* those above belong to a stage */
    PYRO_COST_IDLE_NO_WORK = PYRO_COST_TASK_PARTS,
    PYRO_COST_IDLE_DRIVER,
    PYRO_COST_IDLE_WAIT,
    PYRO_COST_DRIVER, /* the driver's own allocation, and that of an application master */
    PYRO_COST_UNHELD, /* of nodes that are paid for whole: cores and memory that no executor held. Money only */
    PYRO_COST_PARTS
};
extern const char *const pyro_cost_part_names[PYRO_COST_PARTS];

struct pyro_cost_amount {
    int64_t core_ms, memory_mib_ms, micros;
};

/* A stage, job, SQL execution, pool: what its tasks took. */
struct pyro_cost_row {
    int64_t id, attempt; /* PYRO_NONE for tasks that belong to none, and for what has a name instead */
    struct pyro_slice name;
    struct pyro_cost_amount total;
};
struct pyro_cost_rows {
    struct pyro_cost_row *items;
    size_t count;
};

/* Executors that were given the same. */
struct pyro_cost_shape {
    struct pyro_container container;
    int64_t resource_profile, executors, lifetime_ms; /* the sum of their lifetimes */
};

/* A host that executors ran on, from the first one's coming to the last one's end. */
struct pyro_cost_node {
    struct pyro_slice host;
    int64_t from_ms, to_ms; /* epoch */
    int64_t executors;
    int64_t core_peak; /* most cores that executors held here at once */
    bool driver;       /* only the driver ran here */
};

/* A line of the bill: quantity x price. */
struct pyro_cost_line {
    struct pyro_slice text;   /* "10 x r5.2xlarge" */
    struct pyro_slice unit;   /* "hour", "core-hour", ... */
    struct pyro_slice source; /* where the price comes from */
    struct pyro_slice dated;
    double quantity, price;
    int64_t micros;
    bool memory; /* shared out by memory time instead of core time */
    bool driver; /* a node of its own: all of it is the driver's */
};

struct pyro_money {
    bool known; /* every price that the bill needs was found */
    struct pyro_slice currency;
    int64_t micros; /* the sum of the lines: a part of the bill where not all is known */
    struct pyro_cost_line *lines;
    size_t line_count;
    struct pyro_slice
        *missing; /* "price of an hour of r9.large in eu-west-1 (service ec2)": what --prices should say */
    size_t missing_count;
    bool prices_missing;      /* of the missing, one is a price */
    struct pyro_slice *notes; /* what was assumed */
    size_t note_count;
    struct pyro_slice instance; /* that nodes were priced as; null: none */
    struct pyro_slice region;   /* whose price of that was taken; null: unknown */
    double nodes;               /* of executors, on the bill */
    double dbu;                 /* NaN: none */
};

/* The run on spot nodes that are taken away at a rate: what simulated runs made of it. Means, shares and counts are of
 * all of them, low and high what nine of ten lie between. */
struct pyro_cost_spot {
    double rate; /* interruptions of a node, an hour */
    int64_t replays;
    int64_t wall_low_ms, wall_ms, wall_high_ms;
    int64_t low_micros, micros, high_micros; /* PYRO_NONE: unknown */
    double interruptions, tasks,
        partitions;    /* of a run: nodes lost, tasks lost, partitions of shuffles computed again */
    int64_t limit_ms;  /* the deadline, or a tenth longer than now */
    double late_share; /* longer than that */
    double task_limit_share, stage_limit_share; /* Spark would have given up, if it counts all losses */
    uint32_t task_failures_max, stage_failures_max;
    int64_t notice_ms, replaced_ms; /* a node gets no tasks before it goes; until another one has executors */
    bool keeps_output;
    const char *kept_by; /* why */
    bool safe;           /* to be advised */
};

/* What it should cost. */
struct pyro_cost_advice {
    const char *kind;         /* "right-size", "instance", "spot", "autoscale", "reserve" */
    struct pyro_slice text;   /* "6 x r5.2xlarge (6 executors)"; null: nothing is advised, and `safety` says why */
    struct pyro_slice safety; /* what it rests on, and how much is to spare */
    int64_t executors, wall_ms, core_ms, micros; /* of the run as advised; PYRO_NONE: unknown */
    int64_t saves_micros;
    double saves_share;                /* of money, or of core time where prices are unknown; below 0: it costs more */
    const struct pyro_cost_spot *spot; /* NULL for other kinds */
};

struct pyro_cost {
    struct pyro_arena arena;
    struct pyro_slice path, id, name, attempt, user, queue;
    int64_t start_ms, end_ms, duration_ms;
    struct pyro_cost_place place;
    enum pyro_manager manager;
    bool client_mode;
    bool settings_unknown;  /* containers are those of Spark's defaults, because the log has no settings */
    bool executors_unknown; /* tasks ran, on executors that the log does not have */

    struct pyro_cost_shape *shapes;
    size_t shape_count;
    struct pyro_container driver, master;
    bool has_driver, has_master; /* the driver is not inside an executor; there is an application master too */
    struct pyro_cost_node *nodes;
    size_t node_count;
    int64_t cpu_request_ms; /* core time as Kubernetes was asked for it; equals core time elsewhere */

    struct pyro_cost_amount total, parts[PYRO_COST_PARTS];
    struct pyro_cost_amount *stage_parts; /* PYRO_COST_TASK_PARTS for each row of `stages` */
    struct pyro_cost_rows stages;         /* with core or memory time, and one of id PYRO_NONE for other tasks */
    struct pyro_cost_rows jobs, sql, pools, groups;
    struct pyro_slice *stage_pools, *stage_groups; /* by row of `stages` */
    int64_t *stage_jobs, *stage_sql;

    struct pyro_money money;
    struct pyro_cost_advice *advice;
    size_t advice_count;
};

/* PYRO_ERROR_MEMORY only: whatever the log lacks is unknown, or nothing. */
enum pyro_status pyro_cost_new(const struct pyro_app *app, const struct pyro_allocator *allocator,
                               struct pyro_cost **ret, struct pyro_error *error);
/* Accepts NULL. */
void pyro_cost_free(struct pyro_cost *cost);

/* Shares `total` out by weights, which are not negative and have the sum `weight_sum` > 0: floors, then one each to the
 * largest remainders, earlier ones first among equals. False: no memory. */
bool pyro_apportion(const struct pyro_allocator *allocator, const int64_t *weights, size_t count, int64_t weight_sum,
                    int64_t total, int64_t *ret);

/* Sums of the stages by job, SQL execution, pool and job group; again once money was shared out. False: no memory. */
bool pyro_cost_sum_up(struct pyro_cost *cost);

/* Whole nodes that this number of executors takes, where `now` of them took those of the bill; 0: it is not by nodes.
 */
double pyro_cost_nodes_for(const struct pyro_cost *cost, double executors, double now);

/* Units that other tools count in. */
double pyro_cost_core_hours(const struct pyro_cost_amount *amount);
double pyro_cost_gib_hours(const struct pyro_cost_amount *amount);
int64_t pyro_cost_mb_seconds(const struct pyro_cost_amount *amount);    /* YARN's memorySeconds */
int64_t pyro_cost_vcore_seconds(const struct pyro_cost_amount *amount); /* YARN's vcoreSeconds */
double pyro_cost_dcu(const struct pyro_cost_amount *amount); /* DataFlint: 0.05 a core hour, 0.005 a GiB hour */

#endif
