/* Replays of small runs whose answers are computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/strings/intern.h"
#include "fixture.h"
#include "replay/replay.h"

enum { START = 1000000 };

static const int64_t ids[] = {0, 1, 2, 3};

static struct pyro_replay *prepare(struct pyro_app *app)
{
    struct pyro_replay *replay = NULL;
    fixture_analyze(app);
    assert_int_equal(pyro_replay_new(app, &replay, NULL), PYRO_OK);
    return replay;
}

static void finish(struct pyro_app *app, struct pyro_replay *replay)
{
    pyro_replay_free(replay);
    pyro_app_release(app);
}

static int64_t wall_with(struct pyro_replay *replay, struct pyro_edit edit, struct pyro_replay_span *jobs)
{
    struct pyro_replay_change change = {.edits = &edit, .edit_count = 1, .jobs = jobs};
    struct pyro_replay_result result, again;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    /* An edit leaves nothing behind. */
    assert_int_equal(pyro_replay_run(replay, NULL, &again, NULL), PYRO_OK);
    assert_int_equal(again.wall_ms, pyro_replay_base(replay).wall_ms);
    assert_int_equal(again.core_ms, pyro_replay_base(replay).core_ms);
    return result.wall_ms;
}

static void task(struct pyro_app *app, int64_t stage, int64_t place, int64_t from, int64_t to)
{
    struct fixture_task one = fixture_task(app, stage, "1", START + from, START + to);
    one.row[PYRO_TASK_index] = place;
    fixture_add(app, &one);
}

static void set_pool(struct pyro_app *app, size_t stage, const char *name)
{
    app->stages.items[stage].pool = pyro_intern_slice(app->strings, pyro_slice_from(name));
}

/* Two jobs at once on two slots: stage 0 of four tasks, stage 1 of two, 100 ms each. */
static struct pyro_app *two_jobs(int64_t end_0, int64_t end_1)
{
    struct pyro_app *app = fixture_app(START, START + 400);
    fixture_executor(app, "1", 2, START, PYRO_NONE);
    fixture_job(app, 0, START, START + end_0, ids, 1);
    fixture_job(app, 1, START + 10, START + end_1, ids + 1, 1);
    fixture_stage(app, 0, START, START + end_0);
    fixture_stage(app, 1, START + 10, START + end_1);
    return app;
}

static void test_fifo(void **state)
{
    (void)state;
    struct pyro_app *app = two_jobs(200, 300);
    for (int i = 0; i < 4; i++)
        task(app, 0, i, i / 2 * 100, i / 2 * 100 + 100);
    task(app, 1, 0, 200, 300);
    task(app, 1, 1, 200, 300);
    struct pyro_replay *replay = prepare(app);
    struct pyro_replay_span jobs[2];
    struct pyro_replay_change change = {.jobs = jobs};
    struct pyro_replay_result result;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.wall_ms, 400);
    assert_int_equal(result.busy_ms, 600);
    assert_int_equal(result.core_ms, 800);
    assert_true(result.utilization > 0.749 && result.utilization < 0.751);
    assert_int_equal(jobs[0].end_ms, 200);
    assert_int_equal(jobs[1].start_ms, 10);
    assert_int_equal(jobs[1].end_ms, 300);
    assert_int_equal(pyro_replay_check(replay).worst_job_ms, 0);
    /* Stage 0 in half the time: job 1 gets its slots at 100 and ends at 200. */
    assert_int_equal(wall_with(replay, (struct pyro_edit){.kind = PYRO_EDIT_STAGE, .row = 0, .factor = 0.5}, jobs),
                     300);
    assert_int_equal(jobs[0].end_ms, 100);
    assert_int_equal(jobs[1].end_ms, 200);
    finish(app, replay);
}

static void test_fair_pools(void **state)
{
    (void)state;
    struct pyro_app *app = two_jobs(300, 300);
    fixture_property(app, "spark", "spark.scheduler.mode", "FAIR");
    set_pool(app, 0, "a");
    set_pool(app, 1, "b");
    task(app, 0, 0, 0, 100);
    task(app, 0, 1, 0, 100);
    for (int i = 0; i < 2; i++) {
        task(app, 0, 2 + i, 100 + i * 100, 200 + i * 100);
        task(app, 1, i, 100 + i * 100, 200 + i * 100);
    }
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 400);
    assert_int_equal(pyro_replay_check(replay).worst_job_ms, 0);
    finish(app, replay);
}

/* The same in one pool, FIFO inside: job 0 first. The record decides which of the two it was. */
static void test_fair_inside(void **state)
{
    (void)state;
    for (int fair = 0; fair < 2; fair++) {
        struct pyro_app *app = two_jobs(fair ? 300 : 200, 300);
        fixture_property(app, "spark", "spark.scheduler.mode", "FAIR");
        for (int i = 0; i < 4; i++)
            task(app, 0, i, i / 2 * 100, i / 2 * 100 + 100);
        task(app, 1, 0, 200, 300);
        task(app, 1, 1, 200, 300);
        struct pyro_replay *replay = prepare(app);
        assert_int_equal(pyro_replay_check(replay).worst_job_ms, 0);
        finish(app, replay);
    }
}

/* One slot that comes at 500 for two tasks submitted at the start. */
static void test_executors_come_late(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 800);
    fixture_executor(app, "1", 1, START + 500, PYRO_NONE);
    fixture_job(app, 0, START, START + 700, ids, 1);
    fixture_stage(app, 0, START, START + 700);
    task(app, 0, 0, 500, 600);
    task(app, 0, 1, 600, 700);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 800);
    assert_int_equal(pyro_replay_base(replay).core_ms, 300);
    struct pyro_edit edit = {.kind = PYRO_EDIT_EXECUTORS, .from_ms = START + 100, .to_ms = START + 600};
    assert_int_equal(wall_with(replay, edit, NULL), 400);
    edit.to_ms = START + 500; /* not in the span */
    assert_int_equal(wall_with(replay, edit, NULL), 800);
    edit = (struct pyro_edit){.kind = PYRO_EDIT_EXECUTOR, .from_ms = START + 50, .to_ms = PYRO_NONE};
    assert_int_equal(wall_with(replay, edit, NULL), 350);
    /* Two executors of one core from the start. */
    struct pyro_replay_executor others[] = {{.removed_ms = PYRO_NONE, .cores = 1},
                                            {.removed_ms = PYRO_NONE, .cores = 1}};
    struct pyro_replay_change change = {.executors = others, .executor_count = 2};
    struct pyro_replay_result result;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.wall_ms, 200);
    assert_int_equal(result.core_ms, 400);
    /* None at all: it ends nevertheless. */
    change.executor_count = 0;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_true(result.wall_ms > 0);
    others[0].cores = 0;
    change.executor_count = 1;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.wall_ms, 300);
    finish(app, replay);
}

/* An executor that left before the second job takes no part in it, however soon that comes. */
static void test_executor_leaves(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 500);
    fixture_executor(app, "1", 1, START, PYRO_NONE);
    fixture_executor(app, "2", 1, START, START + 250);
    fixture_job(app, 0, START, START + 100, ids, 1);
    fixture_job(app, 1, START + 200, START + 400, ids + 1, 1);
    fixture_stage(app, 0, START, START + 100);
    fixture_stage(app, 1, START + 200, START + 400);
    task(app, 0, 0, 0, 100);
    struct fixture_task other = fixture_task(app, 0, "2", START, START + 100);
    other.row[PYRO_TASK_index] = 1;
    fixture_add(app, &other);
    task(app, 1, 0, 200, 300);
    task(app, 1, 1, 300, 400);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 500);
    assert_int_equal(pyro_replay_base(replay).core_ms, 500 + 250);
    /* Half the driver's time between the jobs: 50 ms. */
    struct pyro_edit edit = {.kind = PYRO_EDIT_DRIVER, .from_ms = START + 100, .to_ms = START + 200, .factor = 0.5};
    assert_int_equal(wall_with(replay, edit, NULL), 450);
    finish(app, replay);
}

static void test_retries_and_copies(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 1000);
    fixture_executor(app, "1", 2, START, PYRO_NONE);
    fixture_job(app, 0, START, START + 150, ids, 1);
    fixture_job(app, 1, START + 150, START + 1000, ids + 1, 1);
    fixture_stage(app, 0, START, START + 150);
    fixture_stage(app, 1, START + 150, START + 1000);
    struct fixture_task failed = fixture_task(app, 0, "1", START, START + 50);
    failed.row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    fixture_add(app, &failed);
    struct fixture_task again = fixture_task(app, 0, "1", START + 50, START + 150);
    again.row[PYRO_TASK_attempt] = 1;
    fixture_add(app, &again);
    /* The original is killed after 850 ms, when its copy is done after 300: it began 550 ms later. */
    struct fixture_task slow = fixture_task(app, 1, "1", START + 150, START + 1000);
    slow.row[PYRO_TASK_status] = PYRO_TASK_KILLED;
    fixture_add(app, &slow);
    struct fixture_task copy = fixture_task(app, 1, "1", START + 700, START + 1000);
    copy.row[PYRO_TASK_attempt] = 1;
    copy.row[PYRO_TASK_speculative] = 1;
    fixture_add(app, &copy);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 1000);
    assert_int_equal(pyro_replay_base(replay).busy_ms, 50 + 100 + 850 + 300);
    /* Without the failure 50 ms less. */
    assert_int_equal(wall_with(replay, (struct pyro_edit){.kind = PYRO_EDIT_TASK, .row = 0, .ms = 0}, NULL), 950);
    finish(app, replay);
}

static struct pyro_edit no_task(size_t row)
{
    return (struct pyro_edit){.kind = PYRO_EDIT_NO_TASK, .row = row};
}

static void add_run(struct pyro_app *app, int64_t place, int64_t attempt, int64_t from, int64_t to,
                    enum pyro_task_status status)
{
    struct fixture_task one = fixture_task(app, 0, "1", START + from, START + to);
    one.row[PYRO_TASK_index] = place;
    one.row[PYRO_TASK_attempt] = attempt;
    one.row[PYRO_TASK_status] = status;
    fixture_add(app, &one);
}

/* Two partitions on one slot; the second fails twice. */
static void test_tasks_not_run(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 500);
    fixture_executor(app, "1", 1, START, PYRO_NONE);
    fixture_job(app, 0, START, START + 480, ids, 1);
    fixture_stage(app, 0, START, START + 480);
    add_run(app, 0, 0, 0, 100, PYRO_TASK_SUCCESS);
    add_run(app, 1, 0, 100, 200, PYRO_TASK_FAILED);
    add_run(app, 1, 1, 200, 330, PYRO_TASK_FAILED);
    add_run(app, 1, 2, 330, 480, PYRO_TASK_SUCCESS);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 500);
    assert_int_equal(wall_with(replay, no_task(1), NULL), 400); /* the second attempt comes first */
    assert_int_equal(wall_with(replay, no_task(2), NULL), 370);
    assert_int_equal(wall_with(replay, no_task(0), NULL), 500); /* an executor must do it */
    struct pyro_edit gone = no_task(0);
    gone.count = 1;
    assert_int_equal(wall_with(replay, gone, NULL), 400);
    struct pyro_edit edits[] = {no_task(1), no_task(2), no_task(1), no_task(3), no_task(0)};
    struct pyro_replay_change change = {.edits = edits, .edit_count = 3};
    struct pyro_replay_result result;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.wall_ms, 270);
    assert_int_equal(result.busy_ms, 250);
    change.edit_count = 5;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.wall_ms, 270);
    assert_int_equal(wall_with(replay, no_task(9), NULL), 500);
    finish(app, replay);
}

/* A stage that failed with its task goes on when that is not run. */
static void test_fatal_task_not_run(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 100);
    fixture_executor(app, "1", 1, START, PYRO_NONE);
    fixture_job(app, 0, START, START + 100, ids, 1);
    fixture_stage(app, 0, START, START + 100);
    app->stages.items[0].failure = PYRO_SLICE_LITERAL("FetchFailed");
    add_run(app, 0, 0, 0, 40, PYRO_TASK_SUCCESS);
    struct fixture_task fatal = fixture_task(app, 0, "1", START + 40, START + 90);
    fatal.row[PYRO_TASK_index] = 1;
    fatal.row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    fatal.row[PYRO_TASK_reason] = pyro_intern(app->strings, PYRO_SLICE_LITERAL("FetchFailed"));
    fixture_add(app, &fatal);
    add_run(app, 2, 0, 90, 100, PYRO_TASK_SUCCESS);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 100);
    assert_int_equal(wall_with(replay, no_task(1), NULL), 110);
    struct pyro_edit gone = no_task(1);
    gone.count = 1;
    assert_int_equal(wall_with(replay, gone, NULL), 60); /* 10 until the stage begins */
    finish(app, replay);
}

/* The copy replaces an original that is not run. */
static void test_original_not_run(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 900);
    fixture_executor(app, "1", 2, START, PYRO_NONE);
    fixture_job(app, 0, START, START + 900, ids, 1);
    fixture_stage(app, 0, START, START + 900);
    add_run(app, 0, 0, 0, 900, PYRO_TASK_KILLED);
    struct fixture_task copy = fixture_task(app, 0, "1", START + 600, START + 900);
    copy.row[PYRO_TASK_attempt] = 1;
    copy.row[PYRO_TASK_speculative] = 1;
    fixture_add(app, &copy);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 900);
    assert_int_equal(wall_with(replay, no_task(0), NULL), 300);
    assert_int_equal(wall_with(replay, no_task(1), NULL), 900);
    finish(app, replay);
}

/* A task fails when its copy succeeds, whose output is lost: both have the third attempt behind them, which runs once.
 */
static void test_attempt_behind_two(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 200);
    fixture_executor(app, "1", 2, START, PYRO_NONE);
    fixture_job(app, 0, START, START + 200, ids, 1);
    fixture_stage(app, 0, START, START + 200);
    add_run(app, 0, 0, 0, 100, PYRO_TASK_FAILED);
    struct fixture_task copy = fixture_task(app, 0, "1", START + 50, START + 100);
    copy.row[PYRO_TASK_attempt] = 1;
    copy.row[PYRO_TASK_speculative] = 1;
    fixture_add(app, &copy);
    add_run(app, 0, 2, 100, 200, PYRO_TASK_SUCCESS);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 200);
    assert_int_equal(pyro_replay_base(replay).busy_ms, 100 + 50 + 100);
    finish(app, replay);
}

/* One of two executors is lost after 100 ms; five tasks of 100 ms. */
static void test_one_executor(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 400);
    fixture_executor(app, "1", 1, START, PYRO_NONE);
    fixture_executor(app, "2", 1, START, START + 100);
    fixture_job(app, 0, START, START + 400, ids, 1);
    fixture_stage(app, 0, START, START + 400);
    for (int i = 0; i < 5; i++)
        task(app, 0, i, 0, 100);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 400);
    assert_int_equal(pyro_replay_base(replay).core_ms, 400 + 100);
    struct pyro_edit edit = {.kind = PYRO_EDIT_EXECUTOR, .row = 1, .from_ms = PYRO_NONE, .to_ms = START + 150};
    struct pyro_replay_change change = {.edits = &edit, .edit_count = 1};
    struct pyro_replay_result result;
    assert_int_equal(wall_with(replay, edit, NULL), 300);
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.core_ms, 300 + 150);
    edit.to_ms = INT64_MAX; /* to the end */
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.wall_ms, 300);
    assert_int_equal(result.core_ms, 600);
    edit.row = 0; /* never: no executor is left, and the one that was lost comes again */
    edit.from_ms = edit.to_ms = START;
    assert_int_equal(pyro_replay_run(replay, &change, &result, NULL), PYRO_OK);
    assert_int_equal(result.wall_ms, 500);
    assert_int_equal(result.core_ms, 100);
    edit.row = 1;
    assert_int_equal(wall_with(replay, edit, NULL), 500);
    finish(app, replay);
}

/* Two threads: the driver's time counts only where no stage ran, and only in stretches that are long enough. */
static void test_driver_alone(void **state)
{
    (void)state;
    static const int64_t zero[] = {0};
    struct pyro_app *app = fixture_app(START, START + 900);
    fixture_executor(app, "1", 2, START, PYRO_NONE);
    fixture_job(app, 0, START + 100, START + 650, ids, 2);
    fixture_job(app, 1, START + 100, START + 300, ids + 2, 1);
    fixture_stage(app, 0, START + 100, START + 200);
    fixture_stage(app, 1, START + 500, START + 600); /* 300 ms behind the stage before, 200 of them alone */
    fixture_stage(app, 2, START + 100, START + 300);
    fixture_parents(app, 1, zero, 1);
    task(app, 0, 0, 100, 200);
    task(app, 1, 0, 500, 600);
    task(app, 2, 0, 100, 300);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 900);
    struct pyro_edit edit = {.kind = PYRO_EDIT_ALONE, .from_ms = START, .to_ms = START + 900, .factor = 0};
    /* 100 at the start, 200 in the middle, 50 behind the last stage, 250 behind the last job */
    assert_int_equal(wall_with(replay, edit, NULL), 900 - 100 - 200 - 50 - 250);
    edit.factor = 0.5;
    assert_int_equal(wall_with(replay, edit, NULL), 600);
    edit.ms = 150;
    assert_int_equal(wall_with(replay, edit, NULL), 900 - 250);
    edit.to_ms = START + 450; /* then 150 of the second stretch */
    assert_int_equal(wall_with(replay, edit, NULL), 900 - 75);
    edit.kind = PYRO_EDIT_DRIVER;
    edit.from_ms = START + 200;
    assert_int_equal(wall_with(replay, edit, NULL), 900 - 125);
    finish(app, replay);
}

/* Three sequential jobs of one task: 100, 200, 300 ms, 50 ms of the driver before each and behind the last. */
static struct pyro_app *three_jobs(void)
{
    struct pyro_app *app = fixture_app(START, START + 800);
    fixture_executor(app, "1", 4, START, PYRO_NONE);
    static const int64_t from[] = {50, 200, 450}, to[] = {150, 400, 750};
    for (int i = 0; i < 3; i++) {
        fixture_job(app, i, START + from[i], START + to[i], ids + i, 1);
        fixture_stage(app, i, START + from[i], START + to[i]);
        task(app, i, 0, from[i], to[i]);
    }
    return app;
}

static void test_edits(void **state)
{
    (void)state;
    struct pyro_app *app = three_jobs();
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 800);
    struct pyro_edit task_edit = {.kind = PYRO_EDIT_TASK, .row = 2, .ms = 120};
    assert_int_equal(wall_with(replay, task_edit, NULL), 800 - 180);
    struct pyro_edit cut = {.kind = PYRO_EDIT_REPARTITION, .row = 2, .count = 6, .ms = 50};
    assert_int_equal(wall_with(replay, cut, NULL), 800 - 300 + 100); /* two waves on four slots */
    struct pyro_edit skip = {.kind = PYRO_EDIT_SKIP_STAGE, .row = 1};
    assert_int_equal(wall_with(replay, skip, NULL), 800 - 200);
    struct pyro_edit later = {.kind = PYRO_EDIT_LATER, .row = 1, .ms = 40};
    assert_int_equal(wall_with(replay, later, NULL), 800 + 40);
    struct pyro_edit driver = {.kind = PYRO_EDIT_DRIVER, .from_ms = START, .to_ms = START + 800, .factor = 0};
    assert_int_equal(wall_with(replay, driver, NULL), 600);
    driver.from_ms = START + 175; /* half of the second gap */
    driver.to_ms = START + 300;
    assert_int_equal(wall_with(replay, driver, NULL), 775);
    struct pyro_edit concurrent = {.kind = PYRO_EDIT_CONCURRENT, .from_ms = START, .to_ms = START + 800};
    struct pyro_replay_span jobs[3];
    assert_int_equal(wall_with(replay, concurrent, jobs), 50 + 300 + 50);
    assert_int_equal(jobs[1].start_ms, 50);
    assert_int_equal(jobs[2].end_ms, 350);
    concurrent.from_ms = START + 100; /* the last two: both wait for the first one, and 50 ms */
    assert_int_equal(wall_with(replay, concurrent, NULL), 150 + 50 + 300 + 50);
    finish(app, replay);
}

static void test_edits_of_nothing(void **state)
{
    (void)state;
    struct pyro_app *app = three_jobs();
    struct pyro_replay *replay = prepare(app);
    for (int kind = PYRO_EDIT_TASK; kind <= PYRO_EDIT_ALONE; kind++)
        assert_int_equal(wall_with(replay,
                                   (struct pyro_edit){.kind = (enum pyro_edit_kind)kind,
                                                      .row = SIZE_MAX,
                                                      .count = INT64_MIN,
                                                      .from_ms = INT64_MAX,
                                                      .to_ms = INT64_MIN,
                                                      .factor = 1},
                                   NULL),
                         800);
    /* More partitions than anybody can run: as long as their work takes. */
    struct pyro_edit many = {.kind = PYRO_EDIT_REPARTITION, .row = 2, .count = INT64_MAX, .ms = 1e300};
    assert_true(wall_with(replay, many, NULL) > 800);
    many.count = 4000000;
    many.ms = 1;
    int64_t wall = wall_with(replay, many, NULL);
    assert_in_range(wall, 500 + 1000000 - 1000, 500 + 1000000 + 1000);
    finish(app, replay);
}

/* A diamond of stages in one job; stage 3 needs 1 and 2. Stage 2 is not on the longest path. */
static void test_stage_graph(void **state)
{
    (void)state;
    static const int64_t zero[] = {0}, both[] = {1, 2};
    struct pyro_app *app = fixture_app(START, START + 600);
    fixture_executor(app, "1", 2, START, PYRO_NONE);
    fixture_job(app, 0, START, START + 600, ids, 4);
    fixture_stage(app, 0, START, START + 100);
    fixture_stage(app, 1, START + 110, START + 410);
    fixture_stage(app, 2, START + 110, START + 210);
    fixture_stage(app, 3, START + 420, START + 600);
    fixture_parents(app, 1, zero, 1);
    fixture_parents(app, 2, zero, 1);
    fixture_parents(app, 3, both, 2);
    task(app, 0, 0, 0, 100);
    task(app, 1, 0, 110, 410);
    task(app, 2, 0, 110, 210);
    task(app, 3, 0, 420, 600);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 600);
    assert_int_equal(wall_with(replay, (struct pyro_edit){.kind = PYRO_EDIT_SKIP_STAGE, .row = 2}, NULL), 600);
    assert_int_equal(wall_with(replay, (struct pyro_edit){.kind = PYRO_EDIT_STAGE, .row = 1, .factor = 0.5}, NULL),
                     450);
    /* Below the other branch, that one is the longest: 300 - 100 saved at most. */
    assert_int_equal(wall_with(replay, (struct pyro_edit){.kind = PYRO_EDIT_STAGE, .row = 1, .factor = 0}, NULL), 400);
    finish(app, replay);
}

/* Only damaged logs hold cycles and stages that wait for what comes later. */
static void test_cycle(void **state)
{
    (void)state;
    static const int64_t to_one[] = {1}, to_zero[] = {0, 0, 77};
    struct pyro_app *app = fixture_app(START, START + 100);
    fixture_job(app, 0, START + 100, START, ids, 2);
    fixture_stage(app, 0, START, START);
    fixture_stage(app, 1, START, START);
    fixture_parents(app, 0, to_one, 1);
    fixture_parents(app, 1, to_zero, 3);
    task(app, 0, 0, 0, 50);
    task(app, 1, 0, 0, 50);
    struct pyro_replay *replay = prepare(app);
    assert_true(pyro_replay_base(replay).wall_ms >= 0);
    finish(app, replay);
}

static void test_empty(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(START, START + 1234);
    struct pyro_replay *replay = prepare(app);
    assert_int_equal(pyro_replay_base(replay).wall_ms, 1234);
    assert_int_equal(pyro_replay_base(replay).core_ms, 0);
    finish(app, replay);
}

/* What the log does not say is estimated, up to a limit: a run of stages of 100 ms, one behind the other, each as long
 * as said; executors come at `added`. Wall time of its replay. */
static int64_t estimated(int64_t added, int64_t begin, int stages, const int64_t *lengths, bool failed)
{
    struct pyro_app *app = fixture_app(START, START);
    int64_t at = begin;
    fixture_executor(app, "1", 1, START + added, PYRO_NONE);
    for (int s = 0; s < stages; s++) {
        fixture_job(app, s, START + at, START + at + lengths[s], ids + s, 1);
        fixture_stage(app, s, START + at, START + at + lengths[s]);
        struct fixture_task one = fixture_task(app, s, "1", START + at + lengths[s] - 100, START + at + lengths[s]);
        if (s == 0 && failed) {
            struct fixture_task first = one;
            first.row[PYRO_TASK_status] = PYRO_TASK_FAILED;
            fixture_add(app, &first);
            one.row[PYRO_TASK_id] = 1000;
            one.row[PYRO_TASK_attempt] = 1;
        }
        fixture_add(app, &one);
        at += lengths[s];
    }
    app->application.end_ms = START + at;
    struct pyro_replay *replay = prepare(app);
    int64_t wall = pyro_replay_base(replay).wall_ms;
    finish(app, replay);
    return wall;
}

static void test_estimates_are_limited(void **state)
{
    (void)state;
    /* START_MAX_US 0.5 s of 0.7 s, which the first stage takes too; FIRST_START_MAX_US 10 s of 11.9 s, and 1 s where
     * one of two attempts failed (FIRST_START_FAILED_MAX_US) */
    assert_int_equal(estimated(0, 0, 2, (int64_t[]){100, 900}, false), 2 * 600);
    assert_int_equal(estimated(0, 0, 1, (int64_t[]){12000}, false), 10000 + 100);
    assert_int_equal(estimated(0, 0, 1, (int64_t[]){4000}, true), 1000 + 2 * 100);
    /* EXECUTOR_START_MAX_US 2 s after it registered, where a stage waited; EXECUTOR_START_US 0.4 s where none did */
    assert_int_equal(estimated(1000, 0, 1, (int64_t[]){4000}, false), 1000 + 2000 + 100);
    assert_int_equal(estimated(1000, 1100, 1, (int64_t[]){100}, false), 1000 + 400 + 100);
}

/* DISPATCH_MAX_US 0.1 s: tasks of 100 ms begin 50 and 150 ms after the one before ended. */
static void test_dispatch_is_limited(void **state)
{
    (void)state;
    for (int64_t pause = 50; pause <= 150; pause += 100) {
        const int64_t end = 70 * (100 + pause);
        struct pyro_app *app = fixture_app(START, START + end);
        fixture_executor(app, "1", 1, START, PYRO_NONE);
        fixture_job(app, 0, START, START + end, ids, 1);
        fixture_stage(app, 0, START, START + end);
        for (int i = 0; i < 70; i++)
            task(app, 0, i, i * (100 + pause), i * (100 + pause) + 100);
        struct pyro_replay *replay = prepare(app);
        assert_true(llabs(pyro_replay_base(replay).wall_ms - 70 * (100 + (pause < 100 ? pause : 100))) <= 200);
        finish(app, replay);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fifo),
        cmocka_unit_test(test_fair_pools),
        cmocka_unit_test(test_fair_inside),
        cmocka_unit_test(test_executors_come_late),
        cmocka_unit_test(test_executor_leaves),
        cmocka_unit_test(test_retries_and_copies),
        cmocka_unit_test(test_tasks_not_run),
        cmocka_unit_test(test_fatal_task_not_run),
        cmocka_unit_test(test_original_not_run),
        cmocka_unit_test(test_attempt_behind_two),
        cmocka_unit_test(test_one_executor),
        cmocka_unit_test(test_driver_alone),
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_edits_of_nothing),
        cmocka_unit_test(test_stage_graph),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_estimates_are_limited),
        cmocka_unit_test(test_dispatch_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
