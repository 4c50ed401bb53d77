/* Allocation, its parts, bills and advice of runs that are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "advice/cost/advise.h"
#include "fixture.h"

enum { START = 1000000, HOUR = 3600000 };

static const int64_t ids[] = {0};

static struct pyro_app *app_of(int64_t ms, const char *master)
{
    struct pyro_app *app = fixture_app(START, START + ms);
    app->application.master = pyro_slice_from(master);
    fixture_property(app, "spark", "spark.master", master);
    return app;
}

static void one_stage(struct pyro_app *app, int64_t ms)
{
    fixture_job(app, 0, START, START + ms, ids, 1);
    fixture_stage(app, 0, START, START + ms);
}

static struct pyro_cost *cost_of(struct pyro_app *app)
{
    struct pyro_cost *cost = NULL;
    fixture_analyze(app);
    assert_int_equal(pyro_cost_new(app, NULL, &cost, NULL), PYRO_OK);
    return cost;
}

static void test_apportion(void **state)
{
    (void)state;
    int64_t shares[3];
    /* 100 by 1 : 1 : 1: the largest remainders are equal, so that the first one gets the odd unit. */
    assert_true(pyro_apportion(NULL, (const int64_t[]){1, 1, 1}, 3, 3, 100, shares));
    assert_int_equal(shares[0], 34);
    assert_int_equal(shares[1], 33);
    assert_int_equal(shares[2], 33);
    /* 10 by 1 : 2 : 4 is 1.43, 2.86 and 5.71. */
    assert_true(pyro_apportion(NULL, (const int64_t[]){1, 2, 4}, 3, 7, 10, shares));
    assert_int_equal(shares[0], 1);
    assert_int_equal(shares[1], 3);
    assert_int_equal(shares[2], 6);
}

/* Tasks without the executors that ran them, and memory of which no setting is known: the cost is not known. */
static void test_what_the_log_lacks(void **state)
{
    (void)state;
    struct pyro_app *app = app_of(10000, "spark://a:7077");
    one_stage(app, 7000);
    fixture_run(app, 0, "1", START, START + 7000);
    app->integrity.settings_unknown = true;
    struct pyro_cost *cost = cost_of(app);
    assert_true(cost->executors_unknown);
    assert_true(cost->settings_unknown);
    pyro_cost_free(cost);
    pyro_app_release(app);
}

/* The example of docs/cost.md. */
static void test_the_page(void **state)
{
    (void)state;
    struct pyro_app *app = app_of(10000, "spark://a:7077");
    fixture_executor(app, "1", 2, START, PYRO_NONE);
    one_stage(app, 7000);
    struct fixture_task good = fixture_task(app, 0, "1", START, START + 4000);
    good.row[PYRO_TASK_run_ms] = 4000;
    good.row[PYRO_TASK_gc_ms] = 1000;
    fixture_add(app, &good);
    struct fixture_task bad = fixture_task(app, 0, "1", START + 4000, START + 7000);
    bad.row[PYRO_TASK_index] = 1;
    bad.row[PYRO_TASK_run_ms] = 3000;
    bad.row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    fixture_add(app, &bad);
    struct pyro_cost *cost = cost_of(app);
    assert_int_equal(cost->total.core_ms, 30000);
    assert_int_equal(cost->total.memory_mib_ms, 20480000);
    assert_int_equal(cost->parts[PYRO_COST_USEFUL].core_ms, 3000);
    assert_int_equal(cost->parts[PYRO_COST_GC].core_ms, 1000);
    assert_int_equal(cost->parts[PYRO_COST_RETRIED].core_ms, 3000);
    assert_int_equal(cost->parts[PYRO_COST_DRIVER].core_ms, 10000);
    assert_int_equal(cost->parts[PYRO_COST_DRIVER].memory_mib_ms, 10240000);
    int64_t core = 0, memory = 0, tasks = 0;
    for (int i = 0; i < PYRO_COST_PARTS; i++) {
        core += cost->parts[i].core_ms;
        memory += cost->parts[i].memory_mib_ms;
        tasks += i < PYRO_COST_TASK_PARTS ? cost->parts[i].memory_mib_ms : 0;
    }
    assert_int_equal(core, 30000);
    assert_int_equal(memory, 20480000);
    assert_int_equal(tasks, 7000 * 512);
    assert_int_equal(pyro_cost_mb_seconds(&cost->total), 20480);
    assert_int_equal(pyro_cost_vcore_seconds(&cost->total), 30);
    pyro_cost_free(cost);
    pyro_app_release(app);
}

static const char sheet[] = "schema: pyrometer.prices/1\n"
                            "currency: USD\n"
                            "source: made for this test\n"
                            "dated: 2026-01-01\n"
                            "usual: {service: ec2, unit: hour}\n"
                            "prices:\n"
                            "  - {instance: a.large, price: 0.5}\n"
                            "  - {instance: a.large, purchase: spot, price: 0.2}\n"
                            "  - {instance: b.large, price: 0.25}\n"
                            "instances:\n"
                            "  - {name: a.large, cores: 4, memory_gib: 32}\n"
                            "  - {name: b.large, cores: 4, memory_gib: 8}\n";

static void read_sheet(struct pyro_prices *prices)
{
    *prices = (struct pyro_prices){0};
    pyro_arena_init(&prices->arena, NULL);
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_prices_parse(prices, "sheet", sheet, strlen(sheet), true, &error) != PYRO_OK)
        fail_msg("%s", error.message);
}

static void forget_sheet(struct pyro_prices *prices)
{
    pyro_vec_done(&prices->rows, NULL);
    pyro_vec_done(&prices->instances, NULL);
    pyro_vec_done(&prices->rates, NULL);
    pyro_arena_done(&prices->arena);
}

/* Two nodes of four cores for an hour, sixteen tasks of half an hour in two waves. */
static struct pyro_app *two_nodes(void)
{
    struct pyro_app *app = app_of(HOUR, "spark://a:7077");
    fixture_executor(app, "1", 4, START, PYRO_NONE)->host = PYRO_SLICE_LITERAL("x");
    fixture_executor(app, "2", 4, START, PYRO_NONE)->host = PYRO_SLICE_LITERAL("y");
    one_stage(app, HOUR);
    for (int i = 0; i < 16; i++) {
        int64_t from = START + i / 8 * (HOUR / 2);
        struct fixture_task task = fixture_task(app, 0, i % 2 ? "2" : "1", from, from + HOUR / 2);
        task.row[PYRO_TASK_index] = i;
        fixture_add(app, &task);
    }
    return app;
}

static const struct pyro_cost_advice *advice_of(const struct pyro_cost *cost, const char *kind)
{
    for (size_t i = 0; i < cost->advice_count; i++)
        if (strcmp(cost->advice[i].kind, kind) == 0)
            return &cost->advice[i];
    return NULL;
}

static void test_bill(void **state)
{
    (void)state;
    struct pyro_app *app = two_nodes();
    struct pyro_prices prices;
    struct pyro_cost *cost = cost_of(app);
    const struct pyro_money_options options = {.instance = "a.large"},
                                    spot = {.instance = "a.large", .purchase = "spot"};
    read_sheet(&prices);
    assert_int_equal(pyro_cost_price(cost, &prices, &options, NULL), PYRO_OK);
    assert_true(cost->money.known);
    assert_int_equal(cost->money.micros, 1000000); /* 2 nodes x 1 h x $0.5 */
    int64_t sum = 0;
    for (int i = 0; i < PYRO_COST_PARTS; i++)
        sum += cost->parts[i].micros;
    assert_int_equal(sum, 1000000);
    assert_true(pyro_node_hour(cost, &prices, &options, PYRO_SLICE_LITERAL("b.large")) == 250000);
    assert_true(pyro_node_hour(cost, &prices, &spot, PYRO_SLICE_LITERAL("a.large")) == 200000);
    pyro_cost_free(cost);
    forget_sheet(&prices);
    pyro_app_release(app);
}

static void test_advice(void **state)
{
    (void)state;
    struct pyro_app *app = two_nodes();
    struct pyro_prices prices;
    struct pyro_cost *cost = cost_of(app);
    const struct pyro_money_options options = {.instance = "a.large"};
    const struct pyro_advise_options wanted = {.deadline_ms = HOUR + HOUR / 4, .interruptions = 1e-9};
    read_sheet(&prices);
    assert_int_equal(pyro_cost_price(cost, &prices, &options, NULL), PYRO_OK);
    assert_int_equal(pyro_cost_advise(cost, app, &prices, &options, &wanted, NULL), PYRO_OK);
    /* Executors have 1 GiB: b.large holds one of four cores, at half the price. */
    const struct pyro_cost_advice *other = advice_of(cost, "instance");
    assert_non_null(other);
    assert_true(pyro_slice_is(other->text, "2 x b.large"));
    assert_int_equal(other->micros, 500000);
    assert_int_equal(other->saves_micros, 500000);
    /* Nothing is interrupted: the same hour, 2 x $0.2. */
    const struct pyro_cost_advice *spot = advice_of(cost, "spot");
    assert_non_null(spot);
    assert_int_equal(spot->wall_ms, HOUR);
    assert_int_equal(spot->micros, 400000);
    assert_true(spot->saves_share > 0.599 && spot->saves_share < 0.601);
    assert_true(spot->spot->safe);
    assert_true(spot->spot->late_share == 0 && spot->spot->tasks == 0 && spot->spot->interruptions == 0);
    assert_int_equal(spot->spot->replays, 200);
    assert_int_equal(spot->spot->limit_ms, HOUR + HOUR / 4);
    pyro_cost_free(cost);
    forget_sheet(&prices);
    pyro_app_release(app);
}

/* Interrupted some three times an hour each: whatever is drawn, nothing is advised that would be late. */
static void test_interruptions(void **state)
{
    (void)state;
    struct pyro_app *app = two_nodes();
    struct pyro_prices prices;
    struct pyro_cost *cost = cost_of(app);
    const struct pyro_money_options options = {.instance = "a.large"};
    const struct pyro_advise_options wanted = {.interruptions = 3};
    read_sheet(&prices);
    assert_int_equal(pyro_cost_price(cost, &prices, &options, NULL), PYRO_OK);
    assert_int_equal(pyro_cost_advise(cost, app, &prices, &options, &wanted, NULL), PYRO_OK);
    const struct pyro_cost_spot *spot = advice_of(cost, "spot")->spot;
    assert_false(spot->safe);
    assert_true(spot->late_share > 0.9); /* both stay for the hour with a chance of exp(-6) */
    assert_true(spot->wall_low_ms <= spot->wall_ms && spot->wall_ms <= spot->wall_high_ms);
    assert_true(spot->low_micros <= spot->micros && spot->micros <= spot->high_micros);
    assert_true(spot->wall_ms > HOUR && spot->tasks > 1);
    assert_true(spot->task_limit_share > 0);
    assert_int_equal(spot->replaced_ms, 120000);
    assert_false(spot->keeps_output);
    pyro_cost_free(cost);
    forget_sheet(&prices);
    pyro_app_release(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apportion), cmocka_unit_test(test_what_the_log_lacks),
        cmocka_unit_test(test_the_page),  cmocka_unit_test(test_bill),
        cmocka_unit_test(test_advice),    cmocka_unit_test(test_interruptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
