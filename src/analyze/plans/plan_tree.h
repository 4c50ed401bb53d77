/* Physical plans as trees of operators: what each is, what it read and made, which stages ran it and how long.
 *
 *     const struct pyro_plans *plans = pyro_rule_plans(context);              (rules/plans/plans.h; NULL: no memory)
 *     for (size_t q = 0; q < plans->count; q++) {                             one plan a row of app->sql
 *         const struct pyro_plan_tree *plan = &plans->items[q];
 *         for (uint32_t i = 0; i < plan->count; i++) {                        parents before children
 *             const struct pyro_plan_op *op = &plan->ops[i];
 *             if (op->class != PYRO_OPERATOR_SORT_MERGE_JOIN || op->repeated)
 *                 continue;
 *             double left = pyro_op_rows(plan, pyro_op_input(plan, i, 0));
 *             int64_t spilled = pyro_op_metric(plan, i, PYRO_METRIC_SPILL_SIZE);
 *         }
 *     }
 *
 * The plan is the newest one: with adaptive execution the final one. Operators are numbers, i < plan->count;
 * PYRO_NO_OP stands for none and every function here takes it (giving unknown). Formulas: docs/plans.md. */
#ifndef PYRO_ANALYZE_PLANS_PLAN_TREE_H
#define PYRO_ANALYZE_PLANS_PLAN_TREE_H

#include "base/memory/arena.h"
#include "model/app.h"
#include "model/operators.h"

/* Metrics with a name of their own: see analyze/plans/metrics.def. */
enum pyro_metric {
    PYRO_METRIC_UNKNOWN,
    PYRO_METRIC_ROWS,       /* output rows */
    PYRO_METRIC_DATA_SIZE,  /* bytes before compression: of an exchange, of a broadcast's hash table */
    PYRO_METRIC_PARTITIONS, /* of an exchange as planned; of an AQE reader as read */
    PYRO_METRIC_COALESCED_PARTITIONS,
    PYRO_METRIC_SKEWED_PARTITIONS,
    PYRO_METRIC_SKEW_SPLITS,
    PYRO_METRIC_PARTITION_DATA_SIZE,
    PYRO_METRIC_FILES,
    PYRO_METRIC_FILE_BYTES,
    PYRO_METRIC_SCAN_PARTITIONS, /* directories of a partitioned table */
    PYRO_METRIC_METADATA_TIME,   /* driver */
    PYRO_METRIC_PRUNING_TIME,    /* driver */
    PYRO_METRIC_SCAN_TIME,
    PYRO_METRIC_BATCHES,
    PYRO_METRIC_SHUFFLE_BYTES, /* written, after compression */
    PYRO_METRIC_SHUFFLE_ROWS,
    PYRO_METRIC_SHUFFLE_WRITE_TIME,
    PYRO_METRIC_SHUFFLE_READ_ROWS,
    PYRO_METRIC_SHUFFLE_REMOTE_BYTES,
    PYRO_METRIC_SHUFFLE_LOCAL_BYTES,
    PYRO_METRIC_SHUFFLE_REMOTE_BLOCKS,
    PYRO_METRIC_SHUFFLE_LOCAL_BLOCKS,
    PYRO_METRIC_FETCH_WAIT_TIME,
    PYRO_METRIC_COLLECT_TIME,   /* driver */
    PYRO_METRIC_BUILD_TIME,     /* driver */
    PYRO_METRIC_BROADCAST_TIME, /* driver */
    PYRO_METRIC_HASH_BUILD_TIME,
    PYRO_METRIC_HASH_BUILD_SIZE,
    PYRO_METRIC_AGGREGATE_TIME,
    PYRO_METRIC_SORT_TIME,
    PYRO_METRIC_SPILL_SIZE,
    PYRO_METRIC_PEAK_MEMORY,
    PYRO_METRIC_HASH_PROBES,
    PYRO_METRIC_SORT_FALLBACK_TASKS,
    PYRO_METRIC_PYTHON_SENT,
    PYRO_METRIC_PYTHON_RECEIVED,
    PYRO_METRIC_PYTHON_START_TIME,
    PYRO_METRIC_PYTHON_INIT_TIME,
    PYRO_METRIC_PYTHON_RUN_TIME,
    PYRO_METRIC_WRITTEN_FILES,
    PYRO_METRIC_WRITTEN_BYTES,
    PYRO_METRIC_WRITTEN_PARTITIONS,
    PYRO_METRIC_TASK_COMMIT_TIME,
    PYRO_METRIC_JOB_COMMIT_TIME, /* driver */
    PYRO_METRIC_STATE_ROWS,
    PYRO_METRIC_STATE_MEMORY,
    PYRO_METRIC_STATE_UPDATE_TIME,
    PYRO_METRIC_STATE_REMOVE_TIME,
    PYRO_METRIC_STATE_COMMIT_TIME,
    PYRO_METRIC_DURATION, /* of a codegen frame: includes what feeds it */
    PYRO_METRIC_COUNT
};

#define PYRO_NO_OP UINT32_MAX

struct pyro_plan_op {
    const struct pyro_sql_node *node; /* name, detail (cut), metadata */
    enum pyro_operator_class class;
    enum pyro_engine engine;
    uint32_t parent, first_child, next_sibling; /* PYRO_NO_OP: none */
    /* It is below a reused exchange: its exchange, metrics and stages are those of another operator of this plan, and
     * it takes no time of its own. */
    bool repeated;
    bool cached; /* part of a cached table's plan: ran once, for its first reader */
    /* Its rows of app->sql_metrics: only those with a value, unless plan texts were wanted. */
    uint32_t first_metric, metric_count;
    /* Rows of app->stages of this execution that ran it, ascending: plan->stages[first_stage ..]. An exchange has the
     * stages that wrote it and those that read it. Other executions' stages (cached tables) are not listed. */
    uint32_t first_stage, stage_count;
    int64_t rows;    /* see pyro_op_rows() */
    int64_t time_ms; /* share of the execution's task time: an estimate, see docs/plans.md */
};

struct pyro_plan_tree {
    const struct pyro_sql_execution *sql; /* row i of app->sql for plans->items[i] */
    struct pyro_plan_op *ops;             /* NULL where the log has no plan */
    uint32_t count;
    uint32_t *stages;           /* rows of app->stages, by operator */
    const uint32_t *own_stages; /* rows of app->stages that belong to this execution, ascending */
    uint32_t own_stage_count;
    uint32_t unknown_count; /* operators of class unknown */
    /* task_ms = sum of the operators' time_ms + other_ms exactly. */
    int64_t task_ms;  /* of the execution's stages */
    int64_t other_ms; /* no operator's: scheduling, deserialization, results; stages that no operator is tied to */
    const struct pyro_plans *plans;
};

struct pyro_plans {
    const struct pyro_app *app;
    struct pyro_plan_tree *items; /* one for each row of app->sql */
    size_t count;
    unsigned char *metric_ids; /* enum pyro_metric of each row of app->sql_metrics */
};

/* Trees of all executions, in the arena; NULL when there is no memory. Linear in nodes, metrics and stages. */
const struct pyro_plans *pyro_plans_new(const struct pyro_app *app, struct pyro_arena *arena);

/* Total of a metric: ms, bytes or a count; PYRO_NONE when the log has none. Of several with that name the largest. */
int64_t pyro_op_metric(const struct pyro_plan_tree *plan, uint32_t op, enum pyro_metric metric);
/* The same as a double, 0 when unknown. */
double pyro_op_amount(const struct pyro_plan_tree *plan, uint32_t op, enum pyro_metric metric);

/* Rows that come out of the operator: its own count, for an exchange records written, for operators that do not count
 * (Project, Sort, frames, readers ...) what goes into them. PYRO_NONE when unknown. */
int64_t pyro_op_rows(const struct pyro_plan_tree *plan, uint32_t op);
/* Bytes that it made or read, as far as a metric says: written output, data size, shuffle bytes, size of files read.
 * PYRO_NONE when none does. */
int64_t pyro_op_bytes(const struct pyro_plan_tree *plan, uint32_t op);

/* Frames only hold other operators (codegen, InputAdapter, AdaptiveSparkPlan, query stages, AQE readers). */
bool pyro_op_is_frame(const struct pyro_plan_op *op);
/* The operator itself, or the first one below it that is not a frame. */
uint32_t pyro_op_unframe(const struct pyro_plan_tree *plan, uint32_t op);
/* Child number `index` (0: left), below frames. */
uint32_t pyro_op_input(const struct pyro_plan_tree *plan, uint32_t op, unsigned index);
unsigned pyro_op_input_count(const struct pyro_plan_tree *plan, uint32_t op);
/* The nearest operator above that is not a frame. */
uint32_t pyro_op_consumer(const struct pyro_plan_tree *plan, uint32_t op);
/* Of `op` and what feeds it without another exchange or a second input between: the first of that class. */
uint32_t pyro_op_feed(const struct pyro_plan_tree *plan, uint32_t op, enum pyro_operator_class class);
bool pyro_class_is_join(enum pyro_operator_class class);
bool pyro_class_is_exchange(enum pyro_operator_class class); /* shuffle, broadcast, reused */
/* For a reused exchange the exchange below it; any other operator itself. */
uint32_t pyro_op_exchange(const struct pyro_plan_tree *plan, uint32_t op);

/* Value of "KEY: VALUE" in a scan's metadata ("Location", "PushedFilters", "PartitionFilters", "ReadSchema", "Format");
 * a null slice when it has none. */
struct pyro_slice pyro_op_metadata(const struct pyro_plan_tree *plan, uint32_t op, const char *key);
/* Whether its text (name with arguments) has `part` in it. */
bool pyro_op_says(const struct pyro_plan_tree *plan, uint32_t op, const char *part);

#endif
