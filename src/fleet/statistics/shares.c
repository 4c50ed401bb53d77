/* How sure a share is that was counted. */
#include <math.h>

#include "fleet/statistics/statistics.h"

#define Z95 1.959963984540054

double pyro_normal_below(double z)
{
    return erfc(-z / M_SQRT2) / 2;
}

void pyro_share_interval(double hits, double count, double *ret_low, double *ret_high)
{
    *ret_low = 0;
    *ret_high = 1;
    if (!(count > 0))
        return;
    double share = hits / count, z2 = Z95 * Z95 / count;
    double middle = (share + z2 / 2) / (1 + z2);
    double half = sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2);
    *ret_low = hits > 0 ? fmax(middle - half, 0) : 0;
    *ret_high = hits < count ? fmin(middle + half, 1) : 1;
}
