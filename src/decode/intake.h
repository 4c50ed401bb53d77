/* The way of every text of a log into a model.
 *
 * A model's texts lie in its string pool. While it is built, an intake is that pool's gate: whatever is interned, by
 * whom ever, loses its secrets first, once a distinct text, and the original is kept nowhere. What needs to know more
 * than the text (a plan, a property's name, a text that is cut) asks here. */
#ifndef PYRO_DECODE_INTAKE_H
#define PYRO_DECODE_INTAKE_H

#include "base/collections/map.h"
#include "base/secrets/secrets.h"
#include "base/strings/intern.h"
#include "base/strings/strbuf.h"

/* For one thread at a time. */
struct pyro_intake {
    struct pyro_string_pool *pool;
    struct pyro_secrets secrets;
    struct pyro_strbuf buffer, gate_buffer;
    struct pyro_map seen;     /* hash of a text that was looked at as a plan, or that holds a secret -> number + 1 */
    struct pyro_id_set plans; /* numbers of texts that are plans and statements */
    bool failed;              /* no memory */
};

/* Memory was wanting: what was kept may lack texts, or not know what is to be hidden. */
static inline bool pyro_intake_failed(const struct pyro_intake *intake)
{
    return intake->failed || intake->secrets.failed;
}

/* Becomes the gate of the pool, which must outlive it or be left. */
void pyro_intake_init(struct pyro_intake *intake, struct pyro_string_pool *pool, enum pyro_redaction how,
                      const struct pyro_allocator *allocator);
void pyro_intake_done(struct pyro_intake *intake);
/* The pool goes on alone: nothing of the log is added to it any more. */
void pyro_intake_leave(struct pyro_intake *intake);

/* Number of a plan or a statement; UINT32_MAX: no memory. */
uint32_t pyro_intake_plan(struct pyro_intake *intake, struct pyro_slice text);
/* The text up to about `limit` bytes, at a character's border. What lies behind is looked at too as far as needed: a
 * cut may leave the beginning of a secret. 0: all of it. */
struct pyro_slice pyro_intake_prefix(struct pyro_intake *intake, struct pyro_slice text, size_t limit, bool plan);
/* As much of a text as pyro_intake_prefix() looks at. */
size_t pyro_intake_window(size_t limit);
/* The same written behind what the buffer holds, not yet interned. */
void pyro_intake_add_prefix(struct pyro_intake *intake, struct pyro_slice text, size_t limit, struct pyro_strbuf *to);
/* A property's value, which its name may forbid to show. `as_spark`: what Spark's server redacts, by the value too. */
struct pyro_slice pyro_intake_value(struct pyro_intake *intake, struct pyro_slice key, struct pyro_slice value,
                                    bool as_spark);
/* Whether the value, kept already, is to be replaced by PYRO_REDACTED. */
bool pyro_intake_forbids(struct pyro_intake *intake, struct pyro_slice key, struct pyro_slice value, bool as_spark);
/* Part of a record that could not be read: nothing of it where the log's own expression for names finds anything. */
struct pyro_slice pyro_intake_excerpt(struct pyro_intake *intake, struct pyro_slice text, size_t limit);
/* A text without its secrets, of which only a part is kept; valid until the next call with this intake. */
struct pyro_slice pyro_intake_clean(struct pyro_intake *intake, struct pyro_slice text);
/* False: none of the texts in these bytes holds a secret. */
bool pyro_intake_suspects(struct pyro_intake *intake, struct pyro_slice bytes);
/* The log's own expressions have changed: all that was kept is looked at again. *ret, NULL where no text changed, says
 * what has become of the rows' texts; pyro_renewal_done() is the caller's. False: no memory. */
bool pyro_intake_look_again(struct pyro_intake *intake, struct pyro_renewal **ret);
/* Whether a text is a number: a count, whatever its name is. */
bool pyro_is_count(struct pyro_slice text);
/* Cuts a text before it is kept, at a character's border. */
struct pyro_slice pyro_build_cut(struct pyro_slice text, size_t limit);

#endif
