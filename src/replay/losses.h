/* Executors that are lost while a replay runs, with their tasks and their shuffle output (losses.c). */
#ifndef PYRO_REPLAY_LOSSES_H
#define PYRO_REPLAY_LOSSES_H

#include "replay/slots.h"

/* Of runs that are first of their partition. */
struct replay_losing_task {
    uint32_t where, by; /* executor that has its output, and the run that made it */
    uint32_t next;      /* head of another partition there */
    uint32_t failures;  /* runs that were lost with their executor */
};

struct replay_losing_stage {
    struct replay_list writers, readers; /* of shuffles, in replay_losing.lists */
    uint32_t missing;                    /* partitions with lost output */
    uint32_t failures;                   /* times that it could not fetch what it read */
    bool claimed;                        /* some stage reads it */
    bool again, waits;                   /* was done, and computes what is missing; waits: is not submitted yet */
    bool short_of;                       /* lost a partition between its last task's end and its own */
};

struct replay_losing {
    struct replay_losing_task *tasks;
    struct replay_losing_stage *stages;
    uint32_t *first; /* of executors: a partition whose output it has */
    PYRO_VEC(uint32_t) lists;
    uint32_t again_count, missing_stages; /* missing_stages: that are done, and not run again */
    struct pyro_replay_damage damage;
};

/* For replay->executors. False: no memory; pyro_replay_losses_free() in any case. */
bool pyro_replay_losses_new(struct pyro_replay *replay);
void pyro_replay_losses_free(struct pyro_replay *replay);
void pyro_replay_losses_begin(struct pyro_replay *replay);

/* The following are for replays with losses only. */
bool pyro_replay_may_run(const struct pyro_replay *replay, uint32_t stage);
/* Before the partition counts as done. */
void pyro_replay_computed(struct pyro_replay *replay, uint32_t head, uint32_t run, uint32_t executor);
void pyro_replay_lost(struct pyro_replay *replay, uint32_t executor);
/* Runs stages again that stages need which run now. */
void pyro_replay_losses_settle(struct pyro_replay *replay);
void pyro_replay_again(struct pyro_replay *replay, uint32_t stage);
void pyro_replay_again_done(struct pyro_replay *replay, uint32_t stage);

#endif
