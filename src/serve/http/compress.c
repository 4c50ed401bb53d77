/* Answers of text, compressed for clients that say they take it. */
#include <zlib.h>

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

void pyro_http_compress(struct serve_request *request)
{
    struct pyro_strbuf *out = request->out, smaller;
    if (request->stream.read || out->failed || out->len < SHORTEST || out->len > LONGEST || !is_text(request->type) ||
        request->header_count + 2 > SERVE_HEADERS)
        return;
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, MHD_HTTP_HEADER_CONTENT_ENCODING) == 0)
            return;
    pyro_serve_header(request, MHD_HTTP_HEADER_VARY, PYRO_SLICE_LITERAL("Accept-Encoding"));
    if (!takes_gzip(pyro_serve_request_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING)))
        return;
    pyro_strbuf_init(&smaller, NULL);
    if (deflate_all(out, &smaller) && smaller.len < out->len) {
        struct pyro_strbuf whole = *out;
        *out = smaller;
        smaller = whole;
        pyro_serve_header(request, MHD_HTTP_HEADER_CONTENT_ENCODING, PYRO_SLICE_LITERAL("gzip"));
    }
    pyro_strbuf_done(&smaller);
}
