/* Exact shares of time: fixed point in units of 2^-32 ms, and rounding that keeps sums. */
#ifndef PYRO_ANALYZE_ACCOUNTS_FIXED_POINT_H
#define PYRO_ANALYZE_ACCOUNTS_FIXED_POINT_H

#include "analyze/analyze.h"
#include "base/numbers/saturate.h"

typedef unsigned __int128 pyro_fixed;

enum { PYRO_FIXED_BITS = 32 };

/* Parts of a task in the order of the enums pyro_wall_part (from PYRO_WALL_SCHEDULER_DELAY) and pyro_core_part. */
enum {
    PYRO_SPLIT_SCHEDULER_DELAY,
    PYRO_SPLIT_DESERIALIZE,
    PYRO_SPLIT_COMPUTE,
    PYRO_SPLIT_GC,
    PYRO_SPLIT_SHUFFLE_FETCH_WAIT,
    PYRO_SPLIT_SHUFFLE_WRITE,
    PYRO_SPLIT_RESULT_SERIALIZE,
    PYRO_SPLIT_GETTING_RESULT,
    PYRO_SPLIT_PARTS
};

/* floor(dt ms * numerator / denominator). denominator > 0; dt < 2^63, numerator < 2^32. */
static inline pyro_fixed pyro_fixed_scaled(uint64_t dt, uint64_t numerator, uint64_t denominator)
{
    uint64_t product;
    if (dt >> 32 == 0 && !__builtin_mul_overflow(dt << PYRO_FIXED_BITS, numerator, &product))
        return product / denominator;
    return ((pyro_fixed)dt << PYRO_FIXED_BITS) * numerator / denominator;
}

/* Adds what a task's share means for each of its parts to sums[PYRO_SPLIT_PARTS]. */
void pyro_share_out(const struct pyro_task_split *split, pyro_fixed share, pyro_fixed *sums);

/* Whole milliseconds that add up to `total_ms`, by largest remainder, earlier parts first among equals. The fixed-point
 * parts must add up to total_ms exactly. */
void pyro_round_parts(const pyro_fixed *parts, size_t count, int64_t total_ms, int64_t *ret);

/* Clamped to what an int64_t holds. */
int64_t pyro_saturate(__int128 value);

#endif
