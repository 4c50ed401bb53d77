/* What all services have in common in addition to the catalog: set when the server starts, the same until it stops. */
#ifndef PYRO_SERVE_SHARED_H
#define PYRO_SERVE_SHARED_H

#include "pyrometer.h"
#include "serve/limiter.h"
#include "serve/server_metrics.h"

struct serve_upload_cpu;

struct serve_shared {
    const char *store;         /* URL of the store; NULL: none */
    const pyro_prices *prices; /* NULL: the library's sheets, for those who ask for costs; none in reports */
    struct serve_limiter *limiter;
    uint64_t max_upload_bytes;           /* of one upload */
    int64_t stale_ms;                    /* a log without an end that has not grown for this time is truncated */
    atomic_uint_fast64_t verdicts;       /* that were kept since the start: diagnoses change with them */
    struct serve_upload_cpu *upload_cpu; /* NULL: not counted */
    struct serve_metrics metrics;        /* counted by all threads */
};

#endif
