/* Pieces of work done side by side, by the calling thread and by others that are started for it. */
#ifndef PYRO_BASE_THREADS_CREW_H
#define PYRO_BASE_THREADS_CREW_H

#include "base/threads/stop.h"

enum { PYRO_CREW_MOST = 16 }; /* threads */

struct pyro_crew_work {
    size_t count;
    /* Does piece `index`. Pieces begin in their order. `worker`: 0 is the calling thread, the others are below the
     * number of threads; one worker does one piece at a time. `stop`: to be asked by long work. False: no thread begins
     * another piece. */
    bool (*work)(void *context, unsigned worker, size_t index, const struct pyro_stop *stop);
    void *context;
    const struct pyro_stop *stop; /* asked by the calling thread only; may be NULL */
};

/* On at most `threads` threads; fewer where they cannot start. True: all pieces are done. */
bool pyro_crew_run(unsigned threads, const struct pyro_crew_work *work);

#endif
