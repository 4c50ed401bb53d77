/* Medians and percentiles. */
#include <math.h>
#include <string.h>

#include "base/numbers/order.h"
#include "fleet/statistics/statistics.h"

double pyro_sorted_percentile(const double *sorted, size_t count, double percent)
{
    return count == 0 ? (double)NAN : sorted[pyro_nearest_rank(percent, count)];
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
