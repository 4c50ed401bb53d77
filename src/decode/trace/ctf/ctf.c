/* Events of all streams in the order of their times. */
#include "decode/trace/ctf/ctf.h"

#include "base/numbers/saturate.h"
#include "decode/trace/ctf/ctf_merge.h"

struct pyro_ctf *pyro_ctf_new(const struct pyro_ctf_calls *calls, const struct pyro_allocator *allocator)
{
    struct pyro_ctf *ctf = pyro_allocate(allocator, sizeof(*ctf));
    if (ctf)
        *ctf = (struct pyro_ctf){.calls = *calls, .allocator = allocator};
    return ctf;
}

/* Ends the streams after the first `count`. */
static void close_streams(struct pyro_ctf *ctf, size_t count)
{
    for (; ctf->streams.count > count; ctf->streams.count--) {
        struct pyro_ctf_stream *stream = ctf->streams.items[ctf->streams.count - 1];
        pyro_ctf_stream_close(stream, ctf->allocator);
        pyro_release(ctf->allocator, stream);
    }
}

void pyro_ctf_free(struct pyro_ctf *ctf)
{
    if (!ctf)
        return;
    const struct pyro_allocator *allocator = ctf->allocator;
    close_streams(ctf, 0);
    for (size_t i = 0; i < ctf->sources.count; i++)
        pyro_ctf_source_free(ctf->sources.items[i], allocator);
    pyro_vec_done(&ctf->sources, allocator);
    pyro_vec_done(&ctf->streams, allocator);
    pyro_vec_done(&ctf->heap, allocator);
    pyro_release(allocator, ctf);
}

/* ---- Traces
 * ---------------------------------------------------------------------------------------------------------- */

static struct pyro_ctf_source *new_source(struct pyro_ctf *ctf, const char *folder)
{
    struct pyro_ctf_source *source = pyro_allocate(ctf->allocator, sizeof(*source));
    if (!source)
        return NULL;
    *source = (struct pyro_ctf_source){.number = (int32_t)ctf->sources.count, .inside = ctf->inside};
    pyro_arena_init(&source->arena, ctf->allocator);
    pyro_strbuf_init(&source->problem, ctf->allocator);
    pyro_ctf_metadata_init(&source->metadata, &source->arena, ctf->allocator);
    source->facts.path = pyro_arena_copy(&source->arena, pyro_slice_from(folder));
    return source;
}

static enum pyro_status read_source(struct pyro_ctf *ctf, struct pyro_ctf_source *source, const char *folder,
                                    struct pyro_error *error)
{
    struct pyro_slice metadata = pyro_arena_printf(&source->arena, "%s/metadata", folder);
    if (!source->facts.path.ptr || !metadata.ptr)
        return pyro_no_memory(error);
    PYRO_TRY(pyro_ctf_prepare(source, metadata.ptr, &ctf->calls, ctf->allocator, error));
    return pyro_ctf_open_streams(ctf, source, folder, error);
}

enum pyro_status pyro_ctf_add(struct pyro_ctf *ctf, const char *folder, struct pyro_error *error)
{
    size_t streams = ctf->streams.count;
    if (ctf->started || ctf->sources.count == INT32_MAX)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "traces are added before their events are read");
    struct pyro_ctf_source *source = new_source(ctf, folder);
    if (!source || !pyro_vec_reserve(&ctf->sources, 1, ctf->allocator)) {
        pyro_ctf_source_free(source, ctf->allocator);
        return pyro_no_memory(error);
    }
    enum pyro_status status = read_source(ctf, source, folder, error);
    if (status == PYRO_OK) {
        ctf->sources.items[ctf->sources.count++] = source;
        return PYRO_OK;
    }
    close_streams(ctf, streams);
    pyro_ctf_source_free(source, ctf->allocator);
    return status;
}

void pyro_ctf_keep_inside(struct pyro_ctf *ctf, const char *folder)
{
    ctf->inside = pyro_slice_from(folder);
}

void pyro_ctf_shift(struct pyro_ctf *ctf, size_t trace, int64_t offset_ns)
{
    struct pyro_ctf_source *source = ctf->sources.items[trace];
    if (!ctf->started)
        source->shift_ns = pyro_add_saturating(source->shift_ns, offset_ns);
}

size_t pyro_ctf_trace_count(const struct pyro_ctf *ctf)
{
    return ctf->sources.count;
}

const struct pyro_ctf_trace *pyro_ctf_trace(const struct pyro_ctf *ctf, size_t trace)
{
    return &ctf->sources.items[trace]->facts;
}

size_t pyro_ctf_class_count(const struct pyro_ctf *ctf)
{
    size_t count = 0;
    for (size_t i = 0; i < ctf->sources.count; i++)
        count += ctf->sources.items[i]->class_count;
    return count;
}

struct pyro_ctf_class pyro_ctf_class(const struct pyro_ctf *ctf, size_t row)
{
    size_t source = 0;
    while (row >= ctf->sources.items[source]->class_count)
        row -= ctf->sources.items[source++]->class_count;
    const struct pyro_ctf_reading *class = &ctf->sources.items[source]->classes[row];
    return (struct pyro_ctf_class){(int32_t)source, class->name, class->count};
}

/* ---- Events
 * ---------------------------------------------------------------------------------------------------------- */

static inline bool is_before(struct ctf_head a, struct ctf_head b)
{
    return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.stream < b.stream);
}

/* Moves a head down to its place. */
static void sift(struct ctf_head *heap, size_t count, size_t at)
{
    struct ctf_head head = heap[at];
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(heap[child + 1], heap[child]))
            child++;
        if (is_before(head, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = head;
}

static enum pyro_status start(struct pyro_ctf *ctf, struct pyro_error *error)
{
    ctf->started = true;
    if (!pyro_vec_reserve(&ctf->heap, ctf->streams.count, ctf->allocator))
        return pyro_no_memory(error);
    for (size_t i = 0; i < ctf->streams.count; i++) {
        int got = pyro_ctf_stream_next(ctf->streams.items[i], ctf->allocator);
        if (got < 0)
            return pyro_no_memory(error);
        if (got > 0)
            ctf->heap.items[ctf->heap.count++] = (struct ctf_head){ctf->streams.items[i]->event.time_ns, i};
        else
            pyro_ctf_stream_close(ctf->streams.items[i], ctf->allocator);
    }
    for (size_t i = ctf->heap.count / 2; i > 0; i--)
        sift(ctf->heap.items, ctf->heap.count, i - 1);
    return PYRO_OK;
}

/* Takes the event that was given off its stream. */
static enum pyro_status advance(struct pyro_ctf *ctf, struct pyro_error *error)
{
    struct ctf_head *heap = ctf->heap.items;
    struct pyro_ctf_stream *stream = ctf->streams.items[heap[0].stream];
    int got = pyro_ctf_stream_next(stream, ctf->allocator);
    if (got < 0)
        return pyro_no_memory(error);
    if (got > 0) {
        heap[0].time_ns = stream->event.time_ns;
    } else {
        pyro_ctf_stream_close(stream, ctf->allocator);
        heap[0] = heap[--ctf->heap.count];
    }
    /* Often the same stream has the next event too: then this is two comparisons. */
    if (ctf->heap.count > 1)
        sift(heap, ctf->heap.count, 0);
    return PYRO_OK;
}

enum pyro_status pyro_ctf_next(struct pyro_ctf *ctf, const struct pyro_ctf_event **ret, struct pyro_error *error)
{
    if (!ctf->started)
        PYRO_TRY(start(ctf, error));
    else if (ctf->given)
        PYRO_TRY(advance(ctf, error));
    ctf->given = ctf->heap.count > 0;
    *ret = ctf->given ? &ctf->streams.items[ctf->heap.items[0].stream]->event : NULL;
    return PYRO_OK;
}
