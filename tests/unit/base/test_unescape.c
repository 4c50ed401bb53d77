#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/unescape.h"

static void check(const char *raw, const char *expected, uint64_t replaced)
{
    struct pyro_strbuf buffer;
    uint64_t count = 0;
    char fixed[256];
    pyro_strbuf_init(&buffer, NULL);
    pyro_text_decode(&buffer, pyro_slice_from(raw), &count);
    assert_int_equal(buffer.len, strlen(expected));
    assert_memory_equal(pyro_strbuf_slice(&buffer).ptr, expected, strlen(expected));
    assert_int_equal(count, replaced);
    assert_int_equal(pyro_text_decode_into(pyro_slice_from(raw), fixed, sizeof(fixed)), strlen(expected));
    assert_memory_equal(fixed, expected, strlen(expected));
    pyro_strbuf_done(&buffer);
}

static void test_plain_and_escapes(void **state)
{
    (void)state;
    check("", "", 0);
    check("plain", "plain", 0);
    check("a\\n\\t\\\"\\\\\\/\\b\\f\\r", "a\n\t\"\\/\b\f\r", 0);
    check("\\u00e9\\u20ac", "\xc3\xa9\xe2\x82\xac", 0);
    check("\\ud83d\\ude00", "\xf0\x9f\x98\x80", 0);
    check("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", 0);
}

static void test_lone_surrogates(void **state)
{
    (void)state;
    check("\\ud83d", "\xef\xbf\xbd", 1);
    check("\\ude00x", "\xef\xbf\xbdx", 1);
    check("\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80", 1);
    check("\\ud83dx", "\xef\xbf\xbdx", 1);
}

static void test_invalid_utf8(void **state)
{
    (void)state;
    check("\xff", "\xef\xbf\xbd", 1);
    check("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", 2);                 /* overlong */
    check("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3); /* surrogate */
    check("\xf4\x90\x80\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx", 4);
    check("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd", 2); /* cut */
}

static void test_small_buffer(void **state)
{
    (void)state;
    char fixed[2];
    assert_int_equal(pyro_text_decode_into(PYRO_SLICE_LITERAL("abcdef"), fixed, sizeof(fixed)), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_and_escapes),
        cmocka_unit_test(test_lone_surrogates),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_small_buffer),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
