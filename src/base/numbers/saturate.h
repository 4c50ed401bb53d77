/* Times and sums from logs may be anything that 64 bits hold: adding or subtracting them stays at the ends. */
#ifndef PYRO_BASE_NUMBERS_SATURATE_H
#define PYRO_BASE_NUMBERS_SATURATE_H

#include <stdint.h>

static inline int64_t pyro_add_saturating(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* a - b, such as an end less a beginning. */
static inline int64_t pyro_sub_saturating(int64_t a, int64_t b)
{
    int64_t difference;
    if (__builtin_sub_overflow(a, b, &difference))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return difference;
}

static inline uint64_t pyro_distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* As Java has it, and so Spark's own answers: modulo 2^64. */
static inline int64_t pyro_add_wrapping(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t pyro_sub_wrapping(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
