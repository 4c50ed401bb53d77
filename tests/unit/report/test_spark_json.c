/* The layout that Jackson's printer gives Spark's answers. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "report/sparkview/spark_json.h"

static void start(struct pyro_strbuf *out, struct spark_json *json)
{
    pyro_strbuf_init(out, NULL);
    *json = (struct spark_json){.out = out};
}

static void expect(struct pyro_strbuf *out, const char *text)
{
    assert_string_equal(out->data, text);
    pyro_strbuf_done(out);
}

static void nests(void **state)
{
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    pyro_spark_open_array(&json);
    for (int i = 0; i < 2; i++) {
        pyro_spark_element(&json);
        pyro_spark_open_object(&json);
        pyro_spark_put_int(&json, "id", i);
        pyro_spark_key(&json, "list");
        pyro_spark_open_array(&json);
        pyro_spark_element(&json);
        pyro_spark_integer(&json, 1);
        pyro_spark_element(&json);
        pyro_spark_integer(&json, -2);
        pyro_spark_close_array(&json);
        pyro_spark_close_object(&json);
    }
    pyro_spark_close_array(&json);
    expect(&out, "[ {\n  \"id\" : 0,\n  \"list\" : [ 1, -2 ]\n}, {\n  \"id\" : 1,\n  \"list\" : [ 1, -2 ]\n} ]");
}

static void empty_containers(void **state)
{
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    pyro_spark_open_object(&json);
    pyro_spark_key(&json, "a");
    pyro_spark_open_array(&json);
    pyro_spark_close_array(&json);
    pyro_spark_key(&json, "b");
    pyro_spark_open_object(&json);
    pyro_spark_close_object(&json);
    pyro_spark_close_object(&json);
    expect(&out, "{\n  \"a\" : [ ],\n  \"b\" : { }\n}");
}

static void unknown_members_are_left_out(void **state)
{
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    pyro_spark_open_object(&json);
    pyro_spark_put_text(&json, "none", PYRO_SLICE_NULL);
    pyro_spark_put_time(&json, "never", 0);
    pyro_spark_put_text(&json, "empty", PYRO_SLICE_LITERAL(""));
    pyro_spark_put_bool(&json, "yes", true);
    pyro_spark_close_object(&json);
    expect(&out, "{\n  \"empty\" : \"\",\n  \"yes\" : true\n}");
}

static void escapes(void **state)
{
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    pyro_spark_text(&json, PYRO_SLICE_LITERAL("a\"\\\n\t\x01\0/\xc3\xa9"));
    expect(&out, "\"a\\\"\\\\\\n\\t\\u0001\\u0000/\xc3\xa9\"");
}

/* Every byte at every place of texts of every length up to a few words, between bytes that look much like it. */
static void escapes_at_every_place(void **state)
{
    enum { LONGEST = 27 };
    char text[LONGEST], expected[6 * LONGEST + 3];
    (void)state;
    for (size_t len = 1; len <= LONGEST; len++) {
        for (size_t place = 0; place < len; place++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                struct pyro_strbuf out;
                struct spark_json json;
                memset(text, byte == '!' ? '#' : '!', len);
                if (place + 1 < len)
                    text[place + 1] = ']';
                text[place] = (char)byte;
                const char *letter = byte ? strchr("\bb\tt\nn\ff\rr\"\"\\\\", (int)byte) : NULL;
                bool plain = byte >= 0x20 && byte != '"' && byte != '\\';
                int at = sprintf(expected, "\"%.*s", (int)place, text);
                if (plain)
                    at += sprintf(expected + at, "%c", byte);
                else if (letter)
                    at += sprintf(expected + at, "\\%c", letter[1]);
                else
                    at += sprintf(expected + at, "\\u%04X", byte);
                sprintf(expected + at, "%.*s\"", (int)(len - place - 1), text + place + 1);
                start(&out, &json);
                pyro_spark_text(&json, (struct pyro_slice){text, len});
                expect(&out, expected);
            }
        }
    }
}

static void expect_integer(int64_t value)
{
    struct pyro_strbuf out;
    struct spark_json json;
    char expected[40];
    snprintf(expected, sizeof(expected), "%" PRId64, value);
    start(&out, &json);
    pyro_spark_integer(&json, value);
    expect(&out, expected);
}

static void integers(void **state)
{
    (void)state;
    uint64_t power = 1;
    for (int digits = 0; digits < 20; digits++, power *= 10) {
        for (int64_t off = -11; off <= 11; off++) {
            expect_integer((int64_t)(power + (uint64_t)off));
            expect_integer((int64_t)(0 - power + (uint64_t)off));
        }
    }
    for (int bit = 0; bit < 64; bit++)
        expect_integer((int64_t)((uint64_t)1 << bit));
    expect_integer(INT64_MAX);
    expect_integer(INT64_MIN);
}

static void tables_of_integers(void **state)
{
    static const struct spark_name names[] = {SPARK_NAME("a"), SPARK_NAME("aLongerName"), SPARK_NAME("b")};
    const int64_t values[] = {0, INT64_MIN, 12};
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    pyro_spark_open_object(&json);
    pyro_spark_put_ints(&json, names, values, 3);
    pyro_spark_name(&json, &names[1]);
    pyro_spark_open_object(&json);
    pyro_spark_put_ints(&json, names, values, 1);
    pyro_spark_close_object(&json);
    pyro_spark_close_object(&json);
    expect(&out, "{\n  \"a\" : 0,\n  \"aLongerName\" : -9223372036854775808,\n  \"b\" : 12,\n"
                 "  \"aLongerName\" : {\n    \"a\" : 0\n  }\n}");
}

static void unknown_numbers_are_not_stored(void **state)
{
    static const struct spark_name names[] = {SPARK_NAME("a"), SPARK_NAME("b"), SPARK_NAME("c")};
    const int64_t values[] = {PYRO_NONE, 1, PYRO_NONE};
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    json.brief = true;
    pyro_spark_open_object(&json);
    pyro_spark_put_int(&json, "x", PYRO_NONE);
    pyro_spark_put_ints(&json, names, values, 3);
    pyro_spark_put_int(&json, "y", 2);
    pyro_spark_close_object(&json);
    expect(&out, "{\"b\" : 1,\"y\" : 2}");
}

static void deep_objects(void **state)
{
    enum { DEPTH = 40 };
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    for (int i = 0; i < DEPTH; i++) {
        pyro_spark_open_object(&json);
        pyro_spark_key(&json, "k");
    }
    pyro_spark_integer(&json, 7);
    for (int i = 0; i < DEPTH; i++)
        pyro_spark_close_object(&json);
    const char *innermost = strchr(out.data, '7');
    assert_non_null(innermost);
    assert_int_equal(innermost - strlen("\"k\" : ") - 2 * (ptrdiff_t)DEPTH - 1 >= out.data, true);
    const char *line = innermost - strlen("\"k\" : ") - 2 * (ptrdiff_t)DEPTH;
    assert_int_equal(line[-1], '\n');
    for (int i = 0; i < 2 * DEPTH; i++)
        assert_int_equal(line[i], ' ');
    pyro_strbuf_done(&out);
}

/* Every day of a thousand years, at a time of day that moves on, as the C library splits it. */
static void days(void **state)
{
    (void)state;
    for (int64_t day = -150000; day < 220000; day++) {
        time_t seconds = (time_t)(day * 86400 + (day + 150000) % 86400);
        struct tm parts;
        struct pyro_strbuf out;
        struct spark_json json;
        char expected[64];
        assert_non_null(gmtime_r(&seconds, &parts));
        snprintf(expected, sizeof(expected), "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dGMT\"", parts.tm_year + 1900,
                 parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                 (int)(day + 150000) % 1000);
        start(&out, &json);
        pyro_spark_date(&json, (int64_t)seconds * 1000 + (day + 150000) % 1000);
        expect(&out, expected);
    }
}

static void any_time_is_written(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, -62135596800001, 253402300800000};
    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        struct pyro_strbuf out;
        struct spark_json json;
        start(&out, &json);
        pyro_spark_date(&json, times[i]);
        assert_true(out.len >= sizeof("\"0000-00-00T00:00:00.000GMT\"") - 1);
        assert_int_equal(out.data[out.len - 1], '"');
        pyro_strbuf_done(&out);
    }
}

static void dates(void **state)
{
    struct pyro_strbuf out;
    struct spark_json json;
    (void)state;
    start(&out, &json);
    pyro_spark_open_object(&json);
    pyro_spark_put_date(&json, "running", -1); /* Spark's end of what has not ended */
    pyro_spark_put_date(&json, "start", 1422981780767);
    pyro_spark_close_object(&json);
    expect(&out, "{\n  \"running\" : \"1969-12-31T23:59:59.999GMT\",\n  \"start\" : \"2015-02-03T16:43:00.767GMT\"\n}");
}

static void reals(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0.0"},
        {1835, "1835.0"},
        {0.05, "0.05"},
        {-2.5, "-2.5"},
        {NAN, "\"NaN\""},
        {INFINITY, "\"Infinity\""},
        {-INFINITY, "\"-Infinity\""},
        {1.0 / 3, "0.3333333333333333"},
        {-0.0, "-0.0"},
        {-7, "-7.0"},
        {9999999, "9999999.0"},
        {10000000, "1.0E7"},
        {-12345678.5, "-1.23456785E7"},
        {999999999999999, "9.99999999999999E14"},
        {1e22, "1.0E22"},
        {123456.75, "123456.75"},
        {0.001, "0.001"},
        {0.00099, "9.9E-4"},
        {DBL_MAX, "1.7976931348623157E308"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pyro_strbuf out;
        struct spark_json json;
        start(&out, &json);
        pyro_spark_real(&json, rows[i].value);
        expect(&out, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests),
        cmocka_unit_test(empty_containers),
        cmocka_unit_test(unknown_members_are_left_out),
        cmocka_unit_test(escapes),
        cmocka_unit_test(escapes_at_every_place),
        cmocka_unit_test(integers),
        cmocka_unit_test(tables_of_integers),
        cmocka_unit_test(unknown_numbers_are_not_stored),
        cmocka_unit_test(deep_objects),
        cmocka_unit_test(days),
        cmocka_unit_test(any_time_is_written),
        cmocka_unit_test(dates),
        cmocka_unit_test(reals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
