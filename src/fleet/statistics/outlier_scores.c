/* How far a value is from the others. */
#include <math.h>

#include "fleet/statistics/statistics.h"

/* Of a normal distribution: the median of |z|, and sqrt(pi / 2), the inverse of the mean of |z|. */
#define NORMAL_MAD  0.6745
#define NORMAL_MEAN 1.253314

bool pyro_spread_of(const double *values, size_t count, struct pyro_arena *scratch, struct pyro_spread *ret)
{
    struct pyro_spread spread = {0};
    double *deviations = pyro_arena_array(scratch, count + 1, sizeof(*deviations));
    if (!deviations || !pyro_middle(values, count, scratch, &spread.median))
        return false;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        deviations[i] = fabs(values[i] - spread.median);
        sum += deviations[i];
    }
    if (!pyro_middle(deviations, count, scratch, &spread.mad))
        return false;
    spread.mean_deviation = count > 0 ? sum / (double)count : (double)NAN;
    *ret = spread;
    return true;
}

double pyro_modified_z(const struct pyro_spread *spread, double value)
{
    if (spread->mad > 0)
        return NORMAL_MAD * (value - spread->median) / spread->mad;
    if (spread->mean_deviation > 0)
        return (value - spread->median) / (NORMAL_MEAN * spread->mean_deviation);
    return 0;
}
