/* Immediate repeats: each case as the pieces that must come out. Random logs: tests/e2e/test_log_chunks.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decode/logs/repeats/collapse.h"

/* Letters are the items; the result is such as "3(ab) 1(c)". */
static void assert_pieces(const char *letters, const char *expected)
{
    uint32_t items[256];
    size_t count = strlen(letters), len = 0;
    char text[1024] = "";
    struct pyro_collapse collapse;
    struct pyro_collapsed piece;
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)letters[i];
    pyro_collapse_start(&collapse, items, count);
    while (pyro_collapse_next(&collapse, &piece)) {
        int more = snprintf(text + len, sizeof(text) - len, "%s%zu(%.*s)", len ? " " : "", piece.count,
                            (int)piece.length, letters + piece.first);
        assert_true(more > 0 && (size_t)more < sizeof(text) - len);
        len += (size_t)more;
    }
    assert_string_equal(text, expected);
}

static void test_nothing_repeats(void **state)
{
    (void)state;
    assert_pieces("", "");
    assert_pieces("a", "1(a)");
    assert_pieces("abcabd", "1(abcabd)");
}

static void test_most_items_win(void **state)
{
    (void)state;
    assert_pieces("aa", "2(a)");
    assert_pieces("xabababy", "1(x) 3(ab) 1(y)");
    assert_pieces("aabaab", "2(aab)");
    assert_pieces("aaaaaaa", "7(a)");
    assert_pieces("abcabcabcd", "3(abc) 1(d)");
}

static void test_of_equal_ones_the_squarest(void **state)
{
    (void)state;
    assert_pieces("aaaa", "2(aa)");
    assert_pieces("aaaaaa", "3(aa)"); /* 2 x 3 and 3 x 2 are equally square: the shorter one */
    assert_pieces("aaaaaaaaa", "3(aaa)");
}

static void test_what_is_behind_a_repeat_starts_afresh(void **state)
{
    (void)state;
    assert_pieces("ababa", "2(ab) 1(a)");
    assert_pieces("aabbab", "2(a) 2(b) 1(ab)");
}

static void test_length_limit(void **state)
{
    (void)state;
    assert_pieces("abcdefghijklmnopqrstabcdefghijklmnopqrst", "2(abcdefghijklmnopqrst)");
    assert_pieces("abcdefghijklmnopqrstuabcdefghijklmnopqrstu", "1(abcdefghijklmnopqrstuabcdefghijklmnopqrstu)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_repeats),
        cmocka_unit_test(test_most_items_win),
        cmocka_unit_test(test_of_equal_ones_the_squarest),
        cmocka_unit_test(test_what_is_behind_a_repeat_starts_afresh),
        cmocka_unit_test(test_length_limit),
    };
    return cmocka_run_group_tests_name("collapse", tests, NULL, NULL);
}
