/* What a statement of a stranger may use: functions, the length of values, disk, memory, time. */
#include "../report/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/sql_query.h"

static enum pyro_status query(struct fixture *fixture, const char *sql)
{
    pyro_strbuf_clear(&fixture->out);
    return pyro_sql_query(fixture->app, sql, PYRO_FORMAT_CSV, NULL, &fixture->writer, &fixture->error);
}

static void refuse(struct fixture *fixture, const char *sql, const char *message)
{
    if (query(fixture, sql) != PYRO_ERROR_ARGUMENT || !strstr(fixture->error.message, message))
        fail_msg("%s: %s", sql, fixture->error.message);
}

static void only_listed_functions_and_tables(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 4, false);
    refuse(&fixture, "SELECT fts3_tokenizer('simple')", "not authorized to use function: fts3_tokenizer");
    refuse(&fixture, "SELECT FTS3_Tokenizer('simple')", "not authorized");
    refuse(&fixture, "SELECT load_extension('x')", "not authorized");
    refuse(&fixture, "SELECT sqlite_log(1, 'x')", "not authorized");
    refuse(&fixture, "SELECT 'a' MATCH 'b'", "MATCH");
    refuse(&fixture, "SELECT json_patch('{}', '{}')", "not authorized");
    refuse(&fixture, "SELECT * FROM dbstat", "no such table");
    refuse(&fixture, "SELECT * FROM sqlite_stmt", "no such table");
    refuse(&fixture, "SELECT * FROM pragma_function_list", "not authorized");
    refuse(&fixture, "SELECT * FROM json_each('[1]')", "no such table");
    fixture_done(&fixture);
}

/* Every function of this SQLite is allowed or was left out on purpose: a new one does not slip in unseen. */
static void all_functions_are_known(void **state)
{
    (void)state;
    static const char *const refused[] = {"bm25",       "changes",        "fts3_tokenizer", "fts5",       "highlight",
                                          "json_patch", "load_extension", "match",          "sqlite_log", "matchinfo",
                                          "offsets",    "optimize",       "fts5_source_id", "rtreecheck", "rtreedepth",
                                          "rtreenode",  "snippet",        "total_changes"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_false(pyro_sql_may_call(refused[i]));
    assert_true(pyro_sql_may_call("GROUP_CONCAT"));
    assert_false(pyro_sql_may_call(NULL));
    assert_false(pyro_sql_may_call(""));
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void value_of(sqlite3 *db, const char *sql, char *ret, size_t bytes)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const unsigned char *text = sqlite3_column_text(statement, 0);
    snprintf(ret, bytes, "%d:%s", sqlite3_column_type(statement, 0), text ? (const char *)text : "");
    sqlite3_finalize(statement);
}

static void functions_answer_as_those_of_sqlite(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "instr('abcabc', 'ca')",
        "instr('häß', 'ß')",
        "instr('abc', '')",
        "instr('', 'a')",
        "instr('', '')",
        "instr(NULL, 'a')",
        "instr(x'00C3A4', x'A4')",
        "instr('äb', x'62')",
        "instr(12345, 34)",
        "instr('aaa', 'aaaa')",
        "replace('aXbXX', 'X', '--')",
        "replace('aaa', 'aa', 'b')",
        "replace('abc', '', 'x')",
        "replace('abc', 'abc', '')",
        "replace('abc', 'c', NULL)",
        "replace(12321, 2, 'zwei')",
        "replace('', 'a', 'b')",
        "trim('  a b  ')",
        "ltrim('  a b  ')",
        "rtrim('  a b  ')",
        "trim('xyaxy', 'yx')",
        "ltrim('ßäaä', 'äß')",
        "rtrim('ßäaä', 'äß')",
        "trim('aaa', 'a')",
        "trim('', 'a')",
        "trim('abc', '')",
        "trim(NULL, 'a')",
        "trim('abc', NULL)",
        "trim(11211, 1)",
        "rtrim('日本語', '語')",
        "trim('a€b', '€')",
        "trim('😀a😀', '😀')",
        "'abc' LIKE 'A%C'",
        "'abc' LIKE '_b_'",
        "'abc' LIKE 'ab'",
        "'' LIKE '%'",
        "'' LIKE ''",
        "'' LIKE '_'",
        "'a%c' LIKE 'a\\%c' ESCAPE '\\'",
        "'abc' LIKE 'a\\%c' ESCAPE '\\'",
        "'Ä' LIKE 'ä'",
        "'aXbXc' LIKE '%x%x%'",
        "'aab' LIKE '%ab'",
        "'abab' LIKE '%ab_'",
        "12 LIKE '1%'",
        "NULL LIKE 'a'",
        "'a%' LIKE 'a%%' ESCAPE '%'",
        "'abc' GLOB 'a*'",
        "'abc' GLOB 'A*'",
        "'abc' GLOB '[a-c]?[^d]'",
        "'abc' GLOB 'ab[]c]'",
        "'a]' GLOB 'a[]]'",
        "'a-' GLOB 'a[-]'",
        "'abc' GLOB 'ab[c'",
        "'a*' GLOB 'a[*]'",
        "'ä' GLOB '[à-ö]'",
        "'ab' GLOB '**b'",
        "'abcabd' GLOB '*ab[d]'",
        "printf('%d %i %5d|%-5d|%05d|%+d', 1, 2, 3, 4, 5, 6)",
        "printf('%,d %x %X %#x %o %u %p', 1234567, 255, 255, 255, 8, -1, 255)",
        "printf('%.2f %e %g %10.3f|%-10.1f|%!.20g', 3.14159, 2.5, 0.1, 1.5, 2.25, 1.0/3)",
        "printf('%s|%10s|%-10s|%.2s|%*s|%.*s', 'a', 'b', 'c', 'defg', 5, 'h', 2, 'ijk')",
        "printf('%q %Q %w %z', 'it''s', 'it''s', 'say \"x\"', 'z')",
        "printf('%Q %s', NULL, NULL)",
        "printf('%c%c%c|%5c|%.3c', 'abc', 'ä', '', 'x', 'y')",
        "printf('%*d|%-*d|%*d', 5, 1, 5, 2, -5, 3)",
        "printf('100%% %n%d', 1)",
        "printf('a%k %d', 1)",
        "printf('%')",
        "printf('a%')",
        "printf('a%5')",
        "printf('%d')",
        "printf('%s')",
        "printf(NULL)",
        "printf('%lld %ld', 1, 2)",
        "printf('%r %r %r', 1, 2, 13)",
        "printf('%--5d|%  d|%0005d', 1, 2, 3)",
        "printf('%!.2s', 'äöü')",
        "printf('%.0f|%.f|%.d', 2.6, 2.6, 7)",
        "format('%s', 'x')",
        "printf('%d', 'abc')",
    };
    struct pyro_sql_source source = {.stopped = never};
    sqlite3 *own, *plain;
    assert_int_equal(sqlite3_open(":memory:", &own), SQLITE_OK);
    assert_int_equal(sqlite3_open(":memory:", &plain), SQLITE_OK);
    assert_int_equal(pyro_sql_add_functions(own, &source), SQLITE_OK);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        char sql[200], got[200], wanted[200];
        snprintf(sql, sizeof(sql), "SELECT %s", calls[i]);
        value_of(own, sql, got, sizeof(got));
        value_of(plain, sql, wanted, sizeof(wanted));
        if (strcmp(got, wanted) != 0)
            fail_msg("%s: %s, SQLite says %s", calls[i], got, wanted);
    }
    sqlite3_close(own);
    sqlite3_close(plain);
}

/* Each of these takes SQLite's own functions hours, in one step. They end; nothing here looks at a clock. */
static void one_call_ends(void **state)
{
    (void)state;
    static const char *const statements[] = {
        "SELECT instr(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')",
        "SELECT length(replace(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b', 'c'))",
        "SELECT length(trim(printf('%.*c', 8000000, 'a'), printf('%.*c', 8000000, 'b')))",
        "SELECT length(trim(printf('%.*c', 8000000, 'a'), printf('%.*c', 8000000, 'b') || 'a'))",
    };
    struct fixture fixture;
    fixture_init(&fixture, 4, false);
    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
        if (query(&fixture, statements[i]) != PYRO_OK)
            fail_msg("%s: %s", statements[i], fixture.error.message);
    fixture_done(&fixture);
}

static void values_are_short(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 4, false);
    refuse(&fixture, "SELECT length(printf('%.*c', 900000000, 'x'))", "16 MiB");
    refuse(&fixture, "SELECT length(printf('%2000000000d', 1))", "16 MiB");
    refuse(&fixture, "SELECT length(zeroblob(900000000))", "16 MiB");
    refuse(&fixture, "SELECT length(replace(printf('%.*c', 9000000, 'a'), 'a', 'bb'))", "16 MiB");
    refuse(&fixture,
           "WITH RECURSIVE c(x, n) AS (SELECT 'abcdefgh', 1 UNION ALL SELECT x || x, n + 1 FROM c WHERE n < 40) "
           "SELECT max(length(x)) FROM c",
           "16 MiB");
    assert_int_equal(query(&fixture, "SELECT length(printf('%.*c', 16000000, 'x'))"), PYRO_OK);
    fixture_done(&fixture);
}

static void sorting_has_so_much_disk(void **state)
{
    (void)state;
    static const char endless[] = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                                  "SELECT x, hex(randomblob(100)) AS y FROM c ORDER BY y";
    static const char once[] = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 30000) "
                               "SELECT count(*) FROM (SELECT DISTINCT hex(randomblob(100)) FROM c)";
    struct fixture fixture;
    fixture_init(&fixture, 4, false);
    pyro_strbuf_clear(&fixture.out);
    assert_int_equal(
        pyro_sql_run(fixture.app, endless, PYRO_FORMAT_CSV, 2 << 20, NULL, &fixture.writer, &fixture.error),
        PYRO_ERROR_ARGUMENT);
    assert_non_null(strstr(fixture.error.message, "more than 2 MiB in temporary files"));
    assert_int_equal(pyro_sql_run(fixture.app, once, PYRO_FORMAT_CSV, 2 << 20, NULL, &fixture.writer, &fixture.error),
                     PYRO_ERROR_ARGUMENT);
    assert_non_null(strstr(fixture.error.message, "more than 2 MiB in temporary files"));
    pyro_strbuf_clear(&fixture.out);
    assert_int_equal(pyro_sql_run(fixture.app, once, PYRO_FORMAT_CSV, 256 << 20, NULL, &fixture.writer, &fixture.error),
                     PYRO_OK);
    assert_string_equal(fixture.out.data, "count(*)\r\n30000\r\n");
    fixture_done(&fixture);
}

/* Ten times a reference to the same, twenty deep: SQLite puts each in its place before it looks at any. */
static void laughing_statements_end(void **state)
{
    (void)state;
    struct fixture fixture;
    struct pyro_strbuf sql;
    fixture_init(&fixture, 4, false);
    pyro_strbuf_init(&sql, NULL);
    pyro_strbuf_add_text(&sql, "WITH a0 AS (SELECT 1 AS v)");
    for (int i = 1; i <= 20; i++)
        pyro_strbuf_printf(&sql, ", a%d AS (SELECT (SELECT v FROM a%d) + (SELECT v FROM a%d) AS v)", i, i - 1, i - 1);
    pyro_strbuf_add_text(&sql, " SELECT v FROM a20");
    sqlite3_hard_heap_limit64(64 << 20);
    assert_int_equal(query(&fixture, sql.data), PYRO_ERROR_MEMORY);
    assert_string_equal(fixture.error.message, "the statement needs more memory than it may use");
    assert_int_equal(query(&fixture, "SELECT count(*) FROM tasks"), PYRO_OK); /* and the next one runs */
    sqlite3_hard_heap_limit64(0);
    pyro_strbuf_done(&sql);
    fixture_done(&fixture);
}

struct stop {
    int calls, most;
};

static int stop_later(void *context, const struct pyro_progress *progress)
{
    struct stop *stop = context;
    (void)progress;
    return ++stop->calls >= stop->most;
}

/* At whatever look it is stopped, also while an index is made, which is one step. */
static void a_query_stops_wherever_it_is(void **state)
{
    (void)state;
    static const char sql[] = "SELECT count(*) FROM tasks a JOIN tasks b ON a.run_ms = b.run_ms";
    struct fixture fixture;
    struct stop stop = {.most = INT32_MAX};
    struct pyro_options options = {.size = sizeof(options), .progress = stop_later, .progress_context = &stop};
    fixture_init(&fixture, 70000, false);
    for (int most = 1; most < 6; most++) {
        stop = (struct stop){.most = most};
        pyro_strbuf_clear(&fixture.out);
        assert_int_equal(pyro_sql_query(fixture.app, sql, PYRO_FORMAT_CSV, &options, &fixture.writer, &fixture.error),
                         PYRO_ERROR_CANCELLED);
        assert_int_equal(stop.calls, most);
    }
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_listed_functions_and_tables),
        cmocka_unit_test(all_functions_are_known),
        cmocka_unit_test(functions_answer_as_those_of_sqlite),
        cmocka_unit_test(one_call_ends),
        cmocka_unit_test(values_are_short),
        cmocka_unit_test(sorting_has_so_much_disk),
        cmocka_unit_test(laughing_statements_end),
        cmocka_unit_test(a_query_stops_wherever_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
