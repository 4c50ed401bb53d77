/* The search for the best configuration, and findings judged on a changed run. */
#include <string.h>

#include "rules/engine.h"
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
    /* Any number of slots that divides 64 has no idle slot but for the driver's second: the fewer, the cheaper. */
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

/* What a straggler costs is lost in the waves of a smaller cluster, and matters on a larger one. */
static void test_findings(void **state)
{
    (void)state;
    static struct pyro_rule rule = {.id = "straggler"};
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, 100000);
    for (int i = 0; i < 96; i++) {
        struct fixture_task task = whatif_task(&scene, i * 1000, i * 1000 + (i ? 1000 : 5000));
        fixture_add(scene.app, &task);
    }
    whatif_answer(&scene, NULL, NULL);
    struct pyro_edit edit = {.kind = PYRO_EDIT_TASK, .row = 0, .ms = 4000};
    struct pyro_finding findings[2] = {{.rule = &rule,
                                        .id = PYRO_SLICE_LITERAL("straggler:1"),
                                        .severity = PYRO_SEVERITY_LOW,
                                        .edits = &edit,
                                        .edit_count = 1,
                                        .sure = {1, 1, 1}},
                                       {.rule = &rule, .severity = PYRO_SEVERITY_SEVERE}};
    scene.diagnosis->findings = findings;
    scene.diagnosis->finding_count = 2;
    whatif_answer(&scene, NULL, NULL);
    scene.whatif.run.judges = pyro_predict_judges(&scene.whatif);
    assert_true(scene.whatif.run.judges);
    struct pyro_scenario *scenario = scene.whatif.scenarios;
    static const struct {
        const char *executors;
        enum pyro_severity severity;
    } rows[] = {{"executors=1", PYRO_SEVERITY_LOW}, {"executors=96", PYRO_SEVERITY_SEVERE}};
    for (size_t i = 0; i < 2; i++) {
        whatif_answer(&scene, rows[i].executors, NULL);
        scenario = scene.whatif.scenarios;
        scene.whatif.run.judges = true;
        scenario->effect_count = 0;
        assert_int_equal(pyro_predict(&scene.whatif.run, scene.whatif.run.replay, &scene.whatif.arena, scenario, NULL),
                         PYRO_OK);
        assert_int_equal(scenario->finding_count, 2);
        assert_true(scenario->findings[0].known);
        assert_int_equal(scenario->findings[0].severity, rows[i].severity);
        assert_int_equal(scenario->findings[0].saves_ms, 1000);
        assert_false(scenario->findings[1].known); /* no remedy to judge it by */
        assert_int_equal(scenario->findings[1].severity, PYRO_SEVERITY_SEVERE);
    }
    scene.diagnosis->finding_count = 0;
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goals),
        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
