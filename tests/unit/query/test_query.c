#include "../report/fixture.h"

#include <stdio.h>
#include <string.h>

#include "model/tracks/tracks.h"

static enum pyro_status query(struct fixture *fixture, const char *sql, enum pyro_format format)
{
    pyro_strbuf_clear(&fixture->out);
    return pyro_sql_query(fixture->app, sql, format, NULL, &fixture->writer, &fixture->error);
}

static void expect(struct fixture *fixture, const char *sql, const char *json)
{
    if (query(fixture, sql, PYRO_FORMAT_JSON) != PYRO_OK)
        fail_msg("%s: %s", sql, fixture->error.message);
    assert_string_equal(fixture->out.data, json);
}

static void rows_of_tables(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 200, false);
    expect(&fixture, "SELECT count(*) AS n, sum(run_ms) AS run FROM tasks", "[\n  {\"n\": 200, \"run\": 199000}\n]\n");
    expect(&fixture, "SELECT id, id, \"index\" FROM tasks WHERE id = 7",
           "[\n  {\"id\": 7, \"id_2\": 7, \"index\": 0}\n]\n");
    expect(&fixture, "SELECT 1 WHERE 0;  -- nothing\n;", "[]\n");
    expect(&fixture, "SELECT NULL AS a, 0.5 AS b, x'00ff' AS c, -9223372036854775808 AS d",
           "[\n  {\"a\": null, \"b\": 0.5, \"c\": \"00ff\", \"d\": -9223372036854775808}\n]\n");
    expect(&fixture, "SELECT user, duration_ms FROM applications",
           "[\n  {\"user\": null, \"duration_ms\": 2700000}\n]\n");
    for (size_t i = 0; i < PYRO_TABLE_COUNT; i++) {
        char sql[100];
        snprintf(sql, sizeof(sql), "SELECT * FROM %s", pyro_table_schemas[i].name);
        for (unsigned format = 0; pyro_format_name(format); format++)
            assert_int_equal(query(&fixture, sql, (enum pyro_format)format),
                             format <= PYRO_FORMAT_CSV ? PYRO_OK : PYRO_ERROR_ARGUMENT);
    }
    fixture_done(&fixture);
}

/* An index may never lose a row that a scan would find. */
static void look_ups_agree_with_scans(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 5000, false);
    static const char *const conditions[] = {"stage = 5",
                                             "stage = '5'",
                                             "stage = 5.0",
                                             "stage = 5.5",
                                             "executor = '2'",
                                             "executor = 2",
                                             "executor = '2' COLLATE NOCASE",
                                             "partition = NULL",
                                             "partition IS NULL",
                                             "id IN (1, 2, 4999, 5000)",
                                             "stage = -9223372036854775808",
                                             "stage = x'35'"};
    for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
        char sql[300];
        /* CASE hides the equality from the planner but keeps the rules of comparison. */
        snprintf(sql, sizeof(sql),
                 "SELECT (SELECT count(*) FROM tasks WHERE %s) - "
                 "(SELECT count(*) FROM tasks WHERE CASE WHEN %s THEN 1 END) AS d",
                 conditions[i], conditions[i]);
        expect(&fixture, sql, "[\n  {\"d\": 0}\n]\n");
    }
    expect(&fixture, "SELECT count(*) AS n FROM tasks a JOIN tasks b ON a.id = b.id JOIN stages s ON s.id = b.stage",
           "[\n  {\"n\": 5000}\n]\n");
    fixture_done(&fixture);
}

/* Neither may a range of times, where the threads' clocks differ and some rows have no time. */
static void ranges_agree_with_scans(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 200, false);
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    int32_t threads[2];
    for (int i = 0; i < 2; i++) {
        const struct pyro_clock_row clock = {.offset_ns = i * 777};
        const struct pyro_thread_row thread = {
            .parent = -1, .clock = pyro_tracks_add_clock(tracks, &clock), .pid = 7, .tid = i};
        threads[i] = pyro_tracks_add_thread(tracks, &thread);
    }
    for (int64_t i = 0; i < 5000; i++) {
        const struct pyro_sample_row sample = {.thread = threads[i % 2],
                                               .stack = -1,
                                               .time_ns = i % 50 ? 1000000 + i * 7919 % 5000 * 100 : PYRO_NONE,
                                               .weight = 1};
        assert_true(pyro_tracks_add_sample(tracks, &sample));
    }
    assert_true(pyro_tracks_seal(tracks));
    fixture.app->tracks = tracks;
    static const char *const conditions[] = {"> %s + 1000",
                                             ">= %s",
                                             "< %s",
                                             "<= %s + 0.5",
                                             "BETWEEN %s AND %s + 20000",
                                             "BETWEEN %s + 20000 AND %s",
                                             "> %s - 0.5 AND +time_ns < 'text'",
                                             "< 'text'",
                                             "> 'text'",
                                             "< x'00'",
                                             "> '10'",
                                             "> NULL",
                                             "> -9223372036854775807",
                                             "< 9223372036854775807",
                                             "> -1e300",
                                             "< 1e300"};
    for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
        char sql[900], condition[300];
        static const char middle[] = "(SELECT avg(time_ns) FROM samples)";
        snprintf(condition, sizeof(condition), conditions[i], middle, middle);
        snprintf(sql, sizeof(sql),
                 "SELECT (SELECT count(*) FROM samples WHERE time_ns %s) - "
                 "(SELECT count(*) FROM samples WHERE +time_ns %s) AS d",
                 condition, condition);
        expect(&fixture, sql, "[\n  {\"d\": 0}\n]\n");
    }
    expect(&fixture,
           "SELECT count(*) AS n FROM samples a JOIN samples b ON b.time_ns >= a.time_ns AND b.time_ns <= a.time_ns "
           "AND a.thread = b.thread",
           "[\n  {\"n\": 4900}\n]\n");
    fixture.app->tracks = NULL;
    pyro_tracks_free(tracks);
    fixture_done(&fixture);
}

static void only_one_reading_statement(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 4, false);
    static const char *const refused[] = {"DELETE FROM tasks",
                                          "CREATE TABLE x(a)",
                                          "ATTACH 'x.db' AS x",
                                          "PRAGMA database_list",
                                          "SELECT * FROM pragma_database_list",
                                          "SELECT load_extension('x')",
                                          "VACUUM INTO 'x.db'",
                                          "BEGIN",
                                          "DROP TABLE tasks",
                                          "SELECT 1; SELECT 2",
                                          "SELECT 1; garbage",
                                          "INSERT INTO tasks(id) VALUES (1)",
                                          "WITH x AS (SELECT 1) UPDATE tasks SET id = 1",
                                          "SELEC 1",
                                          "",
                                          " ; -- nothing"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        if (query(&fixture, refused[i], PYRO_FORMAT_JSON) != PYRO_ERROR_ARGUMENT)
            fail_msg("accepted: %s", refused[i]);
        assert_true(fixture.error.message[0] != '\0');
        assert_int_equal(fixture.out.len, 0);
    }
    assert_int_equal(query(&fixture, "SELECT * FROM nowhere", PYRO_FORMAT_JSON), PYRO_ERROR_ARGUMENT);
    assert_non_null(strstr(fixture.error.message, "nowhere; the tables are: applications, jobs, stages, tasks"));
    fixture_done(&fixture);
}

static void text_is_aligned_and_plain(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 4, false);
    assert_int_equal(query(&fixture, "SELECT id, name FROM stages ORDER BY id", PYRO_FORMAT_TEXT), PYRO_OK);
    assert_lines(fixture.out.data, 64);
    assert_non_null(strstr(fixture.out.data, "\n 5  join at etl.py:88\n"));
    assert_int_equal(query(&fixture, "SELECT '=1+1' AS a, 2 AS b, NULL AS c", PYRO_FORMAT_CSV), PYRO_OK);
    assert_string_equal(fixture.out.data, "a,b,c\r\n\"'=1+1\",2,\r\n");
    assert_int_equal(query(&fixture, "SELECT 'a|b' AS a", PYRO_FORMAT_MARKDOWN), PYRO_OK);
    assert_string_equal(fixture.out.data, "| a |\n| --- |\n| a\\|b |\n");
    fixture_done(&fixture);
}

static int stop(void *context, const struct pyro_progress *progress)
{
    (void)progress;
    ++*(int *)context;
    return 1;
}

static void a_query_can_be_stopped(void **state)
{
    (void)state;
    struct fixture fixture;
    int calls = 0;
    struct pyro_options options = {.size = sizeof(options), .progress = stop, .progress_context = &calls};
    fixture_init(&fixture, 4, false);
    assert_int_equal(pyro_sql_query(fixture.app,
                                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                    "SELECT count(*) FROM n",
                                    PYRO_FORMAT_JSON, &options, &fixture.writer, &fixture.error),
                     PYRO_ERROR_CANCELLED);
    assert_int_equal(calls, 1);
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_tables),
        cmocka_unit_test(look_ups_agree_with_scans),
        cmocka_unit_test(ranges_agree_with_scans),
        cmocka_unit_test(only_one_reading_statement),
        cmocka_unit_test(text_is_aligned_and_plain),
        cmocka_unit_test(a_query_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
