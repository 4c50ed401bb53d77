/* Findings judged on a changed run. */
#include "advice/whatif_api.h"
#include "whatif_scene.h"

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
    struct pyro_edit edit = {.kind = PYRO_EDIT_TASK, .row = 0, .ms = 4000};
    struct pyro_finding findings[2] = {{.rule = &rule,
                                        .id = PYRO_SLICE_LITERAL("straggler:1"),
                                        .severity = PYRO_SEVERITY_LOW,
                                        .edits = &edit,
                                        .edit_count = 1,
                                        .own.basis = PYRO_BASIS_CODE,
                                        .full_costs = {PYRO_NONE, PYRO_NONE}},
                                       {.rule = &rule, .severity = PYRO_SEVERITY_SEVERE}};
    const struct pyro_diagnosis diagnosis = {.app = scene.app, .findings = findings, .finding_count = 2};
    static const struct {
        const char *executors;
        enum pyro_severity severity;
    } rows[] = {{"executors=1", PYRO_SEVERITY_LOW}, {"executors=96", PYRO_SEVERITY_SEVERE}};
    for (size_t i = 0; i < 2; i++) {
        whatif_answer(&scene, rows[i].executors, NULL);
        struct pyro_whatif *whatif = &scene.whatif;
        struct pyro_scenario *scenario = whatif->scenarios;
        whatif->diagnosis = &diagnosis;
        assert_true(pyro_whatif_judges(whatif));
        whatif->judges = true;
        scenario->effect_count = 0;
        assert_int_equal(pyro_whatif_answer(whatif, whatif->run.replay, &whatif->arena, scenario, NULL), PYRO_OK);
        assert_int_equal(scenario->finding_count, 2);
        assert_true(scenario->findings[0].known);
        assert_int_equal(scenario->findings[0].severity, rows[i].severity);
        assert_int_equal(scenario->findings[0].saves_ms, 1000);
        assert_false(scenario->findings[1].known); /* nothing that fixes it */
        assert_int_equal(scenario->findings[1].severity, PYRO_SEVERITY_SEVERE);
    }
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
