/* missed-broadcast-join, oversized-broadcast, cartesian-product, row-explosion, repeated-scan, aqe-disabled. */
#include "plan_scene.h"

#define MIB INT64_C(1048576)

/* ---- missed-broadcast-join ---- */

static void join(struct query *query, const char *detail, int64_t small, const char *partitioning)
{
    *query = query_new();
    query_add(query, PYRO_NONE, "Exchange", "Exchange SinglePartition", NULL);
    query_add(query, 0, "HashAggregate", NULL, NULL);
    query_add(query, 1, "SortMergeJoin", detail, NULL);
    query_add(query, 2, "Sort", NULL, NULL);
    query_add(query, 3, "Exchange", partitioning, NULL);
    query_add(query, 2, "Sort", NULL, NULL);
    query_add(query, 5, "Exchange", partitioning, NULL);
    query_metric(query, 4, "data size", "size", 500 * MIB);
    query_metric(query, 4, "shuffle records written", "sum", 5000000);
    query_metric(query, 4, "shuffle write time", "nsTiming", INT64_C(60000000000));
    query_metric(query, 6, "data size", "size", small);
    query_metric(query, 6, "shuffle records written", "sum", 1000);
    query_metric(query, 3, "sort time", "timing", 20000);
    query_rows(query, 2, 5000000);
    query_end(query);
}

static void missed_broadcast_join(void **state)
{
    (void)state;
    static const char by_key[] = "Exchange hashpartitioning(k#1, 200), ENSURE_REQUIREMENTS, [plan_id=1]";
    struct query query;
    join(&query, "SortMergeJoin [k#1], [k#2], Inner", MIB, by_key);
    const struct pyro_finding *finding = scene_finding(&query.scene, "missed-broadcast-join");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_true(finding->saves.wall_expected_ms > 0);
    query_free(&query);
    static const struct {
        const char *detail, *partitioning;
        int64_t small;
    } quiet[] = {
        {"SortMergeJoin [k#1], [k#2], FullOuter", by_key, MIB},  /* no side may be broadcast */
        {"SortMergeJoin [k#1], [k#2], RightOuter", by_key, MIB}, /* only the large one may */
        {"SortMergeJoin [k#1], [k#2], Inner", by_key, 90 * MIB}, /* too large */
        {"SortMergeJoin [k#1], [k#2], Inner", "Exchange hashpartitioning(k#1, 9), REPARTITION_BY_NUM", MIB},
        {NULL, by_key, MIB}, /* it is not known which join this is */
    };
    for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++) {
        join(&query, quiet[i].detail, quiet[i].small, quiet[i].partitioning);
        assert_int_equal(scene_verdict(&query.scene, "missed-broadcast-join"), PYRO_VERDICT_QUIET);
        query_free(&query);
    }
}

/* ---- oversized-broadcast ---- */

static void oversized_broadcast(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct query query = query_new();
        fixture_property(query.scene.app, "spark", "spark.executor.memory", "1g");
        fixture_property(query.scene.app, "spark", "spark.driver.memory", "4g");
        query_add(&query, PYRO_NONE, "BroadcastHashJoin", "BroadcastHashJoin [k#1], [k#2], Inner, BuildRight", NULL);
        query_add(&query, 0, "Scan parquet ", NULL, NULL);
        query_add(&query, 0, "BroadcastExchange", NULL, NULL);
        query_rows(&query, 0, 1000);
        query_metric(&query, 2, "data size", "size", (large ? 200 : 33) * MIB);
        query_end(&query);
        const struct pyro_finding *finding = scene_finding(&query.scene, "oversized-broadcast");
        assert_int_equal(finding != NULL, large);
        if (finding)
            assert_int_equal(finding->severity, PYRO_SEVERITY_MODERATE);
        query_free(&query);
    }
}

/* ---- cartesian-product ---- */

static void cartesian_product(void **state)
{
    (void)state;
    static const int64_t right_rows[] = {50000, 1, 100};
    for (int i = 0; i < 3; i++) {
        struct query query = query_new();
        query_add(&query, PYRO_NONE, "BroadcastNestedLoopJoin", "BroadcastNestedLoopJoin BuildRight, Inner", NULL);
        query_add(&query, 0, "Scan parquet ", NULL, NULL);
        query_add(&query, 0, "BroadcastExchange", NULL, NULL);
        query_add(&query, 2, "Scan parquet ", NULL, NULL);
        query_rows(&query, 0, 1000);
        query_rows(&query, 1, 60000);
        query_rows(&query, 2, right_rows[i]);
        query_end(&query);
        const struct pyro_finding *finding = scene_finding(&query.scene, "cartesian-product");
        assert_int_equal(finding != NULL, i == 0); /* one row is not a product, 6 million pairs are few */
        if (finding)
            assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
        query_free(&query);
    }
}

/* ---- row-explosion ---- */

static void row_explosion(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        struct query query = query_new();
        query_add(&query, PYRO_NONE, "HashAggregate", NULL, NULL);
        query_add(&query, 0, "Generate", "Generate explode(a#1)", NULL);
        query_add(&query, 1, "Scan parquet ", NULL, NULL);
        query_rows(&query, 0, 100);
        query_rows(&query, 1, many ? 60000000 : 3000000);
        query_rows(&query, 2, 1000000);
        query_end(&query);
        const struct pyro_finding *finding = scene_finding(&query.scene, "row-explosion");
        assert_int_equal(finding != NULL, many);
        if (finding)
            assert_non_null(pyro_slice_find(finding->cause, "60 for each"));
        query_free(&query);
    }
}

/* ---- repeated-scan ---- */

static void repeated_scan(void **state)
{
    (void)state;
    static const char same[] = "Location: f[a]\nPushedFilters: [x]", other[] = "Location: f[a]\nPushedFilters: [y]";
    for (int kind = 0; kind < 3; kind++) {
        struct query query = query_new();
        fixture_property(query.scene.app, "spark", "spark.executor.memory", "4g");
        query_add(&query, PYRO_NONE, "Union", NULL, NULL);
        for (int64_t i = 1; i <= 4; i++) {
            query_add(&query, 0, "Scan parquet ", NULL, kind == 1 && i > 2 ? other : same);
            query_rows(&query, i, 1000000);
            query_metric(&query, i, "size of files read", "size", (kind == 2 ? 1 : 300) * MIB);
            query_metric(&query, i, "scan time", "timing", 40000);
        }
        query_end(&query);
        const struct pyro_finding *finding = scene_finding(&query.scene, "repeated-scan");
        assert_int_equal(finding != NULL, kind == 0); /* other filters, or almost nothing to read: no */
        if (finding)
            assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
        query_free(&query);
    }
}

/* ---- join-strategy ---- */

static void join_strategy(void **state)
{
    (void)state;
    static const char plain[] = "Exchange hashpartitioning(k#1L, 6), ENSURE_REQUIREMENTS",
                      cast[] = "Exchange hashpartitioning(cast(k#2 as bigint), 6), ENSURE_REQUIREMENTS";
    static const char off[] = "FileScan parquet a[k#1L] Batched: true, Bucketed: false (disabled by configuration)",
                      planner[] = "FileScan parquet b[k#2] Batched: true, Bucketed: false (disabled by query planner)",
                      used[] = "FileScan parquet c[k#3L] Batched: true, Bucketed: true", none[] = "FileScan parquet d";
    static const struct {
        const char *left, *right, *left_shuffle, *right_shuffle; /* NULL: no shuffle */
        int64_t bytes;
        const char *cause; /* NULL: quiet */
    } cases[] = {
        {off, off, plain, plain, 100 * MIB, "is disabled"},
        {off, none, plain, plain, 100 * MIB, "is disabled"},
        {used, planner, NULL, cast, 100 * MIB, "another type"},
        {none, planner, plain, cast, 100 * MIB, NULL}, /* the other side is shuffled nevertheless */
        {none, planner, plain, plain, 100 * MIB, NULL},
        {off, off, plain, plain, 10 * MIB, NULL},
        {off, off, "Exchange hashpartitioning(k#1L, 6), REPARTITION_BY_NUM", NULL, 100 * MIB, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct query query = query_new();
        query_add(&query, PYRO_NONE, "SortMergeJoin", "SortMergeJoin [k#1L], [k#2], Inner", NULL);
        for (int side = 0; side < 2; side++) {
            const char *shuffle = side ? cases[i].right_shuffle : cases[i].left_shuffle;
            int64_t sort = (int64_t)query.scene.app->sql_nodes.count;
            query_add(&query, 0, "Sort", "Sort [k ASC NULLS FIRST], false, 0", NULL);
            if (shuffle) {
                query_add(&query, sort, "Exchange", shuffle, NULL);
                query_metric(&query, sort + 1, "data size", "size", cases[i].bytes);
                query_metric(&query, sort + 1, "shuffle write time", "nsTiming", INT64_C(60000000000));
            }
            query_add(&query, shuffle ? sort + 1 : sort, "Scan parquet t", side ? cases[i].right : cases[i].left, NULL);
        }
        query_rows(&query, 0, 1000000);
        query_end(&query);
        const struct pyro_finding *finding = scene_finding(&query.scene, "join-strategy");
        assert_int_equal(finding != NULL, cases[i].cause != NULL);
        if (finding) {
            assert_non_null(pyro_slice_find(finding->cause, cases[i].cause));
            assert_true(finding->saves.wall_expected_ms > 0);
        }
        query_free(&query);
    }
}

/* ---- aqe-disabled ---- */

static void few_bytes(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_shuffle_local_bytes] = *(int64_t *)context;
}

static void aqe_disabled(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *detail;
        int64_t bytes;
        bool found;
        const char *session; /* what the program set for the query */
    } cases[] = {
        {"spark.sql.adaptive.enabled", "false", "Exchange hashpartitioning(k#1, 400), ENSURE_REQUIREMENTS", 2000, true,
         NULL},
        {"spark.sql.adaptive.enabled", "true", "Exchange hashpartitioning(k#1, 400), ENSURE_REQUIREMENTS", 2000, false,
         NULL},
        {"spark.sql.adaptive.coalescePartitions.enabled", "false", "Exchange hashpartitioning(k#1, 400)", 2000, true,
         NULL},
        {"spark.sql.adaptive.enabled", "false", "Exchange hashpartitioning(k#1, 400), REPARTITION_BY_NUM", 2000, false,
         NULL},
        {"spark.sql.adaptive.enabled", "false", "Exchange hashpartitioning(k#1, 400)", 60 * MIB, false, NULL},
        {"spark.sql.adaptive.enabled", "true", "Exchange hashpartitioning(k#1, 400)", 2000, true,
         "spark.sql.adaptive.enabled=false"},
        {"spark.sql.adaptive.enabled", "false", "Exchange hashpartitioning(k#1, 400)", 2000, false,
         "spark.sql.adaptive.enabled=true"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct query query = query_new();
        int64_t ms = 60, bytes = cases[i].bytes;
        fixture_property(query.scene.app, "spark", cases[i].key, cases[i].value);
        if (cases[i].session)
            query.scene.app->sql.items[0].modified_configs = pyro_slice_from(cases[i].session);
        query_add(&query, PYRO_NONE, "HashAggregate", NULL, NULL);
        query_add(&query, 0, "Exchange", cases[i].detail, NULL);
        query_rows(&query, 0, 100);
        query_metric(&query, 1, "local bytes read", "size", bytes);
        struct pyro_stage *stage = scene_stage(&query.scene, 400, &ms, 1, few_bytes, &bytes);
        static int64_t id;
        id = stage->id;
        struct pyro_job *job = pyro_vec_push(&query.scene.app->jobs, query.scene.app->allocator);
        pyro_row_init(PYRO_TABLE_jobs, job);
        job->id = 1;
        job->sql = 1;
        job->submitted_ms = stage->submitted_ms;
        job->completed_ms = stage->completed_ms;
        job->stage_ids = &id;
        job->stage_id_count = 1;
        stage->accumulators = pyro_strbuf_slice(&query.ids);
        scene_end(&query.scene);
        assert_int_equal(scene_finding(&query.scene, "aqe-disabled") != NULL, cases[i].found);
        query_free(&query);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missed_broadcast_join), cmocka_unit_test(oversized_broadcast),
        cmocka_unit_test(cartesian_product),     cmocka_unit_test(row_explosion),
        cmocka_unit_test(join_strategy),         cmocka_unit_test(repeated_scan),
        cmocka_unit_test(aqe_disabled),
    };
    return cmocka_run_group_tests_name("plans", tests, NULL, NULL);
}
