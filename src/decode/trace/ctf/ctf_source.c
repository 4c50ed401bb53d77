/* Metadata, made ready to read: programs for packets and for each class of events. */
#include "decode/trace/ctf/ctf_reader.h"

enum { SMALL_IDS = 1 << 16 };

static void take_facts(struct pyro_ctf_source *source)
{
    const struct pyro_ctf_metadata *metadata = &source->metadata;
    struct pyro_ctf_trace *facts = &source->facts;
    facts->version = metadata->version;
    facts->host = metadata->host;
    facts->tracer = metadata->tracer;
    facts->domain = metadata->domain;
    facts->machine = metadata->machine;
    facts->tracer_major = metadata->tracer_major;
    facts->tracer_minor = metadata->tracer_minor;
}

/* ---- Clocks of streams
 * ------------------------------------------------------------------------------------------------ */

/* NULL: the metadata have none of this name; a null name is the first of all. */
static const struct pyro_ctf_clock_class *find_clock(const struct pyro_ctf_metadata *metadata, struct pyro_slice id)
{
    for (size_t i = 0; i < metadata->clocks.count; i++)
        if (!id.ptr || pyro_slice_eq(metadata->clocks.items[i].id, id))
            return &metadata->clocks.items[i];
    return NULL;
}

static void set_clock(struct pyro_ctf_source *source, struct pyro_ctf_stream_kind *kind, struct pyro_slice id)
{
    enum { YEARS = 1000000000 }; /* seconds from 1970 to 2001: no machine runs as long as that */
    const struct pyro_ctf_metadata *metadata = &source->metadata;
    bool needed = metadata->version != 2 || id.ptr;
    const struct pyro_ctf_clock_class *class = needed ? find_clock(metadata, id) : NULL;
    if (!class && needed)
        class = find_clock(metadata, PYRO_SLICE_NULL);
    kind->clock = (struct pyro_ctf_clock){0, 1000000000};
    kind->has_clock = needed;
    if (!class)
        return;
    kind->clock = pyro_ctf_clock_of(class);
    if (source->facts.clock.ptr)
        return;
    source->facts.clock = class->name;
    source->facts.clock_uuid = class->uuid;
    source->facts.offset_ns = kind->clock.base_ns;
    source->facts.absolute = class->absolute || kind->clock.base_ns / 1000000000 >= YEARS;
}

/* ---- Programs
 * ---------------------------------------------------------------------------------------------------------- */

static enum pyro_status lay_out_event(struct pyro_ctf_compiler *compiler, const struct pyro_ctf_stream_class *stream,
                                      const struct pyro_ctf_event_class *event)
{
    compiler->own = PYRO_CTF_SHARED;
    PYRO_TRY(pyro_ctf_lay_out(compiler, PYRO_CTF_COMMON_CONTEXT, stream->scopes[PYRO_CTF_COMMON_CONTEXT]));
    PYRO_TRY(pyro_ctf_lay_out(compiler, PYRO_CTF_EVENT_CONTEXT, event->context));
    return pyro_ctf_lay_out(compiler, PYRO_CTF_PAYLOAD, event->payload);
}

static bool remember_id(struct pyro_ctf_stream_kind *kind, uint64_t id, size_t row,
                        const struct pyro_allocator *allocator)
{
    if (id >= SMALL_IDS) {
        uint64_t *place = pyro_map_put(&kind->by_large_id, id, NULL);
        if (place)
            *place = row + 1;
        return place != NULL;
    }
    if (id >= kind->by_id.count) {
        size_t more = (size_t)id + 1 - kind->by_id.count;
        if (!pyro_vec_reserve(&kind->by_id, more, allocator))
            return false;
        memset(kind->by_id.items + kind->by_id.count, 0, more * sizeof(*kind->by_id.items));
        kind->by_id.count += more;
    }
    kind->by_id.items[id] = (uint32_t)(row + 1);
    return true;
}

struct preparing {
    struct pyro_ctf_source *source;
    struct pyro_ctf_compiler compiler;
    struct pyro_ctf_picks picks;
    const struct pyro_ctf_wanted *wanted; /* of each class */
    const struct pyro_allocator *allocator;
};

/* Lays out the events of a stream's class; compiles them too, or only finds what they need of packets and headers. */
static enum pyro_status do_events(struct preparing *preparing, struct pyro_ctf_stream_kind *kind,
                                  const struct pyro_ctf_stream_class *stream, bool compile)
{
    struct pyro_ctf_compiler *compiler = &preparing->compiler;
    const struct pyro_ctf_metadata *metadata = &preparing->source->metadata;
    for (size_t i = 0; i < metadata->events.count; i++) {
        const struct pyro_ctf_event_class *event = &metadata->events.items[i];
        struct pyro_ctf_reading *class = &preparing->source->classes[i];
        if (event->stream != stream->id)
            continue;
        PYRO_TRY(lay_out_event(compiler, stream, event));
        if (!pyro_ctf_pick(compiler, &preparing->wanted[i], &preparing->picks))
            return pyro_no_memory(compiler->error);
        if (!compile)
            continue;
        class->slots = (unsigned)preparing->picks.slots;
        PYRO_TRY(
            pyro_ctf_compile(compiler, PYRO_CTF_COMMON_CONTEXT, PYRO_CTF_PAYLOAD, &preparing->picks, &class->program));
        if (!remember_id(kind, event->id, i, preparing->allocator))
            return pyro_no_memory(compiler->error);
    }
    return PYRO_OK;
}

static unsigned counter_bits(const struct pyro_ctf_layout *layout)
{
    for (size_t i = 0; i < layout->nodes.count; i++)
        if (layout->nodes.items[i].role == PYRO_CTF_DISCARDED && layout->nodes.items[i].type->kind == PYRO_CTF_INTEGER)
            return (unsigned)layout->nodes.items[i].type->bits;
    return 64;
}

static enum pyro_status do_stream(struct preparing *preparing, struct pyro_ctf_stream_kind *kind,
                                  const struct pyro_ctf_stream_class *stream)
{
    struct pyro_ctf_compiler *compiler = &preparing->compiler;
    kind->id = stream->id;
    compiler->clock = stream->clock;
    for (enum pyro_ctf_scope scope = PYRO_CTF_PACKET_CONTEXT; scope <= PYRO_CTF_EVENT_HEADER; scope++)
        PYRO_TRY(pyro_ctf_lay_out(compiler, scope, stream->scopes[scope]));
    set_clock(preparing->source, kind, compiler->clock);
    kind->discarded_bits = counter_bits(&compiler->layouts[PYRO_CTF_PACKET_CONTEXT]);
    PYRO_TRY(do_events(preparing, kind, stream, false));
    PYRO_TRY(pyro_ctf_compile(compiler, PYRO_CTF_PACKET_CONTEXT, PYRO_CTF_PACKET_CONTEXT, NULL, &kind->context));
    PYRO_TRY(pyro_ctf_compile(compiler, PYRO_CTF_EVENT_HEADER, PYRO_CTF_EVENT_HEADER, NULL, &kind->header));
    return do_events(preparing, kind, stream, true);
}

static enum pyro_status do_trace(struct preparing *preparing)
{
    struct pyro_ctf_source *source = preparing->source;
    const struct pyro_ctf_metadata *metadata = &source->metadata;
    static const struct pyro_ctf_stream_class plain = {.id = 0};
    bool any = metadata->streams.count > 0;
    PYRO_TRY(pyro_ctf_lay_out(&preparing->compiler, PYRO_CTF_PACKET_HEADER, metadata->packet_header));
    for (size_t i = 0; i < source->kind_count; i++)
        PYRO_TRY(do_stream(preparing, &source->kinds[i], any ? &metadata->streams.items[i] : &plain));
    PYRO_TRY(pyro_ctf_compile(&preparing->compiler, PYRO_CTF_PACKET_HEADER, PYRO_CTF_PACKET_HEADER, NULL,
                              &source->packet_header));
    source->registers = preparing->compiler.most;
    return PYRO_OK;
}

/* ---- Sources
 * ---------------------------------------------------------------------------------------------------------- */

static enum pyro_status make_rows(struct pyro_ctf_source *source, const struct pyro_ctf_calls *calls,
                                  struct pyro_ctf_wanted **ret_wanted, struct pyro_error *error)
{
    const struct pyro_ctf_metadata *metadata = &source->metadata;
    if (metadata->streams.count > PYRO_CTF_STREAM_CLASSES_MAX)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the metadata have more than 256 classes of streams");
    source->kind_count = metadata->streams.count > 0 ? metadata->streams.count : 1;
    source->class_count = metadata->events.count;
    source->kinds = pyro_arena_array(&source->arena, source->kind_count, sizeof(*source->kinds));
    source->classes = pyro_arena_array(&source->arena, source->class_count + 1, sizeof(*source->classes));
    *ret_wanted = pyro_arena_array(&source->arena, source->class_count + 1, sizeof(**ret_wanted));
    if (!source->kinds || !source->classes || !*ret_wanted) {
        source->kind_count = 0;
        return pyro_no_memory(error);
    }
    for (size_t i = 0; i < source->kind_count; i++)
        pyro_map_init(&source->kinds[i].by_large_id, metadata->allocator);
    for (size_t i = 0; i < source->class_count; i++) {
        source->classes[i].name = metadata->events.items[i].name;
        (*ret_wanted)[i] = calls->want(calls->context, &source->facts, source->classes[i].name);
        source->classes[i].kind = (*ret_wanted)[i].kind;
    }
    return PYRO_OK;
}

enum pyro_status pyro_ctf_prepare(struct pyro_ctf_source *source, const char *metadata,
                                  const struct pyro_ctf_calls *calls, const struct pyro_allocator *allocator,
                                  struct pyro_error *error)
{
    struct preparing preparing = {.source = source, .allocator = allocator, .picks.allocator = allocator};
    struct pyro_ctf_wanted *wanted = NULL;
    pyro_ctf_metadata_init(&source->metadata, &source->arena, allocator);
    source->store.allocator = allocator;
    PYRO_TRY(pyro_ctf_read_metadata(metadata, &source->metadata, error));
    take_facts(source);
    PYRO_TRY(make_rows(source, calls, &wanted, error));
    preparing.wanted = wanted;
    pyro_ctf_compiler_init(&preparing.compiler, &source->metadata, &source->store, error);
    enum pyro_status status = do_trace(&preparing);
    pyro_ctf_compiler_done(&preparing.compiler);
    pyro_vec_done(&preparing.picks.picks, allocator);
    if (status != PYRO_OK)
        pyro_error_at(error, metadata, UINT64_MAX);
    return status;
}

void pyro_ctf_source_free(struct pyro_ctf_source *source, const struct pyro_allocator *allocator)
{
    if (!source)
        return;
    for (size_t i = 0; i < source->kind_count; i++) {
        pyro_vec_done(&source->kinds[i].by_id, allocator);
        pyro_map_done(&source->kinds[i].by_large_id);
    }
    pyro_vec_done(&source->store.operations, allocator);
    pyro_vec_done(&source->store.cases, allocator);
    pyro_ctf_metadata_done(&source->metadata);
    pyro_strbuf_done(&source->problem);
    pyro_arena_done(&source->arena);
    pyro_release(allocator, source);
}
