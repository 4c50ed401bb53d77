/* The best configuration under a goal: NLopt's DIRECT looks through executors, cores and partitions, each evaluation a
 * scenario, and what no other beats in both time and cost is kept. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "predict/cut_tasks.h"

#ifdef PYRO_WITH_NLOPT
#include "libraries/libnlopt.h"

enum { EVALUATIONS = 160, DIMENSIONS = 3, EXECUTORS_MAX = 512, CORES_MAX = 16 };

struct search {
    struct pyro_whatif *whatif;
    struct pyro_predicted_run quick; /* the run, without replays for chance */
    const struct pyro_goal *goal;
    struct pyro_scenario common;
    unsigned settings[DIMENSIONS];
    unsigned count;
    PYRO_VEC(struct pyro_scenario) tried;
    enum pyro_status status;
    struct pyro_error error;
    nlopt_opt nlopt;
};

static bool is_allowed(const struct search *search, const struct pyro_scenario *scenario)
{
    const struct pyro_goal *goal = search->goal;
    return !scenario->fails && (goal->deadline_ms == 0 || scenario->wall_expected_ms <= goal->deadline_ms) &&
           (!(goal->max_cost > 0) || pyro_scenario_price(&search->whatif->run, scenario) <= goal->max_cost);
}

/* What is to be made least: the goal, and beyond a limit more than anything within it. */
static double value_of(const struct search *search, const struct pyro_scenario *scenario)
{
    const struct pyro_goal *goal = search->goal;
    double time = (double)scenario->wall_expected_ms, cost = pyro_scenario_price(&search->whatif->run, scenario),
           over = 0;
    if (goal->deadline_ms > 0)
        over += fmax(time / (double)goal->deadline_ms - 1, 0);
    if (goal->max_cost > 0)
        over += fmax(cost / goal->max_cost - 1, 0);
    /* Of two that are as good, the one that is better at the other. */
    double value = goal->cost ? log(fmax(cost, 1e-9)) + 0.01 * log(fmax(time, 1))
                              : log(fmax(time, 1)) + 0.01 * log(fmax(cost, 1e-9));
    return value + (over > 0 ? 50 + over : 0) + (scenario->fails ? 100 : 0);
}

static struct pyro_scenario *find_tried(struct search *search, const struct pyro_scenario *like)
{
    for (size_t i = 0; i < search->tried.count; i++) {
        bool same = true;
        for (unsigned d = 0; d < search->count && same; d++)
            same = search->tried.items[i].values[search->settings[d]] == like->values[search->settings[d]];
        if (same)
            return &search->tried.items[i];
    }
    return NULL;
}

static void set(struct search *search, struct pyro_scenario *scenario, unsigned setting, double value)
{
    scenario->values[setting] = value;
    scenario->given[setting] = pyro_arena_printf(&search->whatif->arena, "%.0f", value);
    if (!scenario->given[setting].ptr)
        search->status = pyro_no_memory(&search->error);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is NLopt's */
static double evaluate(unsigned count, const double *point, double *gradient, void *context)
{
    struct search *search = context;
    struct pyro_scenario scenario = search->common;
    (void)gradient;
    for (unsigned d = 0; d < count; d++)
        set(search, &scenario, search->settings[d], floor(exp2(point[d]) + 0.5));
    struct pyro_scenario *known = find_tried(search, &scenario);
    if (!known && search->status == PYRO_OK) {
        search->status = pyro_predict(&search->whatif->run, search->whatif->run.replay, &search->whatif->arena,
                                      &scenario, &search->error);
        known = search->status == PYRO_OK ? pyro_vec_push(&search->tried, search->whatif->arena.allocator) : NULL;
        if (known)
            *known = scenario;
        else if (search->status == PYRO_OK)
            search->status = pyro_no_memory(&search->error);
    }
    if (!known) {
        nlopt_force_stop(search->nlopt);
        return HUGE_VAL;
    }
    return value_of(search, known);
}

/* Shortest first, and of the same time the cheaper one. */
static int by_time(const void *a, const void *b)
{
    const struct pyro_scenario *one = a, *other = b;
    if (one->wall_expected_ms != other->wall_expected_ms)
        return one->wall_expected_ms < other->wall_expected_ms ? -1 : 1;
    if (one->cost != other->cost)
        return one->cost < other->cost ? -1 : 1;
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
        if (one->values[i] != other->values[i])
            return one->values[i] < other->values[i] ? -1 : 1;
    return 0;
}

/* Keeps what no other beats, and what the goal says is best of it. */
static void keep_front(struct search *search)
{
    struct pyro_whatif *whatif = search->whatif;
    size_t kept = 0, best = 0;
    double least = HUGE_VAL;
    for (size_t i = 0; i < search->tried.count; i++)
        search->tried.items[i].cost = pyro_scenario_price(&search->whatif->run, &search->tried.items[i]);
    if (search->tried.count == 0)
        return;
    qsort(search->tried.items, search->tried.count, sizeof(*search->tried.items), by_time);
    for (size_t i = 0; i < search->tried.count; i++) {
        if (search->tried.items[i].cost >= least || search->tried.items[i].fails)
            continue;
        least = search->tried.items[i].cost;
        search->tried.items[kept++] = search->tried.items[i];
    }
    whatif->optimum.evaluated = search->tried.count;
    search->tried.count = kept;
    for (size_t i = 1; i < kept; i++)
        if (value_of(search, &search->tried.items[i]) < value_of(search, &search->tried.items[best]))
            best = i;
    whatif->optimum.best = best;
    whatif->optimum.met = kept > 0 && is_allowed(search, &search->tried.items[best]);
}

static void add_dimension(struct search *search, double *low, double *high, double *first, unsigned setting,
                          double from, double to, double start)
{
    if (search->common.given[setting].ptr)
        return; /* it is said already */
    low[search->count] = log2(from);
    high[search->count] = log2(to);
    first[search->count] = log2(fmin(fmax(start, from), to));
    search->settings[search->count++] = setting;
}

static enum pyro_status look(struct search *search, struct pyro_error *error)
{
    const struct pyro_predicted_run *run = &search->whatif->run;
    double low[DIMENSIONS] = {0}, high[DIMENSIONS] = {0}, first[DIMENSIONS] = {0}, least;
    double slots = fmax((double)run->executors * (double)run->cores, 1);
    double most = fmin(fmax(4 * (double)run->executors, 16), EXECUTORS_MAX);
    double cores = fmin(fmax(2 * (double)run->cores, 4), CORES_MAX);
    add_dimension(search, low, high, first, PYRO_PREDICTED_EXECUTORS, 1, most, fmax((double)run->executors, 1));
    add_dimension(search, low, high, first, PYRO_PREDICTED_CORES, 1, cores, fmax((double)run->cores, 1));
    /* Coalescing makes their number of little weight. */
    double partitions = pyro_run_setting(run->app, PYRO_PREDICTED_SHUFFLE_PARTITIONS);
    if (run->app->sql.count > 0 && pyro_run_setting(run->app, PYRO_PREDICTED_ADAPTIVE) == 0)
        add_dimension(search, low, high, first, PYRO_PREDICTED_SHUFFLE_PARTITIONS, fmax(slots, 1),
                      fmax(8 * slots, 4 * partitions), partitions);
    if (search->count == 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "nothing to search: executors and cores are both set");
    /* The run's own size and the corners of the space, which DIRECT only comes near to. */
    evaluate(search->count, first, NULL, search);
    for (unsigned corner = 0; corner < 1u << search->count; corner++) {
        double point[DIMENSIONS];
        for (unsigned d = 0; d < search->count; d++)
            point[d] = corner >> d & 1 ? high[d] : low[d];
        evaluate(search->count, point, NULL, search);
    }
    PYRO_TRY(pyro_nlopt_load(error));
    search->nlopt = nlopt_create(NLOPT_GN_DIRECT_L, search->count);
    if (!search->nlopt)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory to search");
    nlopt_set_lower_bounds(search->nlopt, low);
    nlopt_set_upper_bounds(search->nlopt, high);
    nlopt_set_min_objective(search->nlopt, evaluate, search);
    nlopt_set_maxeval(search->nlopt, EVALUATIONS);
    nlopt_optimize(search->nlopt, first, &least); /* how it ended does not matter: what was tried counts */
    nlopt_destroy(search->nlopt);
    if (search->status != PYRO_OK)
        pyro_error_copy(error, &search->error);
    return search->status;
}

enum pyro_status pyro_predict_optimise(struct pyro_whatif *whatif, const struct pyro_goal *goal,
                                       struct pyro_error *error)
{
    struct search search = {
        .error.size = sizeof(search.error), .whatif = whatif, .goal = goal, .common = whatif->scenarios[0]};
    if (whatif->scenario_count > 1)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a search and a sweep exclude each other");
    search.common.brief = true;
    enum pyro_status status = look(&search, error);
    search.common.brief = false;
    if (status == PYRO_OK) {
        keep_front(&search);
        whatif->scenario_count = search.tried.count;
        whatif->scenarios = pyro_arena_array(&whatif->arena, search.tried.count, sizeof(*whatif->scenarios));
        if (!whatif->scenarios)
            status = pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
        for (size_t i = 0; whatif->scenarios && i < search.tried.count; i++) {
            whatif->scenarios[i] = search.common;
            memcpy(whatif->scenarios[i].values, search.tried.items[i].values, sizeof(search.common.values));
            memcpy(whatif->scenarios[i].given, search.tried.items[i].given, sizeof(search.common.given));
        }
    }
    pyro_vec_done(&search.tried, whatif->arena.allocator);
    return status;
}

bool pyro_optimiser_available(void)
{
    return true;
}

const char *pyro_optimiser_description(void)
{
    return "whatif --optimize; NLopt (DIRECT)";
}

#else

bool pyro_optimiser_available(void)
{
    return false;
}

const char *pyro_optimiser_description(void)
{
    return "whatif --optimize; install libnlopt-dev and build again";
}

enum pyro_status pyro_predict_optimise(struct pyro_whatif *whatif, const struct pyro_goal *goal,
                                       struct pyro_error *error)
{
    (void)whatif;
    (void)goal;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "this build has no optimizer: it was built without NLopt");
}

#endif
