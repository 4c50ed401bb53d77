/* Garbage collections: spans, and the heap before and after each. */
#include "base/numbers/saturate.h"
#include "decode/profiling/jfr/chunk.h"

enum { START, DURATION, GC = 4, NAME, CAUSE, WHEN = NAME, USED = 6, COMMITTED };

static struct pyro_jfr_heap *heap_of(struct pyro_jfr_chunk *chunk, int64_t gc)
{
    uint64_t *row = pyro_map_put(&chunk->heap_of, (uint64_t)gc, NULL);
    if (!row)
        return NULL;
    if (*row)
        return &chunk->heaps.items[*row - 1];
    struct pyro_jfr_heap *heap = pyro_vec_push(&chunk->heaps, chunk->reading->allocator);
    if (!heap)
        return NULL;
    *row = chunk->heaps.count;
    *heap = (struct pyro_jfr_heap){.before = PYRO_NONE, .after = PYRO_NONE};
    return heap;
}

static bool add(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values, enum pyro_span_kind kind,
                struct pyro_slice name)
{
    struct pyro_jfr_collection *collection = pyro_vec_push(&chunk->collections, chunk->reading->allocator);
    struct pyro_jfr_heap *heap = heap_of(chunk, values[GC].number);
    if (!collection || !heap)
        return false;
    heap->pauses += kind == PYRO_SPAN_GC_PAUSE;
    int64_t duration_ns = pyro_jfr_duration(chunk, &values[DURATION]);
    *collection = (struct pyro_jfr_collection){
        .gc = values[GC].number,
        .span = {.thread = chunk->process,
                 .parent = -1,
                 .kind = kind,
                 .name = name,
                 .start_ns = pyro_jfr_time(chunk, &values[START]),
                 .duration_ns = duration_ns == PYRO_NONE ? 0 : duration_ns,
                 .value = PYRO_NONE},
    };
    return !chunk->no_memory;
}

bool pyro_jfr_take_collection(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    struct pyro_slice name = pyro_jfr_text(chunk, &values[NAME]), cause = pyro_jfr_text(chunk, &values[CAUSE]);
    pyro_strbuf_clear(&chunk->scratch);
    pyro_strbuf_add_slice(&chunk->scratch, name);
    if (cause.len > 0)
        pyro_strbuf_printf(&chunk->scratch, " (%.*s)", (int)(cause.len < 256 ? cause.len : 256), cause.ptr);
    name = pyro_intern_slice(chunk->reading->texts, pyro_strbuf_slice(&chunk->scratch));
    chunk->no_memory |= !name.ptr || chunk->scratch.failed;
    return add(chunk, values, PYRO_SPAN_GC, name);
}

bool pyro_jfr_take_pause(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add(chunk, values, PYRO_SPAN_GC_PAUSE, pyro_jfr_text(chunk, &values[NAME]));
}

bool pyro_jfr_take_heap(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    int64_t time_ns = pyro_jfr_time(chunk, &values[START]);
    struct pyro_slice when = pyro_jfr_text(chunk, &values[WHEN]);
    struct pyro_jfr_heap *heap = heap_of(chunk, values[GC].number);
    if (!heap || chunk->no_memory)
        return false;
    if (pyro_slice_starts_with(when, "Before"))
        heap->before = values[USED].number;
    else if (pyro_slice_starts_with(when, "After"))
        heap->after = values[USED].number;
    return pyro_profile_point(chunk->reading, chunk->process, PYRO_PROFILE_HEAP_USED, PYRO_SLICE_NULL, time_ns,
                              (double)values[USED].number) &&
           (!values[COMMITTED].set || pyro_profile_point(chunk->reading, chunk->process, PYRO_PROFILE_HEAP_COMMITTED,
                                                         PYRO_SLICE_NULL, time_ns, (double)values[COMMITTED].number));
}

bool pyro_jfr_write_collections(struct pyro_jfr_chunk *chunk)
{
    for (size_t i = 0; i < chunk->collections.count; i++) {
        struct pyro_jfr_collection *collection = &chunk->collections.items[i];
        const struct pyro_jfr_heap *heap = heap_of(chunk, collection->gc);
        if (!heap)
            return false;
        /* Of a collection with several pauses, nothing says which one freed what. */
        bool sole = collection->span.kind == PYRO_SPAN_GC || heap->pauses == 1;
        if (sole && heap->before != PYRO_NONE && heap->after != PYRO_NONE)
            collection->span.value = pyro_sub_saturating(heap->before, heap->after);
        if (!pyro_profile_span(chunk->reading, &collection->span))
            return false;
    }
    chunk->collections.count = chunk->heaps.count = 0;
    return true;
}
