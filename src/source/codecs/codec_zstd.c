/* Zstandard, by libzstd's streaming decoder: Spark's zstd codec, and what the zstd command writes. */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory/allocator.h"
#include "source/codecs/input_buffer.h"

/* What `zstd --ultra --long=30` makes; Spark's levels stay at 27. A window is reserved whole before the first byte is
 * known to be good, so a few hostile bytes must not ask for more. */
enum { WINDOW_LOG_MAX = 30 };

struct zstd_state {
    const struct pyro_allocator *allocator;
    struct pyro_input_buffer intake;
    ZSTD_DStream *stream;
    size_t first_hint; /* of a frame that has not begun */
    size_t hint;       /* input that completes the next block, as the library says */
    bool in_frame;     /* a frame has begun and not ended */
    bool has_output;   /* the last call filled the caller's buffer: more may wait inside the library */
};

static bool recognises(const unsigned char *head, size_t len)
{
    /* 0x184D2A50..5F begin skippable frames; parallel compressors write one first. */
    return pyro_magic_matches(head, len, "\x28\xb5\x2f\xfd", 4) ||
           (len >= 4 && (head[0] & 0xf0) == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18);
}

static void zstd_close(void *opaque)
{
    struct zstd_state *state = opaque;
    if (!state)
        return;
    ZSTD_freeDStream(state->stream);
    pyro_input_buffer_close(&state->intake);
    pyro_release(state->allocator, state);
}

static enum pyro_status zstd_open(const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                  void **ret_state, struct pyro_error *error)
{
    struct zstd_state *state = pyro_allocate(allocator, sizeof(*state));
    if (!state)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a decompressor");
    *state = (struct zstd_state){.allocator = allocator, .stream = ZSTD_createDStream()};
    enum pyro_status status = pyro_input_buffer_open(&state->intake, allocator, input, error);
    if (status == PYRO_OK && !state->stream)
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a zstd decompressor");
    if (status != PYRO_OK) {
        zstd_close(state);
        return status;
    }
    /* Cannot fail: the value is inside the bounds of every libzstd for 64-bit machines; elsewhere the default stays. */
    ZSTD_DCtx_setParameter(state->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    state->hint = state->first_hint = ZSTD_initDStream(state->stream);
    *ret_state = state;
    return PYRO_OK;
}

static const char *damage_of(size_t result)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_checksum_wrong:
        return "zstd stream is damaged: checksum mismatch";
    case ZSTD_error_prefix_unknown:
        return "zstd stream is damaged: the bytes after a frame are not a frame";
    case ZSTD_error_frameParameter_windowTooLarge:
        return "zstd stream needs a window larger than 1 GiB";
    case ZSTD_error_dictionary_wrong:
        return "zstd stream needs a dictionary";
    default:
        return "zstd stream is damaged: a block does not decompress";
    }
}

static enum pyro_status zstd_read(void *opaque, void *buffer, size_t capacity, size_t *ret_len, const char **ret_damage,
                                  struct pyro_error *error)
{
    struct zstd_state *state = opaque;
    ZSTD_outBuffer out = {buffer, capacity, 0};
    *ret_len = 0;
    while (out.pos == 0) {
        if (!state->has_output)
            PYRO_TRY(pyro_input_buffer_want(&state->intake, 1, error));
        size_t left = state->has_output ? 0 : pyro_input_buffer_left(&state->intake);
        if (left == 0 && !state->has_output) {
            *ret_damage = state->in_frame ? "zstd stream ends inside a frame" : NULL;
            return PYRO_OK;
        }
        /* Given more than one block at a time, or one while older output waits, the library would lose the good bytes
         * before a damaged block. */
        ZSTD_inBuffer in = {pyro_input_buffer_at(&state->intake), left < state->hint ? left : state->hint, 0};
        size_t result = ZSTD_decompressStream(state->stream, &out, &in);
        pyro_input_buffer_skip(&state->intake, in.pos);
        if (ZSTD_isError(result)) {
            if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
                return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for the window of a zstd stream");
            *ret_damage = damage_of(result);
            return PYRO_OK;
        }
        state->in_frame = result != 0;
        state->hint = result != 0 ? result : state->first_hint;
        state->has_output = out.pos == out.size && result != 0;
    }
    *ret_len = out.pos;
    return PYRO_OK;
}

const struct pyro_codec pyro_codec_zstd = {
    .name = "zstd",
    .recognises = recognises,
    .open = zstd_open,
    .read = zstd_read,
    .close = zstd_close,
};
