/* Findings as their actions have them. */
#ifndef PYRO_ADVICE_FINDINGS_BY_ACTION_H
#define PYRO_ADVICE_FINDINGS_BY_ACTION_H

#include "advice/advice.h"

/* Before actions are made: keeps order, severities and advice that findings have by themselves; the next time puts them
 * back, and what each saves by itself. */
void pyro_findings_put_back(struct pyro_diagnosis *diagnosis);
/* Once actions and plans are made: each finding saves what its action does, its severity follows from that and from
 * what it costs, and findings are in the order of their actions. False: no memory. */
bool pyro_findings_follow_actions(struct pyro_diagnosis *diagnosis);

#endif
