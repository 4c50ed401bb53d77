#include "serve/catalog/counted.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SIZE_BYTES = 16 }; /* the size of a piece stands before it; keeps the alignment that malloc() gives */

struct counted {
    struct pyro_allocator allocator;
    const struct pyro_allocator *below;
    atomic_uint_fast64_t bytes;
    atomic_int references;
};

static void *reallocate(void *context, void *memory, size_t size)
{
    struct counted *counted = context;
    char *block = memory ? (char *)memory - SIZE_BYTES : NULL;
    size_t before = 0;
    if (block)
        memcpy(&before, block, sizeof(before));
    block = size > SIZE_MAX - SIZE_BYTES ? NULL : pyro_reallocate(counted->below, block, size + SIZE_BYTES);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof(size));
    atomic_fetch_add_explicit(&counted->bytes, (uint64_t)size - before, memory_order_relaxed);
    return block + SIZE_BYTES;
}

static void *allocate(void *context, size_t size)
{
    return reallocate(context, NULL, size);
}

static void release(void *context, void *memory)
{
    struct counted *counted = context;
    size_t size;
    if (!memory)
        return;
    memcpy(&size, (char *)memory - SIZE_BYTES, sizeof(size));
    atomic_fetch_sub_explicit(&counted->bytes, size, memory_order_relaxed);
    pyro_release(counted->below, (char *)memory - SIZE_BYTES);
}

struct counted *pyro_counted_new(const struct pyro_allocator *below)
{
    struct counted *counted = pyro_allocate(NULL, sizeof(*counted));
    if (!counted)
        return NULL;
    counted->below = below;
    counted->allocator = (struct pyro_allocator){allocate, reallocate, release, counted};
    atomic_init(&counted->bytes, 0);
    atomic_init(&counted->references, 1);
    return counted;
}

struct counted *pyro_counted_retain(struct counted *counted)
{
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pyro_counted_release(struct counted *counted)
{
    if (counted && atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) == 1)
        pyro_release(NULL, counted);
}

const struct pyro_allocator *pyro_counted_allocator(const struct counted *counted)
{
    return &counted->allocator;
}

uint64_t pyro_counted_bytes(const struct counted *counted)
{
    return atomic_load_explicit(&counted->bytes, memory_order_relaxed);
}
