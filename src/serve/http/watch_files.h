/* A thread that looks at the files whose change a running server follows: tokens, certificate and key. */
#ifndef PYRO_SERVE_HTTP_WATCH_FILES_H
#define PYRO_SERVE_HTTP_WATCH_FILES_H

#include <stdbool.h>

#include "base/threads/thread.h"
#include "serve/access/tokens.h"
#include "serve/http/certificate.h"

struct watch {
    struct serve_tokens *tokens; /* NULL: none are needed */
    struct certificate *certificate;
    void (*warn)(void *context, const char *message); /* may be NULL */
    void *warn_context;
    struct pyro_thread thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    bool stopping, asked;
};

/* False: there is no thread for it. */
bool pyro_watch_start(struct watch *watch);
/* Reads everything now, changed or not. */
void pyro_watch_ask(struct watch *watch);
void pyro_watch_stop(struct watch *watch);

#endif
