/* Growable arrays: struct { T *items; size_t count, capacity; } with T's size taken from the items pointer. */
#ifndef PYRO_BASE_COLLECTIONS_VEC_H
#define PYRO_BASE_COLLECTIONS_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/memory/allocator.h"

#define PYRO_VEC(type)                                                                                                 \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count, capacity;                                                                                        \
    }

/* Makes room for `more` items; false when there is no memory. */
bool pyro_vec_grow(void **items, size_t *capacity, size_t count, size_t more, size_t item_size,
                   const struct pyro_allocator *allocator);

#define pyro_vec_reserve(vec, more, allocator)                                                                         \
    ((vec)->capacity - (vec)->count >= (size_t)(more) ||                                                               \
     pyro_vec_grow((void **)&(vec)->items, &(vec)->capacity, (vec)->count, (more), sizeof(*(vec)->items),              \
                   (allocator)))

/* Pointer to a new zeroed item at the end, or NULL when there is no memory. */
#define pyro_vec_push(vec, allocator)                                                                                  \
    (pyro_vec_reserve(vec, 1, allocator) ? memset(&(vec)->items[(vec)->count++], 0, sizeof(*(vec)->items)) : NULL)

/* Gives back the room behind the last item. */
void pyro_vec_trim(void **items, size_t *capacity, size_t count, size_t item_size,
                   const struct pyro_allocator *allocator);

#define pyro_vec_fit(vec, allocator)                                                                                   \
    pyro_vec_trim((void **)&(vec)->items, &(vec)->capacity, (vec)->count, sizeof(*(vec)->items), (allocator))

#define pyro_vec_done(vec, allocator)                                                                                  \
    do {                                                                                                               \
        pyro_release((allocator), (vec)->items);                                                                       \
        (vec)->items = NULL;                                                                                           \
        (vec)->count = (vec)->capacity = 0;                                                                            \
    } while (0)

#endif
