/* Fragments of version 2: each says one thing about the trace, and names others by their ids. */
#include "base/collections/hash.h"
#include "decode/trace/ctf/ctf2.h"

enum { RECORD_SEPARATOR = 0x1e };

/* What a fragment says; its type, which may come after other members, says which of it counts. */
struct fragment {
    struct pyro_slice type, name, uid, id_text, clock;
    uint64_t id, stream, version, frequency;
    int64_t offset_s, offset;
    bool has_uuid, absolute;
    unsigned char uuid[16];
    const struct pyro_ctf_type *alias, *packet_header, *packet_context, *event_header, *common_context, *context,
        *payload;
};

static bool take_environment(struct ctf2 *ctf2)
{
    static const struct pyro_json_key none[] = {PYRO_JSON_KEY("")};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(&ctf2->json, &object))
        return !ctf2->json.error;
    while (pyro_json_next(&ctf2->json, &object, none, sizeof(none) / sizeof(*none)) != PYRO_JSON_END) {
        struct pyro_slice text = PYRO_SLICE_NULL, name = object.name;
        int64_t number = -1;
        if (pyro_json_peek(&ctf2->json) == '"')
            pyro_ctf2_take_text(ctf2, &text);
        else
            pyro_json_take_int(&ctf2->json, &number);
        if (!ctf2->json.error)
            pyro_ctf_take_environment(ctf2->metadata, name, text, number);
    }
    return !ctf2->json.error;
}

static bool take_offset(struct ctf2 *ctf2, struct fragment *fragment)
{
    PYRO_JSON_KEYS(keys, (SECONDS, "seconds"), (CYCLES, "cycles"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(&ctf2->json, &object))
        return !ctf2->json.error;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&ctf2->json, &object, keys)) != PYRO_JSON_END;)
        pyro_json_take_int(&ctf2->json, key == SECONDS ? &fragment->offset_s : &fragment->offset);
    return !ctf2->json.error;
}

/* "unix-epoch", or an object that names something else. */
static bool take_origin(struct ctf2 *ctf2, struct fragment *fragment)
{
    struct pyro_slice text = PYRO_SLICE_NULL;
    if (pyro_json_peek(&ctf2->json) != '"')
        return pyro_json_skip(&ctf2->json);
    if (!pyro_ctf2_take_text(ctf2, &text))
        return false;
    fragment->absolute = pyro_slice_is(text, "unix-epoch");
    return true;
}

/* The id of a clock is a text, those of streams and events are numbers. */
static bool take_id(struct ctf2 *ctf2, struct fragment *fragment)
{
    if (pyro_json_peek(&ctf2->json) == '"')
        return pyro_ctf2_take_text(ctf2, &fragment->id_text);
    return pyro_ctf2_take_bits(ctf2, &fragment->id);
}

static bool take_uid(struct ctf2 *ctf2, struct fragment *fragment)
{
    if (pyro_json_peek(&ctf2->json) != '[')
        return pyro_ctf2_take_text(ctf2, &fragment->uid);
    fragment->has_uuid = pyro_ctf2_take_uuid(ctf2, fragment->uuid); /* as release candidates have it */
    return fragment->has_uuid;
}

static bool take_fragment(struct ctf2 *ctf2, struct fragment *fragment)
{
    PYRO_JSON_KEYS(keys, (TYPE, "type"), (VERSION, "version"), (UUID, "uuid"), (UID, "uid"), (NAME, "name"), (ID, "id"),
                   (ENVIRONMENT, "environment"), (FREQUENCY, "frequency"), (ORIGIN, "origin"),
                   (OFFSET, "offset-from-origin"), (CLOCK, "default-clock-class-id"),
                   (CLOCK_NAME, "default-clock-class-name"), (STREAM, "data-stream-class-id"), (ALIAS, "field-class"),
                   (PACKET_HEADER, "packet-header-field-class"), (PACKET_CONTEXT, "packet-context-field-class"),
                   (EVENT_HEADER, "event-record-header-field-class"),
                   (COMMON_CONTEXT, "event-record-common-context-field-class"),
                   (CONTEXT, "specific-context-field-class"), (PAYLOAD, "payload-field-class"));
    const struct pyro_ctf_type **types[keys_count] = {
        [ALIAS] = &fragment->alias,
        [PACKET_HEADER] = &fragment->packet_header,
        [PACKET_CONTEXT] = &fragment->packet_context,
        [EVENT_HEADER] = &fragment->event_header,
        [COMMON_CONTEXT] = &fragment->common_context,
        [CONTEXT] = &fragment->context,
        [PAYLOAD] = &fragment->payload,
    };
    struct pyro_slice *texts[keys_count] = {
        [TYPE] = &fragment->type,
        [NAME] = &fragment->name,
        [CLOCK] = &fragment->clock,
        [CLOCK_NAME] = &fragment->clock,
    };
    uint64_t *numbers[keys_count] = {
        [VERSION] = &fragment->version, [FREQUENCY] = &fragment->frequency, [STREAM] = &fragment->stream};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(&ctf2->json, &object))
        return pyro_ctf2_fail(ctf2, "a fragment is an object");
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&ctf2->json, &object, keys)) != PYRO_JSON_END;) {
        if (types[key])
            *types[key] = pyro_ctf2_take_type(ctf2);
        else if (texts[key])
            pyro_ctf2_take_text(ctf2, texts[key]);
        else if (numbers[key])
            pyro_ctf2_take_bits(ctf2, numbers[key]);
        else if (key == UUID)
            fragment->has_uuid = pyro_ctf2_take_uuid(ctf2, fragment->uuid);
        else if (key == UID)
            take_uid(ctf2, fragment);
        else if (key == ID)
            take_id(ctf2, fragment);
        else if (key == ENVIRONMENT)
            take_environment(ctf2);
        else if (key == ORIGIN)
            take_origin(ctf2, fragment);
        else
            take_offset(ctf2, fragment);
    }
    return !ctf2->json.error;
}

/* ---- What the types of fragments mean ---------------------------------------------------------------------------- */

static bool add_preamble(struct ctf2 *ctf2, const struct fragment *fragment)
{
    if (fragment->version != 2)
        return pyro_ctf2_fail(ctf2, "this version of the format is not known");
    ctf2->metadata->has_uuid = fragment->has_uuid;
    memcpy(ctf2->metadata->uuid, fragment->uuid, sizeof(fragment->uuid));
    return true;
}

static bool add_alias(struct ctf2 *ctf2, const struct fragment *fragment)
{
    if (!fragment->alias || !fragment->name.ptr)
        return pyro_ctf2_fail(ctf2, "an alias has no name or no field class");
    struct ctf2_alias *alias = pyro_vec_push(&ctf2->aliases, ctf2->metadata->allocator);
    uint64_t *row = alias ? pyro_map_put(&ctf2->by_hash, pyro_hash_slice(fragment->name), NULL) : NULL;
    if (!row)
        return pyro_ctf2_no_memory(ctf2);
    *alias = (struct ctf2_alias){fragment->name, fragment->alias};
    *row = ctf2->aliases.count;
    return true;
}

static bool add_clock(struct ctf2 *ctf2, const struct fragment *fragment)
{
    struct pyro_ctf_clock_class *clock = pyro_vec_push(&ctf2->metadata->clocks, ctf2->metadata->allocator);
    if (!clock)
        return pyro_ctf2_no_memory(ctf2);
    *clock = (struct pyro_ctf_clock_class){
        .id = fragment->id_text.ptr ? fragment->id_text : fragment->name,
        .name = fragment->name.ptr ? fragment->name : fragment->id_text,
        .uuid = fragment->uid,
        .frequency = fragment->frequency,
        .offset_s = fragment->offset_s,
        .offset = fragment->offset,
        .absolute = fragment->absolute,
    };
    return true;
}

static bool add_stream(struct ctf2 *ctf2, const struct fragment *fragment)
{
    struct pyro_ctf_stream_class *stream = pyro_vec_push(&ctf2->metadata->streams, ctf2->metadata->allocator);
    if (!stream)
        return pyro_ctf2_no_memory(ctf2);
    *stream = (struct pyro_ctf_stream_class){.id = fragment->id, .clock = fragment->clock};
    stream->scopes[PYRO_CTF_PACKET_CONTEXT] = fragment->packet_context;
    stream->scopes[PYRO_CTF_EVENT_HEADER] = fragment->event_header;
    stream->scopes[PYRO_CTF_COMMON_CONTEXT] = fragment->common_context;
    return true;
}

static bool add_event(struct ctf2 *ctf2, const struct fragment *fragment)
{
    if (ctf2->metadata->events.count == PYRO_CTF_CLASSES_MAX)
        return pyro_ctf2_fail(ctf2, "there are more than 1048576 classes of events");
    struct pyro_ctf_event_class *event = pyro_vec_push(&ctf2->metadata->events, ctf2->metadata->allocator);
    if (!event)
        return pyro_ctf2_no_memory(ctf2);
    *event = (struct pyro_ctf_event_class){
        .id = fragment->id,
        .stream = fragment->stream,
        .name = fragment->name.ptr ? fragment->name : PYRO_SLICE_LITERAL(""),
        .context = fragment->context,
        .payload = fragment->payload,
        .line = pyro_ctf2_line(ctf2),
    };
    return true;
}

static bool add_fragment(struct ctf2 *ctf2, const struct fragment *fragment)
{
    if (pyro_slice_is(fragment->type, "event-record-class"))
        return add_event(ctf2, fragment);
    if (pyro_slice_is(fragment->type, "field-class-alias"))
        return add_alias(ctf2, fragment);
    if (pyro_slice_is(fragment->type, "preamble"))
        return add_preamble(ctf2, fragment);
    if (pyro_slice_is(fragment->type, "clock-class"))
        return add_clock(ctf2, fragment);
    if (pyro_slice_is(fragment->type, "data-stream-class"))
        return add_stream(ctf2, fragment);
    if (pyro_slice_is(fragment->type, "trace-class"))
        ctf2->metadata->packet_header = fragment->packet_header;
    return true;
}

enum pyro_status pyro_ctf_parse_fragments(struct pyro_ctf_metadata *metadata, char *text, size_t len,
                                          struct pyro_error *error)
{
    struct ctf2 ctf2 = {.metadata = metadata, .counted = text, .line = 1};
    const struct pyro_scan *scan = pyro_scan_best();
    char *end = text + len;
    pyro_map_init(&ctf2.by_hash, metadata->allocator);
    /* A newline ends what the reader of JSON reads; a carriage return is a blank. */
    for (char *at = text; at < end; at++)
        *at = *at == '\n' ? '\r' : *at == '\r' ? ' ' : *at;
    for (const char *at = text; at < end && !ctf2.json.error;) {
        at += *at == RECORD_SEPARATOR;
        const char *next = memchr(at, RECORD_SEPARATOR, (size_t)(end - at));
        struct fragment fragment = {.frequency = 1000000000};
        if (!next)
            next = end;
        pyro_json_reader_start(&ctf2.json, at, next, scan);
        if (take_fragment(&ctf2, &fragment) && pyro_json_record_end(&ctf2.json))
            add_fragment(&ctf2, &fragment);
        at = next;
    }
    pyro_map_done(&ctf2.by_hash);
    pyro_vec_done(&ctf2.aliases, metadata->allocator);
    if (ctf2.no_memory || metadata->arena->failed)
        return pyro_no_memory(error);
    if (ctf2.json.error)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "line %u of the metadata: %s", pyro_ctf2_line(&ctf2),
                              ctf2.json.error);
    return PYRO_OK;
}
