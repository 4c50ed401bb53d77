#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strings/intern.h"

static void test_same_text_same_number(void **state)
{
    (void)state;
    struct pyro_string_pool *pool = pyro_string_pool_new(NULL);
    char text[32];
    assert_int_equal(pyro_intern(pool, PYRO_SLICE_LITERAL("")), 0);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            int len = snprintf(text, sizeof(text), "text-%u", i);
            assert_int_equal(pyro_intern(pool, (struct pyro_slice){text, (size_t)len}), i + 1);
        }
    assert_int_equal(pyro_string_pool_count(pool), 5001);
    assert_string_equal(pyro_string_pool_text(pool, 42).ptr, "text-41");
    assert_null(pyro_string_pool_text(pool, 9999).ptr);
    assert_null(pyro_intern_slice(pool, PYRO_SLICE_NULL).ptr);
    pyro_string_pool_release(pool);
}

static void test_snapshot_is_independent(void **state)
{
    (void)state;
    struct pyro_string_pool *pool = pyro_string_pool_new(NULL);
    uint32_t before = pyro_intern(pool, PYRO_SLICE_LITERAL("before"));
    struct pyro_string_pool *copy = pyro_string_pool_snapshot(pool);
    uint32_t after = pyro_intern(pool, PYRO_SLICE_LITERAL("after"));
    assert_null(pyro_string_pool_text(copy, after).ptr);
    assert_int_equal(pyro_intern(copy, PYRO_SLICE_LITERAL("other")), after);
    assert_int_equal(pyro_intern(copy, PYRO_SLICE_LITERAL("before")), before);
    pyro_string_pool_release(pool);
    assert_string_equal(pyro_string_pool_text(copy, before).ptr, "before"); /* the copy keeps the texts alive */
    pyro_string_pool_release(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_text_same_number),
        cmocka_unit_test(test_snapshot_is_independent),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
