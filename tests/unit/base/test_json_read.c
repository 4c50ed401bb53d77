#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json_read.h"

/* A reader over a copy of `text` with the padding that it needs. The copy lives until the next call. */
static char copy[1 << 16];

static struct pyro_json_reader reader(const char *text)
{
    struct pyro_json_reader json;
    size_t len = strlen(text);
    assert_true(len + PYRO_SCAN_PADDING < sizeof(copy));
    memset(copy, '7', sizeof(copy)); /* stale digits behind the end must not count */
    memcpy(copy, text, len);
    pyro_json_reader_start(&json, copy, copy + len, pyro_scan_best());
    return json;
}

static bool skips(const char *text)
{
    struct pyro_json_reader json = reader(text);
    return pyro_json_skip(&json) && pyro_json_record_end(&json);
}

static void test_grammar(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-12.5e+3",
        "\"\"",
        "\"a\\u00e9\\n\"",
        "[1,2,[3,{\"a\":[]}]]",
        "{\"a\":1,\"b\":{\"c\":[null,true]}} ",
        " { \"a\" : [ 1 , 2 ] }\t",
        "1E5",
        "[[[[]]]]",
    };
    static const char *const bad[] = {
        "",
        "{",
        "}",
        "[",
        "]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "{,}",
        "{a:1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "nul",
        "tru",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"a\tb\"",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
        "{}{}",
        "[}",
        "{]",
        "1 2",
        "\"a\" \"b\"",
        "NaN",
        "{\"a\":1}]",
        "{1:2}",
        "'a'",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_true(skips(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (skips(bad[i]))
            fail_msg("taken for JSON: %s", bad[i]);
}

static void test_record_ends_at_newline(void **state)
{
    (void)state;
    struct pyro_json_reader json = reader("{\"a\":1}\n{\"b\":2}\n");
    assert_true(pyro_json_skip(&json));
    assert_true(pyro_json_record_end(&json));
    assert_int_equal(*json.at, '\n');
    json = reader("{\"a\":\n1}");
    assert_false(pyro_json_skip(&json));
    assert_string_equal(json.error, "the record ends early");
}

static void nest(char *text, size_t depth)
{
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = '\0';
}

static void test_depth(void **state)
{
    (void)state;
    static char text[20002];
    nest(text, PYRO_JSON_DEPTH);
    assert_true(skips(text));
    nest(text, PYRO_JSON_DEPTH + 1);
    assert_false(skips(text));
    nest(text, 10000);
    struct pyro_json_reader json = reader(text);
    assert_false(pyro_json_skip(&json));
    assert_string_equal(json.error, "nested too deeply");
}

static bool take(const char *text, int64_t *value)
{
    struct pyro_json_reader json = reader(text);
    return pyro_json_take_int(&json, value) && pyro_json_record_end(&json);
}

static void test_integers(void **state)
{
    (void)state;
    int64_t value = 5;
    assert_true(take("0", &value));
    assert_int_equal(value, 0);
    assert_true(take("9223372036854775807", &value));
    assert_int_equal(value, INT64_MAX);
    assert_true(take("-9223372036854775808", &value));
    assert_int_equal(value, INT64_MIN);
    value = 5;
    assert_true(take("null", &value));
    assert_int_equal(value, 5);
    char many[301] = {0};
    memset(many, '9', 300);
    static const char *const bad[] = {"9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551616",
                                      "1.0",
                                      "1e3",
                                      "01",
                                      "--1",
                                      "-",
                                      "\"1\"",
                                      "true",
                                      "",
                                      "[1]",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(take(bad[i], &value));
    assert_false(take(many, &value));
    struct pyro_json_reader json = reader("\"123\"");
    assert_true(pyro_json_take_loose_int(&json, &value));
    assert_int_equal(value, 123);
    json = reader("\"12 MB\"");
    assert_true(pyro_json_take_loose_int(&json, &value));
    assert_int_equal(value, 123);
}

PYRO_JSON_KEYS(keys, (STAGE_ID, "Stage ID"), (TASK_INFO, "Task Info"), (A, "a"));

/* Reads an object's integers by the table above: "row=value " for each key. */
static void walk(const char *text, char *out)
{
    struct pyro_json_reader json = reader(text);
    struct pyro_json_object object;
    *out = '\0';
    assert_true(pyro_json_enter_object(&json, &object));
    for (int key; (key = PYRO_JSON_NEXT(&json, &object, keys)) != PYRO_JSON_END;) {
        int64_t value = 0;
        if (key == PYRO_JSON_OTHER) {
            out += sprintf(out, "%.*s ", (int)object.name.len, object.name.ptr);
            pyro_json_skip(&json);
        } else {
            pyro_json_take_int(&json, &value);
            out += sprintf(out, "%d=%d ", key, (int)value);
        }
    }
    if (json.error || !pyro_json_record_end(&json))
        strcpy(out, "error");
}

static void test_keys_in_any_order(void **state)
{
    (void)state;
    char out[256];
    walk("{\"Stage ID\":1,\"Task Info\":2,\"a\":3}", out);
    assert_string_equal(out, "0=1 1=2 2=3 ");
    walk("{\"a\":3,\"Task Info\":2,\"Stage ID\":1}", out);
    assert_string_equal(out, "2=3 1=2 0=1 ");
    walk("{ \"a\" : 3 , \"Stage ID\" : 1 }", out);
    assert_string_equal(out, "2=3 0=1 ");
    walk("{\"b\":\"Stage ID\",\"Stage I\":7,\"Stage ID2\":8,\"Stage ID\":1}", out);
    assert_string_equal(out, "b Stage I Stage ID2 0=1 ");
    walk("{\"Stage\\u0020ID\":4,\"Stage ID\":5}", out); /* escaped names mean the same, the last one counts */
    assert_string_equal(out, "0=4 0=5 ");
    walk("{\"x\":\"\\\"Stage ID\\\":9,\\\"a\\\":\",\"a\":1}", out); /* what looks like keys inside a string is none */
    assert_string_equal(out, "x 2=1 ");
    walk("{}", out);
    assert_string_equal(out, "");
}

/* An enum's row is the one that has its key, in the longest list too. */
static void test_keys_have_their_names(void **state)
{
    (void)state;
    PYRO_JSON_KEYS(letters, (LETTER_A, "a"), (LETTER_B, "b"), (LETTER_C, "c"), (LETTER_D, "d"), (LETTER_E, "e"),
                   (LETTER_F, "f"), (LETTER_G, "g"), (LETTER_H, "h"), (LETTER_I, "i"), (LETTER_J, "j"), (LETTER_K, "k"),
                   (LETTER_L, "l"), (LETTER_M, "m"), (LETTER_N, "n"), (LETTER_O, "o"), (LETTER_P, "p"), (LETTER_Q, "q"),
                   (LETTER_R, "r"), (LETTER_S, "s"), (LETTER_T, "t"), (LETTER_U, "u"), (LETTER_V, "v"), (LETTER_W, "w"),
                   (LETTER_X, "x"));
    assert_int_equal(letters_count, 24);
    assert_int_equal(letters_count, sizeof(letters) / sizeof(*letters));
    assert_string_equal(letters[LETTER_A].name, "\"a\":");
    assert_string_equal(letters[LETTER_M].name, "\"m\":");
    assert_string_equal(letters[LETTER_X].name, "\"x\":");
    struct pyro_json_reader json = reader("{\"x\":1}");
    struct pyro_json_object object;
    assert_true(pyro_json_enter_object(&json, &object));
    assert_int_equal(PYRO_JSON_NEXT(&json, &object, letters), LETTER_X);
}

static void test_broken_objects(void **state)
{
    (void)state;
    static const char *const bad[] = {"{\"a\":1",          "{\"a\":1,",      "{\"a\":1,}", "{\"a\" 1}", "{\"a\":1}}",
                                      "{\"a\":1 \"a\":2}", "{\"Stage ID\":", "{\"Stage I", "{,\"a\":1}"};
    char out[256];
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        walk(bad[i], out);
        assert_non_null(strstr(out, "error"));
    }
}

static void test_strings(void **state)
{
    (void)state;
    struct pyro_slice text = PYRO_SLICE_NULL;
    bool plain;
    struct pyro_json_reader json = reader("\"plain text\"");
    assert_true(pyro_json_take_string(&json, &text, &plain));
    assert_true(plain && pyro_slice_is(text, "plain text"));
    json = reader("\"with \\\" quote\"");
    assert_true(pyro_json_take_string(&json, &text, &plain));
    assert_true(!plain && pyro_slice_is(text, "with \\\" quote"));
    json = reader("\"\xc3\xa9\"");
    assert_true(pyro_json_take_string(&json, &text, &plain));
    assert_false(plain);
    text = PYRO_SLICE_NULL;
    json = reader("null");
    assert_true(pyro_json_take_string(&json, &text, &plain));
    assert_null(text.ptr);
}

static void test_fast_array(void **state)
{
    (void)state;
    struct pyro_json_reader json = reader("[{\"Name\":\"]}],\\\"Task Metrics\\\":{\",\"v\":[1,[2]]},{}],\"x\"");
    assert_true(pyro_json_skip_array_fast(&json));
    assert_memory_equal(json.at, ",\"x\"", 4);
    json = reader("[{\"Name\":\"x\"}\n]");
    assert_false(pyro_json_skip_array_fast(&json));
    json = reader("[{]");
    assert_false(pyro_json_skip_array_fast(&json));
    json = reader("null,1");
    assert_true(pyro_json_skip_array_fast(&json));
}

/* Members that are not asked for have no effect, whatever they look like. */
static void test_known_members(void **state)
{
    (void)state;
    static const struct pyro_json_key wanted[] = {PYRO_JSON_KEY("b"), PYRO_JSON_KEY("spark.scheduler.pool")};
    static const char *const texts[] = {
        "{}",
        "{\"b\":\"1\"}",
        "{\"a\":\"x\",\"c\":\"y\",\"b\":\"1\",\"d\":\"z\"}",
        "{\"a\":\"x\",\"a\":\"quote \\\" comma , brace }\",\"spark.scheduler.pool\":\"p\",\"b\":\"1\"}",
        "{\"a\":\"x\",\"\\u0062\":\"1\",\"long key with more than sixty-four letters, so that it spans blocks\":\"v\"}",
        "{\"a\":\"x\",\"n\":12,\"o\":{\"b\":\"inner\"},\"l\":[\"b\"],\"b\":null,\"t\":true}",
        "{ \"a\" : \"x\" , \"c\" : \"y\" , \"b\" : \"1\" }",
        "{\"a\":\"x\",\"\xc3\xa9\":\"\xc3\xa9\",\"b\":\"1\"}",
        "{\"a\":\"x\",\"c\":\"bad \\q\",\"b\":\"1\"}",
        "{\"a\":\"x\",\"c\":\"control \t\",\"b\":\"1\"}",
        "{\"a\":\"x\",\"c\" \"y\",\"b\":\"1\"}",
        "{\"a\":\"x\",\"c\":\"y\" \"b\":\"1\"}",
        "{\"a\":\"x\",\"c\":\"y",
        "{\"a\":\"x\",\"c\":",
        "{\"a\":\"x\",\"c",
        "{\"a\":\"x\",",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        ptrdiff_t places[8];
        int found[8], count = 0, again = 0;
        struct pyro_json_object object;
        struct pyro_json_reader json = reader(texts[i]);
        assert_true(pyro_json_enter_object(&json, &object));
        for (int key; (key = pyro_json_next(&json, &object, wanted, 2)) != PYRO_JSON_END; pyro_json_skip(&json))
            if (key >= 0) {
                found[count] = key;
                places[count++] = json.at - copy;
            }
        const char *error = json.error;
        json = reader(texts[i]);
        assert_true(pyro_json_enter_object(&json, &object));
        for (int key; (key = pyro_json_next_known(&json, &object, wanted, 2)) != PYRO_JSON_END; pyro_json_skip(&json)) {
            assert_true(again < count);
            assert_int_equal(key, found[again]);
            assert_int_equal(json.at - copy, places[again++]);
        }
        assert_int_equal(again, count);
        assert_ptr_equal(json.error, error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_record_ends_at_newline),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_keys_in_any_order),
        cmocka_unit_test(test_keys_have_their_names),
        cmocka_unit_test(test_broken_objects),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_fast_array),
        cmocka_unit_test(test_known_members),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
