/* Threads that run what may take long, first come first served. */
#ifndef PYRO_SERVE_HTTP_WORKERS_H
#define PYRO_SERVE_HTTP_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/threads/thread.h"

/* Part of what is worked on; its submitter keeps it until `run` was called. */
struct serve_work {
    struct serve_work *next;
    void (*run)(struct serve_work *work);
};

enum { MOST_WORKERS = 64 };

struct workers {
    pthread_mutex_t mutex; /* guards what follows */
    struct pyro_thread threads[MOST_WORKERS];
    int niceness; /* of the threads: others go first */
    size_t count, most, idle, pending;
    pthread_cond_t changed;
    struct serve_work *first, **last;
    bool stopping;
};

/* Starts `first` threads, and more when all are busy, up to `most` (at most MOST_WORKERS). `niceness`: of the threads
 * and of those that they start; 0: as the process. False: not one could be started. */
bool pyro_workers_start(struct workers *workers, size_t first, size_t most, int niceness);
void pyro_workers_submit(struct workers *workers, struct serve_work *work);
/* Returns when all that was submitted is done. */
void pyro_workers_stop(struct workers *workers);

#endif
