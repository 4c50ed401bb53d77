#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/app.h"

/* An application with one property. */
static struct pyro_app *app_with(const char *value)
{
    struct pyro_app *app = pyro_app_new(NULL);
    assert_non_null(app);
    struct pyro_property *property = pyro_vec_push(&app->properties, NULL);
    assert_non_null(property);
    *property = (struct pyro_property){PYRO_SLICE_LITERAL("spark"), PYRO_SLICE_LITERAL("k"), pyro_slice_from(value)};
    return app;
}

static int64_t size_of(const char *value)
{
    struct pyro_app *app = app_with(value);
    int64_t size = pyro_app_property_size(app, "k", 1024 * 1024, -7);
    pyro_app_release(app);
    return size;
}

static int64_t int_of(const char *value)
{
    struct pyro_app *app = app_with(value);
    int64_t number = pyro_app_property_int(app, "k", -7);
    pyro_app_release(app);
    return number;
}

static void test_sizes(void **state)
{
    (void)state;
    const int64_t kib = 1024;
    assert_int_equal(size_of("1g"), kib * kib * kib);
    assert_int_equal(size_of("512m"), 512 * kib * kib);
    assert_int_equal(size_of("64k"), 64 * kib);
    assert_int_equal(size_of("10t"), 10 * kib * kib * kib * kib);
    assert_int_equal(size_of("2p"), 2 * kib * kib * kib * kib * kib);
    assert_int_equal(size_of("100b"), 100);
    assert_int_equal(size_of(" 3GB "), 3 * kib * kib * kib);
    assert_int_equal(size_of("3Kb"), 3 * kib);
    assert_int_equal(size_of("5"), 5 * kib * kib);
    assert_int_equal(size_of("-1"), -kib * kib);
    static const char *const malformed[] = {"1.5g", "", "g", "1x", "1 g", "9999999999p", "99999999999999999999", "--1"};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
        assert_int_equal(size_of(malformed[i]), -7);
}

static void test_ints(void **state)
{
    (void)state;
    assert_int_equal(int_of("12"), 12);
    assert_int_equal(int_of(" -3 "), -3);
    assert_int_equal(int_of("+4"), 4);
    assert_int_equal(int_of("9223372036854775807"), INT64_MAX);
    assert_int_equal(int_of("9223372036854775808"), -7);
    assert_int_equal(int_of("1.0"), -7);
    assert_int_equal(int_of(""), -7);
}

/* A property that the log does not name is a null slice, which clang's sanitizer watches every reader step through. */
static void test_absent(void **state)
{
    (void)state;
    struct pyro_app *app = app_with("1");
    assert_int_equal(pyro_app_property_int(app, "absent", -7), -7);
    assert_int_equal(pyro_app_property_size(app, "absent", 1, -7), -7);
    assert_int_equal(pyro_app_property_time(app, "absent", 1, -7), -7);
    assert_true(pyro_property_decimal(PYRO_SLICE_NULL, -7) == -7);
    pyro_app_release(app);
}

static void test_bools(void **state)
{
    (void)state;
    struct pyro_app *app = app_with(" TRUE");
    assert_true(pyro_app_property_bool(app, "k", false));
    assert_true(pyro_app_property_bool(app, "absent", true));
    pyro_app_release(app);
    app = app_with("false");
    assert_false(pyro_app_property_bool(app, "k", true));
    pyro_app_release(app);
    app = app_with("yes");
    assert_true(pyro_app_property_bool(app, "k", true));
    pyro_app_release(app);
}

static void test_kinds(void **state)
{
    (void)state;
    static const char *const sorted[][2] = {{"hadoop", "a"}, {"metrics", "k"}, {"spark", "a"},
                                            {"spark", "b"},  {"spark", "k"},   {"system", "k"}};
    struct pyro_app *app = pyro_app_new(NULL);
    for (size_t i = 0; i < sizeof(sorted) / sizeof(sorted[0]); i++) {
        struct pyro_property *property = pyro_vec_push(&app->properties, NULL);
        assert_non_null(property);
        *property = (struct pyro_property){pyro_slice_from(sorted[i][0]), pyro_slice_from(sorted[i][1]),
                                           pyro_slice_from(sorted[i][0])};
    }
    assert_true(pyro_slice_is(pyro_app_property(app, "k"), "spark"));
    assert_true(pyro_slice_is(pyro_app_property(app, "a"), "spark"));
    assert_true(pyro_slice_is(pyro_app_property_of(app, "metrics", "k"), "metrics"));
    assert_null(pyro_app_property(app, "c").ptr);
    assert_null(pyro_app_property_of(app, "jvm", "k").ptr);
    pyro_app_release(app);
}

/* A session's value takes precedence over the application's, for its own execution only. */
static void test_sessions(void **state)
{
    (void)state;
    struct pyro_app *app = app_with("10");
    for (int64_t id = 3; id < 5; id++) {
        struct pyro_sql_execution *sql = pyro_vec_push(&app->sql, NULL);
        assert_non_null(sql);
        pyro_row_init(PYRO_TABLE_sql, sql);
        sql->id = id;
    }
    app->sql.items[0].modified_configs = PYRO_SLICE_LITERAL("kk=1\nk=20\nflag=true\nlast=a=b");
    assert_int_equal(pyro_sql_property_int(app, 3, "k", -7), 20);
    assert_int_equal(pyro_sql_property_size(app, 3, "k", 1024, -7), 20 * 1024);
    assert_true(pyro_sql_property_bool(app, 3, "flag", false));
    assert_true(pyro_slice_is(pyro_sql_property(app, 3, "last"), "a=b"));
    assert_int_equal(pyro_sql_property_int(app, 4, "k", -7), 10);
    assert_int_equal(pyro_sql_property_int(app, 9, "k", -7), 10);
    assert_int_equal(pyro_sql_property_int(app, PYRO_NONE, "k", -7), 10);
    assert_int_equal(pyro_sql_property_int(app, 3, "none", -7), -7);
    assert_null(pyro_sql_changed_property(app, 4, PYRO_SLICE_LITERAL("k")).ptr);
    pyro_app_release(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_ints),  cmocka_unit_test(test_absent),
        cmocka_unit_test(test_bools), cmocka_unit_test(test_kinds), cmocka_unit_test(test_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
