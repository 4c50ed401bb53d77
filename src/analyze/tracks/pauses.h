/* Pauses of the garbage collector, by process: what logs and profilers recorded, not what tasks report. */
#ifndef PYRO_ANALYZE_TRACKS_PAUSES_H
#define PYRO_ANALYZE_TRACKS_PAUSES_H

#include "base/memory/arena.h"
#include "model/tracks/tracks.h"

struct pyro_pauses {
    int32_t thread; /* of the process */
    uint64_t count;
    int64_t total_ns, longest_ns;
};

/* A row for each process with pauses, in the order of the tracks' threads; `tracks` may be NULL. NULL when there is no
 * memory. */
const struct pyro_pauses *pyro_pauses_of(const struct pyro_tracks *tracks, struct pyro_arena *arena, size_t *ret_count);

#endif
