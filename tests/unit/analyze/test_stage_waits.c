#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/tracks/stage_waits.h"
#include "fixture.h"
#include "model/column.h"

/* An application with stages 4 and 5. */
struct scene {
    struct pyro_app *app;
    struct pyro_arena arena;
};

static void begin(struct scene *scene)
{
    scene->app = fixture_app(0, 2000);
    fixture_stage(scene->app, 4, 0, 1000);
    fixture_stage(scene->app, 5, 1000, 2000);
    scene->app->tracks = pyro_tracks_new(NULL);
    pyro_arena_init(&scene->arena, NULL);
}

static void add(struct scene *scene, int64_t task, int64_t stage, enum pyro_kernel_state state,
                enum pyro_kernel_state root, const char *what, const char *by, int64_t ns, int64_t bytes)
{
    const struct pyro_task_wait_row row = {.task = task,
                                           .stage = stage,
                                           .stage_attempt = 0,
                                           .state = state,
                                           .root = root,
                                           .what = what ? pyro_slice_from(what) : PYRO_SLICE_NULL,
                                           .by = by ? pyro_slice_from(by) : PYRO_SLICE_NULL,
                                           .duration_ns = ns,
                                           .count = 2,
                                           .bytes = bytes};
    assert_true(pyro_tracks_add_task_wait(scene->app->tracks, &row));
}

static void done(struct scene *scene)
{
    pyro_arena_done(&scene->arena);
    pyro_app_release(scene->app);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void test_who(void **unused)
{
    enum { OWN = 1, SPARK = 2, JVM = 4 };
    static const struct {
        const char *by;
        int is;
    } names[] = {
        {"Executor task l", OWN},
        {"shuffle-server", OWN},
        {"GC Thread#12", OWN | JVM},
        {"G1 Conc#0", OWN | JVM},
        {"VM Thread", OWN | JVM},
        {"C2 CompilerThre", OWN | JVM},
        {"executor 3 (123)", SPARK},
        {"driver (7)", SPARK},
        {"Python worker (8)", SPARK},
        {"stress (123)", 0},
        {"java (5)", 0},
        {"(77)", 0},
        {"executors of another (5)", 0},
        {"driverless (5)", 0},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct pyro_slice by = pyro_slice_from(names[i].by);
        assert_int_equal(pyro_wait_is_own(by), (names[i].is & OWN) != 0);
        assert_int_equal(pyro_wait_is_spark(by), (names[i].is & SPARK) != 0);
        assert_int_equal(pyro_wait_is_jvm(by), (names[i].is & JVM) != 0);
    }
    assert_false(pyro_wait_is_own(PYRO_SLICE_NULL));
    assert_false(pyro_wait_is_spark(PYRO_SLICE_NULL));
    assert_false(pyro_wait_is_jvm(PYRO_SLICE_NULL));
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static void add_all(struct scene *scene)
{
    add(scene, 1, 4, PYRO_KERNEL_USER, PYRO_KERNEL_USER, NULL, NULL, 100, PYRO_NONE);
    add(scene, 1, 4, PYRO_KERNEL_DISK, PYRO_KERNEL_DISK, "253:0", "backup (7)", 30, PYRO_NONE);
    add(scene, 1, 4, PYRO_KERNEL_FUTEX, PYRO_KERNEL_DISK, "253:0", "backup (7)", 200, PYRO_NONE);
    add(scene, 1, 4, PYRO_KERNEL_SYSTEM, PYRO_KERNEL_SYSTEM, "write", NULL, 5, 1000);
    add(scene, 2, 4, PYRO_KERNEL_SYSTEM, PYRO_KERNEL_SYSTEM, "write", NULL, 6, 500);
    add(scene, 2, 4, PYRO_KERNEL_DISK, PYRO_KERNEL_DISK, "253:0", "backup (7)", 40, PYRO_NONE);
    add(scene, 2, 4, PYRO_KERNEL_DISK, PYRO_KERNEL_DISK, "253:0", NULL, 50, PYRO_NONE);
    add(scene, 3, 5, PYRO_KERNEL_UNKNOWN, PYRO_KERNEL_UNKNOWN, NULL, NULL, 900, PYRO_NONE);
    add(scene, 4, 9, PYRO_KERNEL_USER, PYRO_KERNEL_USER, NULL, NULL, 7000, PYRO_NONE); /* of no stage of the log */
    assert_true(pyro_tracks_seal(scene->app->tracks));
}

static void test_sums_by_stage(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    add_all(&scene);
    const struct pyro_stage_waits *waits = pyro_stage_waits_new(scene.app, &scene.arena);
    assert_non_null(waits);
    assert_non_null(waits->stages);
    assert_int_equal(waits->count, 6);
    const struct pyro_stage_waited *first = &waits->stages[0], *second = &waits->stages[1];
    assert_int_equal(first->traced_ns, 431);
    assert_int_equal(first->tasks, 2);
    assert_int_equal(first->count, 5);
    assert_int_equal(first->by_root_ns[PYRO_KERNEL_DISK], 320);
    assert_int_equal(first->by_root_ns[PYRO_KERNEL_FUTEX], 0);
    assert_int_equal(first->by_root_ns[PYRO_KERNEL_USER], 100);
    assert_int_equal(first->by_root_ns[PYRO_KERNEL_SYSTEM], 11);
    assert_int_equal(second->traced_ns, 900);
    assert_int_equal(second->tasks, 1);
    assert_int_equal(second->by_root_ns[PYRO_KERNEL_UNKNOWN], 900);
    /* Longest first; those of both tasks are one. */
    static const int64_t longest[] = {200, 100, 70, 50, 11};
    for (size_t i = 0; i < first->count; i++) {
        const struct pyro_traced_wait *wait = &waits->waits[first->first + i];
        assert_int_equal(wait->stage, 0);
        assert_int_equal(wait->duration_ns, longest[i]);
    }
    const struct pyro_traced_wait *both = &waits->waits[first->first + 2], *calls = &waits->waits[first->first + 4];
    assert_true(pyro_slice_is(both->by, "backup (7)"));
    assert_int_equal(both->count, 4);
    assert_int_equal(both->bytes, 0);
    assert_true(pyro_slice_is(calls->what, "write"));
    assert_int_equal(calls->bytes, 1500);
    assert_int_equal(waits->waits[second->first].duration_ns, 900);
    done(&scene);
}

static void test_without_a_log(void **unused)
{
    struct scene scene;
    struct pyro_stage_key *stages;
    size_t count;
    (void)unused;
    begin(&scene);
    add_all(&scene);
    const struct pyro_stage_waits *waits = pyro_stage_waits_alone(scene.app->tracks, &scene.arena, &stages, &count);
    assert_non_null(waits);
    assert_int_equal(count, 3);
    assert_int_equal(stages[0].id, 4);
    assert_int_equal(stages[1].id, 5);
    assert_int_equal(stages[2].id, 9);
    assert_int_equal(waits->stages[0].traced_ns, 431);
    assert_int_equal(waits->stages[2].traced_ns, 7000);
    assert_int_equal(waits->count, 7);
    const struct pyro_stage_waits *one =
        pyro_stage_waits_of(scene.app->tracks, (struct pyro_stage_key){9, 0}, &scene.arena);
    assert_non_null(one);
    assert_int_equal(one->count, 1);
    assert_int_equal(one->stages[0].traced_ns, 7000);
    assert_int_equal(one->stages[0].tasks, 1);
    done(&scene);
}

static void test_of_one_task(void **unused)
{
    struct scene scene;
    struct pyro_task_waited waited;
    (void)unused;
    begin(&scene);
    add_all(&scene);
    assert_true(pyro_task_waited(scene.app, 1, &waited));
    assert_int_equal(waited.traced_ns, 335);
    assert_int_equal(waited.by_root_ns[PYRO_KERNEL_DISK], 230);
    assert_true(pyro_slice_is(pyro_task_waited_by(scene.app, 1, PYRO_KERNEL_DISK), "backup (7)"));
    assert_true(pyro_slice_is(pyro_task_waited_by(scene.app, 2, PYRO_KERNEL_DISK), "253:0")); /* the longest */
    assert_true(pyro_slice_is(pyro_task_waited_by(scene.app, 1, PYRO_KERNEL_SYSTEM), "write"));
    assert_null(pyro_task_waited_by(scene.app, 1, PYRO_KERNEL_TIMER).ptr);
    assert_false(pyro_task_waited(scene.app, 3, &waited)); /* all of it is unknown */
    assert_int_equal(waited.traced_ns, 900);
    assert_false(pyro_task_waited(scene.app, 77, &waited));
    assert_int_equal(waited.traced_ns, 0);
    done(&scene);
}

static void test_nothing_traced(void **unused)
{
    struct scene scene;
    struct pyro_task_waited waited;
    (void)unused;
    begin(&scene);
    assert_true(pyro_tracks_seal(scene.app->tracks));
    const struct pyro_stage_waits *waits = pyro_stage_waits_new(scene.app, &scene.arena);
    assert_non_null(waits);
    assert_null(waits->stages);
    assert_false(pyro_task_waited(scene.app, 1, &waited));
    pyro_tracks_free(scene.app->tracks);
    scene.app->tracks = NULL;
    assert_non_null(pyro_stage_waits_new(scene.app, &scene.arena));
    assert_false(pyro_task_waited(scene.app, 1, &waited));
    assert_null(pyro_task_waited_by(scene.app, 1, PYRO_KERNEL_DISK).ptr);
    done(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who),         cmocka_unit_test(test_sums_by_stage),  cmocka_unit_test(test_without_a_log),
        cmocka_unit_test(test_of_one_task), cmocka_unit_test(test_nothing_traced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
