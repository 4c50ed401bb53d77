/* The answer on the wire: headers that every answer has, conditional requests, bodies from memory and from streams. */
#include "serve/http/server.h"

/* Answers beyond SMALL count: all that clients have not read yet may take the server's most_answer_bytes. */
enum { SMALL = 64 << 10, BLOCK = 256 << 10 };

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

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

/* An answer in memory goes with its exchange, which lives until it is sent. */
static ssize_t read_text(void *context, uint64_t position, char *buffer, size_t size)
{
    const struct exchange *exchange = context;
    size_t rest = exchange->out.len - (size_t)position, len = rest < size ? rest : size;
    memcpy(buffer, exchange->out.data + position, len);
    return (ssize_t)len;
}

/* Whether there is room for the answer beside those that clients have not read yet. */
static bool reserve(struct exchange *exchange)
{
    struct pyro_server *server = exchange->server;
    pthread_mutex_lock(&server->mutex);
    bool fits = server->answer_bytes == 0 || server->answer_bytes + exchange->out.len <= server->most_answer_bytes;
    if (fits) {
        exchange->answer_bytes = exchange->out.len;
        server->answer_bytes += exchange->answer_bytes;
    }
    pthread_mutex_unlock(&server->mutex);
    return fits;
}

static struct MHD_Response *respond_with_text(struct exchange *exchange)
{
    if (exchange->out.len > SMALL && !reserve(exchange)) {
        pyro_serve_plain(&exchange->request, 503,
                         "too many large answers are waiting for their clients; try again later");
        pyro_serve_header(&exchange->request, MHD_HTTP_HEADER_RETRY_AFTER, PYRO_SLICE_LITERAL("5"));
    }
    const struct pyro_strbuf *body = &exchange->out;
    pyro_connection_sends(&exchange->server->connections, exchange->place, body->len);
    if (body->failed)
        return NULL;
    if (body->len > SMALL)
        return MHD_create_response_from_callback(body->len, BLOCK, read_text, exchange, NULL);
    return body->len ? MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY)
                     : MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *create(struct exchange *exchange)
{
    struct serve_request *request = &exchange->request;
    if (!request->stream.read)
        return respond_with_text(exchange);
    struct pyro_server *server = exchange->server;
    struct MHD_Response *response = pyro_stream_response(&server->streams, &request->stream, exchange->connection,
                                                         &server->connections, exchange->place);
    if (response)
        return response;
    pyro_serve_plain(request, 503, "too many answers are being streamed; try again later");
    return respond_with_text(exchange);
}

static void leave_out_body(struct serve_request *request)
{
    if (request->stream.read && request->stream.close)
        request->stream.close(request->stream.context);
    request->stream.read = NULL;
    pyro_strbuf_clear(request->out);
    request->status = 304;
}

/* Nothing of the server is shown in frames or run from elsewhere; answers for programs run nothing at all. */
static const char *policy(const char *type)
{
    return type && strncmp(type, "text/html", 9) == 0
               ? "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
                 "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
               : "default-src 'none'; frame-ancestors 'none'";
}

static void add_headers(const struct exchange *exchange, struct MHD_Response *response)
{
    const struct serve_request *request = &exchange->request;
    const char *origin = pyro_access_allowed_origin(&exchange->server->access, request);
    if (request->type && request->status != 304 && request->status != 204)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, request->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", origin ? "cross-origin" : "same-origin");
    if (!given(request, "Content-Security-Policy"))
        MHD_add_response_header(response, "Content-Security-Policy", policy(request->type));
    if (!given(request, MHD_HTTP_HEADER_CACHE_CONTROL))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache, no-store, must-revalidate");
    if (origin) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
        MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Origin");
    }
    for (size_t i = 0; i < request->header_count; i++)
        MHD_add_response_header(response, request->headers[i].name, request->headers[i].value);
}

enum MHD_Result pyro_exchange_respond(struct exchange *exchange)
{
    struct serve_request *request = &exchange->request;
    if (is_unchanged(request))
        leave_out_body(request);
    struct MHD_Response *response = create(exchange);
    if (!response)
        return MHD_NO;
    add_headers(exchange, response);
    if (pyro_server_is_stopping(exchange->server) || exchange->chunked)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result queued = MHD_queue_response(exchange->connection, request->status, response);
    MHD_destroy_response(response);
    return queued;
}
