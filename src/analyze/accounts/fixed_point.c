#include "analyze/accounts/fixed_point.h"

/* floor(share * part / whole) for part <= whole. Split into quotient and remainder first, because the product of a
 * hostile share and part would not fit 128 bits. */
struct divided {
    pyro_fixed quotient, remainder;
    uint64_t whole;
    bool small; /* everything fits 64-bit division, as it does in every real log */
};

static struct divided divide(pyro_fixed share, uint64_t whole)
{
    if (share >> 64 == 0) {
        uint64_t low = (uint64_t)share;
        return (struct divided){low / whole, low % whole, whole, whole >> 32 == 0};
    }
    return (struct divided){share / whole, share % whole, whole, false};
}

static pyro_fixed part_of(const struct divided *share, uint64_t part)
{
    if (share->small)
        return (uint64_t)share->quotient * part + (uint64_t)share->remainder * part / share->whole;
    return share->quotient * part + share->remainder * part / share->whole;
}

void pyro_share_out(const struct pyro_task_split *split, pyro_fixed share, pyro_fixed *sums)
{
    if (share == 0 || split->duration_ms <= 0)
        return;
    const int64_t parts[PYRO_SPLIT_PARTS] = {
        split->scheduler_delay,  split->deserialize,    0, split->gc, split->shuffle_fetch_wait, split->shuffle_write,
        split->result_serialize, split->getting_result,
    };
    struct divided divided = divide(share, (uint64_t)split->duration_ms);
    pyro_fixed rest = share;
    for (unsigned i = 0; i < PYRO_SPLIT_PARTS; i++) {
        if (parts[i] == 0)
            continue;
        pyro_fixed part = part_of(&divided, (uint64_t)parts[i]);
        sums[i] += part;
        rest -= part;
    }
    sums[PYRO_SPLIT_COMPUTE] += rest;
}

void pyro_round_parts(const pyro_fixed *parts, size_t count, int64_t total_ms, int64_t *ret)
{
    const pyro_fixed fraction = ((pyro_fixed)1 << PYRO_FIXED_BITS) - 1;
    uint64_t left = (uint64_t)total_ms;
    for (size_t i = 0; i < count; i++) {
        ret[i] = (int64_t)(parts[i] >> PYRO_FIXED_BITS);
        left -= (uint64_t)ret[i];
    }
    /* Fewer than `count` milliseconds are left: each goes to the largest remainder that has none yet. */
    uint32_t given = 0;
    for (; left > 0 && left < count; left--) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (!(given >> i & 1) && (best == count || (parts[i] & fraction) > (parts[best] & fraction)))
                best = i;
        ret[best]++;
        given |= (uint32_t)1 << best;
    }
}

int64_t pyro_saturate(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}
