/* Sizes, durations and days: a table for each unit. tests/unit/base/check_units.py compares what this command says of
 * generated texts with an oracle: lines of "size UNIT TEXT", "time UNIT TEXT", "date TEXT" and "day NUMBER" on stdin.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/numbers/calendar.h"
#include "base/numbers/units.h"

static int64_t size_of(const char *text)
{
    int64_t bytes;
    return pyro_spark_size_read(pyro_slice_from(text), 1 << 20, &bytes) ? bytes : -7;
}

static int64_t time_of(const char *text)
{
    int64_t ms;
    return pyro_spark_time_read(pyro_slice_from(text), 1000, &ms) ? ms : -7;
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *letters;
        int64_t bytes;
    } units[] = {{"b", 1},
                 {"k", INT64_C(1) << 10},
                 {"m", INT64_C(1) << 20},
                 {"g", INT64_C(1) << 30},
                 {"t", INT64_C(1) << 40},
                 {"p", INT64_C(1) << 50}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        char text[16];
        snprintf(text, sizeof(text), "3%s", units[i].letters);
        assert_int_equal(size_of(text), 3 * units[i].bytes);
        snprintf(text, sizeof(text), " -3%sB ", i == 0 ? "" : units[i].letters);
        assert_int_equal(size_of(text), -3 * units[i].bytes);
        snprintf(text, sizeof(text), "3%sib", units[i].letters);
        assert_int_equal(size_of(text), -7); /* Spark does not know KiB */
        assert_int_equal(pyro_size_suffix(pyro_slice_from(text + 1)), i == 0 ? 0 : units[i].bytes);
    }
    assert_int_equal(size_of("5"), 5 << 20);
    assert_int_equal(size_of("8191p"), INT64_C(8191) << 50);
    static const char *const refused[] = {"",    " ",   "-",   "g",   "1.5g",  "1.0g",
                                          "1 g", "1gg", "+1g", "--1", "8192p", "9223372036854775808b"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_int_equal(size_of(refused[i]), -7);
    int64_t bytes;
    assert_false(pyro_spark_size_read(PYRO_SLICE_NULL, 1, &bytes));
}

static void test_times(void **state)
{
    (void)state;
    assert_int_equal(time_of("1500us"), 1);
    assert_int_equal(time_of("-1500US"), -1);
    assert_int_equal(time_of("3ms"), 3);
    assert_int_equal(time_of("3s"), 3000);
    assert_int_equal(time_of("3m"), 180000);
    assert_int_equal(time_of("3Min"), 180000);
    assert_int_equal(time_of("3h"), 10800000);
    assert_int_equal(time_of("3d"), 259200000);
    assert_int_equal(time_of("3"), 3000);
    assert_int_equal(time_of("\t-3s\n"), -3000);
    static const char *const refused[] = {
        "", "s", "1.5s", "3 s", "3sec", "3w", "3y", "9223372036854775808ms", "106751991168d"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_int_equal(time_of(refused[i]), -7);
}

/* Whatever the length: digits are counted, not stored. */
static void test_long_texts(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    int64_t number;
    double real;
    memset(text, '0', LENGTH);
    text[LENGTH] = '\0';
    text[LENGTH - 2] = '7';
    text[LENGTH - 1] = 'k';
    assert_true(pyro_spark_size_read(pyro_slice_from(text), 1, &number));
    assert_int_equal(number, 7 << 10);
    memset(text, '9', LENGTH);
    assert_false(pyro_spark_size_read(pyro_slice_from(text), 1, &number));
    assert_false(pyro_spark_time_read(pyro_slice_from(text), 1, &number));
    assert_false(pyro_decimal_read(pyro_slice_from(text), &real));
    memset(text, ' ', LENGTH);
    assert_false(pyro_spark_time_read(pyro_slice_from(text), 1, &number));
    memset(text, 'k', LENGTH);
    text[0] = '1';
    assert_false(pyro_spark_size_read(pyro_slice_from(text), 1, &number));
    free(text);
}

static void test_decimals(void **state)
{
    (void)state;
    double value = -1;
    assert_true(pyro_decimal_read(PYRO_SLICE_LITERAL("0.1875"), &value) && value == 0.1875);
    assert_true(pyro_decimal_read(PYRO_SLICE_LITERAL("0.1"), &value) && value == 0.1);
    assert_true(pyro_decimal_read(PYRO_SLICE_LITERAL("12"), &value) && value == 12);
    static const char *const refused[] = {"", ".", "1.2.3", "-1", "1e3", "nan", "1,5", "1234567890.123456"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_false(pyro_decimal_read(pyro_slice_from(refused[i]), &value));
}

static void test_days(void **state)
{
    (void)state;
    static const struct {
        int64_t days, year;
        unsigned month, day;
    } rows[] = {{0, 1970, 1, 1},     {-1, 1969, 12, 31}, {11016, 2000, 2, 29}, {19782, 2024, 2, 29},
                {47541, 2100, 3, 1}, {-719468, 0, 3, 1}, {-719469, 0, 2, 29},  {2932896, 9999, 12, 31}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int64_t year;
        unsigned month, day;
        pyro_day_split(rows[i].days, &year, &month, &day);
        assert_true(year == rows[i].year && month == rows[i].month && day == rows[i].day);
        assert_int_equal(pyro_days_of(year, month, day), rows[i].days);
    }
}

static void test_fractions_of_a_second(void **state)
{
    (void)state;
    int64_t ms = 0;
    bool zoned = false;
    assert_int_equal(pyro_date_time_read(PYRO_SLICE_LITERAL("1970-01-01T00:00:00.5Z"), &ms, &zoned), 22);
    assert_int_equal(ms, 500);
    assert_true(zoned);
}

static void answer(char *line)
{
    char *kind = strtok(line, " ");
    int64_t result = 0;
    bool good = false;
    if (kind && (strcmp(kind, "size") == 0 || strcmp(kind, "time") == 0)) {
        const char *unit = strtok(NULL, " "), *text = strtok(NULL, "");
        struct pyro_slice slice = pyro_slice_from(text ? text : "");
        int64_t number = unit ? strtoll(unit, NULL, 10) : 0;
        good =
            *kind == 's' ? pyro_spark_size_read(slice, number, &result) : pyro_spark_time_read(slice, number, &result);
    } else if (kind && strcmp(kind, "date") == 0) {
        const char *text = strtok(NULL, "");
        bool zoned;
        good = text && pyro_date_time_read(pyro_slice_from(text), &result, &zoned) == strlen(text);
    } else if (kind && strcmp(kind, "day") == 0) {
        const char *text = strtok(NULL, "");
        int64_t year;
        unsigned month, day;
        pyro_day_split(text ? strtoll(text, NULL, 10) : 0, &year, &month, &day);
        printf("%" PRId64 "-%u-%u %" PRId64 "\n", year, month, day, pyro_days_of(year, month, day));
        return;
    }
    if (good)
        printf("%" PRId64 "\n", result);
    else
        printf("refused\n");
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "--answer") == 0) {
        char line[4096];
        while (fgets(line, sizeof(line), stdin)) {
            line[strcspn(line, "\n")] = '\0';
            answer(line);
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_times), cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_decimals), cmocka_unit_test(test_days),  cmocka_unit_test(test_fractions_of_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
