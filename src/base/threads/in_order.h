/* Pieces of work done side by side, whose results the calling thread takes in the order of the pieces. */
#ifndef PYRO_BASE_IN_ORDER_H
#define PYRO_BASE_IN_ORDER_H

#include <stdatomic.h>

#include "base/error.h"
#include "base/threads/stop.h"

struct pyro_in_order {
    size_t count;
    unsigned threads; /* the most, at least 1: then all is done on the calling thread */
    unsigned most;    /* pieces that are being done, or done and not taken yet; at least 1 */
    void *context;
    /* Does piece `index`, on any thread. `stop` is asked by what takes long. */
    void (*work)(void *context, size_t index, const struct pyro_stop *stop);
    /* Takes the result of piece `index`, on the calling thread. Not PYRO_OK: no more is done or taken. */
    enum pyro_status (*take)(void *context, size_t index, struct pyro_error *error);
    /* The calling thread waits for piece `index`, and asks whether to go on; every 100 ms. May be NULL. */
    enum pyro_status (*wait)(void *context, size_t index, struct pyro_error *error);
};

/* Pieces behind one whose result was not PYRO_OK may be done and not taken: their results are the caller's to free. */
enum pyro_status pyro_in_order_run(const struct pyro_in_order *work, struct pyro_error *error);

#endif
