/* executor-oom, memory-near-limit, memory-overprovisioned, driver-memory and large-result. */
#include <stdio.h>

#include "base/strings/intern.h"
#include "scene.h"

#define MIB INT64_C(1048576)

static const int64_t two_s = 2000;

struct dying {
    struct pyro_app *app;
    const char *reason, *class_name, *message;
    unsigned every;
};

static void dies(struct fixture_task *task, unsigned index, void *context)
{
    const struct dying *dying = context;
    if (index % dying->every != 0)
        return;
    char id[16];
    snprintf(id, sizeof(id), "%u", 1000 + index);
    task->row[PYRO_TASK_id] = 1000 + index;
    task->row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    task->row[PYRO_TASK_reason] = pyro_intern(dying->app->strings, pyro_slice_from(dying->reason));
    struct pyro_failure *failure = pyro_vec_push(&dying->app->failures, dying->app->allocator);
    assert_non_null(failure);
    pyro_row_init(PYRO_TABLE_failures, failure);
    failure->kind = PYRO_SLICE_LITERAL("task");
    failure->id = pyro_intern_slice(dying->app->strings, pyro_slice_from(id));
    failure->stage = task->row[PYRO_TASK_stage];
    failure->reason = pyro_slice_from(dying->reason);
    failure->class_name = pyro_slice_from(dying->class_name);
    failure->message = pyro_slice_from(dying->message);
}

static void test_heap_is_told_once(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 4);
    struct dying dying = {scene.app, "ExceptionFailure", "java.lang.OutOfMemoryError", "Java heap space", 2};
    fixture_property(scene.app, "spark", "spark.executor.memory", "4g");
    scene_stage(&scene, 40, &two_s, 1, dies, &dying);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "executor-oom");
    assert_non_null(finding);
    assert_string_equal(finding->id.ptr, "executor-oom:heap");
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE); /* half of the work was thrown away */
    assert_non_null(pyro_slice_find(finding->cause, "20 task attempts"));
    assert_string_equal(scene_setting(finding, "spark.executor.memory"), "6g");
    assert_string_equal(scene_setting(finding, "spark.executor.cores"), "2");
    scene_quiet(&scene, "task-failures");
    scene_free(&scene);
}

/* Few partitions are to blame: no larger heap first. */
static void test_few_partitions_are_broken_up(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 1);
    struct dying dying = {scene.app, "ExceptionFailure", "java.lang.OutOfMemoryError", "GC overhead limit exceeded",
                          20};
    scene_stage(&scene, 40, &two_s, 1, dies, &dying);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "executor-oom");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].text, "only 2 of 40 partitions"));
    assert_int_equal(finding->severity, PYRO_SEVERITY_SEVERE);
    scene_free(&scene);
}

/* One executor dies of `reason`, with the task that it ran. */
static void kill_first(struct scene *scene, const char *reason)
{
    struct dying dying = {scene->app, "ExecutorLostFailure", "", reason, 30};
    scene_stage(scene, 60, &two_s, 1, dies, &dying);
    scene->app->executors.items[0].removed_ms = scene->now - 10000;
    scene->app->executors.items[0].remove_reason = pyro_slice_from(reason);
    scene_end(scene);
}

static struct scene kill(const char *master, const char *reason)
{
    struct scene scene = scene_new(2, 2);
    scene.app->application.master = pyro_slice_from(master);
    kill_first(&scene, reason);
    return scene;
}

static void test_deaths_of_memory(void **state)
{
    (void)state;
    static const struct {
        const char *master, *reason, *id, *key;
    } cases[] = {
        {"yarn", "Container killed by YARN for exceeding memory limits. 5 GB used", "executor-oom:container",
         "spark.executor.memoryOverhead"},
        {"k8s://https://api", "The executor with id 1 exited with exit code 137(SIGKILL, possible container OOM).",
         "executor-oom:container", "spark.executor.memoryOverhead"},
        {"yarn", "Container exited with code 137", "executor-oom:container", "spark.executor.memoryOverhead"},
        {"spark://host:7077", "Command exited with code 52", "executor-oom:heap", "spark.executor.memory"},
        {"spark://host:7077", "Command exited with code 137", NULL, NULL}, /* it was killed: nothing says memory */
        {"yarn", "Container exited with code 143", NULL, NULL},
        {"k8s://https://api",
         "The executor with id 1 exited with exit code 137(SIGKILL, possible container OOM).\nThe API gave the "
         "following brief reason: DeadlineExceeded",
         NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = kill(cases[i].master, cases[i].reason);
        const struct pyro_finding *finding = scene_finding(&scene, "executor-oom");
        if (cases[i].id) {
            assert_non_null(finding);
            assert_string_equal(finding->id.ptr, cases[i].id);
            assert_int_equal(finding->severity, PYRO_SEVERITY_SEVERE);
            assert_string_not_equal(scene_setting(finding, cases[i].key), "");
            scene_quiet(&scene, "executor-lost");
        } else {
            assert_null(finding);
            assert_non_null(scene_finding(&scene, "executor-lost"));
        }
        scene_free(&scene);
    }
}

/* The new overhead exceeds what the container had, and what it used. */
static void test_overhead_of_killed_containers(void **state)
{
    (void)state;
    static const char killed[] = "Container killed by YARN for exceeding memory limits. ";
    static const struct {
        const char *usage, *key, *value, *recommended;
    } cases[] = {
        {"5.5 GB of 5.5 GB physical memory used.", NULL, NULL, "3g"},
        {"12.4 GB of 5.5 GB physical memory used", NULL, NULL, "9g"},
        {"5632 MB of 5632 MB physical memory used; 9 GB of 11 GB virtual memory used", NULL, NULL, "3g"},
        {"4.5 GB of 4.5 GB physical memory used", "spark.executor.memoryOverhead", "1g", "2g"},
        {"5 GB used", "spark.executor.memoryOverheadFactor", "0.5", "4g"},
        {"GB of GB physical memory used", NULL, NULL, "1024m"}, /* it says nothing */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char reason[200];
        snprintf(reason, sizeof(reason), "%s%s", killed, cases[i].usage);
        struct scene scene = scene_new(2, 2);
        scene.app->application.master = PYRO_SLICE_LITERAL("yarn");
        fixture_property(scene.app, "spark", "spark.executor.memory", "4g");
        if (cases[i].key)
            fixture_property(scene.app, "spark", cases[i].key, cases[i].value);
        kill_first(&scene, reason);
        const struct pyro_finding *finding = scene_finding(&scene, "executor-oom");
        assert_non_null(finding);
        assert_string_equal(scene_setting(finding, "spark.executor.memoryOverhead"), cases[i].recommended);
        scene_free(&scene);
    }
}

/* Memory that is only reserved: the check is to be turned off, and no setting of Spark is the first thing to change. */
static void test_death_of_virtual_memory(void **state)
{
    (void)state;
    struct scene scene =
        kill("yarn", "Container killed by YARN for exceeding virtual memory limits. 9 GB of 8 GB used");
    const struct pyro_finding *finding = scene_finding(&scene, "executor-oom");
    assert_non_null(finding);
    assert_string_equal(finding->id.ptr, "executor-oom:virtual");
    assert_non_null(pyro_slice_find(finding->advice[0].text, "yarn.nodemanager.vmem-check-enabled=false"));
    assert_string_equal(scene_setting(finding, "spark.executor.memoryOverhead"), "");
    scene_quiet(&scene, "executor-lost");
    scene_free(&scene);
}

static struct scene heap_run(int64_t peak_mib, int64_t full, int64_t collection_ms)
{
    struct scene scene = scene_new(2, 2);
    fixture_property(scene.app, "spark", "spark.executor.memory", "4g");
    scene_stage(&scene, 60, &two_s, 1, NULL, NULL);
    for (size_t i = 0; i < scene.app->executors.count; i++) {
        scene.app->executors.items[i].heap_peak_bytes = peak_mib * MIB;
        scene.app->executors.items[i].full_collections = full;
        scene.app->executors.items[i].collection_ms = collection_ms;
        scene.app->executors.items[i].storage_memory_bytes = INT64_C(2) << 30;
    }
    scene_end(&scene);
    return scene;
}

static void test_near_limit_needs_full_collections(void **state)
{
    (void)state;
    struct scene scene = heap_run(3900, 25, 20000);
    const struct pyro_finding *finding = scene_finding(&scene, "memory-near-limit");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_SEVERE); /* two thirds of its life */
    assert_string_equal(scene_setting(finding, "spark.executor.memory"), "6g");
    scene_free(&scene);
    scene = heap_run(4000, 2, 500); /* a full heap alone is ordinary */
    scene_quiet(&scene, "memory-near-limit");
    scene_quiet(&scene, "memory-overprovisioned");
    scene_free(&scene);
    scene = heap_run(-1, -1, -1);
    assert_int_equal(scene_verdict(&scene, "memory-near-limit"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "memory-overprovisioned"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

static void test_container_counts_python(void **state)
{
    (void)state;
    for (int64_t python = 100; python <= 400; python += 150) {
        struct scene scene = scene_new(1, 2);
        fixture_property(scene.app, "spark", "spark.executor.memory", "2g"); /* and 384 MiB */
        scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
        scene.app->executors.items[0].heap_peak_bytes = 1500 * MIB;
        scene.app->executors.items[0].process_rss_peak_bytes = 2148 * MIB;
        scene.app->executors.items[0].python_rss_peak_bytes = python * MIB;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "memory-near-limit");
        assert_int_equal(finding != NULL, python >= 250);
        if (finding) {
            assert_string_equal(finding->id.ptr, "memory-near-limit:container");
            assert_int_equal(finding->severity, python >= 300 ? PYRO_SEVERITY_SEVERE : PYRO_SEVERITY_MODERATE);
        }
        scene_free(&scene);
    }
}

static void test_overprovisioned_is_low(void **state)
{
    (void)state;
    struct scene scene = heap_run(800, 0, 100);
    const struct pyro_finding *finding = scene_finding(&scene, "memory-overprovisioned");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_LOW);
    assert_string_equal(scene_setting(finding, "spark.executor.memory"), "1536m"); /* 800 x 1.3 + 300 */
    scene_free(&scene);
    scene = heap_run(2500, 0, 100);
    scene_quiet(&scene, "memory-overprovisioned");
    scene_free(&scene);
}

static void test_driver_memory(void **state)
{
    (void)state;
    for (int full = 0; full <= 9; full += 9) {
        struct scene scene = scene_new(2, 2);
        char count[8];
        snprintf(count, sizeof(count), "%d", full);
        fixture_property(scene.app, "spark", "spark.driver.memory", "512m");
        fixture_property(scene.app, "metrics", "driver.JVMHeapMemory.peak", "520000000");
        fixture_property(scene.app, "metrics", "driver.MajorGCCount.peak", count);
        fixture_property(scene.app, "metrics", "driver.TotalGCTime.peak", "2000");
        scene_stage(&scene, 60, &two_s, 1, NULL, NULL);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "driver-memory");
        assert_int_equal(finding != NULL, full > 0); /* a full heap alone is ordinary */
        if (finding) {
            assert_int_equal(finding->severity, PYRO_SEVERITY_MODERATE);
            assert_string_equal(scene_setting(finding, "spark.driver.memory"), "768m");
        }
        scene_free(&scene);
    }
}

static void test_driver_out_of_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {"java.lang.OutOfMemoryError: Java heap space",
                                        "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in "
                                        "stage 1.0 failed 4 times, most recent failure: Lost task 0.3 in stage 1.0 "
                                        "(TID 9) (h executor 1): java.lang.OutOfMemoryError: Java heap space"};
    for (int i = 0; i < 2; i++) {
        struct scene scene = scene_new(2, 2);
        scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
        struct pyro_sql_execution *sql = pyro_vec_push(&scene.app->sql, scene.app->allocator);
        assert_non_null(sql);
        pyro_row_init(PYRO_TABLE_sql, sql);
        sql->id = 0;
        sql->failure = pyro_slice_from(texts[i]);
        sql->completed_ms = scene.now;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "driver-memory");
        assert_int_equal(finding != NULL, i == 0); /* the other was a task's */
        if (finding)
            assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL);
        scene_free(&scene);
    }
}

static void sends(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_result_bytes] = *(int64_t *)context * MIB;
}

static void test_large_result(void **state)
{
    (void)state;
    static const struct {
        int64_t mib; /* of each of eight tasks */
        enum pyro_severity severity;
        bool fires;
    } cases[] = {{4, PYRO_SEVERITY_LOW, false}, /* 32 MiB */
                 {16, PYRO_SEVERITY_LOW, true},
                 {40, PYRO_SEVERITY_MODERATE, true},
                 {124, PYRO_SEVERITY_SEVERE, true}}; /* of 1 GiB allowed */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_new(2, 2);
        int64_t mib = cases[i].mib;
        scene_stage(&scene, 8, &two_s, 1, sends, &mib);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "large-result");
        assert_int_equal(finding != NULL, cases[i].fires);
        if (finding)
            assert_int_equal(finding->severity, cases[i].severity);
        scene_free(&scene);
    }
}

static void test_refused_result(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    static const int64_t ids[] = {1};
    fixture_property(scene.app, "spark", "spark.driver.maxResultSize", "32m");
    struct pyro_stage *stage = scene_stage(&scene, 8, &two_s, 1, NULL, NULL);
    stage->status = PYRO_SLICE_LITERAL("failed");
    stage->job = 0;
    stage->failure = PYRO_SLICE_LITERAL("Job aborted due to stage failure: Total size of serialized results of 8 tasks "
                                        "(33.0 MiB) is bigger than spark.driver.maxResultSize (32.0 MiB)");
    struct pyro_job *job = fixture_job(scene.app, 0, stage->submitted_ms, scene.now, ids, 1);
    job->status = PYRO_SLICE_LITERAL("failed");
    job->failure = stage->failure;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "large-result");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL);
    assert_true(finding->failure_risk == 0.9);
    assert_string_equal(scene_setting(finding, "spark.driver.maxResultSize"), "256m");
    assert_int_equal(scene_finding(&scene, "job-failed")->severity, PYRO_SEVERITY_CRITICAL);
    scene_free(&scene);
}

/* ---- Thresholds: a finding a tenth inside of each, none a tenth outside ---- */

static void sends_bytes(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_result_bytes] = *(int64_t *)context;
}

static void test_thresholds_of_results(void **state)
{
    (void)state;
    static const struct {
        const char *threshold, *heap, *limit;
        unsigned tasks;
        int64_t bytes; /* of each */
        bool finds;
        double risk;
    } cases[] = {
        /* result_bytes_min 64 MiB; heap_share_min 0.1 and heap_share_risky 0.2 of 1 GiB; risk_large 0.2 */
        {"result_bytes_min", "512m", "1g", 8, 88 * MIB / 10, true, 0},
        {"result_bytes_min", "512m", "1g", 8, 72 * MIB / 10, false, 0},
        {"heap_share_min", "1g", "1g", 8, 141 * MIB / 10, true, 0},
        {"heap_share_min", "1g", "1g", 8, 115 * MIB / 10, false, 0},
        {"heap_share_risky", "1g", "1g", 8, 281 * MIB / 10, true, 0.2},
        {"heap_share_risky", "1g", "1g", 8, 230 * MIB / 10, true, 0},
        /* limit_share_min 0.7 and limit_share_severe 0.9 of 80 MiB; risk_near 0.3, risk_refused 0.5 */
        {"limit_share_min", "16g", "80m", 8, 77 * MIB / 10, true, 0.3},
        {"limit_share_min", "16g", "80m", 8, 63 * MIB / 10, false, 0},
        {"limit_share_severe", "16g", "80m", 8, 99 * MIB / 10, true, 0.5},
        {"limit_share_severe", "16g", "80m", 8, 81 * MIB / 10, true, 0.3},
        /* task_result_bytes 4096, of 1000 tasks: 0.7 of 2 MiB are rows, or a tenth less */
        {"task_result_bytes", "16g", "2m", 1000, 4096 + 1600, true, 0.3},
        {"task_result_bytes", "16g", "2m", 1000, 4096 + 1300, false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_new(2, 2);
        int64_t bytes = cases[i].bytes;
        fixture_property(scene.app, "spark", "spark.driver.memory", cases[i].heap);
        fixture_property(scene.app, "spark", "spark.driver.maxResultSize", cases[i].limit);
        scene_stage(&scene, cases[i].tasks, &two_s, 1, sends_bytes, &bytes);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "large-result");
        if ((finding != NULL) != cases[i].finds || (finding && finding->failure_risk != cases[i].risk))
            fail_msg("wrong near %s", cases[i].threshold);
        scene_free(&scene);
    }
    /* unpack_ms_min 500: between the last task and the end of the query */
    static const int64_t ids[] = {1};
    for (int64_t ms = 450; ms <= 550; ms += 100) {
        struct scene scene = scene_new(2, 2);
        int64_t bytes = 20 * MIB;
        struct pyro_sql_execution *sql = scene_query(&scene, 7);
        struct pyro_stage *stage = scene_stage(&scene, 8, &two_s, 1, sends_bytes, &bytes);
        stage->sql = 7;
        stage->job = 0;
        fixture_job(scene.app, 0, stage->submitted_ms, scene.now, ids, 1)->sql = 7;
        scene.now += ms;
        sql->completed_ms = scene.now;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "large-result");
        assert_non_null(finding);
        assert_int_equal(finding->edit_count > 0, ms == 550);
        scene_free(&scene);
    }
    /* risk_refused 0.5 where another job follows */
    struct scene scene = scene_new(2, 2);
    struct pyro_stage *stage = scene_stage(&scene, 8, &two_s, 1, NULL, NULL);
    stage->status = PYRO_SLICE_LITERAL("failed");
    stage->job = 0;
    stage->failure = PYRO_SLICE_LITERAL("Job aborted due to stage failure: Total size of serialized results of 8 tasks "
                                        "(33.0 MiB) is bigger than spark.driver.maxResultSize (32.0 MiB)");
    struct pyro_job *job = fixture_job(scene.app, 0, stage->submitted_ms, scene.now, ids, 1);
    job->status = PYRO_SLICE_LITERAL("failed");
    job->failure = stage->failure;
    fixture_job(scene.app, 1, scene.now, scene.now + 1000, NULL, 0);
    scene.now += 1000;
    scene_end(&scene);
    assert_true(scene_finding(&scene, "large-result")->failure_risk == 0.5);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_is_told_once),
        cmocka_unit_test(test_few_partitions_are_broken_up),
        cmocka_unit_test(test_deaths_of_memory),
        cmocka_unit_test(test_overhead_of_killed_containers),
        cmocka_unit_test(test_death_of_virtual_memory),
        cmocka_unit_test(test_near_limit_needs_full_collections),
        cmocka_unit_test(test_container_counts_python),
        cmocka_unit_test(test_overprovisioned_is_low),
        cmocka_unit_test(test_driver_memory),
        cmocka_unit_test(test_driver_out_of_memory),
        cmocka_unit_test(test_large_result),
        cmocka_unit_test(test_refused_result),
        cmocka_unit_test(test_thresholds_of_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
