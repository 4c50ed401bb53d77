/* Least squares with coefficients that are not negative. */
#include <math.h>

#include "fleet/models/models.h"

/* Of a column's square: below it the rest of a column, after others were taken out, is rounding. Of the sum of squares:
 * below it two subsets are equally good. */
#define DEPENDENT 1e-10
#define EQUAL     1e-12

void pyro_least_squares_add(struct pyro_least_squares *sums, const double *row, double y)
{
    for (size_t i = 0; i < sums->columns; i++) {
        for (size_t k = 0; k < sums->columns; k++)
            sums->products[i][k] += row[i] * row[k];
        sums->with_y[i] += row[i] * y;
    }
    sums->y_squares += y * y;
    sums->rows++;
}

/* Solves the normal equations of a subset by Cholesky's method, columns scaled to length 1. False: they depend on each
 * other. */
static bool solve_subset(const struct pyro_least_squares *sums, const size_t *chosen, size_t count, double *ret)
{
    double factor[PYRO_FLEET_COLUMNS][PYRO_FLEET_COLUMNS] = {{0}}, right[PYRO_FLEET_COLUMNS], scale[PYRO_FLEET_COLUMNS];
    for (size_t i = 0; i < count; i++) {
        scale[i] = sqrt(sums->products[chosen[i]][chosen[i]]);
        if (!(scale[i] > 0))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        right[i] = sums->with_y[chosen[i]] / scale[i];
        for (size_t k = 0; k <= i; k++) {
            double rest = sums->products[chosen[i]][chosen[k]] / scale[i] / scale[k];
            for (size_t j = 0; j < k; j++)
                rest -= factor[i][j] * factor[k][j];
            if (k < i)
                factor[i][k] = rest / factor[k][k];
            else if (rest > DEPENDENT)
                factor[i][i] = sqrt(rest);
            else
                return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++)
            right[i] -= factor[i][k] * right[k];
        right[i] /= factor[i][i];
    }
    for (size_t i = count; i-- > 0;) {
        for (size_t k = i + 1; k < count; k++)
            right[i] -= factor[k][i] * right[k];
        right[i] /= factor[i][i];
    }
    for (size_t i = 0; i < count; i++)
        ret[i] = right[i] / scale[i];
    return true;
}

/* What is left of y's squares. */
static double rest_of(const struct pyro_least_squares *sums, const size_t *chosen, size_t count, const double *found)
{
    double rest = sums->y_squares;
    for (size_t i = 0; i < count; i++)
        rest -= found[i] * sums->with_y[chosen[i]];
    return rest;
}

void pyro_least_squares_solve(const struct pyro_least_squares *sums, double *ret)
{
    double best = sums->y_squares;
    for (size_t i = 0; i < sums->columns; i++)
        ret[i] = 0;
    for (size_t size = 1; size <= sums->columns; size++) {
        for (unsigned subset = 1; subset < 1U << sums->columns; subset++) {
            size_t chosen[PYRO_FLEET_COLUMNS], count = 0;
            double found[PYRO_FLEET_COLUMNS];
            bool positive = true;
            for (size_t i = 0; i < sums->columns; i++)
                if (subset >> i & 1)
                    chosen[count++] = i;
            if (count != size || !solve_subset(sums, chosen, count, found))
                continue;
            for (size_t i = 0; i < count; i++)
                positive = positive && found[i] >= 0;
            double rest = rest_of(sums, chosen, count, found);
            if (!positive || rest >= best - EQUAL * sums->y_squares)
                continue;
            best = rest;
            for (size_t i = 0; i < sums->columns; i++)
                ret[i] = 0;
            for (size_t i = 0; i < count; i++)
                ret[chosen[i]] = found[i];
        }
    }
}
