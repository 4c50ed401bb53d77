/* Numbers in order, and their middle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/order.h"

static void test_sorts(void **state)
{
    (void)state;
    double reals[] = {3.5, -1, 3.5, 1e300, 0};
    int64_t ints[] = {INT64_MAX, 0, INT64_MIN, -1, 0};
    pyro_sort_reals(reals, 5);
    pyro_sort_ints(ints, 5);
    for (int i = 1; i < 5; i++) {
        assert_true(reals[i - 1] <= reals[i]);
        assert_true(ints[i - 1] <= ints[i]);
    }
    assert_true(ints[0] == INT64_MIN && ints[4] == INT64_MAX);
    pyro_sort_reals(NULL, 0);
    pyro_sort_ints(NULL, 0);
}

static void test_median(void **state)
{
    (void)state;
    double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_float_equal(pyro_median(odd, 3), 5, 0);
    assert_float_equal(pyro_median(even, 4), 3, 0); /* the upper one of 2 and 3 */
    assert_float_equal(pyro_median(one, 1), 7, 0);
    assert_float_equal(pyro_median(NULL, 0), 0, 0);
}

static void test_nearest_rank(void **state)
{
    (void)state;
    assert_int_equal(pyro_nearest_rank(50, 1), 0);
    assert_int_equal(pyro_nearest_rank(50, 4), 1);
    assert_int_equal(pyro_nearest_rank(50, 5), 2);
    assert_int_equal(pyro_nearest_rank(95, 20), 18);
    assert_int_equal(pyro_nearest_rank(95, 21), 19);
    assert_int_equal(pyro_nearest_rank(0, 5), 0);
    assert_int_equal(pyro_nearest_rank(-1, 5), 0);
    assert_int_equal(pyro_nearest_rank(100, 5), 4);
    assert_int_equal(pyro_nearest_rank(1e9, 5), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts), cmocka_unit_test(test_median),
                                       cmocka_unit_test(test_nearest_rank)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
