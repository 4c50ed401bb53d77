/* Values that are derived from an answer: references in braces, numbers, + - * /, parentheses and dates.
 *
 *     {/app/memorySeconds} / 3600
 *     date({/startDateTime}, "%d-%m-%Y %H:%M:%S %z") - {run.start_ms}
 *
 * A reference is a JSON pointer into the answer, or {agg.NAME}, {tag.KEY}, {property.KEY}, {run.FIELD} of the run. One
 * that is alone may be a text; everything else is a number. What is not known, and what cannot be computed, has no
 * value. */
#ifndef PYRO_FLEET_CRAWL_EXPRESSION_H
#define PYRO_FLEET_CRAWL_EXPRESSION_H

#include <jansson.h>

#include "base/error.h"
#include "base/memory/arena.h"
#include "store/run.h"

struct pyro_expression;

struct pyro_derived {
    enum { PYRO_DERIVED_NOTHING, PYRO_DERIVED_NUMBER, PYRO_DERIVED_TEXT } kind;
    double number; /* finite */
    struct pyro_slice text;
};

/* PYRO_ERROR_ARGUMENT: the message says where it is wrong. *ret is in the arena. */
enum pyro_status pyro_expression_parse(struct pyro_arena *arena, struct pyro_slice text,
                                       const struct pyro_expression **ret, struct pyro_error *error);
/* Texts belong to the document, the run, or its arena. */
struct pyro_derived pyro_expression_value(const struct pyro_expression *expression, const json_t *document,
                                          struct pyro_run *run);
/* The value at a JSON pointer (RFC 6901), or NULL. */
const json_t *pyro_json_at(const json_t *document, struct pyro_slice pointer);
/* Seconds and milliseconds of a date by a format of strptime(); false: it is not one. Without a zone it is UTC. */
bool pyro_parse_date(const char *text, const char *format, int64_t *ret_ms);

#endif
