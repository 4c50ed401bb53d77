/* A recording: chunks, one behind the other, each read into memory and decoded by its own metadata.
 *
 * Events are walked three times: for the metadata and the checkpoints, for the process, for the rest. The header's
 * offsets of the metadata and of the list of checkpoints are not needed for that, and a torn chunk has none. */
#include "base/memory/allocator.h"
#include "decode/profiling/jfr/chunk.h"

struct recording {
    struct pyro_profile_reading *reading;
    struct pyro_jfr_types types; /* of the newest chunk that has some */
    struct pyro_jfr_chunk chunk;
    unsigned char *data;
    size_t len, capacity;
    size_t next; /* place of the next chunk in `data` */
    bool ended;
    PYRO_VEC(size_t) checkpoints;
};

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* Reads until `want` bytes follow recording->next, or the file ends. The buffer grows with the bytes that come. */
static enum pyro_status want(struct recording *recording, size_t bytes)
{
    struct pyro_profile_reading *reading = recording->reading;
    if (recording->next > 0) {
        memmove(recording->data, recording->data + recording->next, recording->len - recording->next);
        recording->len -= recording->next;
        recording->next = 0;
    }
    while (!recording->ended && recording->len < bytes) {
        enum { PIECE = 1 << 20 };
        size_t got;
        if (recording->capacity - recording->len < PIECE) {
            size_t capacity = recording->capacity < PIECE ? 2 * PIECE : recording->capacity * 2;
            unsigned char *data = pyro_reallocate(reading->allocator, recording->data, capacity);
            if (!data)
                return pyro_no_memory(reading->error);
            recording->data = data;
            recording->capacity = capacity;
        }
        size_t room = recording->capacity - recording->len;
        PYRO_TRY(pyro_reader_read(reading->reader, recording->data + recording->len, room, &got, reading->error));
        recording->len += got;
        reading->bytes += got;
        recording->ended = got == 0;
    }
    return PYRO_OK;
}

/* ---- One chunk --------------------------------------------------------------------------------------------------- */

static uint64_t big_endian(const unsigned char *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* False: this is not the header of a chunk. */
static bool read_header(struct pyro_jfr_chunk *chunk, const unsigned char *data, uint64_t *ret_size)
{
    if (memcmp(data, "FLR\0", 4) != 0 || big_endian(data + 4, 2) != 2)
        return false;
    int64_t ticks = (int64_t)big_endian(data + 56, 8);
    *ret_size = big_endian(data + 8, 8);
    chunk->start_ns = (int64_t)big_endian(data + 32, 8);
    chunk->start_ticks = (int64_t)big_endian(data + 48, 8);
    chunk->ticks_per_ns = ticks > 0 ? (double)ticks / 1e9 : 1;
    chunk->compressed = data[67] & 1;
    return true;
}

static void forget_chunk(struct pyro_jfr_chunk *chunk)
{
    const struct pyro_allocator *allocator = chunk->reading->allocator;
    struct pyro_map *maps[] = {&chunk->threads, &chunk->stacks, &chunk->methods, &chunk->kind_of, &chunk->heap_of};
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
        pyro_map_done(maps[i]);
        pyro_map_init(maps[i], allocator);
    }
    for (size_t i = 0; i < PYRO_JFR_EVENT_KINDS; i++)
        pyro_jfr_program_done(&chunk->kinds[i], allocator);
    pyro_jfr_program_done(&chunk->thread, allocator);
    pyro_jfr_program_done(&chunk->stack, allocator);
    pyro_jfr_program_done(&chunk->method, allocator);
    chunk->collections.count = chunk->heaps.count = 0;
}

static bool compile_named(struct pyro_jfr_chunk *chunk, const char *name, const char *const *slots, size_t count,
                          struct pyro_jfr_program *ret)
{
    const struct pyro_jfr_type *type = pyro_jfr_type_by_name(chunk->types, name);
    return !type || pyro_jfr_compile(chunk->types, type, slots, count, ret);
}

static bool compile_constants(struct pyro_jfr_chunk *chunk)
{
    static const char *const thread[] = {"javaName", "osName", "osThreadId"};
    static const char *const stack[] = {"frames.method", "frames.lineNumber", "frames.type"};
    static const char *const method[] = {"type", "name"};
    return compile_named(chunk, "java.lang.Thread", thread, 3, &chunk->thread) &&
           compile_named(chunk, "jdk.types.StackTrace", stack, 3, &chunk->stack) &&
           compile_named(chunk, "jdk.types.Method", method, 2, &chunk->method);
}

/* Notes checkpoints and reads the last metadata. *ret_read: how far events can be read. False: no memory. */
static bool find_types(struct recording *recording, size_t *ret_read)
{
    enum { METADATA = 0, CHECKPOINT = 1 };
    struct pyro_jfr_chunk *chunk = &recording->chunk;
    struct pyro_jfr_event event, metadata = {.next = 0};
    size_t at = PYRO_JFR_HEADER;
    recording->checkpoints.count = 0;
    for (; pyro_jfr_event_at(chunk, at, &event); at = event.next) {
        if (event.type == METADATA && event.next - event.at <= PYRO_JFR_METADATA)
            metadata = event;
        if (event.type != CHECKPOINT)
            continue;
        if (!pyro_vec_reserve(&recording->checkpoints, 1, chunk->reading->allocator))
            return false;
        recording->checkpoints.items[recording->checkpoints.count++] = at;
    }
    *ret_read = at;
    if (metadata.next == 0) /* torn before it was written: the types of a JVM do not change from chunk to chunk */
        return true;
    int read = pyro_jfr_read_types(&recording->types, metadata.body);
    chunk->reading->facts->rejected += read == 0;
    return read >= 0;
}

static bool index_checkpoints(struct recording *recording)
{
    struct pyro_jfr_event event;
    for (size_t i = 0; i < recording->checkpoints.count; i++)
        if (pyro_jfr_event_at(&recording->chunk, recording->checkpoints.items[i], &event) &&
            !pyro_jfr_index_pools(&recording->chunk, event.body)) {
            if (recording->chunk.no_memory)
                return false;
            recording->reading->facts->rejected++;
        }
    return true;
}

/* Decodes the chunk in `data`; *ret_read is how much of it are whole events. False: no memory. */
static bool decode_chunk(struct recording *recording, size_t len, size_t *ret_read)
{
    struct pyro_jfr_chunk *chunk = &recording->chunk;
    struct pyro_jfr_event event;
    chunk->data = recording->data;
    chunk->len = len;
    forget_chunk(chunk);
    pyro_jfr_forget_pools(chunk->types);
    bool done = find_types(recording, ret_read) && index_checkpoints(recording) && compile_constants(chunk) &&
                pyro_jfr_bind_events(chunk);
    for (size_t at = PYRO_JFR_HEADER; done && pyro_jfr_event_at(chunk, at, &event); at = event.next)
        done = event.type < 2 || pyro_jfr_take_event(chunk, &event);
    return done && pyro_jfr_write_collections(chunk);
}

/* ---- All chunks -------------------------------------------------------------------------------------------------- */

/* Reads and decodes the next chunk. *ret_more: another one may follow. */
static enum pyro_status read_chunk(struct recording *recording, bool *ret_more)
{
    struct pyro_profile_facts *facts = recording->reading->facts;
    uint64_t size;
    size_t read = 0;
    *ret_more = false;
    PYRO_TRY(want(recording, PYRO_JFR_HEADER));
    if (recording->len == 0)
        return PYRO_OK;
    if (recording->len < PYRO_JFR_HEADER || !read_header(&recording->chunk, recording->data, &size)) {
        facts->problem = recording->len < PYRO_JFR_HEADER ? "the last chunk ends inside its header"
                                                          : "what follows a chunk is not a chunk of version 2";
        return PYRO_OK;
    }
    /* A chunk that was being written has no size yet: it takes the rest of the file. */
    bool sized = size >= PYRO_JFR_HEADER && size <= PYRO_JFR_CHUNK_MAX;
    size_t wanted = sized ? (size_t)size : (size_t)PYRO_JFR_CHUNK_MAX;
    PYRO_TRY(want(recording, wanted));
    size_t len = recording->len < wanted ? recording->len : wanted;
    bool whole = sized && len == size;
    if (!decode_chunk(recording, len, &read))
        return pyro_no_memory(recording->reading->error);
    if (!whole)
        facts->problem = size > PYRO_JFR_CHUNK_MAX ? "a chunk is larger than 512 MiB" : "the last chunk is torn";
    else if (read < len)
        facts->problem = "the events of a chunk end early";
    if (!recording->types.types.count && !facts->problem)
        facts->problem = "a chunk has no metadata";
    recording->next = len;
    *ret_more = whole;
    return PYRO_OK;
}

enum pyro_status pyro_profile_decode_jfr(struct pyro_profile_reading *reading)
{
    struct recording recording = {.reading = reading};
    struct pyro_jfr_chunk *chunk = &recording.chunk;
    pyro_jfr_types_init(&recording.types, reading->allocator);
    *chunk = (struct pyro_jfr_chunk){.reading = reading, .types = &recording.types, .pid = PYRO_NONE};
    pyro_strbuf_init(&chunk->scratch, reading->allocator);
    forget_chunk(chunk);
    enum pyro_status status = PYRO_OK;
    for (bool more = true; more && status == PYRO_OK;)
        status = read_chunk(&recording, &more);
    forget_chunk(chunk);
    pyro_jfr_types_done(&recording.types);
    pyro_vec_done(&chunk->frames, reading->allocator);
    pyro_vec_done(&chunk->collections, reading->allocator);
    pyro_vec_done(&chunk->heaps, reading->allocator);
    pyro_vec_done(&recording.checkpoints, reading->allocator);
    pyro_strbuf_done(&chunk->scratch);
    pyro_release(reading->allocator, recording.data);
    return status;
}
