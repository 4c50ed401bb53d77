/* Thresholds of too-many-partitions, too-few-partitions, driver-bound, idle-executors and small-input-files: a finding
 * a tenth inside of each, none a tenth outside. */
#include "scene.h"

#define MIB INT64_C(1048576)

/* Stages at one call site, of tasks that read from a shuffle, or from files. */
struct tasks {
    unsigned executors, stages, count;
    int64_t ms, run_ms, shuffle_bytes, input_bytes;
    int64_t ends_ms; /* of the application; 0: with the last stage */
};

static void reads(struct fixture_task *task, unsigned index, void *context)
{
    const struct tasks *of = context;
    (void)index;
    task->row[PYRO_TASK_run_ms] = of->run_ms;
    task->row[PYRO_TASK_shuffle_local_bytes] = of->shuffle_bytes;
    task->row[PYRO_TASK_input_bytes] = of->input_bytes;
}

static struct scene tasks(struct tasks of)
{
    struct scene scene = scene_new(of.executors, 2);
    for (unsigned i = 0; i < of.stages; i++)
        scene_stage(&scene, of.count, &of.ms, 1, reads, &of);
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_too_many_partitions(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct tasks tasks;
    } cases[] = {
        /* tiny_ms 100, of tasks that read something */
        {"tiny_ms", true, {2, 1, 1000, 90, 12, 100000, 0, 0}},
        {"tiny_ms", false, {2, 1, 1000, 110, 12, 100000, 0, 0}},
        /* slow_tiny_ms 250, slow_tiny_bytes 64 KiB */
        {"slow_tiny_ms", true, {2, 1, 1000, 230, 12, 700, 0, 0}},
        {"slow_tiny_ms", false, {2, 1, 1000, 270, 12, 700, 0, 0}},
        {"slow_tiny_bytes", true, {2, 1, 1000, 150, 12, 59000, 0, 0}},
        {"slow_tiny_bytes", false, {2, 1, 1000, 150, 12, 72000, 0, 0}},
        /* many_tasks 1000, without a shuffle */
        {"many_tasks", true, {2, 1, 1100, 150, 12, 0, 0, 0}},
        {"many_tasks", false, {2, 1, 900, 150, 12, 0, 0, 0}},
        /* tasks_min 100 */
        {"tasks_min", true, {2, 1, 110, 90, 12, 700, 0, 0}},
        {"tasks_min", false, {2, 1, 90, 90, 12, 700, 0, 0}},
        /* waves_min 4: 4.4 over 32 slots */
        {"waves_min", true, {16, 8, 141, 90, 12, 700, 0, 0}},
        /* saving_ms_min 1000: 30 waves, of which 28 are not needed */
        {"saving_ms_min", true, {2, 1, 120, 39, 12, 700, 0, 0}},
        {"saving_ms_min", false, {2, 1, 120, 32, 12, 700, 0, 0}},
        /* saving_share_min 0.02: 2240 ms of 102 and of 124 s */
        {"saving_share_min", true, {2, 1, 120, 80, 12, 700, 0, 102000}},
        {"saving_share_min", false, {2, 1, 120, 80, 12, 700, 0, 124000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = tasks(cases[i].tasks);
        scene_judge(&scene, "too-many-partitions", cases[i].finds, cases[i].threshold);
    }
}

/* target_ms 1000, target_bytes 64 MiB and target_waves 2: the number of partitions that is advised. */
static void test_fewer_partitions(void **state)
{
    (void)state;
    static const struct {
        struct tasks tasks;
        const char *advised;
    } cases[] = {
        {{2, 1, 4000, 20, 12, 700, 0, 0}, "48"}, /* 48 s of run */
        {{2, 1, 4000, 90, 12, MIB, 0, 0}, "63"}, /* 62.5 x 64 MiB */
        {{8, 1, 1000, 20, 12, 700, 0, 0}, "32"}, /* 16 slots, 12 s of run */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = tasks(cases[i].tasks);
        scene.app->stages.items[1].sql = 1;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "too-many-partitions");
        assert_non_null(finding);
        assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), cases[i].advised);
        scene_free(&scene);
    }
}

/* parts_min 2: 220 tasks for 100 and for 120 files. */
static void test_parts_of_files(void **state)
{
    (void)state;
    for (int64_t files = 100; files <= 120; files += 20) {
        struct scene scene = scene_new(2, 2);
        struct tasks of = {2, 1, 220, 90, 12, 0, 1000, 0};
        fixture_property(scene.app, "spark", "spark.sql.files.maxPartitionBytes", "1m");
        scene_query(&scene, 7);
        scene_stage(&scene, of.count, &of.ms, 1, reads, &of)->sql = 7;
        scene_node(&scene, -1, "Scan parquet ", NULL, NULL);
        scene_metric(&scene, -1, "number of files read", files);
        scene_judge(&scene, "too-many-partitions", files == 100, "parts_min");
    }
}

struct few {
    unsigned tasks, stages;
    int64_t ms[3];
    bool set, warm; /* a property says how many; other tasks ran before */
    int64_t ends_ms;
};

static void shuffles(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_shuffle_local_bytes] = *(const int64_t *)context;
}

static struct scene few(struct few of)
{
    struct scene scene = of.warm ? scene_new(4, 2) : scene_cold(4, 2);
    int64_t bytes = MIB;
    if (of.set)
        fixture_property(scene.app, "spark", "spark.default.parallelism", "2");
    for (unsigned i = 0; i < of.stages; i++)
        scene_stage(&scene, of.tasks, of.ms, of.ms[1] ? 3 : 1, shuffles, &bytes);
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_too_few_partitions(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct few few;
    } cases[] = {
        /* task_ms_min 5000, set_task_ms_min 1000, cold_task_ms_min 20000 */
        {"task_ms_min", true, {2, 1, {5500}, false, true, 0}},
        {"task_ms_min", false, {2, 1, {4500}, false, true, 0}},
        {"set_task_ms_min", true, {2, 3, {1100}, true, true, 0}},
        {"set_task_ms_min", false, {2, 3, {900}, true, true, 0}},
        {"cold_task_ms_min", true, {2, 1, {22000}, false, false, 0}},
        {"cold_task_ms_min", false, {2, 1, {18000}, false, false, 0}},
        /* used_share_max 0.75: 6 and 7 of 8 slots */
        {"used_share_max", true, {6, 1, {20000}, false, true, 0}},
        {"used_share_max", false, {7, 1, {20000}, false, true, 0}},
        /* even_ratio_min 0.3 */
        {"even_ratio_min", true, {3, 1, {10000, 10000, 30000}, false, true, 0}},
        {"even_ratio_min", false, {3, 1, {10000, 10000, 37000}, false, true, 0}},
        /* saving_ms_min 1000: 0.8 of the three quarters that six more slots save */
        {"saving_ms_min", true, {2, 1, {1850}, true, true, 0}},
        {"saving_ms_min", false, {2, 1, {1550}, true, true, 0}},
        /* saving_share_min 0.02: 6 s of 270 and of 330 s */
        {"saving_share_min", true, {2, 1, {10000}, false, true, 270000}},
        {"saving_share_min", false, {2, 1, {10000}, false, true, 330000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = few(cases[i].few);
        scene_judge(&scene, "too-few-partitions", cases[i].finds, cases[i].threshold);
    }
    /* target_waves 2 over 8 slots; target_bytes 128 MiB of 2.5 GiB */
    for (int large = 0; large < 2; large++) {
        struct scene scene = scene_new(4, 2);
        int64_t ms = 40000, bytes = large ? 1280 * MIB : MIB;
        fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "2");
        scene_stage(&scene, 2, &ms, 1, shuffles, &bytes)->sql = 7;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "too-few-partitions");
        assert_non_null(finding);
        assert_string_equal(finding->evidence[0].metric, "partitions");
        assert_true(finding->evidence[0].value == 2 && finding->evidence[0].expected == (large ? 20 : 16));
        scene_free(&scene);
    }
}

/* Four tasks of `work_ms` after the warm-up, then the driver for `gap_ms`. */
static struct scene gap(int64_t work_ms, int64_t gap_ms)
{
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 4, &work_ms, 1, NULL, NULL);
    scene.now += gap_ms;
    return scene;
}

static void test_driver_bound(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        int64_t work_ms, gap_ms;
    } cases[] = {
        /* driver_share_min 0.15 of 200 s */
        {"driver_share_min", true, 163000, 33000},
        {"driver_share_min", false, 169000, 27000},
        /* driver_ms_min 5000, and half of session_ms 8000 */
        {"driver_ms_min", true, 20000, 9900},
        {"driver_ms_min", false, 20000, 8100},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = gap(cases[i].work_ms, cases[i].gap_ms);
        scene_judge(&scene, "driver-bound", cases[i].finds, cases[i].threshold);
    }
    /* session_ms_max 30000: executors came after 37 s */
    struct scene scene = gap(20000, 40000);
    scene.app->application.start_ms -= 35000;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "driver-bound");
    assert_non_null(finding);
    assert_string_equal(finding->evidence[0].metric, "driver_ms");
    assert_true(finding->evidence[0].value == 40000 && finding->evidence[0].expected == 30000);
    scene_free(&scene);
    /* gap_ms_min 250 */
    for (int64_t ms = 225; ms <= 275; ms += 50) {
        scene = gap(20000, ms);
        scene_stage(&scene, 4, &(int64_t){1000}, 1, NULL, NULL);
        scene.now += 20000;
        scene_end(&scene);
        finding = scene_finding(&scene, "driver-bound");
        assert_non_null(finding);
        assert_string_equal(finding->evidence[2].metric, "gaps");
        assert_true(finding->evidence[2].value == (ms > 250 ? 2 : 1));
        scene_free(&scene);
    }
}

static void test_idle_executors(void **state)
{
    (void)state;
    /* idle_share_min 0.25: 14 of 20 slots were busy, or 16 */
    for (unsigned busy = 14; busy <= 16; busy += 2) {
        struct scene scene = scene_new(10, 2);
        scene_stage(&scene, busy, &(int64_t){60000}, 1, NULL, NULL);
        scene_judge(&scene, "idle-executors", busy == 14, "idle_share_min");
    }
    /* saved_share_min 0.1: one executor of 9, of 11; every other stage fills all but it, and nothing runs after it */
    for (unsigned executors = 9; executors <= 11; executors += 2) {
        struct scene scene = scene_cold(executors, executors == 9 ? 6 : 5);
        for (int i = 0; i < 20; i++) {
            scene_stage(&scene, i % 2 ? 15 : executors == 9 ? 48 : 50, &(int64_t){4000}, 1, NULL, NULL);
            scene.now += 500;
        }
        scene_judge(&scene, "idle-executors", executors == 9, "saved_share_min");
    }
    /* core_ms_min 60000: of 16 cores */
    for (int64_t ms = 3375; ms <= 4125; ms += 750) {
        struct scene scene = scene_cold(8, 2);
        scene_stage(&scene, 4, &ms, 1, NULL, NULL);
        scene_judge(&scene, "idle-executors", ms == 4125, "core_ms_min");
    }
    /* longer_share_max 0.03: with one of two executors the first stage takes twice as long */
    for (int64_t ms = 1700; ms <= 2200; ms += 500) {
        struct scene scene = scene_cold(2, 2);
        scene_stage(&scene, 4, &ms, 1, NULL, NULL);
        scene_stage(&scene, 2, &(int64_t){60000}, 1, NULL, NULL);
        scene_judge(&scene, "idle-executors", ms == 1700, "longer_share_max");
    }
}

/* Two tasks for `narrow_ms`, and then all eight slots: no smaller number would do, but executors can leave for a time.
 */
static struct scene narrow(int64_t narrow_ms, int64_t wide_ms)
{
    struct scene scene = scene_cold(4, 2);
    const int64_t ms[] = {1, 1, 1, narrow_ms, narrow_ms};
    scene_stage(&scene, 5, ms, 5, NULL, NULL);
    scene_stage(&scene, 8, &wide_ms, 1, NULL, NULL);
    return scene;
}

static void test_executors_idle_for_a_time(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        int64_t narrow_ms, wide_ms;
    } cases[] = {
        /* stretch_ms_min 20000 */
        {"stretch_ms_min", true, 22000, 30000},
        {"stretch_ms_min", false, 18000, 30000},
        /* release_ms 10000: of 20.5 s on three of four executors, in a run of 58 s, 14 % remain */
        {"release_ms", true, 20500, 37500},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = narrow(cases[i].narrow_ms, cases[i].wide_ms);
        scene_judge(&scene, "idle-executors", cases[i].finds, cases[i].threshold);
    }
}

struct files {
    int64_t count, bytes, ms, ends_ms;
};

static struct scene files(struct files of)
{
    struct scene scene = scene_new(2, 2);
    struct tasks each = {2, 1, 8, of.ms, of.ms, 0, of.bytes / 8, 0};
    scene_query(&scene, 7);
    scene_stage(&scene, 8, &of.ms, 1, reads, &each)->sql = 7;
    scene_node(&scene, -1, "Scan parquet ", NULL, NULL);
    scene_metric(&scene, -1, "number of files read", of.count);
    scene_metric(&scene, -1, "size of files read", of.bytes);
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_small_input_files(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct files files;
    } cases[] = {
        /* mean_bytes_max 4 MiB */
        {"mean_bytes_max", true, {200, 720 * MIB, 5000, 0}},
        {"mean_bytes_max", false, {200, 880 * MIB, 5000, 0}},
        /* files_min 100 */
        {"files_min", true, {110, 110 * MIB, 2500, 0}},
        {"files_min", false, {90, 90 * MIB, 2500, 0}},
        /* saving_share_min 0.02: 198 files less, 10 ms each on four slots, of 22.5 and of 27.5 s */
        {"saving_share_min", true, {200, 200 * MIB, 5000, 22500}},
        {"saving_share_min", false, {200, 200 * MIB, 5000, 27500}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = files(cases[i].files);
        scene_judge(&scene, "small-input-files", cases[i].finds, cases[i].threshold);
    }
    /* harm_files_min 1000, and target_bytes 128 MiB of 600 MiB */
    for (int64_t count = 900; count <= 1100; count += 200) {
        struct scene scene = files((struct files){count, 600 * MIB, 5000, 0});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "small-input-files");
        assert_non_null(finding);
        assert_true((finding->harm >= 0.2) == (count == 1100));
        assert_non_null(pyro_slice_find(finding->advice[0].code, "repartition(5)"));
        scene_free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_many_partitions),
        cmocka_unit_test(test_fewer_partitions),
        cmocka_unit_test(test_parts_of_files),
        cmocka_unit_test(test_too_few_partitions),
        cmocka_unit_test(test_driver_bound),
        cmocka_unit_test(test_idle_executors),
        cmocka_unit_test(test_executors_idle_for_a_time),
        cmocka_unit_test(test_small_input_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
