/* Counters of the running server, for /metrics. Counted by any thread, read at any time. */
#ifndef PYRO_SERVE_SERVER_METRICS_H
#define PYRO_SERVE_SERVER_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { METRICS_SERVICES = 16, METRICS_STATUSES = 20, METRICS_BUCKETS = 12 };

struct serve_metrics {
    struct {
        atomic_uint_fast64_t statuses[METRICS_STATUSES];
        atomic_uint_fast64_t buckets[METRICS_BUCKETS + 1]; /* not cumulative; the last has no upper bound */
        atomic_uint_fast64_t microseconds;
    } services[METRICS_SERVICES]; /* by row of services.def; one more for what no service answers */
    atomic_uint_fast64_t uploads, upload_bytes, uploads_refused, upload_cpu_us, uploads_too_costly;
    int64_t started_ms; /* epoch */
};

/* An answer by the service of that row, made in `microseconds`. */
void pyro_serve_metrics_count(struct serve_metrics *metrics, size_t service, unsigned status, uint64_t microseconds);

#endif
