#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/discovery/names.h"

static const struct {
    const char *base;
    enum pyro_name_kind kind;
    uint64_t number;
    const char *key;
    bool compacted, in_progress, newest;
} CASES[] = {
    {"app-1", PYRO_NAME_SINGLE, 0, "app-1", false, false, false},
    {"app-1.zstd.inprogress", PYRO_NAME_SINGLE, 0, "app-1.zstd.inprogress", false, true, false},
    {"app-1.inprogress", PYRO_NAME_SINGLE, 0, "app-1.inprogress", false, true, false},
    {"app-1.inprogressive", PYRO_NAME_SINGLE, 0, "app-1.inprogressive", false, false, false},
    {"", PYRO_NAME_IGNORED, 0, NULL, false, false, false},
    {".app-1.crc", PYRO_NAME_IGNORED, 0, NULL, false, false, false},
    {"app-1.crc", PYRO_NAME_IGNORED, 0, NULL, false, false, false},
    {"_SUCCESS", PYRO_NAME_IGNORED, 0, NULL, false, false, false},
    {"events_1_app-1", PYRO_NAME_PART, 1, "app-1", false, false, false},
    {"events_12_app_1_2.zstd", PYRO_NAME_PART, 12, "app_1_2", false, false, false},
    {"events_3_app.lz4.compact", PYRO_NAME_PART, 3, "app", true, false, false},
    {"events_3_app.compact", PYRO_NAME_PART, 3, "app", true, false, false},
    {"events_3_app.compact.lz4", PYRO_NAME_PART, 3, "app", true, false, false},
    {"events_3_app.compacted", PYRO_NAME_PART, 3, "app", false, false, false},
    {"events_18446744073709551615_a", PYRO_NAME_PART, UINT64_MAX, "a", false, false, false},
    {"events_18446744073709551616_a", PYRO_NAME_SINGLE, 0, "events_18446744073709551616_a", false, false, false},
    {"events_1_", PYRO_NAME_SINGLE, 0, "events_1_", false, false, false},
    {"events_1", PYRO_NAME_SINGLE, 0, "events_1", false, false, false},
    {"events_x_app", PYRO_NAME_SINGLE, 0, "events_x_app", false, false, false},
    {"events_", PYRO_NAME_SINGLE, 0, "events_", false, false, false},
    {"appstatus_app_1", PYRO_NAME_STATUS, 0, "app_1", false, false, false},
    {"appstatus_app.inprogress", PYRO_NAME_STATUS, 0, "app", false, true, false},
    {"eventlog", PYRO_NAME_DATABRICKS, 0, NULL, false, false, true},
    {"eventlog-2024-05-06--07-08.gz", PYRO_NAME_DATABRICKS, 0, NULL, false, false, false},
    {"eventlog-2024-05-06--07-08", PYRO_NAME_DATABRICKS, 0, NULL, false, false, false},
    {"eventlog-2024-05-06--07-0", PYRO_NAME_SINGLE, 0, "eventlog-2024-05-06--07-0", false, false, false},
    {"eventlog-2024-05-06T07-08", PYRO_NAME_SINGLE, 0, "eventlog-2024-05-06T07-08", false, false, false},
    {"eventlog_v2_app", PYRO_NAME_SINGLE, 0, "eventlog_v2_app", false, false, false},
};

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct pyro_name name = pyro_name_of(pyro_slice_from(CASES[i].base));
        assert_int_equal(name.kind, CASES[i].kind);
        assert_true(name.number == CASES[i].number);
        assert_int_equal(name.compacted, CASES[i].compacted);
        assert_int_equal(name.in_progress, CASES[i].in_progress);
        assert_int_equal(name.newest, CASES[i].newest);
        if (CASES[i].key)
            assert_true(pyro_slice_is(name.key, CASES[i].key));
    }
}

static void test_natural_order(void **state)
{
    (void)state;
    static const char *const ORDER[] = {"",   "a",    "a1",    "a01",    "a2",      "a10",   "a10b",    "a100",
                                        "ab", "b1-9", "b1-10", "b01-10", "b2_0002", "b2_10", "\xc3\xa9"};
    /* "a01" and "a1" have equal values: the longer spelling decides by bytes, '0' before '1'. */
    for (size_t i = 0; i < sizeof(ORDER) / sizeof(ORDER[0]); i++) {
        for (size_t j = 0; j < sizeof(ORDER) / sizeof(ORDER[0]); j++) {
            int order = pyro_natural_compare(pyro_slice_from(ORDER[i]), pyro_slice_from(ORDER[j]));
            bool zeros = (i == 2 && j == 3) || (i == 3 && j == 2) || (i == 10 && j == 11) || (i == 11 && j == 10);
            int expected = (i > j) - (i < j);
            assert_int_equal((order > 0) - (order < 0), zeros ? -expected : expected);
        }
    }
}

/* What names have in common is stepped over, up to the number in which they differ. */
static void test_long_names(void **state)
{
    (void)state;
    static const char *const ORDER[] = {"app-20260101000000-0009",   "app-20260101000000-09a",
                                        "app-20260101000000-0010",   "app-20260101000000-0010.lz4",
                                        "app-20260101000000-100000", "app-202601010000000-1"};
    for (size_t i = 0; i < sizeof(ORDER) / sizeof(ORDER[0]); i++) {
        for (size_t j = 0; j < sizeof(ORDER) / sizeof(ORDER[0]); j++) {
            int order = pyro_natural_compare(pyro_slice_from(ORDER[i]), pyro_slice_from(ORDER[j]));
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
}

static void test_folder_and_base(void **state)
{
    (void)state;
    assert_true(pyro_slice_is(pyro_base_name(PYRO_SLICE_LITERAL("a/b/c")), "c"));
    assert_true(pyro_slice_is(pyro_folder_name(PYRO_SLICE_LITERAL("a/b/c")), "a/b"));
    assert_true(pyro_slice_is(pyro_base_name(PYRO_SLICE_LITERAL("c")), "c"));
    assert_null(pyro_folder_name(PYRO_SLICE_LITERAL("c")).ptr);
    assert_true(pyro_slice_is(pyro_base_name(PYRO_SLICE_LITERAL("a/")), ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_natural_order),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_folder_and_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
