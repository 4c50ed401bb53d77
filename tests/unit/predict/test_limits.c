/* Limits of models: from what on they believe the run, and how far they go. */
#include <stdio.h>

#include "base/strings/intern.h"
#include "predict/cut_tasks.h"
#include "whatif_scene.h"

enum { MB = 1000 * 1000 };

/* How many times as long computing took, by `count` tasks that were deserialized for `ms` and computed for `cpu_us` of
 * that. */
static double longer(int count, int64_t ms, int64_t cpu_us)
{
    struct whatif_scene scene = whatif_scene(count * 1000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, count * 1000);
    for (int i = 0; i < count; i++) {
        struct fixture_task task = whatif_task(&scene, i * 1000, i * 1000 + 1000);
        task.row[PYRO_TASK_deserialize_ms] = ms;
        task.row[PYRO_TASK_deserialize_cpu_ns] = cpu_us * 1000;
        fixture_add(scene.app, &task);
    }
    whatif_answer(&scene, "executors=2", NULL);
    double found = scene.whatif.run.longer;
    whatif_free(&scene);
    return found;
}

/* DESERIALIZE_MIN_MS 500, of TASKS_MIN 20; LONGER_MAX 10. */
static void test_shared_processors(void **state)
{
    (void)state;
    assert_near(longer(22, 25, 12500), 2, 1e-6);
    assert_near(longer(22, 20, 10000), 1, 1e-6);
    assert_near(longer(20, 100, 50000), 2, 1e-6);
    assert_near(longer(19, 100, 50000), 1, 1e-6);
    assert_near(longer(22, 120, 10000), 10, 1e-6);
}

/* FARTHER_MAX 5: the last task takes six times as long away from its data. */
static void test_far_tasks(void **state)
{
    (void)state;
    static const struct {
        const char *executor, *level;
        int64_t from, to;
    } tasks[] = {{"1", "PROCESS_LOCAL", 0, 4000},
                 {"1", "PROCESS_LOCAL", 4000, 8000},
                 {"1", "PROCESS_LOCAL", 8000, 12000},
                 {"2", "NODE_LOCAL", 10000, 34000}};
    struct whatif_scene scene = whatif_scene(34000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    fixture_executor(scene.app, "2", 1, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.locality.wait", "10s");
    whatif_stage(&scene, 0, 34000);
    for (size_t i = 0; i < 4; i++) {
        struct fixture_task task =
            fixture_task(scene.app, 0, tasks[i].executor, WHATIF_START + tasks[i].from, WHATIF_START + tasks[i].to);
        task.row[PYRO_TASK_index] = (int64_t)i;
        task.row[PYRO_TASK_locality] = pyro_intern(scene.app->strings, pyro_slice_from(tasks[i].level));
        fixture_add(scene.app, &task);
    }
    const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.locality.wait=0s", NULL);
    assert_non_null(pyro_slice_find(scenario->effects[0].text, "takes 5.00 times as long"));
    whatif_free(&scene);
}

/* `executors` of a core; a stage that makes them warm, then `count` stages in which each runs a first task of
 * `first_ms` and `laters` of a second, and then one with a first task of `last_ms` only, if that is not 0. */
struct firsts {
    int executors, count, laters;
    int64_t first_ms, last_ms, cold_ms[3];
};

static struct whatif_scene firsts(struct firsts of)
{
    static const char *const ids[] = {"1", "2", "3"};
    struct whatif_scene scene = whatif_scene(200000);
    int64_t from = 0;
    for (int e = 0; e < of.executors; e++)
        fixture_executor(scene.app, ids[e], 1, WHATIF_START, PYRO_NONE);
    for (int s = 0; s < of.count + 1 + (of.last_ms > 0); s++) {
        bool last = s == of.count + 1;
        int64_t to = from + 20000;
        whatif_stage(&scene, from, to);
        for (int e = 0; e < of.executors; e++) {
            int64_t at = from;
            for (int i = 0; i < (last ? 1 : 1 + of.laters); i++) {
                int64_t cold = of.cold_ms[e] ? of.cold_ms[e] : 3000;
                int64_t ms = i > 0 ? 1000 : s == 0 ? cold : last ? of.last_ms : of.first_ms;
                struct fixture_task task =
                    fixture_task(scene.app, s, ids[e], WHATIF_START + at, WHATIF_START + at + ms);
                task.row[PYRO_TASK_index] = (int64_t)scene.app->tasks.count;
                fixture_add(scene.app, &task);
                at += ms;
            }
        }
        from = to;
    }
    whatif_answer(&scene, "executors=1", NULL);
    return scene;
}

/* COMPARED_MIN 3, LATERS_MIN 2, STAGES_MIN 4, FIRST_SHARE_MAX 0.5. */
static void test_first_tasks(void **state)
{
    (void)state;
    static const struct {
        struct firsts of;
        size_t stage;
        double first_ms;
    } cases[] = {
        {{3, 1, 1, 1500, 0, {0}}, 1, 500},    /* three of each say it alone */
        {{2, 1, 2, 1500, 0, {0}}, 1, 0},      /* two do not, */
        {{1, 4, 2, 1500, 0, {0}}, 1, 500},    /* but four stages that have two later ones, together, */
        {{1, 4, 1, 1500, 0, {0}}, 1, 0},      /* not one, */
        {{1, 3, 2, 1500, 0, {0}}, 1, 0},      /* and no three stages. */
        {{1, 4, 2, 4000, 1600, {0}}, 5, 800}, /* at most half of a task */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct whatif_scene scene = firsts(cases[i].of);
        double found = (double)scene.whatif.run.first_ms[cases[i].stage];
        if (fabs(found - cases[i].first_ms) > 0.01)
            fail_msg("case %zu: %f", i, found);
        whatif_free(&scene);
    }
}

/* COLD_SHARE_MAX 0.9 of the 1.1 s that one of two took; the other took 9 s longer than later ones. */
static void test_very_first_tasks(void **state)
{
    (void)state;
    struct whatif_scene scene = firsts((struct firsts){2, 4, 2, 1500, 0, {10000, 1100}});
    const struct pyro_predicted_run *run = &scene.whatif.run;
    bool found = false;
    for (size_t i = 0; i < run->first_count; i++)
        found |= fabs((double)run->firsts[i].extra_ms - 990) < 0.01;
    assert_true(run->cold_ms > 990);
    assert_true(found);
    whatif_free(&scene);
}

static const int64_t parents[] = {0, 1};

/* A join of a second behind two stages of a second; it waited `fetch_ms` for blocks. */
static double joined(int64_t fetch_ms, const char *threshold)
{
    struct whatif_scene scene = whatif_scene(20000);
    fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    fixture_property(scene.app, "spark", "spark.sql.autoBroadcastJoinThreshold", "-1");
    for (int s = 0; s < 3; s++) {
        whatif_stage(&scene, s * 1000, s * 1000 + 1000);
        scene.app->jobs.items[s].sql = 0;
        scene.app->stages.items[s].partitions = 1;
        struct fixture_task task = whatif_task(&scene, s * 1000, s * 1000 + 1000);
        task.row[PYRO_TASK_run_ms] = 1000;
        task.row[PYRO_TASK_fetch_wait_ms] = s == 2 ? fetch_ms : 0;
        *(s < 2 ? &task.row[PYRO_TASK_shuffle_write_bytes] : &task.row[PYRO_TASK_shuffle_local_bytes]) =
            s == 0   ? 20 * MB
            : s == 1 ? 2 * MB
                     : 22 * MB;
        fixture_add(scene.app, &task);
    }
    fixture_parents(scene.app, 2, parents, 2);
    whatif_query(&scene, "SortMergeJoin");
    double busy = (double)whatif_answer(&scene, threshold, NULL)->busy_ms;
    whatif_free(&scene);
    return busy;
}

/* WRITE_SPARED 0.15 of the larger side's tasks, JOIN_SPARED 0.7 of the join's; LOST_MAX 0.95. */
static void test_broadcast(void **state)
{
    (void)state;
    assert_near(joined(0, "spark.sql.autoBroadcastJoinThreshold=10m"), 850 + 1000 + 300, 15);
    assert_near(joined(990, "spark.sql.autoBroadcastJoinThreshold=10m"), 850 + 1000 + 50, 1);
}

/* SHUFFLED 1.3: tasks that a program adds behind a shuffle of its own. */
static void test_code_that_cuts(void **state)
{
    (void)state;
    double busy[2];
    for (int own = 0; own < 2; own++) {
        struct whatif_scene scene = whatif_scene(100000);
        fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
        whatif_stage(&scene, 0, 90000);
        struct fixture_task task = whatif_task(&scene, 0, 80000);
        task.row[PYRO_TASK_input_bytes] = 100 * MB;
        fixture_add(scene.app, &task);
        whatif_answer(&scene, NULL, NULL);
        struct pyro_edit edit = {.kind = PYRO_EDIT_REPARTITION, .row = 0, .count = 8, .factor = own ? 0 : 1};
        struct pyro_scenario fixed = {.brief = true, .code = &edit, .code_count = 1};
        struct pyro_whatif *whatif = &scene.whatif;
        assert_int_equal(pyro_predict(&whatif->run, whatif->run.replay, &whatif->arena, &fixed, NULL), PYRO_OK);
        busy[own] = (double)fixed.busy_ms;
        whatif_free(&scene);
    }
    assert_near(busy[1] / busy[0], 1.3, 0.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_processors), cmocka_unit_test(test_far_tasks),
        cmocka_unit_test(test_first_tasks),       cmocka_unit_test(test_very_first_tasks),
        cmocka_unit_test(test_broadcast),         cmocka_unit_test(test_code_that_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
