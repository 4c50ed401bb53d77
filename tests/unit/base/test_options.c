#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/options.h"

/* A struct as this library knows it, and as a later one does. */
struct known {
    size_t size;
    int first, second;
};
struct newer {
    size_t size;
    int first, second, third, fourth;
};

static void test_take(void **state)
{
    (void)state;
    struct known own = {sizeof(own), 10, 20};
    assert_true(pyro_struct_take(&own, sizeof(own), NULL));
    assert_true(own.first == 10 && own.second == 20);
    const size_t first_only = offsetof(struct known, second);
    struct known older = {first_only, 1, 99};
    assert_true(pyro_struct_take(&own, sizeof(own), &older));
    assert_true(own.size == sizeof(own) && own.first == 1 && own.second == 20);
    struct newer newer = {sizeof(newer), 3, 4, 0, 0};
    assert_true(pyro_struct_take(&own, sizeof(own), &newer));
    assert_true(own.size == sizeof(own) && own.first == 3 && own.second == 4);
    newer.fourth = 1;
    assert_false(pyro_struct_take(&own, sizeof(own), &newer));
    static const size_t wrong[] = {0, 1, sizeof(size_t) - 1, 1 << 20, SIZE_MAX};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct known unset = {wrong[i], 5, 6};
        assert_false(pyro_struct_take(&own, sizeof(own), &unset));
    }
    assert_true(own.first == 3 && own.second == 4);
}

static void test_give(void **state)
{
    (void)state;
    const struct known own = {sizeof(own), 1, 2};
    struct known same = {sizeof(same), 0, 0};
    assert_int_equal(PYRO_GIVE(&same, &own), PYRO_OK);
    assert_true(same.size == sizeof(same) && same.first == 1 && same.second == 2);
    struct known older = {offsetof(struct known, second), 0, 99};
    assert_int_equal(pyro_struct_give(&older, sizeof(own), &own), PYRO_OK);
    assert_true(older.size == offsetof(struct known, second) && older.first == 1 && older.second == 99);
    struct newer newer = {sizeof(newer), 7, 7, 7, 7};
    assert_int_equal(pyro_struct_give(&newer, sizeof(own), &own), PYRO_OK);
    assert_true(newer.size == sizeof(newer) && newer.first == 1 && newer.second == 2);
    assert_true(newer.third == 0 && newer.fourth == 0);
    struct known unset = {0, 8, 9};
    assert_int_equal(PYRO_GIVE(&unset, &own), PYRO_ERROR_ARGUMENT);
    assert_true(unset.first == 8 && unset.second == 9);
    assert_int_equal(pyro_struct_give(NULL, sizeof(own), &own), PYRO_ERROR_ARGUMENT);
}

/* An error without its size is left alone, and what fails says so nevertheless. */
static void test_error_without_size(void **state)
{
    (void)state;
    struct pyro_error error, before;
    memset(&error, 0x55, sizeof(error));
    error.size = 0;
    memcpy(&before, &error, sizeof(error));
    assert_int_equal(pyro_error_set(&error, PYRO_ERROR_INPUT, "no"), PYRO_ERROR_INPUT);
    pyro_error_at(&error, "path", 1);
    assert_int_equal(pyro_error_lasts(&error, PYRO_ERROR_INPUT), PYRO_ERROR_INPUT);
    pyro_error_clear(&error);
    pyro_error_copy(&error, &before);
    assert_memory_equal(&error, &before, sizeof(error));
}

static void test_resolve(void **state)
{
    (void)state;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_load_settings settings;
    assert_int_equal(pyro_load_resolve(NULL, NULL, &settings, &error), PYRO_OK);
    assert_true(settings.threads > 0);
    assert_int_equal(settings.max_record_bytes, 256 << 20);
    /* A shorter struct of an older caller: what lies behind it is not looked at. */
    struct pyro_load_options load = {.size = offsetof(struct pyro_load_options, wanted), .max_record_bytes = 1};
    load.wanted = UINT32_MAX;
    assert_int_equal(pyro_load_resolve(&load, NULL, &settings, &error), PYRO_OK);
    assert_int_equal(settings.max_record_bytes, 4096);
    assert_int_equal(settings.wanted, 0);
    const struct pyro_remote_options remote = {.limit = 1};
    load = (struct pyro_load_options){.size = sizeof(load), .remote = &remote};
    assert_int_equal(pyro_load_resolve(&load, NULL, &settings, &error), PYRO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "remote"));
    const struct pyro_allocator allocator = {0};
    const struct pyro_options options = {.size = sizeof(options), .allocator = &allocator};
    assert_int_equal(pyro_load_resolve(NULL, &options, &settings, &error), PYRO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "allocator"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_take), cmocka_unit_test(test_give),
                                       cmocka_unit_test(test_error_without_size), cmocka_unit_test(test_resolve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
