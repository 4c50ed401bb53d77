/* The blocks of TSDL: trace, env, clock, stream, event; types between them; others are passed over. */
#include "decode/trace/ctf/tsdl.h"

/* Takes an attribute of a block. False: it cannot be used. */
typedef bool take_attribute(struct tsdl *tsdl, void *block, const struct tsdl_attribute *attribute);

static bool take_unsigned(struct tsdl *tsdl, const struct tsdl_attribute *attribute, uint64_t *ret)
{
    if (!attribute->is_number)
        return pyro_tsdl_fail(tsdl, attribute->line, "a number was expected");
    *ret = (uint64_t)attribute->number;
    return true;
}

/* `name := type;`; types of other names are read too. */
static const struct pyro_ctf_type *take_type(struct tsdl *tsdl)
{
    const struct pyro_ctf_type *type = pyro_tsdl_type(tsdl, NULL);
    return type && pyro_tsdl_expect(tsdl, ';') ? type : NULL;
}

/* ---- trace ------------------------------------------------------------------------------------------------------- */

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    char lower = (char)(byte | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool read_uuid(struct pyro_slice text, unsigned char uuid[16])
{
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.ptr[i]);
        if (text.ptr[i] == '-')
            continue;
        if (digit < 0 || digits == 32)
            return false;
        uuid[digits / 2] = (unsigned char)(digits % 2 ? uuid[digits / 2] | digit : digit << 4);
        digits++;
    }
    return digits == 32;
}

static bool take_trace(struct tsdl *tsdl, void *block, const struct tsdl_attribute *attribute)
{
    struct pyro_ctf_metadata *metadata = block;
    uint64_t major = 1;
    if (attribute->is_type) {
        const struct pyro_ctf_type *type = take_type(tsdl);
        if (pyro_slice_is(attribute->name, "packet.header"))
            metadata->packet_header = type;
        return type != NULL;
    }
    if (pyro_slice_is(attribute->name, "major") && take_unsigned(tsdl, attribute, &major) && major != 1)
        return pyro_tsdl_fail(tsdl, attribute->line, "this version of the format is not known");
    if (pyro_slice_is(attribute->name, "byte_order"))
        metadata->big_endian = pyro_slice_is(attribute->text, "be") || pyro_slice_is(attribute->text, "network");
    else if (pyro_slice_is(attribute->name, "uuid"))
        metadata->has_uuid = read_uuid(attribute->text, metadata->uuid);
    return true;
}

static bool take_env(struct tsdl *tsdl, void *block, const struct tsdl_attribute *attribute)
{
    if (attribute->is_type)
        return take_type(tsdl) != NULL;
    pyro_ctf_take_environment(block, attribute->name, attribute->is_number ? PYRO_SLICE_NULL : attribute->text,
                              attribute->is_number ? attribute->number : -1);
    return true;
}

/* ---- clock, stream, event ---------------------------------------------------------------------------------------- */

static bool take_clock(struct tsdl *tsdl, void *block, const struct tsdl_attribute *attribute)
{
    struct pyro_ctf_clock_class *clock = block;
    if (attribute->is_type)
        return take_type(tsdl) != NULL;
    if (pyro_slice_is(attribute->name, "name"))
        clock->id = clock->name = attribute->text;
    else if (pyro_slice_is(attribute->name, "uuid"))
        clock->uuid = attribute->text;
    else if (pyro_slice_is(attribute->name, "freq"))
        return take_unsigned(tsdl, attribute, &clock->frequency);
    else if (pyro_slice_is(attribute->name, "offset_s"))
        clock->offset_s = attribute->number;
    else if (pyro_slice_is(attribute->name, "offset"))
        clock->offset = attribute->number;
    else if (pyro_slice_is(attribute->name, "absolute"))
        clock->absolute = attribute->is_number
                              ? attribute->number != 0
                              : pyro_slice_is(attribute->text, "true") || pyro_slice_is(attribute->text, "TRUE");
    return true;
}

static bool take_stream(struct tsdl *tsdl, void *block, const struct tsdl_attribute *attribute)
{
    static const struct {
        const char *name;
        enum pyro_ctf_scope scope;
    } scopes[] = {
        {"packet.context", PYRO_CTF_PACKET_CONTEXT},
        {"event.header", PYRO_CTF_EVENT_HEADER},
        {"event.context", PYRO_CTF_COMMON_CONTEXT},
    };
    struct pyro_ctf_stream_class *stream = block;
    if (pyro_slice_is(attribute->name, "id") && !attribute->is_type)
        return take_unsigned(tsdl, attribute, &stream->id);
    if (!attribute->is_type)
        return true;
    const struct pyro_ctf_type *type = take_type(tsdl);
    for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
        if (pyro_slice_is(attribute->name, scopes[i].name))
            stream->scopes[scopes[i].scope] = type;
    return type != NULL;
}

static bool take_event(struct tsdl *tsdl, void *block, const struct tsdl_attribute *attribute)
{
    struct pyro_ctf_event_class *event = block;
    if (attribute->is_type) {
        const struct pyro_ctf_type *type = take_type(tsdl);
        if (pyro_slice_is(attribute->name, "fields"))
            event->payload = type;
        else if (pyro_slice_is(attribute->name, "context"))
            event->context = type;
        return type != NULL;
    }
    if (pyro_slice_is(attribute->name, "name"))
        event->name = attribute->text;
    else if (pyro_slice_is(attribute->name, "id"))
        return take_unsigned(tsdl, attribute, &event->id);
    else if (pyro_slice_is(attribute->name, "stream_id"))
        return take_unsigned(tsdl, attribute, &event->stream);
    return true;
}

/* ---- All blocks -------------------------------------------------------------------------------------------------- */

static bool is_type_word(const struct tsdl *tsdl)
{
    return pyro_tsdl_is_word(tsdl, "struct") || pyro_tsdl_is_word(tsdl, "variant") || pyro_tsdl_is_word(tsdl, "enum");
}

/* A type that is only named, outside of structures. */
static bool read_named(struct tsdl *tsdl)
{
    struct pyro_slice name;
    return pyro_tsdl_type(tsdl, &name) && pyro_tsdl_expect(tsdl, ';');
}

static bool read_block(struct tsdl *tsdl, take_attribute *take, void *block)
{
    struct tsdl_attribute attribute;
    size_t names = tsdl->names.count;
    bool done = pyro_tsdl_expect(tsdl, '{');
    while (done && !pyro_tsdl_is_mark(tsdl, '}')) {
        if (pyro_tsdl_declaration(tsdl))
            done = tsdl->status == PYRO_OK;
        else if (is_type_word(tsdl))
            done = read_named(tsdl);
        else
            done = pyro_tsdl_attribute(tsdl, &attribute) && take(tsdl, block, &attribute);
    }
    pyro_tsdl_forget(tsdl, names);
    if (!done)
        return false;
    pyro_tsdl_advance(tsdl);
    return pyro_tsdl_expect(tsdl, ';');
}

static bool read_clock(struct tsdl *tsdl)
{
    struct pyro_ctf_clock_class *clock = pyro_vec_push(&tsdl->metadata->clocks, tsdl->metadata->allocator);
    if (!clock)
        return pyro_tsdl_no_memory(tsdl);
    clock->frequency = 1000000000;
    return read_block(tsdl, take_clock, clock);
}

static bool read_stream(struct tsdl *tsdl)
{
    struct pyro_ctf_stream_class *stream = pyro_vec_push(&tsdl->metadata->streams, tsdl->metadata->allocator);
    return stream ? read_block(tsdl, take_stream, stream) : pyro_tsdl_no_memory(tsdl);
}

static bool read_event(struct tsdl *tsdl)
{
    unsigned line = tsdl->token.line;
    if (tsdl->metadata->events.count == PYRO_CTF_CLASSES_MAX)
        return pyro_tsdl_fail(tsdl, line, "there are more than 1048576 classes of events");
    struct pyro_ctf_event_class *event = pyro_vec_push(&tsdl->metadata->events, tsdl->metadata->allocator);
    if (!event)
        return pyro_tsdl_no_memory(tsdl);
    event->line = line;
    event->name = PYRO_SLICE_LITERAL("");
    return read_block(tsdl, take_event, event);
}

static bool read_statement(struct tsdl *tsdl)
{
    if (pyro_tsdl_take_mark(tsdl, ';'))
        return true;
    if (pyro_tsdl_take_word(tsdl, "event"))
        return read_event(tsdl);
    if (pyro_tsdl_declaration(tsdl))
        return tsdl->status == PYRO_OK;
    if (is_type_word(tsdl))
        return read_named(tsdl);
    if (pyro_tsdl_take_word(tsdl, "stream"))
        return read_stream(tsdl);
    if (pyro_tsdl_take_word(tsdl, "clock"))
        return read_clock(tsdl);
    if (pyro_tsdl_take_word(tsdl, "trace"))
        return read_block(tsdl, take_trace, tsdl->metadata);
    if (pyro_tsdl_take_word(tsdl, "env"))
        return read_block(tsdl, take_env, tsdl->metadata);
    if (tsdl->token.kind != TSDL_WORD)
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "a block was expected");
    pyro_tsdl_skip_statement(tsdl);
    return !pyro_tsdl_is_mark(tsdl, '}') || pyro_tsdl_fail(tsdl, tsdl->token.line, "a block was expected");
}

enum pyro_status pyro_ctf_parse_tsdl(struct pyro_ctf_metadata *metadata, const char *text, size_t len,
                                     struct pyro_error *error)
{
    struct tsdl tsdl = {.metadata = metadata, .error = error, .at = text, .end = text + len, .line = 1};
    pyro_map_init(&tsdl.by_hash, metadata->allocator);
    pyro_tsdl_advance(&tsdl);
    while (tsdl.token.kind != TSDL_END && read_statement(&tsdl))
        continue;
    pyro_map_done(&tsdl.by_hash);
    pyro_vec_done(&tsdl.names, metadata->allocator);
    if (tsdl.status == PYRO_OK && metadata->arena->failed)
        return pyro_no_memory(error);
    return tsdl.status;
}
