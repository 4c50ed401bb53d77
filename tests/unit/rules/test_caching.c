/* missing-cache, unused-cache and cache-eviction. */
#include <math.h>

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

/* Three queries whose only stage computes the same part and then something of its own. The part aggregates, or only
 * reads and projects. */
static struct scene partly_equal_queries(bool aggregates)
{
    static const int64_t both[][2] = {{0, 1}, {2, 3}, {4, 5}};
    struct scene scene = scene_new(2, 2);
    for (int64_t i = 0; i < 3; i++) {
        scene_query(&scene, i);
        add_node(&scene, i, 0, "WholeStageCodegen (2)", 100 + (uint64_t)i);
        add_node(&scene, i, 1, "Sort", 200 + (uint64_t)i);
        add_node(&scene, i, 2, "WholeStageCodegen (1)", 77);
        add_node(&scene, i, 3, aggregates ? "HashAggregate" : "Project", 78);
        add_node(&scene, i, 4, "Scan csv ", 79);
        add_rdd(&scene, both[i][0], NULL, "WholeStageCodegen (1)");
        add_rdd(&scene, both[i][1], &ids[both[i][0]], "WholeStageCodegen (2)");
        add_stage(&scene, both[i], 2, 5000, NULL, NULL)->sql = i;
        scene.app->jobs.items[scene.app->jobs.count - 1].sql = i;
    }
    return scene;
}

/* shared_plan 0.5, shared_scan 0.3: of 40 s of each of two stages, without the tenth that reading a cache takes. */
static void test_share_of_a_part_of_a_stage(void **state)
{
    (void)state;
    for (int aggregates = 0; aggregates < 2; aggregates++) {
        struct scene scene = partly_equal_queries(aggregates == 1);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "missing-cache");
        assert_non_null(finding);
        assert_string_equal(finding->evidence[1].metric, "repeated_task_ms");
        double expected = 2 * 40000 * 0.9 * (aggregates ? 0.5 : 0.3);
        assert_true(finding->evidence[1].value > expected - 1 && finding->evidence[1].value < expected + 1);
        scene_free(&scene);
    }
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

/* ---- Thresholds: a finding a tenth inside of each, none a tenth outside ---- */

static void judge(struct scene *scene, int64_t ends_ms, const char *rule, bool finds, const char *threshold)
{
    if (ends_ms)
        scene->now = SCENE_START + ends_ms;
    scene_judge(scene, rule, finds, threshold);
}

/* Jobs over one RDD, the last of them of another length. */
static struct scene rounds(unsigned count, int64_t ms, int64_t last_ms, bool python)
{
    struct scene scene = scene_new(2, 2);
    add_rdd(&scene, 0, NULL, "textFile");
    add_rdd(&scene, 1, &ids[0], python ? "textFile" : "map");
    for (unsigned i = 0; i < count; i++) {
        add_rdd(&scene, 10 + (int64_t)i, &ids[1], "filter")->name =
            pyro_slice_from(python ? "PythonRDD" : "MapPartitionsRDD");
        add_stage(&scene, lists[i], 3, i + 1 < count ? ms : last_ms, NULL, NULL);
    }
    return scene;
}

static void test_thresholds_of_missing_caches(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        unsigned count;
        int64_t ms, last_ms;
        bool python;
        int64_t ends_ms;
    } cases[] = {
        /* saved_ms_min 3000: eight tasks four times, 0.8 x 0.85 of them thrice, on four slots; saved_share 0.01 */
        {"saved_ms_min", true, 4, 809, 809, false, 0},
        {"saved_ms_min", false, 4, 662, 662, false, 0},
        {"saved_share", true, 4, 5000, 5000, false, 1855000},
        {"saved_share", false, 4, 5000, 5000, false, 2267000},
        /* times_fused 3, similar 0.6 */
        {"times_fused", true, 3, 9000, 9000, true, 0},
        {"times_fused", false, 2, 9000, 9000, true, 0},
        {"similar", true, 4, 9000, 5940, true, 0},
        {"similar", false, 4, 9000, 4860, true, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = rounds(cases[i].count, cases[i].ms, cases[i].last_ms, cases[i].python);
        judge(&scene, cases[i].ends_ms, "missing-cache", cases[i].finds, cases[i].threshold);
    }
    /* shared_fused 0.5 of 40 s, except reading a tenth of it and filling 0.15 once */
    struct scene scene = rounds(4, 5000, 5000, true);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "missing-cache");
    assert_non_null(finding);
    assert_string_equal(finding->evidence[1].metric, "shared_task_ms");
    assert_true(finding->evidence[1].value > 16999 && finding->evidence[1].value < 17001);
    scene_free(&scene);
}

struct room {
    int64_t spill, gc_ms;
};

static void lacks_room(struct fixture_task *task, unsigned index, void *context)
{
    const struct room *of = context;
    as_partitions(task, index, NULL);
    task->row[PYRO_TASK_disk_spill_bytes] = of->spill;
    task->row[PYRO_TASK_gc_ms] = of->gc_ms;
}

static void test_thresholds_of_unused_caches(void **state)
{
    (void)state;
    /* work_ms_min 2000: eight tasks of 275 and of 225 ms */
    for (int64_t ms = 225; ms <= 275; ms += 50) {
        struct scene scene = scene_new(2, 2);
        persist(add_rdd(&scene, 0, NULL, "map"), 0);
        add_stage(&scene, &ids[0], 1, ms, NULL, NULL);
        judge(&scene, 0, "unused-cache", ms == 275, "work_ms_min");
    }
    /* storage_share 0.5 of 434 MiB, gc_share 0.1; cost_share 0.1, of which a half is sure */
    static const struct {
        int64_t stored_mib;
        struct room room;
        bool risky;
    } cases[] = {{239, {1, 0}, true}, {195, {1, 0}, false}, {400, {0, 550}, true}, {400, {0, 450}, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_cold(2, 2);
        struct room room = cases[i].room;
        persist(add_rdd(&scene, 0, NULL, "map"), 0);
        struct pyro_stage *stage = scene_stage(&scene, TASKS, &(int64_t){5000}, 1, lacks_room, &room);
        stage->rdd_ids = ids;
        stage->rdd_count = 1;
        stage->job = 0;
        fixture_job(scene.app, 0, stage->submitted_ms, scene.now, ids, 1);
        scene.app->executors.items[0].storage_peak_bytes = cases[i].stored_mib << 20;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "unused-cache");
        assert_non_null(finding);
        assert_int_equal(finding->failure_risk > 0, cases[i].risky);
        assert_true(finding->edits[0].factor > 0.9499 && finding->edits[0].factor < 0.9501);
        scene_free(&scene);
    }
}

static void reads_block(struct fixture_task *task, unsigned index, void *context)
{
    as_partitions(task, index, NULL);
    task->row[PYRO_TASK_input_bytes] = *(int64_t *)context;
}

/* Adaptive execution fills a cache and reads it for the same query: what it reads is what was stored. */
static void test_what_storing_took(void **state)
{
    (void)state;
    /* Eight tasks of 5 s; of what blocks take, four fifths go: nothing is stored, 25 kB/ms, no more than 0.7 */
    static const struct {
        int64_t block;
        double left;
    } cases[] = {{0, 1 - 0.5 * 0.1}, {50000000, 1 - 0.8 * 0.4}, {20000, 1 - 0.8 * 0.1}, {500000000, 1 - 0.8 * 0.7}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_cold(2, 2);
        int64_t block = cases[i].block;
        persist(add_rdd(&scene, 0, NULL, "map"), 0);
        add_stage(&scene, &ids[0], 1, 5000, NULL, NULL);
        add_stage(&scene, &ids[0], 1, 1000, reads_block, &block);
        scene.app->jobs.items[0].sql = scene.app->jobs.items[1].sql = 0;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "unused-cache");
        assert_non_null(finding);
        assert_true(fabs(finding->edits[0].factor - cases[i].left) < 1e-6);
        scene_free(&scene);
    }
}

/* Tasks that look for their block: `misses` of them find none; they take `miss_ms`, the others 400 ms. The block was
 * made from `built` bytes. */
struct looking {
    unsigned stages, misses;
    int64_t miss_ms, built, read;
    unsigned seen;
};

static void looks_again(struct fixture_task *task, unsigned index, void *context)
{
    struct looking *of = context;
    bool misses = of->seen++ < of->misses;
    as_partitions(task, index, NULL);
    task->row[PYRO_TASK_input_bytes] = misses ? of->read : 1 << 20;
    if (!misses)
        task->row[PYRO_TASK_finish_ms] = task->row[PYRO_TASK_launch_ms] + 400;
}

static void builds(struct fixture_task *task, unsigned index, void *context)
{
    as_partitions(task, index, NULL);
    task->row[PYRO_TASK_input_bytes] = *(int64_t *)context;
}

static struct scene looking(struct looking of)
{
    struct scene scene = scene_new(2, 2);
    persist(add_rdd(&scene, 0, NULL, "map"), 0);
    add_stage(&scene, &ids[0], 1, 5000, builds, &of.built);
    for (unsigned i = 0; i < of.stages; i++)
        add_stage(&scene, &ids[0], 1, of.miss_ms, looks_again, &of);
    return scene;
}

static void test_thresholds_of_evictions(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct looking looking;
    } cases[] = {
        /* missed_share 0.05: 3 of 56 and of 64; missed_min 2 */
        {"missed_share", true, {7, 3, 5000, 0, 0, 0}},
        {"missed_share", false, {8, 3, 5000, 0, 0, 0}},
        {"missed_min", true, {3, 2, 5000, 0, 0, 0}},
        {"missed_min", false, {2, 1, 5000, 0, 0, 0}},
        /* saved_ms_min 2000: two tasks lose 1100 and 900 ms */
        {"saved_ms_min", true, {2, 2, 1500, 0, 0, 0}},
        {"saved_ms_min", false, {2, 2, 1300, 0, 0, 0}},
        /* same_bytes 0.02 */
        {"same_bytes", true, {2, 4, 5000, 1000000, 1018000, 0}},
        {"same_bytes", false, {2, 4, 5000, 1000000, 1022000, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = looking(cases[i].looking);
        judge(&scene, 0, "cache-eviction", cases[i].finds, cases[i].threshold);
    }
    /* heap_times 4: all that was missed would need 4.5 GiB where there was one */
    struct scene scene = looking((struct looking){2, 16, 5000, 0, 0, 0});
    scene.app->executors.items[0].storage_peak_bytes = INT64_C(434) << 20;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "cache-eviction");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.executor.memory"), "4g");
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_cache_of_an_rdd),
        cmocka_unit_test(test_missing_cache_behind_python),
        cmocka_unit_test(test_missing_cache_is_quiet),
        cmocka_unit_test(test_missing_cache_of_a_plan),
        cmocka_unit_test(test_share_of_a_part_of_a_stage),
        cmocka_unit_test(test_unused_cache),
        cmocka_unit_test(test_cache_eviction),
        cmocka_unit_test(test_nothing_cached_does_not_apply),
        cmocka_unit_test(test_thresholds_of_missing_caches),
        cmocka_unit_test(test_thresholds_of_unused_caches),
        cmocka_unit_test(test_what_storing_took),
        cmocka_unit_test(test_thresholds_of_evictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
