/* The scheduler replayed: what a run would have taken had it been different.
 *
 * From the log come the stage graph, task durations, driver gaps and executors' comings and goings; never a launch
 * time: when tasks start is what a replay finds out. docs/simulator.md has the model and its error on recorded runs. */
#ifndef PYRO_ANALYZE_REPLAY_H
#define PYRO_ANALYZE_REPLAY_H

#include "model/app.h"

/* One difference between the run that was and the run that is asked for. */
enum pyro_edit_kind {
    PYRO_EDIT_TASK,        /* task `row` takes `ms` */
    PYRO_EDIT_STAGE,       /* every task of stage `row` takes `factor` times as long */
    PYRO_EDIT_REPARTITION, /* stage `row` runs `count` tasks of `ms` each instead of its own */
    PYRO_EDIT_SKIP_STAGE,  /* stage `row` does not run; what waits for it goes on */
    PYRO_EDIT_DRIVER,      /* time of the driver inside [from_ms, to_ms) passes in `factor` of it */
    PYRO_EDIT_EXECUTORS,   /* executors that came inside [from_ms, to_ms) are there at from_ms */
    PYRO_EDIT_CONCURRENT,  /* jobs submitted inside [from_ms, to_ms) do not wait for each other */
};

struct pyro_edit {
    enum pyro_edit_kind kind;
    size_t row;             /* in app->tasks or app->stages */
    int64_t count;          /* tasks */
    double ms, factor;      /* factor >= 0 */
    int64_t from_ms, to_ms; /* epoch */
};

#endif
