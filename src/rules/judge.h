/* The part of the engine that may use several threads: what they say never depends on how many there are. */
#ifndef PYRO_RULES_JUDGE_H
#define PYRO_RULES_JUDGE_H

#include "rules/rule.h"

/* Runs every rule: fills the diagnosis' outcomes, plans and replay and *ret, all findings in the order of the
 * catalogue, with what their remedies save. `threads` is a wish. False: no memory, or stopped. */
bool pyro_rules_judge(struct pyro_diagnosis *diagnosis, const struct pyro_config *config, unsigned threads,
                      const struct pyro_stop *stop, struct pyro_finding_list *ret);

#endif
