/* Executors that are lost in small runs whose answers are computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"
#include "replay/replay.h"

enum { START = 1000000, STAGES_MAX = 3 };

static const int64_t ids[STAGES_MAX] = {0, 1, 2};

struct scene {
    struct pyro_app *app;
    struct pyro_replay *replay;
};

/* Two executors of one slot; each stage reads the one before it, and has `tasks` tasks of a second. Stages of SQL
 * executions (`sql`: their ids) do not name what they read, as under adaptive execution. */
static struct scene chain_of(const int *tasks, const int64_t *sql, int stages)
{
    struct scene scene = {.app = fixture_app(START, START)};
    int64_t at = START;
    fixture_executor(scene.app, "1", 1, START, PYRO_NONE);
    fixture_executor(scene.app, "2", 1, START, PYRO_NONE);
    for (int s = 0; s < stages; s++) {
        int64_t end = at + 1000 * ((tasks[s] + 1) / 2);
        struct pyro_stage *stage = fixture_stage(scene.app, s, at, end);
        stage->shuffle_write_bytes = s + 1 < stages ? 100 : 0;
        stage->shuffle_read_bytes = s > 0 ? 100 : 0;
        if (sql)
            stage->sql = sql[s];
        else if (s > 0)
            fixture_parents(scene.app, s, ids + s - 1, 1);
        for (int i = 0; i < tasks[s]; i++) {
            struct fixture_task task =
                fixture_task(scene.app, s, i % 2 ? "2" : "1", at + i / 2 * 1000, at + i / 2 * 1000 + 1000);
            task.row[PYRO_TASK_index] = i;
            task.row[PYRO_TASK_shuffle_write_bytes] = s + 1 < stages ? 100 : 0;
            task.row[PYRO_TASK_shuffle_local_bytes] = s > 0 ? 100 : 0;
            fixture_add(scene.app, &task);
        }
        at = end;
    }
    scene.app->application.end_ms = at;
    for (int s = 0; sql && s < stages; s++) {
        const struct pyro_stage *stage = &scene.app->stages.items[s];
        fixture_job(scene.app, s, stage->submitted_ms, stage->completed_ms, ids + s, 1)->sql = sql[s];
    }
    if (!sql)
        fixture_job(scene.app, 0, START, at, ids, (uint32_t)stages);
    fixture_analyze(scene.app);
    assert_int_equal(pyro_replay_new(scene.app, &scene.replay, NULL), PYRO_OK);
    assert_int_equal(pyro_replay_base(scene.replay).wall_ms, at - START);
    return scene;
}

static struct scene chain(const int *tasks, int stages)
{
    return chain_of(tasks, NULL, stages);
}

static struct pyro_replay_result run(const struct scene *scene, const struct pyro_replay_executor *executors,
                                     size_t count)
{
    struct pyro_replay_change change = {.executors = executors, .executor_count = count};
    struct pyro_replay_result result, again;
    assert_int_equal(pyro_replay_run(scene->replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(pyro_replay_run(scene->replay, &change, &again, NULL), PYRO_OK);
    assert_int_equal(again.wall_ms, result.wall_ms);
    assert_int_equal(pyro_replay_run(scene->replay, NULL, &again, NULL), PYRO_OK);
    assert_int_equal(again.wall_ms, pyro_replay_base(scene->replay).wall_ms);
    assert_int_equal(again.damage.tasks, 0);
    return result;
}

static void finish(struct scene *scene)
{
    pyro_replay_free(scene->replay);
    pyro_app_release(scene->app);
}

/* The first one stays, the second one is lost. */
static struct pyro_replay_result lose(const struct scene *scene, int64_t at, int64_t drain, bool keeps)
{
    const struct pyro_replay_executor executors[] = {
        {.removed_ms = PYRO_NONE, .cores = 1},
        {.removed_ms = at, .cores = 1, .lost = true, .drain_ms = drain, .keeps_output = keeps}};
    return run(scene, executors, 2);
}

/* Four map tasks, then two reduce tasks: 2 + 1 s. */
static void test_one_is_lost(void **state)
{
    (void)state;
    struct scene scene = chain((const int[]){4, 2}, 2);
    static const struct {
        int64_t at, drain;
        bool keeps;
        int64_t wall;
        size_t tasks, partitions, stages;
        uint32_t task_failures, stage_failures;
    } cases[] = {
        /* In its first task: the other one does all the rest, one by one. */
        {500, 0, false, 6000, 1, 0, 0, 1, 0},
        /* It had computed one partition, and is at the second one: both are run again while their stage runs. */
        {1500, 0, false, 6000, 1, 1, 0, 1, 0},
        {1500, 0, true, 5000, 1, 0, 0, 1, 0},
        /* In the reduce stage: one task is lost, the other one cannot fetch; 0.2 s later the two partitions are
         * computed again (2.7 to 4.7 s), then both tasks. */
        {2500, 0, false, 6700, 2, 2, 1, 1, 1},
        {2500, 0, true, 4000, 1, 0, 0, 1, 0},
        /* It is announced a second before: the reduce task does not go there. */
        {2500, 1000, true, 4000, 0, 0, 0, 0, 0},
        {2500, 1000, false, 6700, 1, 2, 1, 0, 1},
        /* Behind the end. */
        {3500, 0, false, 3000, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pyro_replay_result result = lose(&scene, cases[i].at, cases[i].drain, cases[i].keeps);
        if (result.wall_ms != cases[i].wall)
            fail_msg("case %zu: %lld ms", i, (long long)result.wall_ms);
        assert_int_equal(result.damage.executors, cases[i].at < cases[i].wall);
        assert_int_equal(result.damage.tasks, cases[i].tasks);
        assert_int_equal(result.damage.partitions, cases[i].partitions);
        assert_int_equal(result.damage.stages, cases[i].stages);
        assert_int_equal(result.damage.most_task_failures, cases[i].task_failures);
        assert_int_equal(result.damage.most_stage_failures, cases[i].stage_failures);
        /* The first one throughout, the second one until it was lost. */
        int64_t second = cases[i].at < cases[i].wall ? cases[i].at : cases[i].wall;
        assert_int_equal(result.core_ms, cases[i].wall + second);
    }
    finish(&scene);
}

/* Another one comes half a second later: it computes one of the two partitions from 3 s to 4 s, and a reduce task. */
static void test_replacement(void **state)
{
    (void)state;
    struct scene scene = chain((const int[]){4, 2}, 2);
    const struct pyro_replay_executor executors[] = {{.removed_ms = PYRO_NONE, .cores = 1},
                                                     {.removed_ms = 2500, .cores = 1, .lost = true},
                                                     {.added_ms = 3000, .removed_ms = PYRO_NONE, .cores = 1}};
    struct pyro_replay_result result = run(&scene, executors, 3);
    assert_int_equal(result.wall_ms, 5000);
    assert_int_equal(result.core_ms, 5000 + 2500 + 2000);
    finish(&scene);
}

/* What is run again needs what is lost as well: stage 0 from 2.7 s, stage 1 from 3.7 s, then both tasks of stage 2. */
static void test_lineage(void **state)
{
    (void)state;
    struct scene scene = chain((const int[]){2, 2, 2}, 3);
    struct pyro_replay_result result = lose(&scene, 2500, 0, false);
    assert_int_equal(result.wall_ms, 6700);
    assert_int_equal(result.damage.partitions, 2);
    assert_int_equal(result.damage.stages, 2);
    assert_int_equal(result.damage.most_stage_failures, 1);
    finish(&scene);
}

/* Stage 1 has not begun: stage 0 runs again before it, and nothing fails to fetch. */
static void test_found_out_before(void **state)
{
    (void)state;
    struct scene scene = chain((const int[]){2, 2, 2}, 3);
    /* Between stage 0 and stage 2, in stage 1: what stage 0 wrote is needed, what stage 1 has written so far is not
     * lost yet; the partition of stage 0 from 1.7 to 2.7 s, then two tasks of stage 1 and two of stage 2. */
    struct pyro_replay_result result = lose(&scene, 1500, 0, false);
    assert_int_equal(result.wall_ms, 6700);
    assert_int_equal(result.damage.stages, 1);
    finish(&scene);
}

/* Lost again and again: the limits that Spark gives up at are counted. */
static void test_again_and_again(void **state)
{
    (void)state;
    enum { TIMES = 4 };
    struct scene scene = chain((const int[]){2, 2}, 2);
    struct pyro_replay_executor executors[TIMES + 1];
    /* One at a time; each is lost in the middle of a task. */
    for (int i = 0; i < TIMES; i++)
        executors[i] =
            (struct pyro_replay_executor){.added_ms = i * 500, .removed_ms = i * 500 + 500, .cores = 1, .lost = true};
    executors[TIMES] = (struct pyro_replay_executor){.added_ms = 2000, .removed_ms = PYRO_NONE, .cores = 2};
    struct pyro_replay_result result = run(&scene, executors, TIMES + 1);
    assert_int_equal(result.damage.executors, TIMES);
    assert_int_equal(result.damage.tasks, TIMES);
    assert_true(result.damage.most_task_failures >= 2);
    assert_int_equal(result.wall_ms, 4000);
    finish(&scene);
}

/* Parents that adaptive execution does not name: what the query wrote before. */
static void test_unnamed_parents(void **state)
{
    (void)state;
    struct scene scene = chain((const int[]){4, 2}, 2);
    struct pyro_replay *other;
    static const int64_t never[] = {77};
    pyro_replay_free(scene.replay);
    fixture_parents(scene.app, 1, never, 1);
    assert_int_equal(pyro_replay_new(scene.app, &other, NULL), PYRO_OK);
    scene.replay = other;
    struct pyro_replay_result result = lose(&scene, 2500, 0, false);
    assert_int_equal(result.damage.partitions, 2);
    assert_int_equal(result.damage.stages, 1);
    assert_int_equal(result.wall_ms, 6700);
    finish(&scene);
}

/* A stage of a query reads what the query wrote before it. What it does not read may be lost: only a stage that fails
 * to fetch has it computed again. */
static void test_unnamed_parents_in_queries(void **state)
{
    (void)state;
    static const struct {
        int64_t sql[STAGES_MAX];
        int64_t wall;
        size_t stages;
    } cases[] = {
        {{7, 7, 7}, 6700, 2}, /* as in test_lineage() */
        {{6, 7, 7}, 5700, 1},
        {{6, 7, 8}, 4000, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = chain_of((const int[]){2, 2, 2}, cases[i].sql, STAGES_MAX);
        struct pyro_replay_result result = lose(&scene, 2500, 0, false);
        assert_int_equal(result.wall_ms, cases[i].wall);
        assert_int_equal(result.damage.stages, cases[i].stages);
        finish(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_is_lost),
        cmocka_unit_test(test_replacement),
        cmocka_unit_test(test_lineage),
        cmocka_unit_test(test_found_out_before),
        cmocka_unit_test(test_again_and_again),
        cmocka_unit_test(test_unnamed_parents),
        cmocka_unit_test(test_unnamed_parents_in_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
