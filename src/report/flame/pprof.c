/* A profile of pprof (https://github.com/google/pprof, proto/profile.proto): protocol buffers in gzip. Nothing in it
 * depends on when it is written. */
#include <zlib.h>

#include "model/column.h"
#include "report/flame/flame.h"

/* Numbers of the fields. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5, PROFILE_STRING = 6 };
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

struct pprof {
    const struct pyro_flame *flame;
    struct pyro_output *output;
    struct pyro_string_pool *strings;
    struct pyro_map functions;               /* name and file -> id */
    struct pyro_strbuf message, part, plain; /* a message, one inside it, bytes to be compressed */
    z_stream stream;
};

/* ---- Protocol buffers -------------------------------------------------------------------------------------------- */

static void put_varint(struct pyro_strbuf *buffer, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        pyro_strbuf_add_char(buffer, (char)(unsigned char)(value | 0x80));
    pyro_strbuf_add_char(buffer, (char)value);
}

static void put_number(struct pyro_strbuf *buffer, unsigned field, uint64_t value)
{
    put_varint(buffer, field << 3);
    put_varint(buffer, value);
}

static void put_bytes(struct pyro_strbuf *buffer, unsigned field, struct pyro_slice bytes)
{
    put_varint(buffer, field << 3 | 2);
    put_varint(buffer, bytes.len);
    pyro_strbuf_add_slice(buffer, bytes);
}

/* ---- Gzip -------------------------------------------------------------------------------------------------------- */

static void compress_plain(struct pprof *pprof, bool last)
{
    enum { PIECE = 64 * 1024 };
    struct pyro_strbuf *out = &pprof->output->buffer;
    if (pprof->plain.len < PIECE && !last)
        return;
    if (pprof->plain.failed || pprof->plain.len > UINT32_MAX)
        out->failed = true;
    pprof->stream.next_in = (unsigned char *)pprof->plain.data;
    pprof->stream.avail_in = (unsigned)pprof->plain.len;
    do {
        if (out->failed || !pyro_strbuf_reserve(out, PIECE))
            break;
        pprof->stream.next_out = (unsigned char *)out->data + out->len;
        pprof->stream.avail_out = PIECE;
        deflate(&pprof->stream, last ? Z_FINISH : Z_NO_FLUSH);
        out->len += PIECE - pprof->stream.avail_out;
        pyro_output_flush(pprof->output, false);
    } while (pprof->stream.avail_out == 0);
    pyro_strbuf_clear(&pprof->plain);
}

/* The message, as a field of the profile. */
static void put_message(struct pprof *pprof, unsigned field)
{
    put_bytes(&pprof->plain, field, pyro_strbuf_slice(&pprof->message));
    pprof->plain.failed |= pprof->message.failed || pprof->part.failed;
    pyro_strbuf_clear(&pprof->message);
    compress_plain(pprof, false);
}

/* ---- The profile ------------------------------------------------------------------------------------------------- */

static uint64_t string_of(struct pprof *pprof, struct pyro_slice text)
{
    uint32_t number = pyro_intern(pprof->strings, text.ptr ? text : PYRO_SLICE_LITERAL(""));
    if (number == UINT32_MAX)
        pprof->plain.failed = true;
    return number;
}

static void write_type(struct pprof *pprof)
{
    const char *unit = pprof->flame->unit;
    bool ns = strcmp(unit, "ns") == 0, bytes = strcmp(unit, "bytes") == 0;
    put_number(&pprof->message, TYPE_NAME,
               string_of(pprof, pyro_slice_from(ns      ? "delay"
                                                : bytes ? "alloc_space"
                                                        : "samples")));
    put_number(&pprof->message, TYPE_UNIT,
               string_of(pprof, pyro_slice_from(ns      ? "nanoseconds"
                                                : bytes ? "bytes"
                                                        : "count")));
    put_message(pprof, PROFILE_SAMPLE_TYPE);
}

static void write_samples(struct pprof *pprof)
{
    uint32_t frames[PYRO_PROFILE_DEPTH + 4];
    const struct pyro_flame *flame = pprof->flame;
    for (size_t i = 0; i < flame->order.count; i++) {
        uint32_t node = flame->order.items[i];
        size_t depth = pyro_flame_path(flame, node, frames, sizeof(frames) / sizeof(*frames));
        pyro_strbuf_clear(&pprof->part);
        for (size_t f = 0; f < depth; f++)
            put_varint(&pprof->part, frames[f]);
        put_bytes(&pprof->message, SAMPLE_LOCATION, pyro_strbuf_slice(&pprof->part));
        put_number(&pprof->message, SAMPLE_VALUE, (uint64_t)flame->nodes.items[node].self[PYRO_FLAME_AFTER]);
        put_message(pprof, PROFILE_SAMPLE);
    }
}

/* The function's id; a new one is written. 0: no memory. */
static uint64_t function_of(struct pprof *pprof, const struct pyro_flame_frame *frame)
{
    uint64_t name = string_of(pprof, frame->function), file = string_of(pprof, frame->file);
    uint64_t *id = pyro_map_put(&pprof->functions, name << 32 | file, NULL);
    if (!id) {
        pprof->plain.failed = true;
        return 0;
    }
    if (*id)
        return *id;
    *id = pprof->functions.count;
    put_number(&pprof->message, FUNCTION_ID, *id);
    put_number(&pprof->message, FUNCTION_NAME, name);
    put_number(&pprof->message, FUNCTION_FILE, file);
    put_message(pprof, PROFILE_FUNCTION);
    return *id;
}

static void write_locations(struct pprof *pprof)
{
    for (size_t i = 1; i < pprof->flame->frames.count; i++) {
        const struct pyro_flame_frame *frame = &pprof->flame->frames.items[i];
        uint64_t function = function_of(pprof, frame);
        pyro_strbuf_clear(&pprof->part);
        put_number(&pprof->part, LINE_FUNCTION, function);
        if (frame->line != PYRO_NONE)
            put_number(&pprof->part, LINE_NUMBER, (uint64_t)frame->line);
        put_number(&pprof->message, LOCATION_ID, i);
        put_bytes(&pprof->message, LOCATION_LINE, pyro_strbuf_slice(&pprof->part));
        put_message(pprof, PROFILE_LOCATION);
    }
}

static void write_strings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pyro_string_pool_count(pprof->strings); i++) {
        put_bytes(&pprof->plain, PROFILE_STRING, pyro_string_pool_text(pprof->strings, i));
        compress_plain(pprof, false);
    }
}

void pyro_flame_write_pprof(const struct pyro_flame *flame, struct pyro_output *output)
{
    enum { LEVEL = 6, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };
    struct pprof pprof = {.flame = flame, .output = output, .strings = pyro_string_pool_new(flame->allocator)};
    if (!pprof.strings ||
        deflateInit2(&pprof.stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        pyro_string_pool_release(pprof.strings);
        output->status = PYRO_ERROR_MEMORY;
        return;
    }
    pyro_strbuf_init(&pprof.message, flame->allocator);
    pyro_strbuf_init(&pprof.part, flame->allocator);
    pyro_strbuf_init(&pprof.plain, flame->allocator);
    pyro_map_init(&pprof.functions, flame->allocator);
    write_type(&pprof);
    write_samples(&pprof);
    write_locations(&pprof);
    write_strings(&pprof);
    compress_plain(&pprof, true);
    deflateEnd(&pprof.stream);
    pyro_map_done(&pprof.functions);
    pyro_strbuf_done(&pprof.message);
    pyro_strbuf_done(&pprof.part);
    pyro_strbuf_done(&pprof.plain);
    pyro_string_pool_release(pprof.strings);
}
