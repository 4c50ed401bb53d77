/* SQL executions of a history: what Spark's SQLAppStatusStore keeps of each, with the last plan's graph. */
#ifndef PYRO_MODEL_HISTORY_SQL_H
#define PYRO_MODEL_HISTORY_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/strings/slice.h"

/* A node's number is its row. */
struct pyro_history_sql_node {
    struct pyro_slice name;        /* as the plan has it, blanks around it included */
    int64_t cluster;               /* number of the WholeStageCodegen around it; -1: none */
    uint32_t metric, metric_count; /* rows of `metrics` */
};

struct pyro_history_sql_metric {
    struct pyro_slice name, type;
    int64_t accumulator;
};

struct pyro_history_sql_edge {
    int64_t from, to; /* child and parent */
};

struct pyro_history_sql_job {
    int64_t id;
    int status; /* enum pyro_history_job_status */
};

struct pyro_history_sql {
    int64_t id, submitted_ms, completed_ms; /* submitted_ms -1: no event said when */
    bool completed;
    bool has_graph;                             /* an event had its plan */
    bool dropped;                               /* beyond what Spark retains */
    struct pyro_slice description, plan, error; /* error null: unknown; empty: none */
    PYRO_VEC(struct pyro_history_sql_job) jobs; /* in the order of their start */
    PYRO_VEC(int64_t) stages;                   /* of those jobs, each once */
    PYRO_VEC(struct pyro_history_sql_node) nodes;
    PYRO_VEC(struct pyro_history_sql_metric) metrics;
    PYRO_VEC(struct pyro_history_sql_edge) edges;
    struct pyro_map values; /* accumulator -> number of its text in the history's strings + 1 */
};

void pyro_history_sql_init(struct pyro_history_sql *sql, int64_t id);
void pyro_history_sql_done(struct pyro_history_sql *sql);
/* The order in which Scala 2.12 walks its immutable maps and sets of more than four numbers; those with fewer keep the
 * order of insertion. As for qsort. */
int pyro_scala_order(int64_t a, int64_t b);
enum { PYRO_SCALA_SMALL = 4 };

#endif
