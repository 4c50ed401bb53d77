/* The public decoder: one log, fed in pieces. */
#include "analyze/analyze.h"
#include "base/memory/allocator.h"
#include "base/options.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "load/feed.h"

struct pyro_decoder {
    struct pyro_load_settings options;
    struct pyro_builder builder;
    struct pyro_feed feed;
    bool finished;
    char *path;
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to decode the log");
}

static bool apply(void *context, const struct pyro_batch *batch)
{
    return pyro_builder_apply(context, batch);
}

static bool reject_long(void *context, uint64_t len)
{
    return pyro_builder_reject_long(context, len);
}

enum pyro_status pyro_decoder_new(const char *path, const struct pyro_load_options *load,
                                  const struct pyro_options *options, pyro_decoder **ret, struct pyro_error *error)
{
    struct pyro_load_settings resolved;
    pyro_error_clear(error);
    PYRO_TRY(pyro_load_resolve(load, options, &resolved, error));
    if (!path || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_decoder_new(): the path or the place for the result is missing");
    size_t path_bytes = strlen(path) + 1;
    struct pyro_decoder *decoder = pyro_allocate(resolved.allocator, sizeof(*decoder) + path_bytes);
    if (!decoder)
        return no_memory(error);
    *decoder = (struct pyro_decoder){.options = resolved, .path = (char *)(decoder + 1)};
    memcpy(decoder->path, path, path_bytes);
    const struct pyro_load_sink sink = {
        .context = &decoder->builder, .wanted = resolved.wanted, .apply = apply, .reject_long = reject_long};
    pyro_feed_init(&decoder->feed, resolved.allocator, &sink, resolved.max_record_bytes);
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
    pyro_feed_done(&decoder->feed);
    pyro_builder_done(&decoder->builder);
    pyro_release(decoder->options.allocator, decoder);
}

enum pyro_status pyro_decoder_feed(pyro_decoder *decoder, const void *bytes, size_t len, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!decoder || (len && !bytes) || decoder->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_decoder_feed(): the decoder or the bytes are missing, or the decoder is finished");
    return pyro_feed_add(&decoder->feed, bytes, len) ? PYRO_OK : no_memory(error);
}

static enum pyro_status hand_over(struct pyro_decoder *decoder, bool copy, pyro_app **ret, struct pyro_error *error)
{
    const struct pyro_log_facts facts = {.in_progress = copy};
    struct pyro_app *app = NULL;
    PYRO_TRY(pyro_builder_check_single(&decoder->builder, error));
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
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_decoder_snapshot(): the decoder is missing or finished");
    return hand_over(decoder, true, ret, error);
}

enum pyro_status pyro_decoder_finish(pyro_decoder *decoder, pyro_app **ret, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!decoder || !ret || decoder->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_decoder_finish(): the decoder is missing or already finished");
    if (!pyro_feed_end(&decoder->feed))
        return no_memory(error);
    decoder->finished = true;
    if (pyro_builder_known_events(&decoder->builder) == 0) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "this is not a Spark event log: it has no Spark event");
        pyro_error_at(error, decoder->path, UINT64_MAX);
        return pyro_error_lasts(error, PYRO_ERROR_INPUT);
    }
    PYRO_TRY(pyro_builder_require_application(&decoder->builder, decoder->path, error));
    return hand_over(decoder, false, ret, error);
}
