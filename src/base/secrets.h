/* What nobody should read in a report: values of properties that speak of secrets, and secrets amid other text.
 *
 * Spark redacts both when it writes a log, by spark.redaction.regex and its like. Logs come without that nevertheless:
 * of old versions, with the setting narrowed, and of texts that it does not look into. So Spark's defaults hold here
 * whatever the log's own settings are, and those beside them. */
#ifndef PYRO_BASE_SECRETS_H
#define PYRO_BASE_SECRETS_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>

#include "base/slice.h"
#include "base/strbuf.h"

/* What a secret is shown as: Spark's own words. */
#define PYRO_REDACTED "*********(redacted)"

/* The settings that a log may have; their names are in secrets.c. */
enum pyro_secret_setting {
    PYRO_SECRET_PROPERTIES, /* spark.redaction.regex */
    PYRO_SECRET_OPTIONS,    /* spark.sql.redaction.options.regex */
    PYRO_SECRET_TEXTS,      /* spark.redaction.string.regex */
    PYRO_SECRET_SQL_TEXTS,  /* spark.sql.redaction.string.regex */
    PYRO_SECRET_SETTINGS
};

/* Expressions, compiled when they are first needed; for one thread at a time. Zeroed to begin with. */
struct pyro_secrets {
    pcre2_code *names, *options, *text, *pairs;
    pcre2_code *own[PYRO_SECRET_SETTINGS]; /* the log's */
    pcre2_match_data *found, *pair;
    pcre2_match_context *limits;
    uint64_t steps; /* that an expression of the log may still take */
    size_t last;    /* where its last step was */
    struct pyro_strbuf spare;
    bool failed; /* no memory for them: everything that is asked about counts as a secret, and what was made of it is to
                  * be given up */
};

void pyro_secrets_done(struct pyro_secrets *secrets);
/* Takes the property, where it is one of the settings. It comes from a log: an expression that is too long, or not
 * understood, is left out, and matching has limits beyond which everything matches. */
void pyro_secrets_configure(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value);
/* Whether a property's name or value has what Spark looks for: "secret", "password", "token" or "access.key" in any
 * case, or what the log's spark.redaction.regex finds. */
bool pyro_secrets_property(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value);
/* The text with the values of NAME=VALUE, "NAME":"VALUE" and URL's user:password@ replaced, where NAME has one of the
 * words, and what the log's expressions for texts find; written to `buffer` where anything was, else the text itself.
 */
struct pyro_slice pyro_secrets_text(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer);
/* The same of a plan or a statement, whose options NAME=VALUE are replaced too where name or value has "url" in any
 * case or what the log's spark.sql.redaction.options.regex or spark.redaction.regex finds. */
struct pyro_slice pyro_secrets_plan(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer);

#endif
