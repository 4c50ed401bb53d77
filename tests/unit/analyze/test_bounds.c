/* Critical paths over stages and jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

/* Stage 0 feeds 1 and 2, which feed 3. */
static const int64_t diamond_ids[] = {0, 1, 2, 3};
static const int64_t diamond_parents[][2] = {{0, 0}, {0, 0}, {1, 2}};

static struct pyro_app *diamond(void)
{
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 2, 1000, PYRO_NONE);
    fixture_job(app, 0, 1000, 2000, diamond_ids, 4);
    fixture_stage(app, 0, 1000, 1100);
    fixture_stage(app, 1, 1100, 1400);
    fixture_stage(app, 2, 1100, 1300);
    fixture_stage(app, 3, 1400, 1500);
    fixture_run(app, 0, "1", 1000, 1100);
    fixture_run(app, 1, "1", 1100, 1400);
    fixture_run(app, 2, "1", 1100, 1300);
    fixture_run(app, 3, "1", 1400, 1450);
    fixture_run(app, 3, "1", 1400, 1500);
    return app;
}

static void test_diamond(void **state)
{
    (void)state;
    struct pyro_app *app = diamond();
    fixture_parents(app, 1, diamond_parents[0], 1);
    fixture_parents(app, 2, diamond_parents[1], 1);
    fixture_parents(app, 3, diamond_parents[2], 2);
    fixture_analyze(app);
    assert_int_equal(app->jobs.items[0].critical_ms, 100 + 300 + 100);
    assert_int_equal(app->numbers.driver_ms, 500);
    assert_int_equal(app->numbers.critical_path_ms, 1000);
    assert_int_equal(app->numbers.one_core_ms, 500 + 750);
    assert_int_equal(app->numbers.ideal_ms, 500 + 375);
    assert_int_equal(app->jobs.items[0].tasks, 5);
    assert_int_equal(app->jobs.items[0].skipped_stages, 0);
    pyro_app_release(app);
}

/* A stage of which no start of a job is in the log: what it waited for is unknown, and with it the longest chain. */
static void test_stage_without_its_job(void **state)
{
    (void)state;
    struct pyro_app *app = diamond();
    fixture_stage(app, 4, 1500, 1600);
    fixture_run(app, 4, "1", 1500, 1600);
    fixture_analyze(app);
    assert_int_equal(app->numbers.critical_path_ms, PYRO_NONE);
    assert_int_equal(app->numbers.one_core_ms, app->numbers.driver_ms + 850);
    pyro_app_release(app);
}

/* Only damaged logs hold cycles: they must end, and no chain may go round. */
static void test_cycle(void **state)
{
    (void)state;
    static const int64_t to_three[] = {3}, to_itself[] = {2, 77};
    struct pyro_app *app = diamond();
    fixture_parents(app, 0, to_three, 1);
    fixture_parents(app, 1, diamond_parents[0], 1);
    fixture_parents(app, 2, to_itself, 2);
    fixture_parents(app, 3, diamond_parents[2], 2);
    fixture_analyze(app);
    assert_int_equal(app->jobs.items[0].critical_ms, 500);
    pyro_app_release(app);
}

/* Jobs 0 and 1 overlap, 2 begins when 1 ends. */
static void test_overlapping_jobs(void **state)
{
    (void)state;
    static const int64_t ids[] = {0, 1, 2};
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_job(app, 0, 1000, 1300, &ids[0], 1);
    fixture_job(app, 1, 1200, 1500, &ids[1], 1);
    fixture_job(app, 2, 1500, 1700, &ids[2], 1);
    fixture_stage(app, 0, 1000, 1300);
    fixture_stage(app, 1, 1200, 1500);
    fixture_stage(app, 2, 1500, 1700);
    fixture_run(app, 0, "1", 1000, 1250);
    fixture_run(app, 1, "1", 1200, 1500);
    fixture_run(app, 2, "1", 1500, 1550);
    fixture_analyze(app);
    assert_int_equal(app->numbers.driver_ms, 300);
    assert_int_equal(app->numbers.critical_path_ms, 300 + 300 + 50);
    pyro_app_release(app);
}

/* A stage that two jobs list belongs to the one in whose time it ran; the other one skipped it. */
static void test_shared_stage(void **state)
{
    (void)state;
    static const int64_t first[] = {0}, second[] = {0, 1}, parent[] = {0};
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_job(app, 5, 1500, 1900, second, 2)->sql = 9; /* log order is not id order */
    fixture_job(app, 4, 1000, 1400, first, 1);
    fixture_stage(app, 0, 1100, 1300);
    fixture_stage(app, 1, 1600, 1700);
    fixture_parents(app, 1, parent, 1);
    struct pyro_sql_execution *sql = pyro_vec_push(&app->sql, NULL);
    assert_non_null(sql);
    pyro_row_init(PYRO_TABLE_sql, sql);
    sql->id = 9;
    fixture_run(app, 0, "1", 1100, 1300);
    fixture_run(app, 1, "1", 1600, 1650);
    fixture_analyze(app);
    assert_int_equal(app->stages.items[0].job, 4);
    assert_int_equal(app->stages.items[0].sql, PYRO_NONE);
    assert_int_equal(app->stages.items[1].job, 5);
    assert_int_equal(app->stages.items[1].sql, 9);
    assert_int_equal(app->jobs.items[0].skipped_stages, 1);
    assert_int_equal(app->jobs.items[0].critical_ms, 50);
    assert_int_equal(app->jobs.items[1].critical_ms, 200);
    assert_int_equal(app->sql.items[0].jobs, 1);
    assert_int_equal(app->sql.items[0].stages, 1);
    assert_int_equal(app->sql.items[0].task_ms, 50);
    pyro_app_release(app);
}

/* A retried stage weighs what its attempts weigh together. */
static void test_attempts(void **state)
{
    (void)state;
    static const int64_t ids[] = {0};
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_job(app, 0, 1000, 2000, ids, 1);
    fixture_stage(app, 0, 1000, 1200)->failure = PYRO_SLICE_LITERAL("fetch failed");
    fixture_stage(app, 0, 1300, 1500)->attempt = 1;
    struct fixture_task task = fixture_task(app, 0, "1", 1000, 1200);
    task.row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    fixture_add(app, &task);
    task = fixture_task(app, 0, "1", 1300, 1400);
    task.row[PYRO_TASK_stage_attempt] = 1;
    fixture_add(app, &task);
    task.row[PYRO_TASK_finish_ms] = 1500;
    task.row[PYRO_TASK_status] = PYRO_TASK_FAILED; /* longer, but another attempt at it succeeded */
    fixture_add(app, &task);
    fixture_analyze(app);
    assert_int_equal(app->jobs.items[0].critical_ms, 200 + 100);
    assert_int_equal(app->numbers.stages, 2);
    assert_int_equal(app->numbers.failed_stages, 1);
    assert_int_equal(app->numbers.failed_tasks, 2);
    pyro_app_release(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diamond),      cmocka_unit_test(test_stage_without_its_job),
        cmocka_unit_test(test_cycle),        cmocka_unit_test(test_overlapping_jobs),
        cmocka_unit_test(test_shared_stage), cmocka_unit_test(test_attempts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
