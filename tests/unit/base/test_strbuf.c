#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strings/strbuf.h"

static void test_appends(void **state)
{
    (void)state;
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    pyro_strbuf_add_text(&buffer, "a");
    pyro_strbuf_add_int(&buffer, INT64_MIN);
    pyro_strbuf_add_char(&buffer, ' ');
    pyro_strbuf_printf(&buffer, "%s=%d", "b", 3);
    assert_string_equal(buffer.data, "a-9223372036854775808 b=3");
    pyro_strbuf_clear(&buffer);
    assert_int_equal(buffer.len, 0);
    for (int i = 0; i < 100000; i++)
        pyro_strbuf_add_int(&buffer, i % 10);
    assert_int_equal(buffer.len, 100000);
    pyro_strbuf_done(&buffer);
}

static void *refuse(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

static void *refuse_growth(void *context, void *memory, size_t size)
{
    (void)memory;
    return refuse(context, size);
}

static void keep(void *context, void *memory)
{
    (void)context;
    (void)memory;
}

static void test_no_memory_sticks(void **state)
{
    (void)state;
    const struct pyro_allocator none = {sizeof(none), refuse, refuse_growth, keep, NULL};
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, &none);
    pyro_strbuf_add_text(&buffer, "lost");
    pyro_strbuf_printf(&buffer, "%d", 1);
    assert_true(buffer.failed);
    assert_int_equal(pyro_strbuf_slice(&buffer).len, 0);
    pyro_strbuf_done(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_no_memory_sticks),
    };
    return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
