/* What must stay unread: values of properties whose names suggest secrets, and secrets inside other text.
 *
 * Spark redacts both when it writes a log, by spark.redaction.regex and its like. Logs come without that nevertheless:
 * of old versions, with the setting narrowed, and of texts that it does not look into. So Spark's defaults hold here
 * whatever the log's own settings are, those settings in addition, and by default more (secret_forms.h).
 *
 * Who uses this: decode/intake.h, through which every text of a log goes, and the few that read a log otherwise. */
#ifndef PYRO_BASE_SECRETS_SECRETS_H
#define PYRO_BASE_SECRETS_SECRETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/secrets/secret_expressions.h"
#include "base/strings/slice.h"
#include "base/strings/strbuf.h"
#include "pyrometer.h"

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

/* Expressions, compiled when they are first needed; for one thread at a time. Zeroed to begin with, apart from `how`.
 */
struct pyro_secrets {
    enum pyro_redaction how;
    const struct pyro_secret_expressions *fixed;
    struct pyro_pattern *own[PYRO_SECRET_SETTINGS]; /* the log's */
    uint64_t own_hash[PYRO_SECRET_SETTINGS];        /* of their texts; 0: none */
    unsigned own_count[PYRO_SECRET_SETTINGS];       /* expressions so far */
    pcre2_match_data *found, *pair;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack;
    uint64_t steps; /* that an expression of the log may still take */
    size_t last;    /* where its last step was */
    struct pyro_strbuf spare;
    bool failed; /* no memory for them: everything that is asked about counts as a secret, and what was made of it is to
                  * be given up */
};

/* How many expressions a log may have for one setting, one after the other. Each of them makes all earlier texts be
 * looked at again; with the next one, the setting finds everything, and no later one changes that. */
enum { PYRO_SECRET_EXPRESSIONS_MOST = 8 };

void pyro_secrets_done(struct pyro_secrets *secrets);
/* Whether a setting finds everything since the log has too many expressions for it. */
bool pyro_secrets_overrun(const struct pyro_secrets *secrets);
/* Takes the property, where it is one of the settings; true: texts that were looked at before are to be looked at
 * again. It comes from a log: an expression that is too long, or not understood, is left out, and matching has limits
 * beyond which everything matches. */
bool pyro_secrets_configure(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value);
/* Whether the name of a property says that its value is a secret. */
bool pyro_secrets_name(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value);
/* Whether a property's value must not be shown: by its name, or since Spark's expression or the log's finds something
 * in the value, as Spark has it. */
bool pyro_secrets_property(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value);
/* Whether the log's own spark.redaction.regex finds anything in a text. */
bool pyro_secrets_own_name(struct pyro_secrets *secrets, struct pyro_slice text);
/* The text without its secrets: the values of NAME=VALUE, "NAME": "VALUE" and the like, the password of an address, and
 * what is known by its shape; in JSON, URLs and HTML inside of the text too. It is `text` itself where there is nothing
 * to hide, or in `buffer`, whose `failed` is set where memory runs out. A text that was redacted stays as it is. */
struct pyro_slice pyro_secrets_text(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer);
/* The same of a plan or a statement, whose options (NAME=VALUE in brackets, NAME 'VALUE', NAME -> VALUE) are shown only
 * where spark.sql.redaction.options.regex does not find their names or values. */
struct pyro_slice pyro_secrets_plan(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer);

/* False: nothing is to be hidden in these bytes, by a quick look. */
bool pyro_secrets_suspects(const struct pyro_secrets *secrets, struct pyro_slice bytes);

#endif
