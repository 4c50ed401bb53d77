/* Edits put into a prepared replay, and what it takes to undo them. */
#ifndef PYRO_REPLAY_EDITS_H
#define PYRO_REPLAY_EDITS_H

#include "replay/replaying.h"

struct replay_undo_executor {
    uint32_t row;
    struct replay_executor value;
};

struct replay_undo {
    PYRO_VEC(struct replay_undo_executor) executors;
    struct replay_window *windows;
};

/* Sets replay->no_memory on failure; pyro_replay_undo() in any case. */
void pyro_replay_apply(struct pyro_replay *replay, struct replay_undo *undo, const struct pyro_edit *edits,
                       size_t count);
void pyro_replay_undo(struct pyro_replay *replay, struct replay_undo *undo);

#endif
