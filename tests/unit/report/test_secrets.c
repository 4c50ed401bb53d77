/* Which properties are secrets. */
#include "fixture.h"

#include "report/secrets.h"

static bool secret(const char *key, const char *value)
{
    return pyro_is_secret(pyro_slice_from(key), pyro_slice_from(value));
}

static void names_and_values_of_secrets(void **state)
{
    (void)state;
    assert_true(secret("spark.hadoop.fs.s3a.secret.key", "x"));
    assert_true(secret("spark.ssl.keyPassword", "x"));
    assert_true(secret("fs.s3a.access.key", "x"));
    assert_true(secret("fs.s3a.ACCESSKEY", "x"));
    assert_true(secret("spark.my.api_key", "x"));
    assert_true(secret("fs.azure.account.key.lake.dfs.core.windows.net", "x"));
    assert_true(secret("spark.driver.extraJavaOptions", "-Ddb.Password=hunter2"));
    assert_true(secret("spark.jdbc.url", "jdbc:postgresql://etl:hunter2@db:5432/sales"));
    assert_true(secret("a", "http://x/ https://user:word@host/"));
}

static void others_are_none(void **state)
{
    (void)state;
    assert_false(secret("spark.executor.memory", "4g"));
    assert_false(secret("spark.sql.accessible", "keys"));
    assert_false(secret("spark.master", "spark://host:7077"));
    assert_false(secret("spark.repo", "https://host/a:b@c"));
    assert_false(secret("spark.mail", "me@host"));
    assert_false(secret("a", "://"));
    assert_false(secret("", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_and_values_of_secrets),
                                       cmocka_unit_test(others_are_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
