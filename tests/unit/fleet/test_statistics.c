/* Edges of the statistics over runs; tests/e2e/test_fleet_statistics.py compares them with an oracle. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fleet/statistics/statistics.h"

static struct pyro_arena arena;

static void close_to(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.17g instead of %.17g", found, expected);
}

static void test_nearest_rank(void **state)
{
    (void)state;
    double values[20];
    for (int i = 0; i < 20; i++)
        values[i] = i + 1;
    close_to(pyro_sorted_percentile(values, 20, 95), 19);
    close_to(pyro_sorted_percentile(values, 20, 95.1), 20);
    close_to(pyro_sorted_percentile(values, 20, 0), 1);
    close_to(pyro_sorted_percentile(values, 20, 100), 20);
    close_to(pyro_sorted_percentile(values, 20, 50), 10);
    close_to(pyro_sorted_middle(values, 20), 10.5);
    close_to(pyro_sorted_middle(values, 19), 10);
    assert_true(isnan(pyro_sorted_percentile(values, 0, 50)));
    assert_true(isnan(pyro_sorted_middle(values, 0)));
}

static void test_outlier(void **state)
{
    (void)state;
    double values[] = {10, 11, 12, 13, 14, 30};
    struct pyro_spread spread;
    assert_true(pyro_spread_of(values, 6, &arena, &spread));
    close_to(spread.median, 12.5);
    close_to(spread.mad, 1.5); /* deviations 0.5 0.5 1.5 1.5 2.5 17.5 */
    close_to(pyro_modified_z(&spread, 30), 0.6745 * 17.5 / 1.5);
    assert_true(fabs(pyro_modified_z(&spread, 10)) < PYRO_OUTLIER_Z);
    /* More than half are equal: the mean deviation takes over, and without any deviation nothing is an outlier. */
    double same[] = {5, 5, 5, 5, 9};
    assert_true(pyro_spread_of(same, 5, &arena, &spread));
    close_to(pyro_modified_z(&spread, 9), 4 / (1.253314 * 0.8));
    assert_true(pyro_spread_of(same, 4, &arena, &spread));
    close_to(pyro_modified_z(&spread, 5), 0);
}

static void test_slope_needs_runs_and_range(void **state)
{
    (void)state;
    double x[9], y[9], found;
    for (int i = 0; i < 9; i++) {
        x[i] = pyro_log_input(i * 1048576.0); /* 1 to 9 MiB with the added one */
        y[i] = pyro_log_duration(1000 * pow(i + 1, 0.7));
    }
    assert_true(pyro_input_slope(x, y, 8, &arena, &found));
    close_to(found, 0.7);
    assert_true(pyro_input_slope(x, y, 7, &arena, &found));
    close_to(found, 0);
    /* 1 to 2 MiB is a twofold range, a little less is none. */
    for (int i = 0; i < 8; i++)
        x[i] = pyro_log_input(i * 1048576.0 / 7);
    assert_true(pyro_input_slope(x, y, 8, &arena, &found));
    close_to(found, PYRO_SLOPE_MOST);
    for (int i = 0; i < 8; i++)
        x[i] = pyro_log_input(i * 1040000.0 / 7);
    assert_true(pyro_input_slope(x, y, 8, &arena, &found));
    close_to(found, 0);
    for (int i = 0; i < 8; i++)
        x[i] = pyro_log_input(1e9);
    assert_true(pyro_input_slope(x, y, 8, &arena, &found));
    close_to(found, 0);
    /* Durations that fall with input count as constant. */
    for (int i = 0; i < 8; i++)
        x[i] = -i;
    assert_true(pyro_input_slope(x, y, 8, &arena, &found));
    close_to(found, 0);
    close_to(pyro_log_input(-5), log(1048576));
    close_to(pyro_log_duration(0), 0);
}

static void test_smallest_groups(void **state)
{
    (void)state;
    double slow[] = {110, 120, 130}, fast[] = {80, 90, 100}, found;
    struct pyro_rank_test test;
    struct pyro_shift shift;
    assert_true(pyro_rank_test(slow, 3, fast, 3, &arena, &test));
    close_to(test.u, 9);
    close_to(test.p, 0.1);
    assert_true(test.exact);
    /* 3 and 3 values are just enough: the interval is from the least to the largest difference. */
    assert_true(pyro_shift_of(slow, 3, fast, 3, &arena, &shift));
    close_to(shift.shift, 30);
    close_to(shift.low, 10);
    close_to(shift.high, 50);
    close_to(shift.level, 0.9);
    assert_true(pyro_shift_of(slow, 2, fast, 3, &arena, &shift));
    close_to(shift.level, 0.8);
    assert_true(pyro_shift_of(slow, 0, fast, 3, &arena, &shift));
    assert_true(isnan(shift.shift));
    close_to(shift.level, 0);
    assert_true(pyro_rank_test(slow, 0, fast, 3, &arena, &test));
    close_to(test.p, 1);
    assert_true(pyro_rank_sum_below(3, 3, 0, &arena, &found));
    close_to(found, 0.05);
    assert_true(pyro_rank_sum_below(3, 3, 9, &arena, &found));
    close_to(found, 1);
}

/* The method for large groups and the one for small ones agree where both are good. */
static void test_extreme_differences(void **state)
{
    (void)state;
    double a[60], b[60];
    for (int i = 0; i < 60; i++)
        a[i] = b[i] = i % 2 ? 1e300 : -1e-300;
    struct pyro_shift shift;
    assert_true(pyro_shift_of(a, 60, b, 60, &arena, &shift));
    close_to(shift.shift, 0);
    assert_true(shift.low <= 0 && shift.high >= 0);
}

static void test_shares(void **state)
{
    (void)state;
    double low, high;
    pyro_share_interval(0, 10, &low, &high);
    close_to(low, 0);
    close_to(high, 3.841458820694124 / (10 + 3.841458820694124)); /* z^2 / (n + z^2) */
    pyro_share_interval(10, 10, &low, &high);
    close_to(high, 1);
    pyro_share_interval(0, 0, &low, &high);
    close_to(low, 0);
    close_to(high, 1);
    close_to(pyro_normal_below(0), 0.5);
    close_to(pyro_normal_below(1.959963984540054), 0.975);
}

static void test_change_needs_five_runs_a_side(void **state)
{
    (void)state;
    double values[10] = {1.01, 1.02, 1.03, 1.04, 1.05, 2.01, 2.02, 2.03, 2.04, 2.05};
    struct pyro_change_point found[PYRO_CHANGES_MAX];
    size_t count;
    assert_true(pyro_change_points(values, 10, &arena, found, &count));
    assert_int_equal(count, 1);
    assert_int_equal(found[0].index, 5);
    close_to(found[0].before, 1.03);
    close_to(found[0].after, 2.03);
    close_to(found[0].p, 2.0 / 252);
    assert_true(pyro_change_points(values, 9, &arena, found, &count));
    assert_int_equal(count, 0);
    assert_true(pyro_change_points(values, 0, &arena, found, &count));
    assert_int_equal(count, 0);
    /* A change of less than 5 % is none, however clear. */
    for (int i = 5; i < 10; i++)
        values[i] -= 0.951;
    assert_true(pyro_change_points(values, 10, &arena, found, &count));
    assert_int_equal(count, 0);
}

static void test_number_of_change_points_is_limited(void **state)
{
    (void)state;
    enum { RUNS = 20, LEVELS = 50 };
    double values[RUNS * LEVELS];
    for (int i = 0; i < RUNS * LEVELS; i++)
        values[i] = floor((double)i / RUNS);
    struct pyro_change_point found[PYRO_CHANGES_MAX];
    size_t count;
    assert_true(pyro_change_points(values, RUNS * LEVELS, &arena, found, &count));
    assert_int_equal(count, PYRO_CHANGES_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].index % RUNS, 0);
        assert_true(i == 0 || found[i].index > found[i - 1].index);
    }
}

static int reset(void **state)
{
    (void)state;
    pyro_arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_nearest_rank, reset),
        cmocka_unit_test_teardown(test_outlier, reset),
        cmocka_unit_test_teardown(test_slope_needs_runs_and_range, reset),
        cmocka_unit_test_teardown(test_smallest_groups, reset),
        cmocka_unit_test_teardown(test_extreme_differences, reset),
        cmocka_unit_test_teardown(test_shares, reset),
        cmocka_unit_test_teardown(test_change_needs_five_runs_a_side, reset),
        cmocka_unit_test_teardown(test_number_of_change_points_is_limited, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
