/* Other waits for locality, on runs whose answers are computed by hand. */
#include "base/strings/intern.h"
#include "whatif_scene.h"

static void run_of(struct whatif_scene *scene, int64_t stage, const char *executor, const char *level, int64_t from,
                   int64_t to)
{
    struct fixture_task task = fixture_task(scene->app, stage, executor, WHATIF_START + from, WHATIF_START + to);
    task.row[PYRO_TASK_index] = (int64_t)scene->app->tasks.count;
    task.row[PYRO_TASK_locality] = pyro_intern(scene->app->strings, pyro_slice_from(level));
    fixture_add(scene->app, &task);
}

static void run(struct whatif_scene *scene, const char *executor, const char *level, int64_t from, int64_t to)
{
    run_of(scene, 0, executor, level, from, to);
}

/* Four tasks of `ms` on two executors of one slot. Three have their data on the first one; the last went to the other
 * after ten seconds without success, and takes twice as long there. */
static struct whatif_scene waited(void)
{
    struct whatif_scene scene = whatif_scene(18000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    fixture_executor(scene.app, "2", 1, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.locality.wait", "10s");
    whatif_stage(&scene, 0, 18000);
    for (int i = 0; i < 3; i++)
        run(&scene, "1", "PROCESS_LOCAL", i * 4000, i * 4000 + 4000);
    run(&scene, "2", "NODE_LOCAL", 10000, 18000);
    return scene;
}

static void test_waits(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        int64_t wall_ms;
    } cases[] = {
        {"spark.locality.wait=10s", 18000},
        /* At once: two tasks near and one away from its data (8 s), then the one of 8 s where it ran. */
        {"spark.locality.wait=0s", 16000},
        /* The second of two tasks near ends at 8 s; the other slot has the third one since 5 s, which takes 8 s. */
        {"spark.locality.wait=5s", 16000},
        {"spark.locality.wait.process=5s", 16000},
        {"spark.locality.wait.rack=5s", 18000}, /* no task waited for a rack */
        /* It gets the slot near its data at 12 s, before it gives up, and takes half of its time there. */
        {"spark.locality.wait=20s", 16000},
        /* It gives up just before that. */
        {"spark.locality.wait=11s", 19000},
    };
    struct whatif_scene scene = waited();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct pyro_scenario *scenario = whatif_answer(&scene, cases[i].set, NULL);
        assert_int_equal(scenario->effect_count, 1);
        if (scenario->wall_expected_ms != cases[i].wall_ms)
            fail_msg("%s: %lld", cases[i].set, (long long)scenario->wall_expected_ms);
    }
    /* All tasks are of a stage that waited, and the run says what they take away from their data. */
    assert_near(whatif_doubt(&scene, whatif_answer(&scene, "spark.locality.wait=0s", NULL), PYRO_MODEL_locality, true),
                0.15, 1e-3);
    whatif_free(&scene);
}

static void test_nothing_waited(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(4000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, 4000);
    run(&scene, "1", "PROCESS_LOCAL", 0, 4000);
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.locality.wait=0s", NULL);
    assert_int_equal(scenario->wall_expected_ms, 4000);
    assert_int_equal(scenario->wall_low_ms, 4000);
    assert_int_equal(scenario->wall_high_ms, 4000);
    assert_non_null(pyro_slice_find(scenario->effects[0].text, "there is no wait to shorten"));
    whatif_free(&scene);
}

/* Where data lies on other executors is not known. */
static void test_other_executors(void **state)
{
    (void)state;
    struct whatif_scene scene = waited();
    const struct pyro_scenario *scenario = whatif_answer(&scene, "executors=4 spark.locality.wait=0s", NULL);
    assert_int_equal(scenario->wall_expected_ms, 8000);
    assert_non_null(pyro_slice_find(scenario->effects[1].text, "no task waits"));
    assert_true(scenario->wall_high_ms > 8000);
    assert_near(whatif_doubt(&scene, scenario, PYRO_MODEL_locality, true), 0.30, 1e-3);
    whatif_free(&scene);
}

/* Six tasks of 2 s on two executors of one slot: those of the second stage read what the first one cached, all on the
 * executor that has it, while the other one is free. */
static struct whatif_scene found_cached(void)
{
    static const int64_t cached_rdd = 7;
    struct whatif_scene scene = whatif_scene(14000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    fixture_executor(scene.app, "2", 1, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.locality.wait", "30s");
    for (int64_t stage = 0; stage < 2; stage++) {
        whatif_stage(&scene, stage * 2000, stage == 0 ? 2000 : 14000);
        struct pyro_stage *row = &scene.app->stages.items[stage];
        row->rdd_ids = &cached_rdd;
        row->rdd_count = 1;
    }
    struct pyro_rdd *rdd = pyro_vec_push(&scene.app->rdds, scene.app->allocator);
    pyro_row_init(PYRO_TABLE_rdds, rdd);
    rdd->id = cached_rdd;
    rdd->stage = 0;
    rdd->cached = 1;
    rdd->cached_from = 0;
    rdd->cached_to = INT64_MAX;
    run_of(&scene, 0, "1", "PROCESS_LOCAL", 0, 2000);
    for (int i = 0; i < 6; i++)
        run_of(&scene, 1, "1", "PROCESS_LOCAL", 2000 + i * 2000, 4000 + i * 2000);
    return scene;
}

static void test_cached_blocks(void **state)
{
    (void)state;
    struct whatif_scene scene = found_cached();
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.locality.wait=30s", NULL);
    assert_int_equal(scenario->wall_expected_ms, 14000);
    scenario = whatif_answer(&scene, "spark.locality.wait=0s", NULL);
    assert_int_equal(scenario->wall_expected_ms, 8000); /* three tasks on each executor */
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_nothing_waited),
        cmocka_unit_test(test_other_executors),
        cmocka_unit_test(test_cached_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
