/* Where models of settings change their answer: a case on either side of each of their limits. */
#include <string.h>

#include "predict/cut_tasks.h"
#include "whatif_scene.h"

enum { MB = 1000 * 1000, TASKS = 20 };

/* Spark 4 copies tasks once nine tenths of their stage have ended: not if three of twenty are slow. */
static void test_speculation_of_spark_4(void **state)
{
    (void)state;
    for (int slow = 2; slow <= 3; slow++) {
        struct whatif_scene scene = whatif_scene(11000);
        fixture_executor(scene.app, "1", TASKS, WHATIF_START, PYRO_NONE);
        scene.app->application.spark_version = PYRO_SLICE_LITERAL("4.0.0");
        whatif_stage(&scene, 0, 10000);
        for (int i = 0; i < TASKS; i++) {
            struct fixture_task task = whatif_task(&scene, 0, i < slow ? 10000 : 1000);
            task.row[PYRO_TASK_input_bytes] = MB;
            fixture_add(scene.app, &task);
        }
        int64_t end_ms = whatif_answer(&scene, "spark.speculation=true", NULL)->jobs[0].end_ms;
        assert_int_equal(end_ms, slow == 2 ? 4050 : 10000);
        whatif_free(&scene);
    }
}

/* A shuffle that need not sort any more saves at most half of its stage. */
static void test_writing_without_sorting(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(2000);
    fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "400");
    whatif_stage(&scene, 0, 1000);
    scene.app->jobs.items[0].sql = 0;
    for (int i = 0; i < 4; i++) {
        struct fixture_task task = whatif_task(&scene, 0, 1000);
        task.row[PYRO_TASK_run_ms] = 1000;
        task.row[PYRO_TASK_cpu_ns] = INT64_C(1000) * MB;
        task.row[PYRO_TASK_shuffle_write_bytes] = 250 * MB;
        fixture_add(scene.app, &task);
    }
    assert_near((double)whatif_answer(&scene, "spark.sql.shuffle.partitions=100", NULL)->busy_ms, 2000, 1);
    whatif_free(&scene);
}

/* Of 200 partitions of 2 MB the rule makes 50 of up to 8 MiB. A run with 38 follows it (off by 0.32), one with 37 does
 * not (0.35): its number stays. */
static void test_runs_that_follow_the_rule(void **state)
{
    (void)state;
    for (int count = 37; count <= 38; count++) {
        struct whatif_scene scene = whatif_scene(100000);
        fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "true");
        fixture_property(scene.app, "spark", "spark.sql.adaptive.coalescePartitions.parallelismFirst", "false");
        fixture_property(scene.app, "spark", "spark.sql.adaptive.advisoryPartitionSizeInBytes", "8m");
        whatif_stage(&scene, 0, 90000);
        scene.app->jobs.items[0].sql = 0;
        scene.app->stages.items[0].partitions = count;
        for (int i = 0; i < count; i++) {
            struct fixture_task task = whatif_task(&scene, 0, 1000);
            task.row[PYRO_TASK_shuffle_local_bytes] = 400 * MB / count;
            fixture_add(scene.app, &task);
        }
        const struct pyro_scenario *scenario =
            whatif_answer(&scene, "spark.sql.adaptive.advisoryPartitionSizeInBytes=16m", NULL);
        assert_int_equal(strstr(scenario->effects[0].text.ptr, "(19 tasks instead of 3") != NULL, count == 38);
        whatif_free(&scene);
    }
}

/* Tasks that spilled may need twice what they show: they may still spill with more memory if half of that is less. */
static void test_unseen_need_of_memory(void **state)
{
    (void)state;
    double larger = (2048 - 300) * 1048576.0 * 0.6;
    for (int spills = 0; spills < 2; spills++) {
        struct whatif_scene scene = whatif_scene(100000);
        fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.executor.memory", "1g");
        whatif_stage(&scene, 0, 90000);
        for (int i = 0; i < TASKS; i++) {
            int64_t spilled = i % 2 * 20 * MB;
            struct fixture_task task = whatif_task(&scene, 0, 1000 + spilled / 20000);
            task.row[PYRO_TASK_shuffle_local_bytes] = 50 * MB;
            task.row[PYRO_TASK_disk_spill_bytes] = spilled;
            task.row[PYRO_TASK_peak_execution_memory_bytes] = (int64_t)(larger * (spills ? 0.55 : 0.45));
            fixture_add(scene.app, &task);
        }
        const struct pyro_scenario *scenario = whatif_answer(&scene, "memory=2g", NULL);
        double shorter = whatif_doubt(&scene, scenario, PYRO_MODEL_memory, false),
               longer = whatif_doubt(&scene, scenario, PYRO_MODEL_memory, true);
        assert_int_equal(longer > shorter + 1e-6, spills);
        whatif_free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speculation_of_spark_4),
        cmocka_unit_test(test_writing_without_sorting),
        cmocka_unit_test(test_runs_that_follow_the_rule),
        cmocka_unit_test(test_unseen_need_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
