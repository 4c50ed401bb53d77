/* What the simulator estimates of a run, and its chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"
#include "replay/replay.h"
#include "replay/times.h"

enum { START = 1000000, TASKS = 72 };

/* 72 tasks of 100 ms on `slots` slots, each 50 ms after the one before. The time of the run with a slot for each. */
static int64_t one_wave(int slots)
{
    static const int64_t ids[] = {0};
    struct pyro_app *app = fixture_app(START, START + 600);
    struct pyro_replay *replay = NULL;
    const struct pyro_replay_executor executor = {.removed_ms = PYRO_NONE, .cores = TASKS};
    const struct pyro_replay_change change = {.executors = &executor, .executor_count = 1};
    struct pyro_replay_result result;
    fixture_executor(app, "1", slots, START, PYRO_NONE);
    fixture_job(app, 0, START, START + 600, ids, 1);
    fixture_stage(app, 0, START, START + 600);
    for (int i = 0; i < TASKS; i++) {
        struct fixture_task task =
            fixture_task(app, 0, "1", START + i / slots * 150 + 50, START + i / slots * 150 + 150);
        task.row[PYRO_TASK_index] = i;
        fixture_add(app, &task);
    }
    fixture_analyze(app);
    assert_int_equal(pyro_replay_new(app, &replay, NULL), PYRO_OK);
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    pyro_replay_free(replay);
    pyro_app_release(app);
    return result.wall_ms;
}

/* Of a stage with four waves or more, what is left over is time between tasks; of others, the stage's start. */
static void test_waves(void **state)
{
    (void)state;
    assert_int_equal(one_wave(18), 50 + 100);
    assert_int_equal(one_wave(19), 4 * 50 + 100);
}

static void test_chance_is_normal(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        double drawn = (double)replay_chance(7, (uint64_t)i) / (1 << REPLAY_FACTOR_BITS);
        sum += drawn;
        squares += drawn * drawn;
    }
    assert_true(fabs(sum / DRAWS) < 0.01);
    assert_true(fabs(squares / DRAWS - 1) < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_chance_is_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
