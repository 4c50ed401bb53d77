/* costly-setting, and settings that are named in the findings of other rules: for every row of the table of settings
 * whose symptom is measured, a value on the bad side is named where the symptom is seen, and only there. */
#include <stdio.h>
#include <string.h>

#include "analyze/settings/spark_settings.h"
#include "plan_scene.h"
#include "rules/causes/measures.h"

static const int64_t five_s = 5000, one_s = 1000, tenth_s = 100;

/* What a task does apart from running 5 s: the symptoms in metrics of tasks. */
struct spent {
    enum pyro_symptom symptom;
};

static void spend(struct fixture_task *task, unsigned index, void *context)
{
    const struct spent *spent = context;
    (void)index;
    if (spent->symptom != PYRO_SYMPTOM_PYTHON_START) {
        task->row[PYRO_TASK_run_ms] = 4900;
        task->row[PYRO_TASK_cpu_ns] = INT64_C(4800000000);
    }
    switch (spent->symptom) {
    case PYRO_SYMPTOM_SHUFFLE_SIZE:
    case PYRO_SYMPTOM_SHUFFLE_WRITE:
        task->row[PYRO_TASK_shuffle_write_bytes] = INT64_C(400) << 20;
        task->row[PYRO_TASK_shuffle_write_ns] = INT64_C(2500000000);
        break;
    case PYRO_SYMPTOM_FETCH_WAIT:
        task->row[PYRO_TASK_shuffle_local_bytes] = INT64_C(100) << 20;
        task->row[PYRO_TASK_fetch_wait_ms] = 800;
        break;
    case PYRO_SYMPTOM_COMPRESSION:
        task->row[PYRO_TASK_shuffle_write_bytes] = INT64_C(60) << 20;
        task->row[PYRO_TASK_shuffle_write_records] = 1000000;
        break;
    case PYRO_SYMPTOM_PLAIN_RESULTS:
        task->row[PYRO_TASK_result_bytes] = 1 << 20;
        break;
    case PYRO_SYMPTOM_SPILL:
        task->row[PYRO_TASK_shuffle_local_bytes] = INT64_C(30) << 20;
        task->row[PYRO_TASK_memory_spill_bytes] = INT64_C(120) << 20;
        break;
    default:
        break;
    }
}

/* The plan that shows the symptom, as far as one does. */
static void plan(struct query *query, enum pyro_symptom symptom, const char *key)
{
    const char *format = strstr(key, ".orc.") ? "Scan orc " : "Scan parquet ";
    bool pickled = strstr(key, ".python.udf.") != NULL;
    switch (symptom) {
    case PYRO_SYMPTOM_INTERPRETED:
        query_add(query, PYRO_NONE, "HashAggregate", NULL, NULL);
        query_metric(query, 0, "time in aggregation build", "timing", 150000);
        break;
    case PYRO_SYMPTOM_ROW_READS:
        query_add(query, PYRO_NONE, format, NULL, "Batched: false\nFormat: Parquet");
        query_metric(query, 0, "scan time", "timing", 150000);
        break;
    case PYRO_SYMPTOM_UNFILTERED:
        query_add(query, PYRO_NONE, "Filter", NULL, NULL);
        query_rows(query, 0, 10);
        query_add(query, 0, format, NULL, "Batched: true\nPushedFilters: [IsNotNull(a), LessThan(a,10)]");
        query_rows(query, 1, 1000000);
        query_metric(query, 1, "scan time", "timing", 150000);
        break;
    case PYRO_SYMPTOM_READ_BATCHES:
        query_add(query, PYRO_NONE, "ColumnarToRow", NULL, NULL);
        query_metric(query, 0, "number of input batches", "sum", 100000);
        query_add(query, 0, format, NULL, "Batched: true");
        query_rows(query, 1, 1000000);
        query_metric(query, 1, "scan time", "timing", 150000);
        break;
    case PYRO_SYMPTOM_CACHE_BATCHES:
    case PYRO_SYMPTOM_CACHE_ROWS:
        query_add(query, PYRO_NONE, "InMemoryTableScan", NULL, NULL);
        query_rows(query, 0, 1000000);
        break;
    case PYRO_SYMPTOM_PYTHON:
    case PYRO_SYMPTOM_PYTHON_START:
        query_add(query, PYRO_NONE, pickled ? "BatchEvalPython" : "ArrowEvalPython", NULL, NULL);
        query_rows(query, 0, 15000000);
        query_metric(query, 0, "time to run Python workers", "timing", 150000);
        break;
    case PYRO_SYMPTOM_SORT_AGGREGATE:
        query_add(query, PYRO_NONE, "SortAggregate", NULL, NULL);
        query_add(query, 0, "Sort", NULL, NULL);
        query_metric(query, 1, "sort time", "timing", 150000);
        break;
    case PYRO_SYMPTOM_SORT_FALLBACK:
        query_add(query, PYRO_NONE, "ObjectHashAggregate", NULL, NULL);
        query_metric(query, 0, "number of sort fallback tasks", "sum", 40);
        query_metric(query, 0, "time in aggregation build", "timing", 150000);
        break;
    case PYRO_SYMPTOM_STATE_COMMIT:
        query_add(query, PYRO_NONE, "StateStoreSave", NULL, NULL);
        query_metric(query, 0, "time to commit changes", "timing", 100000);
        break;
    case PYRO_SYMPTOM_LISTING:
        query_add(query, PYRO_NONE, format, NULL, NULL);
        query_metric(query, 0, "metadata time", "timing", 12000);
        break;
    case PYRO_SYMPTOM_SPILL:
        query_add(query, PYRO_NONE,
                  strstr(key, "window")      ? "Window"
                  : strstr(key, "sortMerge") ? "SortMergeJoin"
                  : strstr(key, "cartesian") ? "CartesianProduct"
                                             : "Sort",
                  NULL, NULL);
        break;
    default:
        query_add(query, PYRO_NONE, "Project", NULL, NULL);
        break;
    }
}

/* A run with one query; `symptom` NONE: nothing is wrong. */
static struct query run(enum pyro_symptom symptom, const char *key, const char *value, const char *codec)
{
    struct query query = query_new();
    struct pyro_app *app = query.scene.app;
    struct spent spent = {symptom};
    static int64_t stage_id;
    bool schemas = symptom == PYRO_SYMPTOM_SCHEMA_MERGE, pandas = symptom == PYRO_SYMPTOM_PLAIN_RESULTS;
    if (value)
        fixture_property(app, "spark", key, value);
    if (codec)
        fixture_property(app, "spark", "spark.io.compression.codec", codec);
    plan(&query, symptom, key);
    struct pyro_stage *stage = scene_stage(&query.scene, symptom == PYRO_SYMPTOM_PYTHON_START ? 400 : 40,
                                           symptom == PYRO_SYMPTOM_PYTHON_START ? &tenth_s : &five_s, 1, spend, &spent);
    stage_id = stage->id;
    stage->accumulators = pyro_strbuf_slice(&query.ids);
    stage->name = schemas ? PYRO_SLICE_LITERAL("parquet at etl.py:3") : PYRO_SLICE_LITERAL("collect at etl.py:3");
    struct pyro_job *job = pyro_vec_push(&app->jobs, app->allocator);
    pyro_row_init(PYRO_TABLE_jobs, job);
    job->id = 1;
    job->name = pandas ? PYRO_SLICE_LITERAL("toPandas at etl.py:3") : PYRO_SLICE_LITERAL("collect at etl.py:3");
    job->sql = schemas ? PYRO_NONE : 1;
    job->submitted_ms = stage->submitted_ms;
    job->completed_ms = stage->completed_ms;
    job->status = PYRO_SLICE_LITERAL("succeeded");
    job->stage_ids = &stage_id;
    job->stage_id_count = 1;
    if (pandas) {
        stage->job = 1;
        query.scene.now += 20000; /* the driver converts rows */
        scene_stage(&query.scene, 4, &one_s, 1, NULL, NULL);
    }
    scene_end(&query.scene);
    return query;
}

static bool names(const struct query *query, const char *key)
{
    const struct pyro_diagnosis *diagnosis = query->scene.diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (*scene_setting(&diagnosis->findings[i], key))
            return true;
    return false;
}

/* A value far to that side of the default. */
static const char *bad_value(const struct pyro_setting_row *row, bool below, char value[64])
{
    struct pyro_app *app = fixture_app(SCENE_START, SCENE_START + 1);
    app->application.spark_version = PYRO_SLICE_LITERAL("3.5.6");
    struct pyro_slice usual = pyro_setting_default(app, row);
    double number = pyro_setting_magnitude(row, usual);
    bool known = usual.ptr != NULL;
    pyro_app_release(app);
    if (!known || row->since > 305)
        return NULL;
    if (row->kind == PYRO_SETTING_FLAG)
        return below == (number > 0) ? below ? "false" : "true" : NULL;
    if (row->kind == PYRO_SETTING_TEXT)
        return strcmp(row->key, "spark.io.compression.codec") == 0 ? NULL : "something-else";
    double other = below ? number / 64 : number * 64;
    if (row->kind != PYRO_SETTING_SHARE)
        other = other < 1 ? 1 : other;
    if (row->kind == PYRO_SETTING_COUNT && strstr(row->key, "zstd.level"))
        other = 19;
    if (other == number || (row->kind == PYRO_SETTING_SHARE && other > 1))
        return NULL;
    snprintf(value, 64, row->kind == PYRO_SETTING_SHARE ? "%.4f%s" : "%.0f%s", other,
             row->kind == PYRO_SETTING_SIZE   ? "b"
             : row->kind == PYRO_SETTING_TIME ? "ms"
                                              : "");
    return value;
}

/* Compression is measured by what is known of codecs; results by the driver's time: tests of their own below. */
static bool is_generated(enum pyro_symptom symptom)
{
    switch (symptom) {
    case PYRO_SYMPTOM_COMPRESSION:
    case PYRO_SYMPTOM_PLAIN_RESULTS:
    case PYRO_SYMPTOM_UNUSED_CORES:
    case PYRO_SYMPTOM_SCHEMA_MERGE:
    case PYRO_SYMPTOM_SMALL_TASKS:
        return false;
    default:
        return pyro_measure_of(symptom) != NULL;
    }
}

static void test_every_measured_setting(void **state)
{
    (void)state;
    size_t tested = 0;
    for (size_t i = 0; i < pyro_setting_row_count; i++)
        for (unsigned below = 0; below < 2; below++) {
            const struct pyro_setting_row *row = &pyro_setting_rows[i];
            enum pyro_symptom symptom = below ? row->below : row->above;
            char text[64];
            const char *value = is_generated(symptom) ? bad_value(row, below, text) : NULL;
            if (!value)
                continue;
            struct query bad = run(symptom, row->key, value, NULL),
                         healthy = run(PYRO_SYMPTOM_NONE, row->key, value, NULL),
                         usual = run(symptom, row->key, NULL, NULL);
            bool named = names(&bad, row->key), alone = names(&healthy, row->key), without = names(&usual, row->key);
            if (!named || alone || without)
                print_error("%s=%s: named %d, without symptom %d, without value %d\n", row->key, value, named, alone,
                            without);
            assert_true(named && !alone && !without);
            query_free(&bad);
            query_free(&healthy);
            query_free(&usual);
            tested++;
        }
    assert_true(tested >= 30);
}

/* No other model knows the setting: what it costs is what the default saves. */
static void test_costs(void **state)
{
    (void)state;
    struct query query = run(PYRO_SYMPTOM_PYTHON, "spark.sql.execution.arrow.maxRecordsPerBatch", "100", NULL);
    const struct pyro_finding *finding = scene_finding(&query.scene, "costly-setting");
    assert_non_null(finding);
    assert_true(finding->saves.basis == PYRO_BASIS_SETTINGS);
    assert_true(finding->saves.wall_expected_ms > 15000 && finding->saves.wall_expected_ms < 30000);
    assert_true(finding->full_costs.wall_ms > 15000 && finding->full_costs.wall_ms < 30000);
    assert_true(finding->full_costs.core_ms > 60000 && finding->full_costs.core_ms < 120000);
    assert_true(finding->severity == PYRO_SEVERITY_CRITICAL);
    assert_non_null(pyro_slice_find(finding->cause, "is 100; Spark's default is 10000"));
    query_free(&query);
}

/* ---- in the findings of other rules ---- */

#define MIB INT64_C(1048576)

static void heavy(struct fixture_task *task, unsigned index, void *context)
{
    (void)context;
    task->row[PYRO_TASK_shuffle_local_bytes] = (index == 5 ? 120 : 10) * MIB;
    task->row[PYRO_TASK_shuffle_read_records] = index == 5 ? 12000 : 1000;
}

/* A factor of 1,000 keeps the advice about skewed joins from acting: it is part of that advice. */
static void test_a_value_that_blocks_is_part_of_the_advice(void **state)
{
    (void)state;
    static const int64_t one_slow[] = {2000, 2000, 2000, 2000, 2000, 24000, 2000, 2000, 2000, 2000, 2000, 2000};
    const char *key = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
    for (unsigned bad = 0; bad < 2; bad++) {
        struct scene scene = scene_new(2, 2);
        fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
        if (bad)
            fixture_property(scene.app, "spark", key, "1000");
        scene_stage(&scene, 12, one_slow, 12, heavy, NULL)->sql = 3;
        struct pyro_sql_node *node = pyro_vec_push(&scene.app->sql_nodes, scene.app->allocator);
        pyro_row_init(PYRO_TABLE_sql_nodes, node);
        node->sql = 3;
        node->name = PYRO_SLICE_LITERAL("SortMergeJoin");
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
        assert_non_null(finding);
        assert_string_equal(scene_setting(finding, key), bad ? "5" : "");
        assert_string_equal(scene_setting(finding, "spark.sql.adaptive.skewJoin.enabled"), "true");
        assert_true((pyro_slice_find(finding->cause, key) != NULL) == bad);
        scene_free(&scene);
    }
}

static void put_out(struct fixture_task *task, unsigned index, void *context)
{
    (void)index, (void)context;
    task->row[PYRO_TASK_output_bytes] = 25 * MIB;
    task->row[PYRO_TASK_output_records] = 125000;
}

/* Many small files with a limit on rows: the finding about files names it, before changes of the program. */
static void test_small_files_name_the_limit(void **state)
{
    (void)state;
    const char *key = "spark.sql.files.maxRecordsPerFile";
    for (unsigned limit = 0; limit < 3; limit++) {
        struct scene scene = scene_new(2, 2);
        bool bad = limit == 1;
        if (limit > 0) /* no task reaches the larger one */
            fixture_property(scene.app, "spark", key, bad ? "500" : "200000");
        scene_query(&scene, 7);
        struct pyro_stage *stage = scene_stage(&scene, 12, &five_s, 1, put_out, NULL);
        stage->sql = 7;
        scene_node(&scene, -1, "Execute InsertIntoHadoopFsRelationCommand", NULL, NULL);
        scene_metric(&scene, -1, "number of written files", 3000);
        scene_metric(&scene, -1, "written output", 300 * MIB);
        scene_metric(&scene, stage->id, "task commit time", 20);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "small-output-files");
        assert_non_null(finding);
        assert_string_equal(scene_setting(finding, key), bad ? "0" : "");
        assert_true(!bad || pyro_slice_find(finding->advice[0].text, key));
        assert_null(scene_finding(&scene, "costly-setting")); /* one finding */
        scene_free(&scene);
    }
}

/* A rule that advises the setting itself knows the better value. */
static void test_one_value_of_a_setting(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct spent spent = {PYRO_SYMPTOM_SHUFFLE_WRITE};
    fixture_property(scene.app, "spark", "spark.shuffle.sync", "true");
    scene_stage(&scene, 40, &five_s, 1, spend, &spent);
    scene_end(&scene);
    size_t named = 0;
    for (size_t i = 0; i < scene.diagnosis->finding_count; i++)
        for (size_t k = 0; k < scene.diagnosis->findings[i].advice_count; k++)
            named += pyro_slice_find(scene.diagnosis->findings[i].advice[k].text, "spark.shuffle.sync") != NULL;
    assert_int_equal(named, 1);
    scene_free(&scene);
}

static void check(enum pyro_symptom symptom, const char *key, const char *value, const char *codec, bool expected)
{
    struct query query = run(symptom, key, value, codec);
    if (names(&query, key) != expected)
        print_error("%s=%s\n", key, value ? value : "unset");
    assert_true(names(&query, key) == expected);
    query_free(&query);
}

/* What a codec takes for the bytes that were shuffled: fast ones are not named. */
static void test_compression(void **state)
{
    (void)state;
    const char *level = "spark.io.compression.zstd.level", *codec = "spark.io.compression.codec";
    check(PYRO_SYMPTOM_COMPRESSION, level, "19", "zstd", true);
    check(PYRO_SYMPTOM_COMPRESSION, level, "3", "zstd", false);
    check(PYRO_SYMPTOM_COMPRESSION, level, "19", NULL, false); /* lz4 has no level */
    check(PYRO_SYMPTOM_NONE, level, "19", "zstd", false);
    check(PYRO_SYMPTOM_COMPRESSION, codec, "zstd", NULL, false);
    check(PYRO_SYMPTOM_COMPRESSION, codec, "snappy", NULL, false);
}

/* The default before Spark 4.2 is the slow one; a fast result has no time to save. */
static void test_results_without_arrow(void **state)
{
    (void)state;
    const char *key = "spark.sql.execution.arrow.pyspark.enabled";
    check(PYRO_SYMPTOM_PLAIN_RESULTS, key, NULL, NULL, true);
    check(PYRO_SYMPTOM_PLAIN_RESULTS, key, "false", NULL, true);
    check(PYRO_SYMPTOM_PLAIN_RESULTS, key, "true", NULL, false);
    check(PYRO_SYMPTOM_NONE, key, "false", NULL, false);
}

static void test_reserved_cores(void **state)
{
    (void)state;
    check(PYRO_SYMPTOM_UNUSED_CORES, "spark.task.cpus", "2", NULL, true);
    check(PYRO_SYMPTOM_UNUSED_CORES, "spark.task.cpus", NULL, NULL, false);
    check(PYRO_SYMPTOM_PYTHON_START, "spark.task.cpus", "2", NULL, false); /* what Python uses is not known */
}

static void read_little(struct fixture_task *task, unsigned index, void *context)
{
    (void)index, (void)context;
    task->row[PYRO_TASK_input_bytes] = MIB;
    task->row[PYRO_TASK_run_ms] = 60;
}

/* Each of these stages has too few tasks for too-many-partitions; the program has many of them. Spark's default is the
 * number of slots. */
static void test_small_tasks_of_many_stages(void **state)
{
    (void)state;
    static const int64_t tiny = 80, enough = 2000;
    const char *key = "spark.sql.files.minPartitionNum";
    static const struct {
        const char *value;
        const int64_t *ms;
        const char *advised;
    } cases[] = {{"2000", &tiny, "4"}, {NULL, &tiny, ""}, {"2000", &enough, ""}, {"4", &tiny, ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_new(2, 2);
        if (cases[i].value)
            fixture_property(scene.app, "spark", key, cases[i].value);
        scene_query(&scene, 7);
        for (unsigned stage = 0; stage < 20; stage++)
            scene_stage(&scene, 48, cases[i].ms, 1, read_little, NULL)->sql = 7;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "costly-setting");
        assert_string_equal(finding ? scene_setting(finding, key) : "", cases[i].advised);
        scene_free(&scene);
    }
}

static void test_schemas(void **state)
{
    (void)state;
    check(PYRO_SYMPTOM_SCHEMA_MERGE, "spark.sql.parquet.mergeSchema", "true", NULL, true);
    check(PYRO_SYMPTOM_SCHEMA_MERGE, "spark.sql.parquet.mergeSchema", NULL, NULL, false);
    check(PYRO_SYMPTOM_NONE, "spark.sql.parquet.mergeSchema", "true", NULL, false);
}

/* An option of the JVM is taken out of the list; the other options stay, except what Spark adds by itself. */
static void test_jvm_options(void **state)
{
    (void)state;
    static const struct {
        const char *set, *advised; /* NULL: nothing is advised */
    } cases[] = {
        {"-Xint", ""},
        {"-XX:+UseG1GC -XX:TieredStopAtLevel=1 -Dx=y", "-XX:+UseG1GC -Dx=y"},
        {" --add-opens=java.base/java.nio=ALL-UNNAMED  -Xint", ""},
        {"-Xinternalversion-like", NULL},
        {"-XX:TieredStopAtLevel=4", NULL},
        {"-XX:+UseG1GC", NULL},
    };
    const char *key = "spark.executor.extraJavaOptions";
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct query query = run(PYRO_SYMPTOM_SLOW_CODE, key, cases[i].set, NULL);
        const struct pyro_finding *finding = scene_finding(&query.scene, "costly-setting");
        assert_true((finding != NULL) == (cases[i].advised != NULL));
        if (finding) {
            const struct pyro_advice *advice = &finding->advice[0];
            assert_true(pyro_slice_is(advice->settings[0].key, key));
            assert_true(pyro_slice_is(advice->settings[0].value, cases[i].advised));
            assert_non_null(pyro_slice_find(finding->cause, "The JVM does not compile"));
        }
        query_free(&query);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_measured_setting),
        cmocka_unit_test(test_compression),
        cmocka_unit_test(test_results_without_arrow),
        cmocka_unit_test(test_reserved_cores),
        cmocka_unit_test(test_small_tasks_of_many_stages),
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_jvm_options),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_a_value_that_blocks_is_part_of_the_advice),
        cmocka_unit_test(test_small_files_name_the_limit),
        cmocka_unit_test(test_one_value_of_a_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
