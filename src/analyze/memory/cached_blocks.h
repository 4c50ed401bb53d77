/* Tasks that looked for blocks in the cache: which of them found their block, and what it takes them without. */
#ifndef PYRO_ANALYZE_MEMORY_CACHED_BLOCKS_H
#define PYRO_ANALYZE_MEMORY_CACHED_BLOCKS_H

#include "base/memory/arena.h"
#include "model/app.h"

/* How much the bytes of two reads of the same file may differ, as a share of them. */
#define PYRO_SAME_BYTES 0.02

struct pyro_block_task {
    size_t task, stage; /* rows */
    bool found;
    double found_ms;  /* what it takes when it finds its block: its own time, or the median of those that did */
    double missed_ms; /* what it takes when it does not: its own time, or that of the task which made the block */
};

/* What looked for the blocks of one persisted RDD after they had been made, in the order of stages. */
struct pyro_cached_rdd {
    size_t rdd; /* row */
    struct pyro_block_task *tasks;
    size_t count, missed;
};

struct pyro_cached_blocks {
    struct pyro_cached_rdd *rdds;
    size_t count;
};

/* In `arena`. `same_bytes`: PYRO_SAME_BYTES. Left out are stages that look for two persisted RDDs, whose bytes cannot
 * be divided between them, and those after an executor had ended, which took its blocks along. False: no memory. */
bool pyro_cached_blocks_find(const struct pyro_app *app, double same_bytes, struct pyro_arena *arena,
                             struct pyro_cached_blocks *ret);

#endif
