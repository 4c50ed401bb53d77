/* Dynamic allocation, on runs whose answers are computed by hand. */
#include "whatif_scene.h"

/* Sixteen tasks of ten seconds on one slot that comes after a second; they wait since half a second. */
static struct whatif_scene sixteen_tasks(void)
{
    struct whatif_scene scene = whatif_scene(162000);
    fixture_executor(scene.app, "1", 1, WHATIF_START + 1000, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.executor.instances", "1");
    whatif_stage(&scene, 500, 161000);
    for (int i = 0; i < 16; i++) {
        struct fixture_task task = whatif_task(&scene, 1000 + i * 10000, 11000 + i * 10000);
        fixture_add(scene.app, &task);
    }
    return scene;
}

/* One from the start; after a second of backlog one is asked for, a second later two, then four: these come after
 * another second each. */
static void test_ramp(void **state)
{
    (void)state;
    struct whatif_scene scene = sixteen_tasks();
    const struct pyro_scenario *scenario =
        whatif_answer(&scene, "spark.dynamicAllocation.enabled=true spark.dynamicAllocation.maxExecutors=8", NULL);
    assert_int_equal(scenario->executors, 8);
    /* There at 1, 2.5, 3.5 (two), 4.5 (four), each with two tasks; the driver has a second behind. */
    assert_int_equal(scenario->wall_expected_ms, 25500);
    assert_int_equal(scenario->core_ms, 24500 + 23000 + 2 * 22000 + 4 * 21000);
    whatif_free(&scene);
}

static void test_bounds(void **state)
{
    (void)state;
    struct whatif_scene scene = sixteen_tasks();
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.dynamicAllocation.enabled=true",
                                                         "spark.dynamicAllocation.maxExecutors=1,2,16,100000");
    assert_int_equal(scenario[0].wall_expected_ms, 162000);
    assert_int_equal(scenario[1].executors, 2);
    assert_int_equal(scenario[2].executors, 16);
    assert_int_equal(scenario[3].executors, 16); /* a task for each */
    assert_int_equal(scenario[2].wall_expected_ms, scenario[3].wall_expected_ms);
    assert_true(scenario[2].wall_expected_ms < scenario[1].wall_expected_ms);
    scenario = whatif_answer(&scene,
                             "spark.dynamicAllocation.enabled=true spark.dynamicAllocation.maxExecutors=16 "
                             "spark.dynamicAllocation.executorAllocationRatio=0.5",
                             NULL);
    assert_int_equal(scenario->executors, 8);
    whatif_free(&scene);
}

/* A stage of four tasks, then the driver for two minutes, then one of four. */
static void test_idle(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(142000);
    for (int i = 0; i < 4; i++)
        fixture_executor(scene.app, (const char *[]){"1", "2", "3", "4"}[i], 1, WHATIF_START + 1000, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.executor.instances", "4");
    for (int s = 0; s < 2; s++) {
        whatif_stage(&scene, 1000 - 500 * !s + s * 130000, 11000 + s * 130000);
        for (int i = 0; i < 4; i++) {
            struct fixture_task task = whatif_task(&scene, 1000 + s * 130000, 11000 + s * 130000);
            fixture_add(scene.app, &task);
        }
    }
    const struct pyro_scenario *scenario =
        whatif_answer(&scene, "spark.dynamicAllocation.enabled=true spark.dynamicAllocation.minExecutors=1", NULL);
    /* All go but one at 71 s; of the second stage one task runs at once, a second later one more is asked for, then two
     * more, there a second later: the last ends at 144 s. */
    assert_int_equal(scenario->executors, 4);
    assert_int_equal(scenario->wall_expected_ms, 131000 + 3000 + 10000 + 1000);
    assert_int_equal(scenario->core_ms, 3 * 70000 + (145000 - 1000) + (145000 - 133000) + 2 * (145000 - 134000));
    assert_int_equal(whatif_answer(&scene,
                                   "spark.dynamicAllocation.enabled=true "
                                   "spark.dynamicAllocation.executorIdleTimeout=150s",
                                   NULL)
                         ->wall_expected_ms,
                     142000);
    /* Without any left, it still ends. */
    scenario = whatif_answer(
        &scene, "spark.dynamicAllocation.enabled=true spark.dynamicAllocation.executorIdleTimeout=0s", NULL);
    assert_true(scenario->wall_expected_ms >= 142000 && scenario->wall_expected_ms < 150000);
    whatif_free(&scene);
}

static void test_off(void **state)
{
    (void)state;
    struct whatif_scene scene = sixteen_tasks();
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.enabled", "true");
    assert_int_equal(whatif_answer(&scene, NULL, NULL)->wall_expected_ms, 162000);
    assert_int_equal(whatif_answer(&scene, "executors=2", NULL)->wall_expected_ms, 82000);
    assert_int_equal(whatif_answer(&scene, "spark.dynamicAllocation.enabled=false", NULL)->wall_expected_ms, 162000);
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
