/* How a finding's fix is chosen between settings and a changed program, and what the choice is worth. */
#include "advice/price.h"

#include "whatif_scene.h"

/* Twenty tasks of a second on the one slot of executor 1: 20 s. */
enum { TASKS = 20, TASK_MS = 1000, WALL_MS = TASKS * TASK_MS };

static struct whatif_scene one_slot(void)
{
    struct whatif_scene scene = whatif_scene(WALL_MS);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.executor.instances", "1");
    whatif_stage(&scene, 0, WALL_MS);
    scene.app->stages.items[0].partitions = TASKS;
    for (int i = 0; i < TASKS; i++) {
        struct fixture_task task = whatif_task(&scene, i * TASK_MS, (i + 1) * TASK_MS);
        fixture_add(scene.app, &task);
    }
    whatif_answer(&scene, "executors=1", NULL);
    assert_int_equal(scene.whatif.run.base.wall_ms, WALL_MS);
    return scene;
}

/* A finding that two executors fix, and where `code_saves` a program whose stage takes that much less. */
static struct pyro_saving price(struct whatif_scene *scene, double code_saves, double *ret_confidence)
{
    struct pyro_setting setting = {.key = PYRO_SLICE_LITERAL("spark.executor.instances"),
                                   .value = PYRO_SLICE_LITERAL("2")};
    struct pyro_advice advice = {.settings = &setting, .setting_count = 1};
    struct pyro_edit edit = {.kind = PYRO_EDIT_STAGE, .row = 0, .factor = 1 - code_saves / WALL_MS};
    struct pyro_finding finding = {.stage = PYRO_NONE,
                                   .confidence = 1,
                                   .advice = &advice,
                                   .advice_count = 1,
                                   .edits = &edit,
                                   .edit_count = code_saves > 0};
    struct pyro_finding_list findings = {.items = &finding, .count = 1};
    struct pyro_diagnosis diagnosis = {.app = scene->app};
    pyro_arena_init(&diagnosis.arena, NULL);
    assert_int_equal(pyro_findings_price(&diagnosis, &scene->whatif.run, 1, NULL, &findings, NULL), PYRO_OK);
    pyro_arena_done(&diagnosis.arena);
    *ret_confidence = finding.confidence;
    return finding.saves;
}

/* Settings are chosen if they save 0.8 of what the changed program saves, here 0.88 and 0.72. */
static void test_settings_or_program(void **state)
{
    (void)state;
    struct whatif_scene scene = one_slot();
    double confidence;
    struct pyro_saving settings = price(&scene, 0, &confidence);
    assert_int_equal(settings.basis, PYRO_BASIS_SETTINGS);
    assert_true(settings.wall_expected_ms > WALL_MS / 4);
    assert_int_equal(price(&scene, (double)settings.wall_expected_ms / 0.88, &confidence).basis, PYRO_BASIS_SETTINGS);
    assert_int_equal(price(&scene, (double)settings.wall_expected_ms / 0.72, &confidence).basis, PYRO_BASIS_CODE);
    whatif_free(&scene);
}

/* Of a run whose replay is off by more than a fiftieth, predictions are less certain. */
static void test_confidence_of_a_bad_replay(void **state)
{
    (void)state;
    struct whatif_scene scene = one_slot();
    double confidence;
    scene.whatif.run.check.error_share = 0.018;
    price(&scene, 0, &confidence);
    assert_float_equal(confidence, 1, 1e-9);
    scene.whatif.run.check.error_share = 0.022;
    price(&scene, 0, &confidence);
    assert_float_equal(confidence, 0.7, 1e-9);
    whatif_free(&scene);
}

/* Ten executors, or twenty, which are a second faster: by less than a 200th of the run, or by more. */
static void test_runs_that_are_alike(void **state)
{
    (void)state;
    for (int64_t first_ms = 160000; first_ms <= 200000; first_ms += 40000) {
        struct whatif_scene scene = whatif_scene(first_ms + WALL_MS);
        struct pyro_setting ten = {.key = PYRO_SLICE_LITERAL("spark.executor.instances"),
                                   .value = PYRO_SLICE_LITERAL("10")},
                            twenty = {.key = ten.key, .value = PYRO_SLICE_LITERAL("20")};
        struct pyro_advice advice[] = {{.settings = &ten, .setting_count = 1},
                                       {.settings = &twenty, .setting_count = 1}};
        struct pyro_finding finding = {.stage = PYRO_NONE, .confidence = 1, .advice = advice, .advice_count = 2};
        struct pyro_finding_list findings = {.items = &finding, .count = 1};
        struct pyro_diagnosis diagnosis = {.app = scene.app};
        fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
        fixture_property(scene.app, "spark", "spark.executor.instances", "1");
        whatif_stage(&scene, 0, first_ms);
        struct fixture_task first = whatif_task(&scene, 0, first_ms);
        fixture_add(scene.app, &first);
        whatif_stage(&scene, first_ms, first_ms + WALL_MS);
        scene.app->stages.items[1].partitions = TASKS;
        for (int i = 0; i < TASKS; i++) {
            struct fixture_task task = whatif_task(&scene, first_ms + i * TASK_MS, first_ms + (i + 1) * TASK_MS);
            fixture_add(scene.app, &task);
        }
        whatif_answer(&scene, "executors=1", NULL);
        pyro_arena_init(&diagnosis.arena, NULL);
        assert_int_equal(pyro_findings_price(&diagnosis, &scene.whatif.run, 1, NULL, &findings, NULL), PYRO_OK);
        assert_int_equal(finding.fix_count, 1);
        assert_string_equal(finding.fix->value.ptr, first_ms == 160000 ? "20" : "10");
        pyro_arena_done(&diagnosis.arena);
        whatif_free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_or_program),
        cmocka_unit_test(test_confidence_of_a_bad_replay),
        cmocka_unit_test(test_runs_that_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
