/* The public decoder: one log, fed in pieces. */
#include "analyze/analyze.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/options.h"
#include "decode/builder.h"
#include "load/chunk.h"

struct pyro_decoder {
    struct pyro_options options;
    struct pyro_builder builder;
    struct pyro_chunk chunk; /* its buffer holds what no newline has ended yet */
    uint64_t discarded;      /* bytes of a record beyond the limit that is being skipped; 0: none */
    bool finished;
    char *path;
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left while decoding");
}

enum pyro_status pyro_decoder_new(const char *path, const struct pyro_options *options, pyro_decoder **ret,
                                  struct pyro_error *error)
{
    struct pyro_options resolved;
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &resolved, error));
    if (!path || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_decoder_new(): no path or no place for the result");
    size_t path_bytes = strlen(path) + 1;
    struct pyro_decoder *decoder = pyro_allocate(resolved.allocator, sizeof(*decoder) + path_bytes);
    if (!decoder)
        return no_memory(error);
    *decoder = (struct pyro_decoder){.options = resolved, .path = (char *)(decoder + 1)};
    memcpy(decoder->path, path, path_bytes);
    pyro_chunk_init(&decoder->chunk, resolved.allocator, pyro_scan_best(), resolved.max_record_bytes, resolved.wanted);
    enum pyro_status status =
        pyro_builder_init(&decoder->builder, resolved.allocator, resolved.wanted, resolved.redaction, error);
    if (status == PYRO_OK && !pyro_builder_begin_part(&decoder->builder, pyro_slice_from(path)))
        status = no_memory(error);
    if (status != PYRO_OK) {
        pyro_decoder_free(decoder);
        return status;
    }
    *ret = decoder;
    return PYRO_OK;
}

void pyro_decoder_free(pyro_decoder *decoder)
{
    if (!decoder)
        return;
    pyro_chunk_done(&decoder->chunk);
    pyro_builder_done(&decoder->builder);
    pyro_release(decoder->options.allocator, decoder);
}

/* Decodes the first `len` bytes of the buffer, which are whole lines or the log's end, and moves the rest to the front.
 */
static bool decode_front(struct pyro_decoder *decoder, size_t len)
{
    struct pyro_chunk *chunk = &decoder->chunk;
    pyro_batch_clear(&chunk->batch);
    if (len && (!pyro_batch_decode(&chunk->batch, chunk->buffer, len) ||
                !pyro_builder_apply(&decoder->builder, &chunk->batch)))
        return false;
    chunk->len -= len;
    if (chunk->len)
        memmove(chunk->buffer, chunk->buffer + len, chunk->len);
    return true;
}

/* While a record beyond the limit is skipped: returns how many of the bytes belong to it. */
static size_t skip_long_record(struct pyro_decoder *decoder, const char *bytes, size_t len, bool *ret_ok)
{
    const char *newline = memchr(bytes, '\n', len);
    size_t used = newline ? (size_t)(newline + 1 - bytes) : len;
    decoder->discarded += used;
    *ret_ok = true;
    if (newline) {
        *ret_ok = pyro_builder_reject_long(&decoder->builder, decoder->discarded);
        decoder->discarded = 0;
    }
    return used;
}

enum pyro_status pyro_decoder_feed(pyro_decoder *decoder, const void *bytes, size_t len, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!decoder || (len && !bytes) || decoder->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_decoder_feed(): no decoder, no bytes, or finished");
    struct pyro_chunk *chunk = &decoder->chunk;
    const char *at = bytes, *end = at + len;
    while (at < end) {
        bool ok = true;
        if (decoder->discarded) {
            at += skip_long_record(decoder, at, (size_t)(end - at), &ok);
            if (!ok)
                return no_memory(error);
            continue;
        }
        size_t take = (size_t)(end - at) < PYRO_CHUNK_BYTES ? (size_t)(end - at) : PYRO_CHUNK_BYTES;
        if (!pyro_chunk_reserve(chunk, chunk->len + take))
            return no_memory(error);
        memcpy(chunk->buffer + chunk->len, at, take);
        const char *newline = memrchr(chunk->buffer + chunk->len, '\n', take);
        chunk->len += take;
        at += take;
        if (newline && !decode_front(decoder, (size_t)(newline + 1 - chunk->buffer)))
            return no_memory(error);
        if (chunk->len > decoder->options.max_record_bytes) {
            decoder->discarded = chunk->len;
            chunk->len = 0;
        }
    }
    return PYRO_OK;
}

static enum pyro_status hand_over(struct pyro_decoder *decoder, bool copy, pyro_app **ret, struct pyro_error *error)
{
    const struct pyro_log_facts facts = {.in_progress = copy};
    struct pyro_app *app = NULL;
    PYRO_TRY(pyro_builder_finish(&decoder->builder, &facts, copy, &app, error));
    app->path = pyro_intern_slice(app->strings, pyro_slice_from(decoder->path));
    enum pyro_status status = app->path.ptr ? pyro_analyze(app, error) : no_memory(error);
    if (status != PYRO_OK) {
        pyro_app_release(app);
        return status;
    }
    *ret = app;
    return PYRO_OK;
}

enum pyro_status pyro_decoder_snapshot(pyro_decoder *decoder, pyro_app **ret, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!decoder || !ret || decoder->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_decoder_snapshot(): no decoder, or finished");
    return hand_over(decoder, true, ret, error);
}

enum pyro_status pyro_decoder_finish(pyro_decoder *decoder, pyro_app **ret, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!decoder || !ret || decoder->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_decoder_finish(): no decoder, or finished before");
    if (!decode_front(decoder, decoder->chunk.len))
        return no_memory(error);
    if (decoder->discarded && !pyro_builder_reject_long(&decoder->builder, decoder->discarded))
        return no_memory(error);
    decoder->finished = true;
    if (pyro_builder_known_events(&decoder->builder) == 0) {
        pyro_error_set(error, PYRO_ERROR_INPUT, "this is no Spark event log: it holds not one Spark event");
        pyro_error_at(error, decoder->path, UINT64_MAX);
        return pyro_error_lasts(error, PYRO_ERROR_INPUT);
    }
    return hand_over(decoder, false, ret, error);
}
