/* What a store may forget, and what takes its space. */
#ifndef PYRO_STORE_RETENTION_H
#define PYRO_STORE_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collections/vec.h"
#include "model/column.h"

/* A run that is older than a limit loses first its texts (report and document of the History Server), then everything
 * else; of the latter one row for each day and application stays. Runs that bear a name as a baseline stay whole. */
struct pyro_prune {
    int64_t texts_before_ms, details_before_ms; /* by the run's start; PYRO_NONE: none */
    int64_t most_bytes;                         /* that the store may take: the oldest go first; PYRO_NONE: any */
    bool dry_run;                               /* nothing is changed */
};
struct pyro_pruned {
    int64_t texts_before_ms, details_before_ms; /* as asked for, or later where the store was too large */
    int64_t texts, details;                     /* runs that lost them */
    int64_t errors, cluster;                    /* rows of these lists that went with the details */
    int64_t bytes_before, bytes_after;          /* that the store uses; after a dry run an estimate */
};

/* Runs by their age, the oldest first, without those that stay whole. */
struct pyro_age {
    int64_t time_ms, text_bytes;
};
struct pyro_ages {
    PYRO_VEC(struct pyro_age) runs;
    int64_t text_bytes; /* of all */
};
/* Moves the limits to where a store that uses so many bytes fits, as far as that can be said beforehand. Gives how many
 * bytes go. */
int64_t pyro_prune_plan(const struct pyro_ages *ages, int64_t used, struct pyro_prune *prune);

struct pyro_store_table {
    const char *name; /* of the view that shows it, or of the index */
    int64_t rows, bytes;
};
struct pyro_store_stat {
    int64_t bytes, free_bytes; /* of the store; within these, of what was deleted */
    int64_t runs, first_ms, last_ms;
    const struct pyro_store_table *tables;
    size_t table_count;
};

#endif
