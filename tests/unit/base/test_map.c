#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/collections/map.h"

static void test_put_and_get(void **state)
{
    (void)state;
    struct pyro_map map;
    pyro_map_init(&map, NULL);
    assert_null(pyro_map_get(&map, 1));
    for (uint64_t i = 0; i < 10000; i++) {
        bool added;
        uint64_t *value = pyro_map_put(&map, i * 0x100000001ULL, &added);
        assert_true(added);
        *value = i;
    }
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(*pyro_map_get(&map, i * 0x100000001ULL), i);
    assert_null(pyro_map_get(&map, 5));
    assert_int_equal(map.count, 10000);
    pyro_map_done(&map);
}

static void test_id_set(void **state)
{
    (void)state;
    struct pyro_id_set set;
    pyro_id_set_init(&set, NULL);
    const int64_t ids[] = {0, 1, 63, 64, -1, INT64_MAX, INT64_MIN, 1000000};
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        assert_false(pyro_id_set_has(&set, ids[i]));
        assert_int_equal(pyro_id_set_add(&set, ids[i]), 1);
        assert_int_equal(pyro_id_set_add(&set, ids[i]), 0);
        assert_true(pyro_id_set_has(&set, ids[i]));
    }
    assert_int_equal(set.count, sizeof(ids) / sizeof(*ids));
    assert_false(pyro_id_set_has(&set, 2));
    pyro_id_set_done(&set);
}

static void test_value_map(void **state)
{
    (void)state;
    struct pyro_value_map map;
    pyro_value_map_init(&map, NULL);
    assert_int_equal(pyro_value_map_get(&map, 7), PYRO_VALUE_NONE);
    for (int64_t i = -3000; i < 3000; i += 3) {
        int64_t *value = pyro_value_map_put(&map, i);
        assert_int_equal(*value, PYRO_VALUE_NONE);
        *value = 10 * i;
    }
    for (int64_t i = -3000; i < 3000; i++)
        assert_int_equal(pyro_value_map_get(&map, i), i % 3 == 0 ? 10 * i : PYRO_VALUE_NONE);
    *pyro_value_map_put(&map, INT64_MAX) = 1;
    assert_int_equal(pyro_value_map_get(&map, INT64_MAX), 1);
    pyro_value_map_done(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_and_get),
        cmocka_unit_test(test_id_set),
        cmocka_unit_test(test_value_map),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
