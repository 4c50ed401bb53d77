/* Which RDDs each stage computed, made for the cache, or found in the cache. */
#ifndef PYRO_ANALYZE_PLANS_LINEAGE_H
#define PYRO_ANALYZE_PLANS_LINEAGE_H

#include "base/memory/arena.h"
#include "model/app.h"

enum pyro_rdd_use_kind {
    PYRO_RDD_COMPUTED, /* not persisted */
    PYRO_RDD_BUILT,    /* persisted, and no earlier stage had made it */
    PYRO_RDD_READ      /* persisted, and made by an earlier stage: what lies before it was not computed */
};

struct pyro_rdd_use {
    size_t stage, rdd; /* rows */
    enum pyro_rdd_use_kind kind;
};

struct pyro_lineage {
    struct pyro_rdd_use *uses; /* grouped by stage row, ascending; first attempts only */
    size_t count;
    size_t *first; /* of each stage row; stages.count + 1 entries */
};

/* In `arena`; false when there is no memory. */
bool pyro_lineage_load(const struct pyro_app *app, struct pyro_arena *arena, struct pyro_lineage *ret);

/* For qsort(): by RDD, then by stage. */
int pyro_rdd_use_order(const void *left, const void *right);

/* It says no more than where data comes from: a file, a collection, a range. */
bool pyro_rdd_is_source(const struct pyro_rdd *rdd);

#endif
