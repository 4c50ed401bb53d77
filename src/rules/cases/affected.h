/* The stage attempts that a finding is about: the one that it names, and all others that show the same. */
#ifndef PYRO_RULES_CASES_AFFECTED_H
#define PYRO_RULES_CASES_AFFECTED_H

#include "rules/rule.h"

/* Row `stage` of app->stages shows the fault too. Accepts a finding of NULL, and is safe after memory ran out. */
void pyro_affected_add(struct pyro_rule_context *context, struct pyro_finding *finding, size_t stage);
/* The engine: where the rule added none, those that the finding's edits change; with the named one, each once, in the
 * order of app->stages. */
void pyro_affected_settle(struct pyro_rule_context *context, struct pyro_finding *finding);

#endif
