/* How durations grow with input: the Theil-Sen slope of their logarithms. */
#include <math.h>
#include <stdlib.h>

#include "base/numbers/order.h"
#include "fleet/statistics/statistics.h"

enum { EXACT_POINTS = 2000, STEPS = 21 }; /* 1.5 / 2^21 < 1e-6 */

struct point {
    double x, y;
};

double pyro_log_input(double bytes)
{
    return log(fmax(bytes, 0) + 1048576);
}

double pyro_log_duration(double ms)
{
    return log(fmax(ms, 1));
}

static int by_x(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    int order = (a->x > b->x) - (a->x < b->x);
    return order ? order : (a->y > b->y) - (a->y < b->y);
}

/* The value that would be at `rank`, from 0, if they were sorted; those after it are not less. Hoare's selection, with
 * sorting where it finds no good pivots. */
static double select_rank(double *values, size_t count, size_t rank)
{
    size_t from = 0, to = count;
    for (int rounds = 0; to - from > 16 && rounds < 64; rounds++) {
        double a = values[from], b = values[from + (to - from) / 2], c = values[to - 1];
        double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t i = from, j = to;
        for (;;) {
            while (values[i] < pivot)
                i++;
            do
                j--;
            while (values[j] > pivot);
            if (i >= j)
                break;
            double value = values[i];
            values[i++] = values[j];
            values[j] = value;
        }
        /* All before i are at most the pivot, all others at least. */
        if (i == from || i == to)
            break;
        if (rank < i)
            to = i;
        else
            from = i;
    }
    pyro_sort_reals(values + from, to - from);
    return values[rank];
}

static double middle_of(double *values, size_t count)
{
    double low = select_rank(values, count, (count - 1) / 2), high = low;
    if (count % 2 == 0) {
        high = values[count / 2];
        for (size_t i = count / 2; i < count; i++)
            high = fmin(high, values[i]);
    }
    return low + (high - low) / 2;
}

static bool slope_of_pairs(const struct point *points, size_t count, struct pyro_arena *scratch, double *ret)
{
    size_t pairs = 0;
    double *slopes = pyro_arena_array(scratch, count * (count - 1) / 2, sizeof(*slopes));
    if (!slopes)
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (points[j].x > points[i].x)
                slopes[pairs++] = (points[j].y - points[i].y) / (points[j].x - points[i].x);
    *ret = middle_of(slopes, pairs);
    return true;
}

/* Pairs out of order; sorts on the way. */
static uint64_t inversions(double *values, double *spare, size_t count)
{
    uint64_t found = 0;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t from = 0; from < count; from += 2 * width) {
            size_t middle = from + width < count ? from + width : count;
            size_t end = from + 2 * width < count ? from + 2 * width : count;
            for (size_t i = from, j = middle, k = from; k < end; k++) {
                bool second = i == middle || (j < end && values[j] < values[i]);
                found += second ? middle - i : 0;
                spare[k] = second ? values[j++] : values[i++];
            }
        }
        memcpy(values, spare, count * sizeof(*values));
    }
    return found;
}

/* Pairs with a slope below `slope`: y - slope x falls from the one to the other. Points of equal x are in order of y,
 * so that they count as none. */
static uint64_t slopes_below(const struct point *points, size_t count, double slope, double *values, double *spare)
{
    for (size_t i = 0; i < count; i++)
        values[i] = points[i].y - slope * points[i].x;
    return inversions(values, spare, count);
}

static bool slope_by_bisection(const struct point *points, size_t count, struct pyro_arena *scratch, double *ret)
{
    double *values = pyro_arena_array(scratch, count, sizeof(*values));
    double *spare = pyro_arena_array(scratch, count, sizeof(*spare));
    if (!values || !spare)
        return false;
    uint64_t pairs = (uint64_t)count * (count - 1) / 2;
    for (size_t i = 0, same = 0; i < count; i++) {
        same = i > 0 && points[i].x <= points[i - 1].x ? same + 1 : 0;
        pairs -= same;
    }
    double low = 0, high = PYRO_SLOPE_MOST;
    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        if (slopes_below(points, count, middle, values, spare) <= pairs / 2)
            low = middle;
        else
            high = middle;
    }
    *ret = (low + high) / 2;
    return true;
}

bool pyro_input_slope(const double *x, const double *y, size_t count, struct pyro_arena *scratch, double *ret)
{
    if (count < PYRO_SLOPE_RUNS) {
        *ret = 0;
        return true;
    }
    struct point *points = pyro_arena_array(scratch, count, sizeof(*points));
    if (!points)
        return false;
    for (size_t i = 0; i < count; i++)
        points[i] = (struct point){x[i], y[i]};
    qsort(points, count, sizeof(*points), by_x);
    double slope = 0;
    /* A little less than ln 2, which the difference of two logarithms may miss by rounding. */
    if (points[count - 1].x - points[0].x >= M_LN2 - 1e-12) {
        bool done = count <= EXACT_POINTS ? slope_of_pairs(points, count, scratch, &slope)
                                          : slope_by_bisection(points, count, scratch, &slope);
        if (!done)
            return false;
    }
    *ret = fmin(fmax(slope, 0), PYRO_SLOPE_MOST);
    return true;
}
