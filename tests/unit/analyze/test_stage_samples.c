#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/tracks/stage_samples.h"
#include "fixture.h"
#include "model/column.h"
#include "model/tracks/tracks.h"

enum { MS = 1000000 };

#define TASK "org.apache.spark.executor.Executor$TaskRunner.run"

/* An application with stages 4 and 5, and a thread of its executor that works for them in turn, a second each. */
struct scene {
    struct pyro_app *app;
    struct pyro_arena arena;
    int32_t thread;
};

static void begin(struct scene *scene)
{
    const struct pyro_thread_row thread = {
        .parent = -1, .clock = -1, .pid = 7, .tid = 1, .executor = PYRO_SLICE_LITERAL("1")};
    scene->app = fixture_app(0, 2000);
    fixture_stage(scene->app, 4, 0, 1000);
    fixture_stage(scene->app, 5, 1000, 2000);
    scene->app->tracks = pyro_tracks_new(NULL);
    scene->thread = pyro_tracks_add_thread(scene->app->tracks, &thread);
    for (int64_t i = 0; i < 2; i++) {
        const struct pyro_owner_row row = {.thread = scene->thread,
                                           .start_ns = i * 1000 * MS,
                                           .end_ns = (i + 1) * 1000 * MS,
                                           .task = PYRO_NONE,
                                           .stage = 4 + i,
                                           .stage_attempt = 0,
                                           .method = PYRO_SLICE_LITERAL("stage-alone"),
                                           .confidence = 0.9};
        assert_true(pyro_tracks_add_owner(scene->app->tracks, &row));
    }
    pyro_arena_init(&scene->arena, NULL);
}

static void add(struct scene *scene, const char *frames, int64_t ms, enum pyro_sample_event event,
                enum pyro_thread_state state, int64_t weight)
{
    int32_t stack = -1;
    while (*frames) {
        size_t len = strcspn(frames, " ");
        const struct pyro_frame_row row = {
            .function = {frames, len}, .line = PYRO_NONE, .language = PYRO_SLICE_LITERAL("java")};
        stack = pyro_tracks_add_stack(scene->app->tracks, stack, pyro_tracks_add_frame(scene->app->tracks, &row));
        assert_true(stack >= 0);
        frames += len + (frames[len] == ' ');
    }
    const struct pyro_sample_row sample = {
        .thread = scene->thread, .stack = stack, .time_ns = ms * MS, .event = event, .state = state, .weight = weight};
    assert_true(pyro_tracks_add_sample(scene->app->tracks, &sample));
}

static const struct pyro_stage_samples *samples_of(struct scene *scene)
{
    assert_true(pyro_tracks_seal(scene->app->tracks));
    const struct pyro_stage_samples *samples = pyro_stage_samples_new(scene->app, &scene->arena);
    assert_non_null(samples);
    return samples;
}

static void assert_method(const struct scene *scene, int32_t frame, const char *name)
{
    assert_true(frame >= 0);
    assert_true(pyro_slice_is(pyro_tracks_frame(scene->app->tracks, (size_t)frame)->function, name));
}

static void done(struct scene *scene)
{
    pyro_arena_done(&scene->arena);
    pyro_app_release(scene->app);
}

static void test_methods_of_stages(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    add(&scene, TASK " com.acme.Job.slow", 100, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 3);
    add(&scene, TASK " com.acme.Job.slow", 200, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 2);
    add(&scene, TASK " com.acme.Job.other", 300, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 1);
    add(&scene, TASK " com.acme.Job.slow", 1100, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 7);
    add(&scene, TASK " com.acme.Job.slow", 2500, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 9); /* of no task */
    add(&scene, "com.acme.Poller.run", 400, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 9);      /* in no task */
    add(&scene, TASK " com.acme.Job.slow", 400, PYRO_SAMPLE_ALLOC, PYRO_STATE_RUNNING, 9);
    const struct pyro_stage_samples *samples = samples_of(&scene);
    assert_non_null(samples->stages);
    assert_int_equal(samples->stages[0].weight[PYRO_CLOCK_CPU], 6);
    assert_int_equal(samples->stages[1].weight[PYRO_CLOCK_CPU], 7);
    assert_int_equal(samples->stages[0].weight[PYRO_CLOCK_WALL], 0);
    assert_int_equal(samples->stages[0].method_count, 2);
    assert_int_equal(samples->stages[1].method_count, 1);
    const struct pyro_stage_method *first = &samples->methods[samples->stages[0].first_method];
    assert_method(&scene, first[0].method, "com.acme.Job.slow");
    assert_int_equal(first[0].weight, 5);
    assert_int_equal(first[0].work, PYRO_WORK_RUNNING);
    assert_true(first[0].program);
    assert_method(&scene, first[1].method, "com.acme.Job.other");
    done(&scene);
}

/* Where threads that wait are sampled too, their samples are the clock, and recorded waits are not added to it. */
static void test_one_clock_for_a_process(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    add(&scene, TASK " com.acme.Job.ask", 100, PYRO_SAMPLE_WALL, PYRO_STATE_WAITING, 3);
    add(&scene, TASK " com.acme.Job.ask", 150, PYRO_SAMPLE_WALL, PYRO_STATE_BLOCKED, 2);
    add(&scene, TASK " com.acme.Job.run", 200, PYRO_SAMPLE_WALL, PYRO_STATE_RUNNING, 1);
    add(&scene, TASK " com.acme.Job.ask", 300, PYRO_SAMPLE_WAIT, PYRO_STATE_WAITING, 50 * MS);
    const struct pyro_stage_samples *samples = samples_of(&scene);
    assert_int_equal(samples->stages[0].weight[PYRO_CLOCK_WALL], 6);
    assert_int_equal(samples->stages[0].weight[PYRO_CLOCK_WAIT], 0);
    const struct pyro_stage_method *methods = &samples->methods[samples->stages[0].first_method];
    assert_int_equal(samples->stages[0].method_count, 3);
    assert_int_equal(methods[0].work, PYRO_WORK_WAITING);
    assert_int_equal(methods[1].work, PYRO_WORK_LOCKED);
    assert_int_equal(methods[2].work, PYRO_WORK_RUNNING);
    done(&scene);
}

static void test_waits_without_samples_of_waiting_threads(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    add(&scene, TASK " com.acme.Job.ask", 100, PYRO_SAMPLE_WAIT, PYRO_STATE_WAITING, 50 * MS);
    add(&scene, TASK " com.acme.Job.run", 200, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 4);
    const struct pyro_stage_samples *samples = samples_of(&scene);
    assert_int_equal(samples->stages[0].weight[PYRO_CLOCK_WAIT], 50 * MS);
    assert_int_equal(samples->stages[0].weight[PYRO_CLOCK_CPU], 4);
    done(&scene);
}

static void test_nothing_recorded(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    assert_null(samples_of(&scene)->stages);
    done(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_of_stages),
        cmocka_unit_test(test_one_clock_for_a_process),
        cmocka_unit_test(test_waits_without_samples_of_waiting_threads),
        cmocka_unit_test(test_nothing_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
