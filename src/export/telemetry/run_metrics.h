/* The metrics of an application over its run, with the names of the Spark plugin (docs/plugin.md). */
#ifndef PYRO_EXPORT_TELEMETRY_RUN_METRICS_H
#define PYRO_EXPORT_TELEMETRY_RUN_METRICS_H

#include "base/memory/arena.h"
#include "model/app.h"

enum pyro_run_metric {
#define PYRO_RUN_METRIC(id, ...) PYRO_METRIC_##id,
#include "export/telemetry/run_metrics.def"
#undef PYRO_RUN_METRIC
    PYRO_METRIC_COUNT
};

struct pyro_run_metric_row {
    const char *name, *unit;
    bool counter;                    /* else it is a gauge */
    const char *label, *label_value; /* NULL: it has none */
    const char *doc;                 /* of the first row of a name */
};

extern const struct pyro_run_metric_row pyro_run_metric_rows[PYRO_METRIC_COUNT];

/* What they were at each time (epoch ms, ascending, at least one), in the arena: the values of metric m begin at
 * m x count. NaN: not known. NULL: no memory. */
const double *pyro_run_metrics(const struct pyro_app *app, const int64_t *times, size_t count,
                               struct pyro_arena *arena);

#endif
