/* Thresholds of disk-spill, gc-pressure, executor-oom, memory-near-limit, memory-overprovisioned and driver-memory: a
 * finding a tenth inside of each, none a tenth outside. */
#include <stdio.h>

#include "base/strings/intern.h"
#include "scene.h"

#define MIB INT64_C(1048576)

static const int64_t two_s = 2000;

struct spill {
    int64_t read, disk, memory, largest; /* bytes of each of eight tasks; of the last task, where it is more */
};

static void spills(struct fixture_task *task, unsigned index, void *context)
{
    const struct spill *of = context;
    task->row[PYRO_TASK_shuffle_local_bytes] = of->read;
    task->row[PYRO_TASK_disk_spill_bytes] = of->disk;
    task->row[PYRO_TASK_memory_spill_bytes] = index == 7 && of->largest ? of->largest : of->memory;
}

static struct scene spilling(struct spill of)
{
    struct scene scene = scene_new(2, 2);
    int64_t ms = 20000;
    scene_stage(&scene, 8, &ms, 1, spills, &of)->sql = 0;
    fixture_property(scene.app, "spark", "spark.executor.memory", "1324m");
    return scene;
}

static void test_disk_spill(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct spill spill;
    } cases[] = {
        /* spill_bytes_min 32 MiB: eight tasks spill 35.2 and 28.8 MiB */
        {"spill_bytes_min", true, {40 * MIB, 44 * MIB / 10, 90 * MIB, 0}},
        {"spill_bytes_min", false, {40 * MIB, 36 * MIB / 10, 90 * MIB, 0}},
        /* spill_share_min 0.05 */
        {"spill_share_min", true, {200 * MIB, 11 * MIB, 90 * MIB, 0}},
        {"spill_share_min", false, {200 * MIB, 9 * MIB, 90 * MIB, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = spilling(cases[i].spill);
        scene_judge(&scene, "disk-spill", cases[i].finds, cases[i].threshold);
    }
}

static void test_advice_about_spills(void **state)
{
    (void)state;
    /* risk_share_min 0.2 */
    for (int64_t mib = 36; mib <= 44; mib += 8) {
        struct scene scene = spilling((struct spill){200 * MIB, mib * MIB, 200 * MIB, 0});
        scene_end(&scene);
        assert_true((scene_finding(&scene, "disk-spill")->failure_risk >= 0.2) == (mib == 44));
        scene_free(&scene);
    }
    /* skew_ratio_min 3: more partitions do not split one that needs this much more than the median */
    for (int64_t mib = 2700; mib <= 3300; mib += 600) {
        struct scene scene = spilling((struct spill){200 * MIB, 100 * MIB, 1000 * MIB, mib * MIB});
        fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "8");
        scene_end(&scene);
        const char *partitions = scene_setting(scene_finding(&scene, "disk-spill"), "spark.sql.shuffle.partitions");
        assert_int_equal(*partitions != 0, mib == 2700);
        scene_free(&scene);
    }
    /* fraction_low 0.35 and fraction_usual 0.6 */
    for (int low = 0; low < 2; low++) {
        struct scene scene = spilling((struct spill){200 * MIB, 20 * MIB, 100 * MIB, 0});
        fixture_property(scene.app, "spark", "spark.memory.fraction", low ? "0.32" : "0.38");
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "disk-spill");
        assert_non_null(finding);
        assert_string_equal(scene_setting(finding, "spark.memory.fraction"), low ? "0.6" : "");
        assert_true(!low || pyro_slice_find(finding->advice[0].text, "back to Spark's 0.6"));
        scene_free(&scene);
    }
}

static void collects(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_gc_ms] = task->row[PYRO_TASK_run_ms] * *(int64_t *)context / 100;
}

/* `tasks` of `ms` with `percent` of garbage collection, `other` without, until `ends_ms` or their end. */
struct collecting {
    unsigned tasks;
    int64_t ms, percent;
    unsigned other;
    int64_t ends_ms;
};

static struct scene collecting(struct collecting of)
{
    struct scene scene = scene_cold(2, 2);
    fixture_property(scene.app, "spark", "spark.executor.memory", "8g");
    scene_stage(&scene, of.tasks, &of.ms, 1, collects, &of.percent);
    if (of.other)
        scene_stage(&scene, of.other, &of.ms, 1, NULL, NULL);
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_gc_pressure(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct collecting of;
    } cases[] = {
        /* healthy_share 0.05 and excess_ms_min 1000: 0.06 x 18 s and x 16 s */
        {"healthy_share", true, {4, 4500, 11, 0, 0}},
        {"healthy_share", false, {4, 4000, 11, 0, 0}},
        /* share_min 0.1 */
        {"share_min", true, {40, 5000, 11, 0, 0}},
        {"share_min", false, {40, 5000, 9, 0, 0}},
        /* stage_share_min 0.2: of 40 s beside 100 s without */
        {"stage_share_min", true, {8, 5000, 22, 20, 0}},
        {"stage_share_min", false, {8, 5000, 18, 20, 0}},
        /* excess_ms_min 1000: 0.15 x 7.4 s and x 6 s */
        {"excess_ms_min", true, {4, 1850, 20, 0, 0}},
        {"excess_ms_min", false, {4, 1500, 20, 0, 0}},
        /* saving_share_min 0.01: four slots collected for a fifth of 50 s, three quarters of it too much */
        {"saving_share_min", true, {40, 5000, 20, 0, 680000}},
        {"saving_share_min", false, {40, 5000, 20, 0, 830000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = collecting(cases[i].of);
        scene_judge(&scene, "gc-pressure", cases[i].finds, cases[i].threshold);
    }
}

/* risk_share_min 0.33, heap_full_share 0.8, heap_free_share 0.5 and target_heap_share 0.67 of 8 GiB. */
static void test_risk_and_heap_of_collections(void **state)
{
    (void)state;
    static const struct {
        int64_t percent, peak_mib;
        double risk;
        const char *memory;
    } cases[] = {
        {36, 0, 0.3, "12g"},    {30, 0, 0.1, "12g"}, {36, 6800, 0.5, "10g"}, {36, 6308, 0.3, "10g"},
        {30, 6800, 0.2, "10g"}, {30, 3768, 0.1, ""}, {30, 4424, 0.1, "10g"}, {30, 7782, 0.2, "12g"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = collecting((struct collecting){40, 5000, cases[i].percent, 0, 0});
        if (cases[i].peak_mib)
            scene.app->executors.items[0].heap_peak_bytes = cases[i].peak_mib * MIB;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "gc-pressure");
        assert_non_null(finding);
        assert_true(finding->failure_risk == cases[i].risk);
        assert_string_equal(scene_setting(finding, "spark.executor.memory"), cases[i].memory);
        scene_free(&scene);
    }
}

struct dying {
    struct pyro_app *app;
    unsigned every;
};

static void dies(struct fixture_task *task, unsigned index, void *context)
{
    const struct dying *dying = context;
    char id[16];
    if (index % dying->every != 0)
        return;
    snprintf(id, sizeof(id), "%u", 1000 + index);
    task->row[PYRO_TASK_id] = 1000 + index;
    task->row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    task->row[PYRO_TASK_reason] = pyro_intern(dying->app->strings, PYRO_SLICE_LITERAL("ExceptionFailure"));
    struct pyro_failure *failure = pyro_vec_push(&dying->app->failures, dying->app->allocator);
    assert_non_null(failure);
    pyro_row_init(PYRO_TABLE_failures, failure);
    failure->kind = PYRO_SLICE_LITERAL("task");
    failure->id = pyro_intern_slice(dying->app->strings, pyro_slice_from(id));
    failure->stage = task->row[PYRO_TASK_stage];
    failure->reason = PYRO_SLICE_LITERAL("ExceptionFailure");
    failure->class_name = PYRO_SLICE_LITERAL("java.lang.OutOfMemoryError");
    failure->message = PYRO_SLICE_LITERAL("Java heap space");
}

/* few_partitions_share 0.25: 8 and 10 of 40; risk 0.5, risk_stage 0.6 and risk_ended 0.9. */
static void test_executor_oom(void **state)
{
    (void)state;
    static const int64_t ids[] = {1};
    static const struct {
        unsigned every;
        bool few, stage_failed, ended;
        double risk;
    } cases[] = {{5, true, false, false, 0.5},
                 {4, false, false, false, 0.5},
                 {5, true, true, false, 0.6},
                 {5, true, true, true, 0.9}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 1);
        struct dying dying = {scene.app, cases[i].every};
        struct pyro_stage *stage = scene_stage(&scene, 40, &two_s, 1, dies, &dying);
        if (cases[i].stage_failed) {
            stage->status = PYRO_SLICE_LITERAL("failed");
            stage->failure = PYRO_SLICE_LITERAL("Job aborted: java.lang.OutOfMemoryError");
        }
        if (cases[i].ended) {
            struct pyro_job *job = fixture_job(scene.app, 0, stage->submitted_ms, scene.now, ids, 1);
            job->status = PYRO_SLICE_LITERAL("failed");
            job->failure = stage->failure;
        }
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "executor-oom");
        assert_non_null(finding);
        assert_int_equal(pyro_slice_find(finding->advice[0].text, "Split the large partitions") != NULL, cases[i].few);
        assert_true(finding->failure_risk == cases[i].risk);
        scene_free(&scene);
    }
}

struct heaps {
    const char *memory;
    int64_t peak_mib, full, collection_ms, task_ms, ends_ms;
    unsigned executors, known;
};

/* Executors of two slots; of `known` the peak is recorded. */
static struct scene heaps(struct heaps of)
{
    struct scene scene = scene_cold(of.executors, 2);
    fixture_property(scene.app, "spark", "spark.executor.memory", of.memory);
    scene_stage(&scene, 4 * of.executors, &of.task_ms, 1, NULL, NULL);
    for (unsigned i = 0; i < of.known; i++) {
        scene.app->executors.items[i].heap_peak_bytes = of.peak_mib * MIB;
        scene.app->executors.items[i].full_collections = of.full;
        scene.app->executors.items[i].collection_ms = of.collection_ms;
    }
    scene.now = scene.now > SCENE_START + of.ends_ms ? scene.now : SCENE_START + of.ends_ms;
    return scene;
}

static void test_memory_near_limit(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        double risk;
        struct heaps heaps;
    } cases[] = {
        /* heap_share_min 0.9 of 4 GiB */
        {"heap_share_min", true, 0.3, {"4g", 3850, 25, 0, 5000, 0, 2, 2}},
        {"heap_share_min", false, 0, {"4g", 3500, 25, 0, 5000, 0, 2, 2}},
        /* full_collections_min 5 */
        {"full_collections_min", true, 0.3, {"4g", 3850, 5, 0, 5000, 0, 2, 2}},
        {"full_collections_min", false, 0, {"4g", 3850, 4, 0, 5000, 0, 2, 2}},
        /* full_collections_per_minute_min 0.5: 5 in 9.2 and in 11 minutes after the start of the executors */
        {"full_collections_per_minute_min", true, 0.3, {"4g", 3850, 5, 0, 5000, 554000, 2, 2}},
        {"full_collections_per_minute_min", false, 0, {"4g", 3850, 5, 0, 5000, 662000, 2, 2}},
        /* collection_share_severe 0.33 of 100 s: risk_severe 0.5, and risk 0.3 */
        {"collection_share_severe", true, 0.5, {"4g", 3850, 25, 36000, 5000, 102000, 2, 2}},
        {"collection_share_severe", true, 0.3, {"4g", 3850, 25, 30000, 5000, 102000, 2, 2}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = heaps(cases[i].heaps);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "memory-near-limit");
        if ((finding != NULL) != cases[i].finds || (finding && finding->failure_risk != cases[i].risk))
            fail_msg("wrong near %s", cases[i].threshold);
        scene_free(&scene);
    }
    /* room_used_share_min 0.9 of the 384 MiB outside 2 GiB: 355 and 335 MiB */
    for (int64_t python = 235; python <= 255; python += 20) {
        struct scene scene = heaps((struct heaps){"2g", 1500, 0, 0, 5000, 0, 1, 1});
        scene.app->executors.items[0].process_rss_peak_bytes = 2148 * MIB;
        scene.app->executors.items[0].python_rss_peak_bytes = python * MIB;
        scene_judge(&scene, "memory-near-limit", python == 255, "room_used_share_min");
    }
}

static void test_memory_overprovisioned(void **state)
{
    (void)state;
    static const struct {
        const char *threshold, *advised; /* NULL: quiet */
        struct heaps heaps;
    } cases[] = {
        /* heap_share_max 0.5 of 16 GiB */
        {"heap_share_max", "10240m", {"16g", 7536, 0, 0, 5000, 0, 2, 2}},
        {"heap_share_max", NULL, {"16g", 8847, 0, 0, 5000, 0, 2, 2}},
        /* heap_bytes_min 2 GiB */
        {"heap_bytes_min", "1024m", {"2200m", 300, 0, 0, 5000, 0, 2, 2}},
        {"heap_bytes_min", NULL, {"1900m", 300, 0, 0, 5000, 0, 2, 2}},
        /* known_share_min 0.8: 4 of 5, 7 of 10 */
        {"known_share_min", "1536m", {"4g", 800, 0, 0, 5000, 0, 5, 4}},
        {"known_share_min", NULL, {"4g", 800, 0, 0, 5000, 0, 10, 7}},
        /* run_ms_min 30000: eight tasks of 4.1 and of 3.4 s */
        {"run_ms_min", "1536m", {"4g", 800, 0, 0, 4100, 0, 2, 2}},
        {"run_ms_min", NULL, {"4g", 800, 0, 0, 3400, 0, 2, 2}},
        /* headroom 1.3 and reserved_bytes 300 MiB, in steps of 512 MiB: 1574 and 1496 MiB */
        {"reserved_bytes", "2048m", {"4g", 980, 0, 0, 5000, 0, 2, 2}},
        {"reserved_bytes", "1536m", {"4g", 920, 0, 0, 5000, 0, 2, 2}},
        /* smaller_share_max 0.75: 1536 of 2150 MiB, 2048 of 2500 MiB */
        {"smaller_share_max", "1536m", {"2150m", 900, 0, 0, 5000, 0, 2, 2}},
        {"smaller_share_max", NULL, {"2500m", 1200, 0, 0, 5000, 0, 2, 2}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = heaps(cases[i].heaps);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "memory-overprovisioned");
        if ((finding != NULL) != (cases[i].advised != NULL))
            fail_msg("wrong near %s", cases[i].threshold);
        if (finding)
            assert_string_equal(scene_setting(finding, "spark.executor.memory"), cases[i].advised);
        scene_free(&scene);
    }
}

static void test_driver_memory(void **state)
{
    (void)state;
    static const struct {
        const char *threshold, *peak, *full, *collection_ms;
        int64_t wall_ms;
        double risk; /* 0: quiet */
    } cases[] = {
        /* heap_share_min 0.9 of 512 MiB */
        {"heap_share_min", "504658657", "9", "2000", 40000, 0.3},
        {"heap_share_min", "461708984", "9", "2000", 40000, 0},
        /* full_collections_min 3, full_collections_severe 20 */
        {"full_collections_min", "504658657", "3", "2000", 40000, 0.3},
        {"full_collections_min", "504658657", "2", "2000", 40000, 0},
        {"full_collections_severe", "504658657", "20", "2000", 40000, 0.5},
        {"full_collections_severe", "504658657", "19", "2000", 40000, 0.3},
        /* full_collections_per_minute_min 0.5: 3 in 5.5 and in 6.6 minutes */
        {"full_collections_per_minute_min", "504658657", "3", "2000", 330000, 0.3},
        {"full_collections_per_minute_min", "504658657", "3", "2000", 396000, 0},
        /* collection_share_min 0.15 of 100 s, collection_ms_min 5000 */
        {"collection_share_min", "100000000", "0", "16500", 100000, 0.3},
        {"collection_share_min", "100000000", "0", "13500", 100000, 0},
        {"collection_ms_min", "100000000", "0", "5500", 20000, 0.3},
        {"collection_ms_min", "100000000", "0", "4500", 20000, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        fixture_property(scene.app, "spark", "spark.driver.memory", "512m");
        fixture_property(scene.app, "metrics", "driver.JVMHeapMemory.peak", cases[i].peak);
        fixture_property(scene.app, "metrics", "driver.MajorGCCount.peak", cases[i].full);
        fixture_property(scene.app, "metrics", "driver.TotalGCTime.peak", cases[i].collection_ms);
        scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
        scene.now = SCENE_START + cases[i].wall_ms;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "driver-memory");
        if ((finding ? finding->failure_risk : 0) != cases[i].risk)
            fail_msg("wrong near %s", cases[i].threshold);
        scene_free(&scene);
    }
    /* risk_ended 0.9 where no job follows the error, risk_near 0.5 where one does */
    static const int64_t ids[] = {1};
    for (int follows = 0; follows < 2; follows++) {
        struct scene scene = scene_new(2, 2);
        struct pyro_sql_execution *sql = scene_query(&scene, 0);
        scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
        sql->failure = PYRO_SLICE_LITERAL("java.lang.OutOfMemoryError: Java heap space");
        sql->completed_ms = scene.now;
        if (follows)
            fixture_job(scene.app, 0, scene.now + 100, scene.now + 200, ids, 1);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "driver-memory");
        assert_non_null(finding);
        assert_true(finding->failure_risk == (follows ? 0.5 : 0.9));
        scene_free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_spill),
        cmocka_unit_test(test_advice_about_spills),
        cmocka_unit_test(test_gc_pressure),
        cmocka_unit_test(test_risk_and_heap_of_collections),
        cmocka_unit_test(test_executor_oom),
        cmocka_unit_test(test_memory_near_limit),
        cmocka_unit_test(test_memory_overprovisioned),
        cmocka_unit_test(test_driver_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
