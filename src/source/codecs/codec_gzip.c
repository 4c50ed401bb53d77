/* gzip, by zlib: Databricks rotates its logs with it, and people compress logs with it. Members may follow each other;
 * zero bytes after the last one are padding (tapes, block devices) and no damage, as for gzip itself. */
#define ZLIB_CONST
#include <limits.h>
#include <zlib.h>

#include "base/memory/allocator.h"
#include "source/codecs/input_buffer.h"

enum { WINDOW_BITS_GZIP = 15 + 16 };

struct gzip_state {
    const struct pyro_allocator *allocator;
    struct pyro_input_buffer intake;
    z_stream stream;
    bool between;       /* a member has ended: another one, padding, or the end may follow */
    const char *damage; /* found together with bytes that are handed out first */
};

static bool recognises(const unsigned char *head, size_t len)
{
    return pyro_magic_matches(head, len, "\x1f\x8b\x08", 3);
}

static voidpf zlib_allocate(voidpf opaque, uInt count, uInt size)
{
    size_t bytes;
    if (__builtin_mul_overflow((size_t)count, (size_t)size, &bytes))
        return NULL;
    return pyro_allocate(((struct gzip_state *)opaque)->allocator, bytes);
}

static void zlib_release(voidpf opaque, voidpf memory)
{
    pyro_release(((struct gzip_state *)opaque)->allocator, memory);
}

static void gzip_close(void *opaque)
{
    struct gzip_state *state = opaque;
    if (!state)
        return;
    inflateEnd(&state->stream);
    pyro_input_buffer_close(&state->intake);
    pyro_release(state->allocator, state);
}

static enum pyro_status gzip_open(const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                  void **ret_state, struct pyro_error *error)
{
    struct gzip_state *state = pyro_allocate(allocator, sizeof(*state));
    if (!state)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a decompressor");
    *state = (struct gzip_state){.allocator = allocator};
    state->stream = (z_stream){.zalloc = zlib_allocate, .zfree = zlib_release, .opaque = state};
    enum pyro_status status = pyro_input_buffer_open(&state->intake, allocator, input, error);
    if (status == PYRO_OK && inflateInit2(&state->stream, WINDOW_BITS_GZIP) != Z_OK)
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a gzip decompressor");
    if (status != PYRO_OK) {
        gzip_close(state);
        return status;
    }
    *ret_state = state;
    return PYRO_OK;
}

/* Between members: skips padding, and begins the next member. Sets *ret_ended where there is none. */
static enum pyro_status next_member(struct gzip_state *state, bool *ret_ended, struct pyro_error *error)
{
    struct pyro_input_buffer *intake = &state->intake;
    bool padded = false;
    for (;;) {
        PYRO_TRY(pyro_input_buffer_want(intake, 2, error));
        size_t left = pyro_input_buffer_left(intake);
        const unsigned char *at = pyro_input_buffer_at(intake);
        if (left == 0) {
            *ret_ended = true;
            return PYRO_OK;
        }
        if (at[0] == 0) {
            padded = true;
            pyro_input_buffer_skip(intake, 1);
        } else if (!padded && at[0] == 0x1f && (left < 2 || at[1] == 0x8b)) {
            inflateReset(&state->stream);
            state->between = false;
            return PYRO_OK;
        } else {
            state->damage = "gzip stream is damaged: the bytes after a member are not a gzip member";
            *ret_ended = true;
            return PYRO_OK;
        }
    }
}

static void inflate_some(struct gzip_state *state, void *buffer, size_t capacity, size_t *ret_len, bool *ret_no_memory)
{
    size_t left = pyro_input_buffer_left(&state->intake);
    z_stream *stream = &state->stream;
    stream->next_in = pyro_input_buffer_at(&state->intake);
    stream->avail_in = left > INT_MAX ? INT_MAX : (uInt)left;
    stream->next_out = buffer;
    stream->avail_out = capacity > INT_MAX ? INT_MAX : (uInt)capacity;
    uInt offered = stream->avail_in, room = stream->avail_out;
    int result = inflate(stream, Z_NO_FLUSH);
    pyro_input_buffer_skip(&state->intake, offered - stream->avail_in);
    *ret_len = room - stream->avail_out;
    if (result == Z_STREAM_END)
        state->between = true;
    else if (result == Z_MEM_ERROR)
        *ret_no_memory = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        state->damage = "gzip stream is damaged: a block does not decompress or its checksum is wrong";
}

static enum pyro_status gzip_read(void *opaque, void *buffer, size_t capacity, size_t *ret_len, const char **ret_damage,
                                  struct pyro_error *error)
{
    struct gzip_state *state = opaque;
    *ret_len = 0;
    while (*ret_len == 0 && !state->damage) {
        bool ended = false, no_memory = false;
        if (state->between) {
            PYRO_TRY(next_member(state, &ended, error));
            if (ended)
                break;
        }
        size_t before = pyro_input_buffer_left(&state->intake);
        inflate_some(state, buffer, capacity, ret_len, &no_memory);
        if (no_memory)
            return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for the window of a gzip stream");
        if (*ret_len > 0 || state->between || state->damage || pyro_input_buffer_left(&state->intake) < before)
            continue;
        /* No progress: everything the library holds is out, and it needs more input than there is. */
        PYRO_TRY(pyro_input_buffer_want(&state->intake, before + 1, error));
        if (pyro_input_buffer_left(&state->intake) == before)
            state->damage = "gzip stream ends inside a member";
    }
    if (*ret_len == 0)
        *ret_damage = state->damage;
    return PYRO_OK;
}

const struct pyro_codec pyro_codec_gzip = {
    .name = "gzip",
    .recognises = recognises,
    .open = gzip_open,
    .read = gzip_read,
    .close = gzip_close,
};
