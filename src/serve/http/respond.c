/* The answer on the wire: headers that every answer has, conditional requests, bodies from memory and from streams. */
#include "serve/http/server.h"

#include "base/memory.h"

enum { STREAM_BLOCK = 64 << 10 };

static const char *given(const struct serve_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, name) == 0)
            return request->headers[i].value;
    return NULL;
}

/* Whether If-None-Match names this tag; weak tags compare as strong ones (RFC 9110, 13.1.2). */
static bool names_tag(struct pyro_slice list, const char *tag)
{
    struct pyro_slice wanted = pyro_slice_from(strncmp(tag, "W/", 2) == 0 ? tag + 2 : tag);
    for (size_t i = 0; i < list.len;) {
        size_t end = i;
        while (end < list.len && list.ptr[end] != ',')
            end++;
        struct pyro_slice one = {list.ptr + i, end - i};
        while (one.len && *one.ptr == ' ')
            one = (struct pyro_slice){one.ptr + 1, one.len - 1};
        while (one.len && one.ptr[one.len - 1] == ' ')
            one.len--;
        if (one.len > 2 && memcmp(one.ptr, "W/", 2) == 0)
            one = (struct pyro_slice){one.ptr + 2, one.len - 2};
        if (pyro_slice_eq(one, wanted) || pyro_slice_is(one, "*"))
            return true;
        i = end + 1;
    }
    return false;
}

static bool is_unchanged(const struct serve_request *request)
{
    const char *tag = given(request, MHD_HTTP_HEADER_ETAG);
    if (!tag || request->status != 200 || request->method != SERVE_GET)
        return false;
    struct pyro_slice known = pyro_serve_request_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
    return known.ptr && names_tag(known, tag);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t size)
{
    struct serve_stream *stream = context;
    (void)position;
    int64_t got = stream->read(stream->context, buffer, size);
    if (got >= 0)
        return (ssize_t)got;
    return got == SERVE_STREAM_END ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void close_stream(void *context)
{
    struct serve_stream *stream = context;
    if (stream->close)
        stream->close(stream->context);
    pyro_release(NULL, stream);
}

static struct MHD_Response *respond_with_stream(const struct serve_request *request)
{
    struct serve_stream *stream = pyro_allocate(NULL, sizeof(*stream));
    struct MHD_Response *response = NULL;
    if (stream) {
        *stream = request->stream;
        response = MHD_create_response_from_callback(stream->length >= 0 ? (uint64_t)stream->length : MHD_SIZE_UNKNOWN,
                                                     STREAM_BLOCK, read_stream, stream, close_stream);
    }
    if (!response) {
        if (request->stream.close)
            request->stream.close(request->stream.context);
        pyro_release(NULL, stream);
    }
    return response;
}

static struct MHD_Response *respond_with_text(const struct pyro_strbuf *body)
{
    if (body->failed)
        return NULL;
    return body->len ? MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY)
                     : MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result pyro_http_respond(struct MHD_Connection *connection, struct serve_request *request)
{
    bool unchanged = is_unchanged(request);
    if (unchanged) {
        if (request->stream.read && request->stream.close)
            request->stream.close(request->stream.context);
        request->stream.read = NULL;
        pyro_strbuf_clear(request->out);
        request->status = 304;
    }
    struct MHD_Response *response =
        request->stream.read ? respond_with_stream(request) : respond_with_text(request->out);
    if (!response)
        return MHD_NO;
    if (!unchanged)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, request->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (!given(request, MHD_HTTP_HEADER_CACHE_CONTROL))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache, no-store, must-revalidate");
    for (size_t i = 0; i < request->header_count; i++)
        MHD_add_response_header(response, request->headers[i].name, request->headers[i].value);
    enum MHD_Result queued = MHD_queue_response(connection, request->status, response);
    MHD_destroy_response(response);
    return queued;
}
