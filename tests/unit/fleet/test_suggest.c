/* Suggestions from rows whose true model is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suggest_scene.h"

static const int64_t now = SUGGEST_NOW;

static struct pyro_arena arena;
static struct pyro_error error = {.size = sizeof(error)};

static struct pyro_suggestion_result suggest(const struct pyro_suggest_run *rows, size_t count,
                                             const struct pyro_suggest_asked *asked,
                                             const struct pyro_suggest_simulator *simulator)
{
    struct pyro_suggestion_result result;
    assert_int_equal(pyro_suggest_from(rows, count, asked, simulator, &arena, &result, &error), PYRO_OK);
    return result;
}

static void test_history(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS + 4];
    struct pyro_suggest_history history;
    make(rows);
    rows[0].start_ms = now - 91 * DAY;
    rows[1].final = false;
    rows[2].status = PYRO_SLICE_LITERAL("failed");
    rows[9].duration_ms *= 3; /* five executors of four cores take as long in all other runs */
    assert_true(pyro_history_choose(rows, RUNS, now, &arena, &history));
    assert_int_equal(history.count, RUNS - 4);
    assert_int_equal(history.outliers, 1);
    assert_true(history.same_code && history.same_spark);
    assert_ptr_equal(history.completed, &rows[RUNS - 1]);
    assert_true(history.input_bytes == 20 * BLOCK);
    /* Five runs of new code are enough, four are not. */
    for (int i = RUNS - 4; i < RUNS; i++)
        rows[i].version = PYRO_SLICE_LITERAL("2");
    assert_true(pyro_history_choose(rows, RUNS, now, &arena, &history));
    assert_int_equal(history.count, RUNS - 4);
    assert_false(history.same_code);
    rows[RUNS - 5].version = PYRO_SLICE_LITERAL("2");
    assert_true(pyro_history_choose(rows, RUNS, now, &arena, &history));
    assert_int_equal(history.count, 5);
    assert_true(history.same_code);
    assert_true(pyro_history_choose(rows, 0, now, &arena, &history));
    assert_int_equal(history.count, 0);
    assert_null(history.newest);
}

static void test_fewer_slots_for_as_many_waves(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    make(rows);
    struct pyro_suggest_asked asked = question();
    struct pyro_suggestion_result result = suggest(rows, RUNS, &asked, NULL);
    assert_int_equal(result.goal, PYRO_GOAL_CHEAPER);
    assert_string_equal(result.model, "wave");
    assert_true(result.has_settings);
    /* 8 x 2 and 5 x 2 both take two waves; executors of the same size change one setting. */
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "5");
    assert_int_equal(result.chosen.setting_count, 1);
    assert_true(pyro_slice_is(result.chosen.settings[0].previous, "8"));
    assert_true(fabs(result.chosen.wall.expected_ms - wave_ms(20, 10)) < 500);
    assert_true(fabs(result.chosen.core_ms / result.current.core_ms - 10.0 / 16) < 0.01);
    assert_int_equal(result.missing.count, 0);
    /* Where the prediction is uncertain, it must be faster: one wave of 20 slots, still cheaper than two of 16. */
    for (int i = 0; i < RUNS; i++)
        rows[i].duration_ms += i % 3 * 100;
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.executor.cores"), "4");
    assert_true(result.chosen.wall.high_ms <= result.current.wall.expected_ms);
}

static void test_deadline_and_cost(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    make(rows);
    struct pyro_suggest_asked asked = question();
    asked.deadline_ms = wave_ms(20, 20) + 3000;
    struct pyro_suggestion_result result = suggest(rows, RUNS, &asked, NULL);
    assert_true(result.has_settings);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "5");
    assert_string_equal(setting(&result.chosen, "spark.executor.cores"), "4");
    asked.deadline_ms = 30000;
    result = suggest(rows, RUNS, &asked, NULL);
    assert_false(result.has_settings);
    assert_true(has_text(&result.missing, "meets the deadline"));
    /* Without prices the cost is core hours: 10 slots for 130 s are 0.36. */
    asked = question();
    asked.max_cost = 0.37;
    result = suggest(rows, RUNS, &asked, NULL);
    assert_int_equal(result.goal, PYRO_GOAL_MAX_COST);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "5");
    assert_int_equal(result.chosen.setting_count, 1);
    asked.max_cost = 0.41; /* 20 slots for 70 s are 0.39, and faster */
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.executor.cores"), "4");
}

static void test_too_little_history(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    make(rows);
    struct pyro_suggest_asked asked = question();
    struct pyro_suggestion_result result = suggest(rows, 4, &asked, NULL);
    assert_false(result.has_settings);
    assert_true(has_text(&result.missing, "1 more run"));
    assert_true(has_text(&result.missing, "simulator: a run with a log"));
    result = suggest(rows, 0, &asked, NULL);
    assert_false(result.has_settings);
    assert_true(result.missing.count > 0);
    for (int i = 0; i < RUNS; i++)
        rows[i] = run_of(i, 8, 2);
    result = suggest(rows, RUNS, &asked, NULL);
    assert_true(has_text(&result.missing, "a second configuration"));
}

static void test_small_gain_keeps_the_settings(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    for (int i = 0; i < RUNS; i++) /* 10 or 11 slots: two waves, 9 % more core time */
        rows[i] = i % 2 ? run_of(i, 11, 1) : run_of(i, 10, 1);
    struct pyro_suggest_asked asked = question();
    struct pyro_suggestion_result result = suggest(rows, RUNS, &asked, NULL);
    assert_true(result.has_settings);
    for (int i = 0; i < RUNS; i++) /* the model is off by 15 % in a third of the runs */
        rows[i].duration_ms *= 1 + 0.15 * (i % 3 - 1);
    result = suggest(rows, RUNS, &asked, NULL);
    assert_false(result.has_settings);
    assert_true(result.has_current);
}

/* Replays take half of the time that runs take; twice the partitions halve it again. */
static enum pyro_status replay(void *context, size_t run, const struct pyro_fleet_question *asked,
                               const struct pyro_suggest_setting *settings, size_t count, struct pyro_simulated *ret,
                               struct pyro_error *failure)
{
    const double *price = context;
    (void)failure;
    (void)run;
    double slots = asked->executors * asked->cores;
    *ret = (struct pyro_simulated){0.5 * wave_ms(20, slots), 0, NAN};
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_is(settings[i].key, "spark.sql.adaptive.skewJoin.enabled"))
            ret->wall_ms *= 0.5;
    ret->core_ms = ret->wall_ms * slots;
    ret->cost = ret->core_ms * *price;
    return PYRO_OK;
}

static bool has_log(void *context, size_t run)
{
    (void)context;
    return run < 2;
}

static void test_simulator(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    for (int i = 0; i < RUNS; i++)
        rows[i] = run_of(i, 16, 1);
    double price = 2.0 / 3600e3;
    const struct pyro_suggest_simulator simulator = {replay, has_log, &price, true};
    struct pyro_suggest_asked asked = question();
    asked.priced = true;
    /* One configuration ran: that others are predicted 30 % too long to 40 % too short is assumed, which is too much to
     * save anything. */
    struct pyro_suggestion_result result = suggest(rows, RUNS, &asked, &simulator);
    assert_false(result.has_settings);
    /* With time to spare, 16 / 1.25 to 16 x 1.25 executors: two waves of 13. One wave of 20 would be cheaper still, but
     * nothing ever took less than 130 s, and it is not believed to take less than that less 20 %. */
    asked.deadline_ms = 1.4 * wave_ms(20, 13);
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_string_equal(result.model, "simulator");
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "13");
    assert_false(result.chosen.ran);
    assert_true(result.never_ran && has_text(&result.doubts, "is assumed"));
    assert_true(fabs(result.chosen.cost - 2 * 13 * wave_ms(20, 13) / 3600e3) < 0.01);
    asked.limits.most_executors = 19;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "13");
    /* After ten suggestions that were kept, values may be twice as far: 10 executors. */
    asked.kept = 10;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "10");
    /* The plan of the newest report, where the simulator says that it helps. */
    const struct pyro_suggest_setting plan[] = {
        {PYRO_SLICE_LITERAL("spark.sql.adaptive.skewJoin.enabled"), PYRO_SLICE_LITERAL("false"), {0}},
        {PYRO_SLICE_LITERAL("spark.some.unknown.setting"), PYRO_SLICE_LITERAL("7"), {0}}};
    asked.plan = plan;
    asked.plan_count = 2;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_string_equal(setting(&result.chosen, "spark.sql.adaptive.skewJoin.enabled"), "false");
    assert_string_equal(setting(&result.chosen, "spark.some.unknown.setting"), "");
    assert_true(fabs(result.chosen.wall.expected_ms - 0.5 * wave_ms(20, 10)) < 1000);
    /* An input that was never seen. */
    asked.input_bytes = 30 * BLOCK;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_true(has_text(&result.doubts, "1.5 times the largest"));
    /* More than twice of all that ran: no configuration is near, only the current one is predicted. */
    asked.input_bytes = 50 * BLOCK;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_true(result.has_current);
}

/* Only up to a number of slots have a price. */
static enum pyro_status replay_with_few_prices(void *context, size_t run, const struct pyro_fleet_question *asked,
                                               const struct pyro_suggest_setting *settings, size_t count,
                                               struct pyro_simulated *ret, struct pyro_error *failure)
{
    const double *most_slots = context;
    double price = asked->executors * asked->cores <= *most_slots ? 2.0 / 3600e3 : (double)NAN;
    return replay(&price, run, asked, settings, count, ret, failure);
}

static void test_money_and_core_hours_are_not_compared(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    for (int i = 0; i < RUNS; i++)
        rows[i] = run_of(i, i % 2 ? 16 : 13, 1);
    double most_slots = 16;
    const struct pyro_suggest_simulator simulator = {replay_with_few_prices, has_log, &most_slots, true};
    struct pyro_suggest_asked asked = question();
    asked.priced = true;
    /* What 20 executors cost is not known. */
    struct pyro_suggestion_result result = suggest(rows, RUNS, &asked, &simulator);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "11");
    assert_true(has_text(&result.doubts, "have no price: left out"));
    /* 13 executors cost 0.94, and 0.47 core hours. */
    asked.max_cost = 0.5;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_false(result.has_settings);
    assert_true(has_text(&result.missing, "costs at most this"));
    asked.max_cost = 1;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "13");
    /* Nothing has a price. */
    most_slots = 0;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_false(result.has_settings);
    assert_int_equal(result.missing.count, 1);
    assert_true(has_text(&result.missing, "a price of these runs"));
    asked.max_cost = NAN;
    result = suggest(rows, RUNS, &asked, &simulator);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "11");
    assert_true(has_text(&result.doubts, "compared in core hours"));
    /* Nor without logs. */
    make(rows);
    asked.max_cost = 0.41;
    result = suggest(rows, RUNS, &asked, NULL);
    assert_false(result.has_settings);
    assert_true(has_text(&result.missing, "a price of these runs"));
}

static void test_memory_by_peak(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    struct pyro_suggest_history history;
    struct pyro_candidates candidates;
    for (int i = 0; i < RUNS; i++) {
        rows[i] = run_of(i, 4, 2);
        rows[i].settings[PYRO_KEY_MEMORY] = PYRO_SLICE_LITERAL("8g");
        rows[i].settings[PYRO_KEY_ADAPTIVE] = PYRO_SLICE_LITERAL("false");
        rows[i].settings[PYRO_KEY_PARTITIONS] = PYRO_SLICE_LITERAL("200");
        rows[i].input_bytes = (1 + i % 4) * GIB;
        rows[i].heap_peak_bytes = 5 * GIB;
        rows[i].outside_peak_bytes = GIB;
        rows[i].largest_shuffle_bytes = 80 * BLOCK * rows[i].input_bytes / (4 * GIB);
    }
    const struct pyro_suggest_limits none = {NAN, NAN, NAN, NAN};
    assert_true(pyro_history_choose(rows, RUNS, now, &arena, &history));
    assert_true(pyro_candidates_make(&history, 4 * GIB, &none, NULL, 0, 0, &arena, &candidates));
    assert_true(candidates.items[0].current && !candidates.items[0].resized);
    /* 6 GiB would do, but 8 GiB / 1.25 is the least that is near what ran. */
    assert_true(candidates.items[1].resized);
    assert_string_equal(setting(&candidates.items[1], "spark.executor.memory"), "6656m");
    /* A tenth of 8 GiB is less than 1.2 GiB. */
    assert_string_equal(setting(&candidates.items[1], "spark.executor.memoryOverhead"), "1229m");
    /* 80 blocks in whole waves of 8 slots are 80 partitions; 200 / 1.25 is near. */
    assert_string_equal(setting(&candidates.items[1], "spark.sql.shuffle.partitions"), "160");
    assert_true(pyro_candidates_make(&history, 4 * GIB, &none, NULL, 0, 10, &arena, &candidates));
    assert_string_equal(setting(&candidates.items[1], "spark.executor.memory"), "6g");
    /* An input beyond all that ran: the peak does not grow with it. */
    assert_true(pyro_candidates_make(&history, 8 * GIB, &none, NULL, 0, 10, &arena, &candidates));
    assert_string_equal(setting(&candidates.items[1], "spark.executor.memory"), "6g");
    for (int i = 0; i < RUNS; i++)
        rows[i].heap_peak_bytes = 1.25 * rows[i].input_bytes;
    assert_true(pyro_candidates_make(&history, 8 * GIB, &none, NULL, 0, 10, &arena, &candidates));
    assert_string_equal(setting(&candidates.items[1], "spark.executor.memory"), "12g");
    const struct pyro_suggest_limits ten = {NAN, NAN, 10 * GIB, NAN};
    assert_true(pyro_candidates_make(&history, 8 * GIB, &ten, NULL, 0, 10, &arena, &candidates));
    assert_string_equal(setting(&candidates.items[1], "spark.executor.memory"), "10g");
}

static struct pyro_core_time core_time_of(double share, double without_ms)
{
    struct pyro_suggest_run rows[RUNS];
    struct pyro_suggest_history history;
    struct pyro_core_time found;
    make(rows);
    for (int i = 0; i < RUNS; i++) {
        rows[i].duration_ms *= 1 + 0.02 * (i % 7);
        rows[i].core_ms = rows[i].executors * rows[i].cores * (rows[i].duration_ms - without_ms) * share;
    }
    rows[1].core_ms = NAN;
    assert_true(pyro_history_choose(rows, RUNS, now, &arena, &history));
    assert_true(pyro_core_time_fit(&history, &arena, &found));
    return found;
}

static void test_core_time(void **state)
{
    (void)state;
    struct pyro_core_time found = core_time_of(1, 9000);
    assert_true(found.fixed);
    assert_float_equal(pyro_core_time_predict(&found, 3, 100000), 3 * 91000, 1e-6);
    /* Less than any run took: some of it is work nevertheless. */
    assert_float_equal(pyro_core_time_predict(&found, 3, 7000), 3 * 6100, 1e-6);
    found = core_time_of(0.4, 0);
    assert_false(found.fixed);
    assert_float_equal(pyro_core_time_predict(&found, 3, 50000), 60000, 1e-6);
    const struct pyro_suggest_history none = {0};
    assert_true(pyro_core_time_fit(&none, &arena, &found));
    assert_float_equal(pyro_core_time_predict(&found, 3, 50000), 150000, 1e-6);
}

static void tried(struct pyro_suggest_asked *asked, const char *rung, int64_t time_ms)
{
    asked->tried[asked->tried_count].rung = pyro_slice_from(rung);
    asked->tried[asked->tried_count++].time_ms = time_ms;
}

static void test_ladders(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    make(rows);
    rows[RUNS - 2].settings[PYRO_KEY_MEMORY] = PYRO_SLICE_LITERAL("4g");
    rows[RUNS - 1].settings[PYRO_KEY_MEMORY] = PYRO_SLICE_LITERAL("4g");
    rows[RUNS - 1].settings[PYRO_KEY_PARTITIONS] = PYRO_SLICE_LITERAL("200");
    rows[RUNS - 1].status = PYRO_SLICE_LITERAL("failed");
    rows[RUNS - 1].cores = 4;
    rows[RUNS - 1].settings[PYRO_KEY_CORES] = PYRO_SLICE_LITERAL("4");
    struct pyro_suggest_asked asked = question();
    asked.death = PYRO_SLICE_LITERAL("memory");
    struct pyro_suggestion_result result = suggest(rows, RUNS, &asked, NULL);
    assert_int_equal(result.goal, PYRO_GOAL_SURVIVE);
    assert_string_equal(setting(&result.chosen, "spark.executor.cores"), "2");
    assert_string_equal(result.rung, "half the tasks at once");
    /* A rung that was suggested after the run started has not been tried. */
    tried(&asked, "half the tasks at once", rows[RUNS - 1].start_ms + 1);
    assert_string_equal(suggest(rows, RUNS, &asked, NULL).rung, "half the tasks at once");
    tried(&asked, "half the tasks at once", rows[RUNS - 1].start_ms - 1);
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.executor.memory"), "6g");
    assert_string_equal(setting(&result.chosen, "spark.executor.memoryOverhead"), "615m");
    tried(&asked, "executor memory x 1.5", rows[RUNS - 1].start_ms - 1);
    /* From the last completed run, not from the rung before. */
    rows[RUNS - 1].settings[PYRO_KEY_MEMORY] = PYRO_SLICE_LITERAL("6g");
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.executor.memory"), "8g");
    tried(&asked, "executor memory x 2", rows[RUNS - 1].start_ms - 1);
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.sql.shuffle.partitions"), "400");
    tried(&asked, "twice the partitions", rows[RUNS - 1].start_ms - 1);
    result = suggest(rows, RUNS, &asked, NULL);
    assert_false(result.has_settings);
    assert_true(has_text(&result.missing, "a further rung"));
    /* Rungs that the policy does not allow are passed over. */
    asked.tried_count = 2; /* the first rung only */
    rows[RUNS - 1].settings[PYRO_KEY_MEMORY] = PYRO_SLICE_LITERAL("4g");
    asked.limits.most_memory_bytes = 5 * GIB;
    assert_string_equal(suggest(rows, RUNS, &asked, NULL).rung, "twice the partitions");
    asked = question();
    asked.death = PYRO_SLICE_LITERAL("result-limit");
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.driver.maxResultSize"), "2g");
    assert_string_equal(setting(&result.chosen, "spark.driver.memory"), "3g");
    asked.death = PYRO_SLICE_LITERAL("preemption");
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.decommission.enabled"), "true");
    assert_string_equal(setting(&result.chosen, "spark.executor.cores"), "2");
    /* Tasks of four cores: executors cannot be smaller, so twice as many have twice the cores. */
    rows[RUNS - 1].settings[PYRO_KEY_TASK_CPUS] = PYRO_SLICE_LITERAL("4");
    asked.limits.most_total_cores = 40;
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.executor.instances"), "10");
    assert_string_equal(setting(&result.chosen, "spark.executor.cores"), "");
    asked.limits.most_total_cores = 39;
    assert_false(suggest(rows, RUNS, &asked, NULL).has_settings);
    asked.limits.most_total_cores = NAN;
    asked.death = PYRO_SLICE_LITERAL("driver-memory");
    result = suggest(rows, RUNS, &asked, NULL);
    assert_string_equal(setting(&result.chosen, "spark.driver.memory"), "1536m");
}

static int reset(void **state)
{
    (void)state;
    pyro_arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_history, reset),
        cmocka_unit_test_teardown(test_fewer_slots_for_as_many_waves, reset),
        cmocka_unit_test_teardown(test_deadline_and_cost, reset),
        cmocka_unit_test_teardown(test_too_little_history, reset),
        cmocka_unit_test_teardown(test_small_gain_keeps_the_settings, reset),
        cmocka_unit_test_teardown(test_simulator, reset),
        cmocka_unit_test_teardown(test_money_and_core_hours_are_not_compared, reset),
        cmocka_unit_test_teardown(test_memory_by_peak, reset),
        cmocka_unit_test_teardown(test_core_time, reset),
        cmocka_unit_test_teardown(test_ladders, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
