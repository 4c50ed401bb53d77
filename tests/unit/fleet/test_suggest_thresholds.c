/* Constants of suggestions: a case a tenth inside of each, and one a tenth outside. */
#include <math.h>
#include <string.h>

#include "suggest_scene.h"

#define MIB     1048576.0
#define PLANNED "spark.sql.adaptive.skewJoin.enabled"

static struct pyro_arena arena;
static struct pyro_error error = {.size = sizeof(error)};

static struct pyro_suggest_history history_of(const struct pyro_suggest_run *rows, size_t count)
{
    struct pyro_suggest_history history;
    assert_true(pyro_history_choose(rows, count, SUGGEST_NOW, &arena, &history));
    return history;
}

static void test_days_of_history(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    make(rows);
    rows[0].start_ms = SUGGEST_NOW - 81 * DAY;
    assert_int_equal(history_of(rows, RUNS).count, RUNS);
    rows[0].start_ms = SUGGEST_NOW - 99 * DAY;
    assert_int_equal(history_of(rows, RUNS).count, RUNS - 1);
}

/* An outlier is one of three runs of a configuration; of two runs, either may be one. */
static void test_runs_that_judge_an_outlier(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    for (int others = 2; others <= 3; others++) {
        make(rows);
        for (int i = 0; i < others; i++)
            rows[i] = run_of(i, 7, 3);
        rows[0].duration_ms *= 3;
        assert_int_equal(history_of(rows, RUNS).outliers, others == 3);
    }
}

/* The candidate of the current executors with sizes that fit. */
static struct pyro_candidate sized(struct pyro_suggest_run *rows, double input_bytes, size_t kept)
{
    const struct pyro_suggest_limits none = {NAN, NAN, NAN, NAN};
    const struct pyro_suggest_history history = history_of(rows, RUNS);
    struct pyro_candidates candidates;
    assert_true(pyro_candidates_make(&history, input_bytes, &none, NULL, 0, kept, &arena, &candidates));
    return candidates.items[candidates.count > 1 && candidates.items[1].resized ? 1 : 0];
}

static void fill(struct pyro_suggest_run *rows, const char *memory, double heap_peak, double outside_peak)
{
    for (int i = 0; i < RUNS; i++) {
        rows[i] = run_of(i, 4, 2);
        rows[i].settings[PYRO_KEY_MEMORY] = pyro_slice_from(memory);
        rows[i].heap_peak_bytes = heap_peak;
        rows[i].outside_peak_bytes = outside_peak;
    }
}

static void test_sizes_of_memory(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    struct pyro_candidate candidate;
    /* Whole blocks of 128 MiB: 1.2 times the peak are 600 MiB. */
    fill(rows, "700m", 500 * MIB, NAN);
    candidate = sized(rows, 20 * BLOCK, 0);
    assert_string_equal(setting(&candidate, "spark.executor.memory"), "640m");
    /* Never less than 512 MiB. */
    fill(rows, "400m", 100 * MIB, NAN);
    candidate = sized(rows, 20 * BLOCK, 0);
    assert_string_equal(setting(&candidate, "spark.executor.memory"), "512m");
    /* What Spark keeps outside of the heap: 384 MiB, more than a tenth of 1 GiB. */
    fill(rows, "1g", NAN, 0.9 * 384 / 1.2 * MIB);
    candidate = sized(rows, 20 * BLOCK, 0);
    assert_string_equal(setting(&candidate, "spark.executor.memoryOverhead"), "");
    fill(rows, "1g", NAN, 1.1 * 384 / 1.2 * MIB);
    candidate = sized(rows, 20 * BLOCK, 0);
    assert_string_equal(setting(&candidate, "spark.executor.memoryOverhead"), "423m");
}

/* Peaks that grow with the power 0.11 of the input grow with an input that was never seen, those with 0.09 do not. */
static void test_growing_peaks(void **state)
{
    (void)state;
    for (int grows = 0; grows < 2; grows++) {
        struct pyro_suggest_run rows[RUNS];
        fill(rows, "8g", GIB, NAN);
        for (int i = 0; i < RUNS; i++) {
            rows[i].input_bytes = (1 + i % 4) * GIB;
            rows[i].heap_peak_bytes = 5 * GIB * pow(rows[i].input_bytes / (4 * GIB), grows ? 0.11 : 0.09);
        }
        struct pyro_candidate candidate = sized(rows, 8 * GIB, 10);
        assert_string_equal(setting(&candidate, "spark.executor.memory"), grows ? "12g" : "6g");
    }
}

/* How far from what ran: 1.25 times, 1.5 after three suggestions that were kept, 2 after ten. */
static void test_kept_suggestions(void **state)
{
    (void)state;
    static const struct {
        size_t kept;
        double factor;
    } cases[] = {{2, 1.25}, {3, 1.5}, {9, 1.5}, {10, 2}};
    const struct pyro_suggest_limits none = {NAN, NAN, NAN, NAN};
    struct pyro_suggest_run rows[RUNS];
    struct pyro_candidates candidates;
    make(rows);
    const struct pyro_suggest_history history = history_of(rows, RUNS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_true(pyro_candidates_make(&history, 20 * BLOCK, &none, NULL, 0, cases[i].kept, &arena, &candidates));
        assert_float_equal(candidates.factor, cases[i].factor, 1e-9);
    }
}

struct replayed {
    double planned; /* a setting of the plan makes the run this many times as long */
    double few;     /* fewer than 16 slots have this share of the work */
};

/* Slots do not change what a run costs, except as above. */
static enum pyro_status replay(void *context, size_t run, const struct pyro_fleet_question *asked,
                               const struct pyro_suggest_setting *settings, size_t count, struct pyro_simulated *ret,
                               struct pyro_error *failure)
{
    const struct replayed *replayed = context;
    double slots = asked->executors * asked->cores, work = 1.6e6 * (slots < 16 ? replayed->few : 1);
    (void)failure;
    (void)run;
    for (size_t i = 0; i < count; i++)
        work *= pyro_slice_is(settings[i].key, PLANNED) ? replayed->planned : 1;
    *ret = (struct pyro_simulated){work / slots, 0, NAN};
    ret->core_ms = ret->wall_ms * slots;
    return PYRO_OK;
}

static bool has_log(void *context, size_t run)
{
    (void)context;
    (void)run;
    return true;
}

static double deadline_ms = NAN;

/* Runs that took `1 + error` and `1 - error` times the replay of 16 executors in turn. */
static struct pyro_suggestion_result suggest(struct replayed replayed, double off)
{
    struct pyro_suggest_run rows[RUNS];
    static const struct pyro_suggest_setting plan = {
        PYRO_SLICE_LITERAL("spark.sql.adaptive.skewJoin.enabled"), PYRO_SLICE_LITERAL("false"), {0}};
    const struct pyro_suggest_simulator simulator = {replay, has_log, &replayed, false};
    struct pyro_suggest_asked asked = question();
    struct pyro_suggestion_result result;
    asked.deadline_ms = deadline_ms;
    asked.plan = &plan;
    asked.plan_count = 1;
    for (int i = 0; i < RUNS; i++) {
        rows[i] = run_of(i, 16, 1);
        rows[i].duration_ms = 1e5 * (i % 2 ? 1 + off : 1 - off);
        rows[i].core_ms = NAN;
    }
    assert_int_equal(pyro_suggest_from(rows, RUNS, &asked, &simulator, &arena, &result, &error), PYRO_OK);
    assert_string_equal(result.model, "simulator");
    return result;
}

/* LEAST_GAIN 0.05 */
static void test_least_gain(void **state)
{
    (void)state;
    struct pyro_suggestion_result result = suggest((struct replayed){1 - 0.055, 1}, 0);
    assert_true(result.has_settings);
    result = suggest((struct replayed){1 - 0.045, 1}, 0);
    assert_false(result.has_settings);
    assert_true(has_text(&result.doubts, "less than 5 %"));
}

/* EQUAL 0.01: of two that cost nearly the same, the one that changes fewer settings. */
static void test_equal_costs(void **state)
{
    (void)state;
    deadline_ms = 1e6; /* other executors never ran: the prediction is uncertain */
    struct pyro_suggestion_result result = suggest((struct replayed){1 - 0.009, 0.8}, 0);
    assert_true(result.has_settings && result.chosen.executors < 16);
    assert_string_equal(setting(&result.chosen, PLANNED), "");
    result = suggest((struct replayed){1 - 0.011, 0.8}, 0);
    assert_true(result.has_settings && result.chosen.executors < 16);
    assert_string_equal(setting(&result.chosen, PLANNED), "false");
    deadline_ms = NAN;
}

/* Memory outside of the heap that a run had without asking for it: 384 MiB, and half as much again. */
static void test_overhead_of_a_rung(void **state)
{
    (void)state;
    struct pyro_suggest_run rows[RUNS];
    struct pyro_suggest_asked asked = question();
    struct pyro_suggestion_result result;
    fill(rows, "1g", NAN, NAN);
    rows[RUNS - 1].status = PYRO_SLICE_LITERAL("failed");
    asked.death = PYRO_SLICE_LITERAL("memory");
    asked.tried[0].rung = PYRO_SLICE_LITERAL("half the tasks at once");
    asked.tried[asked.tried_count++].time_ms = rows[RUNS - 1].start_ms - 1;
    assert_int_equal(pyro_suggest_from(rows, RUNS, &asked, NULL, &arena, &result, &error), PYRO_OK);
    assert_string_equal(result.rung, "executor memory x 1.5");
    assert_string_equal(setting(&result.chosen, "spark.executor.memoryOverhead"), "576m");
}

/* LARGE_ERROR 0.2 */
static void test_large_errors(void **state)
{
    (void)state;
    bool below = false, above = false;
    for (double off = 0.05; off < 0.3; off += 0.01) {
        struct pyro_suggestion_result result = suggest((struct replayed){1, 1}, off);
        double model = result.model_error;
        assert_int_equal(has_text(&result.doubts, "the model is off"), model > 0.2);
        below |= model > 0.2 / 1.2 && model < 0.2;
        above |= model > 0.2 && model < 0.2 * 1.2;
    }
    assert_true(below && above);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days_of_history),    cmocka_unit_test(test_runs_that_judge_an_outlier),
        cmocka_unit_test(test_sizes_of_memory),    cmocka_unit_test(test_growing_peaks),
        cmocka_unit_test(test_kept_suggestions),   cmocka_unit_test(test_least_gain),
        cmocka_unit_test(test_large_errors),       cmocka_unit_test(test_equal_costs),
        cmocka_unit_test(test_overhead_of_a_rung),
    };
    pyro_arena_init(&arena, NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pyro_arena_done(&arena);
    return failed;
}
