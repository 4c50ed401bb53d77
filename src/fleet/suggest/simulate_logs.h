/* Replays of the logs of an application's runs, for models and suggestions. */
#ifndef PYRO_FLEET_SUGGEST_SIMULATE_LOGS_H
#define PYRO_FLEET_SUGGEST_SIMULATE_LOGS_H

#include "fleet/suggest/suggest.h"
#include "predict/predict.h"

/* `newest`: how many runs' logs are used at most. `open`: that are in memory at once. `bytes`: a larger log is left
 * out. */
enum { PYRO_REPLAY_LOGS = 12, PYRO_REPLAY_OPEN = 3 };
#define PYRO_REPLAY_BYTES (1 << 30)

/* One loaded log. */
struct pyro_replay_log {
    const struct pyro_suggest_run *run; /* NULL: this place is free */
    pyro_app *app;
    struct pyro_predicted_run predicted;
    uint64_t used; /* the largest was used last */
};

struct pyro_replays {
    const struct pyro_suggest_history *history;
    const struct pyro_options *options;   /* allocator, threads and progress */
    const struct pyro_load_options *load; /* NULL: defaults */
    const pyro_prices *prices;            /* NULL: costs are not known */
    const char *instance, *region;        /* of the nodes, or NULL */
    struct pyro_replay_log open[PYRO_REPLAY_OPEN];
    uint64_t uses;
    struct pyro_arena arena; /* of one answer */
};
/* The history must outlive it. pyro_replays_done() afterwards. */
void pyro_replays_init(struct pyro_replays *replays, const struct pyro_suggest_history *history,
                       const struct pyro_options *options);
void pyro_replays_done(struct pyro_replays *replays);
/* The simulator of pyro_suggest_from(), for runs of the history. */
struct pyro_suggest_simulator pyro_replays_simulator(struct pyro_replays *replays);

#endif
