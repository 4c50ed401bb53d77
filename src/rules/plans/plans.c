#include "rules/plans/plans.h"

const struct pyro_plans *pyro_rule_plans(struct pyro_rule_context *context)
{
    return context->plans;
}

bool pyro_rule_lineage(struct pyro_rule_context *context, struct pyro_lineage *ret)
{
    bool done = pyro_lineage_load(context->app, context->scratch, ret);
    context->failed |= !done;
    return done;
}
