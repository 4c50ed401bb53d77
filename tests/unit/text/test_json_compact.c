#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/numbers/none.h"
#include "text/json_compact.h"

static void assert_text(struct pyro_strbuf *text, const char *expected)
{
    assert_false(text->failed);
    assert_string_equal(text->data ? text->data : "", expected);
    pyro_strbuf_done(text);
}

static void members_and_elements(void **state)
{
    (void)state;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_compact_begin(&text, NULL, '{');
    pyro_compact_int(&text, "a", -1);
    pyro_compact_begin(&text, "b", '[');
    pyro_compact_int(&text, NULL, 2);
    pyro_compact_string(&text, NULL, "x\"{");
    pyro_compact_begin(&text, NULL, '{');
    pyro_compact_end(&text, '}');
    pyro_compact_begin(&text, NULL, '[');
    pyro_compact_end(&text, ']');
    pyro_compact_end(&text, ']');
    pyro_compact_real(&text, "c", 0.25);
    pyro_compact_bool(&text, "d", true);
    pyro_compact_bool(&text, "e", false);
    pyro_compact_end(&text, '}');
    assert_text(&text, "{\"a\":-1,\"b\":[2,\"x\\\"{\",{},[]],\"c\":0.25,\"d\":true,\"e\":false}");
}

/* A string that ends with a bracket or a comma ends with a quote nevertheless. */
static void commas_after_texts(void **state)
{
    (void)state;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_compact_begin(&text, NULL, '[');
    pyro_compact_string(&text, NULL, "{");
    pyro_compact_string(&text, NULL, ",");
    pyro_compact_string(&text, NULL, "");
    pyro_compact_int(&text, NULL, 1);
    pyro_compact_end(&text, ']');
    assert_text(&text, "[\"{\",\",\",\"\",1]");
}

static void what_is_left_out(void **state)
{
    (void)state;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_compact_begin(&text, NULL, '{');
    pyro_compact_text(&text, "a", PYRO_SLICE_NULL);
    pyro_compact_string(&text, "b", NULL);
    pyro_compact_int(&text, "c", PYRO_NONE);
    pyro_compact_real(&text, "d", NAN);
    pyro_compact_real(&text, "e", INFINITY);
    pyro_compact_json(&text, "f", PYRO_SLICE_NULL);
    pyro_compact_int(&text, "g", 0);
    pyro_compact_end(&text, '}');
    assert_text(&text, "{\"g\":0}");
}

static void texts_as_written(void **state)
{
    (void)state;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_compact_begin(&text, NULL, '{');
    pyro_compact_as_written(&text, "a", PYRO_SLICE_LITERAL("\\n\\\""));
    pyro_compact_name_as_written(&text, PYRO_SLICE_LITERAL("b\\u0020"));
    pyro_strbuf_add_text(&text, "7");
    pyro_compact_json(&text, "c", PYRO_SLICE_LITERAL("{\"d\":1}"));
    pyro_compact_end(&text, '}');
    assert_text(&text, "{\"a\":\"\\n\\\"\",\"b\\u0020\":7,\"c\":{\"d\":1}}");
}

static void lines_begin_without_comma(void **state)
{
    (void)state;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    for (int i = 0; i < 2; i++) {
        pyro_compact_begin(&text, NULL, '{');
        pyro_compact_int(&text, "a", i);
        pyro_compact_end(&text, '}');
        pyro_strbuf_add_char(&text, '\n');
    }
    assert_text(&text, "{\"a\":0}\n{\"a\":1}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements),      cmocka_unit_test(commas_after_texts),
        cmocka_unit_test(what_is_left_out),          cmocka_unit_test(texts_as_written),
        cmocka_unit_test(lines_begin_without_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
