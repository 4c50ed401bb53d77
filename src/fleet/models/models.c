/* Which model predicts an application's runs best. */
#include "fleet/models/models.h"

#include <math.h>

#include "base/numbers/order.h"
#include "fleet/statistics/statistics.h"

#define BLOCK_BYTES (128.0 * 1024 * 1024)
#define GIB         (1024.0 * 1024 * 1024)

enum { FIRST_PREDICTED = 3, FEW_RESIDUALS = 10 };
#define FEW_FACTOR  1.25
#define EQUAL_ERROR 1e-9

const struct pyro_fleet_model_info pyro_fleet_model_infos[PYRO_FLEET_MODELS] = {
    [PYRO_FLEET_WAVE] = {"wave", "s + w ceil(B / c)", 2, {"s_ms", "w_ms"}},
    [PYRO_FLEET_ERNEST] = {"ernest",
                           "a + b N / c + d log2 c + g c",
                           4,
                           {"a_ms", "b_core_ms_per_gib", "d_ms", "g_ms_per_core"}},
    [PYRO_FLEET_AMDAHL] = {"amdahl", "s + p N / c", 2, {"s_ms", "p_core_ms_per_gib"}},
    [PYRO_FLEET_SIMULATOR] = {"simulator", "f x replay of the log with the nearest input", 0, {"f"}},
};

static struct pyro_fleet_question question_of(const struct pyro_fleet_run *run)
{
    return (struct pyro_fleet_question){run->executors, run->cores, run->input_bytes, run->largest_input_bytes};
}

/* The columns of an analytic model. False: it says nothing about such a run. */
static bool columns_of(enum pyro_fleet_model model, const struct pyro_fleet_question *asked, double *ret)
{
    double c = asked->executors * asked->cores, n = asked->input_bytes / GIB;
    double blocks = ceil(asked->largest_input_bytes / BLOCK_BYTES);
    if (!(c > 0) || !isfinite(c))
        return false;
    ret[0] = 1;
    if (model == PYRO_FLEET_WAVE) {
        ret[1] = ceil(blocks / c);
        return blocks > 1 && isfinite(blocks);
    }
    ret[1] = n / c;
    ret[2] = log2(c);
    ret[3] = c;
    return n >= 0 && isfinite(n);
}

static double value_of(const double *row, const double *coefficients, size_t columns)
{
    double sum = 0;
    for (size_t i = 0; i < columns; i++)
        sum += row[i] * coefficients[i];
    return sum;
}

static bool is_timed(const struct pyro_fleet_run *run)
{
    return run->duration_ms > 0 && isfinite(run->duration_ms) && run->executors > 0 && run->cores > 0;
}

/* One model's predictions, and their residuals. */
struct residuals {
    struct pyro_fleet_predicted *predicted;
    double *errors, *relative; /* |p - o| / o, (o - p) / p */
    size_t count;
};

static bool residuals_make(struct residuals *residuals, size_t most, struct pyro_arena *arena)
{
    residuals->predicted = pyro_arena_array(arena, most + 1, sizeof(*residuals->predicted));
    residuals->errors = pyro_arena_array(arena, most + 1, sizeof(double));
    residuals->relative = pyro_arena_array(arena, most + 1, sizeof(double));
    return residuals->predicted && residuals->errors && residuals->relative;
}

static void residuals_add(struct residuals *residuals, double predicted, const struct pyro_fleet_run *run)
{
    double observed = run->duration_ms;
    if (!(predicted > 0) || !isfinite(predicted))
        return;
    residuals->predicted[residuals->count] = (struct pyro_fleet_predicted){run->start_ms, predicted, observed};
    residuals->errors[residuals->count] = fabs(predicted - observed) / observed;
    residuals->relative[residuals->count++] = (observed - predicted) / predicted;
}

static void residuals_take(struct residuals *residuals, struct pyro_fleet_fit *fit)
{
    size_t count = fit->predictions = residuals->count;
    fit->predicted = residuals->predicted;
    if (count == 0)
        return;
    pyro_sort_reals(residuals->errors, count);
    pyro_sort_reals(residuals->relative, count);
    fit->error = pyro_sorted_middle(residuals->errors, count);
    fit->low = count < FEW_RESIDUALS ? residuals->relative[0] * FEW_FACTOR
                                     : pyro_sorted_percentile(residuals->relative, count, 10);
    fit->high = count < FEW_RESIDUALS ? residuals->relative[count - 1] * FEW_FACTOR
                                      : pyro_sorted_percentile(residuals->relative, count, 90);
    fit->low = fmax(fmin(fit->low, 0), -1);
    fit->high = fmax(fit->high, 0);
}

/* Configurations among runs, as far as they matter: whether there are two. */
struct variety {
    const struct pyro_fleet_run *first;
    size_t runs, configurations;
};

static void variety_add(struct variety *variety, const struct pyro_fleet_run *run)
{
    const struct pyro_fleet_run *first = variety->first;
    variety->runs++;
    if (!first) {
        variety->first = run;
        variety->configurations = 1;
    } else if (fabs(first->executors - run->executors) > 0 || fabs(first->cores - run->cores) > 0) {
        variety->configurations = 2;
    }
}

/* Says what the model lacks; NULL: nothing. */
static const char *missing_of(enum pyro_fleet_model model, const struct variety *variety, size_t count, bool logs,
                              struct pyro_arena *arena)
{
    const char *which = model == PYRO_FLEET_WAVE        ? "of which a stage reads more than one block of 128 MiB, "
                        : model == PYRO_FLEET_SIMULATOR ? ""
                                                        : "with a known input, ";
    if (model == PYRO_FLEET_SIMULATOR && !logs)
        return "a run with a log that can be read";
    if (variety->runs < PYRO_FLEET_LEAST_RUNS) {
        size_t more = PYRO_FLEET_LEAST_RUNS - variety->runs;
        return pyro_arena_printf(arena, "%zu more run%s %swith executors, cores and duration (%zu of %zu runs count)",
                                 more, more == 1 ? "" : "s", which, variety->runs, count)
            .ptr;
    }
    if (model != PYRO_FLEET_SIMULATOR && variety->configurations < PYRO_FLEET_LEAST_CONFIGURATIONS)
        return pyro_arena_printf(arena, "a second configuration: all %zu runs had %g executor%s with %g core%s each",
                                 variety->runs, variety->first->executors, variety->first->executors > 1 ? "s" : "",
                                 variety->first->cores, variety->first->cores > 1 ? "s" : "")
            .ptr;
    return NULL;
}

static enum pyro_status fit_analytic(struct pyro_fleet_models *models, enum pyro_fleet_model model,
                                     struct pyro_arena *arena, struct pyro_error *error)
{
    struct pyro_fleet_fit *fit = &models->fits[model];
    struct pyro_least_squares sums = {.columns = pyro_fleet_model_infos[model].columns};
    struct residuals residuals = {0};
    struct variety variety = {0};
    if (!residuals_make(&residuals, models->count, arena))
        return pyro_no_memory(error);
    for (size_t i = 0; i < models->count; i++) {
        const struct pyro_fleet_run *run = &models->runs[i];
        const struct pyro_fleet_question asked = question_of(run);
        double row[PYRO_FLEET_COLUMNS] = {0};
        if (!is_timed(run) || !columns_of(model, &asked, row))
            continue;
        if (sums.rows >= FIRST_PREDICTED) {
            pyro_least_squares_solve(&sums, fit->coefficients);
            residuals_add(&residuals, value_of(row, fit->coefficients, sums.columns), run);
        }
        pyro_least_squares_add(&sums, row, run->duration_ms);
        variety_add(&variety, run);
    }
    pyro_least_squares_solve(&sums, fit->coefficients);
    residuals_take(&residuals, fit);
    fit->runs = variety.runs;
    fit->configurations = variety.configurations;
    fit->missing = missing_of(model, &variety, models->count, false, arena);
    fit->usable = !fit->missing && fit->predictions > 0;
    return arena->failed ? pyro_no_memory(error) : PYRO_OK;
}

/* ---- The simulator ------------------------------------------------------------------------------------------------
 */

bool pyro_fleet_nearest_log(const struct pyro_fleet_models *models, size_t end, double input_bytes, size_t *ret)
{
    double wanted = pyro_log_input(input_bytes), nearest = INFINITY;
    bool found = false;
    for (size_t i = 0; i < end; i++) {
        /* An unknown input is farther than any known one. */
        double away = fabs(pyro_log_input(models->runs[i].input_bytes) - wanted);
        if (isnan(models->runs[i].input_bytes) || isnan(input_bytes))
            away = 1e9;
        if (models->logs[i] && away <= nearest) {
            nearest = away;
            *ret = i;
            found = true;
        }
    }
    return found;
}

/* What a replay says, not yet corrected. Logs that turn out to be unreadable are left out. *ret_known false: there is
 * none. */
static enum pyro_status simulate(const struct pyro_fleet_models *models, size_t end,
                                 const struct pyro_fleet_question *asked, double *ret_ms, bool *ret_known,
                                 struct pyro_error *error)
{
    size_t log = 0;
    *ret_known = false;
    while (models->simulator.simulate && pyro_fleet_nearest_log(models, end, asked->input_bytes, &log)) {
        enum pyro_status status = models->simulator.simulate(models->simulator.context, log, asked, ret_ms, error);
        if (status == PYRO_OK) {
            *ret_known = *ret_ms > 0 && isfinite(*ret_ms);
            return PYRO_OK;
        }
        if (status != PYRO_ERROR_INPUT)
            return status;
        models->logs[log] = false;
    }
    return PYRO_OK;
}

static void insert(double *sorted, size_t count, double value)
{
    size_t at = count;
    for (; at > 0 && sorted[at - 1] > value; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = value;
}

static enum pyro_status fit_simulator(struct pyro_fleet_models *models, struct pyro_arena *arena,
                                      struct pyro_error *error)
{
    struct pyro_fleet_fit *fit = &models->fits[PYRO_FLEET_SIMULATOR];
    struct residuals residuals = {0};
    struct variety variety = {0};
    double *ratios = pyro_arena_array(arena, models->count + 1, sizeof(*ratios));
    size_t ratio_count = 0, log = 0;
    fit->coefficients[0] = 1;
    if (!ratios || !residuals_make(&residuals, models->count, arena))
        return pyro_no_memory(error);
    for (size_t i = 0; i < models->count; i++) {
        const struct pyro_fleet_run *run = &models->runs[i];
        const struct pyro_fleet_question asked = question_of(run);
        double simulated = 0;
        bool known = false;
        if (!is_timed(run))
            continue;
        PYRO_TRY(simulate(models, i, &asked, &simulated, &known, error));
        if (known && variety.runs >= FIRST_PREDICTED)
            residuals_add(&residuals, simulated * fit->coefficients[0], run);
        if (known) {
            insert(ratios, ratio_count++, run->duration_ms / simulated);
            fit->coefficients[0] = pyro_sorted_middle(ratios, ratio_count);
        }
        variety_add(&variety, run);
    }
    residuals_take(&residuals, fit);
    fit->runs = variety.runs;
    fit->configurations = variety.configurations;
    fit->missing =
        missing_of(PYRO_FLEET_SIMULATOR, &variety, models->count,
                   models->simulator.simulate && pyro_fleet_nearest_log(models, models->count, NAN, &log), arena);
    if (!fit->missing && fit->predictions == 0)
        fit->missing = "a run after one with a log that can be read";
    fit->usable = !fit->missing;
    return arena->failed ? pyro_no_memory(error) : PYRO_OK;
}

/* ---- All of them ----------------------------------------------------------------------------------------------------
 */

/* Of equal errors the model with fewer coefficients: Ernest's contains Amdahl's. */
static bool is_better(const struct pyro_fleet_models *models, int model, int other)
{
    double difference = models->fits[model].error - models->fits[other].error;
    size_t columns = pyro_fleet_model_infos[model].columns;
    return difference < -EQUAL_ERROR ||
           (difference <= EQUAL_ERROR && columns > 0 && columns < pyro_fleet_model_infos[other].columns);
}

enum pyro_status pyro_fleet_models_fit(const struct pyro_fleet_run *runs, size_t count,
                                       const struct pyro_fleet_simulator *simulator, struct pyro_arena *arena,
                                       struct pyro_fleet_models *ret, struct pyro_error *error)
{
    struct pyro_fleet_models models = {.runs = runs, .count = count, .best = -1};
    models.logs = pyro_arena_array(arena, count + 1, sizeof(*models.logs));
    if (!models.logs)
        return pyro_no_memory(error);
    for (size_t i = 0; i < count; i++)
        models.logs[i] = runs[i].has_log;
    if (simulator)
        models.simulator = *simulator;
    for (int i = 0; i < PYRO_FLEET_MODELS; i++) {
        PYRO_TRY(i == PYRO_FLEET_SIMULATOR ? fit_simulator(&models, arena, error)
                                           : fit_analytic(&models, (enum pyro_fleet_model)i, arena, error));
        if (models.fits[i].usable && (models.best < 0 || is_better(&models, i, models.best)))
            models.best = i;
    }
    *ret = models;
    return PYRO_OK;
}

enum pyro_status pyro_fleet_predict(const struct pyro_fleet_models *models, enum pyro_fleet_model model,
                                    const struct pyro_fleet_question *asked, struct pyro_fleet_prediction *ret,
                                    struct pyro_error *error)
{
    const struct pyro_fleet_fit *fit = &models->fits[model];
    struct pyro_fleet_prediction prediction = {0};
    if (model == PYRO_FLEET_SIMULATOR) {
        PYRO_TRY(simulate(models, models->count, asked, &prediction.expected_ms, &prediction.known, error));
        prediction.expected_ms *= fit->coefficients[0];
    } else {
        double row[PYRO_FLEET_COLUMNS] = {0};
        prediction.known = columns_of(model, asked, row);
        if (prediction.known)
            prediction.expected_ms = value_of(row, fit->coefficients, pyro_fleet_model_infos[model].columns);
    }
    prediction.known = prediction.known && fit->usable;
    prediction.low_ms = prediction.expected_ms * (1 + fit->low);
    prediction.high_ms = prediction.expected_ms * (1 + fit->high);
    *ret = prediction;
    return PYRO_OK;
}
