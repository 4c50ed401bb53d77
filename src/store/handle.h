/* A store that is open. */
#ifndef PYRO_STORE_HANDLE_H
#define PYRO_STORE_HANDLE_H

#include "base/secrets/secrets.h"
#include "store/store.h"

struct pyro_store {
    const struct pyro_allocator *allocator;
    const struct pyro_backend *backend;
    void *state;
    struct pyro_arena arena; /* what callers were handed */
    struct pyro_secrets secrets;
    const char *label; /* in the arena, for messages: the URL without what must not be shown */
};

#endif
