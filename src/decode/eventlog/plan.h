/* SparkPlanInfo: the tree of operators inside SQL events. */
#ifndef PYRO_DECODE_EVENTLOG_PLAN_H
#define PYRO_DECODE_EVENTLOG_PLAN_H

#include "decode/builder.h"

/* Keeps the text of an execution's newest plan (a JSON value), in place of what was known of it. False: no memory. */
bool pyro_plan_keep(struct pyro_builder *builder, size_t sql_row, struct pyro_slice text);
/* Counts the joins in a plan's text by their names, by class from PYRO_OPERATOR_SORT_MERGE_JOIN on. */
void pyro_plan_count_joins(struct pyro_slice text, uint16_t counts[PYRO_JOIN_KINDS]);
/* Decodes the text that is kept, if any: nodes, parents before children, and their metrics. A plan that cannot be read
 * leaves none, and its error. */
void pyro_plan_settle(struct pyro_builder *builder, size_t sql_row);
/* Keeps the newest plan among the earlier ones, before another takes its place; beyond a limit none is kept. False: no
 * memory. */
bool pyro_plan_keep_earlier(struct pyro_builder *builder, size_t sql_row);
void pyro_plan_done(struct pyro_builder *builder, struct pyro_sql_plan *plan);

#endif
