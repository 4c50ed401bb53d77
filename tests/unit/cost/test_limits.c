/* What advice on cost is judged by, at runs just inside and just outside of each limit; all results by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "advice/cost/advise.h"
#include "fixture.h"

enum { START = 1000000, MINUTE = 60000, HOUR = 3600000, DAY = 86400000 };

static const int64_t ids[] = {0};

/* Executors with this number of cores, each on a node of its own; one stage. */
static struct pyro_app *app_of(int executors, int cores, int64_t ms)
{
    static const char *const names[] = {"1",  "2",  "3",  "4",  "5",  "6",  "7",  "8", "9",
                                        "10", "11", "12", "13", "14", "15", "16", "17"};
    struct pyro_app *app = fixture_app(START, START + ms);
    app->application.master = pyro_slice_from("spark://a:7077");
    fixture_property(app, "spark", "spark.master", "spark://a:7077");
    for (int i = 0; i < executors; i++)
        fixture_executor(app, names[i], cores, START, PYRO_NONE)->host = pyro_slice_from(names[i]);
    fixture_job(app, 0, START, START + ms, ids, 1);
    fixture_stage(app, 0, START, START + ms);
    return app;
}

static void add_task(struct pyro_app *app, int index, const char *executor, int64_t from, int64_t ms)
{
    struct fixture_task task = fixture_task(app, 0, executor, START + from, START + from + ms);
    task.row[PYRO_TASK_index] = index;
    task.row[PYRO_TASK_run_ms] = ms;
    fixture_add(app, &task);
}

/* Two nodes of four cores for an hour, sixteen tasks of half an hour in two waves, the second one after `gap`. */
static struct pyro_app *two_nodes(int64_t gap)
{
    struct pyro_app *app = app_of(2, 4, HOUR + gap);
    for (int i = 0; i < 16; i++)
        add_task(app, i, i % 2 ? "2" : "1", i / 8 * (HOUR / 2 + gap), HOUR / 2);
    return app;
}

/* Advice for a run that is paid with this price of a.large, spot nodes for $0.2, or that of another type. */
struct asked {
    double price, other_price, other_gib;
    struct pyro_advise_options wanted;
};

struct answer {
    struct pyro_cost *cost;
    struct pyro_prices prices;
    struct pyro_app *app;
};

static struct answer ask(struct pyro_app *app, const struct asked *asked)
{
    struct answer answer = {.app = app};
    const struct pyro_money_options options = {.instance = "a.large"};
    char sheet[1000];
    struct pyro_error error = {.size = sizeof(error)};
    int length = snprintf(sheet, sizeof(sheet),
                          "schema: pyrometer.prices/1\n"
                          "currency: USD\n"
                          "source: made for this test\n"
                          "dated: 2026-01-01\n"
                          "usual: {service: ec2, unit: hour}\n"
                          "prices:\n"
                          "  - {instance: a.large, price: %g}\n"
                          "  - {instance: a.large, purchase: spot, price: 0.2}\n"
                          "  - {instance: b.large, price: %g}\n"
                          "instances:\n"
                          "  - {name: a.large, cores: 4, memory_gib: 40}\n"
                          "  - {name: b.large, cores: 4, memory_gib: %g}\n",
                          asked->price, asked->other_price, asked->other_gib);
    fixture_analyze(app);
    assert_int_equal(pyro_cost_new(app, NULL, &answer.cost, NULL), PYRO_OK);
    pyro_arena_init(&answer.prices.arena, NULL);
    if (pyro_prices_parse(&answer.prices, "sheet", sheet, (size_t)length, true, &error) != PYRO_OK)
        fail_msg("%s", error.message);
    assert_int_equal(pyro_cost_price(answer.cost, &answer.prices, &options, NULL), PYRO_OK);
    assert_int_equal(pyro_cost_advise(answer.cost, app, &answer.prices, &options, &asked->wanted, NULL), PYRO_OK);
    return answer;
}

static void forget(struct answer *answer)
{
    pyro_cost_free(answer->cost);
    pyro_vec_done(&answer->prices.rows, NULL);
    pyro_vec_done(&answer->prices.instances, NULL);
    pyro_vec_done(&answer->prices.rates, NULL);
    pyro_arena_done(&answer->prices.arena);
    pyro_app_release(answer->app);
}

static const struct pyro_cost_advice *advice_of(const struct answer *answer, const char *kind)
{
    for (size_t i = 0; i < answer->cost->advice_count; i++)
        if (strcmp(answer->cost->advice[i].kind, kind) == 0)
            return &answer->cost->advice[i];
    return NULL;
}

static bool says(const struct pyro_cost_advice *advice, const char *text)
{
    return advice && advice->safety.ptr && pyro_slice_find(advice->safety, text) != NULL;
}

/* Whether nodes of the other type are advised for executors that used these amounts. */
static bool fits(double used_gib, double gib)
{
    struct pyro_app *app = two_nodes(0);
    for (size_t i = 0; i < app->executors.count; i++)
        app->executors.items[i].heap_peak_bytes = (int64_t)(used_gib * 1073741824);
    struct answer answer = ask(app, &(struct asked){.price = 0.5, .other_price = 0.25, .other_gib = gib});
    const struct pyro_cost_advice *advice = advice_of(&answer, "instance");
    bool advised = advice && advice->text.len > 0;
    forget(&answer);
    return advised;
}

/* A quarter more than was used, in 85 % of a node: 8 GiB hold what used 5.44. */
static void test_memory_of_other_nodes(void **state)
{
    (void)state;
    assert_true(fits(4.8, 8));
    assert_false(fits(5.9, 8));
}

/* Six per cent are worth a change, four are not. */
static void test_saving(void **state)
{
    (void)state;
    static const struct {
        double price;
        bool advised;
    } cases[] = {{0.47, true}, {0.48, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct answer answer =
            ask(two_nodes(0), &(struct asked){.price = 0.5, .other_price = cases[i].price, .other_gib = 40});
        const struct pyro_cost_advice *advice = advice_of(&answer, "instance");
        assert_int_equal(advice && advice->text.len > 0, cases[i].advised);
        forget(&answer);
    }
}

/* Nodes have 10 GiB for each core. */
static void test_what_bounds(void **state)
{
    (void)state;
    static const struct {
        double gib;
        bool memory, compute;
    } cases[] = {{48, true, false}, {40, false, false}, {32, false, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct answer answer =
            ask(two_nodes(0), &(struct asked){.price = 0.5, .other_price = 0.25, .other_gib = cases[i].gib});
        const struct pyro_cost_advice *advice = advice_of(&answer, "instance");
        assert_int_equal(says(advice, "memory-bound"), cases[i].memory);
        assert_int_equal(says(advice, "compute-bound"), cases[i].compute);
        forget(&answer);
    }
}

/* Cores that wait between two waves for no reason: the replay starts the second one at once, and is quicker by this
 * time. */
static void test_inexact_replays(void **state)
{
    (void)state;
    static const struct {
        int64_t gap;
        bool exact;
    } cases[] = {{HOUR * 12 / 88, true}, {HOUR * 17 / 83, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct answer answer =
            ask(two_nodes(cases[i].gap), &(struct asked){.price = 0.5, .other_price = 1, .other_gib = 40});
        assert_int_equal(!says(advice_of(&answer, "right-size"), "too inexact"), cases[i].exact);
        forget(&answer);
    }
}

/* Executors that are advised for one long task on seventeen: their time may be 10 % more each time they are halved
 * (what whatif doubts), of 10 % that the run may take longer: log2(17 / 9) = 0.92, log2(17 / 8) = 1.09. Caches hold
 * this share of the memory of each executor. */
static int64_t for_one_task(double filled)
{
    struct pyro_app *app = app_of(17, 4, HOUR);
    add_task(app, 0, "1", 0, HOUR);
    for (size_t i = 0; i < app->executors.count; i++) {
        app->executors.items[i].storage_memory_bytes = 10000000;
        app->executors.items[i].storage_peak_bytes = (int64_t)(filled * 10000000);
    }
    struct answer answer = ask(app, &(struct asked){.price = 0.5, .other_price = 1, .other_gib = 40});
    int64_t executors = advice_of(&answer, "right-size")->executors;
    forget(&answer);
    return executors;
}

static void test_doubt_of_sizes(void **state)
{
    (void)state;
    assert_int_equal(for_one_task(0), 9);
    assert_int_equal(for_one_task(0.52), 10); /* 17 x 0.52 / 0.9 = 9.82 */
}

/* Tasks of a minute on one core, for which up to four executors are tried. */
static int64_t for_a_deadline(int tasks)
{
    struct pyro_app *app = app_of(1, 1, (int64_t)tasks * MINUTE);
    for (int i = 0; i < tasks; i++)
        add_task(app, i, "1", (int64_t)i * MINUTE, MINUTE);
    struct answer answer =
        ask(app, &(struct asked){.price = 0.5, .other_price = 1, .other_gib = 40, .wanted = {.deadline_ms = 140000}});
    int64_t executors = advice_of(&answer, "right-size")->executors;
    forget(&answer);
    return executors;
}

static void test_largest_size(void **state)
{
    (void)state;
    assert_int_equal(for_a_deadline(4), 4);
    assert_int_equal(for_a_deadline(5), PYRO_NONE);
}

/* Two nodes interrupted so often, which may take a minute longer than the hour. */
static struct pyro_cost_spot spot_of(double rate)
{
    struct answer answer =
        ask(two_nodes(0), &(struct asked){.price = 0.5,
                                          .other_price = 1,
                                          .other_gib = 40,
                                          .wanted = {.interruptions = rate, .deadline_ms = HOUR + MINUTE}});
    struct pyro_cost_spot spot = *advice_of(&answer, "spot")->spot;
    forget(&answer);
    return spot;
}

static void test_spot_that_is_late(void **state)
{
    (void)state;
    static const double rates[] = {0.01, 0.032, 0.038, 0.04, 0.042, 0.044, 0.06};
    bool inside = false, outside = false;
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        struct pyro_cost_spot spot = spot_of(rates[i]);
        assert_int_equal(spot.safe, spot.late_share <= 0.05 && spot.task_limit_share == 0);
        /* Nineteen of twenty runs are not longer than this. */
        assert_int_equal(spot.wall_high_ms > HOUR + MINUTE, spot.late_share > 0.05);
        inside |= spot.late_share > 0.0335 && spot.late_share <= 0.05;
        outside |= spot.late_share > 0.05 && spot.late_share < 0.0665;
        assert_int_equal(spot.limit_ms, HOUR + MINUTE);
    }
    assert_true(inside && outside);
}

/* 100 MB are written and read at 200 MB/s in a second, 400 MB made bytes and objects again at 400 MB/s in one. */
static void test_time_of_spills(void **state)
{
    (void)state;
    struct pyro_app *app = app_of(1, 1, 10000);
    struct fixture_task task = fixture_task(app, 0, "1", START, START + 10000);
    struct pyro_cost *cost = NULL;
    task.row[PYRO_TASK_run_ms] = 10000;
    task.row[PYRO_TASK_disk_spill_bytes] = 100000000;
    task.row[PYRO_TASK_memory_spill_bytes] = 400000000;
    fixture_add(app, &task);
    fixture_analyze(app);
    assert_int_equal(pyro_cost_new(app, NULL, &cost, NULL), PYRO_OK);
    assert_int_equal(cost->parts[PYRO_COST_SPILL].core_ms, 2000);
    assert_int_equal(cost->parts[PYRO_COST_USEFUL].core_ms, 8000);
    pyro_cost_free(cost);
    pyro_app_release(app);
}

/* Runs one after another, the first `large` of them on eight cores, the others on four; whether what is said of them
 * has this text. */
static bool history_says(int runs, int large, int days, const char *text)
{
    struct pyro_past past[20];
    struct answer answer = ask(two_nodes(0), &(struct asked){.price = 0.5, .other_price = 1, .other_gib = 40});
    const struct pyro_money_options options = {0};
    int64_t each = (int64_t)days * DAY / runs;
    for (int i = 0; i < runs; i++)
        past[i] = (struct pyro_past){PYRO_SLICE_LITERAL("daily"), i * each, (i + 1) * each, (i < large ? 8 : 4) * each};
    assert_int_equal(
        pyro_cost_reserve(answer.cost, past, (size_t)runs, PYRO_SLICE_LITERAL("daily"), NULL, &options, NULL), PYRO_OK);
    bool said = says(advice_of(&answer, "reserve"), text);
    forget(&answer);
    return said;
}

static void test_steady_use(void **state)
{
    (void)state;
    assert_true(history_says(9, 9, 30, "it takes at least"));
    assert_true(history_says(10, 10, 27, "it takes at least"));
    assert_false(history_says(10, 10, 30, "it takes at least"));
    /* What is held for 70 % of the time: eight cores or only four. A month has 8760 / 12 hours, 511 are 70 %. */
    assert_true(history_says(10, 8, 30, "at least 8.0 cores for 70 % of the time (511 hours per month)"));
    assert_true(history_says(10, 6, 30, "at least 4.0 cores for 70 %"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_other_nodes),
        cmocka_unit_test(test_saving),
        cmocka_unit_test(test_what_bounds),
        cmocka_unit_test(test_inexact_replays),
        cmocka_unit_test(test_doubt_of_sizes),
        cmocka_unit_test(test_largest_size),
        cmocka_unit_test(test_spot_that_is_late),
        cmocka_unit_test(test_time_of_spills),
        cmocka_unit_test(test_steady_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
