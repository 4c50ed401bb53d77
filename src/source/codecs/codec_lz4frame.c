/* LZ4 frames, as the lz4 command writes them: not Spark's own format, but what people recompress with. */
#include <lz4frame.h>

#include "base/memory/allocator.h"
#include "source/codecs/input_buffer.h"

struct lz4frame_state {
    const struct pyro_allocator *allocator;
    struct pyro_input_buffer intake;
    LZ4F_dctx *context;
    size_t hint;     /* input that completes the next block, as the library says */
    bool in_frame;   /* a frame has begun and not ended */
    bool has_output; /* the last call filled the caller's buffer: more may wait inside the library */
};

/* The shortest frame header; the library then says how much more it is. */
enum { FIRST_HINT = LZ4F_HEADER_SIZE_MIN };

static bool recognises(const unsigned char *head, size_t len)
{
    return pyro_magic_matches(head, len, "\x04\x22\x4d\x18", 4);
}

static void lz4frame_close(void *opaque)
{
    struct lz4frame_state *state = opaque;
    if (!state)
        return;
    LZ4F_freeDecompressionContext(state->context);
    pyro_input_buffer_close(&state->intake);
    pyro_release(state->allocator, state);
}

static enum pyro_status lz4frame_open(const struct pyro_allocator *allocator, struct pyro_byte_input input,
                                      void **ret_state, struct pyro_error *error)
{
    struct lz4frame_state *state = pyro_allocate(allocator, sizeof(*state));
    if (!state)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a decompressor");
    *state = (struct lz4frame_state){.allocator = allocator, .hint = FIRST_HINT};
    enum pyro_status status = pyro_input_buffer_open(&state->intake, allocator, input, error);
    if (status == PYRO_OK && LZ4F_isError(LZ4F_createDecompressionContext(&state->context, LZ4F_VERSION)))
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for an lz4 decompressor");
    if (status != PYRO_OK) {
        lz4frame_close(state);
        return status;
    }
    *ret_state = state;
    return PYRO_OK;
}

static enum pyro_status lz4frame_read(void *opaque, void *buffer, size_t capacity, size_t *ret_len,
                                      const char **ret_damage, struct pyro_error *error)
{
    struct lz4frame_state *state = opaque;
    *ret_len = 0;
    while (*ret_len == 0) {
        if (!state->has_output)
            PYRO_TRY(pyro_input_buffer_want(&state->intake, 1, error));
        size_t left = state->has_output ? 0 : pyro_input_buffer_left(&state->intake);
        if (left == 0 && !state->has_output) {
            *ret_damage = state->in_frame ? "lz4 stream ends inside a frame" : NULL;
            return PYRO_OK;
        }
        /* One block a call, and none while older output waits: what a call has decoded is lost when it fails. */
        size_t used = left < state->hint ? left : state->hint, made = capacity;
        size_t result =
            LZ4F_decompress(state->context, buffer, &made, pyro_input_buffer_at(&state->intake), &used, NULL);
        if (LZ4F_isError(result)) {
            *ret_damage = state->in_frame ? "lz4 stream is damaged: a frame does not decompress"
                                          : "lz4 stream is damaged: a frame does not begin with a frame header";
            return PYRO_OK;
        }
        pyro_input_buffer_skip(&state->intake, used);
        state->in_frame = result != 0;
        state->hint = result != 0 ? result : FIRST_HINT;
        state->has_output = made == capacity && result != 0;
        *ret_len = made;
    }
    return PYRO_OK;
}

const struct pyro_codec pyro_codec_lz4frame = {
    .name = "lz4",
    .recognises = recognises,
    .open = lz4frame_open,
    .read = lz4frame_read,
    .close = lz4frame_close,
};
