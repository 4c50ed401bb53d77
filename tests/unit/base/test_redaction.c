/* What is shown of secrets: Spark's own rules, the settings of logs in addition, and expressions made never to end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/secrets/secrets.h"

#define R PYRO_REDACTED

static void set(struct pyro_secrets *secrets, const char *key, const char *value)
{
    pyro_secrets_configure(secrets, pyro_slice_from(key), pyro_slice_from(value));
}

static bool is_secret(struct pyro_secrets *secrets, const char *key, const char *value)
{
    return pyro_secrets_property(secrets, pyro_slice_from(key), pyro_slice_from(value));
}

static void expect(struct pyro_secrets *secrets, bool plan, const char *text, const char *shown)
{
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    struct pyro_slice got = plan ? pyro_secrets_plan(secrets, pyro_slice_from(text), &buffer)
                                 : pyro_secrets_text(secrets, pyro_slice_from(text), &buffer);
    char *copy = strndup(got.ptr, got.len);
    assert_string_equal(copy, shown);
    if (strcmp(text, shown) == 0 && strcmp(text, R) != 0)
        assert_ptr_equal(got.ptr, text);
    free(copy);
    pyro_strbuf_done(&buffer);
}

static void test_properties(void **state)
{
    struct pyro_secrets secrets = {0};
    (void)state;
    assert_true(is_secret(&secrets, "spark.my.PassWord", "x"));
    assert_true(is_secret(&secrets, "fs.s3a.access.key", "x"));
    assert_true(is_secret(&secrets, "fs.s3a.accesskey", "x"));
    assert_true(is_secret(&secrets, "fs.s3a.access-key", "x"));
    assert_true(is_secret(&secrets, "javax.net.ssl.keyStorePasswd", "x"));
    assert_true(is_secret(&secrets, "fs.azure.account.key.me.net", "x"));
    assert_false(is_secret(&secrets, "fs.s3a.aws.credentials.provider", "org.apache.X"));
    assert_false(is_secret(&secrets, "PWD", "/home/me"));
    assert_true(is_secret(&secrets, "PWD", "abc"));
    assert_true(is_secret(&secrets, "sun.java.command", "Main --conf spark.x.token=1"));
    assert_false(is_secret(&secrets, "spark.app.name", "join"));
    assert_false(is_secret(&secrets, "spark.app.pin", "1234"));
    set(&secrets, "spark.redaction.regex", "(?i)pin$");
    assert_true(is_secret(&secrets, "spark.app.PIN", "1234"));
    assert_false(is_secret(&secrets, "spark.app.pins", "1234"));
    assert_true(is_secret(&secrets, "spark.my.password", "x")); /* the default stays */
    set(&secrets, "spark.redaction.regex", R);                  /* a later snapshot of the same log */
    assert_true(is_secret(&secrets, "spark.app.pin", "1234"));
    set(&secrets, "spark.redaction.regex", "(unclosed");
    assert_false(is_secret(&secrets, "spark.app.pin", "1234"));
    set(&secrets, "spark.other", "spark");
    assert_false(is_secret(&secrets, "spark.app.name", "join"));
    pyro_secrets_done(&secrets);
    secrets.how = PYRO_REDACT_SPARK;
    assert_true(is_secret(&secrets, "spark.my.password", "x"));
    assert_false(is_secret(&secrets, "fs.s3a.access-key", "x")); /* as Spark has it */
    assert_false(is_secret(&secrets, "spark.my.passwd", "x"));
    pyro_secrets_done(&secrets);
}

static void test_texts(void **state)
{
    struct pyro_secrets secrets = {0};
    (void)state;
    expect(&secrets, false, "nothing to see", "nothing to see");
    expect(&secrets, false, "api_token=abc, x", "api_token=" R ", x");
    expect(&secrets, false, "jdbc://me:pw@db/x?password=a&b=c", "jdbc://me:" R "@db/x?password=" R "&b=c");
    expect(&secrets, false, "call 555-1234 or 555-9876!", "call 555-1234 or 555-9876!");
    set(&secrets, "spark.redaction.string.regex", "555-[0-9]+");
    expect(&secrets, false, "call 555-1234 or 555-9876!", "call " R " or " R "!");
    expect(&secrets, false, "token=x 555-1", "token=" R " " R);
    set(&secrets, "spark.redaction.string.regex", "x*"); /* empty finds are none */
    expect(&secrets, false, "aXxxb", "aX" R "b");
    set(&secrets, "spark.redaction.string.regex", "(?=b\\K)|$");
    expect(&secrets, false, "abc", "abc");
    pyro_secrets_done(&secrets);
}

static void test_plans(void **state)
{
    struct pyro_secrets secrets = {0};
    (void)state;
    expect(&secrets, true, "SaveIntoDataSourceCommand [dbtable=t, url=jdbc:pg://h;x=1, password=p], Append",
           "SaveIntoDataSourceCommand [dbtable=t, url=" R ", password=" R "], Append");
    expect(&secrets, true, "CREATE TABLE t OPTIONS (`url` 'jdbc:x', dbtable 't', sfURL=\"a b\")",
           "CREATE TABLE t OPTIONS (`url` " R ", dbtable 't', sfURL=" R ")");
    expect(&secrets, true, "Map(dbtable -> t, url -> jdbc:x)", "Map(dbtable -> t, url -> " R ")");
    expect(&secrets, false, "[url=jdbc:x]", "[url=jdbc:x]"); /* options are of plans */
    /* Columns are not options. */
    expect(&secrets, true, "HashAggregate(keys=[url#12], functions=[max(url#12)], output=[url#12])",
           "HashAggregate(keys=[url#12], functions=[max(url#12)], output=[url#12])");
    expect(&secrets, true, "Filter (isnotnull(url#1) AND (url#1 = abc))",
           "Filter (isnotnull(url#1) AND (url#1 = abc))");
    expect(&secrets, true, "FileScan csv [url#1] ReadSchema: struct<url:string>",
           "FileScan csv [url#1] ReadSchema: struct<url:string>");
    expect(&secrets, true, "[pin=1, pan=2]", "[pin=1, pan=2]");
    set(&secrets, "spark.sql.redaction.options.regex", "^pin$");
    expect(&secrets, true, "[pin=1, pan=2, url=x]", "[pin=" R ", pan=2, url=" R "]");
    set(&secrets, "spark.redaction.regex", "^pan$");
    expect(&secrets, true, "[pin=1, pan=2, url=x]", "[pin=" R ", pan=" R ", url=" R "]");
    set(&secrets, "spark.sql.redaction.string.regex", "Bob");
    expect(&secrets, true, "Filter (name = Bob)", "Filter (name = " R ")");
    expect(&secrets, false, "Filter (name = Bob)", "Filter (name = Bob)");
    set(&secrets, "spark.redaction.string.regex", "name");
    expect(&secrets, true, "[url=x] (name = Bob)", "[url=" R "] (" R " = " R ")");
    pyro_secrets_done(&secrets);
}

/* Expressions that take exponential, cubic or quadratic time: they end, and what they leave open is not shown. */
static void test_expressions_without_end(void **state)
{
    static const char *const expressions[] = {"(a+)+$",       "(a|a)*$",  "(a|aa)+$",    "^(([a-z])+.)+[A-Z]([a-z])+$",
                                              ".*.*.*.*.*b$", "(.*)\\1b", "a*a*a*a*a*b", "(?:(?R)?a)*b"};
    enum { BYTES = 200000, TEXTS = 20 };
    char *text = malloc(BYTES + 1);
    (void)state;
    memset(text, 'a', BYTES);
    text[BYTES] = '\0';
    for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); i++) {
        struct pyro_secrets secrets = {0};
        struct pyro_strbuf buffer;
        pyro_strbuf_init(&buffer, NULL);
        set(&secrets, "spark.redaction.regex", expressions[i]);
        set(&secrets, "spark.redaction.string.regex", expressions[i]);
        for (size_t k = 0; k < TEXTS; k++) {
            pyro_secrets_property(&secrets, PYRO_SLICE_LITERAL("key"), (struct pyro_slice){text, BYTES});
            struct pyro_slice shown = pyro_secrets_text(&secrets, (struct pyro_slice){text, BYTES}, &buffer);
            assert_true(shown.len == BYTES || pyro_slice_starts_with(shown, R));
        }
        assert_true(pyro_secrets_property(&secrets, PYRO_SLICE_LITERAL("password"), PYRO_SLICE_LITERAL("x")));
        pyro_strbuf_done(&buffer);
        pyro_secrets_done(&secrets);
    }
    free(text);
}

static void test_expressions_that_are_too_long(void **state)
{
    struct pyro_secrets secrets = {0};
    char expression[5000];
    (void)state;
    memset(expression, 'a', sizeof(expression) - 1);
    expression[sizeof(expression) - 1] = '\0';
    set(&secrets, "spark.redaction.regex", expression);
    assert_false(is_secret(&secrets, "spark.app.name", expression));
    set(&secrets, "spark.redaction.regex", "((a{1,999}){1,999}){1,999}");
    assert_false(is_secret(&secrets, "spark.app.name", "b"));
    pyro_secrets_done(&secrets);
}

/* Each makes earlier texts be looked at again: after a few, the setting finds everything, and only that setting. */
static void test_too_many_expressions(void **state)
{
    struct pyro_secrets secrets = {0};
    char expression[20];
    int taken = 0;
    (void)state;
    for (int i = 0; i < 2 * PYRO_SECRET_EXPRESSIONS_MOST; i++) {
        snprintf(expression, sizeof(expression), "pin%d$", i);
        taken +=
            pyro_secrets_configure(&secrets, PYRO_SLICE_LITERAL("spark.redaction.regex"), pyro_slice_from(expression));
        assert_int_equal(pyro_secrets_overrun(&secrets), i >= PYRO_SECRET_EXPRESSIONS_MOST);
        assert_int_equal(is_secret(&secrets, "spark.app.name", "join"), i >= PYRO_SECRET_EXPRESSIONS_MOST);
    }
    assert_int_equal(taken, PYRO_SECRET_EXPRESSIONS_MOST + 1);
    expect(&secrets, false, "name=join, a text", "name=" R ", a text");
    expect(&secrets, true, "Filter (name = Bob)", "Filter (name = Bob)");
    /* Going back to an earlier one counts too. */
    for (int i = 0; i <= PYRO_SECRET_EXPRESSIONS_MOST; i++)
        set(&secrets, "spark.redaction.string.regex", i % 2 ? "one" : "two");
    expect(&secrets, false, "a text\nof lines", R);
    expect(&secrets, false, R, R);
    pyro_secrets_done(&secrets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_expressions_without_end),
        cmocka_unit_test(test_expressions_that_are_too_long),
        cmocka_unit_test(test_too_many_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
