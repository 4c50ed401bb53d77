/* Waits that messages name: "Retrying fetch (1/3) for 2 outstanding blocks after 5000 ms". */
#ifndef PYRO_DECODE_LOGS_WAIT_H
#define PYRO_DECODE_LOGS_WAIT_H

#include <stdint.h>

#include "base/strings/slice.h"
#include "pyrometer.h"

struct pyro_log_waits;

/* The allocator must outlive them. NULL: no memory. */
struct pyro_log_waits *pyro_log_waits_new(const struct pyro_allocator *allocator);
void pyro_log_waits_free(struct pyro_log_waits *waits); /* NULL is ignored */
/* How long the writer of a message says that it waits before it tries again, in nanoseconds; PYRO_NONE: it does not
 * say. At most an hour counts. What took time before ("failed after 3 retries in 5 s") is not a wait. */
int64_t pyro_log_wait_ns(struct pyro_log_waits *waits, struct pyro_slice message);

#endif
