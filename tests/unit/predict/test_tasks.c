/* Models that change tasks: partitions, amounts of data, memory. */
#include "predict/tasks.h"
#include "whatif_scene.h"

enum { MB = 1000 * 1000 };

/* A query's stage of `count` tasks behind a shuffle on four slots: 100 ms each, and 1 ms for each 10 kB. */
static struct whatif_scene shuffled(unsigned count, int64_t bytes)
{
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    whatif_stage(&scene, 0, 90000);
    scene.app->jobs.items[0].sql = 0;
    scene.app->stages.items[0].partitions = count;
    for (unsigned i = 0; i < count; i++) {
        int64_t mine = bytes / count * (i % 4 == 0 ? 2 : i % 4 == 1 ? 0 : 1);
        struct fixture_task task = whatif_task(&scene, 0, 100 + mine / 10000);
        task.row[PYRO_TASK_shuffle_local_bytes] = mine;
        fixture_add(scene.app, &task);
    }
    return scene;
}

static double total(const struct pyro_scenario *scenario)
{
    return (double)scenario->busy_ms;
}

static void test_fixed_cost(void **state)
{
    (void)state;
    struct whatif_scene scene = shuffled(200, 400 * MB);
    whatif_answer(&scene, "spark.sql.shuffle.partitions=100", NULL);
    assert_true(scene.whatif.run.stages[0].fixed_ms == 100); /* of those that read nothing */
    whatif_free(&scene);
}

/* Work stays, fixed costs follow the number of tasks. */
static void test_shuffle_partitions(void **state)
{
    (void)state;
    struct whatif_scene scene = shuffled(200, 400 * MB);
    const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, "spark.sql.shuffle.partitions=50,200,800");
    assert_float_equal(total(&scenario[1]), 200 * 100 + 40000, 1);
    assert_float_equal(total(&scenario[0]), 50 * 100 + 40000, 60);
    assert_float_equal(total(&scenario[2]), 800 * 100 + 40000, 800);
    assert_int_equal(scenario[1].wall_expected_ms, pyro_replay_base(scene.whatif.run.replay).wall_ms);
    whatif_free(&scene);
}

/* A number that the program asked for itself stays. */
static void test_other_stages_stay(void **state)
{
    (void)state;
    struct whatif_scene scene = shuffled(60, 400 * MB);
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.sql.shuffle.partitions=50", NULL);
    assert_int_equal(scenario->wall_expected_ms, pyro_replay_base(scene.whatif.run.replay).wall_ms);
    whatif_free(&scene);
}

/* One key has half of all data: no number of partitions divides it. */
static void test_lumps_stay(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 64, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "20");
    whatif_stage(&scene, 0, 20000);
    scene.app->jobs.items[0].sql = 0;
    scene.app->stages.items[0].partitions = 20;
    for (int i = 0; i < 20; i++) {
        int64_t ms = i == 7 ? 20000 : 1000;
        struct fixture_task task = whatif_task(&scene, 0, ms);
        task.row[PYRO_TASK_shuffle_local_bytes] = ms * 10000;
        fixture_add(scene.app, &task);
    }
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.sql.shuffle.partitions=400", NULL);
    assert_true(scenario->wall_expected_ms > 96000 && scenario->wall_expected_ms <= 100000);
    whatif_free(&scene);
}

/* 400 MB in 200 partitions, read together up to 64 MiB. */
static void test_coalescing(void **state)
{
    (void)state;
    struct whatif_scene scene = shuffled(200, 400 * MB);
    const char *on = "spark.sql.adaptive.enabled=true spark.sql.adaptive.coalescePartitions.parallelismFirst=false";
    const struct pyro_scenario *scenario = whatif_answer(&scene, on, NULL);
    assert_float_equal(total(scenario), 7 * 100 + 40000, 10); /* 33 partitions of 2 MB each */
    /* As many as cores first: 100 MB each would do for four, but no more than 64 MiB. */
    assert_float_equal(total(whatif_answer(&scene, "spark.sql.adaptive.enabled=true cores=40", NULL)), 40 * 100 + 40000,
                       50);
    whatif_free(&scene);
}

static void test_scale(void **state)
{
    (void)state;
    struct whatif_scene scene = shuffled(200, 400 * MB);
    const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, "scale-input=0.5,1,3");
    assert_float_equal(total(&scenario[0]), 200 * 100 + 20000, 200);
    assert_float_equal(total(&scenario[1]), 200 * 100 + 40000, 1);
    assert_float_equal(total(&scenario[2]), 200 * 100 + 120000, 200);
    assert_int_equal(scenario[1].wall_low_ms <= scenario[1].wall_expected_ms, 1);
    whatif_free(&scene);
}

/* Half of the tasks spilled 20 MB and took a second longer for it. */
static void test_memory(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.executor.memory", "1g");
    whatif_stage(&scene, 0, 90000);
    int64_t task_bytes = (int64_t)((1024 - 300) * 1048576.0 * 0.6);
    for (int i = 0; i < 20; i++) {
        int64_t spilled = i % 2 * 20 * MB;
        struct fixture_task task = whatif_task(&scene, 0, 1000 + spilled / 20000);
        task.row[PYRO_TASK_shuffle_local_bytes] = 50 * MB;
        task.row[PYRO_TASK_disk_spill_bytes] = spilled;
        task.row[PYRO_TASK_memory_spill_bytes] = 2 * spilled;
        task.row[PYRO_TASK_peak_execution_memory_bytes] = i % 2 ? task_bytes : task_bytes / 2;
        fixture_add(scene.app, &task);
    }
    const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, "memory=1g,2g,512m");
    assert_float_equal(total(&scenario[0]), 30000, 1);
    assert_float_equal(total(&scenario[1]), 20000, 1);
    assert_true(total(&scenario[2]) > 31000);
    assert_int_equal(scenario[1].memory_bytes, INT64_C(2) << 30);
    assert_true(scenario[2].wall_high_ms > scenario[2].wall_expected_ms);
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_cost),
        cmocka_unit_test(test_shuffle_partitions),
        cmocka_unit_test(test_other_stages_stay),
        cmocka_unit_test(test_lumps_stay),
        cmocka_unit_test(test_coalescing),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
