/* Numbers in order, and their middle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/numbers/order.h"

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

static void test_sorts_naturals(void **state)
{
    static const size_t counts[] = {0, 1, 2, 63, 64, 1000};
    static uint32_t values[1000], room[1000];
    (void)state;
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < counts[c]; i++)
            sum += values[i] = i % 7 == 0 ? UINT32_MAX - (uint32_t)i : (uint32_t)((i + 1) * 2654435761U);
        pyro_sort_naturals(values, counts[c], room);
        for (size_t i = 0; i < counts[c]; i++) {
            assert_true(i == 0 || values[i - 1] <= values[i]);
            sum -= values[i];
        }
        assert_true(sum == 0);
    }
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

enum { MOST = 3000 };

/* Numbers that say how a selection could go wrong: few values, runs in order, an organ pipe, a mix. */
static double number_of(unsigned shape, size_t i, size_t count)
{
    static const double few[] = {3, -1, 3, 2.5};
    switch (shape) {
    case 0:
        return 7;
    case 1:
        return (double)i;
    case 2:
        return -(double)i;
    case 3:
        return i < count / 2 ? (double)i : (double)(count - i);
    case 4:
        return few[i * 2654435761U / 7 % 4];
    default:
        return (double)(((i + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 40) / 3;
    }
}

static void test_selects_what_sorting_would_put_there(void **state)
{
    static double sorted[MOST], values[MOST];
    static const size_t counts[] = {1, 2, 12, 13, 100, 128, MOST};
    (void)state;
    for (unsigned shape = 0; shape < 6; shape++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            size_t count = counts[c];
            for (size_t i = 0; i < count; i++)
                sorted[i] = number_of(shape, i, count);
            pyro_sort_reals(sorted, count);
            for (size_t rank = 0; rank < count; rank += 1 + count / 17) {
                for (size_t i = 0; i < count; i++)
                    values[i] = number_of(shape, i, count);
                assert_true(pyro_select_real(values, count, rank) == sorted[rank]);
                pyro_sort_reals(values, count);
                assert_memory_equal(values, sorted, count * sizeof(*values)); /* none was lost */
            }
        }
}

/* The least values are at the places where pivots are looked for: of every part a few are cut off, and a sort does the
 * rest. */
static void test_selects_from_an_order_against_its_pivots(void **state)
{
    static double values[MOST], sorted[MOST];
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        values[i] = 1e6 + (double)(MOST - i);
    double next = 0;
    for (size_t left = MOST; left >= 128; left -= 7)
        for (size_t k = 0; k < 8; k++)
            if (values[MOST - left + k * (left / 8)] >= 1e6)
                values[MOST - left + k * (left / 8)] = next++;
    memcpy(sorted, values, sizeof(sorted));
    pyro_sort_reals(sorted, MOST);
    assert_true(pyro_select_real(values, MOST, MOST - 1) == sorted[MOST - 1]);
    memcpy(values, sorted, sizeof(sorted));
    assert_true(pyro_median(values, MOST) == sorted[MOST / 2]);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts),
                                       cmocka_unit_test(test_median),
                                       cmocka_unit_test(test_sorts_naturals),
                                       cmocka_unit_test(test_selects_what_sorting_would_put_there),
                                       cmocka_unit_test(test_selects_from_an_order_against_its_pivots),
                                       cmocka_unit_test(test_nearest_rank)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
