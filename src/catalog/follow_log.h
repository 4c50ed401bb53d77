/* Logs that are being written: what was read once is not read again. */
#ifndef PYRO_CATALOG_FOLLOW_LOG_H
#define PYRO_CATALOG_FOLLOW_LOG_H

#include "catalog/catalog.h"

struct pyro_catalog_log;

/* How far a log was read. Zeroed: not at all. */
struct pyro_catalog_position {
    const struct pyro_catalog_log *log; /* as it was then; retained */
    size_t part;
    uint64_t offset;
};
typedef enum pyro_status pyro_catalog_feed(void *context, const void *bytes, size_t len, struct pyro_error *error);

/* Whether the log is one that can be read on: plain files that are being written. */
bool pyro_catalog_can_follow(const struct pyro_catalog_log *log);
/* Whether `log` is what was read before, and perhaps more. */
bool pyro_catalog_position_fits(const struct pyro_catalog_position *position, const struct pyro_catalog_log *log);
/* Feeds what follows the position, which moves there. PYRO_ERROR_ARGUMENT: it is not a plain file. After a failure the
 * position and what was fed must be done away with. */
enum pyro_status pyro_catalog_read_on(struct pyro_catalog_position *position, const struct pyro_catalog_log *log,
                                      pyro_catalog_feed *feed, void *context, struct pyro_error *error);
void pyro_catalog_position_done(struct pyro_catalog_position *position);

#endif
