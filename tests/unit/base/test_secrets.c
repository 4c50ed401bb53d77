/* Secrets in texts, and texts that only look as if they had some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/secrets.h"

static void check(const char *text, const char *wanted)
{
    struct pyro_secrets secrets = {0};
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    struct pyro_slice shown = pyro_secrets_text(&secrets, pyro_slice_from(text), &buffer);
    assert_int_equal(shown.len, strlen(wanted));
    assert_memory_equal(shown.ptr, wanted, shown.len);
    pyro_strbuf_done(&buffer);
    pyro_secrets_done(&secrets);
}

#define STARS PYRO_REDACTED

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
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        check(texts[i], texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_word),
        cmocka_unit_test(test_nothing_to_hide),
    };
    return cmocka_run_group_tests_name("secrets", tests, NULL, NULL);
}
