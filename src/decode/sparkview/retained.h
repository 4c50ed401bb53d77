/* What Spark's History Server forgets while it reads a log: of jobs, stages, tasks of a stage and removed executors
 * those that ended first, beyond a limit. Follows AppStatusListener of Spark 3.5.6 over a store in memory: something is
 * counted when it is written there, which is when it ends, and what has not ended is written at the end of the log.
 *
 * A limit of 0 keeps everything. The history itself stays whole while it is built, since later events may still refer
 * to what is forgotten; pyro_retained_apply() takes that out of one that is handed over. */
#ifndef PYRO_DECODE_SPARKVIEW_RETAINED_H
#define PYRO_DECODE_SPARKVIEW_RETAINED_H

#include "decode/sparkview/retained_heap.h"
#include "pyrometer.h"

/* Rows of one kind. */
struct pyro_retained_kind {
    uint64_t limit, stored;
    pyro_retained_heap heap;
    PYRO_VEC(uint8_t) flags; /* by row */
};

struct pyro_retained_tasks {
    uint64_t saved; /* as Spark counts them: those that started, less what was to be forgotten */
    pyro_retained_heap heap;
};

struct pyro_retained {
    struct pyro_history *history; /* `failed` is set when there is no memory */
    struct pyro_retained_kind jobs, stages, executors;
    uint64_t task_limit, active_executors;
    PYRO_VEC(struct pyro_retained_tasks) tasks; /* by stage row */
    struct pyro_id_set forgotten_tasks;         /* numbers */
};

/* `limits` NULL: everything is kept. */
void pyro_retained_init(struct pyro_retained *retained, struct pyro_history *history,
                        const struct pyro_retained_limits *limits);
void pyro_retained_done(struct pyro_retained *retained);

/* Something is written to Spark's store; `last`: it ends with that, and so others may be forgotten. */
void pyro_retained_job(struct pyro_retained *retained, size_t row, bool last);
void pyro_retained_stage(struct pyro_retained *retained, size_t row, bool last);
void pyro_retained_executor(struct pyro_retained *retained, const struct pyro_history_executor *executor);
/* An executor was added, or removed: called after its `active` was set, if that changed. */
void pyro_retained_executor_added(struct pyro_retained *retained);
void pyro_retained_executor_removed(struct pyro_retained *retained, const struct pyro_history_executor *executor);
/* A task of a stage that events still change, by its number. */
void pyro_retained_task_start(struct pyro_retained *retained, size_t stage);
void pyro_retained_task_end(struct pyro_retained *retained, size_t stage, int64_t id, int64_t finish_ms,
                            uint32_t number);

/* Takes what is forgotten out of the history, or out of a copy of it. False: no memory. */
bool pyro_retained_apply(const struct pyro_retained *retained, struct pyro_history *history);

#endif
