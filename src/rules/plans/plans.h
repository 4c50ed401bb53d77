/* The plans of the application's SQL executions, for rules: analyze/plans/plan_tree.h. */
#ifndef PYRO_RULES_PLANS_PLANS_H
#define PYRO_RULES_PLANS_PLANS_H

#include "analyze/plans/plan_tree.h"
#include "rules/rule.h"

/* Made once a diagnosis, before its rules run. */
const struct pyro_plans *pyro_rule_plans(struct pyro_rule_context *context);

#endif
