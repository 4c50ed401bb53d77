#include "base/threads/in_order.h"

#include <string.h>

#include "base/memory/allocator.h"
#include "base/threads/thread.h"

enum { MOST_THREADS = 64, TICK_MS = 100 };

struct running {
    const struct pyro_in_order *work;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t next, taken; /* pieces begun, pieces taken; under `mutex` */
    bool *done;         /* of pieces, modulo work->most; under `mutex` */
    atomic_bool stop;
};

static bool is_stopped(void *context)
{
    return atomic_load_explicit(&((struct running *)context)->stop, memory_order_relaxed);
}

static void *do_pieces(void *context)
{
    struct running *running = context;
    const struct pyro_in_order *work = running->work;
    const struct pyro_stop stop = {is_stopped, running};
    pthread_mutex_lock(&running->mutex);
    for (;;) {
        while (!is_stopped(running) && running->next < work->count && running->next - running->taken >= work->most)
            pthread_cond_wait(&running->changed, &running->mutex);
        if (is_stopped(running) || running->next >= work->count)
            break;
        size_t index = running->next++;
        pthread_mutex_unlock(&running->mutex);
        work->work(work->context, index, &stop);
        pthread_mutex_lock(&running->mutex);
        running->done[index % work->most] = true;
        pthread_cond_broadcast(&running->changed);
    }
    pthread_mutex_unlock(&running->mutex);
    return NULL;
}

static enum pyro_status wait_for(struct running *running, size_t index, struct pyro_error *error)
{
    const struct pyro_in_order *work = running->work;
    enum pyro_status status = PYRO_OK;
    pthread_mutex_lock(&running->mutex);
    while (status == PYRO_OK && !running->done[index % work->most]) {
        bool late = !pyro_condition_wait(&running->changed, &running->mutex, pyro_clock_ms() + TICK_MS);
        if (!late || !work->wait)
            continue;
        pthread_mutex_unlock(&running->mutex);
        status = work->wait(work->context, index, error);
        pthread_mutex_lock(&running->mutex);
    }
    running->done[index % work->most] = false;
    pthread_mutex_unlock(&running->mutex);
    return status;
}

static enum pyro_status take_all(struct running *running, struct pyro_error *error)
{
    const struct pyro_in_order *work = running->work;
    for (size_t i = 0; i < work->count; i++) {
        PYRO_TRY(wait_for(running, i, error));
        PYRO_TRY(work->take(work->context, i, error));
        pthread_mutex_lock(&running->mutex);
        running->taken++;
        pthread_cond_broadcast(&running->changed);
        pthread_mutex_unlock(&running->mutex);
    }
    return PYRO_OK;
}

static enum pyro_status run_alone(const struct pyro_in_order *work, struct pyro_error *error)
{
    for (size_t i = 0; i < work->count; i++) {
        work->work(work->context, i, NULL);
        PYRO_TRY(work->take(work->context, i, error));
    }
    return PYRO_OK;
}

enum pyro_status pyro_in_order_run(const struct pyro_in_order *work, struct pyro_error *error)
{
    struct pyro_thread threads[MOST_THREADS] = {{0}};
    unsigned wanted = work->threads < MOST_THREADS ? work->threads : MOST_THREADS, started = 0;
    if (wanted > work->count)
        wanted = (unsigned)work->count;
    bool *done = pyro_allocate(NULL, work->most * sizeof(*done));
    if (!done)
        return pyro_no_memory(error);
    memset(done, 0, work->most * sizeof(*done));
    struct running running = {.work = work, .done = done};
    pthread_mutex_init(&running.mutex, NULL);
    pyro_condition_init(&running.changed);
    while (work->threads > 1 && work->count > 1 && started < wanted &&
           pyro_thread_start(&threads[started], do_pieces, &running))
        started++;
    enum pyro_status status = started ? take_all(&running, error) : run_alone(work, error);
    atomic_store_explicit(&running.stop, true, memory_order_relaxed);
    pthread_mutex_lock(&running.mutex);
    pthread_cond_broadcast(&running.changed);
    pthread_mutex_unlock(&running.mutex);
    for (unsigned i = 0; i < started; i++)
        pyro_thread_join(&threads[i]);
    pthread_cond_destroy(&running.changed);
    pthread_mutex_destroy(&running.mutex);
    pyro_release(NULL, done);
    return status;
}
