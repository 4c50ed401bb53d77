/* What the tasks of each stage did and waited for, as traces of the kernel saw it: rows of `task_waits` added up. */
#ifndef PYRO_ANALYZE_TRACKS_STAGE_WAITS_H
#define PYRO_ANALYZE_TRACKS_STAGE_WAITS_H

#include "base/memory/arena.h"
#include "model/app.h"
#include "model/tracks/tracks.h"

struct pyro_traced_wait {
    size_t stage; /* row of app->stages */
    enum pyro_kernel_state state, root;
    struct pyro_slice what, by;        /* see struct pyro_task_wait_row */
    int64_t duration_ns, count, bytes; /* bytes: 0, not known */
};

struct pyro_stage_waited {
    int64_t traced_ns;                      /* time of its tasks that was traced; 0: none */
    int64_t by_root_ns[PYRO_KERNEL_STATES]; /* adds up to that */
    size_t tasks;                           /* that were traced */
    size_t first, count;                    /* in `waits` */
};

struct pyro_stage_waits {
    struct pyro_stage_waited *stages; /* a row of app->stages each; NULL: nothing was traced */
    struct pyro_traced_wait *waits;   /* by stage, longest first */
    size_t count;
};

/* NULL: no memory left in the arena. */
const struct pyro_stage_waits *pyro_stage_waits_new(const struct pyro_app *app, struct pyro_arena *arena);

/* The same without an event log: of each stage attempt that the plugin's records name, in their order. */
struct pyro_stage_key {
    int64_t id, attempt;
};
const struct pyro_stage_waits *pyro_stage_waits_alone(const struct pyro_tracks *tracks, struct pyro_arena *arena,
                                                      struct pyro_stage_key **ret_stages, size_t *ret_count);

/* Of one stage attempt only: the only row of `stages`. */
const struct pyro_stage_waits *pyro_stage_waits_of(const struct pyro_tracks *tracks, struct pyro_stage_key stage,
                                                   struct pyro_arena *arena);

/* What one task waited for, by what it came down to. False: it was not traced. */
struct pyro_task_waited {
    int64_t traced_ns, by_root_ns[PYRO_KERNEL_STATES];
};
bool pyro_task_waited(const struct pyro_app *app, int64_t task, struct pyro_task_waited *ret);
/* Who or what was most of that; null: not known. */
struct pyro_slice pyro_task_waited_by(const struct pyro_app *app, int64_t task, enum pyro_kernel_state root);

/* Whether `by` names a thread of the task's own process. Other processes have their number: "stress (123)". */
bool pyro_wait_is_own(struct pyro_slice by);
/* Whether it names a process of the application: "executor 3 (123)", "driver (7)", "Python worker (8)". */
bool pyro_wait_is_spark(struct pyro_slice by);
/* Whether it names a thread of the kernel, which works for others: "kworker/1:2H (20)". */
bool pyro_wait_is_kernel(struct pyro_slice by);
/* Whether it names a thread by which a JVM collects garbage or compiles. */
bool pyro_wait_is_jvm(struct pyro_slice by);

#endif
