/* Batches of one log whose bytes come in pieces of any length. */
#ifndef PYRO_LOAD_FEED_H
#define PYRO_LOAD_FEED_H

#include "load/chunk.h"
#include "load/load.h"

struct pyro_feed {
    struct pyro_load_sink sink; /* where batches and long records go; nothing else of it is used */
    struct pyro_chunk chunk;    /* its buffer holds what no newline has ended yet */
    uint64_t max_record;
    bool begun;         /* the first line was decoded */
    uint64_t discarded; /* bytes of a record beyond the limit that is being skipped; 0: none */
};

void pyro_feed_init(struct pyro_feed *feed, const struct pyro_allocator *allocator, const struct pyro_load_sink *sink,
                    uint64_t max_record);
void pyro_feed_done(struct pyro_feed *feed);
/* Both are false when there is no memory. */
bool pyro_feed_add(struct pyro_feed *feed, const char *bytes, size_t len);
/* The log has ended, perhaps in the middle of a line. */
bool pyro_feed_end(struct pyro_feed *feed);

#endif
