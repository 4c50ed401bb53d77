/* Values that nobody should read in a report. */
#ifndef PYRO_REPORT_SECRETS_H
#define PYRO_REPORT_SECRETS_H

#include <stdbool.h>

#include "base/slice.h"

/* What a secret is shown as: Spark's own words. */
extern const char pyro_redacted[];

/* Whether a property's name or value speaks of a secret. Spark redacts the same when it writes a log, unless told
 * otherwise by spark.redaction.regex: names and values with "secret", "password", "token", "access.key" in any case;
 * and beyond that credentials, API and private keys, and user information in URLs. */
bool pyro_is_secret(struct pyro_slice key, struct pyro_slice value);

#endif
