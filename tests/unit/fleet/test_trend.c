/* The trend of repeated runs, on numbers computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fleet/views/trend.h"

enum { RUNS = 12 };

/* Runs on 8 cores take 100 s, those on 4 take 200 s; one on 8 takes 200 s as well. Inputs of 1 to 6 GiB do not matter,
 * but the larger ones ran on fewer cores. */
static void test_outliers_among_equals(void **state)
{
    (void)state;
    double input[RUNS], duration[RUNS], cores[RUNS], unknown[RUNS];
    for (int i = 0; i < RUNS; i++) {
        bool few = i >= RUNS / 2;
        cores[i] = few ? 4 : 8;
        unknown[i] = NAN;
        duration[i] = few ? 200e3 : 100e3 + i;
        input[i] = (few ? 4 + i % 3 : 1 + i % 3) * 0x1p30;
    }
    struct pyro_arena arena;
    struct pyro_trend trend;
    pyro_arena_init(&arena, NULL);
    /* Without the cores the input seems to be the reason. */
    assert_true(pyro_trend_of(input, duration, unknown, RUNS, &arena, &trend));
    assert_true(trend.slope > 0.3);
    duration[3] = 200e3;
    assert_true(pyro_trend_of(input, duration, cores, RUNS, &arena, &trend));
    assert_true(trend.slope < 0.01);
    for (int i = 0; i < RUNS; i++)
        assert_true(fabs(trend.off[i] - (i == 3 ? log(2) : 0)) < 0.01);
    /* Two runs on other cores are too few for a median of their own. */
    cores[RUNS - 1] = cores[RUNS - 2] = 16;
    duration[RUNS - 1] = 400e3;
    assert_true(pyro_trend_of(input, duration, cores, RUNS, &arena, &trend));
    assert_true(fabs(trend.off[RUNS - 1]) > 0.2);
    pyro_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outliers_among_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
