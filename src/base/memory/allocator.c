#include "base/memory/allocator.h"

#include <stdlib.h>

void *pyro_allocate(const struct pyro_allocator *allocator, size_t size)
{
    return allocator ? allocator->allocate(allocator->context, size) : malloc(size);
}

void *pyro_reallocate(const struct pyro_allocator *allocator, void *memory, size_t size)
{
    return allocator ? allocator->reallocate(allocator->context, memory, size) : realloc(memory, size);
}

void pyro_release(const struct pyro_allocator *allocator, const void *memory)
{
    if (!memory)
        return;
    if (allocator)
        allocator->release(allocator->context, pyro_unconst(memory));
    else
        free(pyro_unconst(memory));
}
