/* The bill: which prices a run needs, what they make, and whose share it is. */
#ifndef PYRO_COST_MONEY_H
#define PYRO_COST_MONEY_H

#include "cost/cost.h"
#include "cost/prices.h"

struct pyro_money_options {
    const char *currency; /* NULL: the prices' own */
    const char *instance; /* instead of what the log says; NULL: that */
    const char *region;
    const char *purchase; /* "on-demand" where NULL */
};

/* What an hour of a node of this type costs where this run took place, surcharges included, in millionths of the bill's
 * currency; NaN: unknown. */
double pyro_node_hour(const struct pyro_cost *cost, const struct pyro_prices *prices,
                      const struct pyro_money_options *options, struct pyro_slice instance);

/* Prices the cost and shares the money out to parts, stages, jobs, SQL executions and pools. PYRO_ERROR_ARGUMENT: the
 * currency cannot be reached. */
enum pyro_status pyro_cost_price(struct pyro_cost *cost, const struct pyro_prices *prices,
                                 const struct pyro_money_options *options, struct pyro_error *error);

#endif
