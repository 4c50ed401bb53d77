/* Zstandard, by libzstd's streaming decoder: Spark's zstd codec, and what the zstd command writes. */
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory/allocator.h"
#include "source/codecs/input_buffer.h"
#include "source/codecs/zstd_frame.h"

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

static enum pyro_status zstd_take(void *opaque, struct pyro_unit *unit, struct pyro_error *error)
{
    struct zstd_state *state = opaque;
    struct pyro_input_buffer *intake = &state->intake;
    size_t used = 0, plain = 0;
    unit->len = 0;
    if (state->in_frame || state->has_output)
        return PYRO_OK;
    PYRO_TRY(pyro_input_buffer_want(intake, 1, error));
    while (used < PYRO_UNIT_STORED_BYTES) {
        struct pyro_zstd_frame frame;
        size_t left = pyro_input_buffer_left(intake);
        enum pyro_zstd_frame_state found =
            pyro_zstd_frame_find(pyro_input_buffer_at(intake) + used, left - used, &frame);
        if (found == PYRO_ZSTD_FRAME_CUT && used == 0 && left < PYRO_UNIT_FRAME_STORED_MOST) {
            PYRO_TRY(pyro_input_buffer_want(intake, left + 1, error));
            if (pyro_input_buffer_left(intake) > left)
                continue;
        }
        if (found != PYRO_ZSTD_FRAME_WHOLE || plain + frame.plain_most > PYRO_UNIT_PLAIN_MOST)
            break;
        used += frame.stored;
        plain += frame.plain_most;
    }
    if (used == 0)
        return PYRO_OK;
    PYRO_TRY(pyro_unit_set(unit, pyro_input_buffer_at(intake), used, plain, error));
    pyro_input_buffer_skip(intake, used);
    return PYRO_OK;
}

struct stored_bytes {
    const unsigned char *at;
    size_t len;
};

static enum pyro_status read_stored(void *context, void *buffer, size_t capacity, size_t *ret_len,
                                    struct pyro_error *error)
{
    struct stored_bytes *stored = context;
    (void)error;
    *ret_len = stored->len < capacity ? stored->len : capacity;
    memcpy(buffer, stored->at, *ret_len);
    stored->at += *ret_len;
    stored->len -= *ret_len;
    return PYRO_OK;
}

/* A frame that does not decompress at once: what the streaming decoder gives before it finds the damage. */
static enum pyro_status unpack_damaged(const struct pyro_unit *unit, struct stored_bytes stored, unsigned char *plain,
                                       size_t capacity, size_t *ret_len, const char **ret_damage,
                                       struct pyro_error *error)
{
    void *state = NULL;
    size_t len = 0, got = 1;
    enum pyro_status status = zstd_open(unit->allocator, (struct pyro_byte_input){read_stored, &stored}, &state, error);
    if (!state)
        return status;
    while (status == PYRO_OK && got > 0 && len < capacity) {
        status = zstd_read(state, plain + len, capacity - len, &got, ret_damage, error);
        len += status == PYRO_OK ? got : 0;
    }
    if (status == PYRO_OK && got > 0 && !*ret_damage) /* behind the last byte that there may be, damage may follow */
        status = zstd_read(state, &(unsigned char){0}, 1, &got, ret_damage, error);
    zstd_close(state);
    *ret_len = len;
    return status;
}

static enum pyro_status zstd_unpack(struct pyro_unit *unit, void *plain, size_t *ret_len, const char **ret_damage,
                                    struct pyro_error *error)
{
    ZSTD_DCtx *context = unit->scratch;
    struct stored_bytes rest = {unit->stored, unit->len};
    *ret_len = 0;
    if (!context)
        context = unit->scratch = ZSTD_createDCtx();
    if (!context)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a zstd decompressor");
    while (rest.len > 0) {
        struct pyro_zstd_frame frame = {0};
        unsigned char *to = (unsigned char *)plain + *ret_len;
        size_t room = unit->plain_most - *ret_len, got = 0;
        if (pyro_zstd_frame_find(rest.at, rest.len, &frame) != PYRO_ZSTD_FRAME_WHOLE)
            frame.stored = rest.len; /* never: take found it */
        got = ZSTD_decompressDCtx(context, to, room, rest.at, frame.stored);
        if (ZSTD_isError(got)) {
            enum pyro_status status = unpack_damaged(unit, rest, to, room, &got, ret_damage, error);
            *ret_len += status == PYRO_OK ? got : 0;
            return status;
        }
        *ret_len += got;
        rest.at += frame.stored;
        rest.len -= frame.stored;
    }
    return PYRO_OK;
}

static void zstd_unpack_done(void *scratch)
{
    ZSTD_freeDCtx(scratch);
}

const struct pyro_codec pyro_codec_zstd = {
    .name = "zstd",
    .recognises = recognises,
    .open = zstd_open,
    .read = zstd_read,
    .close = zstd_close,
    .take = zstd_take,
    .unpack = zstd_unpack,
    .unpack_done = zstd_unpack_done,
};
