/* Secrets in texts, and texts that only look as if they had some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/secrets/secret_scan.h"
#include "base/secrets/secrets.h"

#define STARS PYRO_REDACTED

static void check_as(enum pyro_redaction how, const char *text, const char *wanted)
{
    struct pyro_secrets secrets = {.how = how};
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    struct pyro_slice shown = pyro_secrets_text(&secrets, pyro_slice_from(text), &buffer);
    char *copy = strndup(shown.ptr, shown.len);
    assert_string_equal(copy, wanted);
    /* What was redacted stays as it is. */
    shown = pyro_secrets_text(&secrets, pyro_slice_from(copy), &buffer);
    assert_int_equal(shown.len, strlen(wanted));
    assert_memory_equal(shown.ptr, wanted, shown.len);
    free(copy);
    pyro_strbuf_done(&buffer);
    pyro_secrets_done(&secrets);
}

static void check(const char *text, const char *wanted)
{
    check_as(PYRO_REDACT_WIDE, text, wanted);
}

static void test_every_word(void **state)
{
    (void)state;
    check("my.secret=abc", "my.secret=" STARS);
    check("SECRET: abc def", "SECRET: " STARS " def");
    check("db.Password = abc, x", "db.Password = " STARS ", x");
    check("passwd 'a b'", "passwd " STARS);
    check("auth_token=>abc", "auth_token=>" STARS);
    check("fs.accesskey=abc", "fs.accesskey=" STARS);
    check("Access-Key=abc", "Access-Key=" STARS);
    check("user x IDENTIFIED  BY 'abc'", "user x IDENTIFIED  BY " STARS);
    check("jdbc://me:abc@host/db", "jdbc://me:" STARS "@host/db");
    check("one password=a, another token=b", "one password=" STARS ", another token=" STARS);
    check("UID=sa;PWD=abc;x=1", "UID=sa;PWD=" STARS ";x=1");
    check("passphrase: abc", "passphrase: " STARS);
    check("password:abc", "password:" STARS);
    check("credentials=abc", "credentials=" STARS);
    check("apikey=abc api_key=abc api-key=abc api.key=abc",
          "apikey=" STARS " api_key=" STARS " api-key=" STARS " api.key=" STARS);
    check("AccountName=x;AccountKey=ab+c/==;y", "AccountName=x;AccountKey=" STARS ";y");
    check("fs.azure.account.key.x.net=abc", "fs.azure.account.key.x.net=" STARS);
    check("--conf x --db-password abc --other y", "--conf x --db-password " STARS " --other y");
    check("X-Auth-Token: abc123", "X-Auth-Token: " STARS);
    check("Map(password -> abc, user -> x)", "Map(password -> " STARS ", user -> x)");
    check("Authorization: Basic abc==", "Authorization: Basic " STARS);
    check("sent Bearer abc.def-1", "sent Bearer " STARS);
    check("https://h/c?sv=1&sig=a%2Bb&se=2", "https://h/c?sv=1&sig=" STARS "&se=2");
    check("jdbc:oracle:thin:scott/tiger@h:1521", "jdbc:oracle:thin:scott/" STARS "@h:1521");
    check("https://u:p@ss@h/x", "https://u:" STARS "@h/x");
    check("jdbc:mysql:/\\/root:abc@db", "jdbc:mysql:/\\/root:" STARS "@db");
}

static void test_shapes(void **state)
{
    (void)state;
    check("key AKIAIOSFODNN7EXAMPLE here", "key " STARS " here");
    check("eyJhbGciOi.eyJzdWIiOi.c2ln-x!", STARS "!");
    check("ghp_abcdefghijklmnopqrst.", STARS ".");
    check("a -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- b", "a " STARS " b");
    check("a -----BEGIN PRIVATE KEY-----\nabc", "a " STARS); /* cut */
}

/* What headers, commands, tuples, lists and files of settings say beyond one name and one value. */
static void test_forms(void **state)
{
    (void)state;
    check("Cookie: a=1; session=abc", "Cookie: " STARS);
    check("Cookie: a=1, session=abc; b", "Cookie: " STARS "; b");
    check("{\"Cookie\": \"sid=abc\", \"x\": 1}", "{\"Cookie\": " STARS ", \"x\": 1}");
    check("hadoop.auth=\"u=me&p=x&s=abc\"; Path=/", "hadoop.auth=" STARS "; Path=/");
    check("access_token=Bearer abc.def", "access_token=" STARS);
    check("Authorization: 0123456789abcdef", "Authorization: " STARS);
    check("Authorization: Digest username=\"u\", response=\"abc\"\nHost: h",
          "Authorization: Digest " STARS "\nHost: h");
    check("password: --password abc", "password: --password " STARS);
    check("List((user,me), (my.password,abc))", "List((user,me), (my.password," STARS "))");
    check("<name>fs.secret.key</name>\n  <value>a,b c</value>",
          "<name>fs.secret.key</name>\n  <value>" STARS "</value>");
    check("&lt;name&gt;db.password&lt;/name&gt;&lt;value&gt;abc&lt;/value&gt;",
          "&lt;name&gt;db.password&lt;/name&gt;&lt;value&gt;" STARS "&lt;/value&gt;");
    check("clone https://0123456789abcdefg@host/x", "clone https://" STARS "@host/x");
    check("curl -s -u me:abc http://h", "curl -s -u me:" STARS " http://h");
    check("curl --user me:abc", "curl --user me:" STARS);
    check("passwords=[a, b] x", "passwords=" STARS " x");
    check("{\"passwords\":[\"a\",\"b\"],\"x\":1}", "{\"passwords\":" STARS ",\"x\":1}");
    check("passwords: [a, b] x", "passwords: " STARS " x");
    check("passwords=List(a, b), x", "passwords=" STARS ", x");
    check("secrets -> ArraySeq(a, b), x", "secrets -> " STARS ", x");
    check("{\"Cookie\":[\"a=1\",\"b=2\"],\"x\":1}", "{\"Cookie\":" STARS ",\"x\":1}");
    check("curl -s -ume:abc http://h", "curl -s -ume:" STARS " http://h");
    check("curl --user=me:abc http://h", "curl --user=me:" STARS " http://h");
    check("<name>a.password</name> <final>true</final><value>abc</value>",
          "<name>a.password</name> <final>true</final><value>" STARS "</value>");
    check("<db><password>a b</password></db>", "<db><password>" STARS "</password></db>");
    check("&lt;auth-token&gt;abc&lt;/auth-token&gt;", "&lt;auth-token&gt;" STARS "&lt;/auth-token&gt;");
}

/* JSON, URLs and HTML inside of a text, and both in each other. */
static void test_escapes(void **state)
{
    (void)state;
    check("{\"password\":\"a\\\"b\",\"x\":1}", "{\"password\":" STARS ",\"x\":1}");
    check("{\\\"password\\\": \\\"abc\\\",\\\"x\\\":1}", "{\\\"password\\\": " STARS ",\\\"x\\\":1}");
    check("{\\\\\\\"password\\\\\\\":\\\\\\\"abc\\\\\\\"}", "{\\\\\\\"password\\\\\\\":" STARS "}");
    check("{'api_key': 'abc', 'x': 1}", "{'api_key': " STARS ", 'x': 1}");
    check("%7B%22password%22%3A%22a%5C%22b%22%7D", "%7B%22password%22%3A" STARS "%7D");
    check("password%3Dabc", "password%3D" STARS);
    check("http%3A%2F%2Fu%3Aabc%40h%2Fx", "http%3A%2F%2Fu%3A" STARS "%40h%2Fx");
    check("http:\\/\\/u:abc@h\\/x", "http:\\/\\/u:" STARS "@h\\/x");
    check("{&quot;password&quot;:&quot;abc&quot;}", "{&quot;password&quot;:" STARS "}");
    check("{&#34;token&#34;:&#34;a&amp;c&#34;}", "{&#34;token&#34;:" STARS "}");
    check("password&#61;a&amp;b x", "password&#61;" STARS " x");
    check("password\\u003dabc x", "password\\u003d" STARS " x");
    check("http:&#x2F;&#x2F;u:abc@h", "http:&#x2F;&#x2F;u:" STARS "@h");
    check("password=\"ab", "password=" STARS); /* cut */
    check("password='it''s' x", "password=" STARS " x");
    check("x=1%26sig%3Dabc", "x=1%26sig%3D" STARS);
}

static void test_nothing_to_hide(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "s",
        "Filter (isnotnull(day#34L) AND (day#34L < 200))",
        "LessThan(day,200), file:/data/sales-0",
        "s3://bucket/key",
        "tokens are counted",
        "the secret of success",
        "struct<password:string>",
        "root |-- token: string (nullable = true)",
        "struct<secret:struct<a:int>,password:decimal(10,2)>",
        "Filter (password#12 = token#13)",
        "spark://HeartbeatReceiver@host:7077",
        "abfss://container@account.dfs.core.windows.net/x",
        "unexpected token: FROM",
        "a bearer token is needed",
        "{\"token\":null,\"password\":false}",
        "fs.s3a.aws.credentials.provider=org.apache.X",
        "PWD=/home/me",
        "java.io.IOException: at a.TokenUtil.call(TokenUtil.java:12)",
        "hdfs://nn:8020/x, mail to a@b.c",
        "assign=1, design=2",
        "concat(password,name), token(a,b)",
        "https://reader@host/x",
        "hadoop.security.authorization=false",
        "Authorization: required",
        "docker run -u 1000:1000 image",
        "<name>spark.app.name</name><value>x</value>",
        "the cookie jar",
        "List<Token>, Class<SecretKey> x",
        "<password></password>",
        "key password=" STARS ", x",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        check(texts[i], texts[i]);
}

static void test_spark_alone(void **state)
{
    (void)state;
    check_as(PYRO_REDACT_SPARK, "a.password=abc passwd=abc", "a.password=" STARS " passwd=abc");
    check_as(PYRO_REDACT_SPARK, "jdbc://me:abc@host/db", "jdbc://me:abc@host/db");
    check_as(PYRO_REDACT_SPARK, "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE");
    assert_true(pyro_secret_expressions_key(PYRO_REDACT_SPARK) != pyro_secret_expressions_key(PYRO_REDACT_WIDE));
}

static bool finds(struct pyro_pattern *pattern, struct pyro_slice text)
{
    pcre2_match_data *found = pcre2_match_data_create(3, NULL);
    int result = pyro_pattern_match(pattern, text, 0, found, NULL);
    pcre2_match_data_free(found);
    assert_true(result >= PCRE2_ERROR_NOMATCH);
    return result > 0;
}

/* The quick look lets every text pass that an expression finds anything in. */
static void test_quick_look(void **state)
{
    static const char *const pieces[] = {"secret",
                                         "PassWord",
                                         "token",
                                         "access",
                                         "key",
                                         "passwd",
                                         "pwd",
                                         "passphrase",
                                         "passcode",
                                         "credentials",
                                         "api",
                                         "storage",
                                         "account",
                                         "private",
                                         "shared",
                                         "auth",
                                         "encryption",
                                         "?",
                                         "signing",
                                         "_",
                                         "-",
                                         ".",
                                         "%5f",
                                         "fs.azure.sas",
                                         "identified",
                                         "by",
                                         "authorization",
                                         "basic",
                                         "bearer",
                                         "negotiate",
                                         "sig",
                                         "x-amz-security-",
                                         "cookie",
                                         "set-",
                                         "=",
                                         "%3d",
                                         "&equals;",
                                         "\\u003d",
                                         ":",
                                         "%253a",
                                         "&colon;",
                                         "&#58;",
                                         "&#x3a;",
                                         "\\u003a",
                                         ">",
                                         "%3e",
                                         "/",
                                         "//",
                                         "\\/",
                                         "%2f",
                                         "&sol;",
                                         "&#x2f;",
                                         "\\u002f",
                                         "@",
                                         "%40",
                                         "&commat;",
                                         "&#64;",
                                         "\\u0040",
                                         "oracle:thin:",
                                         " ",
                                         "\t",
                                         "%20",
                                         "&nbsp;",
                                         "\"",
                                         "'",
                                         "%22",
                                         "&quot;",
                                         "\\\"",
                                         "a",
                                         "b1",
                                         "x",
                                         "--",
                                         "ftp",
                                         "AKIA",
                                         "ABCDEFGHIJKL12",
                                         "eyJ",
                                         "abcdef.abcd",
                                         "ghp_",
                                         "github_pat_",
                                         "glpat-",
                                         "xoxb-",
                                         "AIza",
                                         "dapi",
                                         "0123456789abcdef",
                                         "sk_live_",
                                         "-----BEGIN",
                                         ",",
                                         "adaptive",
                                         "(",
                                         ")",
                                         "</name>",
                                         "<value>",
                                         "&lt;",
                                         "curl",
                                         " -u ",
                                         "me:",
                                         "hadoop.auth",
                                         "authorization",
                                         "digest ",
                                         "cookie",
                                         "bearer ",
                                         "[",
                                         "https"};
    const struct pyro_secret_expressions *wide = pyro_secret_expressions(PYRO_REDACT_WIDE);
    struct pyro_strbuf text;
    size_t found = 0;
    uint64_t random = 1;
    (void)state;
    pyro_strbuf_init(&text, NULL);
    for (size_t i = 0; i < 60000; i++) {
        pyro_strbuf_clear(&text);
        for (size_t n = 0; n < 1 + i % 9; n++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
            pyro_strbuf_add_text(&text, pieces[(random >> 33) % (sizeof(pieces) / sizeof(*pieces))]);
        }
        struct pyro_slice slice = pyro_strbuf_slice(&text);
        unsigned may = pyro_may_hold_secret(slice);
        bool by_name = finds(wide->text, slice), by_header = finds(wide->headers, slice),
             by_shape = finds(wide->shapes, slice);
        bool names = finds(wide->names, slice) || finds(wide->more_names, slice);
        assert_true(!by_name || (may & PYRO_SECRET_BY_NAME));
        assert_true(!by_header || (may & PYRO_SECRET_BY_HEADER));
        assert_true(!by_shape || (may & PYRO_SECRET_BY_SHAPE));
        assert_true(!names || pyro_may_name_secret(slice));
        assert_true(!(names || finds(wide->options, slice)) || (may & PYRO_SECRET_BY_OPTION));
        found += by_name + by_shape;
    }
    assert_true(found > 5000);
    pyro_strbuf_done(&text);
}

/* Texts made to cost: each is looked through in about the time of its length. */
static void test_long_texts(void **state)
{
    static const char *const pieces[] = {"password=\"",
                                         "://a:",
                                         "secret",
                                         "\\\"token\\\":\\\"",
                                         "-----BEGIN",
                                         "&quot;",
                                         "%22",
                                         "password=a",
                                         "://u:p@",
                                         "--token-",
                                         "eyJaaaaaaa.aaaaaa.",
                                         "credential ",
                                         "cookie: a=b; ",
                                         "cookie: \"",
                                         "(password,",
                                         "curl -u a:",
                                         "curl -s ",
                                         "password</name><value>",
                                         "password&lt;/name&gt;",
                                         "https://aaaaaaaaaaaaaaaaaaaa",
                                         "authorization: digest a",
                                         "hadoop.auth=",
                                         "password=["};
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES + 1);
    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        struct pyro_secrets secrets = {0};
        struct pyro_strbuf buffer;
        size_t len = strlen(pieces[i]);
        pyro_strbuf_init(&buffer, NULL);
        for (size_t at = 0; at < BYTES; at++)
            text[at] = pieces[i][at % len];
        struct pyro_slice shown = pyro_secrets_text(&secrets, (struct pyro_slice){text, BYTES}, &buffer);
        assert_true(shown.len > 0);
        pyro_strbuf_done(&buffer);
        pyro_secrets_done(&secrets);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_word), cmocka_unit_test(test_shapes),          cmocka_unit_test(test_forms),
        cmocka_unit_test(test_escapes),    cmocka_unit_test(test_nothing_to_hide), cmocka_unit_test(test_spark_alone),
        cmocka_unit_test(test_quick_look), cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests_name("secrets", tests, NULL, NULL);
}
