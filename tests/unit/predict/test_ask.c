/* Questions: what they become, and how wrong ones are refused. */
#include "whatif_scene.h"

#include <string.h>

static struct whatif_scene any(void)
{
    struct whatif_scene scene = whatif_scene(1000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    return scene;
}

static void test_sweeps(void **state)
{
    (void)state;
    struct whatif_scene scene = any();
    const struct pyro_scenario *scenario = whatif_answer(&scene, "cores=3", "executors=8,1..3,10..20..5");
    static const double wanted[] = {8, 1, 2, 3, 10, 15, 20};
    assert_int_equal(scene.whatif.scenario_count, 7);
    for (int i = 0; i < 7; i++) {
        assert_true(scenario[i].values[PYRO_PREDICTED_EXECUTORS] == wanted[i]);
        assert_true(scenario[i].values[PYRO_PREDICTED_CORES] == 3);
    }
    whatif_free(&scene);
}

static void test_several_sweeps_combine(void **state)
{
    (void)state;
    struct whatif_scene scene = any();
    static const char *const sweeps[] = {"executors=1,2", "spark.executor.cores=3,4"};
    struct pyro_error error = {.size = sizeof(error)};
    whatif_answer(&scene, NULL, NULL);
    pyro_predict_done(&scene.whatif.run);
    pyro_arena_done(&scene.whatif.arena);
    scene.whatif = (struct pyro_whatif){0};
    pyro_arena_init(&scene.whatif.arena, NULL);
    assert_int_equal(pyro_whatif_ask(&scene.whatif, NULL, 0, sweeps, 2, &error), PYRO_OK);
    assert_int_equal(scene.whatif.scenario_count, 4);
    const struct pyro_scenario *scenario = scene.whatif.scenarios;
    static const double executors[] = {1, 1, 2, 2}, cores[] = {3, 4, 3, 4};
    for (int i = 0; i < 4; i++) {
        assert_true(scenario[i].values[PYRO_PREDICTED_EXECUTORS] == executors[i]);
        assert_true(scenario[i].values[PYRO_PREDICTED_CORES] == cores[i]);
        assert_true(scenario[i].full[PYRO_PREDICTED_CORES] && !scenario[i].full[PYRO_PREDICTED_EXECUTORS]);
    }
    whatif_free(&scene);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *set, *sweep, *says;
    } rows[] = {
        {"executors=0", NULL, "from 1 to 100000"},
        {"executors=-1", NULL, "whole number"},
        {"executors=1.5", NULL, "whole number"},
        {"executors=", NULL, "whole number"},
        {"executors=4g", NULL, "whole number"},
        {"executors=99999999999999999999999999999999999999", NULL, "from 1 to"},
        {"executors=1e3", NULL, "whole number"},
        {"cores=9999999", NULL, "from 1 to 4096"},
        {"executors", NULL, "KEY=VALUE"},
        {"=4", NULL, "KEY=VALUE"},
        {"spark.executor.coers=4", NULL, "did you mean spark.executor.cores?"},
        {"spark.no.such.setting=4", NULL, "spark.no.such.setting has no model"},
        {"executors=4 spark.executor.instances=5", NULL, "set twice"},
        {"executors=4", "executors=1..3", "both set and swept"},
        {NULL, "executors=5..1", "is before its start"},
        {NULL, "executors=1..1000000", "from 1 to"},
        {NULL, "executors=1..5000", "more than 1000 values"},
        {NULL, "executors=1..100000..0", "from 1 to"},
        {NULL, "executors=1..", "whole number"},
        {NULL, "executors=1,,2", "whole number"},
        {NULL, "executors=..", "whole number"},
        {NULL, "executors=1..2..3..4", "whole number"},
        {NULL, "executors=", "whole number"},
        {NULL, "speed=1..2", "speed has no model"},
    };
    struct whatif_scene scene = any();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *said = whatif_refusal(&scene, rows[i].set, rows[i].sweep);
        if (!strstr(said, rows[i].says))
            fail_msg("%s / %s: %s", rows[i].set ? rows[i].set : "-", rows[i].sweep ? rows[i].sweep : "-", said);
    }
    whatif_free(&scene);
}

/* A value below 0 is none of a range's, and stays one. */
static void test_below_zero(void **state)
{
    (void)state;
    struct whatif_scene scene = any();
    const struct pyro_scenario *scenario = whatif_answer(&scene, NULL, "spark.sql.autoBroadcastJoinThreshold=-1,1m");
    assert_int_equal(scene.whatif.scenario_count, 2);
    assert_true(scenario[0].values[PYRO_PREDICTED_BROADCAST] == -1);
    assert_true(pyro_slice_is(scenario[0].given[PYRO_PREDICTED_BROADCAST], "-1"));
    assert_true(pyro_slice_is(scenario[1].given[PYRO_PREDICTED_BROADCAST], "1m"));
    whatif_free(&scene);
}

/* Values are read as Spark reads them. */
static void test_values(void **state)
{
    (void)state;
    double value;
    assert_true(pyro_predicted_read(PYRO_PREDICTED_EXECUTORS, PYRO_SLICE_LITERAL("12"), &value) && value == 12);
    assert_false(pyro_predicted_read(PYRO_PREDICTED_EXECUTORS, PYRO_SLICE_LITERAL(""), &value));
    assert_false(pyro_predicted_read(PYRO_PREDICTED_EXECUTORS, PYRO_SLICE_LITERAL("12 "), &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeps),   cmocka_unit_test(test_several_sweeps_combine),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_below_zero),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
