/* What the kinds of advice on cost share: the run's executors, their replay, and what they cost. */
#ifndef PYRO_ADVICE_COST_ADVISOR_H
#define PYRO_ADVICE_COST_ADVISOR_H

#include "advice/cost/advise.h"
#include "predict/predict.h"

/* What is judged by; docs/cost.md says why. */
#define PYRO_ADVISE_LONGER     0.10 /* without a deadline the run may take this share longer */
#define PYRO_ADVISE_SAVING     0.05 /* less is not worth a change */
#define PYRO_ADVISE_REPLAY_BAD 0.15 /* a run that the simulator tells worse than this gets no advice from it */

struct pyro_advisor {
    struct pyro_cost *cost;
    const struct pyro_app *app;
    const struct pyro_prices *prices;
    const struct pyro_money_options *options;
    const struct pyro_advise_options *wanted;
    struct pyro_predicted_run run;
    struct pyro_arena scratch;              /* of one scenario */
    struct pyro_replay_executor *executors; /* as if all had stayed, in the order they came */
    struct pyro_slice *hosts;               /* of each */
    size_t executor_count;
    size_t count;           /* executors at once */
    double executor_micros; /* what executors cost */
    double nodes;           /* hosts they ran on */
    bool by_nodes, failed;
};

/* A run on `executors` executors. */
struct pyro_advised_size {
    size_t executors;
    double wall_ms, high_ms, core_ms, micros;
    bool fails; /* Spark would refuse it */
};

struct pyro_slice pyro_advisor_say(struct pyro_advisor *advisor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* NULL: there is no room. */
struct pyro_cost_advice *pyro_advisor_add(struct pyro_advisor *advisor, const char *kind);
/* Says why there is no advice of this kind. */
void pyro_advisor_decline(struct pyro_advisor *advisor, const char *kind, struct pyro_slice why);
/* "52 s", "31 min", "2 h 5 min" */
const char *pyro_advisor_time(char *text, size_t size, double ms);
/* The longest that an advised run may take. */
double pyro_advisor_limit(const struct pyro_advisor *advisor);
/* Memory that the processes of an executor used at most, MiB; 0: the log does not say. */
double pyro_advisor_used_mib(const struct pyro_app *app);
/* The unchanged run as the simulator tells it. `wall_ms` 0: it does not. */
bool pyro_advisor_full(struct pyro_advisor *advisor, struct pyro_advised_size *ret);

void pyro_advise_instance(struct pyro_advisor *advisor);
void pyro_advise_bounds(struct pyro_advisor *advisor);
/* False: no memory. */
bool pyro_advise_spot(struct pyro_advisor *advisor, const struct pyro_advised_size *full);

#endif
