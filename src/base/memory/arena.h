/* Bump allocator: one for each application or batch; freeing it is one call.
 *
 * Memory that was handed out never moves, so slices into an arena stay valid until pyro_arena_done().
 * Every function returns NULL (never exits) when the allocator has no memory. */
#ifndef PYRO_BASE_MEMORY_ARENA_H
#define PYRO_BASE_MEMORY_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings/slice.h"
#include "pyrometer.h"

struct pyro_arena_block;

struct pyro_arena {
    const struct pyro_allocator *allocator; /* borrowed; NULL is malloc/free */
    struct pyro_arena_block *head;
    char *next, *limit;
    size_t reserved; /* bytes taken from the allocator so far */
    bool failed;     /* something was asked for and there was no memory, since the arena was made or reset: for those
                      * whose NULL may mean something else too */
};

void pyro_arena_init(struct pyro_arena *arena, const struct pyro_allocator *allocator);
void pyro_arena_done(struct pyro_arena *arena);
/* Forgets everything handed out but keeps the newest block for reuse. */
void pyro_arena_reset(struct pyro_arena *arena);

/* Zeroed memory aligned to 16 bytes. */
void *pyro_arena_alloc(struct pyro_arena *arena, size_t size);
/* Zeroed array; NULL also when count * size would overflow. */
void *pyro_arena_array(struct pyro_arena *arena, size_t count, size_t size);
/* Copies `text` and appends a NUL that len does not count. A null slice stays null; ptr NULL otherwise means no memory.
 */
struct pyro_slice pyro_arena_copy(struct pyro_arena *arena, struct pyro_slice text);
/* printf into the arena; a null slice: no memory. */
struct pyro_slice pyro_arena_printf(struct pyro_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct pyro_slice pyro_arena_vprintf(struct pyro_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
