#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "serve/spark/select.h"
#include "serve/spark/sort.h"

static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

/* At some ranks, some of them twice, it finds what sorting finds. */
static void check(struct spark_select_room *room, const int64_t *values, size_t count)
{
    size_t ranks[SPARK_SELECT_RANKS];
    int64_t picked[SPARK_SELECT_RANKS];
    int64_t *sorted = malloc(count * sizeof(*sorted)), *copy = malloc(count * sizeof(*copy));
    assert_non_null(sorted);
    assert_non_null(copy);
    for (size_t i = 0; i < count; i++)
        sorted[i] = copy[i] = values[i];
    assert_true(pyro_spark_sort(sorted, NULL, count));
    for (size_t wanted = 0; wanted <= SPARK_SELECT_RANKS; wanted += 8) {
        for (size_t i = 0; i < wanted; i++)
            ranks[i] = wanted > 8 ? i * (count - 1) / (wanted - 1) : (i / 2) * (count - 1) / 3;
        for (size_t i = 0; i < count; i++)
            copy[i] = values[i];
        assert_true(pyro_spark_select(room, copy, count, ranks, wanted, picked));
        for (size_t i = 0; i < wanted; i++)
            assert_int_equal(picked[i], sorted[ranks[i]]);
    }
    free(copy);
    free(sorted);
}

static void test_any_numbers(void **state)
{
    static const uint64_t masks[] = {0, 1, 0xff, 0xffff, 0xffffff, UINT32_MAX, UINT64_MAX};
    static const size_t counts[] = {1, 2, 23, 24, 25, 100, 511, 513, 5000, 40000, 100000};
    struct spark_select_room room = {0};
    uint64_t random = 88172645463325252ULL;
    int64_t *values = malloc(100000 * sizeof(*values));
    (void)state;
    assert_non_null(values);
    for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++) {
        for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
            for (size_t i = 0; i < counts[c]; i++)
                values[i] = (int64_t)((next_random(&random) & masks[m]) - (masks[m] >> 1));
            check(&room, values, counts[c]);
            /* Nearly all equal, and a few far away: the bins are of no use. */
            for (size_t i = 0; i < counts[c]; i++)
                if (i % 50)
                    values[i] &= 0x7f;
            check(&room, values, counts[c]);
        }
    }
    pyro_spark_select_done(&room);
    free(values);
}

static void test_ends_of_the_range(void **state)
{
    struct spark_select_room room = {0};
    int64_t values[600];
    (void)state;
    for (size_t i = 0; i < 600; i++)
        values[i] = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN : (int64_t)i;
    check(&room, values, 600);
    check(&room, values, 60);
    pyro_spark_select_done(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_numbers),
        cmocka_unit_test(test_ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
