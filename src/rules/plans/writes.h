/* What an application wrote: file writes of its queries and RDDs. */
#ifndef PYRO_RULES_PLANS_WRITES_H
#define PYRO_RULES_PLANS_WRITES_H

#include "rules/rule.h"

struct pyro_write {
    size_t stage;                         /* row of the stage whose tasks wrote (the largest output of the query) */
    ptrdiff_t node;                       /* row in app->sql_nodes, -1 for RDDs */
    double files, bytes;                  /* files: the tasks where Spark does not count them */
    double partitions;                    /* directories of partitionBy(), 0 when there are none or it is not known */
    double task_commit_ms, job_commit_ms; /* sum over tasks; on the driver. NaN where Spark does not say */
};

struct pyro_writes {
    PYRO_VEC(struct pyro_write) list;
};

/* False when there is no memory (and context->failed is set). */
bool pyro_writes_load(struct pyro_rule_context *context, struct pyro_writes *ret);
void pyro_writes_done(struct pyro_rule_context *context, struct pyro_writes *writes);

#endif
