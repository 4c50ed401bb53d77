#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/yaml_file.h"

static struct pyro_arena arena;

static int set_up(void **state)
{
    (void)state;
    pyro_arena_init(&arena, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pyro_arena_done(&arena);
    return 0;
}

static const struct pyro_yaml *parse(const char *text)
{
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_yaml *root = NULL;
    if (pyro_yaml_parse(&arena, "x.yaml", text, strlen(text), &root, &error) != PYRO_OK)
        fail_msg("%s: %s", text, error.message);
    return root;
}

static void refused(const char *text, const char *line, const char *why)
{
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_yaml *root = NULL;
    assert_int_equal(pyro_yaml_parse(&arena, "x.yaml", text, strlen(text), &root, &error), PYRO_ERROR_INPUT);
    assert_null(root);
    assert_string_equal(error.path, "x.yaml");
    if (!strstr(error.message, line) || !strstr(error.message, why))
        fail_msg("%s: %s", text, error.message);
}

static void test_yaml_and_json_give_the_same_tree(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "budget:\n  wall: 20m # limit\n  list: [1, two]\n  'a b': \"q\"\n",
        "{\"budget\": {\"wall\": \"20m\",\n \"list\": [1, \"two\"], \"a b\": \"q\"}}",
    };
    for (int i = 0; i < 2; i++) {
        const struct pyro_yaml *budget = pyro_yaml_get(parse(texts[i]), "budget");
        int64_t ms = 0;
        const char *text = NULL;
        assert_non_null(budget);
        assert_int_equal(budget->count, 3);
        assert_true(pyro_yaml_duration(pyro_yaml_get(budget, "wall"), &ms));
        assert_int_equal(ms, 1200000);
        const struct pyro_yaml *list = pyro_yaml_get(budget, "list");
        assert_int_equal(list->kind, PYRO_YAML_LIST);
        assert_int_equal(list->count, 2);
        assert_int_equal(list->line, i == 0 ? 3 : 2);
        assert_true(pyro_yaml_text(list->entries[1].value, &text));
        assert_string_equal(text, "two");
        assert_true(pyro_yaml_text(pyro_yaml_get(budget, "a b"), &text));
        assert_string_equal(text, "q");
        assert_null(pyro_yaml_get(budget, "absent"));
        assert_null(pyro_yaml_get(list, "wall"));
    }
}

static void test_empty_is_an_empty_map(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "# nothing\n", "\n\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_int_equal(parse(texts[i])->kind, PYRO_YAML_MAP);
        assert_int_equal(parse(texts[i])->count, 0);
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    refused("a: 1\nb: [1,\n", "line 3", "");
    refused("a: 1\na: 2\n", "line 2", "given twice");
    refused("a: &x 1\nb: *x\n", "line 1", "anchors");
    refused("a: *x\n", "line 1", "aliases");
    refused("a: !!int 1\n", "line 1", "tags");
    refused("a: 1\n---\nb: 1\n", "line 2", "second document");
    refused("? [a]\n: 1\n", "line 1", "key");
    refused("a: \"x\\0y\"\n", "line 1", "NUL");
    refused("a: \x01\n", "line", "");
    char deep[200];
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    refused(deep, "line 1", "nested too deep");
    char *large = malloc(PYRO_YAML_MAX_BYTES + 2);
    memset(large, 'x', PYRO_YAML_MAX_BYTES + 1);
    large[PYRO_YAML_MAX_BYTES + 1] = '\0';
    refused(large, "", "1 MiB");
    free(large);
    char many[3 * PYRO_YAML_MAX_ENTRIES + 10] = "[";
    for (int i = 0; i <= PYRO_YAML_MAX_ENTRIES; i++)
        strcat(many, "1,");
    strcat(many, "1]");
    refused(many, "line 1", "too many");
}

static const struct pyro_yaml *value(const char *text)
{
    char line[200];
    snprintf(line, sizeof(line), "v: %s\n", text);
    return pyro_yaml_get(parse(line), "v");
}

static void test_numbers(void **state)
{
    (void)state;
    double number = -1;
    int64_t integer = -1;
    bool yes = false;
    assert_true(pyro_yaml_number(value("0.1"), &number) && number == 0.1);
    assert_true(pyro_yaml_number(value("-1.5e3"), &number) && number == -1500);
    assert_true(pyro_yaml_number(value("12345678901234567890123"), &number) && number == 12345678901234567890123.0);
    assert_false(pyro_yaml_number(value("1e999"), &number));
    assert_false(pyro_yaml_number(value("'1'"), &number));
    assert_false(pyro_yaml_number(value("1 2"), &number));
    assert_false(pyro_yaml_number(value("."), &number));
    assert_false(pyro_yaml_number(value(".nan"), &number));
    assert_false(pyro_yaml_number(value(""), &number));
    assert_false(pyro_yaml_number(NULL, &number));
    assert_true(pyro_yaml_int(value("-42"), &integer) && integer == -42);
    assert_false(pyro_yaml_int(value("4.2"), &integer));
    assert_false(pyro_yaml_int(value("99999999999999999999"), &integer));
    assert_true(pyro_yaml_bool(value("True"), &yes) && yes);
    assert_true(pyro_yaml_bool(value("false"), &yes) && !yes);
    assert_false(pyro_yaml_bool(value("yes"), &yes));
    assert_true(pyro_yaml_is_null(value("~")) && pyro_yaml_is_null(value("")) && pyro_yaml_is_null(value("null")));
    assert_false(pyro_yaml_is_null(value("''")));
    assert_true(pyro_yaml_share(value("12.5%"), &number) && number == 0.125);
    assert_true(pyro_yaml_share(value("0.2"), &number) && number == 0.2);
    assert_false(pyro_yaml_share(value("-1%"), &number));
    assert_false(pyro_yaml_share(value("10 percent"), &number));
}

static void test_durations_and_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value; /* -1: refused */
    } durations[] = {{"1500", 1500},    {"90s", 90000}, {"20 min", 1200000}, {"1h30m", 5400000}, {"'2d'", 172800000},
                     {"0.5h", 1800000}, {"1h 5", -1},   {"5 weeks", -1},     {"-1s", -1},        {"", -1},
                     {"1e18 days", -1}, {"500ms", 500}, {"[1]", -1}};
    static const struct {
        const char *text;
        int64_t value;
    } sizes[] = {{"4096", 4096},
                 {"512m", 536870912},
                 {"10 GiB", INT64_C(10737418240)},
                 {"1.5k", 1536},
                 {"\"1TB\"", 1ll << 40},
                 {"1x", -1},
                 {"1g 2", -1},
                 {"-1k", -1},
                 {"9999999p", -1},
                 {"{}", -1}};
    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
        int64_t ms = -1;
        assert_int_equal(pyro_yaml_duration(value(durations[i].text), &ms), durations[i].value >= 0);
        assert_int_equal(ms, durations[i].value);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        int64_t bytes = -1;
        assert_int_equal(pyro_yaml_size(value(sizes[i].text), &bytes), sizes[i].value >= 0);
        assert_int_equal(bytes, sizes[i].value);
    }
}

static void test_complaints_name_the_line(void **state)
{
    (void)state;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_yaml *root = parse("a: 1\nwall: soon\nlist: []\n");
    assert_int_equal(pyro_yaml_refuse(pyro_yaml_get(root, "wall"), "b.yaml", &error, "a duration such as 20m"),
                     PYRO_ERROR_ARGUMENT);
    assert_string_equal(error.message, "b.yaml, line 2: 'soon' is not a duration such as 20m");
    assert_int_equal(pyro_yaml_refuse(pyro_yaml_get(root, "list"), "b.yaml", &error, "a number"), PYRO_ERROR_ARGUMENT);
    assert_string_equal(error.message, "b.yaml, line 3: a list is not a number");
}

static void test_files(void **state)
{
    (void)state;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_yaml *root = NULL;
    assert_int_equal(pyro_yaml_load(&arena, "/nowhere/at/all.yaml", &root, &error), PYRO_ERROR_INPUT);
    assert_string_equal(error.path, "/nowhere/at/all.yaml");
    assert_int_equal(pyro_yaml_load(&arena, "/", &root, &error), PYRO_ERROR_INPUT);
    char path[] = "/tmp/pyro-settings-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "a: 7\n", 5), 5);
    close(file);
    assert_int_equal(pyro_yaml_load(&arena, path, &root, &error), PYRO_OK);
    unlink(path);
    int64_t seven = 0;
    assert_true(pyro_yaml_int(pyro_yaml_get(root, "a"), &seven));
    assert_int_equal(seven, 7);
    char large[] = "/tmp/pyro-settings-XXXXXX";
    file = mkstemp(large);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, PYRO_YAML_MAX_BYTES + 1), 0);
    close(file);
    assert_int_equal(pyro_yaml_load(&arena, large, &root, &error), PYRO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "larger than 1 MiB"));
    unlink(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_yaml_and_json_give_the_same_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_empty_is_an_empty_map, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_durations_and_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_complaints_name_the_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
