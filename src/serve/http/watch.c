#include "serve/http/watch.h"

#include <time.h>

static void look(const struct watch *watch, bool now)
{
    struct pyro_error error = {0};
    if (watch->tokens && pyro_tokens_look(watch->tokens, now, &error) != PYRO_OK && watch->warn)
        watch->warn(watch->warn_context, error.message);
    if (pyro_certificate_look(watch->certificate, now, &error) != PYRO_OK && watch->warn)
        watch->warn(watch->warn_context, error.message);
}

static void *run(void *context)
{
    struct watch *watch = context;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->stopping) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec++;
        if (!watch->asked)
            pthread_cond_timedwait(&watch->changed, &watch->mutex, &next);
        bool now = watch->asked;
        watch->asked = false;
        if (watch->stopping)
            break;
        pthread_mutex_unlock(&watch->mutex);
        look(watch, now);
        pthread_mutex_lock(&watch->mutex);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

bool pyro_watch_start(struct watch *watch)
{
    pthread_condattr_t clock;
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &clock);
    pthread_condattr_destroy(&clock);
    watch->watching = pthread_create(&watch->thread, NULL, run, watch) == 0;
    if (!watch->watching) {
        pthread_mutex_destroy(&watch->mutex);
        pthread_cond_destroy(&watch->changed);
    }
    return watch->watching;
}

void pyro_watch_ask(struct watch *watch)
{
    if (!watch->watching)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->asked = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
}

void pyro_watch_stop(struct watch *watch)
{
    if (!watch->watching)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->stopping = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    pthread_mutex_destroy(&watch->mutex);
    pthread_cond_destroy(&watch->changed);
    watch->watching = false;
}
