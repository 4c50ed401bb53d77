#include "rules/plans/plans.h"

const struct pyro_plans *pyro_rule_plans(struct pyro_rule_context *context)
{
    return context->plans;
}
