/* Answers of text, compressed for clients that say they take it. */
#include <limits.h>
#include <zlib.h>

#include "base/memory/allocator.h"
#include "serve/http/server.h"

/* Shorter ones fit one packet anyway; of longer ones the client waits for the compression. */
enum { SHORTEST = 1024, LONGEST = 64 << 20, GZIP_WINDOW = 15 + 16, LEVEL = 1, MEMORY_LEVEL = 8 };

/* Whether the list of codings has gzip, and not with q=0. */
static bool takes_gzip(struct pyro_slice codings)
{
    const char *at = codings.ptr ? memmem(codings.ptr, codings.len, "gzip", 4) : NULL;
    if (!at)
        return false;
    size_t rest = codings.len - (size_t)(at - codings.ptr);
    const char *comma = memchr(at, ',', rest);
    size_t len = comma ? (size_t)(comma - at) : rest;
    return !memmem(at, len, "q=0", 3) || memmem(at, len, "q=0.", 4);
}

static bool is_text(const char *type)
{
    static const char *const types[] = {"application/json", "text/", "application/javascript", "image/svg+xml"};
    for (size_t i = 0; type && i < sizeof(types) / sizeof(*types); i++)
        if (strncmp(type, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

static bool deflate_all(const struct pyro_strbuf *from, struct pyro_strbuf *to)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    bool done = pyro_strbuf_reserve(to, deflateBound(&stream, from->len));
    if (done) {
        stream.next_in = (unsigned char *)from->data;
        stream.avail_in = (unsigned)from->len;
        stream.next_out = (unsigned char *)to->data;
        stream.avail_out = (unsigned)(to->capacity - 1);
        done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
        to->len = stream.total_out;
    }
    deflateEnd(&stream);
    return done;
}

/* ---- Answers that are made while they are sent ---- */

struct deflated {
    struct serve_stream inner;
    z_stream stream;
    bool ended; /* the inner one */
    unsigned char from[128 << 10];
};

static int64_t read_deflated(void *context, char *buffer, size_t size)
{
    struct deflated *deflated = context;
    z_stream *stream = &deflated->stream;
    int result = Z_OK;
    stream->next_out = (unsigned char *)buffer;
    stream->avail_out = (unsigned)(size < UINT_MAX ? size : UINT_MAX);
    unsigned room = stream->avail_out;
    while (result == Z_OK && stream->avail_out > 0) {
        if (stream->avail_in == 0 && !deflated->ended) {
            int64_t got = deflated->inner.read(deflated->inner.context, (char *)deflated->from, sizeof(deflated->from));
            if (got == SERVE_STREAM_BROKEN || got > (int64_t)sizeof(deflated->from))
                return SERVE_STREAM_BROKEN;
            if (got == SERVE_STREAM_LATER)
                break;
            deflated->ended = got == SERVE_STREAM_END;
            stream->next_in = deflated->from;
            stream->avail_in = got > 0 ? (unsigned)got : 0;
        }
        result = deflate(stream, deflated->ended ? Z_FINISH : Z_NO_FLUSH);
    }
    if (result != Z_OK && result != Z_STREAM_END)
        return SERVE_STREAM_BROKEN;
    if (stream->avail_out < room)
        return room - stream->avail_out;
    return result == Z_STREAM_END ? SERVE_STREAM_END : SERVE_STREAM_LATER;
}

static void close_deflated(void *context)
{
    struct deflated *deflated = context;
    if (deflated->inner.close)
        deflated->inner.close(deflated->inner.context);
    deflateEnd(&deflated->stream);
    pyro_release(NULL, deflated);
}

static void compress_stream(struct serve_request *request)
{
    struct deflated *deflated = pyro_allocate(NULL, sizeof(*deflated));
    if (!deflated)
        return;
    deflated->inner = request->stream;
    deflated->stream = (z_stream){0};
    deflated->ended = false;
    if (deflateInit2(&deflated->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        pyro_release(NULL, deflated);
        return;
    }
    request->stream = (struct serve_stream){read_deflated, close_deflated, deflated, -1};
    pyro_serve_header(request, MHD_HTTP_HEADER_CONTENT_ENCODING, PYRO_SLICE_LITERAL("gzip"));
}

/* Streams of events must not wait in a compressor, and archives are compressed. */
static bool is_worth_it(const struct serve_request *request)
{
    const struct pyro_strbuf *out = request->out;
    if (request->stream.read)
        return request->stream.length < 0 && request->type && strcmp(request->type, "application/json") == 0;
    return !out->failed && out->len >= SHORTEST && out->len <= LONGEST && is_text(request->type);
}

void pyro_exchange_compress(struct serve_request *request)
{
    struct pyro_strbuf *out = request->out, smaller;
    if (!is_worth_it(request) || request->header_count + 2 > SERVE_HEADERS)
        return;
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, MHD_HTTP_HEADER_CONTENT_ENCODING) == 0)
            return;
    pyro_serve_header(request, MHD_HTTP_HEADER_VARY, PYRO_SLICE_LITERAL("Accept-Encoding"));
    if (!takes_gzip(pyro_serve_request_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING)))
        return;
    if (request->stream.read) {
        compress_stream(request);
        return;
    }
    pyro_strbuf_init(&smaller, NULL);
    if (deflate_all(out, &smaller) && smaller.len < out->len) {
        struct pyro_strbuf whole = *out;
        *out = smaller;
        smaller = whole;
        pyro_serve_header(request, MHD_HTTP_HEADER_CONTENT_ENCODING, PYRO_SLICE_LITERAL("gzip"));
    }
    pyro_strbuf_done(&smaller);
}
