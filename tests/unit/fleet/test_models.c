/* Runs whose true model is known; tests/e2e/test_fleet_models.py compares with an oracle. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/models/models.h"

#define GIB   (1024.0 * 1024 * 1024)
#define BLOCK (128.0 * 1024 * 1024)
enum { RUNS = 24 };

static struct pyro_arena arena;

static void close_to(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-6 * fmax(1, fabs(expected))))
        fail_msg("%.17g instead of %.17g", found, expected);
}

/* Executors, cores and input vary; the largest stage reads all of it. */
static void make(struct pyro_fleet_run *runs, double (*duration)(double n, double c))
{
    for (int i = 0; i < RUNS; i++) {
        double executors = 2 + i % 3 * 2, cores = i % 2 ? 4 : 2, input = (1 + i * 7 % 11) * 1.5 * GIB;
        runs[i] = (struct pyro_fleet_run){.start_ms = i,
                                          .duration_ms = duration(input, executors * cores),
                                          .executors = executors,
                                          .cores = cores,
                                          .input_bytes = input,
                                          .largest_input_bytes = input};
    }
}

static double wave(double n, double c)
{
    return 20000 + 3000 * ceil(ceil(n / BLOCK) / c);
}

static double ernest(double n, double c)
{
    return 10000 + 40000 * n / GIB / c + 5000 * log2(c) + 700 * c;
}

static double amdahl(double n, double c)
{
    return 25000 + 60000 * n / GIB / c;
}

static void check_best(double (*duration)(double n, double c), enum pyro_fleet_model model, const double *coefficients)
{
    struct pyro_fleet_run runs[RUNS];
    struct pyro_fleet_models found;
    struct pyro_fleet_prediction next;
    make(runs, duration);
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, NULL, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.best, model);
    const struct pyro_fleet_fit *fit = &found.fits[model];
    for (size_t i = 0; i < pyro_fleet_model_infos[model].columns; i++)
        close_to(fit->coefficients[i], coefficients[i]);
    assert_int_equal(fit->runs, RUNS);
    assert_int_equal(fit->predictions, RUNS - 3);
    assert_true(fit->error < 0.1);
    /* A configuration that never ran. */
    const struct pyro_fleet_question asked = {10, 4, 50 * GIB, 50 * GIB};
    assert_int_equal(pyro_fleet_predict(&found, model, false, &asked, &next, NULL), PYRO_OK);
    assert_true(next.known && next.low_ms <= next.expected_ms && next.expected_ms <= next.high_ms);
    close_to(next.expected_ms, duration(50 * GIB, 40));
}

static void test_true_models_win(void **state)
{
    (void)state;
    check_best(wave, PYRO_FLEET_WAVE, (const double[4]){20000, 3000});
    check_best(ernest, PYRO_FLEET_ERNEST, (const double[4]){10000, 40000, 5000, 700});
    check_best(amdahl, PYRO_FLEET_AMDAHL, (const double[4]){25000, 60000});
}

static void test_what_is_missing(void **state)
{
    (void)state;
    struct pyro_fleet_run runs[RUNS];
    struct pyro_fleet_models found;
    make(runs, amdahl);
    assert_int_equal(pyro_fleet_models_fit(runs, 4, NULL, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.best, -1);
    assert_non_null(strstr(found.fits[PYRO_FLEET_AMDAHL].missing, "1 more run with a known input"));
    assert_non_null(strstr(found.fits[PYRO_FLEET_AMDAHL].missing, "4 of 4 runs"));
    assert_non_null(strstr(found.fits[PYRO_FLEET_SIMULATOR].missing, "log"));
    for (int i = 0; i < RUNS; i++)
        runs[i].executors = 4, runs[i].cores = 1;
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, NULL, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.best, -1);
    assert_non_null(strstr(found.fits[PYRO_FLEET_ERNEST].missing, "all 24 runs had 4 executors with 1 core each"));
    /* Runs with one block or less say nothing about waves. */
    make(runs, amdahl);
    for (int i = 0; i < RUNS; i++)
        runs[i].largest_input_bytes = i < 20 ? BLOCK : BLOCK + 1;
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, NULL, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.fits[PYRO_FLEET_WAVE].runs, 4);
    assert_non_null(strstr(found.fits[PYRO_FLEET_WAVE].missing, "1 more run of which a stage reads more than one"));
    /* Unknown values leave a run out. */
    runs[0].duration_ms = NAN;
    runs[1].input_bytes = NAN;
    runs[2].executors = 0;
    runs[3].cores = NAN;
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, NULL, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.fits[PYRO_FLEET_AMDAHL].runs, RUNS - 4);
    assert_int_equal(pyro_fleet_models_fit(runs, 0, NULL, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.best, -1);
}

/* Replays are half as long as runs; the logs of some runs cannot be read. */
struct replays {
    const struct pyro_fleet_run *runs;
    size_t unreadable, asked[RUNS];
    enum pyro_status otherwise;
};

static enum pyro_status replay(void *context, size_t run, const struct pyro_fleet_question *asked, double *ret_ms,
                               struct pyro_error *error)
{
    struct replays *replays = context;
    (void)error;
    replays->asked[run]++;
    if (run == replays->unreadable)
        return replays->otherwise;
    *ret_ms = 0.5 * amdahl(asked->input_bytes, asked->executors * asked->cores);
    return PYRO_OK;
}

static void test_simulator(void **state)
{
    (void)state;
    struct pyro_fleet_run runs[RUNS];
    struct pyro_fleet_models found;
    struct pyro_fleet_prediction next;
    make(runs, amdahl);
    for (int i = 0; i < RUNS; i++) {
        runs[i].executors = 4; /* one configuration is enough */
        runs[i].cores = 2;
        runs[i].duration_ms = amdahl(runs[i].input_bytes, 8);
        runs[i].has_log = i == 2 || i == 5;
    }
    struct replays replays = {.runs = runs, .unreadable = RUNS, .otherwise = PYRO_ERROR_INPUT};
    const struct pyro_fleet_simulator simulator = {replay, &replays};
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, &simulator, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.best, PYRO_FLEET_SIMULATOR);
    close_to(found.fits[PYRO_FLEET_SIMULATOR].coefficients[0], 2);
    /* Run 3 is the first one after a log, and still without a ratio. */
    assert_int_equal(found.fits[PYRO_FLEET_SIMULATOR].predictions, RUNS - 3);
    close_to(found.fits[PYRO_FLEET_SIMULATOR].error, 0);
    const struct pyro_fleet_question asked = {4, 2, runs[5].input_bytes * 1.01, NAN};
    size_t before = replays.asked[5];
    assert_int_equal(pyro_fleet_predict(&found, PYRO_FLEET_SIMULATOR, false, &asked, &next, NULL), PYRO_OK);
    close_to(next.expected_ms, amdahl(asked.input_bytes, 8));
    assert_int_equal(replays.asked[5], before + 1);
    /* A log that cannot be read after all is asked for once. */
    replays = (struct replays){.runs = runs, .unreadable = 5, .otherwise = PYRO_ERROR_INPUT};
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, &simulator, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(replays.asked[5], 1);
    assert_int_equal(found.best, PYRO_FLEET_SIMULATOR);
    replays.unreadable = 2;
    assert_int_equal(pyro_fleet_models_fit(runs, 5, &simulator, &arena, &found, NULL), PYRO_OK);
    assert_int_equal(found.best, -1);
    /* Anything else ends the work. */
    replays.otherwise = PYRO_ERROR_MEMORY;
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, &simulator, &arena, &found, NULL), PYRO_ERROR_MEMORY);
}

/* How far runs were above their predictions at most, as a share. */
static double largest_residual(const struct pyro_fleet_fit *fit)
{
    double largest = -1;
    for (size_t i = 0; i < fit->predictions; i++)
        largest = fmax(largest, fit->predicted[i].observed_ms / fit->predicted[i].predicted_ms - 1);
    return largest;
}

/* Nine residuals are few, ten are not. */
static void test_few_residuals(void **state)
{
    (void)state;
    struct pyro_fleet_run runs[RUNS];
    struct pyro_fleet_models found;
    make(runs, amdahl);
    for (int i = 0; i < RUNS; i++)
        runs[i].duration_ms *= 1 + 0.02 * (i * 3 % 5);
    for (size_t residuals = 9; residuals <= 10; residuals++) {
        assert_int_equal(pyro_fleet_models_fit(runs, residuals + 3, NULL, &arena, &found, NULL), PYRO_OK);
        const struct pyro_fleet_fit *fit = &found.fits[PYRO_FLEET_AMDAHL];
        assert_int_equal(fit->predictions, residuals);
        double largest = largest_residual(fit);
        assert_true(largest > 0.01);
        assert_int_equal(fit->high > largest, residuals == 9);
    }
}

static void test_interval(void **state)
{
    (void)state;
    struct pyro_fleet_run runs[RUNS];
    struct pyro_fleet_models found;
    make(runs, amdahl);
    /* Few residuals: a quarter is added to the extremes. The 5th run is 10 % slower than predicted. */
    runs[4].duration_ms *= 1.1;
    assert_int_equal(pyro_fleet_models_fit(runs, 5, NULL, &arena, &found, NULL), PYRO_OK);
    const struct pyro_fleet_fit *fit = &found.fits[PYRO_FLEET_AMDAHL];
    assert_int_equal(fit->predictions, 2);
    close_to(fit->high, 0.125);
    assert_true(fit->low > -1e-6 && fit->low <= 0);
    close_to(fit->error, 0.1 / 1.1 / 2);
    /* Ten or more: percentiles, which one run does not reach. */
    assert_int_equal(pyro_fleet_models_fit(runs, RUNS, NULL, &arena, &found, NULL), PYRO_OK);
    assert_true(found.fits[PYRO_FLEET_AMDAHL].high < 0.05);
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
        cmocka_unit_test_teardown(test_true_models_win, reset), cmocka_unit_test_teardown(test_what_is_missing, reset),
        cmocka_unit_test_teardown(test_simulator, reset),       cmocka_unit_test_teardown(test_interval, reset),
        cmocka_unit_test_teardown(test_few_residuals, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
