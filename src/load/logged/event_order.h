/* What pyro_logged_write() writes, and in which order: between the files here. */
#ifndef PYRO_LOAD_LOGGED_EVENT_ORDER_H
#define PYRO_LOAD_LOGGED_EVENT_ORDER_H

#include "base/strings/strbuf.h"
#include "load/logged/logged.h"

/* In this order where times are equal, which they often are: a line may say the second only. */
enum pyro_logged_kind {
    PYRO_LOGGED_EXECUTOR_ADDED,
    PYRO_LOGGED_JOB_START,
    PYRO_LOGGED_STAGE_SUBMITTED,
    PYRO_LOGGED_TASK_START,
    PYRO_LOGGED_TASK_END,
    PYRO_LOGGED_STAGE_COMPLETED,
    PYRO_LOGGED_JOB_END,
    PYRO_LOGGED_EXECUTOR_REMOVED
};

struct pyro_logged_event {
    int64_t time_ms; /* no earlier than that of what it is part of */
    uint32_t kind;   /* enum pyro_logged_kind */
    uint32_t row;    /* of the executors, or of the timeline's jobs, stages or tasks */
};

/* Of a stage of the timeline. */
struct pyro_logged_place {
    size_t job;                /* row of the timeline's jobs; SIZE_MAX: not known */
    struct pyro_slice parents; /* ids with commas, in the arena; null: none */
    int64_t submitted_ms;      /* time of its event */
};

struct pyro_logged_order {
    struct pyro_logged_event *events;
    size_t count;
    struct pyro_logged_place *stages; /* by row of the timeline's stages */
    size_t *first_stages;             /* by row of its jobs: the first row of its stages that may be the job's */
};

/* What the driver says of a stage, else when its tasks ran. */
struct pyro_logged_stage_times {
    int64_t submitted_ms, ended_ms, tasks;
    struct pyro_slice reason;
};
struct pyro_logged_stage_times pyro_logged_stage_times(const struct pyro_logged *logged,
                                                       const struct pyro_line_stage *stage);

/* When a task's events say that it was launched; PYRO_NONE: it is not known to have run. */
static inline int64_t pyro_logged_launch_ms(const struct pyro_line_task *task)
{
    return task->start_ms != PYRO_NONE ? task->start_ms : task->end_ms;
}

static inline int64_t pyro_logged_added_ms(const struct pyro_logged *logged,
                                           const struct pyro_logged_executor *executor)
{
    return executor->registered_ms != PYRO_NONE ? executor->registered_ms
           : executor->first_ms != PYRO_NONE    ? executor->first_ms
                                                : logged->start_ms;
}

/* False: no memory, or more events than there can be. In both cases the caller calls pyro_logged_order_done(). */
bool pyro_logged_order(struct pyro_logged *logged, struct pyro_logged_order *ret);
void pyro_logged_order_done(const struct pyro_logged *logged, struct pyro_logged_order *order);

#endif
