#include "base/order.h"

#include <math.h>
#include <stdlib.h>

static int by_real(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int by_int(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

void pyro_sort_reals(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof(*values), by_real);
}

void pyro_sort_ints(int64_t *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof(*values), by_int);
}

size_t pyro_nearest_rank(double percent, size_t count)
{
    /* In this order the product is exact for whole percents: the 95th of 20 is the 19th. */
    double rank = ceil(percent * (double)count / 100);
    return rank < 1 ? 0 : rank > (double)count ? count - 1 : (size_t)rank - 1;
}

double pyro_median(double *values, size_t count)
{
    pyro_sort_reals(values, count);
    return count > 0 ? values[count / 2] : 0;
}
