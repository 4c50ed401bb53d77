/* Sharing whole units out so that they add up. */
#include <stdlib.h>

#include "analyze/accounts/fixed_point.h"
#include "base/numbers/saturate.h"
#include "cost/share.h"

struct remainder {
    unsigned __int128 rest;
    size_t at;
};

static int compare(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->rest != y->rest)
        return x->rest > y->rest ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Gives what is left to the largest remainders, one each. More than one for each is left only where parts lost more
 * than their fractions: that goes to the largest part. */
static void distribute(struct remainder *remainders, size_t count, uint64_t left, int64_t *ret)
{
    if (count == 0 || left == 0)
        return;
    if (left > count) {
        size_t largest = 0;
        for (size_t i = 1; i < count; i++)
            largest = ret[i] > ret[largest] ? i : largest;
        uint64_t more = left - count < INT64_MAX ? left - count : INT64_MAX;
        ret[largest] = pyro_add_saturating(ret[largest], (int64_t)more);
        left = count;
    }
    qsort(remainders, count, sizeof(*remainders), compare);
    for (size_t i = 0; i < left; i++)
        ret[remainders[i].at]++;
}

bool pyro_apportion(const struct pyro_allocator *allocator, const int64_t *weights, size_t count, int64_t weight_sum,
                    int64_t total, int64_t *ret)
{
    struct remainder *remainders = pyro_allocate(allocator, (count + 1) * sizeof(*remainders));
    uint64_t left = (uint64_t)total;
    if (!remainders)
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned __int128 product = (unsigned __int128)(uint64_t)weights[i] * (uint64_t)total;
        ret[i] = (int64_t)(product / (uint64_t)weight_sum);
        remainders[i] = (struct remainder){product % (uint64_t)weight_sum, i};
        left -= (uint64_t)ret[i];
    }
    distribute(remainders, count, left, ret);
    pyro_release(allocator, remainders);
    return true;
}

bool pyro_round_shares(const struct pyro_allocator *allocator, const pyro_fixed *shares, size_t count, int64_t total,
                       int64_t *ret)
{
    const pyro_fixed fraction = ((pyro_fixed)1 << PYRO_FIXED_BITS) - 1;
    struct remainder *remainders = pyro_allocate(allocator, (count + 1) * sizeof(*remainders));
    uint64_t left = (uint64_t)total;
    if (!remainders)
        return false;
    for (size_t i = 0; i < count; i++) {
        ret[i] = (int64_t)(shares[i] >> PYRO_FIXED_BITS);
        remainders[i] = (struct remainder){shares[i] & fraction, i};
        left -= (uint64_t)ret[i];
    }
    distribute(remainders, count, left, ret);
    pyro_release(allocator, remainders);
    return true;
}
