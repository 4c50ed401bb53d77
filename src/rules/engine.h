/* Parts of the engine, apart so that tests reach them. */
#ifndef PYRO_RULES_ENGINE_H
#define PYRO_RULES_ENGINE_H

#include "rules/rule.h"

/* docs/severity.md: from shares of wall and core time saved, failure risk and harm. */
enum pyro_severity pyro_finding_severity(const struct pyro_app *app, const struct pyro_finding *finding);
/* rule ":" place, lower case, digits of run ids taken out (line numbers of source files stay). Null: no memory. */
struct pyro_slice pyro_finding_stable_id(struct pyro_arena *arena, const struct pyro_finding *finding);
/* A text as ids show it, without what changes between runs. Null: no memory. */
struct pyro_slice pyro_stable_place(struct pyro_arena *arena, struct pyro_slice text);
/* Makes equal ids differ: the second gets "-2". Findings are in their final order. False: no memory. */
bool pyro_findings_make_unique(struct pyro_arena *arena, struct pyro_finding *findings, size_t count);
/* One value a key out of all settings of findings above low; conflicts resolved. False: no memory. */
bool pyro_settings_resolve(struct pyro_diagnosis *diagnosis);
/* Fills diagnosis->configuration from the changes and from what the run says of all other properties of interest.
 * False: no memory. */
bool pyro_advise_configuration(struct pyro_diagnosis *diagnosis);
/* Final order: most wall time saved, then core time, then severity, rule, id. For qsort. */
int pyro_finding_compare(const void *left, const void *right);

#endif
