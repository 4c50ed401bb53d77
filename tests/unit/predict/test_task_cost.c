/* What a task costs for itself: the first ones of a stage, formats of files, how shuffles write, builds of broadcasts.
 */
#include "predict/cut_tasks.h"
#include "whatif_scene.h"

enum { MB = 1000 * 1000 };

static struct whatif_scene one_stage(unsigned partitions)
{
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    whatif_stage(&scene, 0, 90000);
    scene.app->jobs.items[0].sql = 0;
    scene.app->stages.items[0].partitions = partitions;
    return scene;
}

/* 400 tasks take 20 ms; the first 16 of them 220. Of 8 tasks each is a first one, of 400 these are 4 %. */
static void test_fewer_tasks_are_the_first_ones(void **state)
{
    (void)state;
    double took[2];
    for (int cold = 0; cold < 2; cold++) {
        struct whatif_scene scene = one_stage(400);
        fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "400");
        for (int i = 0; i < 400; i++) {
            struct fixture_task task = whatif_task(&scene, 0, cold && i < 16 ? 220 : 20);
            task.row[PYRO_TASK_shuffle_local_bytes] = 10000;
            task.row[PYRO_TASK_shuffle_read_records] = 100;
            task.row[PYRO_TASK_run_ms] = 15;
            task.row[PYRO_TASK_cpu_ns] = 10 * MB;
            fixture_add(scene.app, &task);
        }
        took[cold] = (double)whatif_answer(&scene, "spark.sql.shuffle.partitions=8", NULL)->busy_ms;
        whatif_free(&scene);
    }
    assert_float_equal((took[1] - took[0]), 8 * 200, 8 * 20);
}

/* The same tasks read text or columns: less of a task that decodes columns is fixed. */
static void test_formats(void **state)
{
    (void)state;
    double fixed[2];
    for (int columns = 0; columns < 2; columns++) {
        struct whatif_scene scene = one_stage(100);
        whatif_query(&scene, columns ? "Scan parquet shop.sales" : "Scan text ");
        for (int i = 0; i < 100; i++) {
            struct fixture_task task = whatif_task(&scene, 0, 30);
            task.row[PYRO_TASK_input_bytes] = 200 * 1000;
            task.row[PYRO_TASK_run_ms] = 30;
            task.row[PYRO_TASK_cpu_ns] = 13 * MB;
            fixture_add(scene.app, &task);
        }
        whatif_answer(&scene, "spark.sql.files.maxPartitionBytes=64m", NULL);
        fixed[columns] = (double)scene.whatif.run.stages[0].fixed_ms;
        whatif_free(&scene);
    }
    /* Of 13 ms of a processor, 200 kB take 1.2 ms as text and 10 ms as columns. */
    assert_true(fixed[0] > 20);
    assert_true(fixed[1] < 13);
}

/* A stage that writes 100 MB to a shuffle sorts them from 201 partitions, unless its limit is another one. */
static double writes(const char *limit, const char *partitions)
{
    struct whatif_scene scene = one_stage(10);
    if (limit)
        fixture_property(scene.app, "spark", "spark.shuffle.sort.bypassMergeThreshold", limit);
    for (int i = 0; i < 10; i++) {
        struct fixture_task task = whatif_task(&scene, 0, 1000);
        task.row[PYRO_TASK_input_bytes] = 10 * MB;
        task.row[PYRO_TASK_shuffle_write_bytes] = 10 * MB;
        task.row[PYRO_TASK_run_ms] = 1000;
        task.row[PYRO_TASK_cpu_ns] = 1000 * MB;
        fixture_add(scene.app, &task);
    }
    double took = (double)whatif_answer(&scene, partitions, NULL)->busy_ms;
    whatif_free(&scene);
    return took;
}

static void test_how_shuffles_write(void **state)
{
    (void)state;
    assert_float_equal(writes(NULL, "spark.sql.shuffle.partitions=100"), 10000, 1);
    assert_float_equal(writes(NULL, "spark.sql.shuffle.partitions=201"), 10000 + 1300, 1);
    assert_float_equal(writes("300", "spark.sql.shuffle.partitions=201"), 10000, 1);
    assert_float_equal(writes("100", "spark.sql.shuffle.partitions=100"), 10000 - 1300, 1);
}

static const int64_t parents[] = {0, 1};

/* The build of a broadcast makes the join wait, for each record of the smaller side. */
static void test_builds_of_broadcasts(void **state)
{
    (void)state;
    int64_t wall[2];
    for (int many = 0; many < 2; many++) {
        struct whatif_scene scene = whatif_scene(20000);
        fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
        fixture_property(scene.app, "spark", "spark.sql.autoBroadcastJoinThreshold", "-1");
        for (int s = 0; s < 3; s++) {
            whatif_stage(&scene, s * 1000, s * 1000 + 1000);
            scene.app->jobs.items[s].sql = 0;
            scene.app->stages.items[s].partitions = 1;
            struct fixture_task task = whatif_task(&scene, s * 1000, s * 1000 + 1000);
            task.row[PYRO_TASK_run_ms] = 1000;
            if (s < 2) {
                task.row[PYRO_TASK_shuffle_write_bytes] = s ? 2 * MB : 20 * MB;
                task.row[PYRO_TASK_shuffle_write_records] = many && s ? 1000 * 1000 : 10;
            } else
                task.row[PYRO_TASK_shuffle_local_bytes] = 22 * MB;
            fixture_add(scene.app, &task);
        }
        fixture_parents(scene.app, 2, parents, 2);
        whatif_query(&scene, "SortMergeJoin");
        wall[many] = whatif_answer(&scene, "spark.sql.autoBroadcastJoinThreshold=10m", NULL)->wall_expected_ms;
        whatif_free(&scene);
    }
    assert_int_equal(wall[1] - wall[0], 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fewer_tasks_are_the_first_ones),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_how_shuffles_write),
        cmocka_unit_test(test_builds_of_broadcasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
