/* Settings that the program itself changes, so that a value given at the start has no effect. */
#ifndef PYRO_ADVICE_PROGRAM_H
#define PYRO_ADVICE_PROGRAM_H

#include "rules/rule.h"

/* The value to which the session changed a setting for most of the task time of the SQL executions that a finding is
 * about (spark.conf.set, SET); a null slice where it did not, or where the log does not say. */
struct pyro_slice pyro_program_sets(const struct pyro_app *app, const struct pyro_finding *finding,
                                    struct pyro_slice key);

#endif
