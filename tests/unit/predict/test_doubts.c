/* Intervals of predictions: what each model is not sure of, and how that adds up. */
#include "predict/cut_tasks.h"
#include "whatif_scene.h"

enum { MB = 1000 * 1000 };

/* 64 tasks of two seconds on two slots that exist from the start. */
static struct whatif_scene alike(void)
{
    struct whatif_scene scene = whatif_scene(64000);
    fixture_executor(scene.app, "1", 2, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, 64000);
    for (int i = 0; i < 64; i++) {
        struct fixture_task task = whatif_task(&scene, i / 2 * 2000, i / 2 * 2000 + 2000);
        task.row[PYRO_TASK_input_bytes] = MB;
        fixture_add(scene.app, &task);
    }
    return scene;
}

static void test_doubts_of_settings(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        enum pyro_model_id model;
        double low, high; /* shares of the time in tasks */
    } cases[] = {
        {"executors=2", PYRO_MODEL_executors, 0.10, 0.10}, /* twice the slots */
        {"cores=4", PYRO_MODEL_executors, 0.15, 0.15},     /* and twice on an executor */
        {"executors=16", PYRO_MODEL_executors, 0.25, 0.25},
        {"spark.scheduler.mode=FAIR", PYRO_MODEL_pools, 0.03, 0.03},
        {"scale-input=2", PYRO_MODEL_input, 0.10, 0.10},
        {"spark.dynamicAllocation.enabled=true spark.dynamicAllocation.maxExecutors=4", PYRO_MODEL_allocation, 0.12,
         0.12},
    };
    struct whatif_scene scene = alike();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct pyro_scenario *scenario = whatif_answer(&scene, cases[i].set, NULL);
        assert_near(whatif_doubt(&scene, scenario, cases[i].model, false), cases[i].low, 2e-4);
        assert_near(whatif_doubt(&scene, scenario, cases[i].model, true), cases[i].high, 2e-4);
    }
    whatif_free(&scene);
}

static void test_doubts_of_speculation(void **state)
{
    (void)state;
    for (int was = 0; was < 2; was++) {
        struct whatif_scene scene = whatif_scene(101000);
        fixture_executor(scene.app, "1", 20, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.speculation", was ? "true" : "false");
        whatif_stage(&scene, 0, 100000);
        for (int i = 0; i < 20; i++) {
            struct fixture_task task = whatif_task(&scene, 0, i == 3 ? 100000 : 10000);
            fixture_add(scene.app, &task);
        }
        const struct pyro_scenario *scenario =
            whatif_answer(&scene, was ? "spark.speculation=false" : "spark.speculation=true", NULL);
        assert_near(whatif_doubt(&scene, scenario, PYRO_MODEL_speculation, false), was ? 0 : 0.05, 1e-3);
        assert_near(whatif_doubt(&scene, scenario, PYRO_MODEL_speculation, true), was ? 0.15 : 0.05, 1e-3);
        whatif_free(&scene);
    }
}

/* A shuffle of `count` partitions becomes another number: for each doubling or halving a little more. */
static void test_doubts_of_partitions(void **state)
{
    (void)state;
    static const struct {
        unsigned count;
        const char *set;
        double doubt;
    } cases[] = {
        {200, "spark.sql.shuffle.partitions=100", 0.08 + 0.04},
        {800, "spark.sql.shuffle.partitions=1", 0.08 + 0.32},
        {200, "spark.sql.adaptive.enabled=true spark.sql.adaptive.coalescePartitions.parallelismFirst=false",
         0.10 + 0.1935}, /* seven tasks: 4.84 halvings */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct whatif_scene scene = whatif_scene(100000);
        fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
        fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", cases[i].count == 800 ? "800" : "200");
        whatif_stage(&scene, 0, 90000);
        scene.app->jobs.items[0].sql = 0;
        scene.app->stages.items[0].partitions = cases[i].count;
        for (unsigned k = 0; k < cases[i].count; k++) {
            struct fixture_task task = whatif_task(&scene, 0, 300);
            task.row[PYRO_TASK_shuffle_local_bytes] = 400 * MB / (int64_t)cases[i].count;
            fixture_add(scene.app, &task);
        }
        const struct pyro_scenario *scenario = whatif_answer(&scene, cases[i].set, NULL);
        assert_near(whatif_doubt(&scene, scenario, PYRO_MODEL_partitions, true), cases[i].doubt, 1e-3);
        whatif_free(&scene);
    }
}

/* Twenty tasks spilled where `all`, else half of them; what a byte costs is fitted on the others. */
static void test_doubts_of_memory(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct whatif_scene scene = whatif_scene(100000);
        fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.executor.memory", "1g");
        whatif_stage(&scene, 0, 90000);
        int64_t task_bytes = (int64_t)((1024 - 300) * 1048576.0 * 0.6);
        for (int i = 0; i < 20; i++) {
            int64_t spilled = (all || i % 2) * 20 * MB;
            struct fixture_task task = whatif_task(&scene, 0, 1000 + spilled / 20000);
            task.row[PYRO_TASK_shuffle_local_bytes] = 50 * MB;
            task.row[PYRO_TASK_disk_spill_bytes] = spilled;
            task.row[PYRO_TASK_memory_spill_bytes] = 2 * spilled;
            task.row[PYRO_TASK_peak_execution_memory_bytes] = spilled ? task_bytes : task_bytes / 2;
            fixture_add(scene.app, &task);
        }
        const struct pyro_scenario *scenario = whatif_answer(&scene, "memory=2g", NULL);
        /* Nothing spills any more: 20 MB of ten or of twenty tasks. */
        double changed = scene.whatif.run.spill_ms * (all ? 20 : 10) * 20 * MB / (double)scene.app->numbers.task_ms;
        assert_near(whatif_doubt(&scene, scenario, PYRO_MODEL_memory, false), changed * (all ? 0.8 : 0.4), 1e-3);
        whatif_free(&scene);
    }
    /* Blocks of 900 MB were alive, in 1 GiB: half of the heap may be too little. */
    struct whatif_scene scene = alike();
    fixture_property(scene.app, "spark", "spark.executor.memory", "1g");
    scene.app->executors.items[0].storage_peak_bytes = 900 * MB;
    const struct pyro_scenario *scenario = whatif_answer(&scene, "memory=512m", NULL);
    assert_near(whatif_doubt(&scene, scenario, PYRO_MODEL_memory, true), 0.5, 1e-3);
    whatif_free(&scene);
}

/* What a change of the program saves may be less, and more, but the rest of the run stays. */
static void test_doubts_of_code(void **state)
{
    (void)state;
    static const struct {
        double factor;
        int64_t expected_ms, low_ms, high_ms;
    } cases[] = {
        {0.9, 57600, 5760, 2560},   /* 0.9 and 0.4 of 6.4 s */
        {0.25, 16000, 5600, 19200}, /* 0.35 of what is left, 0.4 of 48 s */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct whatif_scene scene = alike();
        whatif_answer(&scene, NULL, NULL);
        struct pyro_edit edit = {.kind = PYRO_EDIT_STAGE, .row = 0, .factor = cases[i].factor};
        struct pyro_scenario fixed = {.brief = true, .code = &edit, .code_count = 1};
        struct pyro_whatif *whatif = &scene.whatif;
        assert_int_equal(pyro_predict(&whatif->run, whatif->run.replay, &whatif->arena, &fixed, NULL), PYRO_OK);
        assert_int_equal(fixed.wall_expected_ms, cases[i].expected_ms);
        assert_int_equal(fixed.effects[0].model, PYRO_MODEL_code);
        assert_in_range(fixed.effects[0].low_ms, cases[i].low_ms - 1, cases[i].low_ms + 1);
        assert_in_range(fixed.effects[0].high_ms, cases[i].high_ms - 1, cases[i].high_ms + 1);
        whatif_free(&scene);
    }
}

/* Squares add up: equal runs differ by 3 %, what is saved may be off by 0.3 of it, and a tenth of the tasks' time. */
static void test_intervals(void **state)
{
    (void)state;
    struct whatif_scene scene = alike();
    const struct pyro_scenario *scenario = whatif_answer(&scene, "executors=2", NULL);
    assert_int_equal(scenario->wall_expected_ms, 32000);
    double equal = 0.03 * 32000, off = 0.3 * 32000, slots = 0.1 * 32000;
    double wide = sqrt(equal * equal + off * off + slots * slots);
    assert_near((double)(scenario->wall_high_ms - 32000), wide, 2);
    assert_near((double)(32000 - scenario->wall_low_ms), wide, 2);
    whatif_free(&scene);
}

/* Tasks of less than a second, of more, and of one, in turn. */
static struct whatif_scene spread(int count, int64_t by)
{
    struct whatif_scene scene = whatif_scene(count * 1000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, count * 1000);
    int64_t at = 0;
    for (int i = 0; i < count; i++) {
        int64_t ms = 1000 + (i % 3 == 0 ? -by : i % 3 == 1 ? by : 0);
        struct fixture_task task = whatif_task(&scene, at, at + ms);
        fixture_add(scene.app, &task);
        at += ms;
    }
    return scene;
}

static void test_chance(void **state)
{
    (void)state;
    /* The middle half of a normal distribution lies within 1.349 deviations; beyond 0.25 it is not chance. */
    static const struct {
        int64_t by;
        double spread;
    } cases[] = {{100, 200 / 1.349 / 1000}, {400, 0.25}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct whatif_scene scene = spread(200, cases[i].by);
        struct pyro_stage *stage = &scene.app->stages.items[0];
        const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, NULL);
        const struct pyro_predicted_run *run = &scene.whatif.run;
        assert_int_equal(stage->duration_p75 - stage->duration_p25, 2 * cases[i].by);
        assert_near((double)run->spread[0], cases[i].spread, 1e-4);
        /* Nine in ten runs lie within 1.645 deviations. */
        double expected = (double)scenario->wall_expected_ms, error = run->check.error_share * expected;
        double chance = 1.645 * run->chance * expected;
        assert_true(run->chance > 0.001);
        assert_near((double)scenario->wall_high_ms - expected, sqrt(chance * chance + error * error), 2);
        whatif_free(&scene);
    }
}

/* A run of so many tasks that it is not replayed three times varies by a hundredth. */
static void test_chance_of_long_runs(void **state)
{
    (void)state;
    for (int count = 6000; count <= 7000; count += 1000) {
        struct whatif_scene scene = spread(count, 0);
        whatif_answer(&scene, NULL, NULL);
        assert_near(scene.whatif.run.chance, count == 6000 ? 0 : 0.01, 1e-9);
        whatif_free(&scene);
    }
}

/* Executors within ten seconds of the first were asked for with it. */
static void test_first_executors(void **state)
{
    (void)state;
    struct whatif_scene scene = alike();
    fixture_executor(scene.app, "2", 2, WHATIF_START + 9000, PYRO_NONE);
    fixture_executor(scene.app, "3", 2, WHATIF_START + 11000, PYRO_NONE);
    whatif_answer(&scene, "executors=4", NULL);
    assert_int_equal(scene.whatif.run.delay_count, 2);
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubts_of_settings),
        cmocka_unit_test(test_doubts_of_speculation),
        cmocka_unit_test(test_doubts_of_partitions),
        cmocka_unit_test(test_doubts_of_memory),
        cmocka_unit_test(test_doubts_of_code),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_chance_of_long_runs),
        cmocka_unit_test(test_first_executors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
