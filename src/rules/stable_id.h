/* What makes a finding the same in the next run. */
#ifndef PYRO_RULES_STABLE_ID_H
#define PYRO_RULES_STABLE_ID_H

#include "rules/rule.h"

/* rule ":" place, lower case, digits of run ids taken out (line numbers of source files stay). Null: no memory. */
struct pyro_slice pyro_finding_stable_id(struct pyro_arena *arena, const struct pyro_finding *finding);
/* A text as ids show it, without what changes between runs. Null: no memory. */
struct pyro_slice pyro_stable_place(struct pyro_arena *arena, struct pyro_slice text);
/* Makes equal ids differ: the second gets "-2". Findings are in their final order. False: no memory. */
bool pyro_findings_make_unique(struct pyro_arena *arena, struct pyro_finding *findings, size_t count);

#endif
