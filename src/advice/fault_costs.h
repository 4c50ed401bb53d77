/* What faults cost, so that the costs of all findings add up to no more than the run. */
#ifndef PYRO_ADVICE_FAULT_COSTS_H
#define PYRO_ADVICE_FAULT_COSTS_H

#include "rules/rule.h"

/* Fills `full_costs` and `costs` of findings that are priced; folded ones cost nothing that is known. False: no
 * memory. */
bool pyro_findings_cost(const struct pyro_app *app, struct pyro_finding *findings, size_t count);

/* A finding's part of what its action saves: no more than it costs, where that is known. These may be summed up. */
struct pyro_saving pyro_finding_part(const struct pyro_finding *finding);

#endif
