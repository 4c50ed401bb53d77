/* The layout that Jackson's printer gives Spark's answers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/spark/json.h"

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
    } rows[] = {{0, "0.0"},     {1835, "1835.0"}, {0.05, "0.05"},
                {-2.5, "-2.5"}, {NAN, "\"NaN\""}, {1.0 / 3, "0.3333333333333333"}};
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
        cmocka_unit_test(dates),
        cmocka_unit_test(reals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
