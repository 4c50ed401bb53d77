/* Between the course of a replayed run (run.c: jobs, stages, events) and its slots (slots.c: executors
 * and the tasks on them). */
#ifndef PYRO_REPLAY_SLOTS_H
#define PYRO_REPLAY_SLOTS_H

#include "replay/replaying.h"

/* What happens; of one time in the order in which it was found out. */
enum replay_event_kind {
    REPLAY_EXECUTOR_ADDED,
    REPLAY_EXECUTOR_REMOVED,
    REPLAY_EXECUTOR_DRAINS, /* it gets no more tasks */
    REPLAY_JOB_START,
    REPLAY_JOB_END,
    REPLAY_STAGE_START,
    REPLAY_STAGE_READY,
    REPLAY_STAGE_END,
    REPLAY_STAGE_SPREADS, /* its tasks may run far from their data */
    REPLAY_STAGE_NEARS,   /* they waited in the log; now they wait on */
    REPLAY_STAGE_AGAIN,   /* submitted again, for what was lost */
    REPLAY_TASK_ENDED,
    REPLAY_TASK_QUEUED,   /* a second attempt, or a speculative copy */
    REPLAY_ALLOCATE,      /* tasks have waited long enough */
    REPLAY_EXECUTOR_IDLE, /* one has perhaps been idle long enough */
};
#define REPLAY_KIND_BITS 4

/* Runs of tasks that a stage has, or the tasks that an edit gave it. */
static inline uint32_t replay_tasks(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    return edit && edit->count > 0 ? edit->count : replay->stages[number].runs.count;
}

/* What an executor has in all, and what a task of the stage takes of it: at most all. */
static inline int64_t replay_capacity(const struct pyro_replay *replay, uint32_t executor)
{
    return replay->executors[executor].slots * REPLAY_SLOT;
}
static inline int64_t replay_need(const struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    int64_t need = replay->stages[number].need;
    if (need <= REPLAY_SLOT) /* one without slots may be given one, so that the run ends */
        return need;
    int64_t all = replay_capacity(replay, executor);
    return need < all || all == 0 ? need : all;
}
/* A task of the stage begins there, and ends. */
static inline void replay_take(struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    struct replay_executor_state *state = &replay->executor_states[executor];
    int64_t need = replay_need(replay, number, executor);
    state->free -= need;
    state->held += need;
    state->busy++;
    if (replay->barriers && state->alive)
        replay->groups[replay->executors[executor].group].free -= need;
}
static inline void replay_give(struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    struct replay_executor_state *state = &replay->executor_states[executor];
    int64_t need = replay_need(replay, number, executor);
    state->free += need;
    state->held -= need;
    state->busy--;
    if (replay->barriers && state->alive)
        replay->groups[replay->executors[executor].group].free += need;
}
/* Tasks of the stage that alive executors of its group run at once. */
static inline int64_t replay_slots(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    return stage->need == REPLAY_SLOT ? replay->groups[stage->group].slots
                                      : replay->groups[stage->group].slots * REPLAY_SLOT / stage->need;
}

static inline bool replay_is_cut(const struct pyro_replay *replay, uint32_t number)
{
    return replay->stage_edits && replay->stage_edits[number].count > 0;
}

/* The first run of the same partition. */
static inline uint32_t replay_head(const struct pyro_replay *replay, uint32_t run)
{
    while (!(replay->runs[run].flags & REPLAY_RUN_HEAD))
        run--;
    return run;
}

/* An edit took it out. */
static inline bool replay_is_skipped(const struct pyro_replay *replay, uint32_t run)
{
    return replay->run_edits && replay->run_edits[run];
}
/* ... and its partition needs no run at all. */
static inline bool replay_is_gone(const struct pyro_replay *replay, uint32_t run)
{
    return replay->run_edits && replay->run_edits[run] & REPLAY_RUN_GONE;
}

/* Row of app->stages of a run: stages have their tasks in the order of their rows. */
static inline uint32_t replay_row_of(const struct pyro_replay *replay, uint32_t run)
{
    size_t low = 0, high = replay->app->stages.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (replay->first_run[middle] <= run)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

void pyro_replay_push(struct pyro_replay *replay, int64_t at, enum replay_event_kind kind, uint32_t what);

void pyro_replay_come(struct pyro_replay *replay, uint32_t number);
void pyro_replay_leave(struct pyro_replay *replay, uint32_t number);
/* Its free slots, to its group. */
void pyro_replay_offer(struct pyro_replay *replay, uint32_t number);
/* One with `need` units of its slots free, or all that it has; the stage whose task comes next; or REPLAY_NOBODY. */
uint32_t pyro_replay_free_executor(struct pyro_replay *replay, struct replay_group *group, int64_t need);
uint32_t pyro_replay_next_stage(struct pyro_replay *replay, struct replay_group *group);
void pyro_replay_queue_stage(struct pyro_replay *replay, uint32_t number);
/* Barrier stages that wait for more slots than there will be go on as others do. True: there were any. */
bool pyro_replay_part_barriers(struct pyro_replay *replay);
void pyro_replay_queue_run(struct pyro_replay *replay, uint32_t number, uint32_t run);
void pyro_replay_end_run(struct pyro_replay *replay, uint32_t place);
/* A task that runs already: its slot is free at `at`, and it has ended at `end`. */
void pyro_replay_go_on(struct pyro_replay *replay, uint32_t stage, uint32_t run, uint32_t executor, int64_t at,
                       int64_t end);
/* The one stage of the group that has tasks, while nothing else happens; nothing runs. */
void pyro_replay_run_alone(struct pyro_replay *replay, struct replay_group *group);
/* With a slot for every task: all of them at once, without a look at any slot. False: this stage is not that plain. */
bool pyro_replay_run_all(struct pyro_replay *replay, uint32_t number);
/* Slots for stages with tasks. */
void pyro_replay_dispatch(struct pyro_replay *replay);

#endif
