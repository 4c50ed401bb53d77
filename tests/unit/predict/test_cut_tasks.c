/* Models that change tasks: partitions, amounts of data, memory. */
#include <string.h>

#include "predict/cut_tasks.h"
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

static const int64_t parents[] = {0, 1};

/* A join of two stages on four slots: a stage of `count` tasks that read `bytes(i)`, 1 ms for each 10 kB. */
static struct whatif_scene joined(unsigned count, int64_t (*bytes)(unsigned i))
{
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "24");
    for (int s = 0; s < 2; s++) {
        whatif_stage(&scene, s * 1000, s * 1000 + 1000);
        scene.app->stages.items[s].partitions = 12; /* pieces of a skewed partition are at most as many */
        struct fixture_task task = whatif_task(&scene, s * 1000, s * 1000 + 1000);
        task.row[PYRO_TASK_shuffle_write_bytes] = s ? 2400 * 1000 : 36300 * 1000;
        task.row[PYRO_TASK_shuffle_write_ns] = 400 * MB; /* 400 ms */
        fixture_add(scene.app, &task);
    }
    whatif_query(&scene, "SortMergeJoin");
    whatif_stage(&scene, 2000, 90000);
    fixture_parents(scene.app, 2, parents, 2);
    scene.app->jobs.items[2].sql = 0;
    scene.app->stages.items[2].partitions = count;
    for (unsigned i = 0; i < count; i++) {
        struct fixture_task task = whatif_task(&scene, 2000, 2000 + bytes(i) / 10000);
        task.row[PYRO_TASK_shuffle_local_bytes] = bytes(i);
        task.row[PYRO_TASK_fetch_wait_ms] = 10;
        task.row[PYRO_TASK_run_ms] = bytes(i) / 10000;
        fixture_add(scene.app, &task);
    }
    return scene;
}

static int64_t one_is_skewed(unsigned i)
{
    return i == 5 ? 16 * MB : 1 * MB;
}

static int64_t pieces(unsigned i)
{
    return i < 4 ? 4 * MB : 23 * MB / 6; /* 300 kB of it three times more than once */
}

static const char *said(const struct pyro_scenario *scenario)
{
    assert_int_equal(scenario->effect_count, 1);
    return scenario->effects[0].text.ptr;
}

#define SKEW                                                                                                           \
    "spark.sql.adaptive.advisoryPartitionSizeInBytes=4m "                                                              \
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=2m"

/* The large partition is cut in four, the others are read together in six. */
static void test_skew_join(void **state)
{
    (void)state;
    struct whatif_scene scene = joined(24, one_is_skewed);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.sql.adaptive.enabled=true " SKEW, NULL);
    assert_non_null(strstr(said(scenario), "(10 tasks instead of 24)"));
    assert_near(whatif_doubt(&scene, scenario, PYRO_MODEL_partitions, true), 0.20 + 0.04 * log2(2.4), 1e-3);
    assert_float_equal(total(scenario), 2000 + 3900, 40); /* the other side is read again by each piece */
    scenario =
        whatif_answer(&scene, "spark.sql.adaptive.enabled=true spark.sql.adaptive.skewJoin.enabled=false " SKEW, NULL);
    assert_null(strstr(said(scenario), "(10 tasks"));
    whatif_free(&scene);
}

/* The reverse: the run cut a partition in four pieces, which are one again. */
static void test_no_skew_join(void **state)
{
    (void)state;
    struct whatif_scene scene = joined(10, pieces);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.advisoryPartitionSizeInBytes", "4m");
    fixture_property(scene.app, "spark", "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "2m");
    const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, "spark.sql.adaptive.enabled=true,false");
    assert_int_equal(scenario[0].wall_expected_ms, pyro_replay_base(scene.whatif.run.replay).wall_ms);
    assert_non_null(strstr(said(&scenario[1]), "(24 tasks instead of 10)"));
    /* All of the large one in one task: 1.6 s or a little less, its fixed cost apart. */
    double largest = 0;
    assert_int_equal(whatif_answer(&scene, "spark.sql.adaptive.skewJoin.enabled=false cores=1000", NULL)->executors, 1);
    largest = (double)(scene.whatif.scenarios[0].jobs[2].end_ms - scene.whatif.scenarios[0].jobs[2].start_ms);
    assert_true(largest > 1200);
    whatif_free(&scene);
}

static int64_t last_bytes; /* that the last task of a join reads */

static int64_t pieces_and_last(unsigned i)
{
    return i < 9 ? pieces(i) : last_bytes;
}

/* How long the join takes if its pieces are one partition again, on many slots. `beyond`: what was read beyond what was
 * written, in units of the other side's partition. */
static double largest_with(double beyond)
{
    last_bytes = 38700 * 1000 + (int64_t)(beyond * 100 * 1000);
    for (unsigned i = 0; i < 9; i++)
        last_bytes -= pieces(i);
    struct whatif_scene scene = joined(10, pieces_and_last);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.advisoryPartitionSizeInBytes", "4m");
    fixture_property(scene.app, "spark", "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "2m");
    whatif_answer(&scene, "spark.sql.adaptive.skewJoin.enabled=false cores=1000", NULL);
    double largest = (double)(scene.whatif.scenarios[0].jobs[2].end_ms - scene.whatif.scenarios[0].jobs[2].start_ms);
    whatif_free(&scene);
    return largest;
}

/* Two and a half partitions of the other side are three: each piece but the first read one more. */
static void test_pieces_by_what_was_read(void **state)
{
    (void)state;
    assert_near(largest_with(1.6), largest_with(2.4), 1);
    assert_near(largest_with(2.6) - largest_with(2.4), 23 * MB / 6 / 10000, 1); /* one piece more */
}

/* Skew handling is on by default; what decides is whether this run cut a partition. A limit below the large one cuts it
 * in as many pieces as the size aimed at asks for, and never in more than there were map tasks. */
static void test_lower_limits_of_skew(void **state)
{
    (void)state;
    struct whatif_scene scene = joined(24, one_is_skewed);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.coalescePartitions.enabled", "false");
    scene.app->stages.items[0].partitions = scene.app->stages.items[1].partitions = 3;
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.sql.adaptive.skewJoin.enabled=true", NULL);
    assert_null(strstr(said(scenario), "joins with other skewed partitions: 1"));
    scenario = whatif_answer(&scene, SKEW, NULL);
    assert_non_null(strstr(said(scenario), "(26 tasks instead of 24)")); /* three pieces, of three map tasks */
    assert_true(scenario->wall_expected_ms < pyro_replay_base(scene.whatif.run.replay).wall_ms);
    whatif_free(&scene);
}

/* Two hundred tasks that read almost nothing: their time is theirs, whatever they read. */
static void test_small_tasks_cost_what_they_take(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    whatif_stage(&scene, 0, 90000);
    scene.app->jobs.items[0].sql = 0;
    scene.app->stages.items[0].partitions = 200;
    for (int i = 0; i < 200; i++) {
        struct fixture_task task = whatif_task(&scene, 0, 50);
        task.row[PYRO_TASK_shuffle_local_bytes] = 100;
        task.row[PYRO_TASK_shuffle_read_records] = 1;
        task.row[PYRO_TASK_run_ms] = 30;
        task.row[PYRO_TASK_cpu_ns] = 10 * MB;
        fixture_add(scene.app, &task);
    }
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.sql.shuffle.partitions=8", NULL);
    assert_true(total(scenario) < 200 * 50 / 4);
    whatif_free(&scene);
}

/* A program that makes more tasks of a stage pays for the shuffle before them. */
static void test_code_cuts_a_stage(void **state)
{
    (void)state;
    struct whatif_scene scene = shuffled(1, 40 * MB);
    struct pyro_edit edit = {.kind = PYRO_EDIT_REPARTITION, .row = 0, .count = 8};
    whatif_answer(&scene, NULL, NULL);
    struct pyro_whatif *whatif = &scene.whatif;
    struct pyro_scenario fixed = {.brief = true, .code = &edit, .code_count = 1};
    assert_int_equal(pyro_predict(&whatif->run, whatif->run.replay, &whatif->arena, &fixed, NULL), PYRO_OK);
    assert_true(fixed.code_applies);
    assert_null(fixed.jobs);
    assert_true(total(&fixed) > total(whatif->scenarios));
    assert_true(fixed.wall_expected_ms < whatif->scenarios->wall_expected_ms);
    assert_true(fixed.wall_low_ms < fixed.wall_expected_ms && fixed.wall_expected_ms < fixed.wall_high_ms);
    whatif_free(&scene);
}

/* More tasks of a query that Python has a part in start more often. */
static void test_python_tasks_cost_more(void **state)
{
    (void)state;
    double took[2];
    for (int python = 0; python < 2; python++) {
        struct whatif_scene scene = whatif_scene(100000);
        fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
        fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "4");
        whatif_stage(&scene, 0, 90000);
        scene.app->jobs.items[0].sql = 0;
        scene.app->stages.items[0].partitions = 4;
        for (int i = 0; i < 4; i++) {
            struct fixture_task task = whatif_task(&scene, 0, 10100);
            task.row[PYRO_TASK_shuffle_local_bytes] = 100 * MB;
            task.row[PYRO_TASK_run_ms] = 10000;
            fixture_add(scene.app, &task);
        }
        whatif_query(&scene, python ? "BatchEvalPython" : "Project");
        took[python] = total(whatif_answer(&scene, "spark.sql.shuffle.partitions=400", NULL));
        whatif_free(&scene);
    }
    assert_true(took[1] > took[0] + 396 * 30);
}

static void test_safety_takes_no_time(void **state)
{
    (void)state;
    struct whatif_scene scene = shuffled(4, 40 * MB);
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.driver.maxResultSize=2g", NULL);
    assert_int_equal(scenario->wall_expected_ms, pyro_replay_base(scene.whatif.run.replay).wall_ms);
    assert_non_null(strstr(said(scenario), "changes no time"));
    assert_false(pyro_predicted_takes_time(scene.app, PYRO_SLICE_LITERAL("spark.driver.maxResultSize")));
    assert_true(pyro_predicted_takes_time(scene.app, PYRO_SLICE_LITERAL("spark.executor.memory")));
    assert_false(pyro_predicted_is_known(PYRO_SLICE_LITERAL("spark.shuffle.sync")));
    whatif_free(&scene);
}

/* Sorts have no metric here: seven tenths of the join and what writing took are lost. */
static void test_broadcast(void **state)
{
    (void)state;
    struct whatif_scene scene = joined(24, one_is_skewed);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    fixture_property(scene.app, "spark", "spark.sql.autoBroadcastJoinThreshold", "-1");
    const struct pyro_scenario *scenario =
        whatif_answer(&scene, NULL, "spark.sql.autoBroadcastJoinThreshold=-1,1m,10m");
    double before = total(&scenario[0]);
    assert_float_equal(total(&scenario[1]), before, 1);
    assert_float_equal(total(&scenario[2]), before - 400 - 2730, 5);
    assert_true(scenario[2].wall_low_ms < scenario[2].wall_expected_ms);
    assert_near(whatif_doubt(&scene, &scenario[2], PYRO_MODEL_broadcast, true), 0.25, 1e-3);
    whatif_free(&scene);
}

/* Twenty tasks at once; one takes ten times the median, for no reason or because it reads five times as much. */
static void test_speculation(void **state)
{
    (void)state;
    for (int64_t more = 1; more <= 5; more += 4) {
        struct whatif_scene scene = whatif_scene(11000);
        fixture_executor(scene.app, "1", 20, WHATIF_START, PYRO_NONE);
        whatif_stage(&scene, 0, 10000);
        for (int i = 0; i < 20; i++) {
            struct fixture_task task = whatif_task(&scene, 0, i == 3 ? 10000 : 1000);
            task.row[PYRO_TASK_input_bytes] = i == 3 ? more * MB : MB;
            fixture_add(scene.app, &task);
        }
        /* 1.5 medians, 50 ms, and a copy that takes the median or five. */
        assert_int_equal(whatif_answer(&scene, "spark.speculation=true", NULL)->jobs[0].end_ms, 1550 + more * 1000);
        assert_int_equal(
            whatif_answer(&scene, "spark.speculation=true spark.speculation.multiplier=3", NULL)->jobs[0].end_ms,
            3050 + more * 1000);
        assert_int_equal(whatif_answer(&scene, "spark.speculation=false", NULL)->jobs[0].end_ms, 10000);
        whatif_free(&scene);
    }
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
        cmocka_unit_test(test_skew_join),
        cmocka_unit_test(test_no_skew_join),
        cmocka_unit_test(test_pieces_by_what_was_read),
        cmocka_unit_test(test_lower_limits_of_skew),
        cmocka_unit_test(test_small_tasks_cost_what_they_take),
        cmocka_unit_test(test_code_cuts_a_stage),
        cmocka_unit_test(test_python_tasks_cost_more),
        cmocka_unit_test(test_safety_takes_no_time),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_speculation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
