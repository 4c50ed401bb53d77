/* Threads that run what may take long, first come first served. */
#ifndef PYRO_SERVE_HTTP_WORKERS_H
#define PYRO_SERVE_HTTP_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Part of what is worked on; whoever submits it keeps it until `run` was called. */
struct work {
    struct work *next;
    void (*run)(struct work *work);
};

/* More are started when all are busy: they may all be waiting for one large log, and whoever asks for another one must
 * not wait with them. */
enum { FIRST_WORKERS = 16, MOST_WORKERS = 128 };

struct workers {
    pthread_mutex_t mutex; /* guards what follows */
    pthread_t threads[MOST_WORKERS];
    size_t count, idle, pending;
    pthread_cond_t changed;
    struct work *first, **last;
    bool stopping;
};

/* false: not one thread could be started. */
bool pyro_workers_start(struct workers *workers);
void pyro_workers_submit(struct workers *workers, struct work *work);
/* Returns when all that was submitted is done. */
void pyro_workers_stop(struct workers *workers);

#endif
