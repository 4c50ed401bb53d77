/* A borrowed run of bytes: never owned, never NUL-terminated by promise. */
#ifndef PYRO_BASE_STRINGS_SLICE_H
#define PYRO_BASE_STRINGS_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* `ptr == NULL` means "unknown" (JSON null, absent field); an empty string has a non-NULL ptr and len 0. */
struct pyro_slice {
    const char *ptr;
    size_t len;
};

#define PYRO_SLICE_NULL          ((struct pyro_slice){NULL, 0})
#define PYRO_SLICE_LITERAL(text) ((struct pyro_slice){"" text, sizeof(text) - 1})

static inline struct pyro_slice pyro_slice_from(const char *text)
{
    return (struct pyro_slice){text, text ? strlen(text) : 0};
}

static inline bool pyro_slice_eq(struct pyro_slice a, struct pyro_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool pyro_slice_is(struct pyro_slice a, const char *text)
{
    return pyro_slice_eq(a, pyro_slice_from(text));
}

static inline bool pyro_slice_starts_with(struct pyro_slice a, const char *prefix)
{
    size_t n = strlen(prefix);
    return a.len >= n && memcmp(a.ptr, prefix, n) == 0;
}

static inline bool pyro_slice_ends_with(struct pyro_slice a, const char *suffix)
{
    size_t n = strlen(suffix);
    return a.len >= n && memcmp(a.ptr + (a.len - n), suffix, n) == 0;
}

/* Takes the first `n` bytes off, which the text has. Adding even 0 to an unknown text's null pointer is undefined. */
static inline void pyro_slice_drop(struct pyro_slice *text, size_t n)
{
    if (n > 0)
        *text = (struct pyro_slice){text->ptr + n, text->len - n};
}

/* Byte order, shorter first on a common prefix; the order every report sorts names in. */
int pyro_slice_compare(struct pyro_slice a, struct pyro_slice b);

/* First place of `needle` in `hay`, or NULL. */
const char *pyro_slice_find(struct pyro_slice hay, const char *needle);

#endif
