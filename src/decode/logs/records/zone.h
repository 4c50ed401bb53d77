/* The zone of a text log whose times have none: lines that name a task, matched with the task's start in the event log.
 */
#ifndef PYRO_DECODE_LOGS_RECORDS_ZONE_H
#define PYRO_DECODE_LOGS_RECORDS_ZONE_H

#include "base/collections/map.h"
#include "base/options.h"
#include "source/source.h"

struct pyro_log_zone {
    int64_t offset_s; /* east of UTC, a multiple of 15 minutes */
    int64_t matches;  /* tasks that say so; 0: none, or their times have a zone */
};

/* Reads the beginning of the log. `launches`: id of each task -> milliseconds since 1970. A log that cannot
 * be read has no matches. Fails with PYRO_ERROR_MEMORY only. */
enum pyro_status pyro_log_zone_find(const struct pyro_log_part *part, const struct pyro_value_map *launches,
                                    const struct pyro_allocator *allocator, struct pyro_log_zone *ret,
                                    struct pyro_error *error);

#endif
