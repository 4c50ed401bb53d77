/* Blocks of symbols that come together: each case as text, a letter a symbol, a blank the end of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decode/logs/repeats/repeated_blocks.h"

/* The result is such as "3(abc) 2(de)". `most`: how many symbols decide; 0: all. */
static void assert_blocks(const char *letters, size_t most, const char *expected)
{
    struct pyro_repeated_blocks *blocks = pyro_repeated_blocks_new(NULL, most);
    const struct pyro_repeated_block *found;
    size_t count, len = 0;
    char text[1024] = "";
    assert_non_null(blocks);
    for (const char *p = letters; *p; p++)
        assert_true(*p == ' ' ? pyro_repeated_blocks_break(blocks)
                              : pyro_repeated_blocks_take(blocks, (uint32_t)(*p - '!')));
    assert_true(pyro_repeated_blocks_finish(blocks, &found, &count));
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u(", len ? " " : "", (unsigned)found[i].count);
        for (size_t k = 0; k < found[i].length; k++)
            text[len++] = (char)('!' + found[i].symbols[k]);
        text[len++] = ')';
        text[len] = '\0';
    }
    assert_string_equal(text, expected);
    pyro_repeated_blocks_free(blocks);
}

static void test_blocks_anywhere(void **state)
{
    (void)state;
    assert_blocks("", 0, "");
    assert_blocks("abcd", 0, ""); /* once is not a block */
    assert_blocks("abcxabcyyabcx", 0, "3(abc)");
    assert_blocks("abxyxcdxabyyyzxcd", 0, "2(ab) 2(cd)");
    assert_blocks("aaaa", 0, ""); /* one symbol is none either */
}

static void test_circles_start_with_what_was_first(void **state)
{
    (void)state;
    assert_blocks("abcabcabc", 0, "3(abc)"); /* a follows c in 2 of 3 cases: no circle */
    assert_blocks("abcabcabcabc", 0, "4(abc)");
    assert_blocks("bcabcabcabca", 0, "3(abc)"); /* a has the lowest number */
}

static void test_files_end_blocks(void **state)
{
    (void)state;
    assert_blocks("ab ab ab", 0, "3(ab)");
    assert_blocks("xa ba ba ba b", 0, "3(ba)");
    assert_blocks("a b a b a b", 0, "");
}

static void test_three_quarters(void **state)
{
    (void)state;
    assert_blocks("abxabyabzawb", 0, "3(ab)");
    assert_blocks("abxabyazawb", 0, "");
    assert_blocks("abxabyabzbwb", 0, ""); /* of b, not of a */
}

/* Each of a-b, b-c and c-d holds in 9 of 12 cases, but all three in 3 only; b-c-d in 6. */
static void test_chains_that_explain_too_little_are_cut(void **state)
{
    (void)state;
    assert_blocks("abcd!abcd#abcd$a1bcd%a1bcd&a1bcd(ab2cd)ab2cd*ab2cd+abc3d,abc3d-abc3d.", 0, "6(bcd)");
}

static void test_long_chains_are_cut(void **state)
{
    (void)state;
    assert_blocks("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!", 0, "");
    assert_blocks("ABCDEFGHIJKLMNOPQRSTUVWx1ABCDEFGHIJKLMNOPQRSTUVWx2", 0, "2(ABCDEFGHIJKLMNOPQRST) 2(UVWx)");
}

static void test_later_symbols_are_counted(void **state)
{
    (void)state;
    assert_blocks("abxabyabzabcdcdcdab", 6, "5(ab)"); /* c and d come too late */
    assert_blocks("abxabyab", 4, "");                 /* one ab was seen when it was decided */
    assert_blocks("abxabyab", 5, "3(ab)");
    assert_blocks("abcxabcyab", 8, "2(abc)");
    assert_blocks("abcxabcyab cabc", 8, "3(abc)"); /* not the one with a file's end inside */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_anywhere),
        cmocka_unit_test(test_circles_start_with_what_was_first),
        cmocka_unit_test(test_files_end_blocks),
        cmocka_unit_test(test_three_quarters),
        cmocka_unit_test(test_chains_that_explain_too_little_are_cut),
        cmocka_unit_test(test_long_chains_are_cut),
        cmocka_unit_test(test_later_symbols_are_counted),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
