/* First tasks of executors, on a run whose answers are computed by hand. */
#include "whatif_scene.h"

#include <math.h>

#include "predict/cut_tasks.h"

/* Two executors of a core each, there from the start. Tasks of the first stage take 3 s where the executor is new and
 * 1 s after that; those of the four behind it 1.5 s where they are the first there, and 1 s after that. */
static struct whatif_scene two_executors(void)
{
    struct whatif_scene scene = whatif_scene(24000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    fixture_executor(scene.app, "2", 1, WHATIF_START, PYRO_NONE);
    static const int64_t length[2][4] = {{3000, 1000, 1000, 1000}, {1500, 1000, 1000, 1000}};
    int64_t from = 0;
    for (int s = 0; s < 5; s++) {
        int64_t to = from + (s == 0 ? 6000 : 4500), at = from;
        whatif_stage(&scene, from, to);
        for (int i = 0; i < 4; i++) {
            for (int e = 1; e <= 2; e++) {
                struct fixture_task task = fixture_task(scene.app, s, e == 1 ? "1" : "2", WHATIF_START + at,
                                                        WHATIF_START + at + length[s > 0][i]);
                task.row[PYRO_TASK_index] = (int64_t)scene.app->tasks.count;
                fixture_add(scene.app, &task);
            }
            at += length[s > 0][i];
        }
        from = to;
    }
    return scene;
}

static void test_what_the_run_says(void **state)
{
    (void)state;
    struct whatif_scene scene = two_executors();
    whatif_answer(&scene, "executors=1", NULL);
    const struct pyro_predicted_run *run = &scene.whatif.run;
    assert_int_equal(run->first_count, 10);
    assert_true(fabs(run->cold_ms - 2000) < 1e-6);
    assert_true(fabs((double)run->first_ms[1] - 500) < 1e-3);
    for (size_t i = 0; i < run->first_count; i++)
        assert_true(fabs((double)run->firsts[i].extra_ms - (run->firsts[i].stage == 0 ? 2000 : 500)) < 1e-3);
    whatif_free(&scene);
}

static void test_as_many_as_there_will_be(void **state)
{
    (void)state;
    struct whatif_scene scene = two_executors();
    int64_t unchanged = whatif_answer(&scene, NULL, NULL)->wall_expected_ms;
    assert_int_equal(unchanged, pyro_replay_base(scene.whatif.run.replay).wall_ms);
    assert_int_equal(whatif_answer(&scene, "executors=2", NULL)->wall_expected_ms, unchanged);
    /* 40 tasks of a second; on each executor once 2 s more, and in each of four stages 0.5 s. */
    assert_int_equal(whatif_answer(&scene, "executors=1", NULL)->busy_ms, 40000 + 4000);
    assert_int_equal(whatif_answer(&scene, "executors=4", NULL)->busy_ms, 40000 + 4 * 4000);
    /* 8 of 48 s were starts; half of that where there are twice the slots. */
    const struct pyro_scenario *twice = whatif_answer(&scene, "executors=4", NULL);
    assert_near(whatif_doubt(&scene, twice, PYRO_MODEL_first_tasks, true), 0.5 / 6, 1e-3);
    const struct pyro_scenario *scenario = whatif_answer(&scene, "executors=8", NULL);
    assert_int_equal(scenario->busy_ms, 40000 + 8 * 4000);
    bool told = false;
    for (size_t i = 0; i < scenario->effect_count; i++)
        told = told || scenario->effects[i].model == PYRO_MODEL_first_tasks;
    assert_true(told);
    whatif_free(&scene);
}

/* One slow task at the start of the only executor may be slow for any reason. */
static void test_too_little_to_tell(void **state)
{
    (void)state;
    struct whatif_scene scene = whatif_scene(12000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, 12000);
    for (int i = 0; i < 8; i++) {
        struct fixture_task task = whatif_task(&scene, i > 0 ? 4000 + i * 1000 : 0, 5000 + i * 1000);
        fixture_add(scene.app, &task);
    }
    assert_int_equal(whatif_answer(&scene, "executors=4", NULL)->busy_ms, 12000);
    whatif_free(&scene);
}

/* Each piece of work has a new executor: nothing says what that costs, and what it usually does is assumed. */
static void test_executors_that_are_always_new(void **state)
{
    (void)state;
    static const struct {
        int64_t length;
        double cold_ms;
    } cases[] = {{10000, 3500}, {4000, 2000}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct whatif_scene scene = whatif_scene(60000);
        for (int s = 0; s < 3; s++) {
            int64_t from = 15000 * (int64_t)s, to = from + cases[c].length;
            const char *const id = s == 0 ? "1" : s == 1 ? "2" : "3";
            fixture_executor(scene.app, id, 1, WHATIF_START + from, WHATIF_START + to);
            whatif_stage(&scene, from, to);
            struct fixture_task task = fixture_task(scene.app, s, id, WHATIF_START + from, WHATIF_START + to);
            fixture_add(scene.app, &task);
        }
        whatif_answer(&scene, "executors=2", NULL);
        assert_near(scene.whatif.run.cold_ms, cases[c].cold_ms, 1e-6);
        whatif_free(&scene);
    }
}

/* Tasks that run at once on the slots of one executor are first together. */
static void test_slots_of_one_executor(void **state)
{
    (void)state;
    struct whatif_scene scene = two_executors();
    assert_int_equal(whatif_answer(&scene, "executors=1 cores=2", NULL)->busy_ms, 40000 + 2 * 4000);
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_run_says),     cmocka_unit_test(test_as_many_as_there_will_be),
        cmocka_unit_test(test_too_little_to_tell),    cmocka_unit_test(test_executors_that_are_always_new),
        cmocka_unit_test(test_slots_of_one_executor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
