#include "base/order.h"

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

double pyro_median(double *values, size_t count)
{
    pyro_sort_reals(values, count);
    return count > 0 ? values[count / 2] : 0;
}
