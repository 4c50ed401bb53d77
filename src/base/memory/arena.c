#include "base/memory/arena.h"

#include <stdio.h>

#include "base/memory/allocator.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 1024 * 1024 };

struct pyro_arena_block {
    struct pyro_arena_block *previous;
    size_t size; /* of the payload behind this header */
};

_Static_assert(sizeof(struct pyro_arena_block) % ALIGNMENT == 0, "payload must stay aligned");

void pyro_arena_init(struct pyro_arena *arena, const struct pyro_allocator *allocator)
{
    *arena = (struct pyro_arena){.allocator = allocator};
}

static void free_blocks(struct pyro_arena *arena, struct pyro_arena_block *block)
{
    while (block) {
        struct pyro_arena_block *previous = block->previous;
        pyro_release(arena->allocator, block);
        block = previous;
    }
}

void pyro_arena_done(struct pyro_arena *arena)
{
    free_blocks(arena, arena->head);
    pyro_arena_init(arena, arena->allocator);
}

void pyro_arena_reset(struct pyro_arena *arena)
{
    arena->failed = false;
    struct pyro_arena_block *kept = arena->head;
    if (!kept)
        return;
    free_blocks(arena, kept->previous);
    kept->previous = NULL;
    arena->next = (char *)(kept + 1);
    arena->limit = arena->next + kept->size;
    arena->reserved = sizeof(*kept) + kept->size;
}

static void *new_block(struct pyro_arena *arena, size_t size)
{
    /* Blocks double with use, so that small applications stay small and large ones do few calls. */
    size_t payload = arena->reserved < FIRST_BLOCK ? FIRST_BLOCK : arena->reserved;
    if (payload > LARGEST_BLOCK)
        payload = LARGEST_BLOCK;
    if (payload < size)
        payload = size;
    struct pyro_arena_block *block = pyro_allocate(arena->allocator, sizeof(*block) + payload);
    if (!block)
        return NULL;
    block->size = payload;
    arena->reserved += sizeof(*block) + payload;
    char *start = (char *)(block + 1);
    if (size > LARGEST_BLOCK / 2 && arena->head) {
        /* A large piece gets a block of its own behind the head: the head's free space stays in use. */
        block->previous = arena->head->previous;
        arena->head->previous = block;
        return start;
    }
    block->previous = arena->head;
    arena->head = block;
    arena->next = start + size;
    arena->limit = start + payload;
    return start;
}

void *pyro_arena_alloc(struct pyro_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size == 0)
        size = ALIGNMENT;
    void *memory;
    if ((size_t)(arena->limit - arena->next) >= size) {
        memory = arena->next;
        arena->next += size;
    } else {
        memory = new_block(arena, size);
        if (!memory) {
            arena->failed = true;
            return NULL;
        }
    }
    return memset(memory, 0, size);
}

void *pyro_arena_array(struct pyro_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX; /* which there is not */
    return pyro_arena_alloc(arena, bytes);
}

struct pyro_slice pyro_arena_copy(struct pyro_arena *arena, struct pyro_slice text)
{
    if (!text.ptr)
        return text;
    char *copy = pyro_arena_alloc(arena, text.len + 1);
    if (!copy)
        return PYRO_SLICE_NULL;
    memcpy(copy, text.ptr, text.len);
    return (struct pyro_slice){copy, text.len};
}

struct pyro_slice pyro_arena_vprintf(struct pyro_arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, arguments);
    char *text = len < 0 ? NULL : pyro_arena_alloc(arena, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text ? (struct pyro_slice){text, (size_t)len} : PYRO_SLICE_NULL;
}

struct pyro_slice pyro_arena_printf(struct pyro_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct pyro_slice text = pyro_arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}
