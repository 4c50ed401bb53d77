#include "base/threads/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static bool start(pthread_t *handle, const pthread_attr_t *attributes, void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* new threads inherit it */
    bool started = pthread_create(handle, attributes, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool pyro_thread_start(struct pyro_thread *thread, void *(*run)(void *context), void *context)
{
    thread->started = start(&thread->handle, NULL, run, context);
    return thread->started;
}

void pyro_thread_join(struct pyro_thread *thread)
{
    if (thread->started)
        pthread_join(thread->handle, NULL);
    thread->started = false;
}

bool pyro_thread_start_detached(void *(*run)(void *context), void *context, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t handle;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    bool started = start(&handle, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return started;
}

int64_t pyro_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pyro_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &clock);
    pthread_condattr_destroy(&clock);
}

bool pyro_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_ms)
{
    const struct timespec until = {.tv_sec = deadline_ms / 1000, .tv_nsec = deadline_ms % 1000 * 1000000};
    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}
