#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/numbers/none.h"
#include "text/escape.h"
#include "text/humanize.h"

typedef void adder(struct pyro_strbuf *, struct pyro_slice);

static void check(adder *add, const char *text, const char *expected)
{
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    add(&buffer, pyro_slice_from(text));
    pyro_strbuf_add_char(&buffer, '\0');
    assert_string_equal(buffer.data, expected);
    pyro_strbuf_done(&buffer);
}

static void json_strings(void **state)
{
    (void)state;
    check(pyro_add_json, "a\"b\\c\n\x01\x7f", "\"a\\\"b\\\\c\\n\\u0001\\u007f\"");
    check(pyro_add_json, "\xc2\x9b[2J", "\"\\u009b[2J\"");
    check(pyro_add_json, "bad \xff\xc3(\xed\xa0\x80",
          "\"bad \xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    check(pyro_add_json, "\xf0\x9f\x94\xa5", "\"\xf0\x9f\x94\xa5\"");
    check(pyro_add_json, NULL, "null");
}

static void json_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},  {0.93, "0.93"},     {14, "14"},        {-0.25, "-0.25"},
                 {NAN, "null"}, {HUGE_VAL, "null"}, {1e300, "1e+300"}, {1.0 / 3, "0.3333333333333333"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pyro_strbuf buffer;
        pyro_strbuf_init(&buffer, NULL);
        pyro_add_json_real(&buffer, cases[i].value);
        assert_string_equal(buffer.data, cases[i].text);
        pyro_strbuf_done(&buffer);
    }
}

static void plain_text_has_no_controls(void **state)
{
    (void)state;
    check(pyro_add_plain, "a\nb\tc\x1b[1m\xe2\x80\xae", "a b c\xef\xbf\xbd[1m\xef\xbf\xbd");
    check(pyro_add_markdown, "a|b`c<d>&_", "a\\|b\\`c&lt;d&gt;&amp;\\_");
}

static void csv_fields(void **state)
{
    (void)state;
    check(pyro_add_csv, "plain", "plain");
    check(pyro_add_csv, "a,b \"c\"", "\"a,b \"\"c\"\"\"");
    check(pyro_add_csv, "=1+1", "\"'=1+1\"");
    check(pyro_add_csv, "@x", "\"'@x\"");
    /* What reorders text or breaks lines: U+202E, U+2066, U+200F, U+061C, U+2028, U+0085. */
    check(pyro_add_csv, "a\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check(pyro_add_csv, "b\xd8\x9c\xe2\x80\xa8\xc2\x85", "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check(pyro_add_csv, "c\n", "\"c\n\"");
}

static void check_number(void (*add)(struct pyro_strbuf *, int64_t), int64_t value, const char *expected)
{
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    add(&buffer, value);
    assert_string_equal(buffer.data, expected);
    pyro_strbuf_done(&buffer);
}

static void numbers_for_people(void **state)
{
    (void)state;
    check_number(pyro_human_ms, 120, "120 ms");
    check_number(pyro_human_ms, 8400, "8.4 s");
    check_number(pyro_human_ms, 59600, "1 min");
    check_number(pyro_human_ms, 252000, "4 min 12 s");
    check_number(pyro_human_ms, 2700000, "45 min");
    check_number(pyro_human_ms, 4320000, "1 h 12 min");
    check_number(pyro_human_ms, PYRO_NONE, "-");
    check_number(pyro_human_ms, INT64_MIN + 1, "-106751991167 d 7 h");
    check_number(pyro_human_ms, INT64_MAX, "106751991167 d 7 h");
    check_number(pyro_human_bytes, 512, "512 B");
    check_number(pyro_human_bytes, 1288490189, "1.2 GiB");
    check_number(pyro_human_bytes, INT64_MAX, "8 EiB");
    check_number(pyro_human_count, 1234567, "1,234,567");
}

static void shares_add_up(void **state)
{
    (void)state;
    const int64_t hard[][4] = {{1, 1, 1, 0}, {INT64_MAX, INT64_MAX, INT64_MAX, 1}, {1, 999999, 3, 7}, {0, 0, 5, 0}};
    for (size_t i = 0; i < 4; i++) {
        unsigned permille[4], sum = 0;
        pyro_permille_parts(hard[i], 4, permille);
        for (size_t j = 0; j < 4; j++)
            sum += permille[j];
        assert_int_equal(sum, 1000);
    }
}

static void xml_text(void **state)
{
    (void)state;
    check(pyro_add_xml, "a<b>&\"'c", "a&lt;b&gt;&amp;&quot;'c");
    check(pyro_add_xml, "two\nlines\t\x1b]]>", "two&#10;lines \xef\xbf\xbd]]&gt;");
    check(pyro_add_xml, "\xef\xbf\xbf\xff", "\xef\xbf\xbd\xef\xbf\xbd");
    check(pyro_add_xml, NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_strings),
        cmocka_unit_test(json_numbers),
        cmocka_unit_test(plain_text_has_no_controls),
        cmocka_unit_test(csv_fields),
        cmocka_unit_test(numbers_for_people),
        cmocka_unit_test(shares_add_up),
        cmocka_unit_test(xml_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
