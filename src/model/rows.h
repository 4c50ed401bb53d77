/* Row structs, one field for each column of its table: int64_t, double or struct pyro_slice. */
#ifndef PYRO_MODEL_ROWS_H
#define PYRO_MODEL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"
#include "model/operators.h"

/* Joins by class, from PYRO_OPERATOR_SORT_MERGE_JOIN on. */
enum { PYRO_JOIN_KINDS = PYRO_OPERATOR_CARTESIAN - PYRO_OPERATOR_SORT_MERGE_JOIN + 1 };

#define PYRO_FIELD_INT                     int64_t
#define PYRO_FIELD_REAL                    double
#define PYRO_FIELD_TEXT                    struct pyro_slice
#define PYRO_COLUMN(name, type, unit, doc) PYRO_FIELD_##type name;

enum { PYRO_STAGE_RDDS = 256 };

struct pyro_application_row {
#include "model/tables/applications.def"
};
struct pyro_job {
#include "model/tables/jobs.def"
    /* Not columns: */
    bool unstarted;           /* only its end is known: it does not count as a job */
    const int64_t *stage_ids; /* as JobStart lists them, ascending; in the application's arena */
    uint32_t stage_id_count;
    struct pyro_slice tags; /* spark.job.tags: separated by commas */
};
struct pyro_stage {
#include "model/tables/stages.def"
    /* Not columns: */
    const int64_t *parent_ids; /* in the application's arena */
    const int64_t *rdd_ids; /* RDDs that it computes or finds cached, ascending; the newest PYRO_STAGE_RDDS of them */
    uint32_t parent_count, rdd_count;
    uint32_t first_task;            /* its tasks are app->tasks_by_stage[first_task .. first_task + tasks) */
    bool unsubmitted;               /* no StageSubmitted event names it: it does not count as a stage */
    bool real_time;                 /* of a stream in real-time mode: its tasks run as long as the batch is asked to */
    bool merges_shuffle;            /* its output is pushed: it ends when the shuffle services have merged that */
    bool barrier;                   /* its tasks are launched together, and wait for each other where they ask for it */
    struct pyro_slice accumulators; /* of SQL metrics that it updated: in their order, see base/numbers/varint.h */
};
struct pyro_unfinished_task {
#include "model/tables/unfinished_tasks.def"
    /* Not columns; -1: unknown: */
    int32_t stage_row, executor_row;
    bool lost; /* with its executor */
};
struct pyro_executor {
#include "model/tables/executors.def"
    /* Not a column: */
    int64_t blocks_gone_ms; /* its block manager was removed, and no other registered since; 0: it has one */
};
struct pyro_sql_execution {
#include "model/tables/sql.def"
    /* Not columns: */
    bool unstarted;                        /* only later events name it: it does not count as an execution */
    bool real_time;                        /* a batch of a stream in real-time mode */
    int64_t planned_ms;                    /* about when its newest plan was made: no event says it exactly */
    uint16_t first_joins[PYRO_JOIN_KINDS]; /* joins of the plan that it started with, before AQE changed it */
};
struct pyro_sql_node {
#include "model/tables/sql_nodes.def"
    /* Not a column: */
    const struct pyro_operator *known; /* NULL: an unknown operator */
    /* What the operator and all below it compute, as a number that is the same in every query that computes it; 0 if
     * that is not known. `columnless_print` leaves out which columns are read and kept. */
    uint64_t exact_print, columnless_print;
    uint32_t condition_length; /* of a filter's condition, in UTF-16 units and without ids of expressions */
    bool computes;             /* a projection with computed columns */
    bool distinct;             /* an aggregate that only groups */
};
struct pyro_sql_metric {
#include "model/tables/sql_metrics.def"
};
struct pyro_rdd {
#include "model/tables/rdds.def"
    /* Not columns: */
    const int64_t *parent_ids; /* in the application's arena, ascending */
    uint32_t parent_count;
    int64_t cached_from, cached_to; /* first and last stage that name it as persisted */
};
struct pyro_exclusion {
#include "model/tables/exclusions.def"
};
struct pyro_operation {
#include "model/tables/operations.def"
};
struct pyro_process {
#include "model/tables/processes.def"
};
struct pyro_stream_batch {
#include "model/tables/streams.def"
};
struct pyro_failure {
#include "model/tables/failures.def"
};
struct pyro_property {
#include "model/tables/properties.def"
};
struct pyro_reject {
#include "model/tables/rejects.def"
};
struct pyro_attribute {
#include "model/tables/attributes.def"
};

#undef PYRO_COLUMN
#undef PYRO_FIELD_INT
#undef PYRO_FIELD_REAL
#undef PYRO_FIELD_TEXT

#endif
