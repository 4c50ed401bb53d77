/* Questions to a store: plans of their statements, exact sums, limits, cursors, and what happens without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/query_groups.h"
#include "store/sqlite/query.h"

static void parse(const char *text, struct pyro_arena *arena, struct pyro_query *ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_query_parse(pyro_slice_from(text), arena, ret, &error) != PYRO_OK)
        fail_msg("%s", error.message);
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* The plan of a question's statement in a new store, a line for each step. */
static void explain(const char *question, bool viewed, char *ret, size_t bytes)
{
    const struct pyro_query_viewer viewer = {PYRO_SLICE_LITERAL("ann"), PYRO_SLICE_NULL, false};
    struct pyro_arena arena;
    struct pyro_query query;
    struct pyro_sqlite_question made;
    void *store = NULL;
    sqlite3_stmt *statement = NULL;
    pyro_arena_init(&arena, NULL);
    parse(question, &arena, &query);
    assert_int_equal(pyro_backend_sqlite.open(":memory:", true, NULL, &store, NULL), PYRO_OK);
    sqlite3 *db = ((struct pyro_sqlite *)store)->db;
    /* The planner reads what the schema says of it when a store is opened, which a store in memory cannot be again. */
    assert_true(pyro_database_run(db, "ANALYZE sqlite_schema"));
    assert_int_equal(pyro_sqlite_question_make(&query, viewed ? &viewer : NULL, &arena, &made, NULL), PYRO_OK);
    struct pyro_slice text =
        pyro_arena_printf(&arena, "EXPLAIN QUERY PLAN %s%s%s%s", made.select.data, made.from.data,
                          made.where.data ? made.where.data : "", made.order.data ? made.order.data : "");
    assert_int_equal(sqlite3_prepare_v2(db, text.ptr, -1, &statement, NULL), SQLITE_OK);
    size_t len = 0;
    while (sqlite3_step(statement) == SQLITE_ROW)
        len += (size_t)snprintf(ret + len, bytes - len, "%s\n", (const char *)sqlite3_column_text(statement, 3));
    sqlite3_finalize(statement);
    pyro_sqlite_question_done(&made);
    pyro_backend_sqlite.close(store);
    pyro_arena_done(&arena);
}

#define COUNT "\"measures\": [{\"as\": \"n\", \"op\": \"count\"}]}"

/* A question that reads all runs reads each table once, in its order; one that has a key uses it. */
static void test_plans(void **state)
{
    (void)state;
    static const struct {
        const char *question;
        bool viewed;
        const char *first, *then;
    } cases[] = {
        {"{\"from\": \"findings\", \"group\": [{\"field\": \"rule\"}], " COUNT, false, "SCAN t\n", NULL},
        {"{\"from\": \"findings\", \"group\": [{\"field\": \"rule\"}], " COUNT, true, "SCAN r\n",
         "SEARCH t USING PRIMARY KEY (run=?)"},
        {"{\"from\": \"usage\", \"group\": [{\"field\": \"user\"}], " COUNT, false, "SCAN r\n",
         "SEARCH t USING PRIMARY KEY (run=?)"},
        {"{\"from\": \"findings\", \"where\": [{\"field\": \"id\", \"op\": \"=\", \"value\": \"x\"}], " COUNT, false,
         "SEARCH t USING COVERING INDEX run_finding_by_id (id=?)", NULL},
        {"{\"from\": \"findings\", \"where\": [{\"field\": \"application\", \"op\": \"=\", \"value\": \"x\"}], " COUNT,
         false, "SEARCH r USING COVERING INDEX run_by_application (application=?)",
         "SEARCH t USING PRIMARY KEY (run=?)"},
        {"{\"from\": \"runs\", \"group\": [{\"field\": \"agg.a\"}, {\"field\": \"property.b\"}], " COUNT, false,
         "SCAN r", "SEARCH n0 USING PRIMARY KEY (name=? AND run=?)"},
        {"{\"from\": \"runs\", \"where\": [{\"field\": \"application\", \"op\": \"=\", \"value\": \"x\"}, {\"field\": "
         "\"property.b\", \"op\": \"=\", \"value\": \"x\"}], " COUNT,
         false, "SEARCH r USING COVERING INDEX run_by_application (application=?)",
         "SEARCH n0 USING PRIMARY KEY (name=? AND run=?)"},
        {"{\"from\": \"runs\", \"where\": [{\"field\": \"start_ms\", \"op\": \">\", \"value\": 5}, {\"field\": "
         "\"start_ms\", \"op\": \"<\", \"value\": 9}], " COUNT,
         false, "SEARCH r USING COVERING INDEX run_by_start (start_ms>? AND start_ms<?)", NULL},
        {"{\"from\": \"runs\", \"fields\": [\"name\", \"start_ms\"], \"order\": {\"by\": \"start_ms\", \"descending\": "
         "true}, \"limit\": 5}",
         false, "SCAN r USING INDEX run_by_start\n", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char plan[4096];
        explain(cases[i].question, cases[i].viewed, plan, sizeof(plan));
        if (strncmp(plan, cases[i].first, strlen(cases[i].first)) != 0 ||
            (cases[i].then && !strstr(plan, cases[i].then)))
            fail_msg("%s\n%s", cases[i].question, plan);
    }
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

struct fixture {
    struct pyro_arena arena;
    struct pyro_query query;
    struct pyro_query_groups groups;
    struct pyro_query_answer answer;
};

static struct fixture *begin(const char *question)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    pyro_arena_init(&fixture->arena, NULL);
    parse(question, &fixture->arena, &fixture->query);
    pyro_query_groups_init(&fixture->groups, &fixture->query, NULL);
    return fixture;
}

static void end(struct fixture *fixture)
{
    pyro_query_groups_done(&fixture->groups);
    pyro_arena_done(&fixture->arena);
    free(fixture);
}

static struct pyro_query_value whole(int64_t value)
{
    return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = value};
}

static struct pyro_query_value real(double value)
{
    return (struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = value};
}

/* One row with the value in its group and in each measure. */
static enum pyro_status add(struct fixture *fixture, struct pyro_query_value value, struct pyro_query_value weight,
                            struct pyro_error *error)
{
    struct pyro_query_value values[8], weights[8];
    for (size_t i = 0; i < 8; i++) {
        values[i] = value;
        weights[i] = weight;
    }
    return pyro_query_groups_add(&fixture->groups, values, values, weights, error);
}

static const struct pyro_query_value *row(struct fixture *fixture, size_t index)
{
    assert_int_equal(pyro_query_groups_answer(&fixture->groups, &fixture->arena, &fixture->answer, NULL), PYRO_OK);
    return fixture->answer.values + index * fixture->answer.column_count;
}

static void test_whole_numbers_are_exact(void **state)
{
    (void)state;
    struct fixture *sums =
        begin("{\"from\": \"runs\", \"measures\": [{\"as\": \"s\", \"op\": \"sum\", \"field\": \"core_ms\"}, "
              "{\"as\": \"p\", \"op\": \"percentiles\", \"field\": \"core_ms\", \"at\": [50, 100]}, "
              "{\"as\": \"m\", \"op\": \"mean\", \"field\": \"core_ms\"}]}");
    assert_int_equal(add(sums, whole(INT64_MAX - 3), whole(1), NULL), PYRO_OK);
    assert_int_equal(add(sums, whole(INT64_MAX - 1), whole(1), NULL), PYRO_OK);
    assert_int_equal(add(sums, whole(-INT64_MAX), whole(1), NULL), PYRO_OK);
    const struct pyro_query_value *values = row(sums, 0);
    assert_int_equal(values[0].integer, INT64_MAX - 4);
    assert_int_equal(values[1].integer, INT64_MAX - 3);
    assert_int_equal(values[2].integer, INT64_MAX - 1);
    assert_true(values[3].kind == PYRO_VALUE_REAL);
    assert_int_equal(add(sums, whole(INT64_MAX), whole(1), NULL), PYRO_OK); /* more than 64 bits have */
    values = row(sums, 0);
    assert_true(values[0].kind == PYRO_VALUE_REAL && values[0].real == 2 * 0x1p63);
    end(sums);
}

static void test_products_beyond_128_bits(void **state)
{
    (void)state;
    struct fixture *sums =
        begin("{\"from\": \"runs\", \"measures\": [{\"as\": \"s\", \"op\": \"sum\", \"field\": \"core_ms\", "
              "\"weight\": \"input_bytes\"}, {\"as\": \"m\", \"op\": \"mean\", \"field\": \"core_ms\", "
              "\"weight\": \"input_bytes\"}]}");
    for (int i = 0; i < 16; i++)
        assert_int_equal(add(sums, whole(INT64_MIN), whole(INT64_MIN), NULL), PYRO_OK);
    const struct pyro_query_value *values = row(sums, 0);
    assert_true(values[0].real == 0x1p130);
    assert_true(values[1].real == -0x1p63);
    end(sums);
}

/* Where each addition would lose the small one. */
static void test_sums_of_reals_lose_nothing(void **state)
{
    (void)state;
    struct fixture *sums =
        begin("{\"from\": \"runs\", \"measures\": [{\"as\": \"s\", \"op\": \"sum\", \"field\": \"agg.x\"}]}");
    assert_int_equal(add(sums, real(1e100), whole(1), NULL), PYRO_OK);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(add(sums, real(0.25), whole(1), NULL), PYRO_OK);
    assert_int_equal(add(sums, real(-1e100), whole(1), NULL), PYRO_OK);
    assert_true(row(sums, 0)->real == 250);
    end(sums);
}

static void test_spans(void **state)
{
    (void)state;
    struct fixture *spans =
        begin("{\"from\": \"runs\", \"group\": [{\"field\": \"core_ms\", \"every_ms\": 10}], " COUNT);
    static const int64_t values[] = {-11, -10, -1, 0, 9, 10, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        assert_int_equal(add(spans, whole(values[i]), whole(1), NULL), PYRO_OK);
    const struct pyro_query_value *rows = row(spans, 0);
    static const int64_t starts[] = {0, -20, -10, 0, 10, INT64_MAX - 7}, counts[] = {1, 1, 2, 2, 1, 1};
    assert_int_equal(spans->answer.row_count, 6);
    assert_true(rows[0].kind == PYRO_VALUE_REAL && rows[0].real <= -0x1p63); /* the multiple has no 64 bits */
    for (size_t i = 0; i < 6; i++) {
        assert_true(i == 0 || rows[2 * i].integer == starts[i]);
        assert_int_equal(rows[2 * i + 1].integer, counts[i]);
    }
    end(spans);
    struct fixture *zeros = begin("{\"from\": \"runs\", \"group\": [{\"field\": \"agg.x\"}], " COUNT);
    assert_int_equal(add(zeros, real(-0.0), whole(1), NULL), PYRO_OK);
    assert_int_equal(add(zeros, real(0.0), whole(1), NULL), PYRO_OK);
    assert_int_equal(row(zeros, 0)[1].integer, 2);
    end(zeros);
}

static void test_too_many_groups_are_an_error(void **state)
{
    (void)state;
    struct pyro_error error = {.size = sizeof(error)};
    struct fixture *many = begin("{\"from\": \"runs\", \"group\": [{\"field\": \"core_ms\"}], " COUNT);
    for (int64_t i = 0; i < PYRO_QUERY_MOST_GROUPS; i++)
        assert_int_equal(add(many, whole(i), whole(1), &error), PYRO_OK);
    assert_int_equal(add(many, whole(5), whole(1), &error), PYRO_OK);
    assert_int_equal(add(many, whole(-1), whole(1), &error), PYRO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "more than 10000 groups"));
    end(many);
}

static void test_percentiles_have_a_limit_of_memory(void **state)
{
    (void)state;
    struct pyro_error error = {.size = sizeof(error)};
    struct fixture *large =
        begin("{\"from\": \"runs\", \"measures\": [{\"as\": \"p\", \"op\": \"percentiles\", \"field\": "
              "\"core_ms\", \"at\": [50]}]}");
    enum pyro_status status = PYRO_OK;
    size_t added = 0;
    for (; added < (size_t)1 << 26 && status == PYRO_OK; added++)
        status = add(large, whole((int64_t)added), whole(1), &error);
    assert_int_equal(status, PYRO_ERROR_ARGUMENT);
    assert_int_equal(added >> 20, 31); /* 256 MiB / 8, less what the group itself takes */
    assert_non_null(strstr(error.message, "more than 256 MiB"));
    end(large);
}

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

#define ROWS "{\"from\": \"runs\", \"fields\": [\"app_id\"], \"order\": {\"by\": \"app_id\"}"

static void test_cursors(void **state)
{
    (void)state;
    struct pyro_arena arena;
    struct pyro_query query, other;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_query_value values[] = {
        {.kind = PYRO_VALUE_TEXT, .text = PYRO_SLICE_LITERAL("a\0\xff")}, whole(INT64_MIN), real(-0.1), {0}};
    struct pyro_query_value read[4];
    pyro_arena_init(&arena, NULL);
    parse(ROWS "}", &arena, &query);
    query.after = pyro_query_cursor_make(&query, values, 4, &arena);
    assert_int_equal(pyro_query_cursor_read(&query, &arena, read, 4, &error), PYRO_OK);
    for (size_t i = 0; i < 4; i++)
        assert_true(read[i].kind == values[i].kind && pyro_query_value_compare(&read[i], &values[i]) == 0);
    assert_int_equal(pyro_query_cursor_read(&query, &arena, read, 3, &error), PYRO_ERROR_ARGUMENT);
    static const char *const others[] = {
        ROWS ", \"where\": [{\"field\": \"user\", \"op\": \"=\", \"value\": \"x\"}]}",
        "{\"from\": \"runs\", \"fields\": [\"app_id\"], \"order\": {\"by\": \"app_id\", \"descending\": true}}",
        "{\"from\": \"runs\", \"fields\": [\"app_id\"]}",
        "{\"from\": \"findings\", \"fields\": [\"app_id\"], \"order\": {\"by\": \"app_id\"}}",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        parse(others[i], &arena, &other);
        other.after = query.after;
        assert_int_equal(pyro_query_cursor_read(&other, &arena, read, 4, &error), PYRO_ERROR_ARGUMENT);
    }
    char *changed = (char *)(uintptr_t)query.after.ptr;
    for (size_t i = 0; i < query.after.len; i++) {
        char before = changed[i];
        changed[i] = before == '0' ? '1' : '0';
        assert_int_equal(pyro_query_cursor_read(&query, &arena, read, 4, &error), PYRO_ERROR_ARGUMENT);
        changed[i] = before;
    }
    for (query.after.len--; query.after.len; query.after.len--)
        assert_int_equal(pyro_query_cursor_read(&query, &arena, read, 4, &error), PYRO_ERROR_ARGUMENT);
    pyro_arena_done(&arena);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* More rows than can be read in no time. */
static void test_a_question_ends_in_time(void **state)
{
    (void)state;
    struct pyro_arena arena;
    struct pyro_query query;
    struct pyro_query_answer ret;
    struct pyro_error error = {.size = sizeof(error)};
    void *store = NULL;
    pyro_arena_init(&arena, NULL);
    assert_int_equal(pyro_backend_sqlite.open(":memory:", true, NULL, &store, NULL), PYRO_OK);
    assert_true(pyro_database_run(((struct pyro_sqlite *)store)->db,
                                  "INSERT INTO cluster WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                  " LIMIT 50000) SELECT 'rm', i, 'x', i FROM n"));
    parse("{\"from\": \"cluster\", " COUNT, &arena, &query);
    query.most_ms = 0;
    assert_int_equal(pyro_sqlite_query(store, &query, NULL, &arena, &ret, &error), PYRO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "took longer than"));
    query.most_ms = 60000; /* the next question has its own time */
    assert_int_equal(pyro_sqlite_query(store, &query, NULL, &arena, &ret, &error), PYRO_OK);
    assert_int_equal(ret.values[0].integer, 50000);
    pyro_backend_sqlite.close(store);
    pyro_arena_done(&arena);
}

/* ---- Size -------------------------------------------------------------------------------------------------------- */

/* An SQLite without the table that knows pages. */
static void test_a_size_without_dbstat(void **state)
{
    (void)state;
    struct pyro_arena arena;
    struct pyro_store_stat ret;
    void *store = NULL;
    pyro_arena_init(&arena, NULL);
    assert_int_equal(pyro_backend_sqlite.open(":memory:", true, NULL, &store, NULL), PYRO_OK);
    sqlite3 *db = ((struct pyro_sqlite *)store)->db;
    assert_true(pyro_database_run(db, "INSERT INTO cluster VALUES ('12345', 1, '123', 1.5), ('', 2, '', 2)"));
    sqlite3_drop_modules(db, NULL);
    assert_int_equal(pyro_sqlite_stat(store, &arena, &ret, NULL), PYRO_OK);
    assert_int_equal(ret.runs, 0);
    assert_true(ret.first_ms == PYRO_NONE && ret.last_ms == PYRO_NONE && ret.bytes > 0);
    for (size_t i = 0; i < ret.table_count; i++)
        if (strcmp(ret.tables[i].name, "cluster") == 0) {
            assert_int_equal(ret.tables[i].rows, 2);
            assert_int_equal(ret.tables[i].bytes, 2 * (4 + 2 + 5 + 2 + 9) + 5 + 3); /* texts, a number and a real */
        }
    pyro_backend_sqlite.close(store);
    pyro_arena_done(&arena);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Gives memory so often, then never. */
struct scarce {
    size_t left, given;
};

static void *scarce_allocate(void *context, size_t size)
{
    struct scarce *scarce = context;
    scarce->given++;
    return scarce->left && scarce->left-- ? malloc(size) : NULL;
}

static void *scarce_reallocate(void *context, void *memory, size_t size)
{
    struct scarce *scarce = context;
    scarce->given++;
    return scarce->left && scarce->left-- ? realloc(memory, size) : NULL;
}

static void scarce_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static enum pyro_status answer(const char *question, const struct pyro_allocator *allocator)
{
    struct pyro_arena arena;
    struct pyro_query query;
    struct pyro_query_groups groups;
    struct pyro_query_answer ret;
    pyro_arena_init(&arena, allocator);
    enum pyro_status status = pyro_query_parse(pyro_slice_from(question), &arena, &query, NULL);
    if (status == PYRO_OK) {
        pyro_query_groups_init(&groups, &query, allocator);
        for (int64_t i = 0; i < 40 && status == PYRO_OK; i++) {
            struct pyro_query_value fields[] = {{.kind = PYRO_VALUE_TEXT, .text = PYRO_SLICE_LITERAL("a text")},
                                                whole(i)},
                                    values[] = {whole(i), whole(i)};
            status = pyro_query_groups_add(&groups, fields, values, values, NULL);
        }
        if (status == PYRO_OK)
            status = pyro_query_groups_answer(&groups, &arena, &ret, NULL);
        pyro_query_groups_done(&groups);
    }
    pyro_arena_done(&arena);
    return status;
}

static void test_wherever_memory_ends(void **state)
{
    (void)state;
    static const char question[] =
        "{\"from\": \"runs\", \"where\": [{\"field\": \"tag.a\", \"op\": \"in\", \"value\": [\"x\", \"y\"]}], "
        "\"group\": "
        "[{\"field\": \"name\"}, {\"field\": \"core_ms\", \"every_ms\": 3}], \"measures\": [{\"as\": \"p\", \"op\": "
        "\"percentiles\", \"field\": \"core_ms\", \"at\": [50]}, {\"as\": \"s\", \"op\": \"sum\", \"field\": "
        "\"core_ms\"}], \"order\": {\"by\": \"s\"}, \"limit\": 5}";
    struct scarce scarce = {SIZE_MAX, 0};
    const struct pyro_allocator allocator = {.size = sizeof(allocator),
                                             .context = &scarce,
                                             .allocate = scarce_allocate,
                                             .reallocate = scarce_reallocate,
                                             .release = scarce_release};
    assert_int_equal(answer(question, &allocator), PYRO_OK);
    size_t all = scarce.given;
    assert_true(all > 20);
    for (size_t i = 0; i < all; i++) {
        scarce = (struct scarce){i, 0};
        assert_int_equal(answer(question, &allocator), PYRO_ERROR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_whole_numbers_are_exact),
        cmocka_unit_test(test_products_beyond_128_bits),
        cmocka_unit_test(test_sums_of_reals_lose_nothing),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_too_many_groups_are_an_error),
        cmocka_unit_test(test_percentiles_have_a_limit_of_memory),
        cmocka_unit_test(test_cursors),
        cmocka_unit_test(test_a_question_ends_in_time),
        cmocka_unit_test(test_a_size_without_dbstat),
        cmocka_unit_test(test_wherever_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
