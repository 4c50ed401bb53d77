#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/collections/memo.h"

static void put(struct pyro_memo *memo, const char *key, const char *value)
{
    pyro_memo_put(memo, pyro_slice_from(key), pyro_slice_from(value));
}

static bool has(struct pyro_memo *memo, const char *key, const char *value)
{
    char found[16] = "";
    return pyro_memo_get(memo, pyro_slice_from(key), found, strlen(value)) && strcmp(found, value) == 0;
}

static void test_keys(void **state)
{
    (void)state;
    struct pyro_memo *memo = pyro_memo_new(10000);
    assert_non_null(memo);
    assert_false(has(memo, "a", "one"));
    put(memo, "a", "one");
    put(memo, "ab", "two");
    put(memo, "", "none");
    assert_true(has(memo, "a", "one"));
    assert_true(has(memo, "ab", "two"));
    assert_true(has(memo, "", "none"));
    assert_false(has(memo, "b", "one"));
    assert_false(has(memo, "a", "four")); /* of another size */
    put(memo, "a", "three");
    assert_true(has(memo, "a", "three"));
    pyro_memo_free(memo);
}

/* What was not asked for longest goes, and what is too large is never kept. */
static void test_limit(void **state)
{
    enum { MOST = 2000 };
    (void)state;
    struct pyro_memo *memo = pyro_memo_new(MOST);
    char key[] = "key 00", value[2 * MOST];
    unsigned kept = 0;
    memset(value, 'v', sizeof(value));
    put(memo, "first", "1");
    for (unsigned i = 0; i < 100; i++) {
        key[4] = (char)('0' + i / 10);
        key[5] = (char)('0' + i % 10);
        pyro_memo_put(memo, pyro_slice_from(key), (struct pyro_slice){value, 100});
        assert_true(has(memo, "first", "1")); /* asked for again and again */
    }
    for (unsigned i = 0; i < 100; i++) {
        char found[100];
        key[4] = (char)('0' + i / 10);
        key[5] = (char)('0' + i % 10);
        bool here = pyro_memo_get(memo, pyro_slice_from(key), found, sizeof(found));
        kept += here;
        assert_true(here || kept == 0); /* those that were put last */
    }
    assert_in_range(kept, 5, MOST / 100);
    pyro_memo_put(memo, pyro_slice_from("large"), (struct pyro_slice){value, MOST});
    assert_false(pyro_memo_get(memo, pyro_slice_from("large"), value, MOST));
    assert_true(has(memo, "first", "1"));
    pyro_memo_free(memo);
}

static void test_none(void **state)
{
    (void)state;
    put(NULL, "a", "one");
    assert_false(has(NULL, "a", "one"));
    pyro_memo_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
