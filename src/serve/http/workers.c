#include "serve/http/workers.h"

static void *serve(void *context)
{
    struct workers *workers = context;
    pthread_mutex_lock(&workers->mutex);
    for (;;) {
        struct work *work = workers->first;
        if (work) {
            workers->first = work->next;
            if (!work->next)
                workers->last = &workers->first;
            pthread_mutex_unlock(&workers->mutex);
            work->run(work);
            pthread_mutex_lock(&workers->mutex);
        } else if (workers->stopping) {
            break;
        } else {
            pthread_cond_wait(&workers->changed, &workers->mutex);
        }
    }
    pthread_mutex_unlock(&workers->mutex);
    return NULL;
}

bool pyro_workers_start(struct workers *workers)
{
    *workers = (struct workers){.last = &workers->first};
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_cond_init(&workers->changed, NULL);
    while (workers->count < WORKERS && pthread_create(&workers->threads[workers->count], NULL, serve, workers) == 0)
        workers->count++;
    return workers->count > 0;
}

void pyro_workers_submit(struct workers *workers, struct work *work)
{
    work->next = NULL;
    pthread_mutex_lock(&workers->mutex);
    *workers->last = work;
    workers->last = &work->next;
    pthread_cond_signal(&workers->changed);
    pthread_mutex_unlock(&workers->mutex);
}

void pyro_workers_stop(struct workers *workers)
{
    if (!workers->last)
        return;
    pthread_mutex_lock(&workers->mutex);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->changed);
    pthread_mutex_unlock(&workers->mutex);
    for (size_t i = 0; i < workers->count; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_mutex_destroy(&workers->mutex);
    pthread_cond_destroy(&workers->changed);
}
