/* What Spark's metrics sinks write and its web UI shows, as series of the process that measured. */
#ifndef PYRO_DECODE_METRICS_METRICS_H
#define PYRO_DECODE_METRICS_METRICS_H

#include "base/strings/strbuf.h"
#include "decode/artefact_kinds.h"

/* One file, while it is read. */
struct pyro_metrics {
    struct pyro_artefact_reading *reading;
    const struct pyro_artefact_source *source;
    const char *kind; /* of artefacts.def */
    int32_t artefact, clock;
    uint64_t bytes, points, rejected; /* rejected: lines and values that are damaged */
    int64_t first_ns, last_ns;
    struct pyro_strbuf labels;
};

/* A metric as a sink names it: "app-20240301101500-0000.3.executor.filesystem.hdfs.read_bytes". Slices of that name. */
struct pyro_metric_name {
    struct pyro_slice executor; /* "driver" or the executor's id; null: of another process */
    struct pyro_slice metric;
};

/* `path`: of the artefact, one for all files of a folder that have the same. False: no memory. */
bool pyro_metrics_begin(struct pyro_metrics *metrics, struct pyro_artefact_reading *reading,
                        const struct pyro_artefact_source *source, const char *kind, struct pyro_slice path);
/* Adds what was counted to the artefact's row, and releases the state in any case. `damage`: of the reader, or NULL. */
bool pyro_metrics_end(struct pyro_metrics *metrics, const char *damage);

/* Splits a name at `separator`, '.' or, where every other character became one, '_'. */
struct pyro_metric_name pyro_metric_name_read(struct pyro_slice name, struct pyro_slice application, char separator);
/* The process of an executor; null: one that belongs to none. -1: no memory. */
int32_t pyro_metrics_process(struct pyro_metrics *metrics, struct pyro_slice executor);
/* -1: no memory. `stat`: what a histogram or timer says, such as "p95"; null for one number. */
int32_t pyro_metrics_series(struct pyro_metrics *metrics, int32_t process, struct pyro_slice name,
                            struct pyro_slice stat, struct pyro_slice unit, enum pyro_series_type type);
/* `time_ns`: PYRO_NONE if nothing says it. False: no memory. */
bool pyro_metrics_point(struct pyro_metrics *metrics, int32_t series, int64_t time_ns, double value);
/* A finite number, and nothing else. PYRO_SCAN_PADDING readable bytes follow the text. */
bool pyro_metrics_number(struct pyro_slice text, double *ret);

#endif
