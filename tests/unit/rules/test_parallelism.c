/* driver-bound, idle-executors, too-many-partitions, too-few-partitions, small-input-files. */
#include "scene.h"

#define MIB INT64_C(1048576)

static const int64_t five_s = 5000;

static void test_driver_bound_fires(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    for (int i = 0; i < 4; i++) {
        scene_stage(&scene, 8, &five_s, 1, NULL, NULL);
        scene.now += 15000;
    }
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "driver-bound");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_non_null(pyro_slice_find(finding->cause, "15.0 s"));
    assert_in_range(finding->saves.wall_expected_ms, 25500, 26500); /* half of what is longer than 2 s a gap */
    scene_quiet(&scene, "idle-executors");                          /* idle, but of the driver's making */
    scene_free(&scene);
}

/* Where executors took 25 s to start, so may the driver's first plan; not more than that, and only at the edges. */
static void test_driver_bound_allows_for_a_slow_start(void **state)
{
    (void)state;
    for (int middle = 0; middle < 2; middle++) {
        struct scene scene = scene_new(2, 2);
        scene.app->application.start_ms -= 23000;
        scene.now += middle ? 0 : 25000;
        scene.app->stages.items[0].submitted_ms += middle ? 0 : 25000;
        scene_stage(&scene, 40, &five_s, 1, NULL, NULL);
        scene.now += middle ? 25000 : 0;
        scene_stage(&scene, 40, &five_s, 1, NULL, NULL);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "driver-bound");
        assert_true(!finding || (finding->severity == PYRO_SEVERITY_LOW) == !middle);
        assert_true(!middle || finding);
        scene_free(&scene);
    }
}

static void test_driver_bound_leaves_shells_and_streams_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct scene scene = scene_new(2, 2);
        scene_stage(&scene, 8, &five_s, 1, NULL, NULL);
        scene.now += 100000;
        if (kind == 0)
            scene.app->application.name = PYRO_SLICE_LITERAL("PySparkShell");
        else
            pyro_row_init(PYRO_TABLE_streams, pyro_vec_push(&scene.app->streams, NULL));
        scene_end(&scene);
        assert_int_equal(scene_verdict(&scene, "driver-bound"), PYRO_VERDICT_NOT_APPLICABLE);
        scene_free(&scene);
    }
}

static void test_driver_bound_is_quiet_about_short_gaps(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    for (int i = 0; i < 6; i++) {
        scene_stage(&scene, 8, &five_s, 1, NULL, NULL);
        scene.now += 900;
    }
    scene_end(&scene);
    scene_quiet(&scene, "driver-bound");
    scene_free(&scene);
}

static void test_idle_executors_suggests_a_number(void **state)
{
    (void)state;
    struct scene scene = scene_new(8, 2);
    int64_t ms = 4000;
    for (int i = 0; i < 10; i++)
        scene_stage(&scene, 4, &ms, 1, NULL, NULL); /* four of sixteen slots */
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "idle-executors");
    assert_non_null(finding);
    assert_int_equal(finding->saves.wall_expected_ms, 0);
    assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL); /* by core time */
    /* Fewer throughout would make the first wave of 16 tasks longer; dynamic allocation lets them go after it. */
    assert_string_equal(scene_setting(finding, "spark.dynamicAllocation.enabled"), "true");
    assert_in_range(finding->saves.core_ms, 42000 * 2, 42000 * 16 - 45000 * 6);
    scene_free(&scene);
}

static void test_idle_executors_is_quiet_when_full(void **state)
{
    (void)state;
    struct scene scene = scene_new(4, 2);
    for (int i = 0; i < 4; i++)
        scene_stage(&scene, 32, &five_s, 1, NULL, NULL);
    scene_end(&scene);
    scene_quiet(&scene, "idle-executors");
    assert_int_equal(scene.diagnosis->finding_count, 0);
    scene_free(&scene);
}

static void test_local_master_has_no_executors_to_give_back(void **state)
{
    (void)state;
    struct scene scene = scene_new(1, 4);
    scene.app->application.master = PYRO_SLICE_LITERAL("local[4]");
    scene_stage(&scene, 1, (int64_t[]){60000}, 1, NULL, NULL);
    scene_end(&scene);
    assert_int_equal(scene_verdict(&scene, "idle-executors"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "resource-wait"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "executor-lost"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

static void tiny(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    (void)context;
    task->row[PYRO_TASK_shuffle_local_bytes] = 700;
    task->row[PYRO_TASK_run_ms] = 12;
}

static void test_too_many_partitions_fires(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 20;
    scene_stage(&scene, 4000, &ms, 1, tiny, NULL)->sql = 1;
    fixture_property(scene.app, "spark", "spark.sql.adaptive.coalescePartitions.enabled", "false");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "too-many-partitions");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.sql.adaptive.coalescePartitions.enabled"), "true");
    assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), "48"); /* 48 s of run, a second each */
    scene_free(&scene);
}

static void test_many_long_tasks_are_quiet(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 400;
    scene_stage(&scene, 1000, &ms, 1, NULL, NULL);
    scene_end(&scene);
    scene_quiet(&scene, "too-many-partitions");
    scene_free(&scene);
}

static void test_too_few_partitions_fires(void **state)
{
    (void)state;
    struct scene scene = scene_new(4, 2);
    int64_t ms = 40000;
    scene_stage(&scene, 2, &ms, 1, NULL, NULL);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "too-few-partitions");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL);
    assert_true(finding->saves.wall_expected_ms <= 30000); /* 80 s of work on 8 slots take 10 s */
    scene_free(&scene);
}

/* The same, and tasks of which one runs longer, in the batches of a stream: in real-time mode that is as it should be.
 */
static void test_real_time_tasks_are_not_compared(void **state)
{
    (void)state;
    for (int real_time = 0; real_time < 2; real_time++) {
        struct scene scene = scene_new(4, 4);
        int64_t even[] = {60000}, late[] = {60000, 60000, 60000, 60000, 60000, 60000, 60000, 300000};
        scene_query(&scene, 1)->description = PYRO_SLICE_LITERAL("rt\nid = a\nrunId = 5f2d\nbatch = 0");
        scene_node(&scene, -1, "WriteToDataSourceV2", NULL, NULL);
        scene_node(&scene, 0, real_time ? "RealTimeStreamScan" : "MicroBatchScan", NULL, NULL);
        scene_stage(&scene, 4, even, 1, NULL, NULL)->sql = 1;
        scene_stage(&scene, 16, late, 8, NULL, NULL)->sql = 1;
        for (int64_t i = 0; i < 8; i++) {
            struct pyro_stream_batch *batch = pyro_vec_push(&scene.app->streams, scene.app->allocator);
            pyro_row_init(PYRO_TABLE_streams, batch);
            batch->query = PYRO_SLICE_LITERAL("a");
            batch->run = PYRO_SLICE_LITERAL("5f2d");
            batch->source = PYRO_SLICE_LITERAL("MemoryStream[value#1]");
            batch->batch = i;
            batch->time_ms = SCENE_START + 10000 + i * 60000;
            batch->duration_ms = 59990;
            batch->input_rows = 100 + i;
        }
        scene_end(&scene);
        static const char *const rules[] = {"too-few-partitions", "straggler", "batch-overrun"};
        for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
            assert_int_equal(scene_finding(&scene, rules[i]) == NULL, real_time);
        if (real_time) {
            scene_quiet(&scene, "data-skew");
            scene_quiet(&scene, "idle-executors");
            assert_int_equal(scene_verdict(&scene, "idle-executors"), PYRO_VERDICT_NOT_APPLICABLE);
        }
        scene_free(&scene);
    }
}

static void test_few_short_tasks_are_quiet(void **state)
{
    (void)state;
    struct scene scene = scene_new(4, 2);
    int64_t ms = 900;
    for (int i = 0; i < 5; i++)
        scene_stage(&scene, 2, &ms, 1, NULL, NULL);
    scene_end(&scene);
    scene_quiet(&scene, "too-few-partitions");
    scene_free(&scene);
}

/* The first tasks of an executor load classes and start workers: that cannot be cut finer. */
static void test_few_first_tasks_are_quiet(void **state)
{
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        struct scene scene = scene_new(4, 2);
        int64_t ms = 9000;
        if (cold)
            scene.app->tasks.count = 0; /* without the warm-up */
        scene_stage(&scene, 2, &ms, 1, NULL, NULL);
        scene_end(&scene);
        assert_true((scene_finding(&scene, "too-few-partitions") == NULL) == (cold == 1));
        scene_free(&scene);
    }
}

static void add_metric(struct pyro_app *app, const char *name, int64_t value)
{
    struct pyro_sql_metric *metric = pyro_vec_push(&app->sql_metrics, app->allocator);
    assert_non_null(metric);
    pyro_row_init(PYRO_TABLE_sql_metrics, metric);
    metric->sql = 1;
    metric->node = 4;
    metric->name = pyro_slice_from(name);
    metric->value = value;
}

static void keeps_state(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    (void)context;
    task->row[PYRO_TASK_shuffle_local_bytes] = 100000;
    task->row[PYRO_TASK_run_ms] = 400;
}

/* 64 tasks of 400 ms are neither many nor tiny, unless they store a stream's state for much of this: commit_share 0.25
 * of 25.6 s. */
static void test_partitions_of_state(void **state)
{
    (void)state;
    static const struct {
        int64_t commit_ms;
        const char *wanted;
    } cases[] = {{7000, "19"}, {16000, "10"}, {5800, NULL}, {0, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 1);
        int64_t ms = 420;
        scene_stage(&scene, 64, &ms, 1, keeps_state, NULL)->sql = 1;
        if (cases[i].commit_ms > 0)
            add_metric(scene.app, "time to commit changes", cases[i].commit_ms);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "too-many-partitions");
        assert_int_equal(finding != NULL, cases[i].wanted != NULL);
        if (finding) {
            assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), cases[i].wanted);
            assert_non_null(pyro_slice_find(finding->advice[0].text, "new checkpoint"));
            assert_string_equal(finding->evidence[finding->evidence_count - 1].metric, "commit_ms_per_task");
        }
        scene_free(&scene);
    }
}

static void reads(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_input_bytes] = *(int64_t *)context;
}

static void small_files(int64_t files, int64_t bytes, bool fires)
{
    struct scene scene = scene_new(2, 2);
    int64_t ms = 6000, each = bytes / 8;
    scene_stage(&scene, 8, &ms, 1, reads, &each)->sql = 1;
    add_metric(scene.app, "number of files read", files);
    add_metric(scene.app, "size of files read", bytes);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "small-input-files");
    assert_int_equal(finding != NULL, fires);
    assert_true(!finding || finding->severity >= PYRO_SEVERITY_MODERATE);
    scene_free(&scene);
}

static void test_small_input_files(void **state)
{
    (void)state;
    small_files(2000, 8 * MIB, true);
    small_files(20, 1 * MIB, false);       /* few */
    small_files(2000, 64000 * MIB, false); /* large */
}

static void test_small_input_files_needs_input(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_end(&scene);
    assert_int_equal(scene_verdict(&scene, "small-input-files"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

static void reads_a_part(struct fixture_task *task, unsigned index, void *context)
{
    reads(task, index, context);
    task->row[PYRO_TASK_run_ms] = 25;
    task->row[PYRO_TASK_cpu_ns] = 12 * 1000 * 1000;
}

/* 2,500 tasks of 40 ms read 12 files: cut so by a setting, or as Spark does of itself, or many files. */
static struct scene cut_files(const char *split, int64_t files)
{
    struct scene scene = scene_new(2, 2);
    int64_t ms = 40, each = 400 * 1024;
    scene_stage(&scene, 2500, &ms, 1, reads_a_part, &each)->sql = 1;
    add_metric(scene.app, "number of files read", files);
    add_metric(scene.app, "size of files read", 2500 * each);
    if (split)
        fixture_property(scene.app, "spark", "spark.sql.files.maxPartitionBytes", split);
    scene_end(&scene);
    return scene;
}

static void test_files_cut_too_small(void **state)
{
    (void)state;
    struct scene scene = cut_files("512k", 12);
    const struct pyro_finding *finding = scene_finding(&scene, "too-many-partitions");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_string_equal(scene_setting(finding, "spark.sql.files.maxPartitionBytes"), "128m");
    assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), "");
    assert_non_null(pyro_slice_find(finding->advice[0].text, "instead of 512 KiB"));
    scene_free(&scene);
    scene = cut_files(NULL, 12);
    scene_quiet(&scene, "too-many-partitions");
    scene_free(&scene);
    scene = cut_files("512k", 2400); /* small-input-files speaks of them */
    scene_quiet(&scene, "too-many-partitions");
    scene_free(&scene);
}

static void shuffled(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    (void)context;
    task->row[PYRO_TASK_shuffle_local_bytes] = 300 * MIB;
}

/* A single task is the configured number of partitions, not an aggregate without keys. */
static void test_one_configured_partition(void **state)
{
    (void)state;
    for (int configured = 0; configured < 2; configured++) {
        struct scene scene = scene_new(4, 2);
        int64_t ms = 40000;
        scene_stage(&scene, 1, &ms, 1, shuffled, NULL)->sql = 1;
        fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
        if (configured)
            fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "1");
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "too-few-partitions");
        assert_non_null(finding);
        assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), configured ? "16" : "");
        scene_free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_driver_bound_fires),
        cmocka_unit_test(test_driver_bound_allows_for_a_slow_start),
        cmocka_unit_test(test_driver_bound_leaves_shells_and_streams_alone),
        cmocka_unit_test(test_driver_bound_is_quiet_about_short_gaps),
        cmocka_unit_test(test_idle_executors_suggests_a_number),
        cmocka_unit_test(test_idle_executors_is_quiet_when_full),
        cmocka_unit_test(test_local_master_has_no_executors_to_give_back),
        cmocka_unit_test(test_too_many_partitions_fires),
        cmocka_unit_test(test_many_long_tasks_are_quiet),
        cmocka_unit_test(test_too_few_partitions_fires),
        cmocka_unit_test(test_real_time_tasks_are_not_compared),
        cmocka_unit_test(test_few_short_tasks_are_quiet),
        cmocka_unit_test(test_few_first_tasks_are_quiet),
        cmocka_unit_test(test_files_cut_too_small),
        cmocka_unit_test(test_one_configured_partition),
        cmocka_unit_test(test_partitions_of_state),
        cmocka_unit_test(test_small_input_files),
        cmocka_unit_test(test_small_input_files_needs_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
