/* What nobody should read in a report: values of properties that speak of secrets, and secrets amid other text.
 *
 * Spark redacts both when it writes a log, by spark.redaction.regex. Logs come without that nevertheless: of old
 * versions, with the setting narrowed, and of texts that it does not look into. */
#ifndef PYRO_BASE_SECRETS_H
#define PYRO_BASE_SECRETS_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>

#include "base/slice.h"
#include "base/strbuf.h"

/* What a secret is shown as: Spark's own words. */
#define PYRO_REDACTED "*********(redacted)"

/* Expressions, compiled when they are first needed; for one thread at a time. Zeroed to begin with. */
struct pyro_secrets {
    pcre2_code *names, *own, *text;
    pcre2_match_data *found;
    pcre2_match_context *limits;
    bool failed; /* no memory for them: everything that is asked about counts as a secret */
};

void pyro_secrets_done(struct pyro_secrets *secrets);
/* Adds the expression that the application itself was run with. It comes from a log: one that is too long, or not
 * understood, is left out, and matching has limits beyond which everything matches. */
void pyro_secrets_add(struct pyro_secrets *secrets, struct pyro_slice expression);
/* Whether a property's name or value has what Spark looks for: "secret", "password", "token" or "access.key" in any
 * case, or what pyro_secrets_add() added. */
bool pyro_secrets_property(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value);
/* The text with the values of NAME=VALUE, "NAME":"VALUE" and URL's user:password@ replaced, where NAME has one of the
 * words; written to `buffer` where anything was, else the text itself. */
struct pyro_slice pyro_secrets_text(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer);

#endif
