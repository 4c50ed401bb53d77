/* Profiles gathered from tracks made by hand: methods, allocations, serializers and what a choice leaves out. */
#include "fixture.h"

#include "model/column.h"
#include "report/profiling/profiling.h"

enum { SECOND = 1000000000 };

struct scene {
    struct pyro_tracks *tracks;
    struct pyro_arena arena;
    struct pyro_profiling profile;
    int32_t process;
};

static void begin(struct scene *scene)
{
    const struct pyro_thread_row process = {.parent = -1,
                                            .clock = -1,
                                            .pid = 7,
                                            .tid = PYRO_NONE,
                                            .executor = PYRO_SLICE_LITERAL("1"),
                                            .role = PYRO_SLICE_LITERAL("executor")};
    scene->tracks = pyro_tracks_new(NULL);
    assert_non_null(scene->tracks);
    pyro_arena_init(&scene->arena, NULL);
    scene->process = pyro_tracks_add_thread(scene->tracks, &process);
    assert_true(scene->process >= 0);
}

static void done(struct scene *scene)
{
    pyro_arena_done(&scene->arena);
    pyro_tracks_free(scene->tracks);
}

/* Frames separated by spaces, the outermost first. */
static void add_sample(struct scene *scene, const char *frames, int64_t time_ns, enum pyro_sample_event event,
                       enum pyro_thread_state state, int64_t weight)
{
    int32_t stack = -1;
    while (*frames) {
        size_t len = strcspn(frames, " ");
        const struct pyro_frame_row row = {
            .function = {frames, len}, .line = PYRO_NONE, .language = PYRO_SLICE_LITERAL("java")};
        stack = pyro_tracks_add_stack(scene->tracks, stack, pyro_tracks_add_frame(scene->tracks, &row));
        assert_true(stack >= 0);
        frames += len + (frames[len] == ' ');
    }
    const struct pyro_sample_row sample = {
        .thread = scene->process, .stack = stack, .time_ns = time_ns, .event = event, .state = state, .weight = weight};
    assert_true(pyro_tracks_add_sample(scene->tracks, &sample));
}

static void add_owner(struct scene *scene, int64_t from_s, int64_t to_s, int64_t stage, int64_t attempt)
{
    const struct pyro_owner_row row = {.thread = scene->process,
                                       .start_ns = from_s * SECOND,
                                       .end_ns = to_s * SECOND,
                                       .task = PYRO_NONE,
                                       .stage = stage,
                                       .stage_attempt = attempt,
                                       .method = PYRO_SLICE_LITERAL("stage-alone"),
                                       .confidence = 0.9};
    assert_true(pyro_tracks_add_owner(scene->tracks, &row));
}

static void gather(struct scene *scene, const struct pyro_profiling_choice *choice)
{
    struct pyro_error error = {.size = sizeof(error)};
    assert_true(pyro_tracks_seal(scene->tracks));
    assert_int_equal(pyro_profiling_gather(scene->tracks, NULL, choice, &scene->arena, &scene->profile, &error),
                     PYRO_OK);
}

static void assert_text(struct pyro_slice text, const char *expected)
{
    assert_true(pyro_slice_is(text, expected));
}

static void test_methods(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    add_sample(&scene, "a b c", SECOND, PYRO_SAMPLE_WALL, PYRO_STATE_RUNNING, 3);
    add_sample(&scene, "a b", SECOND, PYRO_SAMPLE_WALL, PYRO_STATE_WAITING, 4);
    add_sample(&scene, "b b", 2LL * SECOND, PYRO_SAMPLE_WALL, PYRO_STATE_RUNNING, 2);
    gather(&scene, NULL);
    const struct pyro_profiling_samples *samples = &scene.profile.samples[PYRO_SAMPLE_WALL];
    assert_int_equal(samples->weight, 9);
    assert_int_equal(samples->method_count, 3);
    assert_text(samples->methods[0].function, "b");
    assert_int_equal(samples->methods[0].self, 6);
    assert_int_equal(samples->methods[0].waiting, 4);
    assert_int_equal(samples->methods[0].total, 9); /* once a stack, though it calls itself */
    assert_text(samples->methods[1].function, "c");
    assert_text(samples->methods[2].function, "a");
    assert_int_equal(samples->methods[2].self, 0);
    assert_int_equal(samples->methods[2].total, 7);
    assert_int_equal(scene.profile.serialization_count, 0);
    done(&scene);
}

static void test_allocations(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    add_sample(&scene, "run make byte[]", SECOND, PYRO_SAMPLE_ALLOC, PYRO_STATE_RUNNING, 100);
    add_sample(&scene, "walk make byte[]", SECOND, PYRO_SAMPLE_ALLOC, PYRO_STATE_RUNNING, 50);
    add_sample(&scene, "run make char[]", SECOND, PYRO_SAMPLE_ALLOC, PYRO_STATE_RUNNING, 120);
    gather(&scene, NULL);
    assert_int_equal(scene.profile.allocation_count, 2);
    assert_text(scene.profile.allocations[0].class_name, "byte[]");
    assert_text(scene.profile.allocations[0].function, "make");
    assert_int_equal(scene.profile.allocations[0].bytes, 150);
    assert_int_equal(scene.profile.allocations[1].bytes, 120);
    done(&scene);
}

#define KRYO                                                                                                           \
    "run org.apache.spark.serializer.KryoSerializationStream.writeObject com.esotericsoftware.kryo.Kryo.writeObject"
#define DEEP  KRYO " java.io.ObjectOutputStream.writeObject"
#define ALL   "run org.apache.spark.serializer.SerializationStream.writeAll com.acme.Words.next"
#define SPARK "run org.apache.spark.serializer.SerializationStream.writeAll org.apache.spark.serializer.Stream.write"

static void test_serializers(void **unused)
{
    struct scene scene;
    (void)unused;
    begin(&scene);
    add_owner(&scene, 1, 2, 4, 0);
    add_owner(&scene, 2, 3, 4, 1);
    add_sample(&scene, KRYO, SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 2);
    add_sample(&scene, DEEP, SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 1); /* Java's, for Kryo */
    add_sample(&scene, ALL, SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 5);  /* of no task */
    add_sample(&scene, SPARK, SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 2);
    add_sample(&scene, SPARK, 2LL * SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 1);
    add_sample(&scene, SPARK, 9LL * SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 7);
    add_sample(&scene, SPARK, PYRO_NONE, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 1);
    gather(&scene, NULL);
    const struct pyro_profiling_serialization *rows = scene.profile.serialization;
    assert_int_equal(scene.profile.serialization_count, 3);
    assert_int_equal(rows[0].stage, PYRO_NONE); /* after the stage, and without a time */
    assert_int_equal(rows[0].sum, 8);
    assert_int_equal(rows[1].stage, 4);
    assert_int_equal(rows[1].attempt, 0);
    assert_int_equal(rows[1].weight, 10);
    assert_int_equal(rows[1].serializers[PYRO_SERIALIZER_KRYO], 3);
    assert_int_equal(rows[1].serializers[PYRO_SERIALIZER_JAVA], 0);
    assert_int_equal(rows[1].serializers[PYRO_SERIALIZER_SPARK], 2);
    assert_int_equal(rows[2].attempt, 1);
    assert_int_equal(rows[2].sum, 1);
    done(&scene);
}

static void test_a_choice_says_what_it_leaves_out(void **unused)
{
    const struct pyro_profiling_choice stage = {.samples = {.by_stage = true, .stage = 4}};
    const struct pyro_profiling_choice task = {.samples = {.by_task = true, .task = 1}};
    struct scene scene;
    (void)unused;
    begin(&scene);
    add_owner(&scene, 1, 2, 4, 0);
    add_sample(&scene, "a", SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 2);
    add_sample(&scene, "a", 5LL * SECOND, PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 3);
    gather(&scene, &stage);
    assert_int_equal(scene.profile.samples[PYRO_SAMPLE_CPU].weight, 2);
    assert_int_equal(scene.profile.samples[PYRO_SAMPLE_CPU].left_out, 3);
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_profiling_gather(scene.tracks, NULL, &task, &scene.arena, &scene.profile, &error), PYRO_OK);
    assert_int_equal(scene.profile.samples[PYRO_SAMPLE_CPU].weight, 0); /* the stage is known, the task is not */
    assert_int_equal(scene.profile.samples[PYRO_SAMPLE_CPU].left_out, 5);
    const struct pyro_profiling_choice nobody = {.process = PYRO_SLICE_LITERAL("nobody")};
    assert_int_equal(pyro_profiling_gather(scene.tracks, NULL, &nobody, &scene.arena, &scene.profile, &error),
                     PYRO_ERROR_ARGUMENT);
    done(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_serializers),
        cmocka_unit_test(test_a_choice_says_what_it_leaves_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
