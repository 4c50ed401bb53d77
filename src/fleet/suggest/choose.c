/* Steps 3 and 4: what candidates are predicted to take, and which one to take. */
#include <math.h>

#include "base/memory/allocator.h"
#include "fleet/statistics/statistics.h"
#include "fleet/suggest/suggest.h"

#define HOUR_MS     3600e3
#define LEAST_GAIN  0.05
#define EQUAL       0.01 /* costs that differ by less are equal */
#define LARGE_ERROR 0.2
#define LIKE_INPUT  1.1        /* inputs that differ by less are the same */
#define ROUNDING    (1 + 1e-9) /* equal predictions are equal */

const char *pyro_suggest_goal_name(enum pyro_suggest_goal goal)
{
    static const char *const names[] = {[PYRO_GOAL_CHEAPER] = "cheaper",
                                        [PYRO_GOAL_DEADLINE] = "deadline",
                                        [PYRO_GOAL_MAX_COST] = "max-cost",
                                        [PYRO_GOAL_SURVIVE] = "survive"};
    return names[goal];
}

struct choosing {
    const struct pyro_suggest_asked *asked;
    const struct pyro_suggest_simulator *simulator; /* NULL: there is none */
    struct pyro_suggestion_result *result;
    struct pyro_fleet_models models;
    struct pyro_candidates *candidates;
    double largest_input_bytes;
    struct pyro_core_time core_time;
    bool priced; /* costs are money; candidates without it are left out */
    struct pyro_arena *arena;
    struct pyro_error *error;
};

static enum pyro_status replay(void *context, size_t run, const struct pyro_fleet_question *asked, double *ret_ms,
                               struct pyro_error *error)
{
    const struct pyro_suggest_simulator *simulator = context;
    struct pyro_simulated simulated;
    PYRO_TRY(simulator->simulate(simulator->context, run, asked, NULL, 0, &simulated, error));
    *ret_ms = simulated.wall_ms;
    return PYRO_OK;
}

enum pyro_status pyro_suggest_fit(const struct pyro_suggest_history *history,
                                  const struct pyro_suggest_simulator *simulator, struct pyro_arena *arena,
                                  struct pyro_fleet_models *ret, struct pyro_error *error)
{
    struct pyro_fleet_run *runs = pyro_history_fleet_runs(history, arena);
    if (!runs)
        return pyro_no_memory(error);
    for (size_t i = 0; simulator && i < history->count; i++)
        runs[i].has_log = simulator->has_log(simulator->context, i);
    const struct pyro_fleet_simulator replays = {replay, pyro_unconst(simulator)};
    return pyro_fleet_models_fit(runs, history->count, simulator ? &replays : NULL, arena, ret, error);
}

static enum pyro_status fit(struct choosing *choosing)
{
    const struct pyro_suggest_history *history = &choosing->result->history;
    if (!pyro_core_time_fit(history, choosing->arena, &choosing->core_time))
        return pyro_no_memory(choosing->error);
    return pyro_suggest_fit(history, choosing->simulator, choosing->arena, &choosing->models, choosing->error);
}

/* How many times as long the run takes with a candidate's other settings, by a replay with and without them. *ret NaN:
 * no log says. */
static enum pyro_status settings_factor(struct choosing *choosing, const struct pyro_candidate *candidate,
                                        const struct pyro_fleet_question *asked, struct pyro_simulated *ret,
                                        double *ret_factor)
{
    const struct pyro_suggest_simulator *simulator = choosing->simulator;
    struct pyro_simulated without;
    size_t log = 0;
    *ret_factor = NAN;
    *ret = (struct pyro_simulated){NAN, NAN, NAN};
    while (simulator && pyro_fleet_nearest_log(&choosing->models, choosing->models.count, asked->input_bytes, &log)) {
        struct pyro_error error = {.size = sizeof(error)};
        enum pyro_status status = simulator->simulate(simulator->context, log, asked, NULL, 0, &without, &error);
        if (status == PYRO_OK) {
            *ret = without;
            if (candidate->resized)
                status = simulator->simulate(simulator->context, log, asked, candidate->settings,
                                             candidate->setting_count, ret, &error);
            if (status == PYRO_OK)
                *ret_factor = ret->wall_ms / without.wall_ms;
            if (status == PYRO_OK || status == PYRO_ERROR_INPUT)
                return PYRO_OK;
        }
        if (status != PYRO_ERROR_INPUT) {
            pyro_error_copy(choosing->error, &error);
            return status;
        }
        choosing->models.logs[log] = false;
    }
    return PYRO_OK;
}

/* No run that counts had these executors and cores. */
static bool is_unseen(const struct pyro_candidate *candidate)
{
    return !candidate->ran && !candidate->current;
}

/* The least time that any run took with this input or more, or else with the largest one that ran. */
static double best_observed(const struct choosing *choosing)
{
    const struct pyro_suggest_history *history = &choosing->result->history;
    double wanted = choosing->result->input_bytes / LIKE_INPUT, largest = 0, best = INFINITY;
    for (size_t i = 0; i < history->count; i++)
        largest = fmax(largest, history->runs[i]->input_bytes);
    for (size_t i = 0; i < history->count; i++) {
        double input = history->runs[i]->input_bytes;
        if (isnan(wanted) || isnan(input) || input >= fmin(wanted, largest))
            best = fmin(best, history->runs[i]->duration_ms);
    }
    return best;
}

/* A model of executors and cores that it was never shown is not believed beyond its error: nothing was ever faster.
 * What other settings do is another question. */
static void bound_unseen(const struct choosing *choosing, struct pyro_candidate *candidate, double error)
{
    double least = best_observed(choosing) * (1 - fmin(error, 1));
    if (!isfinite(least))
        return;
    candidate->wall.expected_ms = fmax(candidate->wall.expected_ms, least);
    candidate->wall.high_ms = fmax(candidate->wall.high_ms, candidate->wall.expected_ms);
}

static enum pyro_status predict(struct choosing *choosing, struct pyro_candidate *candidate)
{
    const struct pyro_fleet_question asked = {candidate->executors, candidate->cores, choosing->result->input_bytes,
                                              choosing->largest_input_bytes};
    bool unseen = is_unseen(candidate);
    int model = unseen ? choosing->models.best_unseen : choosing->models.best;
    if (model < 0)
        return PYRO_OK;
    PYRO_TRY(pyro_fleet_predict(&choosing->models, (enum pyro_fleet_model)model, unseen, &asked, &candidate->wall,
                                choosing->error));
    if (unseen)
        bound_unseen(choosing, candidate, choosing->models.fits[model].unseen.error);
    struct pyro_simulated simulated = {NAN, NAN, NAN};
    double factor = 1;
    if (candidate->resized || (choosing->simulator && choosing->simulator->priced))
        PYRO_TRY(settings_factor(choosing, candidate, &asked, &simulated, &factor));
    if (candidate->resized) {
        candidate->wall.known = candidate->wall.known && factor > 0 && isfinite(factor);
        candidate->wall.low_ms *= factor;
        candidate->wall.expected_ms *= factor;
        candidate->wall.high_ms *= factor;
    }
    candidate->known = candidate->wall.known && candidate->wall.expected_ms > 0;
    candidate->core_ms = pyro_core_time_predict(&choosing->core_time, candidate->executors * candidate->cores,
                                                candidate->wall.expected_ms);
    candidate->cost = simulated.cost * candidate->wall.expected_ms / simulated.wall_ms;
    return PYRO_OK;
}

/* In money, or in core hours. */
static double cost_of(const struct choosing *choosing, const struct pyro_candidate *candidate)
{
    return choosing->priced ? candidate->cost : candidate->core_ms / HOUR_MS;
}

static double high_cost_of(const struct choosing *choosing, const struct pyro_candidate *candidate)
{
    return cost_of(choosing, candidate) * candidate->wall.high_ms / candidate->wall.expected_ms;
}

/* What never ran and costs more than today must be sooner by more than its model's error: else it may be slower and
 * more expensive. */
static bool is_worth_its_cost(const struct choosing *choosing, const struct pyro_candidate *candidate)
{
    const struct pyro_candidate *current = &choosing->result->current;
    int model = choosing->models.best_unseen;
    if (!is_unseen(candidate) || model < 0 || !current->known ||
        cost_of(choosing, candidate) <= cost_of(choosing, current))
        return true;
    double error = choosing->models.fits[model].unseen.error;
    return candidate->wall.expected_ms <= current->wall.expected_ms * (1 - fmin(error, 1));
}

static bool reaches_goal(const struct choosing *choosing, const struct pyro_candidate *candidate)
{
    if (!is_worth_its_cost(choosing, candidate))
        return false;
    switch (choosing->result->goal) {
    case PYRO_GOAL_DEADLINE:
        return candidate->wall.high_ms <= choosing->asked->deadline_ms;
    case PYRO_GOAL_MAX_COST:
        return high_cost_of(choosing, candidate) <= choosing->asked->max_cost;
    default:
        return candidate->wall.high_ms <= choosing->result->current.wall.expected_ms * ROUNDING || candidate->current;
    }
}

/* What the goal makes small. */
static double measure_of(const struct choosing *choosing, const struct pyro_candidate *candidate)
{
    return choosing->result->goal == PYRO_GOAL_MAX_COST ? candidate->wall.expected_ms : cost_of(choosing, candidate);
}

static bool is_better(const struct choosing *choosing, const struct pyro_candidate *one,
                      const struct pyro_candidate *other)
{
    double a = measure_of(choosing, one), b = measure_of(choosing, other);
    if (fabs(a - b) > EQUAL * fmax(a, b))
        return a < b;
    if (one->ran != other->ran) /* what ran is known */
        return one->ran;
    if (one->setting_count != other->setting_count)
        return one->setting_count < other->setting_count;
    return a < b;
}

static bool say(struct choosing *choosing, pyro_texts *texts, const char *text)
{
    return pyro_texts_add(texts, choosing->arena, "%s", text);
}

/* Whether the change is worth it; the reason why not is a doubt. */
static bool is_worth_it(struct choosing *choosing, const struct pyro_candidate *best, bool *ok)
{
    struct pyro_suggestion_result *result = choosing->result;
    const struct pyro_candidate *now = &result->current;
    if (best->current)
        return false;
    if (!reaches_goal(choosing, now))
        return true;
    double gain = 1 - measure_of(choosing, best) / measure_of(choosing, now);
    double noise = 1 - now->wall.low_ms / now->wall.expected_ms;
    if (gain >= LEAST_GAIN && gain > noise)
        return true;
    *ok = pyro_texts_add(&result->doubts, choosing->arena,
                         "the best other configuration saves %.1f %%, which is %s: keep the settings", 100 * gain,
                         gain < LEAST_GAIN ? "less than 5 %" : "within the error of the prediction");
    return false;
}

static bool has_cost(const struct choosing *choosing, const struct pyro_candidate *candidate)
{
    return candidate->known && isfinite(cost_of(choosing, candidate));
}

/* Whether costs are compared as money. Where the current configuration has none, all are compared by core hours, except
 * with a maximum, which is money. */
static bool choose_unit(struct choosing *choosing, size_t known)
{
    struct pyro_suggestion_result *result = choosing->result;
    size_t without = 0;
    choosing->priced = choosing->asked->priced;
    for (size_t i = 0; i < choosing->candidates->count; i++)
        without += choosing->candidates->items[i].known && !has_cost(choosing, &choosing->candidates->items[i]);
    if (without == 0)
        return true;
    if (result->goal == PYRO_GOAL_MAX_COST && without == known)
        return say(choosing, &result->missing, "a price of these runs, to compare their cost with the maximum");
    if (result->goal != PYRO_GOAL_MAX_COST && !has_cost(choosing, &result->current)) {
        choosing->priced = false;
        return say(choosing, &result->doubts,
                   "the current configuration has no price: costs are compared in core hours");
    }
    return pyro_texts_add(&result->doubts, choosing->arena,
                          "%zu of %zu predicted configurations have no price: left out", without, known);
}

/* The answer is that of the model that predicts what it has not seen. */
static void name_unseen(struct choosing *choosing)
{
    struct pyro_suggestion_result *result = choosing->result;
    const struct pyro_fleet_fit *fit = &choosing->models.fits[choosing->models.best_unseen];
    result->model = pyro_fleet_model_infos[choosing->models.best_unseen].name;
    result->model_error = fit->unseen.error;
    result->model_runs = fit->unseen.predictions;
    result->left_out = fit->unseen.configurations;
    result->never_ran = true;
}

static enum pyro_status choose(struct choosing *choosing)
{
    struct pyro_suggestion_result *result = choosing->result;
    struct pyro_candidate *best = NULL;
    size_t known = 0;
    bool ok = true;
    for (size_t i = 0; i < choosing->candidates->count; i++) {
        PYRO_TRY(predict(choosing, &choosing->candidates->items[i]));
        known += choosing->candidates->items[i].known;
    }
    result->current = choosing->candidates->items[0];
    result->has_current = result->current.known;
    if (!result->has_current) {
        ok = say(choosing, &result->missing,
                 "the executors, cores or input of the current configuration, to predict it");
        return ok ? PYRO_OK : pyro_no_memory(choosing->error);
    }
    if (!choose_unit(choosing, known))
        return pyro_no_memory(choosing->error);
    for (size_t i = 0; i < choosing->candidates->count; i++) {
        struct pyro_candidate *candidate = &choosing->candidates->items[i];
        if (has_cost(choosing, candidate) && reaches_goal(choosing, candidate) &&
            (!best || is_better(choosing, candidate, best)))
            best = candidate;
    }
    result->chosen = result->current;
    if (!best && result->missing.count == 0) {
        ok = pyro_texts_add(&result->missing, choosing->arena,
                            "a configuration that %s: none of the %zu predicted ones does",
                            result->goal == PYRO_GOAL_DEADLINE ? "meets the deadline" : "costs at most this", known);
    } else if (best && is_worth_it(choosing, best, &ok)) {
        result->chosen = *best;
        result->has_settings = true;
        if (is_unseen(best))
            name_unseen(choosing);
    }
    return ok ? PYRO_OK : pyro_no_memory(choosing->error);
}

/* What a reader should know before following the suggestion. */
static bool doubt(struct choosing *choosing)
{
    struct pyro_suggestion_result *result = choosing->result;
    const struct pyro_suggest_history *history = &result->history;
    pyro_texts *doubts = &result->doubts;
    double seen = 0;
    bool ok = true;
    for (size_t i = 0; i < history->count; i++)
        seen = fmax(seen, history->runs[i]->input_bytes);
    if (result->input_bytes > seen && seen > 0)
        ok = pyro_texts_add(doubts, choosing->arena, "the input is %.3g times the largest of the runs that count",
                            result->input_bytes / seen);
    if (ok && history->outliers > 0)
        ok =
            pyro_texts_add(doubts, choosing->arena, "%zu run%s with an unusual duration %s left out", history->outliers,
                           history->outliers == 1 ? "" : "s", history->outliers == 1 ? "is" : "are");
    if (ok && result->never_ran)
        ok = pyro_texts_add(doubts, choosing->arena, "%.0f executor%s with %.0f core%s never ran: %s",
                            result->chosen.executors, result->chosen.executors > 1 ? "s" : "", result->chosen.cores,
                            result->chosen.cores > 1 ? "s" : "",
                            choosing->models.fits[choosing->models.best_unseen].unseen.assumed
                                ? "only one configuration did, so that the error of the prediction is assumed"
                                : "the prediction is that of the model which predicts other configurations of this "
                                  "application best when they are left out");
    else if (ok && choosing->models.best_unseen < 0)
        ok = say(choosing, doubts,
                 "other executors or cores than those that ran are not suggested: too few configurations ran to tell "
                 "how well a model predicts others");
    if (ok && result->model && result->model_error > LARGE_ERROR)
        ok = pyro_texts_add(doubts, choosing->arena, "the model is off by %.0f %% in the median run",
                            100 * result->model_error);
    if (ok && pyro_history_number(history->completed, PYRO_KEY_DYNAMIC) > 0)
        ok = say(choosing, doubts, "dynamic allocation: the executors of a run are the most that it had at once");
    return ok;
}

static enum pyro_status lack(struct choosing *choosing)
{
    for (int i = 0; i < PYRO_FLEET_MODELS; i++)
        if (choosing->models.fits[i].missing &&
            !pyro_texts_add(&choosing->result->missing, choosing->arena, "%s: %s", pyro_fleet_model_infos[i].name,
                            choosing->models.fits[i].missing))
            return pyro_no_memory(choosing->error);
    return PYRO_OK;
}

static enum pyro_status predict_and_choose(struct choosing *choosing)
{
    struct pyro_suggestion_result *result = choosing->result;
    const struct pyro_suggest_asked *asked = choosing->asked;
    PYRO_TRY(fit(choosing));
    if (choosing->models.best < 0)
        return lack(choosing);
    const struct pyro_fleet_fit *best = &choosing->models.fits[choosing->models.best];
    result->model = pyro_fleet_model_infos[choosing->models.best].name;
    result->model_error = best->error;
    result->model_runs = best->runs;
    choosing->candidates = pyro_arena_alloc(choosing->arena, sizeof(*choosing->candidates));
    if (!choosing->candidates ||
        !pyro_candidates_make(&result->history, result->input_bytes, &asked->limits, asked->plan, asked->plan_count,
                              asked->kept, choosing->arena, choosing->candidates))
        return pyro_no_memory(choosing->error);
    PYRO_TRY(choose(choosing));
    return doubt(choosing) ? PYRO_OK : pyro_no_memory(choosing->error);
}

static enum pyro_status survive(struct choosing *choosing)
{
    struct pyro_suggestion_result *result = choosing->result;
    result->goal = PYRO_GOAL_SURVIVE;
    if (!pyro_ladder_next(&result->history, choosing->asked, choosing->arena, &result->chosen, &result->rung))
        return pyro_no_memory(choosing->error);
    result->has_settings = result->rung != NULL;
    bool ok =
        result->rung
            ? say(choosing, &result->doubts, "the newest run died: this configuration is to survive, not to be faster")
            : say(choosing, &result->missing,
                  "a further rung: everything that helps against this death was tried or is at its limit");
    return ok ? PYRO_OK : pyro_no_memory(choosing->error);
}

enum pyro_status pyro_suggest_from(const struct pyro_suggest_run *rows, size_t count,
                                   const struct pyro_suggest_asked *asked,
                                   const struct pyro_suggest_simulator *simulator, struct pyro_arena *arena,
                                   struct pyro_suggestion_result *ret, struct pyro_error *error)
{
    struct pyro_suggestion_result result = {.input_bytes = asked->input_bytes};
    struct choosing choosing = {
        .asked = asked, .simulator = simulator, .result = &result, .arena = arena, .error = error};
    if (!pyro_history_choose(rows, count, asked->now_ms, arena, &result.history))
        return pyro_no_memory(error);
    result.goal = isfinite(asked->deadline_ms) ? PYRO_GOAL_DEADLINE
                  : isfinite(asked->max_cost)  ? PYRO_GOAL_MAX_COST
                                               : PYRO_GOAL_CHEAPER;
    choosing.largest_input_bytes = result.history.largest_input_bytes;
    if (isnan(result.input_bytes))
        result.input_bytes = result.history.input_bytes;
    else if (result.history.input_bytes > 0)
        choosing.largest_input_bytes *= result.input_bytes / result.history.input_bytes;
    PYRO_TRY(asked->death.ptr && result.history.newest ? survive(&choosing) : predict_and_choose(&choosing));
    *ret = result;
    return PYRO_OK;
}
