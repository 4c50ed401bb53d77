/* The next run from this one: scenarios, each what is changed of the run, put through the scheduler simulator.
 *
 * A scenario's settings become a change of the replay by models, one file each (models.def). What has no model is
 * refused when the question is read, so that no setting is ignored without a message. docs/whatif.md has every model
 * with its formula, its source and how sure it is. */
#ifndef PYRO_PREDICT_PREDICT_H
#define PYRO_PREDICT_PREDICT_H

#include "base/memory/arena.h"
#include "cost/cost.h"
#include "predict/fitted.h"
#include "replay/replay.h"

enum pyro_predicted {
#define PYRO_PREDICTED(constant, ...) PYRO_PREDICTED_##constant,
#include "predict/settings.def"
#undef PYRO_PREDICTED
    PYRO_PREDICTED_SETTINGS
};
enum pyro_predicted_type {
    PYRO_PREDICTED_COUNT,
    PYRO_PREDICTED_REAL,
    PYRO_PREDICTED_FLAG,
    PYRO_PREDICTED_SIZE,
    PYRO_PREDICTED_TIME,
    PYRO_PREDICTED_WORD,      /* FIFO 0, FAIR 1 */
    PYRO_PREDICTED_HOST_COUNT /* same 0, new -1, or a number */
};

enum pyro_model_id {
#define PYRO_MODEL(name, doc) PYRO_MODEL_##name,
#include "predict/models.def"
#undef PYRO_MODEL
    PYRO_MODELS
};

struct pyro_predicted_setting {
    const char *key, *alias; /* alias: "executors", or NULL */
    enum pyro_predicted_type type;
    double unit, otherwise, least, most;
    enum pyro_model_id model;
    const char *doc;
};
extern const struct pyro_predicted_setting pyro_predicted_settings[PYRO_PREDICTED_SETTINGS];

/* A model's words on one scenario. */
struct pyro_predicted_effect {
    enum pyro_model_id model;
    struct pyro_slice text;  /* what it changed, with this run's numbers */
    int64_t low_ms, high_ms; /* how far below and above the expected wall time it may be wrong */
};
enum { PYRO_EFFECTS_MAX = 24 };

struct pyro_scenario_finding; /* advice/whatif_api.h */

struct pyro_scenario {
    struct pyro_slice given[PYRO_PREDICTED_SETTINGS]; /* as written; null where nothing is asked */
    bool full[PYRO_PREDICTED_SETTINGS];               /* asked for by its whole key */
    double values[PYRO_PREDICTED_SETTINGS];           /* of those given */
    const struct pyro_edit *code;                     /* what the program does otherwise; NULL: nothing */
    size_t code_count;
    bool brief; /* only times and cost are wanted: no jobs, no critical path */

    int64_t executors, cores_per_executor, memory_bytes; /* PYRO_NONE: unknown */
    int64_t wall_low_ms, wall_expected_ms, wall_high_ms;
    int64_t core_ms, busy_ms;
    double utilization;
    int64_t critical_path_ms;               /* with a slot for every task */
    struct pyro_replay_span *jobs;          /* one for each row of app->jobs; -1: did not run */
    double cost;                            /* NaN: no prices */
    struct pyro_scenario_finding *findings; /* of the run, in its order; NULL where they were not judged */
    size_t finding_count;
    struct pyro_predicted_effect effects[PYRO_EFFECTS_MAX];
    size_t effect_count;
    bool fails;        /* Spark would refuse barrier stages of the run: never recommended; an effect says why */
    bool code_applies; /* all of `code` says something about the run with these settings */
};

struct pyro_task_facts;
struct pyro_stage_facts;
struct pyro_first_task;
struct pyro_cached_task;

/* What is known of the run before any scenario; immutable, read by all threads. */
struct pyro_predicted_run {
    const struct pyro_app *app;
    const double *constants; /* as set before it is filled, else pyro_constants */
    struct pyro_replay *replay;
    struct pyro_replay_check check;
    struct pyro_replay_result base;
    int64_t executors, cores, memory_bytes; /* most alive at once, and what each has */
    int64_t profile;                        /* resource profile that most tasks ran in */
    int64_t *delays;                        /* of the run's first executors, ascending, ms */
    size_t delay_count;
    int64_t start_ms;                /* from asking for an executor to its registration */
    bool allocates;                  /* dynamic allocation was on */
    uint32_t without;                /* bit set of models that are left out */
    struct pyro_task_facts *tasks;   /* cut_tasks.h; NULL while no scenario asks for them */
    struct pyro_stage_facts *stages; /* of each row of app->stages */
    double added_ms;                 /* what one small task more costs at most */
    double spill_ms;                 /* what a byte of disk spill costs */
    bool spill_fitted;               /* on tasks of this run that spilled, and on others that did not */
    float *sorted_loads;             /* of each stage, where its tasks begin: loads above 0, least first */
    double *warm_ups;                /* of each stage: what its first tasks take longer at most, by group of them */
    float *spread;                   /* of task times by chance, a row of app->stages each */
    struct pyro_first_task *firsts;  /* that found their executor without their stage's code */
    size_t first_count;
    struct pyro_cached_task *cached;    /* that looked for a cached block */
    size_t cached_count, cached_missed; /* missed: of these, without success */
    size_t cached_blocks;               /* that they looked for */
    double stored_most, stored_all;     /* bytes: peaks of one executor, and of all of them together */
    float *first_ms; /* what these took longer, of each row of app->stages; NULL: the run does not say */
    double cold_ms;  /* the same of an executor's very first ones */
    int64_t critical_path_ms;
    double longer, slots;         /* how many times as long computing took as alone; slots alive on average */
    bool one_host;                /* all executors ran there */
    int64_t hosts;                /* on which executors ran; 1 where the log does not name them */
    const struct pyro_cost *cost; /* priced; NULL: no prices were given */
    struct pyro_cost *own_cost;   /* the same where it is its own */
    double base_cost;             /* of the unchanged replay; NaN: no prices */
    double chance;                /* standard deviation of the run's wall time by chance, as a share */
};

/* What a search aims at: the least time, or the least cost, within limits; 0: none. */
struct pyro_goal {
    bool asked, cost;
    int64_t deadline_ms;
    double max_cost;
};

struct pyro_whatif {
    struct pyro_predicted_run run;
    struct pyro_arena arena;
    struct pyro_arena *arenas; /* one a thread: what it answered */
    unsigned arena_count;
    struct pyro_scenario *scenarios;
    size_t scenario_count;
    unsigned varied[PYRO_PREDICTED_SETTINGS]; /* settings that are swept, in the order asked */
    unsigned varied_count;
    struct pyro_goal goal;
    struct {
        size_t evaluated, best; /* best: of the scenarios, which are those that no other beats in time and cost */
        bool met;
    } optimum;
    size_t most_scenarios;                  /* that sweeps may combine to */
    bool needs_tasks;                       /* some scenario changes more than executors */
    const struct pyro_diagnosis *diagnosis; /* whose findings are judged on the changed runs */
    bool judges;
    struct pyro_slice *fixes; /* ids of the findings that all scenarios fix */
    size_t fix_count;
};

enum { PYRO_SCENARIOS_MAX = 1000, PYRO_SWEEP_VALUES_MAX = 1000 };

/* Reads what is asked ("executors=4", "spark.sql.shuffle.partitions=100,200"; sweeps "executors=1..64", "cores=2,4")
 * into whatif->scenarios, values checked. */
enum pyro_status pyro_whatif_ask(struct pyro_whatif *whatif, const char *const *set, size_t set_count,
                                 const char *const *sweep, size_t sweep_count, struct pyro_error *error);

/* Sets one thing of a scenario, as `--set KEY=VALUE` does; the texts must outlive it. False: there is no model for it,
 * or it is not a value that Spark takes. */
bool pyro_scenario_set(struct pyro_scenario *scenario, struct pyro_slice key, struct pyro_slice value);

/* Whether a setting has a model; and one that changes the time of this application. */
bool pyro_predicted_is_known(struct pyro_slice key);
bool pyro_predicted_takes_time(const struct pyro_app *app, struct pyro_slice key);

/* A value as Spark reads it; false where it is none. */
bool pyro_predicted_read(enum pyro_predicted setting, struct pyro_slice text, double *ret);

/* Fills `run` from its application, which must be sealed and outlive it. `tasks`: for scenarios that change more than
 * executors. pyro_predict_done() in any case. */
enum pyro_status pyro_predict_prepare(struct pyro_predicted_run *run, const struct pyro_app *app, bool tasks,
                                      struct pyro_error *error);
/* The same for more than executors, where it was not done yet. */
enum pyro_status pyro_predict_prepare_tasks(struct pyro_predicted_run *run, struct pyro_error *error);
void pyro_predict_done(struct pyro_predicted_run *run);

/* Answers one scenario. Threads each have a fork of the run's replay and an arena whose texts outlive the answer. */
enum pyro_status pyro_predict(const struct pyro_predicted_run *run, struct pyro_replay *replay,
                              struct pyro_arena *arena, struct pyro_scenario *scenario, struct pyro_error *error);

/* Makes the scenarios those that no other beats in time and cost, by a search around the one that was asked.
 * PYRO_ERROR_ARGUMENT: a sweep was asked too, or this build has no optimizer. */
enum pyro_status pyro_predict_optimise(struct pyro_whatif *whatif, const struct pyro_goal *goal,
                                       struct pyro_error *error);
/* Whether this build can, and by what. */
bool pyro_optimiser_available(void);
const char *pyro_optimiser_description(void);
/* Takes the bill of the run, which must outlive it; NULL: there is none. */
void pyro_predict_take_cost(struct pyro_predicted_run *run, const struct pyro_cost *cost);
/* Prices the run; `prices` may be NULL. */
enum pyro_status pyro_predict_take_prices(struct pyro_predicted_run *run, const struct pyro_prices *prices,
                                          const char *instance, const char *region, struct pyro_error *error);
/* What a scenario costs, or NaN; what it is searched by: core hours where there are no prices. */
double pyro_scenario_cost(const struct pyro_predicted_run *run, const struct pyro_scenario *scenario);
double pyro_scenario_price(const struct pyro_predicted_run *run, const struct pyro_scenario *scenario);
const char *pyro_model_name(enum pyro_model_id model);

#endif
