#include "serve/http/workers.h"
#include "base/threads/thread.h"

#include <sys/resource.h>
#include <unistd.h>

static void *serve(void *context)
{
    struct workers *workers = context;
    if (workers->niceness)
        setpriority(PRIO_PROCESS, (id_t)gettid(), workers->niceness); /* of this thread, on Linux */
    pthread_mutex_lock(&workers->mutex);
    for (;;) {
        struct serve_work *work = workers->first;
        if (work) {
            workers->first = work->next;
            workers->pending--;
            if (!work->next)
                workers->last = &workers->first;
            pthread_mutex_unlock(&workers->mutex);
            work->run(work);
            pthread_mutex_lock(&workers->mutex);
        } else if (workers->stopping) {
            break;
        } else {
            workers->idle++;
            pthread_cond_wait(&workers->changed, &workers->mutex);
            workers->idle--;
        }
    }
    pthread_mutex_unlock(&workers->mutex);
    return NULL;
}

/* Under the mutex. */
static bool add_worker(struct workers *workers)
{
    if (!pyro_thread_start(&workers->threads[workers->count], serve, workers))
        return false;
    workers->count++;
    return true;
}

bool pyro_workers_start(struct workers *workers, size_t first, size_t most, int niceness)
{
    *workers = (struct workers){
        .last = &workers->first, .most = most < MOST_WORKERS ? most : MOST_WORKERS, .niceness = niceness};
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_cond_init(&workers->changed, NULL);
    pthread_mutex_lock(&workers->mutex);
    while (workers->count < first && workers->count < workers->most && add_worker(workers))
        ;
    bool started = workers->count > 0;
    pthread_mutex_unlock(&workers->mutex);
    return started;
}

void pyro_workers_submit(struct workers *workers, struct serve_work *work)
{
    work->next = NULL;
    pthread_mutex_lock(&workers->mutex);
    *workers->last = work;
    workers->last = &work->next;
    workers->pending++;
    if (workers->pending > workers->idle && workers->count < workers->most && !workers->stopping)
        add_worker(workers);
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
        pyro_thread_join(&workers->threads[i]);
    pthread_mutex_destroy(&workers->mutex);
    pthread_cond_destroy(&workers->changed);
}
