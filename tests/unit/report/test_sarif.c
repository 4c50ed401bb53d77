#include "fixture.h"

#include "report/diagnosis/sarif.h"

static void check_uri(const char *path, const char *expected)
{
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    pyro_sarif_uri(&buffer, pyro_slice_from(path));
    pyro_strbuf_add_char(&buffer, '\0');
    assert_string_equal(buffer.data, expected);
    pyro_strbuf_done(&buffer);
}

static void sources_in_call_sites(void **state)
{
    (void)state;
    static const struct {
        const char *site, *file;
        int64_t line;
    } cases[] = {
        {"collect at /jobs/etl.py:31", "/jobs/etl.py", 31},
        {"count at Main.scala:7", "Main.scala", 7},
        {"save at day at noon at /a b/x.py:9", "/a b/x.py", 9},
        {"/jobs/etl.py:31", "/jobs/etl.py", 31},
        {"save at NativeMethodAccessorImpl.java:0", NULL, 0},
        {"run at ThreadPoolExecutor.java:1149", NULL, 0},
        {"collect at <stdin>:1", NULL, 0},
        {"collect at <ipython.x>:1", NULL, 0},
        {"collect at etl.py:", NULL, 0},
        {"collect at etl.py:0", NULL, 0},
        {"collect at etl.py:99999999999999999999", NULL, 0},
        {"at noplace:3", NULL, 0},
        {":3", NULL, 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pyro_slice file = PYRO_SLICE_NULL;
        int64_t line = 0;
        assert_int_equal(pyro_sarif_source(pyro_slice_from(cases[i].site), &file, &line), cases[i].file != NULL);
        if (cases[i].file)
            assert_true(pyro_slice_is(file, cases[i].file));
        assert_int_equal(line, cases[i].line);
    }
    check_uri("/a b/x#?.py", "file:///a%20b/x%23%3F.py");
    check_uri("logs/\xc3\xa9:1", "logs/%C3%A9%3A1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_in_call_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
