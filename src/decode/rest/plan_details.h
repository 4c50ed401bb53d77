/* What operators of a plan do, from the plan's description: the texts that the drawn plan lacks. */
#ifndef PYRO_DECODE_REST_PLAN_DETAILS_H
#define PYRO_DECODE_REST_PLAN_DETAILS_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "base/strings/slice.h"

struct pyro_rest_operator {
    struct pyro_slice name; /* as the description's tree has it: "SortMergeJoin Inner" */
    int64_t number;         /* of its paragraph, -1: it has none and `name` says all */
};

struct pyro_rest_details {
    const struct pyro_allocator *allocator;
    struct pyro_slice text; /* a JSON string's contents, escapes as they are written */
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_rest_operator) operators; /* in the tree's order */
    PYRO_VEC(size_t) paragraphs;                   /* by number: 1 + where its first line begins, 0: there is none */
    size_t next;
    size_t left; /* bytes that may still be read */
};

/* False: no memory; to be released with pyro_rest_details_done() in any case. `text` may be null. */
bool pyro_rest_details_open(struct pyro_rest_details *details, struct pyro_slice text,
                            const struct pyro_allocator *allocator);
void pyro_rest_details_done(struct pyro_rest_details *details);
struct pyro_rest_detail {
    struct pyro_slice text;     /* like Spark's simpleString; null ptr: not known */
    struct pyro_slice metadata; /* of a scan of files: members of a JSON object, without its braces; null ptr: none */
};
/* The next operator of this name. Operators are asked for in the tree's order. Lives as long as `details`. */
struct pyro_rest_detail pyro_rest_details_next(struct pyro_rest_details *details, struct pyro_slice name);

#endif
