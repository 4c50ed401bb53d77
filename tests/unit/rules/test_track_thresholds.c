/* Thresholds of the rules that read what other files than the event log recorded: hot-method, lock-contention,
 * python-worker-time and logged-errors. A finding a tenth inside of each, none a tenth outside. */
#include <string.h>

#include "model/tracks/tracks.h"
#include "scene.h"

#define MS         INT64_C(1000000)
#define TASK_RUN   "org.apache.spark.executor.Executor$TaskRunner.run"
#define PYTHON_RUN "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py:main"
#define SPARK_SORT TASK_RUN " org.apache.spark.util.collection.TimSort.sort"

enum { SLOTS = 4, STAGE_TASKS = 8, TASK_MS = 10000, STAGE_START = SCENE_START + 4000, STAGE_MS = 20000 };

/* Two executors of two cores, one stage of 20 s, and a thread of the first executor that works for it all the time. */
struct recorded {
    struct scene scene;
    struct pyro_tracks *tracks;
    int32_t thread;
};

static void begin(struct recorded *recorded, unsigned owners)
{
    const struct pyro_thread_row thread = {
        .parent = -1, .clock = -1, .pid = 7, .tid = 1, .executor = PYRO_SLICE_LITERAL("1")};
    const int64_t ms = TASK_MS;
    recorded->scene = scene_new(SLOTS / 2, 2);
    scene_stage(&recorded->scene, STAGE_TASKS, &ms, 1, NULL, NULL);
    assert_int_equal(recorded->scene.now, STAGE_START + STAGE_MS);
    recorded->tracks = recorded->scene.app->tracks = pyro_tracks_new(NULL);
    recorded->thread = pyro_tracks_add_thread(recorded->tracks, &thread);
    for (unsigned i = 0; i < owners; i++) {
        const struct pyro_owner_row owner = {.thread = recorded->thread,
                                             .start_ns = (STAGE_START + i * STAGE_MS / owners) * MS,
                                             .end_ns = (STAGE_START + (i + 1) * STAGE_MS / owners) * MS,
                                             .task = i,
                                             .stage = 1,
                                             .stage_attempt = 0,
                                             .method = PYRO_SLICE_LITERAL("named"),
                                             .confidence = 1};
        assert_true(pyro_tracks_add_owner(recorded->tracks, &owner));
    }
}

/* Frames are separated by blanks, outermost first; those of Python are "file:function". */
static void add_samples(struct recorded *recorded, const char *frames, int64_t ms, enum pyro_thread_state state,
                        int64_t count)
{
    int32_t stack = -1;
    while (*frames) {
        size_t len = strcspn(frames, " ");
        const char *colon = memchr(frames, ':', len), *function = colon ? colon + 1 : frames;
        const struct pyro_frame_row row = {
            .function = {function, (size_t)(frames + len - function)},
            .file = colon ? (struct pyro_slice){frames, (size_t)(colon - frames)} : PYRO_SLICE_NULL,
            .line = PYRO_NONE,
            .language = colon ? PYRO_SLICE_LITERAL("python") : PYRO_SLICE_LITERAL("java")};
        stack = pyro_tracks_add_stack(recorded->tracks, stack, pyro_tracks_add_frame(recorded->tracks, &row));
        assert_true(stack >= 0);
        frames += len + (frames[len] == ' ');
    }
    const struct pyro_sample_row sample = {.thread = recorded->thread,
                                           .stack = stack,
                                           .time_ns = (STAGE_START + ms) * MS,
                                           .event = PYRO_SAMPLE_WALL,
                                           .state = state,
                                           .weight = count};
    assert_true(pyro_tracks_add_sample(recorded->tracks, &sample));
}

static void judge(struct recorded *recorded, const char *rule, bool finds, const char *threshold)
{
    assert_true(pyro_tracks_seal(recorded->tracks));
    scene_judge(&recorded->scene, rule, finds, threshold);
}

/* A stage of which some samples have a stack that the rule looks for; the others are of Spark's own code. */
struct sampled {
    const char *threshold;
    bool finds;
    const char *rule, *frames;
    enum pyro_thread_state state;
    int64_t of_rule, of_all;
    unsigned owners;
    int64_t ends_ms; /* after the start of the application; 0: with the stage */
};

static void judge_sampled(const struct sampled *of)
{
    struct recorded recorded;
    bool python = strchr(of->frames, ':') != NULL;
    begin(&recorded, of->owners);
    for (unsigned i = 0; i < of->owners; i++) {
        int64_t middle = (int64_t)(2 * i + 1) * STAGE_MS / 2 / of->owners;
        add_samples(&recorded, of->frames, middle, of->state, of->of_rule / of->owners);
        add_samples(&recorded, python ? PYTHON_RUN " /jobs/etl.py:price" : SPARK_SORT, middle + 1, PYRO_STATE_RUNNING,
                    (of->of_all - of->of_rule) / of->owners);
    }
    if (of->ends_ms)
        recorded.scene.now = SCENE_START + of->ends_ms;
    judge(&recorded, of->rule, of->finds, of->threshold);
}

static void judge_all(const struct sampled *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        judge_sampled(&cases[i]);
}

static void test_hot_method(void **state)
{
    (void)state;
    static const char rule[] = "hot-method", asks[] = TASK_RUN " com.acme.Job.ask",
                      connects[] = TASK_RUN " com.acme.Job.ask java.net.Socket.connect";
    const enum pyro_thread_state waits = PYRO_STATE_WAITING, runs = PYRO_STATE_RUNNING;
    const struct sampled cases[] = {
        {"wait_share_min 0.2", true, rule, asks, waits, 220, 1000, 1, 0},
        {"wait_share_min 0.2", false, rule, asks, waits, 180, 1000, 1, 0},
        {"run_share_min 0.5", true, rule, asks, runs, 550, 1000, 1, 0},
        {"run_share_min 0.5", false, rule, asks, runs, 450, 1000, 1, 0},
        {"prepare_share_min 0.2", true, rule, connects, runs, 880, 4000, 4, 0},
        {"prepare_share_min 0.2", false, rule, connects, runs, 720, 4000, 4, 0},
        /* The first task of the thread does not count. */
        {"prepare_tasks_min 3", true, rule, connects, runs, 1200, 4000, 4, 0},
        {"prepare_tasks_min 3", false, rule, connects, runs, 900, 3000, 3, 0},
        {"samples_min 200", true, rule, asks, waits, 110, 220, 1, 0},
        {"samples_min 200", false, rule, asks, waits, 90, 180, 1, 0},
        /* Half of 80 s of tasks on 4 slots: 10 s of 454 and of 555 s. */
        {"saving_share_min 0.02", true, rule, asks, waits, 500, 1000, 1, 454000},
        {"saving_share_min 0.02", false, rule, asks, waits, 500, 1000, 1, 555000},
    };
    judge_all(cases, sizeof(cases) / sizeof(*cases));
}

static void test_lock_contention(void **state)
{
    (void)state;
    static const char rule[] = "lock-contention", signs[] = TASK_RUN " com.acme.Keys.sign";
    const struct sampled cases[] = {
        {"lock_share_min 0.1", true, rule, signs, PYRO_STATE_BLOCKED, 110, 1000, 1, 0},
        {"lock_share_min 0.1", false, rule, signs, PYRO_STATE_BLOCKED, 90, 1000, 1, 0},
        {"samples_min 200", true, rule, signs, PYRO_STATE_BLOCKED, 110, 220, 1, 0},
        {"samples_min 200", false, rule, signs, PYRO_STATE_BLOCKED, 90, 180, 1, 0},
        {"saving_share_min 0.02", true, rule, signs, PYRO_STATE_BLOCKED, 500, 1000, 1, 454000},
        {"saving_share_min 0.02", false, rule, signs, PYRO_STATE_BLOCKED, 500, 1000, 1, 555000},
    };
    judge_all(cases, sizeof(cases) / sizeof(*cases));
}

static void test_python_worker_time(void **state)
{
    (void)state;
    static const char rule[] = "python-worker-time",
                      writes[] = PYTHON_RUN " /opt/spark/python/lib/pyspark.zip/pyspark/serializers.py:dumps";
    const struct sampled cases[] = {
        {"transfer_share_min 0.3", true, rule, writes, PYRO_STATE_RUNNING, 330, 1000, 1, 0},
        {"transfer_share_min 0.3", false, rule, writes, PYRO_STATE_RUNNING, 270, 1000, 1, 0},
        {"samples_min 200", true, rule, writes, PYRO_STATE_RUNNING, 110, 220, 1, 0},
        {"samples_min 200", false, rule, writes, PYRO_STATE_RUNNING, 90, 180, 1, 0},
        {"saving_share_min 0.02", true, rule, writes, PYRO_STATE_RUNNING, 500, 1000, 1, 454000},
        {"saving_share_min 0.02", false, rule, writes, PYRO_STATE_RUNNING, 500, 1000, 1, 555000},
    };
    judge_all(cases, sizeof(cases) / sizeof(*cases));
}

static void add_template(struct recorded *recorded, struct pyro_slice level, int64_t count)
{
    const struct pyro_template_row row = {.text = PYRO_SLICE_LITERAL("Slow answer of the pricing service"),
                                          .level = level,
                                          .logger = PYRO_SLICE_LITERAL("com.acme.Client"),
                                          .count = count,
                                          .first_ns = STAGE_START * MS,
                                          .last_ns = STAGE_START * MS};
    assert_true(pyro_tracks_add_template(recorded->tracks, &row) >= 0);
}

static void add_error(struct recorded *recorded, int64_t count)
{
    struct pyro_app *app = recorded->scene.app;
    struct pyro_failure *failure = pyro_vec_push(&app->failures, app->allocator);
    assert_non_null(failure);
    pyro_row_init(PYRO_TABLE_failures, failure);
    failure->kind = PYRO_SLICE_LITERAL("log");
    failure->source = PYRO_SLICE_LITERAL("text-log");
    failure->message = PYRO_SLICE_LITERAL("Lost connection");
    failure->count = count;
}

static void add_wait(struct recorded *recorded, int64_t ms)
{
    const struct pyro_span_row span = {.thread = recorded->thread,
                                       .parent = -1,
                                       .kind = PYRO_SPAN_LOGGED_WAIT,
                                       .name = PYRO_SLICE_LITERAL("com.acme.Client"),
                                       .start_ns = (STAGE_START + 1000) * MS,
                                       .duration_ns = ms * MS,
                                       .value = PYRO_NONE};
    assert_true(pyro_tracks_add_span(recorded->tracks, &span));
}

static void test_logged_errors(void **state)
{
    (void)state;
    /* wait_share_min 0.02, of 88 s of all tasks; errors_min 3; warnings_min 100. */
    static const struct {
        const char *threshold;
        bool finds;
        int64_t wait_ms, errors, warnings;
    } cases[] = {
        {"wait_share_min", true, 1936, 0, 0}, {"wait_share_min", false, 1584, 0, 0}, {"errors_min", true, 0, 3, 0},
        {"errors_min", false, 0, 2, 0},       {"warnings_min", true, 0, 0, 110},     {"warnings_min", false, 0, 0, 90},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct recorded recorded;
        begin(&recorded, 1);
        add_template(&recorded, PYRO_SLICE_LITERAL("INFO"), 1000);
        if (cases[i].wait_ms)
            add_wait(&recorded, cases[i].wait_ms);
        if (cases[i].errors)
            add_error(&recorded, cases[i].errors);
        if (cases[i].warnings)
            add_template(&recorded, PYRO_SLICE_LITERAL("WARN"), cases[i].warnings);
        judge(&recorded, "logged-errors", cases[i].finds, cases[i].threshold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hot_method),
        cmocka_unit_test(test_lock_contention),
        cmocka_unit_test(test_python_worker_time),
        cmocka_unit_test(test_logged_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
