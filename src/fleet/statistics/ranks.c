/* Whether one group of runs tends to larger values than another: Mann-Whitney U. */
#include <math.h>
#include <stdlib.h>

#include "fleet/statistics/statistics.h"

struct member {
    double value;
    bool first;
};

static int by_value(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* Ways to choose a of a + b ranks so that U is u, by the largest rank: it belongs to the first group and beats all b,
 * or to the second and adds nothing. In doubles, exact below 2^53 and to 1e-15 beyond. */
bool pyro_rank_sum_below(size_t a_count, size_t b_count, size_t u, struct pyro_arena *scratch, double *ret)
{
    size_t largest = a_count * b_count, width = largest + 1;
    if (u >= largest) {
        *ret = 1;
        return true;
    }
    /* Rows by the size of the first group, for one size of the second after the other. */
    double *ways = pyro_arena_array(scratch, (a_count + 1) * width, sizeof(*ways));
    if (!ways)
        return false;
    for (size_t a = 0; a <= a_count; a++)
        ways[a * width] = 1;
    for (size_t b = 1; b <= b_count; b++)
        for (size_t a = 1; a <= a_count; a++)
            for (size_t i = a * b + 1; i-- > 0;)
                ways[a * width + i] += i >= b ? ways[(a - 1) * width + i - b] : 0;
    double below = 0, all = 0;
    for (size_t i = 0; i <= largest; i++) {
        double here = ways[a_count * width + i];
        all += here;
        below += i <= u ? here : 0;
    }
    *ret = below / all;
    return true;
}

static double approximate_p(double u, double a, double b, double ties)
{
    double n = a + b, mean = a * b / 2;
    double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));
    if (!(variance > 0))
        return 1;
    double z = fmax(fabs(u - mean) - 0.5, 0) / sqrt(variance);
    return fmin(2 * pyro_normal_below(-z), 1);
}

bool pyro_rank_test(const double *a, size_t a_count, const double *b, size_t b_count, struct pyro_arena *scratch,
                    struct pyro_rank_test *ret)
{
    size_t count = a_count + b_count;
    struct pyro_rank_test test = {.p = 1};
    struct member *all = pyro_arena_array(scratch, count + 1, sizeof(*all));
    if (!all)
        return false;
    for (size_t i = 0; i < count; i++)
        all[i] = i < a_count ? (struct member){a[i], true} : (struct member){b[i - a_count], false};
    qsort(all, count, sizeof(*all), by_value);
    double ties = 0, seen = 0; /* seen: values of the second group below */
    for (size_t from = 0, end; from < count; from = end) {
        double firsts = 0, seconds = 0;
        for (end = from; end < count && all[end].value <= all[from].value; end++)
            *(all[end].first ? &firsts : &seconds) += 1;
        test.u += firsts * (seen + seconds / 2);
        seen += seconds;
        double same = firsts + seconds;
        ties += same * same * same - same;
    }
    if (a_count > 0 && b_count > 0) {
        test.exact = count <= PYRO_RANK_EXACT && ties <= 0;
        double pairs = (double)a_count * (double)b_count;
        if (!test.exact) {
            test.p = approximate_p(test.u, (double)a_count, (double)b_count, ties);
        } else {
            /* The distribution is symmetric. */
            double tail = 0;
            if (!pyro_rank_sum_below(a_count, b_count, (size_t)fmin(test.u, pairs - test.u), scratch, &tail))
                return false;
            test.p = fmin(2 * tail, 1);
        }
    }
    *ret = test;
    return true;
}
