/* The next run's configuration from earlier runs: docs/suggestions.md has the five steps and their formulas.
 *
 * The steps work on plain rows, wherever they come from: past_runs.c chooses runs, candidates.c makes configurations,
 * choose.c predicts and picks, ladder.c answers deaths. store.c reads the rows, simulate_logs.c simulates. */
#ifndef PYRO_FLEET_SUGGEST_SUGGEST_H
#define PYRO_FLEET_SUGGEST_SUGGEST_H

#include "base/collections/vec.h"
#include "base/error.h"
#include "base/memory/arena.h"
#include "fleet/models/models.h"

enum pyro_suggest_key {
#define PYRO_SUGGEST_KEY(id, key) PYRO_KEY_##id,
#include "fleet/suggest/keys.def"
#undef PYRO_SUGGEST_KEY
    PYRO_SUGGEST_KEYS
};
extern const char *const pyro_suggest_keys[PYRO_SUGGEST_KEYS];

struct pyro_suggest_setting {
    struct pyro_slice key, value, previous; /* previous: null where it was not set, or is not known */
};

/* One run of the application. Numbers: NaN where unknown; texts: null. */
struct pyro_suggest_run {
    struct pyro_slice app_id, attempt, version, spark_version, status, path;
    int64_t start_ms;
    bool final; /* no later attempt is known */
    double duration_ms, core_ms, input_bytes;
    double executors, cores, largest_input_bytes;
    double heap_peak_bytes, outside_peak_bytes; /* of one executor: of its heap; off-heap and Python */
    double largest_shuffle_bytes;               /* that a stage wrote */
    struct pyro_slice settings[PYRO_SUGGEST_KEYS];
};

/* ---- Step 1: history (past_runs.c) ---- */

enum { PYRO_HISTORY_RUNS = 50, PYRO_HISTORY_DAYS = 90, PYRO_HISTORY_SAME = 5, PYRO_HISTORY_INPUTS = 5 };

struct pyro_suggest_history {
    const struct pyro_suggest_run **runs; /* that count, ascending by start */
    size_t count;
    const struct pyro_suggest_run *newest;    /* final attempt, whatever became of it; NULL: there is none */
    const struct pyro_suggest_run *completed; /* newest one that counts; NULL: there is none */
    size_t outliers;                          /* left out */
    bool same_code, same_spark;               /* the runs are of the newest version of the code, of Spark */
    double input_bytes, largest_input_bytes;  /* medians of the newest five */
};
/* Of `rows`, ascending by start. False: no memory. */
bool pyro_history_choose(const struct pyro_suggest_run *rows, size_t count, int64_t now_ms, struct pyro_arena *arena,
                         struct pyro_suggest_history *ret);
/* The runs as the models take them. NULL: no memory. */
struct pyro_fleet_run *pyro_history_fleet_runs(const struct pyro_suggest_history *history, struct pyro_arena *arena);

/* ---- Step 2: candidates (candidates.c) ---- */

/* What users allow at most; NaN: no limit. */
struct pyro_suggest_limits {
    double most_executors, most_cores, most_memory_bytes, most_total_cores;
};

enum { PYRO_CANDIDATE_SETTINGS = 24, PYRO_CANDIDATES = 128 };

struct pyro_candidate {
    double executors, cores;
    bool ran;     /* a run that counts had these executors and cores, with half of the input or more */
    bool current; /* those of the newest run that counts, nothing changed */
    struct pyro_suggest_setting settings[PYRO_CANDIDATE_SETTINGS]; /* that differ from that run's */
    size_t setting_count;
    bool resized; /* settings other than executors and cores change: needs the simulator */
    /* Filled by step 3: */
    bool known;
    struct pyro_fleet_prediction wall;
    double core_ms, cost; /* expected; cost NaN: no prices */
};

struct pyro_candidates {
    struct pyro_candidate items[PYRO_CANDIDATES];
    size_t count;
    double factor; /* how far values may be outside of those that ran */
};
/* `plan`: the settings of the newest report's plan. `kept`: how many suggestions for this application were kept. The
 * first candidate is the current configuration. False: no memory. */
bool pyro_candidates_make(const struct pyro_suggest_history *history, double input_bytes,
                          const struct pyro_suggest_limits *limits, const struct pyro_suggest_setting *plan,
                          size_t plan_count, size_t kept, struct pyro_arena *arena, struct pyro_candidates *ret);

/* ---- Steps 3 and 4: prediction and choice (choose.c) ---- */

struct pyro_simulated {
    double wall_ms, core_ms, cost; /* cost NaN: no prices */
};
/* Replays the log of history->runs[run]. PYRO_ERROR_INPUT: it cannot be read, or takes no such setting. */
struct pyro_suggest_simulator {
    enum pyro_status (*simulate)(void *context, size_t run, const struct pyro_fleet_question *asked,
                                 const struct pyro_suggest_setting *settings, size_t count, struct pyro_simulated *ret,
                                 struct pyro_error *error);
    bool (*has_log)(void *context, size_t run);
    void *context;
    bool priced; /* it knows costs */
};

/* The models of a history; `simulator` NULL: there is none. The history must outlive *ret. */
enum pyro_status pyro_suggest_fit(const struct pyro_suggest_history *history,
                                  const struct pyro_suggest_simulator *simulator, struct pyro_arena *arena,
                                  struct pyro_fleet_models *ret, struct pyro_error *error);

/* Core time that a run allocates (core_time.c). */
struct pyro_core_time {
    bool fixed;        /* all cores for all of the run but a time; otherwise for a share of it */
    double share;      /* of cores x duration that was allocated, in the median run */
    double without_ms; /* duration - core time / cores, in the median run: mostly the start of the application */
    double least;      /* where fixed: the least share of any run, which shorter runs have as well */
};
/* Whichever of both is less off in the median run. False: no memory. */
bool pyro_core_time_fit(const struct pyro_suggest_history *history, struct pyro_arena *arena,
                        struct pyro_core_time *ret);
double pyro_core_time_predict(const struct pyro_core_time *core_time, double slots, double wall_ms);

enum pyro_suggest_goal { PYRO_GOAL_CHEAPER, PYRO_GOAL_DEADLINE, PYRO_GOAL_MAX_COST, PYRO_GOAL_SURVIVE };
const char *pyro_suggest_goal_name(enum pyro_suggest_goal goal);

struct pyro_suggest_asked {
    double input_bytes;           /* NaN: the median of the newest runs */
    double deadline_ms, max_cost; /* NaN: none */
    bool priced;                  /* costs are money, otherwise core hours */
    int64_t now_ms;
    struct pyro_suggest_limits limits;
    size_t kept; /* suggestions for the application that were kept */
    struct {
        int64_t time_ms;
        struct pyro_slice rung;
    } tried[16]; /* rungs of ladders that were suggested since the last completed run */
    size_t tried_count;
    const struct pyro_suggest_setting *plan; /* of the newest report */
    size_t plan_count;
    struct pyro_slice death; /* of the newest run: enum pyro_death by name; null: it did not die, or not of these */
};

typedef PYRO_VEC(struct pyro_slice) pyro_texts;

struct pyro_suggestion_result {
    enum pyro_suggest_goal goal;
    double input_bytes;
    struct pyro_suggest_history history;
    struct pyro_candidate current; /* predicted where a model can */
    struct pyro_candidate chosen;  /* no settings: keep the current ones */
    bool has_current, has_settings;
    const char *model; /* NULL: none was asked, as of a ladder */
    double model_error;
    size_t model_runs;
    bool never_ran;             /* the chosen executors and cores: the model is the one that predicts others best */
    size_t left_out;            /* configurations that its error was measured on, where so */
    const char *rung;           /* of a ladder, or NULL */
    pyro_texts doubts, missing; /* in the arena */
};
enum pyro_status pyro_suggest_from(const struct pyro_suggest_run *rows, size_t count,
                                   const struct pyro_suggest_asked *asked,
                                   const struct pyro_suggest_simulator *simulator, struct pyro_arena *arena,
                                   struct pyro_suggestion_result *ret, struct pyro_error *error);
/* Adds a text to the list, printf-like. False: no memory. */
bool pyro_texts_add(pyro_texts *texts, struct pyro_arena *arena, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Ladders (ladder.c) ---- */

/* The next rung after a death; *ret_rung NULL: there is none left, or no ladder for it. A rung counts as tried if it
 * was suggested before the run started. False: no memory. */
bool pyro_ladder_next(const struct pyro_suggest_history *history, const struct pyro_suggest_asked *asked,
                      struct pyro_arena *arena, struct pyro_candidate *ret, const char **ret_rung);

/* ---- Settings as texts (run_settings.c) ---- */

/* "4g", "1536m"; rounded up to MiB. */
struct pyro_slice pyro_size_text(double bytes, struct pyro_arena *arena);
/* NaN: not set, or not a number. */
double pyro_history_number(const struct pyro_suggest_run *run, enum pyro_suggest_key key);
/* Adds or replaces; equal to the run's value: removes. False: no room or no memory. */
bool pyro_candidate_set(struct pyro_candidate *candidate, const struct pyro_suggest_run *run, struct pyro_slice key,
                        struct pyro_slice value);

#endif
