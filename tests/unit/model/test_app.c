#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/strings/intern.h"
#include "model/app.h"

static void test_schemas(void **state)
{
    (void)state;
    for (unsigned t = 0; t < PYRO_TABLE_COUNT; t++) {
        const struct pyro_table_schema *schema = &pyro_table_schemas[t];
        assert_true(schema->column_count > 0);
        for (size_t c = 0; c < schema->column_count; c++) {
            assert_true(schema->columns[c].doc[0] != '\0');
            if (t == PYRO_TABLE_tasks)
                assert_int_equal(schema->columns[c].offset, c);
            else if (schema->row_size > 0) /* tracks keep their rows in another form */
                assert_true(schema->columns[c].offset < schema->row_size);
            for (size_t other = 0; other < c; other++)
                assert_string_not_equal(schema->columns[c].name, schema->columns[other].name);
        }
    }
    assert_string_equal(pyro_table_schemas[PYRO_TABLE_stages].name, "stages");
    assert_int_equal(pyro_table_schemas[PYRO_TABLE_tasks].row_size, 0);
}

static void test_row_init(void **state)
{
    (void)state;
    struct pyro_stream_batch row;
    memset(&row, 1, sizeof(row));
    pyro_row_init(PYRO_TABLE_streams, &row);
    assert_int_equal(row.batch, PYRO_NONE);
    assert_true(isnan(row.input_rows_per_second));
    assert_null(row.query.ptr);
    struct pyro_job job;
    pyro_row_init(PYRO_TABLE_jobs, &job);
    assert_null(job.stage_ids);
}

static void test_values(void **state)
{
    (void)state;
    struct pyro_app *app = pyro_app_new(NULL);
    assert_int_equal(pyro_app_row_count(app, PYRO_TABLE_applications), 1);
    assert_int_equal(pyro_app_row_count(app, PYRO_TABLE_stages), 0);
    assert_int_equal(pyro_app_value(app, PYRO_TABLE_applications, 0, 6).integer, PYRO_NONE);
    struct pyro_stage *stage = pyro_vec_push(&app->stages, NULL);
    assert_non_null(stage);
    pyro_row_init(PYRO_TABLE_stages, stage);
    stage->id = 3;
    stage->attempt = 1;
    stage->name = PYRO_SLICE_LITERAL("count at a.py:1");
    assert_int_equal(pyro_app_value(app, PYRO_TABLE_stages, 0, 0).integer, 3);
    assert_true(pyro_slice_is(pyro_app_value(app, PYRO_TABLE_stages, 0, 2).text, "count at a.py:1"));
    assert_int_equal(pyro_app_find_stage(app, 3, 1), 0);
    assert_int_equal(pyro_app_find_stage(app, 3, 0), -1);
    assert_int_equal(pyro_app_find_job(app, 0), -1);
    assert_int_equal(pyro_app_find_sql(app, 0), -1);

    int64_t row[PYRO_TASK_COLUMN_COUNT] = {0};
    row[PYRO_TASK_host] = pyro_intern(app->strings, PYRO_SLICE_LITERAL("node7"));
    row[PYRO_TASK_locality] = PYRO_NONE;
    row[PYRO_TASK_status] = PYRO_TASK_KILLED;
    row[PYRO_TASK_run_ms] = 42;
    assert_true(pyro_task_table_append(&app->tasks, row));
    assert_true(pyro_task_table_seal(&app->tasks));
    assert_int_equal(pyro_app_row_count(app, PYRO_TABLE_tasks), 1);
    assert_true(pyro_slice_is(pyro_app_value(app, PYRO_TABLE_tasks, 0, PYRO_TASK_host).text, "node7"));
    assert_null(pyro_app_value(app, PYRO_TABLE_tasks, 0, PYRO_TASK_locality).text.ptr);
    assert_true(pyro_slice_is(pyro_app_value(app, PYRO_TABLE_tasks, 0, PYRO_TASK_status).text, "killed"));
    assert_int_equal(pyro_app_value(app, PYRO_TABLE_tasks, 0, PYRO_TASK_run_ms).integer, 42);
    assert_null(pyro_app_text(app, 1000000).ptr);
    assert_ptr_equal(pyro_app_retain(app), app);
    pyro_app_release(app);
    pyro_app_release(app);
    pyro_app_release(NULL);
}

static void test_notes(void **state)
{
    (void)state;
    struct pyro_app *app = pyro_app_new(NULL);
    char text[] = "line 7 is damaged";
    for (size_t i = 0; i < PYRO_NOTES_KEPT + 2; i++)
        assert_true(pyro_app_note(app, pyro_slice_from(text)));
    text[0] = '?'; /* the note is a text of the application */
    assert_int_equal(app->integrity.notes.count, PYRO_NOTES_KEPT);
    assert_true(pyro_slice_is(app->integrity.notes.items[0], "line 7 is damaged"));
    pyro_app_release(app);
}

static void test_part_names(void **state)
{
    (void)state;
    assert_string_equal(pyro_wall_part_names[PYRO_WALL_GETTING_RESULT], "getting_result");
    assert_string_equal(pyro_wall_part_names[PYRO_WALL_COMPUTE], "compute");
    assert_string_equal(pyro_wall_part_names[PYRO_WALL_SHUFFLE_WRITE], "shuffle_write");
    assert_string_equal(pyro_core_part_names[PYRO_CORE_IDLE_WAIT], "idle_wait");
    assert_string_equal(pyro_core_part_names[PYRO_CORE_FAILED_TASKS], "failed_tasks");
}

/* Memory that runs out leaves nothing behind. */
struct budget {
    int left;
};
static void *limited_allocate(void *context, size_t size)
{
    struct budget *budget = context;
    return budget->left-- > 0 ? malloc(size) : NULL;
}
static void *limited_reallocate(void *context, void *memory, size_t size)
{
    struct budget *budget = context;
    return budget->left-- > 0 ? realloc(memory, size) : NULL;
}
static void limited_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int left = 0; left < 12; left++) {
        struct budget budget = {left};
        struct pyro_allocator allocator = {sizeof(allocator), limited_allocate, limited_reallocate, limited_release,
                                           &budget};
        struct pyro_app *app = pyro_app_new(&allocator);
        int64_t row[PYRO_TASK_COLUMN_COUNT] = {0};
        for (int i = 0; app && i < 5000; i++)
            if (!pyro_task_table_append(&app->tasks, row))
                break;
        if (app)
            pyro_task_table_seal(&app->tasks);
        pyro_app_release(app);
    }
}

/* Rows in any order, one of them twice; with and without the index the first one is found. */
static void test_find(void **state)
{
    (void)state;
    static const int64_t stages[][2] = {{7, 0}, {3, 1}, {3, 0}, {INT64_MIN, 0}, {7, 0}, {INT64_MAX, INT64_MAX}};
    struct pyro_app *app = pyro_app_new(NULL);
    assert_non_null(app);
    for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
        struct pyro_stage *stage = pyro_vec_push(&app->stages, NULL);
        struct pyro_job *job = pyro_vec_push(&app->jobs, NULL);
        struct pyro_sql_execution *sql = pyro_vec_push(&app->sql, NULL);
        assert_true(stage && job && sql);
        pyro_row_init(PYRO_TABLE_stages, stage);
        pyro_row_init(PYRO_TABLE_jobs, job);
        pyro_row_init(PYRO_TABLE_sql, sql);
        stage->id = job->id = sql->id = stages[i][0];
        stage->attempt = stages[i][1];
    }
    for (int pass = 0; pass < 3; pass++) {
        assert_int_equal(pyro_app_find_stage(app, 7, 0), 0);
        assert_int_equal(pyro_app_find_stage(app, 7, 1), -1);
        assert_int_equal(pyro_app_find_stage(app, 3, 0), 2);
        assert_int_equal(pyro_app_find_stage(app, 3, 1), 1);
        assert_int_equal(pyro_app_find_stage(app, INT64_MIN, 0), 3);
        assert_int_equal(pyro_app_find_stage(app, INT64_MAX, INT64_MAX), 5);
        assert_int_equal(pyro_app_find_stage(app, INT64_MAX, 0), -1);
        assert_int_equal(pyro_app_find_job(app, 3), 1);
        assert_int_equal(pyro_app_find_job(app, 4), -1);
        assert_int_equal(pyro_app_find_sql(app, 7), 0);
        assert_int_equal(pyro_app_find_sql(app, 8), -1);
        assert_true(pyro_app_index(app));
    }
    pyro_app_release(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemas), cmocka_unit_test(test_find),       cmocka_unit_test(test_row_init),
        cmocka_unit_test(test_values),  cmocka_unit_test(test_part_names), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
