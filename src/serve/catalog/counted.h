/* Memory, counted: an allocator that knows how much it has given out. */
#ifndef PYRO_SERVE_CATALOG_COUNTED_H
#define PYRO_SERVE_CATALOG_COUNTED_H

#include "pyrometer.h"

/* Shared by all that was made with it, since an allocator must outlive that. */
struct counted;

/* `below`: where it has it from, which must outlive it; NULL: malloc(). NULL: no memory. */
struct counted *pyro_counted_new(const struct pyro_allocator *below);
struct counted *pyro_counted_retain(struct counted *counted);
void pyro_counted_release(struct counted *counted);
const struct pyro_allocator *pyro_counted_allocator(const struct counted *counted);
uint64_t pyro_counted_bytes(const struct counted *counted);

#endif
