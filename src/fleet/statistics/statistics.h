/* Statistics over repeated runs: pure functions on arrays of doubles, one subject a file. docs/statistics.md has the
 * formulas and their sources.
 *
 * No value may be NaN or infinite. The same values always give the same result: nothing is drawn at random. Functions
 * that need memory take an arena, whose content the caller throws away afterwards, and return false where there is
 * none; results are set only on success. */
#ifndef PYRO_FLEET_STATISTICS_STATISTICS_H
#define PYRO_FLEET_STATISTICS_STATISTICS_H

#include "base/memory/arena.h"

/* ---- Order (percentile.c) ---- */

/* Nearest rank: the smallest of the sorted values that at least `percent` of 100 of them do not exceed. NaN: none. */
double pyro_sorted_percentile(const double *sorted, size_t count, double percent);
/* The mean of the two middle values where their number is even. NaN: none. */
double pyro_sorted_middle(const double *sorted, size_t count);
/* The same of values in any order. */
bool pyro_middle(const double *values, size_t count, struct pyro_arena *scratch, double *ret);

/* ---- Outliers (outlier_scores.c) ---- */

#define PYRO_OUTLIER_Z 3.5

struct pyro_spread {
    double median;
    double mad;            /* median of the absolute deviations from the median */
    double mean_deviation; /* their mean: for values of which more than half are equal */
};
bool pyro_spread_of(const double *values, size_t count, struct pyro_arena *scratch, struct pyro_spread *ret);
/* Modified z-score (Iglewicz and Hoaglin, 1993): 0.6745 (x - median) / MAD. Where the MAD is 0, (x - median) / (1.2533
 * mean deviation); where that is 0 too, 0. An outlier is beyond PYRO_OUTLIER_Z on either side. */
double pyro_modified_z(const struct pyro_spread *spread, double value);

/* ---- Durations without the influence of input (slope.c) ---- */

enum { PYRO_SLOPE_RUNS = 8 };
#define PYRO_SLOPE_MOST 1.5

/* x = ln(bytes + 1 MiB) and y = ln(ms), both finite: bytes below 0 count as 0, times below 1 ms as 1 ms. */
double pyro_log_input(double bytes);
double pyro_log_duration(double ms);
/* Theil-Sen slope: the median of (y_j - y_i) / (x_j - x_i) over all pairs with different x, limited to
 * [0, PYRO_SLOPE_MOST]. 0 for fewer than PYRO_SLOPE_RUNS points, and where the largest input (plus 1 MiB) is less than
 * twice the smallest. Exact for up to 2,000 points. More points take a bisection of the slope that counts inversions,
 * n log n a step, and give the median to within 1e-6. */
bool pyro_input_slope(const double *x, const double *y, size_t count, struct pyro_arena *scratch, double *ret);

/* ---- Two groups of runs (ranks.c, shift.c) ---- */

struct pyro_rank_test {
    double u; /* pairs in which the first group's value is larger; equal ones count 0.5 */
    double p; /* two-sided */
    bool exact;
};
/* Mann-Whitney U (Mann and Whitney, 1947). Exact p for up to 50 values without ties; else the normal approximation with
 * corrections for ties and continuity. p is 1 where a group is empty, or all values are equal. */
bool pyro_rank_test(const double *a, size_t a_count, const double *b, size_t b_count, struct pyro_arena *scratch,
                    struct pyro_rank_test *ret);
/* P(U <= u) without ties, of groups with up to 50 values together. */
bool pyro_rank_sum_below(size_t a_count, size_t b_count, size_t u, struct pyro_arena *scratch, double *ret);
enum { PYRO_RANK_EXACT = 50 };

struct pyro_shift {
    double shift;     /* median of all a - b: how much larger the first group's values are */
    double low, high; /* its 90 % interval */
    double level;     /* the interval's confidence; below 0.9 where a group is too small (3 and 3 values suffice) */
};
/* Hodges-Lehmann shift (Hodges and Lehmann, 1963) and the interval between ranks of the differences that the
 * distribution of U gives (Moses; exact for up to 50 values, normal beyond). Differences are counted, not stored: n log
 * n for any number. Both groups need a value, else all is NaN and the level 0. */
bool pyro_shift_of(const double *a, size_t a_count, const double *b, size_t b_count, struct pyro_arena *scratch,
                   struct pyro_shift *ret);

/* ---- Shares (shares.c) ---- */

/* Wilson's 95 % interval (Wilson, 1927) of a share of `hits` in `count`; [0, 1] for none. */
void pyro_share_interval(double hits, double count, double *ret_low, double *ret_high);
/* P(Z <= z) of the normal distribution. */
double pyro_normal_below(double z);

/* ---- Lasting changes (level_changes.c) ---- */

enum { PYRO_CHANGE_SIDE = 5, PYRO_CHANGES_MAX = 32 };
#define PYRO_CHANGE_P     0.01
#define PYRO_CHANGE_SHIFT 0.05

struct pyro_change_point {
    size_t index;         /* first value after the change */
    double before, after; /* medians of the values up to the neighboring change points */
    double p;             /* of the split when it was found, times the splits that were possible */
};
/* Binary segmentation: of all splits of a segment with at least PYRO_CHANGE_SIDE values a side, the one with the most
 * significant Mann-Whitney statistic is a change point if p times the number of splits (Bonferroni) is at most
 * PYRO_CHANGE_P, and the medians of its sides differ by at least PYRO_CHANGE_SHIFT. The most significant segment is
 * split first, until none is left or PYRO_CHANGES_MAX are found. The penalty holds for any distribution: a series of
 * independent values gives a change point in at most 1 of 100 cases. Values are logarithms of durations, so that the
 * least shift is 5 %. `ret` has room for PYRO_CHANGES_MAX, filled in order of index. */
bool pyro_change_points(const double *values, size_t count, struct pyro_arena *scratch, struct pyro_change_point *ret,
                        size_t *ret_count);

#endif
