#include "decode/sparkview/retained_heap.h"

bool pyro_retained_ended_before(const struct pyro_history *history, const struct pyro_retained_entry *a,
                                const struct pyro_retained_entry *b)
{
    (void)history;
    return a->ended_ms != b->ended_ms ? a->ended_ms < b->ended_ms : a->id < b->id;
}

void pyro_retained_push(const struct pyro_history *history, pyro_retained_heap *heap, pyro_retained_before *before,
                        struct pyro_retained_entry entry)
{
    size_t at = heap->count - 1;
    for (; at > 0 && before(history, &entry, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = entry;
}

struct pyro_retained_entry pyro_retained_pop(const struct pyro_history *history, pyro_retained_heap *heap,
                                             pyro_retained_before *before)
{
    struct pyro_retained_entry first = heap->items[0], last = heap->items[--heap->count];
    size_t at = 0;
    for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && before(history, &heap->items[child + 1], &heap->items[child]))
            child++;
        if (!before(history, &heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    if (heap->count)
        heap->items[at] = last;
    return first;
}
