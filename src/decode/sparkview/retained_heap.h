/* What may be forgotten, in the order in which it goes. */
#ifndef PYRO_DECODE_SPARKVIEW_RETAINED_HEAP_H
#define PYRO_DECODE_SPARKVIEW_RETAINED_HEAP_H

#include "model/history/history.h"

/* Something that may be forgotten. */
struct pyro_retained_entry {
    int64_t ended_ms, id; /* the order: first `ended_ms`, then `id`; of executors that of the ids' texts */
    uint32_t row;         /* a number in the case of tasks */
};
/* A heap: what goes first is at its top. */
typedef PYRO_VEC(struct pyro_retained_entry) pyro_retained_heap;

/* Whether `a` goes before `b`; the same function for every call with one heap. */
typedef bool pyro_retained_before(const struct pyro_history *history, const struct pyro_retained_entry *a,
                                  const struct pyro_retained_entry *b);
/* By the time of the end, then by id. */
pyro_retained_before pyro_retained_ended_before;

/* Puts `entry` where it belongs, into the heap's last place, which counts already. */
void pyro_retained_push(const struct pyro_history *history, pyro_retained_heap *heap, pyro_retained_before *before,
                        struct pyro_retained_entry entry);
/* Of a heap that is not empty. */
struct pyro_retained_entry pyro_retained_pop(const struct pyro_history *history, pyro_retained_heap *heap,
                                             pyro_retained_before *before);

#endif
