/* missing-cache, unused-cache and cache-eviction. */
#include "scene.h"

enum { TASKS = 8 };

/* Ids of RDDs and stages that tests point to. */
static const int64_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const int64_t lists[][3] = {{0, 1, 10}, {0, 1, 11}, {0, 1, 12}, {0, 1, 13}};

static struct pyro_rdd *add_rdd(struct scene *scene, int64_t id, const int64_t *parent, const char *operation)
{
    struct pyro_rdd *rdd = pyro_vec_push(&scene->app->rdds, scene->app->allocator);
    assert_non_null(rdd);
    pyro_row_init(PYRO_TABLE_rdds, rdd);
    rdd->id = id;
    rdd->cached = 0;
    rdd->partitions = TASKS;
    rdd->name = PYRO_SLICE_LITERAL("MapPartitionsRDD");
    rdd->operation = pyro_slice_from(operation);
    rdd->parent_ids = parent;
    rdd->parent_count = parent ? 1 : 0;
    return rdd;
}

static void persist(struct pyro_rdd *rdd, int64_t from)
{
    rdd->cached = 1;
    rdd->cached_from = from;
    rdd->cached_to = 1000;
    rdd->level = PYRO_SLICE_LITERAL("MEMORY_ONLY");
}

static void as_partitions(struct fixture_task *task, unsigned index, void *context)
{
    (void)context;
    task->row[PYRO_TASK_partition] = index;
    task->row[PYRO_TASK_has_metrics] = 1;
}

/* A stage in a job of its own that names `count` RDDs. */
static struct pyro_stage *add_stage(struct scene *scene, const int64_t *rdds, uint32_t count, int64_t ms,
                                    scene_change change, void *context)
{
    int64_t begin = scene->now;
    struct pyro_stage *stage = scene_stage(scene, TASKS, &ms, 1, change ? change : as_partitions, context);
    stage->rdd_ids = rdds;
    stage->rdd_count = count;
    stage->job = stage->id;
    fixture_job(scene->app, stage->id, begin, scene->now, &ids[stage->id], 1);
    return stage;
}

/* Four jobs over one mapped RDD; each makes its own RDD from it. */
static struct scene loop(int64_t ms, const char *operation, const char *name)
{
    struct scene scene = scene_new(2, 2);
    add_rdd(&scene, 0, NULL, "textFile");
    add_rdd(&scene, 1, &ids[0], operation);
    for (int i = 0; i < 4; i++) {
        add_rdd(&scene, 10 + i, &ids[1], "filter")->name = pyro_slice_from(name);
        add_stage(&scene, lists[i], 3, ms, NULL, NULL);
    }
    return scene;
}

static void test_missing_cache_of_an_rdd(void **state)
{
    (void)state;
    struct scene scene = loop(5000, "map", "MapPartitionsRDD");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "missing-cache");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_string_equal(finding->evidence[0].metric, "times_computed");
    assert_true(finding->evidence[0].value == 4);
    /* 8 x 5 s each, 0.8 of it shared, of which reading takes a tenth and filling 0.15 once: 27.2 s in three stages. */
    assert_true(finding->evidence[1].value > 27190 && finding->evidence[1].value < 27210);
    assert_true(finding->saves.wall_expected_ms > 10000);
    scene_free(&scene);
}

static void test_missing_cache_behind_python(void **state)
{
    (void)state;
    struct scene scene = loop(5000, "textFile", "PythonRDD");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "missing-cache");
    assert_non_null(finding);
    assert_true(finding->confidence < 0.8);
    scene_free(&scene);
}

static void test_missing_cache_is_quiet(void **state)
{
    (void)state;
    struct scene only_source = loop(5000, "textFile", "MapPartitionsRDD");
    scene_end(&only_source);
    scene_quiet(&only_source, "missing-cache");
    scene_free(&only_source);

    struct scene cheap = loop(200, "map", "MapPartitionsRDD");
    scene_end(&cheap);
    scene_quiet(&cheap, "missing-cache");
    scene_free(&cheap);

    struct scene cached = loop(5000, "map", "MapPartitionsRDD");
    persist(&cached.app->rdds.items[1], 0);
    scene_end(&cached);
    scene_quiet(&cached, "missing-cache");
    scene_free(&cached);
}

static struct pyro_sql_node *add_node(struct scene *scene, int64_t sql, int64_t node, const char *name, uint64_t same)
{
    struct pyro_sql_node *row = pyro_vec_push(&scene->app->sql_nodes, scene->app->allocator);
    assert_non_null(row);
    pyro_row_init(PYRO_TABLE_sql_nodes, row);
    row->sql = sql;
    row->node = node;
    row->parent = node > 0 ? node - 1 : PYRO_NONE;
    row->depth = node;
    row->name = pyro_slice_from(name);
    row->exact_print = row->columnless_print = same;
    return row;
}

static void shuffled(struct fixture_task *task, unsigned index, void *context)
{
    as_partitions(task, index, context);
    task->row[PYRO_TASK_shuffle_local_bytes] = 1000000;
}

/* Three queries; the aggregate over `part` is the same in all of them where that is not 0. It reads files, or shuffle
 * partitions that adaptive execution coalesced. */
static struct scene queries(uint64_t part, bool coalesced)
{
    struct scene scene = scene_new(2, 2);
    for (int64_t i = 0; i < 3; i++) {
        struct pyro_sql_execution *sql = pyro_vec_push(&scene.app->sql, scene.app->allocator);
        assert_non_null(sql);
        pyro_row_init(PYRO_TABLE_sql, sql);
        sql->id = i;
        sql->status = PYRO_SLICE_LITERAL("succeeded");
        uint64_t own = part ? part : 1000 + (uint64_t)i;
        add_node(&scene, i, 0, "HashAggregate", 100 + (uint64_t)i);
        add_node(&scene, i, 1, "Exchange", own);
        add_node(&scene, i, 2, "WholeStageCodegen (1)", own + 50);
        add_node(&scene, i, 3, "HashAggregate", own + 50);
        add_node(&scene, i, 4, coalesced ? "AQEShuffleRead" : "Scan parquet ", 0);
        add_rdd(&scene, i, NULL, "WholeStageCodegen (1)");
        add_stage(&scene, &ids[i], 1, 5000, coalesced ? shuffled : NULL, NULL)->sql = i;
        scene.app->jobs.items[scene.app->jobs.count - 1].sql = i;
    }
    return scene;
}

static void test_missing_cache_of_a_plan(void **state)
{
    (void)state;
    struct scene scene = queries(77, false);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "missing-cache");
    assert_non_null(finding);
    assert_true(finding->evidence[0].value == 3);
    assert_true(finding->evidence[1].value == 80000); /* two stages that need not run */
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_null(pyro_slice_find(finding->advice[0].code, "coalesce"));
    scene_free(&scene);

    /* Adaptive execution would leave all 200 partitions in the cache. */
    struct scene coalesced = queries(77, true);
    scene_end(&coalesced);
    finding = scene_finding(&coalesced, "missing-cache");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->advice[0].code, ".coalesce(8).persist()"));
    assert_non_null(pyro_slice_find(finding->advice[0].text, "keeps the 200 partitions"));
    scene_free(&coalesced);

    struct scene other = queries(0, false);
    scene_end(&other);
    scene_quiet(&other, "missing-cache");
    scene_free(&other);
}

static void test_unused_cache(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        struct scene scene = scene_new(2, 2);
        persist(add_rdd(&scene, 0, NULL, "map"), 0);
        add_rdd(&scene, 1, &ids[0], "filter");
        add_stage(&scene, &ids[0], 1, 5000, NULL, NULL)->name = PYRO_SLICE_LITERAL("count at etl.py:3");
        if (read)
            add_stage(&scene, &ids[0], 2, 1000, NULL, NULL);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "unused-cache");
        assert_true((finding == NULL) == (read == 1));
        if (finding) {
            assert_true(finding->severity >= PYRO_SEVERITY_SEVERE); /* the job was for nothing else */
            assert_true(finding->evidence[0].value == 0);
        }
        scene_free(&scene);
    }
}

/* Every second task finds nothing where `context` says so. */
static void looks(struct fixture_task *task, unsigned index, void *context)
{
    bool misses = *(bool *)context && index % 2 == 0;
    as_partitions(task, index, NULL);
    task->row[PYRO_TASK_input_bytes] = misses ? 0 : 1 << 20;
    if (!misses)
        task->row[PYRO_TASK_finish_ms] = task->row[PYRO_TASK_launch_ms] + 400;
}

static void test_cache_eviction(void **state)
{
    (void)state;
    for (int evicted = 0; evicted < 2; evicted++) {
        struct scene scene = scene_new(2, 2);
        bool misses = evicted == 1;
        persist(add_rdd(&scene, 0, NULL, "map"), 0);
        for (int i = 0; i < 4; i++)
            add_stage(&scene, &ids[0], 1, 5000, i > 0 ? looks : NULL, &misses);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "cache-eviction");
        assert_true((finding != NULL) == misses);
        if (finding) {
            assert_string_equal(finding->evidence[0].metric, "missed_tasks");
            assert_true(finding->evidence[0].value == 12);
            assert_true(finding->saves.wall_expected_ms > 5000);
            assert_string_not_equal(scene_setting(finding, "spark.executor.memory"), "");
        }
        scene_free(&scene);
    }
}

static void test_nothing_cached_does_not_apply(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_end(&scene);
    assert_int_equal(scene_verdict(&scene, "unused-cache"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "cache-eviction"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "missing-cache"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_cache_of_an_rdd),
        cmocka_unit_test(test_missing_cache_behind_python),
        cmocka_unit_test(test_missing_cache_is_quiet),
        cmocka_unit_test(test_missing_cache_of_a_plan),
        cmocka_unit_test(test_unused_cache),
        cmocka_unit_test(test_cache_eviction),
        cmocka_unit_test(test_nothing_cached_does_not_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
