/* The advice of several findings becomes one list of what to do. Nothing is simulated here: see
 * tests/cli/test_actions.py. */
#include <stdlib.h>

#include "advice/advice.h"
#include "scene.h"

enum { FINDINGS_MAX = 4 };

struct advised {
    struct pyro_app *app;
    struct pyro_diagnosis diagnosis;
    struct pyro_rule rule;
    struct pyro_finding findings[FINDINGS_MAX];
    struct pyro_advice advice[FINDINGS_MAX];
    struct pyro_setting settings[FINDINGS_MAX][2];
};

static struct advised *advice_new(void)
{
    struct advised *scene = calloc(1, sizeof(*scene));
    assert_non_null(scene);
    scene->app = fixture_app(SCENE_START, SCENE_START + 100000);
    scene->app->application.spark_version = PYRO_SLICE_LITERAL("3.5.6");
    scene->app->application.master = PYRO_SLICE_LITERAL("spark://host:7077");
    scene->diagnosis.app = scene->app;
    scene->diagnosis.findings = scene->findings;
    scene->rule.id = "some-rule";
    pyro_arena_init(&scene->diagnosis.arena, NULL);
    return scene;
}

static void advice_free(struct advised *scene)
{
    pyro_arena_done(&scene->diagnosis.arena);
    pyro_app_release(scene->app);
    free(scene);
}

/* Adds a finding that saves `saves` ms and advises `text`. */
static struct pyro_finding *add(struct advised *scene, const char *id, const char *text, int64_t saves)
{
    size_t place = scene->diagnosis.finding_count++;
    assert_true(place < FINDINGS_MAX);
    scene->advice[place].text = pyro_slice_from(text);
    scene->findings[place] = (struct pyro_finding){.rule = &scene->rule,
                                                   .id = pyro_slice_from(id),
                                                   .severity = PYRO_SEVERITY_SEVERE,
                                                   .stage = PYRO_NONE,
                                                   .advice = &scene->advice[place],
                                                   .advice_count = 1};
    scene->findings[place].own.wall_expected_ms = saves;
    scene->findings[place].own.basis = PYRO_BASIS_CODE;
    return &scene->findings[place];
}

static void set(struct advised *scene, const char *key, const char *value)
{
    size_t place = scene->diagnosis.finding_count - 1;
    struct pyro_advice *advice = &scene->advice[place];
    scene->settings[place][advice->setting_count++] =
        (struct pyro_setting){pyro_slice_from(key), pyro_slice_from(value)};
    advice->settings = scene->settings[place];
    scene->findings[place].fix = advice->settings;
    scene->findings[place].fix_count = advice->setting_count;
    scene->findings[place].own.basis = PYRO_BASIS_SETTINGS;
}

static const struct pyro_action *make(struct advised *scene, size_t count)
{
    assert_true(pyro_plan_make(&scene->diagnosis, NULL, NULL) == PYRO_OK);
    assert_int_equal(scene->diagnosis.action_count, count);
    return scene->diagnosis.actions;
}

static void test_findings_with_one_setting_are_one_action(void **state)
{
    (void)state;
    struct advised *scene = advice_new();
    add(scene, "one", "Use 64 partitions. There are 600.", 3000);
    set(scene, "spark.sql.shuffle.partitions", "64");
    add(scene, "two", "Compute with Kryo.", 2000);
    set(scene, "spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    add(scene, "three", "Use fewer partitions.", 1000);
    set(scene, "spark.sql.shuffle.partitions", "64");
    const struct pyro_action *actions = make(scene, 2);
    assert_true(pyro_slice_is(actions[0].id, "settings:one"));
    assert_true(pyro_slice_is(actions[0].title, "Use 64 partitions"));
    assert_int_equal(actions[0].setting_count, 1);
    assert_int_equal(actions[0].cure_count, 2);
    /* Findings are in the order of their actions, and save what these do. */
    const struct pyro_finding *findings = scene->diagnosis.findings;
    assert_int_equal(actions[0].cures[1], 1);
    assert_true(pyro_slice_is(findings[1].id, "three") && pyro_slice_is(findings[2].id, "two"));
    assert_int_equal(findings[1].saves.wall_expected_ms, 3000);
    assert_int_equal(actions[0].saves.wall_expected_ms, 3000);
    assert_int_equal(actions[0].effort, PYRO_EFFORT_SETTING);
    assert_int_equal(actions[0].risk, PYRO_RISK_LOW);
    assert_int_equal(actions[1].cures[0], 2);
    assert_int_equal(actions[1].risk, PYRO_RISK_MEDIUM); /* of the application, not of a query */
    advice_free(scene);
}

static void test_one_change_of_the_program_is_one_action(void **state)
{
    (void)state;
    struct advised *scene = advice_new();
    add(scene, "one", "Cache the table.", 3000);
    add(scene, "two", "Write Parquet.", 2000);
    add(scene, "three", "Cache the table.", 1000);
    add(scene, "four", "Nothing of this.", 500)->severity = PYRO_SEVERITY_LOW;
    const struct pyro_action *actions = make(scene, 2);
    assert_true(actions[0].setting_count == 0 && actions[1].setting_count == 0);
    assert_int_equal(actions[0].cure_count, 2);
    assert_int_equal(actions[0].effort, PYRO_EFFORT_CODE);
    advice_free(scene);
}

static void test_what_failed_comes_first(void **state)
{
    (void)state;
    struct advised *scene = advice_new();
    add(scene, "slow", "Cache the table.", 3000);
    struct pyro_finding *failed = add(scene, "failed", "Repair the parser.", 0);
    failed->failure_risk = 0.95;
    failed->own.basis = PYRO_BASIS_NONE;
    const struct pyro_action *actions = make(scene, 2);
    assert_true(pyro_slice_is(actions[0].id, "code:failed"));
    assert_int_equal(actions[0].saves.basis, PYRO_BASIS_NONE);
    assert_true(pyro_slice_is(scene->diagnosis.findings[0].id, "failed"));
    advice_free(scene);
}

static void test_a_consequence_is_cured_with_its_cause(void **state)
{
    (void)state;
    struct advised *scene = advice_new();
    add(scene, "cause", "Salt the key.", 3000);
    struct pyro_finding *spill = add(scene, "spill", "Use more partitions.", 0);
    spill->root = PYRO_SLICE_LITERAL("cause");
    spill->own.basis = PYRO_BASIS_NONE;
    add(scene, "false", "Not here.", 100)->folded = true;
    const struct pyro_action *actions = make(scene, 1);
    assert_int_equal(actions[0].cure_count, 2);
    assert_int_equal(actions[0].cures[1], 1);
    advice_free(scene);
}

static void test_settings_that_others_make_superfluous(void **state)
{
    (void)state;
    struct advised *scene = advice_new();
    add(scene, "one", "Use 64 partitions.", 3000);
    set(scene, "spark.sql.shuffle.partitions", "64");
    add(scene, "two", "Turn adaptive execution on.", 2000);
    set(scene, "spark.sql.adaptive.enabled", "true");
    /* As if it saved nothing more: its advice is not taken. */
    scene->advice[1].helps = PYRO_HELPS_NO;
    const struct pyro_action *actions = make(scene, 1);
    assert_int_equal(actions[0].cure_count, 2);
    /* What is shown there is what cures it. */
    const struct pyro_finding *cured = &scene->diagnosis.findings[actions[0].cures[1]];
    assert_true(pyro_slice_is(cured->id, "two"));
    assert_int_equal(cured->advice_count, 1);
    assert_true(pyro_slice_is(cured->advice[0].text, "Use 64 partitions."));
    advice_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings_with_one_setting_are_one_action),
        cmocka_unit_test(test_one_change_of_the_program_is_one_action),
        cmocka_unit_test(test_what_failed_comes_first),
        cmocka_unit_test(test_a_consequence_is_cured_with_its_cause),
        cmocka_unit_test(test_settings_that_others_make_superfluous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
