/* Repeated runs of one application: the durations without the influence of input, and what differs between groups. */
#ifndef PYRO_FLEET_VIEWS_TREND_H
#define PYRO_FLEET_VIEWS_TREND_H

#include "fleet/statistics/statistics.h"
#include "fleet/views/views.h"

/* y' = ln(duration) - slope x (x - median x), with x = ln(input + 1 MiB), in the order of the runs. The slope is that
 * of runs with as many cores; `off` is y' less the median of these, where there are three, else less that of all.
 * `cores` NaN, or none at all: unknown. */
struct pyro_trend {
    double *adjusted; /* y' */
    double *off;
    double slope; /* 0: input does not matter, or there are too few runs */
};
bool pyro_trend_of(const double *input_bytes, const double *duration_ms, const double *cores, size_t count,
                   struct pyro_arena *arena, struct pyro_trend *ret);

/* One setting that most runs of one group have, and most of the other do not. */
struct pyro_trend_change {
    const char *key;
    struct pyro_slice before, after; /* the most frequent value of each group; null: not set */
    size_t before_count, after_count;
};
enum { PYRO_TREND_CHANGES = 24 };
/* Compares versions and settings of two groups of runs, whose further conditions `add` adds (may be NULL). */
enum pyro_status pyro_trend_changes(struct pyro_fleet_view *view,
                                    void (*add)(struct pyro_fleet_view *view, const void *context), const void *before,
                                    const void *after, struct pyro_trend_change *ret, size_t *ret_count,
                                    struct pyro_error *error);
/* "version 12 -> 13, spark.executor.cores 2 -> 4"; "" for none. In the view's arena. */
struct pyro_slice pyro_trend_words(struct pyro_fleet_view *view, const struct pyro_trend_change *changes, size_t count);

#endif
