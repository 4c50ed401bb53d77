/* What to do about a kind of failure. */
#ifndef PYRO_RULES_FIXES_FAILURE_ADVICE_H
#define PYRO_RULES_FIXES_FAILURE_ADVICE_H

#include "model/failure_kinds.h"

/* One or two sentences. */
const char *pyro_failure_advice(enum pyro_failure_kind kind);

#endif
