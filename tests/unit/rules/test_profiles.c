/* Profiles: each alert of DataFlint where it speaks and where it is quiet, and Sparklens' figures worked out by hand.
 */
#include <math.h>
#include <string.h>

#include "rules/config.h"
#include "rules/profiles/profile.h"
#include "scene.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static const int64_t one_s = 1000;

#define assert_near(a, b, distance) assert_true(fabs((double)(a) - (double)(b)) <= (distance))

/* What the run is shown with, once it is complete. */
static struct pyro_diagnosis *look(struct scene *scene, const char *profile)
{
    struct pyro_config config = {.profile = NULL};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_diagnosis *diagnosis = NULL;
    assert_int_equal(pyro_config_profile(&config, profile, &error), PYRO_OK);
    scene_end(scene);
    assert_int_equal(pyro_diagnosis_new(scene->app,
                                        &(struct pyro_judging){.config = &config, .threads = 1, .unsound_too = true},
                                        &diagnosis, &error),
                     PYRO_OK);
    assert_non_null(diagnosis);
    return diagnosis;
}

/* The first verdict of that name. */
static const struct pyro_peer_verdict *verdict(const struct pyro_diagnosis *diagnosis, const char *name)
{
    for (size_t i = 0; i < diagnosis->peer_verdict_count; i++)
        if (strcmp(diagnosis->peer_verdicts[i].heuristic, name) == 0)
            return &diagnosis->peer_verdicts[i];
    fail_msg("no verdict %s", name);
    return NULL;
}

static void expect(struct scene *scene, const char *name, const char *severity, double value)
{
    struct pyro_diagnosis *diagnosis = look(scene, "dataflint");
    const struct pyro_peer_verdict *found = verdict(diagnosis, name);
    assert_string_equal(found->severity, severity);
    if (value >= 0)
        assert_near(found->value, value, 1e-6);
    pyro_diagnosis_free(diagnosis);
    scene_free(scene);
}

/* ---- DataFlint: the application ---- */

static void executors_with_heap(int64_t peak, int64_t driver_peak, const char *high, const char *low,
                                const char *driver)
{
    struct scene scene = scene_new(2, 2);
    fixture_property(scene.app, "spark", "spark.driver.memory", "1g");
    fixture_property(scene.app, "spark", "spark.executor.memory", "1g");
    scene.app->executors.items[0].heap_peak_bytes = peak;
    fixture_executor(scene.app, "driver", 0, SCENE_START, PYRO_NONE)->heap_peak_bytes = driver_peak;
    struct pyro_diagnosis *diagnosis = look(&scene, "dataflint");
    assert_string_equal(verdict(diagnosis, "executorMemoryTooHigh")->severity, high);
    assert_string_equal(verdict(diagnosis, "executorMemoryTooLow")->severity, low);
    assert_string_equal(verdict(diagnosis, "driverMemoryTooHigh")->severity, driver);
    pyro_diagnosis_free(diagnosis);
    scene_free(&scene);
}

static void test_memory(void **state)
{
    (void)state;
    executors_with_heap(990 * MIB, 500 * MIB, "error", "none", "none");
    executors_with_heap(800 * MIB, 990 * MIB, "none", "none", "error");
    executors_with_heap(700 * MIB, 500 * MIB, "none", "warning", "none");
    executors_with_heap(PYRO_NONE, 500 * MIB, "none", "none", "none"); /* no peak: it says nothing */
}

static void test_idle_cores(void **state)
{
    (void)state;
    const int64_t ten_s = 10000;
    struct scene busy = scene_new(2, 2), idle = scene_new(2, 2);
    scene_stage(&busy, 8, &ten_s, 1, NULL, NULL);
    expect(&busy, "idleCoresTooHigh", "none", 0);
    scene_stage(&idle, 1, &ten_s, 1, NULL, NULL); /* 4 warm-up tasks of 2 s and this one on 4 slots for 12 s */
    expect(&idle, "idleCoresTooHigh", "warning", 100 - 100.0 * 18 / 48);
}

static void test_disabled(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    fixture_property(scene.app, "spark", "spark.dataflint.alert.disabled", "smallTasks, idleCoresTooHigh");
    scene.now += 60000;
    expect(&scene, "idleCoresTooHigh", "disabled", -1);
}

/* ---- DataFlint: operators ---- */

static void typed(struct scene *scene, int64_t stage, const char *name, const char *type, int64_t value)
{
    scene_metric(scene, stage, name, value);
    scene->app->sql_metrics.items[scene->app->sql_metrics.count - 1].type = pyro_slice_from(type);
}

static struct scene scan(int64_t files, int64_t bytes, bool below_aggregate)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 1);
    if (below_aggregate)
        scene_node(&scene, -1, "HashAggregate", "HashAggregate(keys=[], functions=[count(1)])", NULL);
    scene_node(&scene, below_aggregate ? 0 : -1, "Scan parquet ", "FileScan parquet [a#1]", NULL);
    scene_metric(&scene, -1, "number of files read", files);
    typed(&scene, -1, "size of files read", "size", bytes);
    return scene;
}

static void test_read_small_files(void **state)
{
    (void)state;
    struct scene small = scan(200, 400 * MIB, true), few = scan(100, 200 * MIB, true), big = scan(200, 600 * MIB, true);
    struct scene alone = scan(200, 400 * MIB, false); /* the plan's output, so no input to DataFlint */
    expect(&small, "readSmallFiles", "warning", 2.0 * 1048576);
    expect(&few, "readSmallFiles", "none", -1);
    expect(&big, "readSmallFiles", "none", -1);
    expect(&alone, "readSmallFiles", "none", -1);
}

static struct scene written(const char *detail, const char *name)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 1);
    scene_node(&scene, -1, name, detail, NULL);
    scene_metric(&scene, -1, "number of written files", 101);
    typed(&scene, -1, "written output", "size", 202 * MIB);
    return scene;
}

static void test_written_small_files(void **state)
{
    (void)state;
    static const char name[] = "Execute InsertIntoHadoopFsRelationCommand";
    static const char parts[] =
        "Execute InsertIntoHadoopFsRelationCommand file:/o, false, [day#7], Parquet, [path=/o], "
        "Overwrite, [a, day]";
    static const char flat[] =
        "Execute InsertIntoHadoopFsRelationCommand file:/o, false, Parquet, [path=/o], Overwrite, "
        "[a, day]";
    struct scene one = written(parts, name), two = written(parts, name), three = written(flat, name),
                 four = written(flat, name), other = written(flat, "Execute WriteIntoDeltaCommand");
    expect(&one, "writeSmallFilesPartitioned", "warning", 2.0 * 1048576);
    expect(&two, "writeSmallUnpartitionedFiles", "none", -1);
    expect(&three, "writeSmallUnpartitionedFiles", "warning", 2.0 * 1048576);
    expect(&four, "writeSmallFilesPartitioned", "none", -1);
    expect(&other, "writeSmallUnpartitionedFiles", "none", -1);
}

static void test_long_filter(void **state)
{
    (void)state;
    for (uint32_t length = 1000; length <= 1001; length++) {
        struct scene scene = scene_new(2, 2);
        scene_query(&scene, 1);
        scene_node(&scene, -1, "Filter", NULL, NULL);
        scene.app->sql_nodes.items[0].condition_length = length;
        expect(&scene, "longFilterCondition", length > 1000 ? "warning" : "none", length > 1000 ? (double)length : -1);
    }
}

static void test_large_broadcast(void **state)
{
    (void)state;
    for (int64_t bytes = GIB; bytes <= 2 * GIB; bytes += GIB) {
        struct scene scene = scene_new(2, 2);
        scene_query(&scene, 1);
        scene_node(&scene, -1, "BroadcastExchange", NULL, NULL);
        typed(&scene, -1, "data size", "size", bytes);
        expect(&scene, "largeBroadcast", bytes > GIB ? "warning" : "none", bytes > GIB ? (double)bytes : -1);
    }
}

/* A join of two sorted shuffles, the second one read by AQE and filtered. */
static struct scene join(int64_t left, int64_t right, const char *name)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 1);
    scene_node(&scene, -1, name, NULL, NULL);
    scene_node(&scene, 0, "Sort", NULL, NULL);
    scene_node(&scene, 1, "Exchange", NULL, NULL);
    typed(&scene, -1, "shuffle bytes written", "size", left);
    scene_node(&scene, 0, "Sort", NULL, NULL);
    scene_node(&scene, 3, "Filter", NULL, NULL);
    scene_node(&scene, 4, "AQEShuffleRead", NULL, NULL);
    scene_node(&scene, 5, "ShuffleQueryStage", NULL, NULL);
    scene_node(&scene, 6, "Exchange", NULL, NULL);
    typed(&scene, -1, "shuffle bytes written", "size", right);
    return scene;
}

static void test_broadcast_small_table(void **state)
{
    (void)state;
    struct scene tiny = join(500 * MIB, 5 * MIB, "SortMergeJoin"), even = join(500 * MIB, 50 * MIB, "SortMergeJoin"),
                 uneven = join(50 * MIB, 11 * GIB, "SortMergeJoin"), large = join(4 * GIB, 1025 * GIB, "SortMergeJoin"),
                 skewed = join(500 * MIB, 5 * MIB, "SortMergeJoin(skew=true)");
    expect(&tiny, "broadcastSmallTable", "warning", 5.0 * 1048576);
    expect(&even, "broadcastSmallTable", "none", -1);
    expect(&uneven, "broadcastSmallTable", "warning", 50.0 * 1048576);
    expect(&large, "broadcastSmallTable", "warning", 4.0 * 1073741824);
    expect(&skewed, "broadcastSmallTable", "none", -1);
}

static struct scene product(int64_t left, int64_t right, const char *between)
{
    struct scene scene = scene_new(2, 2);
    scene_query(&scene, 1);
    scene_node(&scene, -1, "CartesianProduct", NULL, NULL);
    scene_metric(&scene, -1, "number of output rows", 10);
    scene_node(&scene, 0, "Scan ExistingRDD", NULL, NULL);
    scene_metric(&scene, -1, "number of output rows", left);
    if (between)
        scene_node(&scene, 0, between, NULL, NULL);
    scene_node(&scene, between ? 2 : 0, "Scan ExistingRDD", NULL, NULL);
    scene_metric(&scene, -1, "number of output rows", right);
    return scene;
}

static void test_cross_join(void **state)
{
    (void)state;
    struct scene large = product(200000, 100000, NULL), small = product(100000, 100000, NULL),
                 hidden = product(200000, 100000, "Project");
    expect(&large, "largeCrossJoinScan", "error", 2e10);
    expect(&small, "largeCrossJoinScan", "none", -1);
    expect(&hidden, "largeCrossJoinScan", "none", -1);
}

static void test_tables_are_not_applicable(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    expect(&scene, "fullScanPartitionedTable", "not applicable", -1);
}

/* ---- DataFlint: stages ---- */

static void run_as_long(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_run_ms] = task->row[PYRO_TASK_finish_ms] - task->row[PYRO_TASK_launch_ms];
    if (context)
        task->row[PYRO_TASK_shuffle_write_bytes] = *(const int64_t *)context;
}

/* A query whose aggregate and exchange ran in one stage; a metric of the aggregate says so. */
static struct scene stage_of_query(unsigned count, const int64_t *ms, unsigned kinds, int64_t *written, bool told)
{
    struct scene scene = scene_new(2, 2);
    static const int64_t ids[] = {1};
    scene_query(&scene, 7);
    int64_t begin = scene.now;
    struct pyro_stage *stage = scene_stage(&scene, count, ms, kinds, run_as_long, written);
    stage->sql = 7;
    struct pyro_job *job = fixture_job(scene.app, 0, begin, scene.now, ids, 1);
    job->sql = 7;
    scene_node(&scene, -1, "HashAggregate", "HashAggregate(keys=[], functions=[count(1)])", NULL);
    scene_node(&scene, 0, "Exchange", NULL, NULL);
    scene_node(&scene, 1, "HashAggregate", "HashAggregate(keys=[], functions=[partial_count(1)])", NULL);
    if (told)
        typed(&scene, 1, "peak memory", "size", 4096);
    return scene;
}

static void test_partition_skew(void **state)
{
    (void)state;
    static const int64_t skewed[] = {400, 400, 400, 400, 400, 400, 400, 400, 400, 6000};
    static const int64_t short_ones[] = {40, 40, 40, 40, 40, 40, 40, 40, 40, 4900};
    static const int64_t mild[] = {600, 600, 600, 600, 600, 600, 600, 600, 600, 6000};
    struct scene one = stage_of_query(10, skewed, 10, NULL, true), two = stage_of_query(10, short_ones, 10, NULL, true),
                 three = stage_of_query(10, mild, 10, NULL, true);
    expect(&one, "partitionSkew", "warning", 15);
    expect(&two, "partitionSkew", "none", -1);
    expect(&three, "partitionSkew", "none", -1);
    /* Without a metric the stage is the one that is left. */
    struct scene left = stage_of_query(10, skewed, 10, NULL, false);
    expect(&left, "partitionSkew", "warning", 15);
}

static void test_small_tasks(void **state)
{
    (void)state;
    static const int64_t ms = 5, slow = 500;
    struct scene many = stage_of_query(5001, &ms, 1, NULL, true), few = stage_of_query(5000, &ms, 1, NULL, true),
                 long_ones = stage_of_query(5001, &slow, 1, NULL, true);
    expect(&many, "smallTasks", "warning", 5);
    expect(&few, "smallTasks", "none", -1);
    expect(&long_ones, "smallTasks", "none", -1);
}

static void test_big_partition(void **state)
{
    (void)state;
    int64_t big = 5 * GIB + 1, most = 5 * GIB;
    struct scene one = stage_of_query(4, &one_s, 1, &big, true), two = stage_of_query(4, &one_s, 1, &most, true);
    expect(&one, "maxPartitionToBig", "warning", (double)big);
    expect(&two, "maxPartitionToBig", "none", -1);
}

static void test_many_places_are_counted(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    size_t rows = 0;
    scene_query(&scene, 1);
    for (int i = 0; i < 20; i++) {
        scene_node(&scene, i - 1, "Filter", NULL, NULL);
        scene.app->sql_nodes.items[i].condition_length = 2000;
    }
    struct pyro_diagnosis *diagnosis = look(&scene, "dataflint");
    for (size_t i = 0; i < diagnosis->peer_verdict_count; i++)
        if (strcmp(diagnosis->peer_verdicts[i].heuristic, "longFilterCondition") == 0 && ++rows == 13)
            assert_true(pyro_slice_is(diagnosis->peer_verdicts[i].detail, "8 more"));
    assert_int_equal(rows, 13);
    pyro_diagnosis_free(diagnosis);
    scene_free(&scene);
}

/* ---- Sparklens ---- */

static double figure(const struct pyro_diagnosis *diagnosis, const char *name)
{
    return verdict(diagnosis, name)->value;
}

/* Two executors of two cores since 2 s. After 2 s of warm-up that no job lists, a job of two stages: four tasks of 1,
 * 1, 1 and 5 s (5 s long), then two of 2 s (2 s long). */
static void test_sparklens(void **state)
{
    (void)state;
    static const int64_t first[] = {1000, 1000, 1000, 5000}, second = 2000, ids[] = {1, 2}, parents[] = {1};
    struct scene scene = scene_new(2, 2);
    int64_t begin = scene.now;
    scene_stage(&scene, 4, first, 4, run_as_long, NULL);
    scene_stage(&scene, 2, &second, 1, run_as_long, NULL);
    fixture_parents(scene.app, 2, parents, 1);
    fixture_job(scene.app, 0, begin, scene.now, ids, 2);
    scene.app->application.status = PYRO_SLICE_LITERAL("completed");
    struct pyro_diagnosis *diagnosis = look(&scene, "sparklens");
    assert_near(figure(diagnosis, "Total WallClock Time"), 11000, 0);
    assert_near(figure(diagnosis, "Driver WallClock Time"), 100.0 * 4 / 11, 1e-4);
    assert_near(figure(diagnosis, "Executor WallClock Time"), 100.0 * 7 / 11, 1e-4);
    assert_near(figure(diagnosis, "Critical path"), 4000 + 5000 + 2000, 0);
    assert_near(figure(diagnosis, "Zero skew"), 4000 + 12000 / 4, 0);
    assert_near(figure(diagnosis, "Single core"), 4000 + 12000, 0);
    assert_near(figure(diagnosis, "Total cores"), 4, 0);
    assert_near(figure(diagnosis, "Hours available"), 44000, 0);
    assert_near(figure(diagnosis, "Hours AutoScale Aware"), 36000, 0);
    assert_near(figure(diagnosis, "Executor hours used"), 100.0 * 12 / 28, 1e-4);
    assert_near(figure(diagnosis, "Job overlap"), 0, 0);
    assert_string_equal(verdict(diagnosis, "Job overlap")->severity, "Good");
    assert_near(figure(diagnosis, "Model Error"), 0, 0);
    /* On one executor: 1 and 1, then 1 and 5 on the two cores, 6 s; then 2 s. */
    assert_near(figure(diagnosis, "Estimated time"), 4000 + 6000 + 2000, 0);
    pyro_diagnosis_free(diagnosis);
    scene_free(&scene);
}

/* Two jobs side by side that no execution joins: each counts whole, and driver time falls below nothing. */
static void test_sparklens_overlap(void **state)
{
    (void)state;
    static const int64_t ids[] = {1, 2};
    struct scene scene = scene_new(2, 2);
    int64_t begin = scene.now;
    scene_stage(&scene, 4, &one_s, 1, run_as_long, NULL);
    scene_stage(&scene, 4, &one_s, 1, run_as_long, NULL);
    scene.app->application.status = PYRO_SLICE_LITERAL("completed");
    fixture_job(scene.app, 0, begin, scene.now, ids, 1);
    fixture_job(scene.app, 1, begin + 1, scene.now + 9000, ids + 1, 1);
    scene.now += 9000;
    struct pyro_diagnosis *diagnosis = look(&scene, "sparklens");
    assert_string_equal(verdict(diagnosis, "Job overlap")->severity, "Found");
    assert_near(figure(diagnosis, "Job overlap"), 1, 0);
    assert_near(figure(diagnosis, "Executor WallClock Time"), 100.0 * (2000 + 10999) / 15000, 1e-4);
    pyro_diagnosis_free(diagnosis);
    scene_free(&scene);
}

static void test_sparklens_without_end(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene.app->application.status = PYRO_SLICE_LITERAL("truncated");
    struct pyro_diagnosis *diagnosis = look(&scene, "sparklens");
    assert_int_equal(diagnosis->peer_verdict_count, 1);
    assert_string_equal(verdict(diagnosis, "Report")->severity, "not applicable");
    pyro_diagnosis_free(diagnosis);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_idle_cores),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_read_small_files),
        cmocka_unit_test(test_written_small_files),
        cmocka_unit_test(test_long_filter),
        cmocka_unit_test(test_large_broadcast),
        cmocka_unit_test(test_broadcast_small_table),
        cmocka_unit_test(test_cross_join),
        cmocka_unit_test(test_tables_are_not_applicable),
        cmocka_unit_test(test_partition_skew),
        cmocka_unit_test(test_small_tasks),
        cmocka_unit_test(test_big_partition),
        cmocka_unit_test(test_many_places_are_counted),
        cmocka_unit_test(test_sparklens),
        cmocka_unit_test(test_sparklens_overlap),
        cmocka_unit_test(test_sparklens_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
