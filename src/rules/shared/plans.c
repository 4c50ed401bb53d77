#include "rules/shared/plans.h"

const struct pyro_plans *pyro_rule_plans(struct pyro_rule_context *context)
{
    if (!context->plans)
        context->plans = pyro_plans_new(context->app, context->arena);
    context->failed |= !context->plans;
    return context->plans;
}
