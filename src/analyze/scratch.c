#include "analyze/scratch.h"

void *pyro_scratch(const struct pyro_app *app, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size, &bytes))
        return NULL;
    void *memory = pyro_allocate(app->allocator, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}
