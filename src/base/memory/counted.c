#include "base/memory/counted.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/allocator.h"

enum { SIZE_BYTES = 16 }; /* the size of a piece is stored before it; keeps the alignment that malloc() gives */

struct pyro_counted {
    struct pyro_allocator allocator;
    struct pyro_counted_options options;
    atomic_uint_fast64_t bytes;
    atomic_int references;
};

static void *reallocate(void *context, void *memory, size_t size)
{
    struct pyro_counted *counted = context;
    char *block = memory ? (char *)memory - SIZE_BYTES : NULL;
    size_t before = 0;
    if (block)
        memcpy(&before, block, sizeof(before));
    const struct pyro_counted_options *options = &counted->options;
    if (size > SIZE_MAX - SIZE_BYTES || (options->allows && !options->allows(options->context, before, size)))
        return NULL;
    block = pyro_reallocate(options->below, block, size + SIZE_BYTES);
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
    struct pyro_counted *counted = context;
    size_t size;
    if (!memory)
        return;
    memcpy(&size, (char *)memory - SIZE_BYTES, sizeof(size));
    atomic_fetch_sub_explicit(&counted->bytes, size, memory_order_relaxed);
    pyro_release(counted->options.below, (char *)memory - SIZE_BYTES);
}

struct pyro_counted *pyro_counted_new(const struct pyro_counted_options *options)
{
    struct pyro_counted *counted = pyro_allocate(NULL, sizeof(*counted));
    if (!counted)
        return NULL;
    counted->options = options ? *options : (struct pyro_counted_options){0};
    counted->allocator = (struct pyro_allocator){sizeof(struct pyro_allocator), allocate, reallocate, release, counted};
    atomic_init(&counted->bytes, 0);
    atomic_init(&counted->references, 1);
    return counted;
}

struct pyro_counted *pyro_counted_retain(struct pyro_counted *counted)
{
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pyro_counted_release(struct pyro_counted *counted)
{
    if (counted && atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) == 1)
        pyro_release(NULL, counted);
}

const struct pyro_allocator *pyro_counted_allocator(const struct pyro_counted *counted)
{
    return &counted->allocator;
}

uint64_t pyro_counted_bytes(const struct pyro_counted *counted)
{
    return atomic_load_explicit(&counted->bytes, memory_order_relaxed);
}
