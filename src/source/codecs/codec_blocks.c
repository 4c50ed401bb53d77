#include "source/codecs/codec_blocks.h"

#include <string.h>

#include "base/memory/allocator.h"
#include "source/codecs/input_buffer.h"

struct block_stream {
    const struct pyro_allocator *allocator;
    const struct pyro_codec_block_format *format;
    struct pyro_input_buffer intake;
    bool finished; /* the last block was an end mark */
    /* A block that did not fit into the caller's buffer; data[start..end) waits to be handed out. */
    unsigned char *data;
    size_t start, end, capacity;
};

enum pyro_status pyro_codec_blocks_open(const struct pyro_codec_block_format *format,
                                        const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                        void **ret_state, struct pyro_error *error)
{
    struct block_stream *stream = pyro_allocate(allocator, sizeof(*stream));
    if (!stream)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a decompressor");
    *stream = (struct block_stream){.allocator = allocator, .format = format};
    enum pyro_status status = pyro_input_buffer_open(&stream->intake, allocator, input, error);
    if (status != PYRO_OK) {
        pyro_release(allocator, stream);
        return status;
    }
    *ret_state = stream;
    return PYRO_OK;
}

void pyro_codec_blocks_close(void *state)
{
    struct block_stream *stream = state;
    if (!stream)
        return;
    pyro_input_buffer_close(&stream->intake);
    pyro_release(stream->allocator, stream->data);
    pyro_release(stream->allocator, stream);
}

static enum pyro_status make_room(struct block_stream *stream, size_t size, struct pyro_error *error)
{
    if (stream->capacity >= size)
        return PYRO_OK;
    pyro_release(stream->allocator, stream->data);
    stream->capacity = 0;
    stream->data = pyro_allocate(stream->allocator, size);
    if (!stream->data)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a decompressed block of %zu bytes", size);
    stream->capacity = size;
    return PYRO_OK;
}

/* Brings the next block into the intake as a whole. Sets *ret_ended at a proper end, *ret_damage at any other. */
static enum pyro_status next_block(struct block_stream *stream, struct pyro_codec_block *block, bool *ret_ended,
                                   const char **ret_damage, struct pyro_error *error)
{
    const struct pyro_codec_block_format *format = stream->format;
    struct pyro_input_buffer *intake = &stream->intake;
    PYRO_TRY(pyro_input_buffer_want(intake, format->header_max, error));
    size_t left = pyro_input_buffer_left(intake);
    if (left == 0) {
        *ret_ended = true;
        *ret_damage = stream->finished ? NULL : format->unfinished;
        return PYRO_OK;
    }
    *block = (struct pyro_codec_block){0};
    *ret_damage = format->parse(pyro_input_buffer_at(intake), left, block);
    if (*ret_damage)
        return PYRO_OK;
    PYRO_TRY(pyro_input_buffer_want(intake, block->header + block->stored, error));
    if (pyro_input_buffer_left(intake) < block->header + block->stored)
        *ret_damage = format->cut;
    stream->finished = block->ends_stream;
    return PYRO_OK;
}

static size_t hand_out(struct block_stream *stream, void *buffer, size_t capacity)
{
    size_t len = stream->end - stream->start;
    if (len > capacity)
        len = capacity;
    memcpy(buffer, stream->data + stream->start, len);
    stream->start += len;
    return len;
}

enum pyro_status pyro_codec_blocks_read(void *state, void *buffer, size_t capacity, size_t *ret_len,
                                        const char **ret_damage, struct pyro_error *error)
{
    struct block_stream *stream = state;
    *ret_len = 0;
    while (stream->start == stream->end) {
        struct pyro_codec_block block;
        bool ended = false;
        PYRO_TRY(next_block(stream, &block, &ended, ret_damage, error));
        if (ended || *ret_damage)
            return PYRO_OK;
        const unsigned char *payload = pyro_input_buffer_at(&stream->intake) + block.header;
        pyro_input_buffer_skip(&stream->intake, block.header + block.stored);
        if (block.plain == 0)
            continue;
        if (block.plain <= capacity) { /* the usual case: straight into the caller's buffer */
            *ret_damage = stream->format->decode(&block, payload, buffer);
            *ret_len = *ret_damage ? 0 : block.plain;
            return PYRO_OK;
        }
        PYRO_TRY(make_room(stream, block.plain, error));
        *ret_damage = stream->format->decode(&block, payload, stream->data);
        if (*ret_damage)
            return PYRO_OK;
        stream->start = 0;
        stream->end = block.plain;
    }
    *ret_len = hand_out(stream, buffer, capacity);
    return PYRO_OK;
}

enum pyro_status pyro_codec_blocks_take_unit(void *state, struct pyro_unit *unit, struct pyro_error *error)
{
    struct block_stream *stream = state;
    const struct pyro_codec_block_format *format = stream->format;
    struct pyro_input_buffer *intake = &stream->intake;
    size_t used = 0, plain = 0;
    bool finished = stream->finished;
    unit->len = 0;
    if (stream->start < stream->end)
        return PYRO_OK;
    while (used < PYRO_UNIT_STORED_BYTES && plain < PYRO_UNIT_PLAIN_BYTES) {
        struct pyro_codec_block block = {0};
        PYRO_TRY(pyro_input_buffer_want(intake, used + format->header_max, error));
        size_t left = pyro_input_buffer_left(intake) - used;
        if (left == 0 || format->parse(pyro_input_buffer_at(intake) + used, left, &block))
            break;
        size_t stored = block.header + block.stored;
        if (stored > PYRO_UNIT_FRAME_STORED_MOST || block.plain > PYRO_UNIT_FRAME_PLAIN_MOST)
            break;
        PYRO_TRY(pyro_input_buffer_want(intake, used + stored, error));
        if (pyro_input_buffer_left(intake) < used + stored)
            break;
        used += stored;
        plain += block.plain;
        finished = block.ends_stream;
    }
    if (used == 0)
        return PYRO_OK;
    PYRO_TRY(pyro_unit_set(unit, pyro_input_buffer_at(intake), used, plain, error));
    unit->format = format;
    pyro_input_buffer_skip(intake, used);
    stream->finished = finished;
    return PYRO_OK;
}

enum pyro_status pyro_codec_blocks_unpack_unit(struct pyro_unit *unit, void *plain, size_t *ret_len,
                                               const char **ret_damage, struct pyro_error *error)
{
    const struct pyro_codec_block_format *format = unit->format;
    (void)error;
    *ret_len = 0;
    for (size_t place = 0; place < unit->len;) {
        struct pyro_codec_block block = {0};
        *ret_damage = format->parse(unit->stored + place, unit->len - place, &block);
        if (!*ret_damage && block.plain > 0)
            *ret_damage =
                format->decode(&block, unit->stored + place + block.header, (unsigned char *)plain + *ret_len);
        if (*ret_damage)
            break;
        *ret_len += block.plain;
        place += block.header + block.stored;
    }
    return PYRO_OK;
}
