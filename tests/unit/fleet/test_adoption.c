/* Who follows advice. What it saved: tests/e2e/test_fleet_adoption.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/adoption/adoption.h"

static enum pyro_adoption follows(const char *key, const char *previous, const char *advised, const char *actual)
{
    return pyro_adoption_of(pyro_slice_from(key), pyro_slice_from(previous), pyro_slice_from(advised),
                            pyro_slice_from(actual));
}

static void test_values_as_spark_reads_them(void **state)
{
    (void)state;
    const char *memory = "spark.executor.memory", *partitions = "spark.sql.shuffle.partitions";
    assert_int_equal(follows(memory, "2g", "4g", "4096m"), PYRO_ADOPTION_FULL);
    assert_int_equal(follows(memory, "2g", "4g", "4096"), PYRO_ADOPTION_FULL); /* MiB */
    /* 2 GiB to 4 GiB is one doubling: 80 % of the way is 2 GiB x 2^0.8 = 3.48 GiB. */
    assert_int_equal(follows(memory, "2g", "4g", "3566m"), PYRO_ADOPTION_FULL);
    assert_int_equal(follows(memory, "2g", "4g", "3565m"), PYRO_ADOPTION_PARTLY);
    assert_int_equal(follows(memory, "2g", "4g", "8g"), PYRO_ADOPTION_FULL);
    assert_int_equal(follows(memory, "2g", "4g", "2g"), PYRO_ADOPTION_NONE);
    assert_int_equal(follows(memory, "2g", "4g", "1g"), PYRO_ADOPTION_NONE);
    assert_int_equal(follows(partitions, "200", "50", "60"), PYRO_ADOPTION_FULL);
    assert_int_equal(follows(partitions, "200", "50", "100"), PYRO_ADOPTION_PARTLY);
    assert_int_equal(follows(partitions, "200", "50", "400"), PYRO_ADOPTION_NONE);
    /* Not set means Spark's default: 1g. */
    assert_int_equal(follows(memory, NULL, "4g", "2g"), PYRO_ADOPTION_PARTLY);
    assert_int_equal(follows(memory, "4g", "1g", NULL), PYRO_ADOPTION_FULL);
    assert_int_equal(follows("spark.speculation", NULL, "true", "true"), PYRO_ADOPTION_FULL);
    assert_int_equal(follows("spark.speculation", NULL, "true", NULL), PYRO_ADOPTION_NONE);
    assert_int_equal(follows("spark.speculation", "true", "false", NULL), PYRO_ADOPTION_FULL);
    /* Without a known default only the advised value itself counts. */
    assert_int_equal(follows("spark.executor.instances", NULL, "8", "7"), PYRO_ADOPTION_NONE);
    assert_int_equal(follows("spark.executor.instances", NULL, "8", "8"), PYRO_ADOPTION_FULL);
    assert_int_equal(follows("my.own.key", "a", "b", "b"), PYRO_ADOPTION_FULL);
    assert_int_equal(follows("my.own.key", "a", "b", "c"), PYRO_ADOPTION_NONE);
    assert_int_equal(follows("my.own.key", "a", "b", NULL), PYRO_ADOPTION_NONE);
    assert_int_equal(follows(memory, "4g", "4g", "2g"), PYRO_ADOPTION_NONE);
    assert_int_equal(follows(memory, "4g", "none", "2g"), PYRO_ADOPTION_NONE);
}

static struct pyro_adoption_span find(const char *const *values, size_t count, size_t advised_at)
{
    struct pyro_slice slices[16];
    for (size_t i = 0; i < count; i++)
        slices[i] = pyro_slice_from(values[i]);
    return pyro_adoption_find(pyro_slice_from("spark.executor.memory"), pyro_slice_from("2g"), pyro_slice_from("4g"),
                              slices, count, advised_at);
}

static void test_span(void **state)
{
    (void)state;
    const char *values[] = {"4g", "2g", "2g", "3g", "4g", "4096m", "4g", "6g", "4g"};
    struct pyro_adoption_span span = find(values, 9, 1);
    assert_int_equal(span.adoption, PYRO_ADOPTION_FULL);
    assert_int_equal(span.first, 4);
    assert_int_equal(span.end, 7);
    span = find(values, 4, 1);
    assert_int_equal(span.adoption, PYRO_ADOPTION_PARTLY);
    assert_int_equal(span.first, 4);
    assert_int_equal(span.end, 4);
    span = find(values, 3, 1);
    assert_int_equal(span.adoption, PYRO_ADOPTION_NONE);
    span = find(values, 6, 4);
    assert_int_equal(span.first, 5);
    assert_int_equal(span.end, 6);
    span = find(values, 1, 0);
    assert_int_equal(span.first, 1);
}

static void test_finding_is_gone(void **state)
{
    (void)state;
    const char *texts[] = {"1", "1", "1", "2", "2", "2", "2", "2"};
    bool found[] = {true, false, false, false, true, false, false, false};
    struct pyro_slice versions[8];
    for (int i = 0; i < 8; i++)
        versions[i] = pyro_slice_from(texts[i]);
    assert_int_equal(pyro_adoption_gone(versions, found, 8, 0), 5);
    assert_int_equal(pyro_adoption_gone(versions, found, 7, 0), 7);
    /* Without a new version it is only absent. */
    assert_int_equal(pyro_adoption_gone(versions, found, 3, 0), 3);
    found[4] = false;
    assert_int_equal(pyro_adoption_gone(versions, found, 8, 0), 3);
    assert_int_equal(pyro_adoption_gone(versions, found, 8, 3), 8);
}

static void test_too_few_runs(void **state)
{
    (void)state;
    struct pyro_adoption_run runs[6];
    struct pyro_arena arena;
    struct pyro_realised found;
    pyro_arena_init(&arena, NULL);
    for (int i = 0; i < 6; i++)
        runs[i] = (struct pyro_adoption_run){i < 3 ? 1000 + i : 500 + i, NAN, NAN, true};
    assert_true(pyro_realised_saving(runs, 3, 6, &arena, &found));
    assert_int_equal(found.verdict, PYRO_REALISED_YES);
    assert_string_equal(pyro_realised_verdict_name(found.verdict), "realised");
    assert_true(fabs(found.saved_ms - 1512 * (1001.0 / 504 - 1)) < 1e-6);
    assert_true(isnan(found.core_shift.shift));
    assert_true(pyro_realised_saving(runs, 3, 5, &arena, &found));
    assert_int_equal(found.verdict, PYRO_REALISED_TOO_FEW);
    assert_true(pyro_realised_saving(runs, 0, 6, &arena, &found));
    assert_int_equal(found.verdict, PYRO_REALISED_TOO_FEW);
    assert_true(isnan(found.shift.shift));
    runs[1].completed = false;
    assert_true(pyro_realised_saving(runs, 3, 6, &arena, &found));
    assert_int_equal(found.verdict, PYRO_REALISED_TOO_FEW);
    assert_true(fabs(found.failed_before.share - 1.0 / 3) < 1e-12);
    pyro_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_as_spark_reads_them),
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_finding_is_gone),
        cmocka_unit_test(test_too_few_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
