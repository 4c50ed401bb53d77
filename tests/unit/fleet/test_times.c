/* Times as people give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fleet/views/times.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01 */

static int64_t time_of(const char *text)
{
    int64_t ms = -1;
    assert_true(pyro_fleet_time(text, NOW, &ms));
    return ms;
}

static void test_dates(void **state)
{
    (void)state;
    assert_int_equal(time_of("1970-01-01"), 0);
    assert_int_equal(time_of("2026-01-01"), NOW);
    assert_int_equal(time_of("2026-01-01T00:00:00Z"), NOW);
    assert_int_equal(time_of("2026-01-01 12:30"), NOW + 45000000);
    assert_int_equal(time_of("2024-02-29T23:59:59"), INT64_C(1709251199000));
    assert_int_equal(time_of("2100-03-01"), INT64_C(4107542400000)); /* 2100 has no 29 February */
    assert_int_equal(time_of("1969-12-31T23:59:59"), -1000);
}

static void test_other_forms(void **state)
{
    (void)state;
    assert_int_equal(time_of("1767225600000"), NOW);
    assert_int_equal(time_of("90m"), NOW - 5400000);
    assert_int_equal(time_of("24h"), NOW - 86400000);
    assert_int_equal(time_of("30d"), NOW - INT64_C(2592000000));
    assert_int_equal(time_of("1w"), NOW - 604800000);
    assert_int_equal(time_of("0d"), NOW);
}

static void test_what_is_no_time(void **state)
{
    static const char *const texts[] = {"",
                                        "now",
                                        "2026",
                                        "2026-1-01",
                                        "2026-13-01",
                                        "2026-01-32",
                                        "2026-01-01T",
                                        "2026-01-01T24:00",
                                        "2026-01-01x",
                                        "30",
                                        "d",
                                        "30y",
                                        "1234567d",
                                        "-5d",
                                        "12345678",
                                        "2026-01-01T12",
                                        "1e9"};
    int64_t ms = 7;
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_false(pyro_fleet_time(texts[i], NOW, &ms));
    assert_int_equal(ms, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dates), cmocka_unit_test(test_other_forms),
                                       cmocka_unit_test(test_what_is_no_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
