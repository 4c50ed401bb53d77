/* Texts of a log without what may be private: names, paths, queries, hosts. docs/anonymized.md says what stays. */
#ifndef PYRO_EXPORT_REDACT_H
#define PYRO_EXPORT_REDACT_H

#include "base/strings/intern.h"
#include "base/strings/strbuf.h"

/* Replacements, the same for the same word all through a log, numbered in the order of their first appearance. */
struct pyro_redactor {
    struct pyro_string_pool *words, *hosts, *numbers;
};

enum pyro_redact_kind {
    PYRO_REDACT_TEXT,  /* words of Spark's vocabulary and short numbers stay */
    PYRO_REDACT_QUERY, /* so do few numbers: literals of a query are private */
    PYRO_REDACT_HOST,  /* all of it is one name */
    PYRO_REDACT_SCOPE, /* {"id":"1234","name":"Scan"}: all numbers stay */
    PYRO_REDACT_PORT   /* numbers are ports: none stays */
};

bool pyro_redactor_init(struct pyro_redactor *redactor, const struct pyro_allocator *allocator);
void pyro_redactor_done(struct pyro_redactor *redactor);
/* Appends `text`, as between the quotes of a JSON string (escapes not decoded), to `out` in the same form. False: no
 * memory. */
bool pyro_redact(struct pyro_redactor *redactor, enum pyro_redact_kind kind, struct pyro_slice text,
                 struct pyro_strbuf *out);
/* Whether the word (ASCII, any case) is of the vocabulary. */
bool pyro_is_known_word(struct pyro_slice word);

#endif
