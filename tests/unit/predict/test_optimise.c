/* The search for the best configuration. */
#include <string.h>

#include "whatif_scene.h"

/* Sixty-four tasks of a second on two executors of two slots, there after a second; the driver has a second at the end.
 */
static struct whatif_scene many_tasks(void)
{
    struct whatif_scene scene = whatif_scene(18000);
    fixture_executor(scene.app, "1", 2, WHATIF_START + 1000, PYRO_NONE);
    fixture_executor(scene.app, "2", 2, WHATIF_START + 1000, PYRO_NONE);
    whatif_stage(&scene, 500, 17000);
    for (int i = 0; i < 64; i++) {
        struct fixture_task task = whatif_task(&scene, 1000 + i / 4 * 1000, 2000 + i / 4 * 1000);
        fixture_add(scene.app, &task);
    }
    return scene;
}

static const struct pyro_scenario *search(struct whatif_scene *scene, const char *set, struct pyro_goal goal)
{
    whatif_answer(scene, set, NULL);
    struct pyro_whatif *whatif = &scene->whatif;
    if (pyro_predict_optimise(whatif, &goal, NULL) != PYRO_OK)
        return NULL;
    whatif->goal = goal;
    for (size_t i = 0; i < whatif->scenario_count; i++)
        assert_int_equal(pyro_predict(&whatif->run, whatif->run.replay, &whatif->arena, &whatif->scenarios[i], NULL),
                         PYRO_OK);
    for (size_t i = 1; i < whatif->scenario_count; i++) { /* none is beaten by another */
        assert_true(whatif->scenarios[i].wall_expected_ms > whatif->scenarios[i - 1].wall_expected_ms);
        assert_true(whatif->scenarios[i].core_ms < whatif->scenarios[i - 1].core_ms);
    }
    return &whatif->scenarios[whatif->optimum.best];
}

static void test_goals(void **state)
{
    (void)state;
    struct whatif_scene scene = many_tasks();
    const struct pyro_scenario *best = search(&scene, NULL, (struct pyro_goal){.asked = true});
    if (!best) { /* a build without NLopt says so */
        whatif_free(&scene);
        return;
    }
    assert_int_equal(best->wall_expected_ms, 3000); /* a slot for every task */
    assert_true(scene.whatif.optimum.met);
    /* Any number of slots that divides 64 has no idle slot except for the driver's second: the fewer, the cheaper. */
    best = search(&scene, NULL, (struct pyro_goal){.asked = true, .cost = true});
    assert_int_equal(best->executors * best->cores_per_executor, 1);
    assert_int_equal(best->core_ms, 65000);
    best = search(&scene, NULL, (struct pyro_goal){.asked = true, .cost = true, .deadline_ms = 10000});
    assert_true(best->wall_expected_ms <= 10000 && best->core_ms <= 8 * 9000);
    assert_true(scene.whatif.optimum.met);
    best = search(&scene, NULL, (struct pyro_goal){.asked = true, .cost = true, .deadline_ms = 100});
    assert_false(scene.whatif.optimum.met);
    best = search(&scene, "cores=1", (struct pyro_goal){.asked = true, .max_cost = 70.0 / 3600});
    assert_int_equal(best->cores_per_executor, 1);
    assert_true(best->core_ms <= 70000);
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
