/* The expressions of secret_forms.h, compiled. */
#ifndef PYRO_BASE_SECRETS_SECRET_EXPRESSIONS_H
#define PYRO_BASE_SECRETS_SECRET_EXPRESSIONS_H

#include <stdint.h>

#include "base/strings/pattern.h"
#include "pyrometer.h"

struct pyro_secret_expressions {
    struct pyro_pattern *names;      /* of properties, as Spark has them */
    struct pyro_pattern *more_names; /* beyond Spark's; NULL where Spark's alone hold */
    struct pyro_pattern *options;    /* names of options of plans and statements */
    struct pyro_pattern *text;       /* secrets that a name announces; group 1: the secret */
    struct pyro_pattern *headers;    /* the same of headers and the like; NULL like more_names */
    struct pyro_pattern *shapes; /* secrets that are known by their shape; group 1: the secret; NULL like more_names */
    struct pyro_pattern *pairs;  /* an option as plans and statements write it; 1: its name, 2: its value */
};

/* Made at the first call in the process and then never freed: folders hold thousands of small logs. Each expression is
 * compiled when it is first matched. For all threads. NULL: no memory; the next call tries again. */
const struct pyro_secret_expressions *pyro_secret_expressions(enum pyro_redaction how);

/* Names a way of redacting, with the expressions of this version: what was kept under another key was redacted
 * otherwise. */
uint64_t pyro_secret_expressions_key(enum pyro_redaction how);

#endif
