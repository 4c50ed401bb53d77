#include "serve/http/watch_files.h"
#include "base/threads/thread.h"

#include <time.h>

static void look(const struct watch *watch, bool now)
{
    struct pyro_error error = {.size = sizeof(error)};
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
        if (!watch->asked)
            pyro_condition_wait(&watch->changed, &watch->mutex, pyro_clock_ms() + 1000);
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
    pthread_mutex_init(&watch->mutex, NULL);
    pyro_condition_init(&watch->changed);
    if (!pyro_thread_start(&watch->thread, run, watch)) {
        pthread_mutex_destroy(&watch->mutex);
        pthread_cond_destroy(&watch->changed);
    }
    return watch->thread.started;
}

void pyro_watch_ask(struct watch *watch)
{
    if (!watch->thread.started)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->asked = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
}

void pyro_watch_stop(struct watch *watch)
{
    if (!watch->thread.started)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->stopping = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    pyro_thread_join(&watch->thread);
    pthread_mutex_destroy(&watch->mutex);
    pthread_cond_destroy(&watch->changed);
}
