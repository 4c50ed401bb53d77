/* What is at some places of a sorted order, without sorting all. */
#ifndef PYRO_SERVE_SPARK_SELECT_H
#define PYRO_SERVE_SPARK_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that one selection after the other uses. Zeroed at the beginning. */
struct spark_select_room {
    int64_t *kept;
    size_t capacity;
    uint32_t *counts;
    uint8_t *groups; /* all 0 between selections */
};

enum { SPARK_SELECT_RANKS = 128 };

/* picked[i] is what would be at ranks[i] if the values were sorted; ranks are below `count`, do not fall, and are at
 * most SPARK_SELECT_RANKS. Takes a time that grows with `count` only. Reorders the values. False: no memory. */
bool pyro_spark_select(struct spark_select_room *room, int64_t *values, size_t count, const size_t *ranks,
                       size_t rank_count, int64_t *picked);
void pyro_spark_select_done(struct spark_select_room *room);

#endif
