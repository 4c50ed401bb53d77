/* Inside of the allocation: fixed-point shares, and which attempts were work done for nothing. */
#ifndef PYRO_COST_SHARE_H
#define PYRO_COST_SHARE_H

#include "analyze/accounts/core.h"
#include "cost/cost.h"

/* Whole units of fixed-point shares whose sum is `total`, except what their own rounding lost. False: no memory. */
bool pyro_round_shares(const struct pyro_allocator *allocator, const pyro_fixed *shares, size_t count, int64_t total,
                       int64_t *ret);

/* By task: PYRO_COST_USEFUL, PYRO_COST_SPECULATIVE or PYRO_COST_RETRIED. NULL: no memory. */
uint8_t *pyro_classify_tasks(const struct pyro_app *app);

#endif
