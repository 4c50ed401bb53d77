/* sequential-jobs and oversized-partition. */
#include <stdio.h>

#include "base/strings/intern.h"
#include "scene.h"

#define MIB INT64_C(1048576)
enum { JOBS_MAX = 32 };

static int64_t stage_ids[JOBS_MAX];

/* A job for each stage that was added since, at `site`; even ones at `other` when it is not NULL. */
static void add_jobs(struct scene *scene, const char *site, const char *other)
{
    for (size_t i = 0; i < scene->app->stages.count; i++) {
        struct pyro_stage *stage = &scene->app->stages.items[i];
        stage_ids[i] = stage->id;
        stage->job = stage->id;
        struct pyro_job *job =
            fixture_job(scene->app, stage->id, stage->submitted_ms, stage->completed_ms, &stage_ids[i], 1);
        job->name = pyro_slice_from(i % 2 == 0 && other ? other : site);
    }
}

/* The run time that jobs are judged by. */
static void runs(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    (void)context;
    task->row[PYRO_TASK_run_ms] = task->row[PYRO_TASK_finish_ms] - task->row[PYRO_TASK_launch_ms];
}

/* `count` jobs of `tasks` tasks of 2 s on four slots, one after the other. */
static struct scene running_loop(unsigned count, unsigned tasks, const char *site, const char *other)
{
    struct scene scene = scene_new(2, 2);
    const int64_t ms = 2000;
    for (unsigned i = 0; i < count; i++)
        scene_stage(&scene, tasks, &ms, 1, runs, NULL);
    add_jobs(&scene, site, other);
    return scene;
}

static void test_loop_of_small_jobs_fires(void **state)
{
    (void)state;
    struct scene scene = running_loop(12, 1, "save at etl.py:40", NULL);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "sequential-jobs");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    /* The setting does nothing without threads: both, or neither. */
    assert_int_equal(finding->advice[0].setting_count, 0);
    assert_non_null(pyro_slice_find(finding->advice[0].code, "spark.scheduler.mode=FAIR"));
    assert_non_null(pyro_slice_find(finding->cause, "jobs at one call site (save at etl.py:40)"));
    assert_true(finding->confidence >= 0.8);
    assert_int_equal(finding->edit_count, 1);
    assert_int_equal(finding->edits[0].kind, PYRO_EDIT_CONCURRENT);
    scene_free(&scene);
}

static void test_full_slots_are_quiet(void **state)
{
    (void)state;
    struct scene scene = running_loop(12, 8, "save at etl.py:40", NULL);
    scene_end(&scene);
    scene_quiet(&scene, "sequential-jobs");
    assert_int_equal(scene_verdict(&scene, "sequential-jobs"), PYRO_VERDICT_QUIET);
    scene_free(&scene);
}

static void test_few_jobs_and_algorithms_are_quiet(void **state)
{
    (void)state;
    struct scene scene = running_loop(4, 1, "save at etl.py:40", NULL);
    scene_end(&scene);
    scene_quiet(&scene, "sequential-jobs");
    scene_free(&scene);
    scene = running_loop(12, 1, "treeAggregate at RDDLossFunction.scala:61", NULL);
    scene_end(&scene);
    scene_quiet(&scene, "sequential-jobs");
    scene_free(&scene);
}

static void test_loop_with_two_steps_fires(void **state)
{
    (void)state;
    struct scene scene = running_loop(16, 1, "save at etl.py:40", "load at etl.py:38");
    scene_end(&scene);
    assert_non_null(scene_finding(&scene, "sequential-jobs"));
    scene_free(&scene);
}

static void test_shared_cache_lowers_confidence(void **state)
{
    (void)state;
    struct scene scene = running_loop(12, 1, "collect at fit.py:12", NULL);
    struct pyro_rdd *rdd = pyro_vec_push(&scene.app->rdds, scene.app->allocator);
    assert_non_null(rdd);
    pyro_row_init(PYRO_TABLE_rdds, rdd);
    rdd->cached = 1;
    rdd->stages = 12;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "sequential-jobs");
    assert_non_null(finding);
    assert_true(finding->confidence <= 0.4);
    assert_non_null(pyro_slice_find(finding->cause, "same cached data"));
    scene_free(&scene);
}

static void test_concurrent_jobs_are_quiet(void **state)
{
    (void)state;
    struct scene scene = running_loop(12, 1, "save at etl.py:40", NULL);
    for (size_t i = 0; i + 1 < scene.app->jobs.count; i++)
        scene.app->jobs.items[i].completed_ms += 1500; /* into the next one's run */
    scene_end(&scene);
    scene_quiet(&scene, "sequential-jobs");
    scene_free(&scene);
}

struct weight {
    int64_t read, spill, gc_ms;
};

static void weighs(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    const struct weight *weight = context;
    task->row[PYRO_TASK_shuffle_local_bytes] = weight->read;
    task->row[PYRO_TASK_disk_spill_bytes] = weight->spill;
    task->row[PYRO_TASK_memory_spill_bytes] = 3 * weight->spill;
    task->row[PYRO_TASK_gc_ms] = weight->gc_ms;
    runs(task, index, NULL);
}

static struct scene heavy_stage(struct weight weight)
{
    struct scene scene = scene_new(2, 2);
    const int64_t ms[] = {20000, 21000, 19000, 20500};
    scene_stage(&scene, 8, ms, 4, weighs, &weight)->sql = 3;
    scene_end(&scene);
    return scene;
}

static void test_oversized_partitions(void **state)
{
    (void)state;
    struct scene scene = heavy_stage((struct weight){400 * MIB, 300 * MIB, 0});
    const struct pyro_finding *finding = scene_finding(&scene, "oversized-partition");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_true(finding->failure_risk > 0.19);
    assert_non_null(pyro_slice_find(finding->cause, "each of 8 tasks read 400 MiB"));
    assert_int_equal(finding->edits[0].kind, PYRO_EDIT_REPARTITION);
    assert_int_equal(finding->edits[0].count, 28); /* 3200 MiB in pieces of 128, whole waves of 4 */
    scene_free(&scene);
    scene = heavy_stage((struct weight){400 * MIB, 0, 8000});
    assert_non_null(scene_finding(&scene, "oversized-partition"));
    scene_free(&scene);
    scene = heavy_stage((struct weight){2000 * MIB, 0, 0});
    assert_non_null(scene_finding(&scene, "oversized-partition"));
    scene_free(&scene);
}

static void test_large_partitions_that_do_well_are_quiet(void **state)
{
    (void)state;
    struct scene scene = heavy_stage((struct weight){400 * MIB, 0, 200});
    scene_quiet(&scene, "oversized-partition");
    assert_int_equal(scene_verdict(&scene, "oversized-partition"), PYRO_VERDICT_QUIET);
    scene_free(&scene);
    scene = heavy_stage((struct weight){60 * MIB, 50 * MIB, 8000}); /* too little memory, not too much data */
    scene_quiet(&scene, "oversized-partition");
    scene_free(&scene);
    scene = heavy_stage((struct weight){0, 0, 0});
    assert_int_equal(scene_verdict(&scene, "oversized-partition"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

/* ---- Thresholds: a finding a tenth inside of each, none a tenth outside ---- */

/* `count` jobs of one task, `busy` of them of all slots, at `sites` places in turn; each after a pause. */
struct jobs {
    unsigned count, full, sites;
    int64_t ms, pause_ms, ends_ms;
};

static struct scene jobs(struct jobs of)
{
    static const char *const sites[] = {"a at etl.py:1", "b at etl.py:2", "c at etl.py:3",
                                        "d at etl.py:4", "e at etl.py:5", "f at etl.py:6"};
    struct scene scene = scene_new(2, 2);
    for (unsigned i = 0; i < of.count; i++) {
        scene.now += of.pause_ms;
        struct pyro_stage *stage = scene_stage(&scene, i < of.full ? 4 : 1, &of.ms, 1, runs, NULL);
        stage_ids[i] = stage->id;
        stage->job = stage->id;
        fixture_job(scene.app, stage->id, stage->submitted_ms, stage->completed_ms, &stage_ids[i], 1)->name =
            pyro_slice_from(sites[i % of.sites]);
    }
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_thresholds_of_loops(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct jobs jobs;
    } cases[] = {
        /* repeats_min 6 */
        {"repeats_min", true, {6, 0, 1, 4000, 0, 0}},
        {"repeats_min", false, {5, 0, 1, 4000, 0, 0}},
        /* gap_ms_max 5000 */
        {"gap_ms_max", true, {12, 0, 1, 4000, 4500, 0}},
        {"gap_ms_max", false, {12, 0, 1, 4000, 5500, 0}},
        /* busy_share_max 0.5 of four slots: (5 x 4 + 15) / 80, (9 x 4 + 11) / 80 */
        {"busy_share_max", true, {20, 5, 1, 4000, 0, 0}},
        {"busy_share_max", false, {20, 9, 1, 4000, 0, 0}},
        /* sites_max 4: four and five places, six times each */
        {"sites_max", true, {24, 0, 4, 4000, 0, 0}},
        {"sites_max", false, {30, 0, 5, 4000, 0, 0}},
        /* saving_ms_min 2000: six jobs; their work fills four slots for 0.34 of the time; 0.6 of the rest */
        {"saving_ms_min", true, {6, 0, 1, 880, 0, 0}},
        {"saving_ms_min", false, {6, 0, 1, 720, 0, 0}},
        /* saving_share_min 0.02: 20.3 s of 925 and of 1130 s */
        {"saving_share_min", true, {12, 0, 1, 4000, 0, 925000}},
        {"saving_share_min", false, {12, 0, 1, 4000, 0, 1130000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = jobs(cases[i].jobs);
        scene_judge(&scene, "sequential-jobs", cases[i].finds, cases[i].threshold);
    }
}

static void test_thresholds_of_partitions(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct weight weight;
        int64_t ms;
    } cases[] = {
        /* bytes_min 200 MiB, huge_bytes 1 GiB */
        {"bytes_min", true, {220 * MIB, 110 * MIB, 0}, 20000},
        {"bytes_min", false, {180 * MIB, 110 * MIB, 0}, 20000},
        {"huge_bytes", true, {1126 * MIB, 0, 0}, 20000},
        {"huge_bytes", false, {922 * MIB, 0, 0}, 20000},
        /* spill_share_min 0.2, gc_share_min 0.15, task_ms_min 180000 */
        {"spill_share_min", true, {400 * MIB, 88 * MIB, 0}, 20000},
        {"spill_share_min", false, {400 * MIB, 72 * MIB, 0}, 20000},
        {"gc_share_min", true, {400 * MIB, 0, 3300}, 20000},
        {"gc_share_min", false, {400 * MIB, 0, 2700}, 20000},
        {"task_ms_min", true, {400 * MIB, 0, 0}, 198000},
        {"task_ms_min", false, {400 * MIB, 0, 0}, 162000},
        /* stage_ms_min 5000: two waves */
        {"stage_ms_min", true, {400 * MIB, 300 * MIB, 0}, 2750},
        {"stage_ms_min", false, {400 * MIB, 300 * MIB, 0}, 2250},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        struct weight weight = cases[i].weight;
        scene_stage(&scene, 8, &cases[i].ms, 1, weighs, &weight)->sql = 3;
        scene_judge(&scene, "oversized-partition", cases[i].finds, cases[i].threshold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop_of_small_jobs_fires),
        cmocka_unit_test(test_full_slots_are_quiet),
        cmocka_unit_test(test_few_jobs_and_algorithms_are_quiet),
        cmocka_unit_test(test_loop_with_two_steps_fires),
        cmocka_unit_test(test_shared_cache_lowers_confidence),
        cmocka_unit_test(test_concurrent_jobs_are_quiet),
        cmocka_unit_test(test_oversized_partitions),
        cmocka_unit_test(test_large_partitions_that_do_well_are_quiet),
        cmocka_unit_test(test_thresholds_of_loops),
        cmocka_unit_test(test_thresholds_of_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
