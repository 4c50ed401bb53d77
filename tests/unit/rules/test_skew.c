/* data-skew and straggler: which of the two speaks, and when neither does. */
#include "base/strings/intern.h"
#include "scene.h"

#define MIB INT64_C(1048576)

/* Reads 10 MiB; the task numbered *context reads twelve times that. */
static void heavy(struct fixture_task *task, unsigned index, void *context)
{
    task->row[PYRO_TASK_shuffle_local_bytes] = (index == *(unsigned *)context ? 120 : 10) * MIB;
    task->row[PYRO_TASK_shuffle_read_records] = 1000 * (index == *(unsigned *)context ? 120 : 10);
}

static const int64_t one_slow[] = {2000, 2000, 2000, 2000, 2000, 24000, 2000, 2000, 2000, 2000, 2000, 2000};
static const int64_t even[] = {2000, 2100, 1900, 2300};

static void test_data_skew_fires(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    unsigned which = 5;
    scene_stage(&scene, 12, one_slow, 12, heavy, &which);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL);
    assert_int_equal(finding->stage, 1);
    assert_string_equal(finding->id.ptr, "data-skew:join-at-etl.py:88");
    /* 46 s of work on 4 slots cannot end before 11.5 s; the stage took 26 s. */
    assert_true(finding->saves.wall_expected_ms <= 26000 - 11500);
    assert_true(finding->saves.wall_expected_ms > 8000);
    assert_true(finding->saves.wall_low_ms <= finding->saves.wall_expected_ms);
    assert_non_null(pyro_slice_find(finding->cause, "12.0 x the median, with 12.0 x its data"));
    assert_string_equal(scene_setting(finding, "spark.sql.adaptive.skewJoin.enabled"), ""); /* no SQL stage */
    scene_quiet(&scene, "straggler");
    scene_quiet(&scene, "idle-executors"); /* its idle slots are the skew's */
    scene_free(&scene);
}

static void add_node(struct pyro_app *app, int64_t sql, const char *name)
{
    struct pyro_sql_node *node = pyro_vec_push(&app->sql_nodes, app->allocator);
    assert_non_null(node);
    pyro_row_init(PYRO_TABLE_sql_nodes, node);
    node->sql = sql;
    node->name = pyro_slice_from(name);
}

static void test_data_skew_of_sql_names_settings(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    unsigned which = 5;
    scene_stage(&scene, 12, one_slow, 12, heavy, &which)->sql = 3;
    add_node(scene.app, 3, "SortMergeJoin");
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.sql.adaptive.enabled"), "true");
    assert_string_equal(scene_setting(finding, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"), "60m");
    scene_free(&scene);
}

static void test_only_joins_get_skew_join(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    unsigned which = 5;
    scene_stage(&scene, 12, one_slow, 12, heavy, &which)->sql = 3;
    add_node(scene.app, 3, "Window");
    add_node(scene.app, 4, "SortMergeJoin"); /* of another query */
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"), "");
    assert_non_null(pyro_slice_find(finding->advice[0].text, "PARTITION BY"));
    scene_free(&scene);
}

static void heavy_file(struct fixture_task *task, unsigned index, void *context)
{
    task->row[PYRO_TASK_input_bytes] = (index == *(unsigned *)context ? 120 : 10) * MIB;
}

static void test_uneven_files_are_no_hot_key(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    unsigned which = 5;
    scene_stage(&scene, 12, one_slow, 12, heavy_file, &which)->sql = 3;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].text, "gzip"));
    for (size_t i = 0; i < finding->advice_count; i++)
        assert_false(pyro_slice_find(finding->advice[i].text, "Salt"));
    scene_free(&scene);
}

static void test_old_spark_gets_no_adaptive_settings(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene.app->application.spark_version = PYRO_SLICE_LITERAL("2.4.8");
    unsigned which = 5;
    scene_stage(&scene, 12, one_slow, 12, heavy, &which)->sql = 3;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.sql.adaptive.enabled"), "");
    scene_free(&scene);
}

static void test_straggler_fires_without_more_data(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    unsigned which = 99;
    scene_stage(&scene, 12, one_slow, 12, heavy, &which);
    scene_end(&scene);
    scene_quiet(&scene, "data-skew");
    const struct pyro_finding *finding = scene_finding(&scene, "straggler");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_non_null(pyro_slice_find(finding->cause, "task 5 took 24.0 s, its peers take 2.0 s"));
    scene_free(&scene);
}

static void collects(struct fixture_task *task, unsigned index, void *context)
{
    (void)context;
    if (index == 5)
        task->row[PYRO_TASK_gc_ms] = 20000;
}

static void test_straggler_names_its_cause(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 12, one_slow, 12, collects, NULL);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "straggler");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "garbage collection took 20.0 s more"));
    scene_free(&scene);
}

/* Task 5 has twelve times the bytes of its peers in as many records. */
static void larger_records(struct fixture_task *task, unsigned index, void *context)
{
    heavy(task, index, context);
    task->row[PYRO_TASK_shuffle_read_records] = 10000;
}

static void test_larger_records_are_no_hot_key(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    unsigned which = 5;
    scene_stage(&scene, 12, one_slow, 12, larger_records, &which)->sql = 3;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "larger records, not more"));
    assert_non_null(pyro_slice_find(finding->advice[0].text, "Salting keys does not help"));
    assert_int_equal(finding->advice_count, 1);
    scene_free(&scene);
}

static void far_away(struct fixture_task *task, unsigned index, void *context)
{
    struct pyro_string_pool *strings = context;
    task->row[PYRO_TASK_locality] =
        pyro_intern(strings, index == 5 ? PYRO_SLICE_LITERAL("ANY") : PYRO_SLICE_LITERAL("NODE_LOCAL"));
}

static void again(struct fixture_task *task, unsigned index, void *context)
{
    (void)context;
    task->row[PYRO_TASK_attempt] = index == 5;
}

static void test_straggler_names_place_and_retry(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 12, one_slow, 12, far_away, scene.app->strings);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "straggler");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "did not run near its data (ANY)"));
    assert_string_equal(scene_setting(finding, "spark.speculation"), ""); /* a copy would be as far away */
    scene_free(&scene);
    scene = scene_new(2, 2);
    scene_stage(&scene, 12, one_slow, 12, again, NULL);
    scene_end(&scene);
    finding = scene_finding(&scene, "straggler");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "it was attempt 1"));
    scene_free(&scene);
}

static void test_even_stages_are_quiet(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    unsigned which = 99;
    scene_stage(&scene, 40, even, 4, heavy, &which);
    scene_end(&scene);
    scene_quiet(&scene, "data-skew");
    scene_quiet(&scene, "straggler");
    assert_int_equal(scene_verdict(&scene, "data-skew"), PYRO_VERDICT_QUIET);
    assert_int_equal(scene.diagnosis->finding_count, 0);
    scene_free(&scene);
}

/* The first task of each slot starts its JVM: eight times as long as the others, and healthy. */
static void test_first_tasks_are_quiet(void **state)
{
    (void)state;
    struct pyro_app *app = fixture_app(SCENE_START, SCENE_START + 60000);
    struct scene scene = {.app = app, .executors = 2, .cores = 2, .now = SCENE_START + 2000};
    app->application.spark_version = PYRO_SLICE_LITERAL("3.5.6");
    fixture_executor(app, "1", 2, SCENE_START + 2000, PYRO_NONE);
    fixture_executor(app, "2", 2, SCENE_START + 2000, PYRO_NONE);
    int64_t ms[44];
    for (unsigned i = 0; i < 44; i++)
        ms[i] = i < 4 ? 8000 + 900 * i : 1000;
    scene_stage(&scene, 44, ms, 44, NULL, NULL);
    scene_end(&scene);
    scene_quiet(&scene, "straggler");
    scene_quiet(&scene, "data-skew");
    scene_free(&scene);
}

static void test_skew_beside_other_work_saves_less(void **state)
{
    (void)state;
    int64_t expected[2];
    for (int beside = 0; beside < 2; beside++) {
        struct scene scene = scene_new(2, 2);
        unsigned which = 5;
        const struct pyro_stage *stage = scene_stage(&scene, 12, one_slow, 12, heavy, &which);
        int64_t begin = stage->submitted_ms, end = stage->completed_ms;
        if (beside) {
            fixture_stage(scene.app, 7, begin, end);
            fixture_run(scene.app, 7, "1", begin, end);
        }
        scene_end(&scene);
        expected[beside] = scene_finding(&scene, "data-skew")->saves.wall_expected_ms;
        scene_free(&scene);
    }
    assert_true(expected[1] < expected[0] / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_skew_fires),
        cmocka_unit_test(test_data_skew_of_sql_names_settings),
        cmocka_unit_test(test_only_joins_get_skew_join),
        cmocka_unit_test(test_uneven_files_are_no_hot_key),
        cmocka_unit_test(test_old_spark_gets_no_adaptive_settings),
        cmocka_unit_test(test_straggler_fires_without_more_data),
        cmocka_unit_test(test_straggler_names_its_cause),
        cmocka_unit_test(test_larger_records_are_no_hot_key),
        cmocka_unit_test(test_straggler_names_place_and_retry),
        cmocka_unit_test(test_even_stages_are_quiet),
        cmocka_unit_test(test_first_tasks_are_quiet),
        cmocka_unit_test(test_skew_beside_other_work_saves_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
