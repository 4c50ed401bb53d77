#include "base/numbers/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

void pyro_sort_naturals(uint32_t *values, size_t count, uint32_t *room)
{
    enum { BITS = 11, DIGITS = 3, BUCKETS = 1 << BITS, FEW = 64 };
    for (size_t i = 1; i < count && count < FEW; i++) {
        uint32_t value = values[i];
        size_t place = i;
        for (; place > 0 && values[place - 1] > value; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
    if (count < FEW)
        return;
    uint32_t places[BUCKETS], *from = values, *to = room;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        unsigned shift = digit * BITS;
        uint32_t place = 0;
        memset(places, 0, sizeof(places));
        for (size_t i = 0; i < count; i++)
            places[from[i] >> shift & (BUCKETS - 1)]++;
        for (unsigned b = 0; b < BUCKETS; b++) {
            uint32_t in_bucket = places[b];
            places[b] = place;
            place += in_bucket;
        }
        for (size_t i = 0; i < count; i++)
            to[places[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
        uint32_t *next = from;
        from = to;
        to = next;
    }
    memcpy(values, from, count * sizeof(*values));
}

size_t pyro_nearest_rank(double percent, size_t count)
{
    /* In this order the product is exact for whole percents: the 95th of 20 is the 19th. */
    double rank = ceil(percent * (double)count / 100);
    return rank < 1 ? 0 : rank > (double)count ? count - 1 : (size_t)rank - 1;
}

static void swap(double *values, size_t a, size_t b)
{
    double value = values[a];
    values[a] = values[b];
    values[b] = value;
}

/* Moves the values below `pivot` to the front, or with `equal` those up to it; returns how many. Without a branch on
 * the values, which no processor would foresee. */
static size_t divide(double *values, size_t count, double pivot, bool equal)
{
    size_t front = 0;
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        values[i] = values[front];
        values[front] = value;
        front += equal ? value <= pivot : value < pivot;
    }
    return front;
}

static double middle_of_three(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* The middle of three values; of many, of three such middles. */
static double choose_pivot(const double *values, size_t count)
{
    enum { MANY = 128 };
    size_t step = count / 8;
    if (count < MANY)
        return middle_of_three(values[0], values[count / 2], values[count - 1]);
    return middle_of_three(middle_of_three(values[0], values[step], values[2 * step]),
                           middle_of_three(values[3 * step], values[4 * step], values[5 * step]),
                           middle_of_three(values[6 * step], values[7 * step], values[count - 1]));
}

double pyro_select_real(double *values, size_t count, size_t rank)
{
    enum { FEW = 12 };
    size_t looked_at = 0, most = 8 * count; /* what is more than this takes a sort, so that no order takes long */
    while (count > FEW) {
        looked_at += count;
        if (looked_at > most) {
            pyro_sort_reals(values, count);
            return values[rank];
        }
        double pivot = choose_pivot(values, count);
        size_t below = divide(values, count, pivot, false);
        if (rank < below) {
            count = below;
            continue;
        }
        size_t equal = divide(values + below, count - below, pivot, true);
        if (rank < below + equal)
            return pivot;
        values += below + equal;
        count -= below + equal;
        rank -= below + equal;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && values[k] < values[k - 1]; k--)
            swap(values, k, k - 1);
    return values[rank];
}

double pyro_median(double *values, size_t count)
{
    return count > 0 ? pyro_select_real(values, count, count / 2) : 0;
}
