/* Other executors, on runs whose answers are computed by hand. */
#include <string.h>

#include "whatif_scene.h"

/* Eight tasks of a second on two slots that come after two seconds; the driver has half a second at each end. */
static struct whatif_scene eight_tasks(void)
{
    struct whatif_scene scene = whatif_scene(7000);
    fixture_executor(scene.app, "1", 2, WHATIF_START + 2000, PYRO_NONE);
    whatif_stage(&scene, 500, 6500);
    for (int i = 0; i < 8; i++) {
        struct fixture_task task = whatif_task(&scene, 2500 + i / 2 * 1000, 3500 + i / 2 * 1000);
        fixture_add(scene.app, &task);
    }
    return scene;
}

static void test_as_it_was(void **state)
{
    (void)state;
    struct whatif_scene scene = eight_tasks();
    const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, NULL);
    assert_int_equal(scene.whatif.scenario_count, 1);
    assert_int_equal(scenario->wall_expected_ms, pyro_replay_base(scene.whatif.run.replay).wall_ms);
    assert_int_equal(scenario->wall_expected_ms, 7000);
    assert_int_equal(scenario->core_ms, 2 * 5000);
    assert_int_equal(scenario->effect_count, 0);
    scenario = whatif_answer(&scene, "executors=1 cores=2", NULL);
    assert_int_equal(scenario->wall_expected_ms, 7000);
    assert_int_equal(scenario->wall_low_ms, scenario->wall_expected_ms); /* no chance: all tasks are alike */
    whatif_free(&scene);
}

static void test_more_and_fewer(void **state)
{
    (void)state;
    struct whatif_scene scene = eight_tasks();
    const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, "executors=1..5");
    static const int64_t waves[] = {4, 2, 2, 1, 1};
    assert_int_equal(scene.whatif.scenario_count, 5);
    for (int i = 0; i < 5; i++) {
        int64_t wall = 3000 + waves[i] * 1000;
        assert_int_equal(scenario[i].wall_expected_ms, wall);
        assert_int_equal(scenario[i].executors, i + 1);
        assert_int_equal(scenario[i].core_ms, (i + 1) * 2 * (wall - 2000));
        assert_int_equal(scenario[i].jobs[0].start_ms, 500);
        assert_int_equal(scenario[i].jobs[0].end_ms, wall - 500);
    }
    assert_true(scenario[4].wall_high_ms - scenario[4].wall_expected_ms >
                scenario[1].wall_high_ms - scenario[1].wall_expected_ms);
    assert_int_equal(whatif_answer(&scene, "cores=1", NULL)->wall_expected_ms, 3000 + 8000);
    assert_int_equal(whatif_answer(&scene, "executors=2 cores=4", NULL)->wall_expected_ms, 3000 + 1000);
    whatif_free(&scene);
}

/* Executors beyond the run's own come when the last of its first ones did. */
static void test_delays(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(20000);
    fixture_executor(scene.app, "1", 1, WHATIF_START + 1000, PYRO_NONE);
    fixture_executor(scene.app, "2", 1, WHATIF_START + 3000, PYRO_NONE);
    fixture_executor(scene.app, "3", 1, WHATIF_START + 15000, WHATIF_START + 16000); /* for another reason */
    whatif_stage(&scene, 0, 19000);
    struct fixture_task task = whatif_task(&scene, 1000, 19000);
    fixture_add(scene.app, &task);
    whatif_answer(&scene, "executors=4", NULL);
    const struct pyro_predicted_run *run = &scene.whatif.run;
    assert_int_equal(run->executors, 3);
    assert_int_equal(run->delay_count, 2);
    assert_int_equal(run->delays[0], 1000);
    assert_int_equal(run->delays[1], 3000);
    const struct pyro_scenario *scenario = whatif_answer(&scene, "executors=4", NULL);
    int64_t wall = scenario->wall_expected_ms;
    assert_int_equal(scenario->core_ms, (wall - 1000) + 3 * (wall - 3000));
    whatif_free(&scene);
}

/* Two executors of one core on one host, where computing takes twice as long as alone: ten tasks of 3 s on each. */
static void test_hosts(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(30000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    fixture_executor(scene.app, "2", 1, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, 30000);
    for (int i = 0; i < 20; i++) {
        struct fixture_task task = whatif_task(&scene, i / 2 * 3000, i / 2 * 3000 + 3000);
        task.row[PYRO_TASK_deserialize_ms] = 200;
        task.row[PYRO_TASK_deserialize_cpu_ns] = 100 * 1000 * 1000;
        task.row[PYRO_TASK_run_ms] = 2800;
        task.row[PYRO_TASK_cpu_ns] = INT64_C(1400) * 1000 * 1000;
        fixture_add(scene.app, &task);
    }
    const struct pyro_scenario *scenario = whatif_answer(&scene, "executors=2", "hosts=same,new,1..4");
    int64_t alone = scenario[0].wall_expected_ms;
    assert_int_equal(scene.whatif.run.hosts, 1);
    assert_true(scene.whatif.run.one_host);
    assert_float_equal(scene.whatif.run.longer, 2, 0.001);
    assert_int_equal(scenario[1].wall_expected_ms, alone);
    assert_int_equal(scenario[2].wall_expected_ms, alone);
    /* A slot alone on its host: 1 + (2 - 1) / 2 instead of 2; a third host has no executor. */
    assert_float_equal((double)scenario[3].busy_ms, ((double)scenario[0].busy_ms * 0.75), 300);
    assert_int_equal(scenario[4].busy_ms, scenario[3].busy_ms);
    /* Of a quarter that changes, 0.4. */
    assert_near(whatif_doubt(&scene, &scenario[3], PYRO_MODEL_host, true), 0.4 * 0.25, 0.002);
    int64_t shared = whatif_answer(&scene, "executors=4 hosts=same", NULL)->busy_ms;
    assert_true(whatif_answer(&scene, "executors=4 hosts=new", NULL)->busy_ms < shared);
    assert_int_equal(whatif_answer(&scene, "executors=4", NULL)->busy_ms, shared);
    assert_non_null(strstr(whatif_refusal(&scene, "hosts=some", NULL), "same, new, or a number of hosts"));
    assert_non_null(whatif_refusal(&scene, "hosts=-1", NULL));
    assert_non_null(whatif_refusal(&scene, "hosts=0", NULL));
    whatif_free(&scene);
}

static void test_several_hosts(void **state)
{
    (void)state;
    static const char *const hosts[] = {"b", "a", "b", ""};
    struct whatif_scene scene = whatif_scene(10000);
    for (size_t i = 0; i < 4; i++) {
        fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
        scene.app->executors.items[i].host = pyro_slice_from(hosts[i]);
    }
    whatif_stage(&scene, 0, 10000);
    struct fixture_task task = whatif_task(&scene, 0, 10000);
    fixture_add(scene.app, &task);
    whatif_answer(&scene, "executors=2", NULL);
    assert_int_equal(scene.whatif.run.hosts, 3); /* the unknown one counts */
    assert_false(scene.whatif.run.one_host);
    whatif_free(&scene);
}

/* A log that names no executor still has slots. */
static void test_no_executors(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(3000);
    whatif_stage(&scene, 500, 2500);
    for (int i = 0; i < 2; i++) {
        struct fixture_task task = whatif_task(&scene, 500 + i * 1000, 1500 + i * 1000);
        fixture_add(scene.app, &task);
    }
    assert_int_equal(whatif_answer(&scene, NULL, NULL)->wall_expected_ms, 3000);
    assert_int_equal(whatif_answer(&scene, "executors=2", NULL)->wall_expected_ms, 2000);
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_it_was), cmocka_unit_test(test_more_and_fewer), cmocka_unit_test(test_delays),
        cmocka_unit_test(test_hosts),     cmocka_unit_test(test_several_hosts),  cmocka_unit_test(test_no_executors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
