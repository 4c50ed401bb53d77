/* What the models share: one scenario on its way to becoming a change of the replay. */
#ifndef PYRO_PREDICT_MODEL_H
#define PYRO_PREDICT_MODEL_H

#include "predict/predict.h"

struct pyro_scenario_tasks;

struct pyro_predict_change {
    const struct pyro_predicted_run *run;
    struct pyro_scenario *scenario;
    struct pyro_arena *arena;  /* of texts */
    struct pyro_arena scratch; /* of what is needed until the replay is done */
    struct pyro_replay_change replay;
    struct pyro_scenario_tasks *stages; /* cut_tasks.h; NULL while none is touched */
    PYRO_VEC(struct pyro_edit) edits;
    double doubt_low[PYRO_EFFECTS_MAX], doubt_high[PYRO_EFFECTS_MAX]; /* shares of the time in tasks, by effect */
    double added;                                                     /* tasks */
    bool failed;                                                      /* no memory */
};

typedef void pyro_model(struct pyro_predict_change *change);
#define PYRO_MODEL(name, doc) pyro_model pyro_model_##name;
#include "predict/models.def"
#undef PYRO_MODEL

static inline bool pyro_asks(const struct pyro_predict_change *change, enum pyro_predicted setting)
{
    return change->scenario->given[setting].ptr != NULL;
}
bool pyro_is_of_main_profile(const struct pyro_predicted_run *run, const struct pyro_executor *executor);
/* `count` executors of the scenario's cores, throughout. */
void pyro_predict_fixed(struct pyro_predict_change *change, int64_t count);
/* How many times as long as alone computing takes in the scenario, with the executors that it has by now. */
double pyro_scenario_longer(const struct pyro_predict_change *change);
/* What the run says of shared processors. False: no memory. */
bool pyro_predict_take_host(struct pyro_predicted_run *run);
/* Fills run->critical_path_ms. */
enum pyro_status pyro_predict_critical_path(struct pyro_predicted_run *run, struct pyro_error *error);
/* What the run had: its property, or Spark's default. */
double pyro_run_setting(const struct pyro_app *app, enum pyro_predicted setting);
/* The same of a SQL execution, whose session may have changed it; `sql` its id or PYRO_NONE. */
double pyro_sql_setting(const struct pyro_app *app, int64_t sql, enum pyro_predicted setting);
/* What the scenario has: as asked, else as the run had. */
double pyro_scenario_setting(const struct pyro_predict_change *change, enum pyro_predicted setting);
/* ... for a SQL execution: as asked, in the program where that sets it, else as the execution had. */
double pyro_sql_scenario_setting(const struct pyro_predict_change *change, int64_t sql, enum pyro_predicted setting);

/* Says what a model did, printf-like; at most PYRO_EFFECTS_MAX times. `low` and `high`: how far the expected wall time
 * may be wrong for it, as shares of the time in which tasks run. */
void pyro_effect(struct pyro_predict_change *change, enum pyro_model_id model, double low, double high,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
