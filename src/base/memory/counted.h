/* Memory, counted: an allocator that knows how much it has given out. */
#ifndef PYRO_BASE_MEMORY_COUNTED_H
#define PYRO_BASE_MEMORY_COUNTED_H

#include <stdbool.h>

#include "pyrometer.h"

/* Shared by all that was made with it, since an allocator must outlive that. */
struct pyro_counted;

struct pyro_counted_options {
    const struct pyro_allocator *below; /* where it has it from, which must outlive it; NULL: malloc() */
    /* Whether a block may grow from `before` bytes (0: there is none) to `size`; NULL: always. */
    bool (*allows)(void *context, size_t before, size_t size);
    void *context;
};

/* `options` NULL: malloc(), without a limit. NULL: no memory. */
struct pyro_counted *pyro_counted_new(const struct pyro_counted_options *options);
struct pyro_counted *pyro_counted_retain(struct pyro_counted *counted);
void pyro_counted_release(struct pyro_counted *counted); /* NULL is ignored */
const struct pyro_allocator *pyro_counted_allocator(const struct pyro_counted *counted);
/* That are given out now. */
uint64_t pyro_counted_bytes(const struct pyro_counted *counted);

#endif
