/* Wall and core accounts and phases, computed by hand. Applications run from 1000 to 2000 unless said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

#define WALL(app, part) ((app)->numbers.wall_ms[PYRO_WALL_##part])
#define CORE(app, part) ((app)->numbers.core_ms[PYRO_CORE_##part])

/* Two tasks side by side for a part of their time; gaps before, between and after. */
static void test_overlap_and_gaps(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 2, 1100, PYRO_NONE);
    fixture_stage(app, 0, 1200, 1800);
    struct fixture_task task = fixture_task(app, 0, "1", 1300, 1500);
    task.row[PYRO_TASK_gc_ms] = 100;
    fixture_add(app, &task);
    fixture_run(app, 0, "1", 1400, 1600);
    fixture_analyze(app);
    assert_int_equal(WALL(app, RESOURCE_WAIT), 100);
    assert_int_equal(WALL(app, DRIVER), 100 + 200);
    assert_int_equal(WALL(app, SCHEDULING), 100 + 200);
    assert_int_equal(WALL(app, GC), 75); /* half of 100 + 100 / 2 */
    assert_int_equal(WALL(app, COMPUTE), 75 + 150);
    assert_int_equal(app->numbers.core_total_ms, 900 * 2);
    assert_int_equal(CORE(app, GC), 100);
    assert_int_equal(CORE(app, COMPUTE), 300);
    assert_int_equal(CORE(app, IDLE_NO_WORK), 200);            /* one core while the other worked */
    assert_int_equal(CORE(app, IDLE_DRIVER), 2 * (100 + 200)); /* 1100-1200, 1800-2000 */
    assert_int_equal(CORE(app, IDLE_WAIT), 2 * (100 + 200));   /* 1200-1300, 1600-1800 */
    assert_int_equal(app->numbers.phase_wait_ms, 100);
    assert_int_equal(app->numbers.phase_compute_ms, 600);
    assert_int_equal(app->numbers.phase_write_ms, 0);
    assert_int_equal(app->numbers.driver_ms, 400);
    assert_int_equal(app->numbers.one_core_ms, 400 + 400);
    assert_int_equal(app->numbers.ideal_ms, 400 + 200);
    pyro_app_release(app);
}

/* Every part of a task, in the documented order, clamped to its duration. */
static void test_split(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_stage(app, 0, 1000, 2000);
    struct fixture_task task = fixture_task(app, 0, "1", 1000, 2000);
    task.row[PYRO_TASK_run_ms] = 700;
    task.row[PYRO_TASK_deserialize_ms] = 50;
    task.row[PYRO_TASK_result_serialize_ms] = 30;
    task.row[PYRO_TASK_getting_result_ms] = 1900;
    task.row[PYRO_TASK_gc_ms] = 200;
    task.row[PYRO_TASK_fetch_wait_ms] = -5;
    task.row[PYRO_TASK_shuffle_write_ns] = 40999999;
    fixture_add(app, &task);
    task.row[PYRO_TASK_gc_ms] = 5000;
    fixture_add(app, &task);
    task.row[PYRO_TASK_has_metrics] = 0;
    fixture_add(app, &task);
    task.row[PYRO_TASK_finish_ms] = 0;
    fixture_add(app, &task);
    fixture_analyze(app);
    struct pyro_task_split split = pyro_task_split(app, 0);
    assert_int_equal(split.duration_ms, 1000);
    assert_int_equal(split.scheduler_delay, 120);
    assert_int_equal(split.deserialize, 50);
    assert_int_equal(split.gc, 200);
    assert_int_equal(split.shuffle_fetch_wait, 0);
    assert_int_equal(split.shuffle_write, 40);
    assert_int_equal(split.result_serialize, 30);
    assert_int_equal(split.getting_result, 100);
    assert_int_equal(split.compute, 460);
    split = pyro_task_split(app, 1);
    assert_int_equal(split.gc, 830);
    assert_int_equal(split.getting_result + split.compute + split.shuffle_write, 0);
    assert_int_equal(pyro_task_split(app, 2).compute, 1000);
    assert_int_equal(pyro_task_split(app, 3).duration_ms, 0);
    pyro_app_release(app);
}

/* Metrics that are all 0: of a lost task, of an empty object, and of a task that took almost no time. */
static void test_split_without_measurements(void **state)
{
    (void)state;
    static const struct {
        int64_t lasted_ms, status, run_ms, delay_ms;
    } cases[] = {
        {30000, PYRO_TASK_FAILED, 0, 0},  {900, PYRO_TASK_KILLED, 0, 0},       {1000, PYRO_TASK_SUCCESS, 0, 0},
        {999, PYRO_TASK_SUCCESS, 0, 999}, {30000, PYRO_TASK_FAILED, 1, 29999},
    };
    struct pyro_app *app = fixture_app(1000, 40000);
    fixture_stage(app, 0, 1000, 40000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture_task task = fixture_task(app, 0, "1", 1000, 1000 + cases[i].lasted_ms);
        task.row[PYRO_TASK_run_ms] = cases[i].run_ms;
        task.row[PYRO_TASK_status] = cases[i].status;
        fixture_add(app, &task);
    }
    fixture_analyze(app);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pyro_task_split split = pyro_task_split(app, i);
        assert_int_equal(split.scheduler_delay, cases[i].delay_ms);
        assert_int_equal(split.compute, cases[i].lasted_ms - cases[i].delay_ms);
    }
    pyro_app_release(app);
}

/* Three tasks on two cores; each gets two thirds of a core. */
static void test_oversubscribed(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 2, 1000, PYRO_NONE);
    fixture_stage(app, 0, 1000, 2000);
    fixture_run(app, 0, "1", 1000, 1900);
    fixture_run(app, 0, "1", 1000, 1900);
    struct fixture_task task = fixture_task(app, 0, "1", 1000, 1900);
    task.row[PYRO_TASK_status] = PYRO_TASK_KILLED;
    fixture_add(app, &task);
    fixture_analyze(app);
    assert_int_equal(app->numbers.core_total_ms, 2000);
    assert_int_equal(CORE(app, COMPUTE), 1200);
    assert_int_equal(CORE(app, FAILED_TASKS), 600);
    assert_int_equal(CORE(app, IDLE_WAIT), 200);
    assert_int_equal(app->numbers.killed_tasks, 1);
    assert_int_equal(app->numbers.failed_tasks, 0);
    pyro_app_release(app);
}

static void test_removed_mid_task(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 1, 1000, 1400);
    fixture_executor(app, "1", 4, 1600, PYRO_NONE); /* the same id again */
    fixture_stage(app, 0, 1000, PYRO_NONE);
    struct fixture_task task = fixture_task(app, 0, "1", 1100, 1500);
    task.row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    fixture_add(app, &task);
    fixture_run(app, 0, "1", 1700, 1800);
    fixture_run(app, 0, "none", 1700, 1800); /* its executor is unknown */
    fixture_analyze(app);
    assert_int_equal(app->numbers.executors, 1);
    assert_int_equal(app->numbers.cores_peak, 4);
    assert_int_equal(app->numbers.core_total_ms, 400 + 1600);
    assert_int_equal(CORE(app, FAILED_TASKS), 300);
    assert_int_equal(CORE(app, COMPUTE), 100);
    assert_int_equal(CORE(app, IDLE_NO_WORK), 300);
    assert_int_equal(CORE(app, IDLE_WAIT), 100 + 4 * 300);
    assert_int_equal(WALL(app, RESOURCE_WAIT), 100); /* 1500-1600: no executor, no task */
    assert_int_equal(WALL(app, SCHEDULING), 100 + 100 + 200);
    assert_int_equal(WALL(app, COMPUTE), 500);
    assert_int_equal(app->executors.items[0].failed_tasks, 1);
    assert_int_equal(app->executors.items[1].tasks, 1);
    assert_int_equal(app->executors.items[1].busy_ms, 100);
    pyro_app_release(app);
}

static void test_no_executors(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_stage(app, 0, 1200, 1700);
    fixture_run(app, 0, "1", 1300, 1400);
    fixture_analyze(app);
    assert_int_equal(WALL(app, RESOURCE_WAIT), 0);
    assert_int_equal(WALL(app, DRIVER), 500);
    assert_int_equal(WALL(app, SCHEDULING), 400);
    assert_int_equal(WALL(app, COMPUTE), 100);
    assert_int_equal(app->numbers.core_total_ms, 0);
    assert_int_equal(app->numbers.ideal_ms, PYRO_NONE);
    assert_int_equal(app->numbers.phase_wait_ms, 0);
    pyro_app_release(app);
}

/* Nothing has an end yet. */
static void test_in_progress(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    app->application.status = PYRO_SLICE_LITERAL("in_progress");
    app->integrity.in_progress = true;
    fixture_executor(app, "1", 1, 1000, PYRO_NONE);
    static const int64_t ids[] = {0};
    fixture_job(app, 0, 1400, PYRO_NONE, ids, 1);
    fixture_stage(app, 0, 1500, PYRO_NONE);
    fixture_analyze(app);
    assert_int_equal(WALL(app, DRIVER), 500);
    assert_int_equal(WALL(app, SCHEDULING), 500);
    assert_int_equal(CORE(app, IDLE_WAIT), 500);
    assert_int_equal(app->jobs.items[0].skipped_stages, 0);
    assert_int_equal(app->stages.items[0].job, 0);
    assert_true(app->integrity.confidence > 0.94 && app->integrity.confidence < 0.96);
    pyro_app_release(app);
}

static void test_task_cpus(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_property(app, "spark", "spark.task.cpus", "2");
    fixture_property(app, "resource_profile", "7.task.cpus", "3.0");
    fixture_executor(app, "1", 4, 1000, 2000);
    fixture_stage(app, 0, 1000, 2000);
    fixture_stage(app, 1, 1000, 2000)->resource_profile = 7;
    fixture_run(app, 0, "1", 1000, 1500);
    fixture_run(app, 1, "1", 1500, 2000);
    fixture_analyze(app);
    assert_int_equal(CORE(app, COMPUTE), 2 * 500 + 3 * 500);
    assert_int_equal(CORE(app, IDLE_NO_WORK), 2 * 500 + 1 * 500);
    assert_int_equal(app->numbers.one_core_ms, 2500);
    pyro_app_release(app);
}

/* A Resubmitted record repeats a task: it counts as a task, but took no time of its own. */
static void test_resubmitted(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 1, 1000, 2000);
    fixture_stage(app, 0, 1000, 2000);
    struct fixture_task task = fixture_task(app, 0, "1", 1000, 2000);
    fixture_add(app, &task);
    task.row[PYRO_TASK_status] = PYRO_TASK_RESUBMITTED;
    fixture_add(app, &task);
    fixture_analyze(app);
    assert_int_equal(app->numbers.tasks, 2);
    assert_int_equal(app->numbers.task_ms, 1000);
    assert_int_equal(CORE(app, COMPUTE), 1000);
    assert_int_equal(CORE(app, FAILED_TASKS), 0);
    assert_int_equal(app->executors.items[0].busy_ms, 1000);
    assert_int_equal(app->stages.items[0].task_ms, 1000);
    pyro_app_release(app);
}

static void test_phases(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 4, 900, PYRO_NONE);
    fixture_stage(app, 0, 1100, 1500);
    fixture_stage(app, 1, 1300, 1400);
    fixture_stage(app, 2, 1450, 1600);
    struct fixture_task task = fixture_task(app, 1, "1", 1300, 1400);
    task.row[PYRO_TASK_output_bytes] = 1;
    fixture_add(app, &task);
    fixture_analyze(app);
    assert_int_equal(app->numbers.phase_wait_ms, 0);
    assert_int_equal(app->numbers.phase_write_ms, 100);
    assert_int_equal(app->numbers.phase_compute_ms, 400);
    pyro_app_release(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap_and_gaps),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_without_measurements),
        cmocka_unit_test(test_oversubscribed),
        cmocka_unit_test(test_removed_mid_task),
        cmocka_unit_test(test_no_executors),
        cmocka_unit_test(test_in_progress),
        cmocka_unit_test(test_task_cpus),
        cmocka_unit_test(test_resubmitted),
        cmocka_unit_test(test_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
