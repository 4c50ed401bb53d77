/* By how much two groups of runs differ: Hodges and Lehmann's shift with its interval. */
#include <math.h>

#include "base/numbers/order.h"
#include "fleet/statistics/statistics.h"

#define TAIL      0.05               /* beyond each end of the interval */
#define TAIL_Z    1.6448536269514722 /* of the normal distribution */
#define NO_NUMBER ((struct pyro_shift){NAN, NAN, NAN, 0})

enum { COARSE_STEPS = 40 };

/* Both groups, ascending. */
struct groups {
    const double *a, *b;
    size_t a_count, b_count;
};

/* How many of all a - b are at most `limit`. A difference never falls with a, nor grows with b, rounding included: as a
 * grows, fewer b leave a difference within the limit. */
static uint64_t differences_up_to(const struct groups *groups, double limit)
{
    uint64_t found = 0;
    for (size_t i = 0, from = 0; i < groups->a_count; i++) {
        while (from < groups->b_count && groups->a[i] - groups->b[from] > limit)
            from++;
        found += groups->b_count - from;
    }
    return found;
}

/* The least difference above `limit`. */
static double difference_after(const struct groups *groups, double limit)
{
    double least = INFINITY;
    for (size_t i = 0, from = 0; i < groups->a_count; i++) {
        while (from < groups->b_count && groups->a[i] - groups->b[from] > limit)
            from++;
        if (from > 0)
            least = fmin(least, groups->a[i] - groups->b[from - 1]);
    }
    return least;
}

/* The difference of that rank, from 1: bisection until no double is between the limits, or no difference. */
static double difference_of_rank(const struct groups *groups, uint64_t rank)
{
    double high = groups->a[groups->a_count - 1] - groups->b[0];
    double low = groups->a[0] - groups->b[groups->b_count - 1];
    if (differences_up_to(groups, low) >= rank)
        return low;
    /* Fewer than `rank` are at most low, at least `rank` are at most high. */
    for (int i = 0;; i++) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            return high;
        if (differences_up_to(groups, middle) >= rank)
            high = middle;
        else
            low = middle;
        /* Near 0 there are as many doubles as between 1 and infinity. */
        double next = i >= COARSE_STEPS ? difference_after(groups, low) : low;
        if (next > low && differences_up_to(groups, next) >= rank)
            return next;
    }
}

/* The rank of the interval's lower end, and what the interval is sure of. */
static bool interval_rank(size_t a_count, size_t b_count, struct pyro_arena *scratch, uint64_t *ret, double *ret_level)
{
    double a = (double)a_count, b = (double)b_count;
    uint64_t rank = 1;
    if (a_count + b_count > PYRO_RANK_EXACT) {
        double deviation = sqrt(a * b * (a + b + 1) / 12);
        rank = (uint64_t)fmax(floor(a * b / 2 + 0.5 - TAIL_Z * deviation), 1);
        *ret_level = 1 - 2 * pyro_normal_below(((double)rank - 0.5 - a * b / 2) / deviation);
    } else {
        double tail = 0, next = 0;
        if (!pyro_rank_sum_below(a_count, b_count, 0, scratch, &tail))
            return false;
        for (; rank < (uint64_t)(a * b); rank++, tail = next) {
            if (!pyro_rank_sum_below(a_count, b_count, (size_t)rank, scratch, &next))
                return false;
            if (next > TAIL + 1e-12)
                break;
        }
        *ret_level = fmax(1 - 2 * tail, 0);
    }
    *ret = rank;
    return true;
}

static const double *sorted_copy(const double *values, size_t count, struct pyro_arena *scratch)
{
    double *copy = pyro_arena_array(scratch, count, sizeof(*copy));
    if (!copy)
        return NULL;
    memcpy(copy, values, count * sizeof(*copy));
    pyro_sort_reals(copy, count);
    return copy;
}

bool pyro_shift_of(const double *a, size_t a_count, const double *b, size_t b_count, struct pyro_arena *scratch,
                   struct pyro_shift *ret)
{
    struct pyro_shift shift = NO_NUMBER;
    if (a_count > 0 && b_count > 0) {
        struct groups groups = {sorted_copy(a, a_count, scratch), sorted_copy(b, b_count, scratch), a_count, b_count};
        uint64_t pairs = (uint64_t)a_count * b_count, rank = 0;
        if (!groups.a || !groups.b || !interval_rank(a_count, b_count, scratch, &rank, &shift.level))
            return false;
        double low = difference_of_rank(&groups, (pairs + 1) / 2), high = low;
        if (pairs % 2 == 0)
            high = difference_of_rank(&groups, pairs / 2 + 1);
        shift.shift = low + (high - low) / 2;
        shift.low = difference_of_rank(&groups, rank);
        shift.high = difference_of_rank(&groups, pairs + 1 - rank);
    }
    *ret = shift;
    return true;
}
