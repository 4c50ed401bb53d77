#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "serve/spark/sort.h"

/* Sorts by value, equal ones in their old order: `beside` numbers them. */
static void check(int64_t *values, size_t count)
{
    uint32_t *beside = malloc((count + 1) * sizeof(*beside));
    int64_t *before = malloc((count + 1) * sizeof(*before));
    assert_non_null(beside);
    assert_non_null(before);
    for (size_t i = 0; i < count; i++) {
        before[i] = values[i];
        beside[i] = (uint32_t)i;
    }
    assert_true(pyro_spark_sort(values, beside, count));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(values[i], before[beside[i]]);
        if (i > 0)
            assert_true(values[i - 1] < values[i] || (values[i - 1] == values[i] && beside[i - 1] < beside[i]));
    }
    assert_true(pyro_spark_sort(before, NULL, count));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(before[i], values[i]);
    free(before);
    free(beside);
}

static void test_any_numbers(void **state)
{
    (void)state;
    static const uint64_t masks[] = {0, 1, 0xff, 0xffff, 0xffffff, UINT32_MAX, UINT64_MAX};
    uint64_t random = 88172645463325252ULL;
    int64_t values[1000];
    for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++) {
        for (size_t count = 0; count <= 1000; count = count < 40 ? count + 1 : count + 240) {
            for (size_t i = 0; i < count; i++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                values[i] = (int64_t)((random & masks[m]) - (masks[m] >> 1));
            }
            check(values, count);
        }
    }
}

static void test_ends_of_the_range(void **state)
{
    (void)state;
    int64_t values[60];
    for (size_t i = 0; i < 60; i++)
        values[i] = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN : 0;
    check(values, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_numbers),
        cmocka_unit_test(test_ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
