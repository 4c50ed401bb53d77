/* The plans of the application's SQL executions, for rules: analyze/plans/plan_tree.h. */
#ifndef PYRO_RULES_PLANS_PLANS_H
#define PYRO_RULES_PLANS_PLANS_H

#include "analyze/plans/lineage.h"
#include "analyze/plans/plan_tree.h"
#include "rules/rule.h"

/* Made once a diagnosis, before its rules run. */
const struct pyro_plans *pyro_rule_plans(struct pyro_rule_context *context);
/* What each stage does with RDDs, in the scratch arena; false when there is no memory, and the rule failed. */
bool pyro_rule_lineage(struct pyro_rule_context *context, struct pyro_lineage *ret);

#endif
