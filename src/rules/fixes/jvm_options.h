/* Options of JVMs that an application sets: "-Xint -XX:NewRatio=8". */
#ifndef PYRO_RULES_FIXES_JVM_OPTIONS_H
#define PYRO_RULES_FIXES_JVM_OPTIONS_H

#include "rules/rule.h"

/* The property with the options of the JVMs that run tasks. */
const char *pyro_jvm_options_key(const struct pyro_app *app);
/* Its value; null: none. */
struct pyro_slice pyro_jvm_options(const struct pyro_app *app);

/* The first of the options that begins with one of `beginnings`; null: none. A beginning with '$' at its end is a whole
 * option. */
struct pyro_slice pyro_jvm_option(struct pyro_slice options, const char *const *beginnings, size_t count);
/* The options without those that begin with one of `beginnings`, and without what Spark adds by itself; then `added`,
 * which may be "". In the arena of findings; null when there is no memory. */
struct pyro_slice pyro_jvm_options_without(struct pyro_rule_context *context, struct pyro_slice options,
                                           const char *const *beginnings, size_t count, const char *added);

#endif
