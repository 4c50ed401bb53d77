/* The caller's allocator, or malloc where none was given. Sizes are checked by callers before they come here. */
#ifndef PYRO_BASE_MEMORY_ALLOCATOR_H
#define PYRO_BASE_MEMORY_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

#include "pyrometer.h"

void *pyro_allocate(const struct pyro_allocator *allocator, size_t size);
/* `memory` may be NULL; on failure returns NULL and leaves `memory` unchanged. */
void *pyro_reallocate(const struct pyro_allocator *allocator, void *memory, size_t size);
void pyro_release(const struct pyro_allocator *allocator, const void *memory);

/* Memory that is const here, where it must not be: to count references, to wipe it before it is freed, and for
 * interfaces that only read and do not say so. Nothing else is written by it. */
static inline void *pyro_unconst(const void *memory)
{
    return (void *)(uintptr_t)memory;
}

#endif
