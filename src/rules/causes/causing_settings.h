/* Names settings as causes in the findings of other rules. */
#ifndef PYRO_RULES_CAUSES_CAUSING_SETTINGS_H
#define PYRO_RULES_CAUSES_CAUSING_SETTINGS_H

#include "rules/rule.h"

/* Where a finding shows the symptom of a setting that the run changed from its default, says so in its cause, and adds
 * the advice to set it back, before what needs the program to change. Not where a finding advises that setting already:
 * it knows the better value. False when there is no memory. */
bool pyro_name_causing_settings(struct pyro_rule_context *context, struct pyro_finding_list *findings);

#endif
