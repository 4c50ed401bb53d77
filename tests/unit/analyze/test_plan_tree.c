/* Plans as trees: neighbours, rows, stages, and time that adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/plans/plan_tree.h"
#include "base/numbers/varint.h"
#include "fixture.h"

struct plan_case {
    struct pyro_app *app;
    struct pyro_arena arena;
    struct pyro_strbuf ids[8];
    size_t id_count;
};

static void add_node(struct pyro_app *app, int64_t sql, int64_t node, int64_t parent, const char *name)
{
    struct pyro_sql_node *row = pyro_vec_push(&app->sql_nodes, app->allocator);
    pyro_row_init(PYRO_TABLE_sql_nodes, row);
    row->sql = sql;
    row->node = node;
    row->parent = parent;
    row->name = pyro_slice_from(name);
    row->known = pyro_operator_find(row->name);
}

static void add_metric(struct pyro_app *app, int64_t sql, int64_t node, int64_t accumulator, const char *name,
                       const char *type, int64_t value)
{
    struct pyro_sql_metric *row = pyro_vec_push(&app->sql_metrics, app->allocator);
    *row = (struct pyro_sql_metric){.sql = sql,
                                    .node = node,
                                    .name = pyro_slice_from(name),
                                    .type = pyro_slice_from(type),
                                    .accumulator = accumulator,
                                    .value = value};
}

static void add_execution(struct pyro_app *app, int64_t id)
{
    struct pyro_sql_execution *sql = pyro_vec_push(&app->sql, app->allocator);
    pyro_row_init(PYRO_TABLE_sql, sql);
    sql->id = id;
}

/* A stage of SQL execution 7 whose one task ran `ms`, of which 10 outside the executor's run time. */
static void add_stage(struct plan_case *plan, int64_t id, int64_t ms, const int64_t *accumulators, size_t count)
{
    struct pyro_stage *stage = fixture_stage(plan->app, id, 1000, 1000 + ms);
    struct pyro_strbuf *ids = &plan->ids[plan->id_count++];
    int64_t last = 0;
    pyro_strbuf_init(ids, plan->app->allocator);
    for (size_t i = 0; i < count; i++)
        pyro_varint_put(ids, &last, accumulators[i]);
    stage->sql = 7;
    stage->status = PYRO_SLICE_LITERAL("succeeded");
    stage->accumulators = pyro_strbuf_slice(ids);
    stage->task_ms = ms;
    stage->run_ms = ms - 10;
}

/* An aggregate over a join of a large and a small table, each through an exchange. */
static void build(struct plan_case *plan)
{
    static const char *const names[] = {
        "AdaptiveSparkPlan",
        "WholeStageCodegen (3)",
        "HashAggregate",
        "SortMergeJoin",
        "Sort",
        "AQEShuffleRead",
        "ShuffleQueryStage",
        "Exchange",
        "Scan parquet ",
        "Sort",
        "Exchange",
        "Filter",
        "Scan csv ",
        "Martian",
    };
    static const int64_t parents[] = {PYRO_NONE, 0, 1, 2, 3, 4, 5, 6, 7, 3, 9, 10, 11, 1};
    struct pyro_app *app = fixture_app(0, 10000);
    *plan = (struct plan_case){.app = app};
    pyro_arena_init(&plan->arena, NULL);
    add_execution(app, 3);
    add_execution(app, 7);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        add_node(app, 7, (int64_t)i, parents[i], names[i]);
    add_metric(app, 7, 12, 20, "number of output rows", "sum", 500);
    add_metric(app, 7, 12, 21, "scan time", "timing", 30);
    add_metric(app, 7, 10, 22, "shuffle bytes written", "size", 4096);
    add_metric(app, 7, 10, 23, "shuffle write time", "nsTiming", 5 * 1000000 + 999);
    add_metric(app, 7, 10, 24, "local bytes read", "size", 4096);
    add_metric(app, 7, 8, 25, "number of output rows", "sum", 1000000);
    add_metric(app, 7, 8, 26, "scan time", "timing", 100);
    add_metric(app, 7, 7, 27, "shuffle records written", "sum", 1000000);
    add_metric(app, 7, 7, 28, "fetch wait time", "timing", 40);
    add_metric(app, 7, 3, 29, "number of output rows", "sum", 800000);
    add_metric(app, 7, 2, 30, "time in aggregation build", "timing", 600);
    static const int64_t small[] = {20, 21, 22, 23}, large[] = {25, 26, 27}, joined[] = {24, 28, 29, 30, 999};
    add_stage(plan, 0, 50, small, 4);
    add_stage(plan, 1, 310, large, 3);
    add_stage(plan, 2, 1010, joined, 5);
}

static void done(struct plan_case *plan)
{
    for (size_t i = 0; i < plan->id_count; i++)
        pyro_strbuf_done(&plan->ids[i]);
    pyro_arena_done(&plan->arena);
    pyro_app_release(plan->app);
}

static void assert_stages(const struct pyro_plan_tree *plan, uint32_t op, const uint32_t *expected, uint32_t count)
{
    assert_int_equal(plan->ops[op].stage_count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(plan->stages[plan->ops[op].first_stage + i], expected[i]);
}

static void trees(void **state)
{
    (void)state;
    struct plan_case made;
    build(&made);
    const struct pyro_plans *plans = pyro_plans_new(made.app, &made.arena);
    assert_non_null(plans);
    assert_int_equal(plans->count, 2);
    assert_int_equal(plans->items[0].count, 0);
    const struct pyro_plan_tree *plan = &plans->items[1];
    assert_int_equal(plan->count, 14);
    assert_int_equal(plan->unknown_count, 1);
    assert_int_equal(pyro_op_input(plan, 3, 0), 4);
    assert_int_equal(pyro_op_input(plan, 3, 1), 9);
    assert_int_equal(pyro_op_input(plan, 3, 2), PYRO_NO_OP);
    assert_int_equal(pyro_op_input(plan, 4, 0), 7); /* below the reader and the query stage */
    assert_int_equal(pyro_op_consumer(plan, 7), 4);
    assert_int_equal(pyro_op_consumer(plan, 2), PYRO_NO_OP);
    assert_int_equal(pyro_op_input_count(plan, 3), 2);
    assert_int_equal(pyro_op_feed(plan, 9, PYRO_OPERATOR_SHUFFLE), 10);
    assert_int_equal(pyro_op_feed(plan, 9, PYRO_OPERATOR_SCAN), PYRO_NO_OP); /* behind the exchange */
    assert_int_equal(pyro_op_rows(plan, 12), 500);
    assert_int_equal(pyro_op_rows(plan, 11), 0);      /* a filter that let nothing pass: no total in the log */
    assert_int_equal(pyro_op_rows(plan, 4), 1000000); /* of the exchange below */
    assert_int_equal(pyro_op_rows(plan, 2), 0);
    assert_int_equal(pyro_op_rows(plan, 13), PYRO_NONE);
    assert_int_equal(pyro_op_rows(plan, PYRO_NO_OP), PYRO_NONE);
    assert_int_equal(pyro_op_metric(plan, 10, PYRO_METRIC_SHUFFLE_WRITE_TIME), 5);
    assert_int_equal(pyro_op_metric(plan, 10, PYRO_METRIC_SORT_TIME), PYRO_NONE);
    assert_int_equal(pyro_op_bytes(plan, 10), 4096);
    done(&made);
}

static void stages(void **state)
{
    (void)state;
    struct plan_case made;
    build(&made);
    const struct pyro_plan_tree *plan = &pyro_plans_new(made.app, &made.arena)->items[1];
    assert_stages(plan, 12, (const uint32_t[]){0}, 1);
    assert_stages(plan, 11, (const uint32_t[]){0}, 1); /* without metrics: those of its segment */
    assert_stages(plan, 10, (const uint32_t[]){0, 2}, 2);
    assert_stages(plan, 7, (const uint32_t[]){1, 2}, 2);
    assert_stages(plan, 8, (const uint32_t[]){1}, 1);
    assert_stages(plan, 4, (const uint32_t[]){2}, 1);
    assert_stages(plan, 3, (const uint32_t[]){2}, 1);
    done(&made);
}

static void time_adds_up(void **state)
{
    (void)state;
    struct plan_case made;
    build(&made);
    const struct pyro_plan_tree *plan = &pyro_plans_new(made.app, &made.arena)->items[1];
    int64_t sum = plan->other_ms;
    for (uint32_t i = 0; i < plan->count; i++) {
        assert_true(plan->ops[i].time_ms >= 0);
        if (pyro_op_is_frame(&plan->ops[i]))
            assert_int_equal(plan->ops[i].time_ms, 0);
        sum += plan->ops[i].time_ms;
    }
    assert_int_equal(plan->task_ms, 50 + 310 + 1010);
    assert_int_equal(sum, plan->task_ms);
    assert_int_equal(plan->other_ms, 3 * 10);
    assert_in_range(plan->ops[8].time_ms, 100, 101); /* scan time, and the exchange has the rest of its stage */
    assert_in_range(plan->ops[7].time_ms, 199 + 40, 400 + 201 + 40);
    /* The aggregate and all that feeds it in its stage: 600 ms and the fetch wait. */
    int64_t below = plan->ops[2].time_ms + plan->ops[3].time_ms + plan->ops[4].time_ms + plan->ops[9].time_ms;
    assert_true(below <= 600);
    assert_true(plan->ops[3].time_ms > plan->ops[9].time_ms); /* the join handles more rows than a sort of few */
    done(&made);
}

/* Below a reused exchange is a copy of what ran once. */
static void reuse(void **state)
{
    (void)state;
    struct plan_case made = {.app = fixture_app(0, 10000)};
    pyro_arena_init(&made.arena, NULL);
    add_execution(made.app, 7);
    static const char *const names[] = {"Union",          "Exchange", "Scan parquet ",
                                        "ReusedExchange", "Exchange", "Scan parquet "};
    static const int64_t parents[] = {PYRO_NONE, 0, 1, 0, 3, 4};
    for (size_t i = 0; i < 6; i++)
        add_node(made.app, 7, (int64_t)i, parents[i], names[i]);
    for (int64_t node = 2; node <= 5; node += 3)
        add_metric(made.app, 7, node, 5, "number of output rows", "sum", 70);
    add_stage(&made, 0, 110, (const int64_t[]){5}, 1);
    const struct pyro_plan_tree *plan = &pyro_plans_new(made.app, &made.arena)->items[0];
    assert_false(plan->ops[3].repeated);
    assert_true(plan->ops[4].repeated);
    assert_true(plan->ops[5].repeated);
    assert_int_equal(plan->ops[2].stage_count, 1);
    assert_int_equal(plan->ops[5].stage_count, 0);
    assert_int_equal(plan->ops[5].time_ms, 0);
    assert_int_equal(pyro_op_rows(plan, 5), 70);
    assert_int_equal(pyro_op_exchange(plan, 3), 4);
    done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),
        cmocka_unit_test(stages),
        cmocka_unit_test(time_adds_up),
        cmocka_unit_test(reuse),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
