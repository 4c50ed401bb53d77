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
/* Of the simulator, where only one configuration ran: as it was off over the applications of docs/models.md. */
#define ASSUMED_ERROR 0.2
#define ASSUMED_LOW   (-0.3)
#define ASSUMED_HIGH  0.4

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

struct errors {
    double error, low, high;
};

static struct errors errors_of(struct residuals *residuals)
{
    size_t count = residuals->count;
    if (count == 0)
        return (struct errors){0};
    pyro_sort_reals(residuals->errors, count);
    pyro_sort_reals(residuals->relative, count);
    double low = count < FEW_RESIDUALS ? residuals->relative[0] * FEW_FACTOR
                                       : pyro_sorted_percentile(residuals->relative, count, 10);
    double high = count < FEW_RESIDUALS ? residuals->relative[count - 1] * FEW_FACTOR
                                        : pyro_sorted_percentile(residuals->relative, count, 90);
    return (struct errors){pyro_sorted_middle(residuals->errors, count), fmax(fmin(low, 0), -1), fmax(high, 0)};
}

static void residuals_take(struct residuals *residuals, struct pyro_fleet_fit *fit)
{
    struct errors errors = errors_of(residuals);
    fit->predictions = residuals->count;
    fit->predicted = residuals->predicted;
    fit->error = errors.error;
    fit->low = errors.low;
    fit->high = errors.high;
}

static void residuals_take_unseen(struct residuals *residuals, struct pyro_fleet_fit *fit, size_t configurations)
{
    struct errors errors = errors_of(residuals);
    fit->unseen.configurations = configurations;
    fit->unseen.predictions = residuals->count;
    fit->unseen.predicted = residuals->predicted;
    fit->unseen.error = errors.error;
    fit->unseen.low = errors.low;
    fit->unseen.high = errors.high;
    fit->unseen.usable = fit->usable && residuals->count >= FIRST_PREDICTED;
}

/* Configurations among runs, as far as they matter: whether there are two. */
struct variety {
    const struct pyro_fleet_run *first;
    size_t runs, configurations;
};

static bool same_configuration(const struct pyro_fleet_run *one, const struct pyro_fleet_run *other)
{
    return !(fabs(one->executors - other->executors) > 0) && !(fabs(one->cores - other->cores) > 0);
}

static void variety_add(struct variety *variety, const struct pyro_fleet_run *run)
{
    variety->runs++;
    if (!variety->first) {
        variety->first = run;
        variety->configurations = 1;
    } else if (!same_configuration(variety->first, run)) {
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

/* Whether an earlier timed run had the configuration of this one. */
static bool came_before(const struct pyro_fleet_models *models, size_t run)
{
    for (size_t i = 0; i < run; i++)
        if (is_timed(&models->runs[i]) && same_configuration(&models->runs[i], &models->runs[run]))
            return true;
    return false;
}

/* Leaves out the configuration of a run: fits the others, and predicts its runs. Returns whether any was predicted. */
static bool leave_out(const struct pyro_fleet_models *models, enum pyro_fleet_model model,
                      const struct pyro_fleet_run *left_out, struct residuals *residuals)
{
    struct pyro_least_squares sums = {.columns = pyro_fleet_model_infos[model].columns};
    struct variety others = {0};
    double coefficients[PYRO_FLEET_COLUMNS] = {0}, row[PYRO_FLEET_COLUMNS] = {0};
    size_t before = residuals->count;
    for (size_t i = 0; i < models->count; i++) {
        const struct pyro_fleet_run *run = &models->runs[i];
        const struct pyro_fleet_question asked = question_of(run);
        if (!is_timed(run) || same_configuration(run, left_out) || !columns_of(model, &asked, row))
            continue;
        pyro_least_squares_add(&sums, row, run->duration_ms);
        variety_add(&others, run);
    }
    if (others.runs < FIRST_PREDICTED || others.configurations < PYRO_FLEET_LEAST_CONFIGURATIONS)
        return false;
    pyro_least_squares_solve(&sums, coefficients);
    for (size_t i = 0; i < models->count; i++) {
        const struct pyro_fleet_run *run = &models->runs[i];
        const struct pyro_fleet_question asked = question_of(run);
        if (is_timed(run) && same_configuration(run, left_out) && columns_of(model, &asked, row))
            residuals_add(residuals, value_of(row, coefficients, sums.columns), run);
    }
    return residuals->count > before;
}

static enum pyro_status judge_unseen(struct pyro_fleet_models *models, enum pyro_fleet_model model,
                                     struct pyro_arena *arena, struct pyro_error *error)
{
    struct residuals residuals = {0};
    size_t configurations = 0;
    if (!residuals_make(&residuals, models->count, arena))
        return pyro_no_memory(error);
    for (size_t i = 0; i < models->count; i++)
        if (is_timed(&models->runs[i]) && !came_before(models, i))
            configurations += leave_out(models, model, &models->runs[i], &residuals);
    residuals_take_unseen(&residuals, &models->fits[model], configurations);
    return PYRO_OK;
}

/* ---- The simulator ------------------------------------------------------------------------------------------------
 */

/* `unlike`: not of a run with its configuration; NULL: any. */
static bool nearest_log(const struct pyro_fleet_models *models, size_t end, double input_bytes,
                        const struct pyro_fleet_run *unlike, size_t *ret)
{
    double wanted = pyro_log_input(input_bytes), nearest = INFINITY;
    bool found = false;
    for (size_t i = 0; i < end; i++) {
        /* An unknown input is farther than any known one. */
        double away = fabs(pyro_log_input(models->runs[i].input_bytes) - wanted);
        if (isnan(models->runs[i].input_bytes) || isnan(input_bytes))
            away = 1e9;
        if (models->logs[i] && away <= nearest && !(unlike && same_configuration(&models->runs[i], unlike))) {
            nearest = away;
            *ret = i;
            found = true;
        }
    }
    return found;
}

bool pyro_fleet_nearest_log(const struct pyro_fleet_models *models, size_t end, double input_bytes, size_t *ret)
{
    return nearest_log(models, end, input_bytes, NULL, ret);
}

/* What a replay says, not yet corrected. Logs that turn out to be unreadable are left out. *ret_known false: there is
 * none. */
static enum pyro_status simulate(const struct pyro_fleet_models *models, size_t end,
                                 const struct pyro_fleet_question *asked, const struct pyro_fleet_run *unlike,
                                 double *ret_ms, bool *ret_known, struct pyro_error *error)
{
    size_t log = 0;
    *ret_known = false;
    while (models->simulator.simulate && nearest_log(models, end, asked->input_bytes, unlike, &log)) {
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
        PYRO_TRY(simulate(models, i, &asked, NULL, &simulated, &known, error));
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

/* Runs are simulated by logs of other configurations than their own; what is observed / simulated of all but those of
 * the configuration that is left out corrects it. */
static enum pyro_status judge_unseen_simulator(struct pyro_fleet_models *models, struct pyro_arena *arena,
                                               struct pyro_error *error)
{
    struct pyro_fleet_fit *fit = &models->fits[PYRO_FLEET_SIMULATOR];
    struct residuals residuals = {0};
    double *simulated = pyro_arena_array(arena, models->count + 1, sizeof(*simulated));
    double *ratios = pyro_arena_array(arena, models->count + 1, sizeof(*ratios));
    size_t configurations = 0;
    if (!simulated || !ratios || !residuals_make(&residuals, models->count, arena))
        return pyro_no_memory(error);
    for (size_t i = 0; i < models->count; i++) {
        const struct pyro_fleet_question asked = question_of(&models->runs[i]);
        bool known = false;
        if (is_timed(&models->runs[i]))
            PYRO_TRY(simulate(models, models->count, &asked, &models->runs[i], &simulated[i], &known, error));
        simulated[i] = known ? simulated[i] : 0;
    }
    for (size_t i = 0; i < models->count; i++) {
        size_t count = 0;
        for (size_t k = 0; k < models->count; k++)
            if (simulated[k] > 0 && !same_configuration(&models->runs[i], &models->runs[k]))
                insert(ratios, count++, models->runs[k].duration_ms / simulated[k]);
        if (!(simulated[i] > 0) || count == 0)
            continue;
        residuals_add(&residuals, simulated[i] * pyro_sorted_middle(ratios, count), &models->runs[i]);
        configurations += !came_before(models, i);
    }
    size_t count = 0;
    for (size_t k = 0; k < models->count; k++)
        if (simulated[k] > 0)
            insert(ratios, count++, models->runs[k].duration_ms / simulated[k]);
    fit->unseen.factor = count > 0 ? pyro_sorted_middle(ratios, count) : fit->coefficients[0];
    residuals_take_unseen(&residuals, fit, configurations);
    if (fit->usable && fit->configurations == 1) {
        fit->unseen.usable = fit->unseen.assumed = true;
        fit->unseen.error = ASSUMED_ERROR;
        fit->unseen.low = ASSUMED_LOW;
        fit->unseen.high = ASSUMED_HIGH;
    }
    return PYRO_OK;
}

/* ---- All of them ----------------------------------------------------------------------------------------------------
 */

/* Of equal errors the model with fewer coefficients: Ernest's contains Amdahl's. */
static bool is_better(int model, double error, int other, double other_error)
{
    double difference = error - other_error;
    size_t columns = pyro_fleet_model_infos[model].columns;
    return difference < -EQUAL_ERROR ||
           (difference <= EQUAL_ERROR && columns > 0 && columns < pyro_fleet_model_infos[other].columns);
}

enum pyro_status pyro_fleet_models_fit(const struct pyro_fleet_run *runs, size_t count,
                                       const struct pyro_fleet_simulator *simulator, struct pyro_arena *arena,
                                       struct pyro_fleet_models *ret, struct pyro_error *error)
{
    struct pyro_fleet_models models = {.runs = runs, .count = count, .best = -1, .best_unseen = -1};
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
        PYRO_TRY(i == PYRO_FLEET_SIMULATOR ? judge_unseen_simulator(&models, arena, error)
                                           : judge_unseen(&models, (enum pyro_fleet_model)i, arena, error));
        const struct pyro_fleet_fit *fit = &models.fits[i];
        if (fit->usable && (models.best < 0 || is_better(i, fit->error, models.best, models.fits[models.best].error)))
            models.best = i;
        int best = models.best_unseen;
        if (fit->unseen.usable && (best < 0 || is_better(i, fit->unseen.error, best, models.fits[best].unseen.error)))
            models.best_unseen = i;
    }
    *ret = models;
    return PYRO_OK;
}

enum pyro_status pyro_fleet_predict(const struct pyro_fleet_models *models, enum pyro_fleet_model model, bool unseen,
                                    const struct pyro_fleet_question *asked, struct pyro_fleet_prediction *ret,
                                    struct pyro_error *error)
{
    const struct pyro_fleet_fit *fit = &models->fits[model];
    struct pyro_fleet_prediction prediction = {0};
    if (model == PYRO_FLEET_SIMULATOR) {
        PYRO_TRY(simulate(models, models->count, asked, NULL, &prediction.expected_ms, &prediction.known, error));
        prediction.expected_ms *= unseen ? fit->unseen.factor : fit->coefficients[0];
    } else {
        double row[PYRO_FLEET_COLUMNS] = {0};
        prediction.known = columns_of(model, asked, row);
        if (prediction.known)
            prediction.expected_ms = value_of(row, fit->coefficients, pyro_fleet_model_infos[model].columns);
    }
    prediction.known = prediction.known && (unseen ? fit->unseen.usable : fit->usable);
    prediction.low_ms = prediction.expected_ms * (1 + (unseen ? fit->unseen.low : fit->low));
    prediction.high_ms = prediction.expected_ms * (1 + (unseen ? fit->unseen.high : fit->high));
    *ret = prediction;
    return PYRO_OK;
}
