/* An option of the JVM that keeps it from compiling its code, as a setting to blame. */
#ifndef PYRO_RULES_CAUSES_JVM_SUSPECT_H
#define PYRO_RULES_CAUSES_JVM_SUSPECT_H

#include "rules/causes/suspects.h"

/* False: the JVMs of tasks have none, or there is no memory (then context->failed is set). */
bool pyro_jvm_suspect(struct pyro_rule_context *context, struct pyro_suspect *ret);

#endif
