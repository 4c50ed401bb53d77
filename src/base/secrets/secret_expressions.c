#include "base/secrets/secret_expressions.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/secrets/secret_forms.h"
#include "base/strings/slice.h"

static const char names[] = "(?i)" SPARK_WORDS;
static const char more_names[] = "(?i)" MORE_WORDS;
static const char options[] = "(?i)" SPARK_OPTIONS;

static const char spark_text[] = "(?i)(?:" NAMED_FORMS(SPARK_WORDS, SPARK_CLEAR) ")" VALUE;
static const char wide_text[] =
    "(?i)(?:" NAMED_FORMS(SPARK_WORDS "|" MORE_WORDS, MORE_CLEAR) TUPLE_FORMS(SPARK_WORDS "|" MORE_WORDS) ")" VALUE;
static const char headers[] = "(?i)(?|(?:" HEADER_FORMS ")" VALUE WHOLE_FORMS(SPARK_WORDS "|" MORE_WORDS) ")";
static const char shapes[] = "(?i)(?|" ADDRESS_FORMS "|(" SHAPED_FORMS "))";

/* An option as plans ([a=b, c=d], Map(a -> b)) and statements (OPTIONS (a 'b', `c` = 'd')) write it. A value that opens
 * a list is a list of columns. */
static const char pairs[] = "(?<![^\\[({,\\s])[`\"']?([A-Za-z_][\\w.\\-]{0,127})[`\"']?"
                            "(?:(?:=|\\s->\\s)(?![\\[({#])|\\s*=?\\s*(?=['\"]))"
                            "(\"[^\"]*(?:\"|\\z)|'[^']*(?:'|\\z)|[^\\s,)\\]}\"']+)";

static void discard(struct pyro_secret_expressions *made)
{
    struct pyro_pattern *const patterns[] = {made->names,   made->more_names, made->options, made->text,
                                             made->headers, made->shapes,     made->pairs};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
        pyro_pattern_free(patterns[i]);
    free(made);
}

static struct pyro_secret_expressions *make(enum pyro_redaction how)
{
    struct pyro_secret_expressions *made = calloc(1, sizeof(*made));
    bool wide = how == PYRO_REDACT_WIDE;
    if (!made)
        return NULL;
#define FIXED(pattern) pyro_pattern_new_fixed(pattern, sizeof(pattern) - 1)
    made->names = FIXED(names);
    made->options = FIXED(options);
    made->pairs = FIXED(pairs);
    made->text = wide ? FIXED(wide_text) : FIXED(spark_text);
    made->more_names = wide ? FIXED(more_names) : NULL;
    made->headers = wide ? FIXED(headers) : NULL;
    made->shapes = wide ? FIXED(shapes) : NULL;
#undef FIXED
    if (made->names && made->options && made->pairs && made->text &&
        (!wide || (made->more_names && made->headers && made->shapes)))
        return made;
    discard(made);
    return NULL;
}

const struct pyro_secret_expressions *pyro_secret_expressions(enum pyro_redaction how)
{
    static _Atomic(struct pyro_secret_expressions *) kept[2];
    _Atomic(struct pyro_secret_expressions *) *place = &kept[how == PYRO_REDACT_WIDE];
    struct pyro_secret_expressions *found = atomic_load_explicit(place, memory_order_acquire);
    if (found)
        return found;
    struct pyro_secret_expressions *made = make(how);
    if (!made || atomic_compare_exchange_strong(place, &found, made))
        return made;
    discard(made); /* another thread was first */
    return found;
}

uint64_t pyro_secret_expressions_key(enum pyro_redaction how)
{
    static const char harmless[] =
#define PYRO_HARMLESS_NAME(name, value, reason) name "=" #value ";"
#include "base/secrets/harmless_names.def"
#undef PYRO_HARMLESS_NAME
        ;
    static const char *const of_spark[] = {names, options, pairs, spark_text, harmless};
    static const char *const of_wide[] = {names, options, pairs, wide_text, headers, shapes, more_names, harmless};
    bool wide = how == PYRO_REDACT_WIDE;
    uint64_t key = 1 + (uint64_t)how; /* counted up when code other than the expressions changes what is hidden */
    for (size_t i = 0; i < (wide ? sizeof(of_wide) : sizeof(of_spark)) / sizeof(*of_wide); i++)
        key = pyro_hash_mix(key ^ pyro_hash_slice(pyro_slice_from(wide ? of_wide[i] : of_spark[i])));
    return key;
}
