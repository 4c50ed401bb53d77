/* Models of how long the next run of an application takes, from its earlier runs: docs/models.md.
 *
 * Runs are plain numbers here, wherever they come from, ascending by start. Everything is deterministic. */
#ifndef PYRO_FLEET_MODELS_MODELS_H
#define PYRO_FLEET_MODELS_MODELS_H

#include "base/error.h"
#include "base/memory/arena.h"

/* NaN: unknown. A run without a positive duration, executors or cores is of no use to any model. */
struct pyro_fleet_run {
    int64_t start_ms;
    double duration_ms;
    double executors;           /* most at once */
    double cores;               /* of one executor: totalCores.max */
    double input_bytes;         /* of the whole run */
    double largest_input_bytes; /* of one stage: inputBytes.max */
    bool has_log;               /* the simulator can read its log */
};

/* A configuration and its input. */
struct pyro_fleet_question {
    double executors, cores;
    double input_bytes, largest_input_bytes;
};

enum pyro_fleet_model {
    PYRO_FLEET_WAVE,      /* s + w ceil(B / c), B blocks of 128 MiB of largest_input_bytes, of runs with B > 1 */
    PYRO_FLEET_ERNEST,    /* a + b N / c + d log2 c + g c */
    PYRO_FLEET_AMDAHL,    /* s + p N / c */
    PYRO_FLEET_SIMULATOR, /* a replay of the log with the nearest input, times observed / simulated so far */
    PYRO_FLEET_MODELS
};
enum { PYRO_FLEET_COLUMNS = 4, PYRO_FLEET_LEAST_RUNS = 5, PYRO_FLEET_LEAST_CONFIGURATIONS = 2 };

struct pyro_fleet_model_info {
    const char *name, *formula;
    size_t columns;                               /* coefficients; 0: the simulator */
    const char *coefficients[PYRO_FLEET_COLUMNS]; /* their names, with the unit at the end */
};
extern const struct pyro_fleet_model_info pyro_fleet_model_infos[PYRO_FLEET_MODELS];

/* The simulator: the duration of `asked` by a replay of the log of `run`, an index into the runs. PYRO_ERROR_INPUT:
 * this log cannot be read after all, and the run counts as one without; any other error ends the work. */
struct pyro_fleet_simulator {
    enum pyro_status (*simulate)(void *context, size_t run, const struct pyro_fleet_question *asked, double *ret_ms,
                                 struct pyro_error *error);
    void *context;
};

/* A run that a model predicted from those before it. */
struct pyro_fleet_predicted {
    int64_t start_ms;
    double predicted_ms, observed_ms;
};

/* How well a model predicts configurations (executors, cores) that it does not know: each one is left out in turn, and
 * its runs are predicted from all others. */
struct pyro_fleet_unseen {
    bool usable;                                  /* its error is known */
    bool assumed;                                 /* ... or assumed, as only one configuration ran */
    size_t configurations, predictions;           /* that were left out, and runs of theirs */
    const struct pyro_fleet_predicted *predicted; /* of these `predictions`; in the arena */
    double error, low, high;                      /* as of pyro_fleet_fit */
    double factor;                                /* of the simulator: observed / simulated by another one's log */
};

/* One model of one application. */
struct pyro_fleet_fit {
    bool usable;                                  /* it can predict, and its error is known */
    double coefficients[PYRO_FLEET_COLUMNS];      /* at least 0; of the simulator the first is observed / simulated */
    size_t runs;                                  /* that it was fitted on */
    size_t configurations;                        /* executors and cores among them: 0, 1, or 2 for more than one */
    size_t predictions;                           /* by rolling origin */
    const struct pyro_fleet_predicted *predicted; /* of these `predictions`, by start; in the arena */
    double error;                                 /* median of |predicted - observed| / observed */
    double low, high;                             /* interval of (observed - predicted) / predicted: low <= 0 <= high */
    const char *missing;                          /* what it lacks, in the arena; NULL where it is usable */
    struct pyro_fleet_unseen unseen;
};

struct pyro_fleet_models {
    const struct pyro_fleet_run *runs; /* borrowed */
    size_t count;
    struct pyro_fleet_simulator simulator;
    struct pyro_fleet_fit fits[PYRO_FLEET_MODELS];
    int best;        /* enum pyro_fleet_model, or -1: none is usable */
    int best_unseen; /* the same for configurations that never ran */
    bool *logs;      /* which runs' logs can be read, in the arena */
};

struct pyro_fleet_prediction {
    double low_ms, expected_ms, high_ms;
    bool known; /* false: the model cannot say, as its input is not known */
};

/* Fits all models and takes their errors by rolling origin: each run is predicted from those that started before it,
 * beginning with the fourth. `simulator` NULL: there is none. The runs must outlive *ret. */
enum pyro_status pyro_fleet_models_fit(const struct pyro_fleet_run *runs, size_t count,
                                       const struct pyro_fleet_simulator *simulator, struct pyro_arena *arena,
                                       struct pyro_fleet_models *ret, struct pyro_error *error);

/* What a usable model predicts; `unseen`: for a configuration that none of the runs had. */
enum pyro_status pyro_fleet_predict(const struct pyro_fleet_models *models, enum pyro_fleet_model model, bool unseen,
                                    const struct pyro_fleet_question *asked, struct pyro_fleet_prediction *ret,
                                    struct pyro_error *error);

/* The run among the first `end` whose log can be read and has the nearest input (by ln; of equally near ones the
 * newest). False: there is none. */
bool pyro_fleet_nearest_log(const struct pyro_fleet_models *models, size_t end, double input_bytes, size_t *ret);

/* ---- Non-negative least squares (nnls.c) ---- */

/* Sums of a linear model's rows: as many as there are, in constant memory. */
struct pyro_least_squares {
    size_t columns; /* at most PYRO_FLEET_COLUMNS */
    size_t rows;
    double products[PYRO_FLEET_COLUMNS][PYRO_FLEET_COLUMNS], with_y[PYRO_FLEET_COLUMNS], y_squares;
};
void pyro_least_squares_add(struct pyro_least_squares *sums, const double *row, double y);
/* The coefficients >= 0 with the least sum of squares. Exact: the optimum is the ordinary solution on some subset of
 * the columns, and all subsets are tried (at most 15). Of equal sums the one with fewer columns wins, so that columns
 * which depend on others are 0. */
void pyro_least_squares_solve(const struct pyro_least_squares *sums, double *ret);

#endif
