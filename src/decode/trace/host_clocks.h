/* How far the clocks of traced hosts are from each other, by the TCP segments that they exchanged.
 *
 * A segment arrives after it was sent: each one bounds the difference of two clocks from one side, and those of the
 * other direction from the other. The line between both hulls that is farthest from all bounds is the difference and
 * its drift (Jabbarifar 2013, the synchronization of Trace Compass and LTTV). */
#ifndef PYRO_DECODE_TRACE_HOST_CLOCKS_H
#define PYRO_DECODE_TRACE_HOST_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collections/vec.h"

/* A segment as a host saw it. */
struct pyro_segment {
    uint64_t key; /* of its sequence and acknowledgement numbers */
    int64_t time_ns;
    int32_t host;
    bool sent;
};

struct pyro_host_clocks {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_segment) segments;
};

/* Segments that are kept; further ones do not make it better. */
enum { PYRO_SEGMENTS_MAX = 1 << 20 };

/* False: no memory. */
bool pyro_host_clocks_note(struct pyro_host_clocks *clocks, const struct pyro_segment *segment);
void pyro_host_clocks_done(struct pyro_host_clocks *clocks);

/* What is to be added to times of `host` so that they are those of `reference`. */
struct pyro_host_offset {
    int64_t offset_ns; /* in the middle of the segments */
    int64_t drift_ppb;
    int64_t error_ns; /* at most: half of what the bounds leave, and half of what the drift adds over the segments */
    int64_t matches;  /* segments that both saw; 0: the difference is not known */
};
struct pyro_host_offset pyro_host_clocks_fit(struct pyro_host_clocks *clocks, int32_t reference, int32_t host);

#endif
