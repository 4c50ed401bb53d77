/* Rules run side by side: what they say never depends on how many threads there are. */
#ifndef PYRO_RULES_JUDGE_H
#define PYRO_RULES_JUDGE_H

#include "rules/rule.h"

/* Work that needs no rule, done while the last of them run. */
struct pyro_beside {
    enum pyro_status (*work)(void *context, struct pyro_error *error);
    void *context;
};

/* Of `threads`, those that are worth starting for this application. */
unsigned pyro_rules_useful_threads(const struct pyro_app *app, unsigned threads);

/* Runs every rule: fills the diagnosis' outcomes and plans, and *ret, all findings in the order of the catalog,
 * without what fixing them saves. `threads` is a wish; `beside` may be NULL. PYRO_ERROR_CANCELLED: stopped. */
enum pyro_status pyro_rules_judge(struct pyro_diagnosis *diagnosis, const struct pyro_config *config, unsigned threads,
                                  const struct pyro_beside *beside, const struct pyro_stop *stop,
                                  struct pyro_finding_list *ret, struct pyro_error *error);

#endif
