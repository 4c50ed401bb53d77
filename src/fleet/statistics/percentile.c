/* Medians and percentiles. */
#include <math.h>
#include <string.h>

#include "base/order.h"
#include "fleet/statistics/statistics.h"

double pyro_sorted_percentile(const double *sorted, size_t count, double percent)
{
    if (count == 0)
        return NAN;
    /* In this order the product is exact for whole percents: the 95th of 20 is the 19th. */
    double rank = ceil(fmin(fmax(percent, 0), 100) * (double)count / 100);
    size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[index < count ? index : count - 1];
}

double pyro_sorted_middle(const double *sorted, size_t count)
{
    if (count == 0)
        return NAN;
    double low = sorted[(count - 1) / 2], high = sorted[count / 2];
    return low + (high - low) / 2;
}

bool pyro_middle(const double *values, size_t count, struct pyro_arena *scratch, double *ret)
{
    double *sorted = pyro_arena_array(scratch, count + 1, sizeof(*sorted));
    if (!sorted)
        return false;
    if (count > 0)
        memcpy(sorted, values, count * sizeof(*sorted));
    pyro_sort_reals(sorted, count);
    *ret = pyro_sorted_middle(sorted, count);
    return true;
}
