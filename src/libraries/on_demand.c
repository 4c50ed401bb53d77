#include "libraries/on_demand.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static enum pyro_status find_functions(struct pyro_on_demand *library, void *handle, struct pyro_error *error)
{
    for (size_t i = 0; i < library->count; i++) {
        void *function = dlsym(handle, library->names[i]);
        if (!function)
            return pyro_error_set(error, PYRO_ERROR_INPUT,
                                  "%s, which is needed for %s, has no %s(); install a newer one", library->file,
                                  library->purpose, library->names[i]);
        memcpy((char *)library->functions + i * sizeof(function), &function, sizeof(function));
    }
    return PYRO_OK;
}

static enum pyro_status load(struct pyro_on_demand *library, struct pyro_error *error)
{
    /* Never closed: threads of these libraries and what they registered for the end of the process may still run. */
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return pyro_error_set(error, PYRO_ERROR_INPUT, "cannot load %s, which is needed for %s: %s; install it",
                              library->file, library->purpose, why ? why : "unknown reason");
    }
    return find_functions(library, handle, error);
}

enum pyro_status pyro_on_demand_load(struct pyro_on_demand *library, struct pyro_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load_explicit(&library->loaded, memory_order_acquire))
        return PYRO_OK;
    pthread_mutex_lock(&lock);
    enum pyro_status status = PYRO_OK;
    if (!atomic_load_explicit(&library->loaded, memory_order_relaxed))
        status = load(library, error);
    if (status == PYRO_OK)
        atomic_store_explicit(&library->loaded, true, memory_order_release);
    pthread_mutex_unlock(&lock);
    return status;
}
