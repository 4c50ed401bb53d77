/* disk-spill and gc-pressure. */
#include "scene.h"

#define MIB INT64_C(1048576)

static void spills(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    int64_t mib = *(int64_t *)context;
    task->row[PYRO_TASK_shuffle_local_bytes] = 200 * MIB;
    task->row[PYRO_TASK_disk_spill_bytes] = mib * MIB;
    task->row[PYRO_TASK_memory_spill_bytes] = 4 * mib * MIB;
    task->row[PYRO_TASK_peak_execution_memory_bytes] = 100 * MIB;
}

/* More shuffle partitions than there were do not help where adaptive execution joined them, or repartition(8) says how
 * many there are. */
static void test_disk_spill_of_joined_partitions(void **state)
{
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        struct scene scene = scene_new(2, 2);
        int64_t ms = 20000, spill = 200;
        scene_stage(&scene, 8, &ms, 1, spills, &spill)->sql = 0;
        fixture_property(scene.app, "spark", "spark.executor.memory", "1324m");
        if (joined) {
            struct pyro_sql_node *node = pyro_vec_push(&scene.app->sql_nodes, scene.app->allocator);
            assert_non_null(node);
            pyro_row_init(PYRO_TABLE_sql_nodes, node);
            node->sql = 0;
            node->name = PYRO_SLICE_LITERAL("AQEShuffleRead");
        }
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "disk-spill");
        assert_non_null(finding);
        assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), "");
        assert_int_equal(*scene_setting(finding, "spark.sql.adaptive.advisoryPartitionSizeInBytes") != 0, joined);
        scene_free(&scene);
    }
}

static void test_disk_spill_computes_partitions(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 20000, spill = 200;
    scene_stage(&scene, 8, &ms, 1, spills, &spill)->sql = 0;
    fixture_property(scene.app, "spark", "spark.executor.memory",
                     "1324m"); /* (1324 - 300) x 0.6 / 2 = 307 MiB a slot */
    fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", "8");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "disk-spill");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    /* A task needs at least 900 MiB, maybe twice that: 8 x 1800 / (0.8 x 307.2) = 58.6, in whole waves of 4 slots: 60.
     */
    assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), "60");
    assert_true(finding->failure_risk >= 0.2);
    scene_free(&scene);
}

static void test_disk_spill_blames_a_low_fraction(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 20000, spill = 20;
    scene_stage(&scene, 8, &ms, 1, spills, &spill)->sql = 0;
    fixture_property(scene.app, "spark", "spark.executor.memory", "2g");
    fixture_property(scene.app, "spark", "spark.memory.fraction", "0.1");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "disk-spill");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.memory.fraction"), "0.6");
    assert_string_equal(scene_setting(finding, "spark.sql.shuffle.partitions"), ""); /* 524 MiB a slot are enough */
    scene_free(&scene);
}

/* Where memory suffices, a limit on rows makes tasks spill, or what they share memory with: no task is blamed. */
static void test_disk_spill_of_what_fits(void **state)
{
    (void)state;
    const char *key = "spark.shuffle.spill.numElementsForceSpillThreshold";
    for (int limited = 0; limited < 2; limited++) {
        struct scene scene = scene_new(2, 2);
        int64_t ms = 20000, spill = 20;
        scene_stage(&scene, 8, &ms, 1, spills, &spill)->sql = 0;
        fixture_property(scene.app, "spark", "spark.executor.memory", "4g");
        if (limited)
            fixture_property(scene.app, "spark", key, "1000");
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "disk-spill");
        assert_non_null(finding);
        assert_int_equal(finding->advice_count, 1);
        assert_string_equal(scene_setting(finding, key), limited ? "2147483647" : "");
        assert_true((pyro_slice_find(finding->advice[0].text, "fits into its share") != NULL) == !limited);
        scene_free(&scene);
    }
}

static void test_disk_spill_is_quiet_about_little(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 20000, spill = 3;
    scene_stage(&scene, 8, &ms, 1, spills, &spill);
    scene_end(&scene);
    scene_quiet(&scene, "disk-spill");
    scene_free(&scene);
}

static void collects(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_gc_ms] = task->row[PYRO_TASK_run_ms] * *(int64_t *)context / 100;
}

static void test_gc_pressure_fires(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 5000, percent = 40;
    scene_stage(&scene, 40, &ms, 1, collects, &percent);
    fixture_property(scene.app, "spark", "spark.executor.memory", "2g");
    fixture_property(scene.app, "spark", "spark.executor.extraJavaOptions",
                     "-Xmn8m -Dkeep=1 -XX:+UseSerialGC --add-opens=java.base/java.lang=ALL-UNNAMED");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "gc-pressure");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL); /* 35 % of 50 of 54 s */
    assert_string_equal(scene_setting(finding, "spark.executor.memory"), "3g");
    assert_string_equal(scene_setting(finding, "spark.executor.extraJavaOptions"), "-Dkeep=1 -XX:+UseG1GC");
    assert_string_equal(finding->id.ptr, "gc-pressure");
    scene_free(&scene);
}

static void test_gc_pressure_is_quiet_when_healthy(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    int64_t ms = 5000, percent = 6;
    scene_stage(&scene, 40, &ms, 1, collects, &percent);
    scene_end(&scene);
    scene_quiet(&scene, "gc-pressure");
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_spill_computes_partitions),
        cmocka_unit_test(test_disk_spill_of_joined_partitions),
        cmocka_unit_test(test_disk_spill_blames_a_low_fraction),
        cmocka_unit_test(test_disk_spill_of_what_fits),
        cmocka_unit_test(test_disk_spill_is_quiet_about_little),
        cmocka_unit_test(test_gc_pressure_fires),
        cmocka_unit_test(test_gc_pressure_is_quiet_when_healthy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
