/* A bounded memory of what is expensive to compute: values by keys, both of any bytes. What was not asked for longest
 * goes first. May be used from any thread. */
#ifndef PYRO_BASE_COLLECTIONS_MEMO_H
#define PYRO_BASE_COLLECTIONS_MEMO_H

#include <stdbool.h>

#include "base/strings/slice.h"

struct pyro_memo;

/* Keeps at most `most_bytes`. NULL: no memory. */
struct pyro_memo *pyro_memo_new(size_t most_bytes);
void pyro_memo_free(struct pyro_memo *memo);
/* Copies the value to `value`; false: there is none of that key and that size. A NULL memo has none. */
bool pyro_memo_get(struct pyro_memo *memo, struct pyro_slice key, void *value, size_t size);
/* Keeps a copy if there is room and memory. */
void pyro_memo_put(struct pyro_memo *memo, struct pyro_slice key, struct pyro_slice value);

#endif
