/* SparkPlanInfo: the tree of operators inside SQL events. */
#ifndef PYRO_DECODE_EVENTLOG_PLAN_H
#define PYRO_DECODE_EVENTLOG_PLAN_H

#include "decode/builder.h"

/* Keeps the text of an execution's newest plan (a JSON value), in place of what was known of it. False: no memory. */
bool pyro_plan_keep(struct pyro_builder *builder, size_t sql_row, struct pyro_slice text);
/* Decodes the text that is kept, if any: nodes, parents before children, and their metrics. A plan that cannot be read
 * leaves none, and its error. */
void pyro_plan_settle(struct pyro_builder *builder, size_t sql_row);
void pyro_plan_done(struct pyro_builder *builder, struct pyro_plan *plan);

#endif
