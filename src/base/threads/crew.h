/* Pieces of work done side by side, by the calling thread and by others that are started for it. */
#ifndef PYRO_BASE_THREADS_CREW_H
#define PYRO_BASE_THREADS_CREW_H

#include "base/threads/stop.h"

enum { PYRO_CREW_MOST = 16 }; /* threads */

struct pyro_crew_work {
    size_t count;
    /* Does piece `index`. Pieces begin in their order. `worker`: 0 is the calling thread, the others are below the
     * number of threads; one worker does one piece at a time. `stop`: to be asked by long work. Not PYRO_OK: no thread
     * begins another piece. */
    enum pyro_status (*work)(void *context, unsigned worker, size_t index, const struct pyro_stop *stop,
                             struct pyro_error *error);
    void *context;
    const struct pyro_stop *stop; /* asked by the calling thread only; may be NULL */
};

/* On at most `threads` threads; fewer where they cannot start. PYRO_OK: all pieces are done. Otherwise the error of the
 * piece that failed; PYRO_ERROR_CANCELLED where the caller stopped it. */
enum pyro_status pyro_crew_run(unsigned threads, const struct pyro_crew_work *work, struct pyro_error *error);

#endif
