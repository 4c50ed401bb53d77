#include "base/collections/vec.h"

#include <stdint.h>

bool pyro_vec_grow(void **items, size_t *capacity, size_t count, size_t more, size_t item_size,
                   const struct pyro_allocator *allocator)
{
    size_t needed, bytes;
    if (__builtin_add_overflow(count, more, &needed))
        return false;
    size_t wanted = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (wanted < needed)
        wanted = needed;
    if (__builtin_mul_overflow(wanted, item_size, &bytes) || bytes > SIZE_MAX / 2)
        return false;
    void *grown = pyro_reallocate(allocator, *items, bytes);
    if (!grown)
        return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

void pyro_vec_trim(void **items, size_t *capacity, size_t count, size_t item_size,
                   const struct pyro_allocator *allocator)
{
    if (count == 0 || count == *capacity)
        return;
    void *trimmed = pyro_reallocate(allocator, *items, count * item_size);
    if (trimmed) { /* else it keeps its size */
        *items = trimmed;
        *capacity = count;
    }
}
