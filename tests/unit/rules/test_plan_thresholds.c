/* Thresholds of missed-broadcast-join, oversized-broadcast, cartesian-product, row-explosion, join-strategy,
 * repeated-scan and aqe-disabled: a finding a tenth inside of each, none a tenth outside. */
#include <math.h>

#include "plan_scene.h"

#define MIB INT64_C(1048576)

/* What makes a plan, by its two sizes or numbers of rows. */
struct plan {
    const char *executor_memory, *driver_memory;
    int64_t small, large, more;
};

static struct query plan_query(const struct plan *of)
{
    struct query query = query_new();
    if (of->executor_memory)
        fixture_property(query.scene.app, "spark", "spark.executor.memory", of->executor_memory);
    if (of->driver_memory)
        fixture_property(query.scene.app, "spark", "spark.driver.memory", of->driver_memory);
    return query;
}

static struct query sides(const struct plan *of)
{
    static const char by_key[] = "Exchange hashpartitioning(k#1, 200), ENSURE_REQUIREMENTS, [plan_id=1]";
    struct query query = plan_query(of);
    query_add(&query, PYRO_NONE, "SortMergeJoin", "SortMergeJoin [k#1], [k#2], Inner", NULL);
    query_add(&query, 0, "Exchange", by_key, NULL);
    query_add(&query, 0, "Exchange", by_key, NULL);
    query_metric(&query, 1, "data size", "size", of->large);
    query_metric(&query, 1, "shuffle write time", "nsTiming", INT64_C(60000000000));
    query_metric(&query, 2, "data size", "size", of->small);
    query_rows(&query, 0, 5000000);
    return query;
}

static struct query broadcast(const struct plan *of)
{
    struct query query = plan_query(of);
    query_add(&query, PYRO_NONE, "BroadcastHashJoin", "BroadcastHashJoin [k#1], [k#2], Inner, BuildRight", NULL);
    query_add(&query, 0, "Scan parquet ", NULL, NULL);
    query_add(&query, 0, "BroadcastExchange", NULL, NULL);
    query_rows(&query, 0, 1000);
    query_metric(&query, 2, "data size", "size", of->small);
    return query;
}

static struct query pairs(const struct plan *of)
{
    struct query query = plan_query(of);
    query_add(&query, PYRO_NONE, "BroadcastNestedLoopJoin", "BroadcastNestedLoopJoin BuildRight, Inner", NULL);
    query_add(&query, 0, "Scan parquet ", NULL, NULL);
    query_add(&query, 0, "BroadcastExchange", NULL, NULL);
    query_add(&query, 2, "Scan parquet ", NULL, NULL);
    query_rows(&query, 0, of->more);
    query_rows(&query, 1, of->large);
    query_rows(&query, 2, of->small);
    return query;
}

static struct query exploded(const struct plan *of)
{
    struct query query = plan_query(of);
    query_add(&query, PYRO_NONE, "HashAggregate", NULL, NULL);
    query_add(&query, 0, "Generate", "Generate explode(a#1)", NULL);
    query_add(&query, 1, "Scan parquet ", NULL, NULL);
    query_rows(&query, 0, 100);
    query_rows(&query, 1, of->large);
    query_rows(&query, 2, of->small);
    return query;
}

static struct query unused_buckets(const struct plan *of)
{
    struct query query = plan_query(of);
    query_add(&query, PYRO_NONE, "SortMergeJoin", "SortMergeJoin [k#1L], [k#2], Inner", NULL);
    for (int64_t side = 0; side < 2; side++) {
        query_add(&query, 0, "Exchange", "Exchange hashpartitioning(k#1L, 6), ENSURE_REQUIREMENTS", NULL);
        query_metric(&query, 1 + 2 * side, "data size", "size", of->small);
        query_metric(&query, 1 + 2 * side, "shuffle write time", "nsTiming", INT64_C(30000000000));
        query_add(&query, 1 + 2 * side, "Scan parquet t",
                  side ? "FileScan parquet d" : "FileScan parquet a[k#1L] Bucketed: false (disabled by configuration)",
                  NULL);
    }
    query_rows(&query, 0, 1000000);
    return query;
}

static struct query scans(const struct plan *of)
{
    struct query query = plan_query(of);
    query_add(&query, PYRO_NONE, "Union", NULL, NULL);
    for (int64_t i = 1; i <= of->more; i++) {
        query_add(&query, 0, "Scan parquet ", NULL, "Location: f[a]\nPushedFilters: [x]");
        query_rows(&query, i, 1000000);
        query_metric(&query, i, "size of files read", "size", of->small);
        query_metric(&query, i, "scan time", "timing", 40000);
    }
    return query;
}

typedef struct query (*make_plan)(const struct plan *of);

static void thresholds_of_plans(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *threshold;
        bool finds;
        make_plan make;
        struct plan plan;
    } cases[] = {
        /* side_bytes_max 64 MiB; heap_share_max 0.1 of 1 GiB, by the expansion of 3; other_side_bytes_min 32 MiB;
         * ratio_min 5 */
        {"missed-broadcast-join", "side_bytes_max", true, sides, {"8g", "8g", 58 * MIB, 500 * MIB, 0}},
        {"missed-broadcast-join", "side_bytes_max", false, sides, {"8g", "8g", 70 * MIB, 500 * MIB, 0}},
        {"missed-broadcast-join", "heap_share_max", true, sides, {"1g", "1g", 31 * MIB, 500 * MIB, 0}},
        {"missed-broadcast-join", "heap_share_max", false, sides, {"1g", "1g", 38 * MIB, 500 * MIB, 0}},
        {"missed-broadcast-join", "other_side_bytes_min", true, sides, {"1g", "1g", MIB, 35 * MIB, 0}},
        {"missed-broadcast-join", "other_side_bytes_min", false, sides, {"1g", "1g", MIB, 29 * MIB, 0}},
        {"missed-broadcast-join", "ratio_min", true, sides, {"1g", "1g", 18 * MIB, 99 * MIB, 0}},
        {"missed-broadcast-join", "ratio_min", false, sides, {"1g", "1g", 22 * MIB, 99 * MIB, 0}},
        /* bytes_min 96 MiB; executor_share_min 0.25 of 434 MiB; driver_share_min 0.35 of 1 GiB, in two copies */
        {"oversized-broadcast", "bytes_min", true, broadcast, {"700m", "8g", 106 * MIB, 0, 0}},
        {"oversized-broadcast", "bytes_min", false, broadcast, {"700m", "8g", 86 * MIB, 0, 0}},
        {"oversized-broadcast", "executor_share_min", true, broadcast, {"1g", "8g", 119 * MIB, 0, 0}},
        {"oversized-broadcast", "executor_share_min", false, broadcast, {"1g", "8g", 98 * MIB, 0, 0}},
        {"oversized-broadcast", "driver_share_min", true, broadcast, {"16g", "1g", 197 * MIB, 0, 0}},
        {"oversized-broadcast", "driver_share_min", false, broadcast, {"16g", "1g", 161 * MIB, 0, 0}},
        /* pairs_min 20 million, side_rows_min 20 */
        {"cartesian-product", "pairs_min", true, pairs, {NULL, NULL, 367, 60000, 1000}},
        {"cartesian-product", "pairs_min", false, pairs, {NULL, NULL, 300, 60000, 1000}},
        {"cartesian-product", "side_rows_min", true, pairs, {NULL, NULL, 22, 2000000, 1000}},
        {"cartesian-product", "side_rows_min", false, pairs, {NULL, NULL, 18, 2000000, 1000}},
        /* growth_min 10, rows_min 5 million */
        {"row-explosion", "growth_min", true, exploded, {NULL, NULL, 1000000, 11000000, 0}},
        {"row-explosion", "growth_min", false, exploded, {NULL, NULL, 1000000, 9000000, 0}},
        {"row-explosion", "rows_min", true, exploded, {NULL, NULL, 100000, 5500000, 0}},
        {"row-explosion", "rows_min", false, exploded, {NULL, NULL, 100000, 4500000, 0}},
        /* shuffle_bytes_min 32 MiB */
        {"join-strategy", "shuffle_bytes_min", true, unused_buckets, {NULL, NULL, 35 * MIB, 0, 0}},
        {"join-strategy", "shuffle_bytes_min", false, unused_buckets, {NULL, NULL, 29 * MIB, 0, 0}},
        /* scans_min 3, scan_bytes_min 32 MiB, memory_share_max 1 of two executors with 434 MiB each */
        {"repeated-scan", "scans_min", true, scans, {"1g", NULL, 300 * MIB, 0, 3}},
        {"repeated-scan", "scans_min", false, scans, {"1g", NULL, 300 * MIB, 0, 2}},
        {"repeated-scan", "scan_bytes_min", true, scans, {"1g", NULL, 35 * MIB, 0, 4}},
        {"repeated-scan", "scan_bytes_min", false, scans, {"1g", NULL, 29 * MIB, 0, 4}},
        {"repeated-scan", "memory_share_max", true, scans, {"1g", NULL, 790 * MIB, 0, 4}},
        {"repeated-scan", "memory_share_max", false, scans, {"1g", NULL, 956 * MIB, 0, 4}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct query query = cases[i].make(&cases[i].plan);
        query_end(&query);
        if ((scene_finding(&query.scene, cases[i].rule) != NULL) != cases[i].finds)
            fail_msg("%s: wrong near %s", cases[i].rule, cases[i].threshold);
        query_free(&query);
    }
}

static double evidence_of(const struct pyro_finding *finding, const char *metric)
{
    assert_non_null(finding);
    for (size_t i = 0; i < finding->evidence_count; i++)
        if (strcmp(finding->evidence[i].metric, metric) == 0)
            return finding->evidence[i].value;
    fail_msg("no %s", metric);
    return 0;
}

/* What a plan spends, as a share of the application's task time: other work makes it smaller. */
static void shares_of_task_time(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *metric;
        make_plan make;
        struct plan plan;
        double part, share; /* of the metric, to be this share of all */
    } cases[] = {
        {"missed-broadcast-join", "spent_task_ms", sides, {NULL, NULL, MIB, 500 * MIB, 0}, 1, 0.01},
        {"cartesian-product", "task_ms", pairs, {NULL, NULL, 50000, 60000, 1000}, 0.9, 0.03},
        {"row-explosion", "handling_task_ms", exploded, {NULL, NULL, 1000000, 60000000, 0}, 1, 0.1},
        {"join-strategy", "spent_task_ms", unused_buckets, {NULL, NULL, 100 * MIB, 0, 0}, 1, 0.03},
        {"repeated-scan", "repeated_task_ms", scans, {"1g", NULL, 300 * MIB, 0, 4}, 1, 0.03},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct query query = cases[i].make(&cases[i].plan);
        query_end(&query);
        double spent = cases[i].part * evidence_of(scene_finding(&query.scene, cases[i].rule), cases[i].metric);
        double all = (double)query.scene.app->numbers.task_ms;
        query_free(&query);
        for (int in = 0; in < 2; in++) {
            query = cases[i].make(&cases[i].plan);
            query_run(&query, (int64_t)(spent / (cases[i].share * (in ? 1.1 : 0.9)) - all));
            if ((scene_finding(&query.scene, cases[i].rule) != NULL) != in)
                fail_msg("%s: wrong near task_share_min", cases[i].rule);
            query_free(&query);
        }
    }
}

static void harm_of_plans(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        make_plan make;
        struct plan plan;
        double harm, risk;
    } cases[] = {
        /* harm_rows_min 100 million, harm_growth_min 20 */
        {"cartesian-product", pairs, {NULL, NULL, 50000, 60000, 110000000}, 0.2, 0},
        {"cartesian-product", pairs, {NULL, NULL, 50000, 60000, 90000000}, 0, 0},
        {"cartesian-product", pairs, {NULL, NULL, 100, 6000000, 132000000}, 0.2, 0},
        {"cartesian-product", pairs, {NULL, NULL, 100, 6000000, 108000000}, 0, 0},
        /* executor_share_near 0.8 of 434 MiB, driver_share_near 0.8 of 1 GiB in two copies */
        {"oversized-broadcast", broadcast, {"1g", "8g", 382 * MIB, 0, 0}, 0, 0.5},
        {"oversized-broadcast", broadcast, {"1g", "8g", 313 * MIB, 0, 0}, 0, 0.2},
        {"oversized-broadcast", broadcast, {"16g", "1g", 450 * MIB, 0, 0}, 0, 0.5},
        {"oversized-broadcast", broadcast, {"16g", "1g", 369 * MIB, 0, 0}, 0, 0.2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct query query = cases[i].make(&cases[i].plan);
        query_end(&query);
        const struct pyro_finding *finding = scene_finding(&query.scene, cases[i].rule);
        assert_non_null(finding);
        assert_true(finding->harm == cases[i].harm && finding->failure_risk == cases[i].risk);
        query_free(&query);
    }
    /* spared_share 0.5: half of what the rows cost goes, of which 0.6 is sure */
    struct query query = exploded(&(struct plan){NULL, NULL, 1000000, 60000000, 0});
    query_end(&query);
    const struct pyro_finding *finding = scene_finding(&query.scene, "row-explosion");
    double all = (double)query.scene.app->stages.items[1].task_ms, left = finding->edits[0].factor * all;
    double partly = evidence_of(finding, "handling_task_ms");
    assert_true(fabs(all - left - 0.6 * 0.5 * partly) < 0.01 * partly);
    query_free(&query);
}

static void reads(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_shuffle_local_bytes] = *(int64_t *)context;
}

/* A shuffle of `tasks` tasks on `executors` of two slots, which adaptive execution would have joined. */
struct split {
    unsigned executors, tasks;
    int64_t ms, long_ms, bytes, other_ms; /* every fourth task takes long_ms; bytes in all */
};

static struct query split(struct split of)
{
    struct query query = query_new();
    scene_free(&query.scene);
    query.scene = scene_new(of.executors, 2);
    pyro_strbuf_init(&query.ids, query.scene.app->allocator);
    scene_query(&query.scene, 1);
    static int64_t id;
    int64_t each = of.bytes / of.tasks;
    const int64_t ms[] = {of.ms, of.ms, of.ms, of.long_ms ? of.long_ms : of.ms};
    fixture_property(query.scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    query_add(&query, PYRO_NONE, "HashAggregate", NULL, NULL);
    query_add(&query, 0, "Exchange", "Exchange hashpartitioning(k#1, 400), ENSURE_REQUIREMENTS", NULL);
    query_rows(&query, 0, 100);
    query_metric(&query, 1, "local bytes read", "size", of.bytes);
    struct pyro_stage *stage = scene_stage(&query.scene, of.tasks, ms, 4, reads, &each);
    id = stage->id;
    stage->sql = 1;
    fixture_job(query.scene.app, 1, stage->submitted_ms, stage->completed_ms, &id, 1)->sql = 1;
    stage->accumulators = pyro_strbuf_slice(&query.ids);
    if (of.other_ms > 0)
        scene_stage(&query.scene, 1, &of.other_ms, 1, NULL, NULL);
    scene_end(&query.scene);
    return query;
}

static void thresholds_of_adaptive_execution(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct split split;
    } cases[] = {
        /* tasks_min 50, task_ms_max 500 */
        {"tasks_min", true, {2, 55, 60, 0, 110000, 0}},
        {"tasks_min", false, {2, 45, 60, 0, 110000, 0}},
        {"task_ms_max", true, {2, 400, 450, 0, 110000, 0}},
        {"task_ms_max", false, {2, 400, 550, 0, 110000, 0}},
        /* tasks_ratio_min 4 and partition_bytes 64 MiB: 60 tasks instead of 13 and of 16 */
        {"partition_bytes", true, {2, 60, 400, 0, 832 * MIB, 0}},
        {"partition_bytes", false, {2, 60, 400, 0, 1024 * MIB, 0}},
        /* partition_bytes_min 1 MiB: the same on 16 slots */
        {"partition_bytes_min", true, {8, 60, 400, 0, 13 * MIB, 0}},
        {"partition_bytes_min", false, {8, 60, 400, 0, 31 * MIB / 2, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct query query = split(cases[i].split);
        if ((scene_finding(&query.scene, "aqe-disabled") != NULL) != cases[i].finds)
            fail_msg("wrong near %s", cases[i].threshold);
        query_free(&query);
    }
    /* bytes_per_ms_min 1000: of the 100 s of a hundred long tasks, 20 MB take 20 s at most */
    struct query query = split((struct split){2, 400, 60, 1060, 20000000, 0});
    double spared = evidence_of(scene_finding(&query.scene, "aqe-disabled"), "spared_task_ms");
    double all = (double)query.scene.app->numbers.task_ms, stage = (double)query.scene.app->stages.items[1].task_ms;
    double wanted = 4; /* 20 MB, a part for each slot */
    assert_true(fabs(spared - (stage - 20000) * (400 - wanted) / 400) < 1);
    query_free(&query);
    /* task_share_min 0.03 */
    for (int in = 0; in < 2; in++) {
        query = split((struct split){2, 400, 60, 1060, 20000000, (int64_t)(spared / (in ? 0.033 : 0.027) - all)});
        assert_int_equal(scene_finding(&query.scene, "aqe-disabled") != NULL, in);
        query_free(&query);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_of_plans),
        cmocka_unit_test(shares_of_task_time),
        cmocka_unit_test(harm_of_plans),
        cmocka_unit_test(thresholds_of_adaptive_execution),
    };
    return cmocka_run_group_tests_name("plan thresholds", tests, NULL, NULL);
}
