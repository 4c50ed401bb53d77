/* Whether some work is still wanted: asked now and then by loops that may take long. */
#ifndef PYRO_BASE_THREADS_STOP_H
#define PYRO_BASE_THREADS_STOP_H

#include <stdbool.h>
#include <stddef.h>

#include "pyrometer.h"

struct pyro_stop {
    bool (*asked)(void *context);
    void *context;
};

/* NULL: nothing stops it. */
static inline bool pyro_stop_is_asked(const struct pyro_stop *stop)
{
    return stop && stop->asked(stop->context);
}

/* The same by the progress callback of resolved options, which must outlive it. */
static inline bool pyro_stop_by_progress(void *context)
{
    const struct pyro_options *options = context;
    const struct pyro_progress progress = {.size = sizeof(progress), .path = ""};
    return options->progress && options->progress(options->progress_context, &progress) != 0;
}

#endif
