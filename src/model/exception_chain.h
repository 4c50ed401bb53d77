/* An exception with its causes, out of a text: as Java and Scala write it, as Python writes it, and both joined as
 * PySpark does, in either direction. */
#ifndef PYRO_MODEL_EXCEPTION_CHAIN_H
#define PYRO_MODEL_EXCEPTION_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"

enum { PYRO_CHAIN_MOST = 16, PYRO_CHAIN_FRAMES = 32 };

/* Slices of the text. */
struct pyro_exception {
    struct pyro_slice name;    /* "java.lang.ArithmeticException", "ValueError" */
    struct pyro_slice message; /* its first line; may be empty */
    uint64_t frames;           /* hash of its frames, without line numbers and digits */
    unsigned frame_count;      /* that went into it */
};

struct pyro_user_frame {
    struct pyro_slice text; /* "etl.Load.parse(Load.scala:44)", 'load.py", line 12, in parse' */
    uint64_t owner;         /* number of its exception while the text is read */
};

struct pyro_exception_chain {
    struct pyro_exception
        items[PYRO_CHAIN_MOST]; /* outermost first, the root last; of longer chains the first and last */
    size_t count;
    struct pyro_user_frame frames[PYRO_CHAIN_FRAMES]; /* of the user's own code, innermost exception that has any */
    size_t frame_count;
    uint64_t hash; /* of the chain of names, the root's message (numbers, addresses and ids aside) and all frames */
};

/* False: the text has no exception; then *ret has count 0. Linear in the text. */
bool pyro_exception_chain_read(struct pyro_slice text, struct pyro_exception_chain *ret);
/* Whether a line without a header begins an exception: of Python, of a JVM's uncaught one or of its end. */
bool pyro_begins_exception(struct pyro_slice line);
/* "Traceback (most recent call last):" or 'Exception in thread "main" ...': always a beginning of something. */
bool pyro_begins_stack(struct pyro_slice line);

static inline const struct pyro_exception *pyro_chain_root(const struct pyro_exception_chain *chain)
{
    return chain->count ? &chain->items[chain->count - 1] : NULL;
}

#endif
