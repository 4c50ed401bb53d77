/* SIMD scans over JSON text, in one variant for each instruction set; the best one is chosen at run time.
 *
 * Every function may read PYRO_SCAN_PADDING bytes after `end`: scanned buffers must have this room. Its content does
 * not matter. */
#ifndef PYRO_BASE_JSON_SCAN_H
#define PYRO_BASE_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum { PYRO_SCAN_PADDING = 64 };

enum pyro_scan_flags {
    PYRO_SCAN_NON_ASCII = 1, /* a byte of 0x80 or above */
    PYRO_SCAN_ESCAPES = 2,
    PYRO_SCAN_BAD_ESCAPE = 4 /* what was returned is the place of its backslash */
};

/* What an array holds at any depth, as far as is known without reading its values. */
struct pyro_scan_words {
    uint64_t objects, yes, no; /* objects; members that are true; members that are false (no blank behind the colon) */
};

struct pyro_scan {
    const char *name; /* "AVX-512", "AVX2", "SSE4.2", "NEON", "scalar" */
    /* `p` is after the opening quote of a string. Returns the place of its closing quote, or of the first control
     * character or bad escape, or `end`. Raises *ret_flags by what is before it: enum pyro_scan_flags. */
    const char *(*string_end)(const char *p, const char *end, unsigned *ret_flags);
    /* `p` is after the '[' of an array. Returns the place after the matching ']', with regard to strings and nesting,
     * or NULL if the line or the input ends first or the braces inside do not balance. */
    const char *(*array_end)(const char *p, const char *end);
    /* `p` is after the '{' or '[' of a value. Returns the place after the bracket that ends it, with regard to strings;
     * both kinds of brackets count alike. NULL if the line or the input ends first. */
    const char *(*container_end)(const char *p, const char *end);
    /* array_end(), which also fills *ret. */
    const char *(*array_words)(const char *p, const char *end, struct pyro_scan_words *ret);
};

/* The fastest variant that this processor runs. Constant data: no state, any thread. */
const struct pyro_scan *pyro_scan_best(void);
/* The n-th variant that this processor runs (the last one is "scalar"), or NULL; for tests and doctor. */
const struct pyro_scan *pyro_scan_variant(size_t n);

#endif
