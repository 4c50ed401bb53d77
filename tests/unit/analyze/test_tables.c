/* Derived columns of stages and executors, totals, memory, confidence. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

static void test_quantile(void **state)
{
    (void)state;
    static const int64_t values[] = {1, 2, 3, 4};
    assert_int_equal(pyro_quantile(values, 4, 0), 1);
    assert_int_equal(pyro_quantile(values, 4, 25), 2);
    assert_int_equal(pyro_quantile(values, 4, 50), 3);
    assert_int_equal(pyro_quantile(values, 4, 95), 4);
    assert_int_equal(pyro_quantile(values, 4, 100), 4);
    assert_int_equal(pyro_quantile(values, 1, 50), 1);
}

static void test_stage_sums(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 9000);
    fixture_stage(app, 1, 1000, 9000);
    fixture_stage(app, 0, 1000, 9000);
    for (int64_t i = 100; i > 0; i--) {
        struct fixture_task task = fixture_task(app, 0, "1", 1000 + i, 1000 + 2 * i);
        task.row[PYRO_TASK_cpu_ns] = 1600000;
        task.row[PYRO_TASK_shuffle_remote_bytes] = 3;
        task.row[PYRO_TASK_shuffle_local_bytes] = 4;
        task.row[PYRO_TASK_peak_execution_memory_bytes] = i;
        task.row[PYRO_TASK_input_bytes] = i == 1 ? PYRO_NONE : 2;
        task.row[PYRO_TASK_speculative] = i % 2;
        fixture_add(app, &task);
    }
    fixture_run(app, 1, "1", 1005, 1010);
    fixture_run(app, 8, "1", 1005, 1010); /* no such stage */
    fixture_analyze(app);
    const struct pyro_stage *stage = &app->stages.items[1];
    assert_int_equal(stage->tasks, 100);
    assert_int_equal(stage->cpu_ms, 160);
    assert_int_equal(stage->task_ms, 5050);
    assert_int_equal(stage->run_ms, 5050);
    assert_int_equal(stage->shuffle_read_bytes, 700);
    assert_int_equal(stage->peak_execution_memory_bytes, 100);
    assert_int_equal(stage->input_bytes, 198);
    assert_int_equal(stage->speculative_tasks, 50);
    assert_int_equal(stage->first_task_ms, 1001);
    assert_int_equal(stage->duration_min, 1);
    assert_int_equal(stage->duration_p25, 26);
    assert_int_equal(stage->duration_median, 51);
    assert_int_equal(stage->duration_p75, 76);
    assert_int_equal(stage->duration_p95, 96);
    assert_int_equal(stage->duration_max, 100);
    assert_int_equal(stage->first_task, 1);
    assert_int_equal(app->tasks_by_stage[0], 100);
    assert_int_equal(app->tasks_by_stage[1], 0);
    assert_int_equal(app->tasks_by_stage[101], 101);
    assert_int_equal(pyro_task_get(&app->tasks, PYRO_TASK_stage_row, 0), 1);
    assert_int_equal(pyro_task_get(&app->tasks, PYRO_TASK_stage_row, 101), -1);
    assert_int_equal(app->numbers.tasks, 102);
    assert_int_equal(app->numbers.cpu_ms, 160);
    assert_int_equal(app->numbers.shuffle_read_bytes, 700);
    pyro_app_release(app);
}

static void test_sums_saturate(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 9000);
    fixture_stage(app, 0, 1000, 9000);
    fixture_executor(app, "1", 1, 1000, PYRO_NONE);
    struct fixture_task task = fixture_task(app, 0, "1", 1000, INT64_MAX);
    task.row[PYRO_TASK_input_bytes] = INT64_MAX;
    task.row[PYRO_TASK_run_ms] = INT64_MIN + 1;
    fixture_add(app, &task);
    fixture_add(app, &task);
    fixture_analyze(app);
    assert_int_equal(app->numbers.input_bytes, INT64_MAX);
    assert_int_equal(app->numbers.run_ms, INT64_MIN);
    assert_int_equal(app->numbers.task_ms, INT64_MAX);
    assert_int_equal(app->stages.items[0].input_bytes, INT64_MAX);
    assert_int_equal(app->executors.items[0].busy_ms, INT64_MAX);
    pyro_app_release(app);
}

static void test_cores_peak(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 4, 1000, 1500);
    fixture_executor(app, "2", 4, 1500, PYRO_NONE); /* when the first goes */
    fixture_executor(app, "3", 1, 1400, 1600);
    fixture_executor(app, "4", 90, 1700, 1700); /* never alive */
    fixture_analyze(app);
    assert_int_equal(app->numbers.cores_peak, 5);
    assert_int_equal(app->numbers.executors, 4);
    pyro_app_release(app);
}

static void test_memory(void **state)
{
    (void)state;
    const int64_t gib = (int64_t)1 << 30;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "1", 4, 1000, PYRO_NONE)->heap_peak_bytes = gib;
    fixture_executor(app, "2", 4, 1000, PYRO_NONE)->storage_peak_bytes = 77;
    fixture_property(app, "spark", "spark.executor.memory", "2048");
    fixture_property(app, "metrics", "driver.JVMHeapMemory.peak", "123456");
    fixture_analyze(app);
    assert_int_equal(app->numbers.executor_heap_peak_bytes, gib);
    assert_int_equal(app->numbers.executor_heap_limit_bytes, 2 * gib);
    assert_int_equal(app->numbers.driver_heap_limit_bytes, gib);
    assert_int_equal(app->numbers.driver_heap_peak_bytes, 123456);
    assert_int_equal(app->numbers.storage_peak_bytes, 77);
    assert_true(app->numbers.executor_heap_used_share > 0.49 && app->numbers.executor_heap_used_share < 0.51);
    assert_true(isnan(app->numbers.cache_hit_share));
    pyro_app_release(app);
}

static void test_memory_local(void **state)
{
    (void)state;
    const int64_t gib = (int64_t)1 << 30;
    struct pyro_app *app = fixture_app(1000, 2000);
    fixture_executor(app, "driver", 4, 1000, PYRO_NONE)->heap_peak_bytes = 3 * gib;
    fixture_property(app, "spark", "spark.driver.memory", "2g");
    fixture_property(app, "spark", "spark.executor.memory", "8g");
    fixture_analyze(app);
    assert_int_equal(app->numbers.executor_heap_peak_bytes, 3 * gib);
    assert_int_equal(app->numbers.executor_heap_limit_bytes, 2 * gib);
    assert_int_equal(app->numbers.storage_peak_bytes, PYRO_NONE);
    assert_true(app->numbers.executor_heap_used_share >= 1 && app->numbers.executor_heap_used_share <= 1);
    pyro_app_release(app);
}

static double confidence_of(void (*damage)(struct pyro_app *app))
{
    struct pyro_app *app = fixture_app(1000, 2000);
    app->integrity.lines = 1000;
    app->integrity.tasks_started = app->integrity.tasks_ended = 100;
    if (damage)
        damage(app);
    fixture_analyze(app);
    double confidence = app->integrity.confidence;
    pyro_app_release(app);
    return confidence;
}

static void cut(struct pyro_app *app)
{
    app->integrity.truncated = true;
}
static void lose_tasks(struct pyro_app *app)
{
    app->integrity.tasks_ended = 80;
}
static void ruin(struct pyro_app *app)
{
    app->integrity.bad_lines = 900;
    app->integrity.missing_parts = 9;
    app->integrity.tasks_ended = 0;
}

/* A tenth of the tasks had values that were set aside. */
static void set_clock(struct pyro_app *app)
{
    fixture_executor(app, "1", 4, 1000, PYRO_NONE);
    fixture_stage(app, 0, 1000, 2000);
    for (int i = 0; i < 20; i++) {
        struct fixture_task task = fixture_task(app, 0, "1", 1000, 11000);
        task.row[PYRO_TASK_run_ms] = i < 2 ? PYRO_NONE : 9500;
        fixture_add(app, &task);
    }
    app->integrity.contradicted_task_values = 2;
}

static void exclude_ends(struct pyro_app *app)
{
    fixture_property(app, "spark", "spark.eventLog.excludedPatterns", "SparkListenerTaskEnd");
    app->integrity.tasks_ended = 0;
}

static void test_contradicting_clocks_and_excluded_events(void **state)
{
    (void)state;
    assert_int_equal(lround(1000 * confidence_of(set_clock)), 900);
    assert_int_equal(lround(1000 * confidence_of(exclude_ends)), 1000);
    struct pyro_app *app = fixture_app(1000, 12000);
    set_clock(app);
    exclude_ends(app);
    fixture_analyze(app);
    assert_int_equal(app->integrity.notes.count, 1);
    assert_non_null(pyro_slice_find(app->integrity.notes.items[0], "SparkListenerTaskEnd"));
    assert_true(app->integrity.contradictory);
    pyro_app_release(app);
}

static void test_confidence(void **state)
{
    (void)state;
    assert_true(confidence_of(NULL) >= 1 && confidence_of(NULL) <= 1);
    assert_int_equal(lround(1000 * confidence_of(cut)), 900);
    assert_int_equal(lround(1000 * confidence_of(lose_tasks)), 800);
    assert_int_equal(lround(1000 * confidence_of(ruin)), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contradicting_clocks_and_excluded_events),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_stage_sums),
        cmocka_unit_test(test_sums_saturate),
        cmocka_unit_test(test_cores_peak),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_local),
        cmocka_unit_test(test_confidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
