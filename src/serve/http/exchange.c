/* One request: its headers, its body, the service that answers. */
#include "serve/http/server.h"

#include "base/memory.h"

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *key, size_t key_len,
                                      const char *value, size_t value_len)
{
    struct serve_request *request = context;
    (void)kind;
    if (request->parameter_count < SERVE_PARAMETERS)
        request->parameters[request->parameter_count++] = (struct serve_parameter){
            {key, key_len}, value ? (struct pyro_slice){value, value_len} : PYRO_SLICE_LITERAL("")};
    return MHD_YES;
}

static enum serve_method read_method(const char *name)
{
    static const struct {
        const char *name;
        enum serve_method method;
    } methods[] = {{MHD_HTTP_METHOD_GET, SERVE_GET},
                   {MHD_HTTP_METHOD_HEAD, SERVE_GET},
                   {MHD_HTTP_METHOD_POST, SERVE_POST},
                   {MHD_HTTP_METHOD_PUT, SERVE_PUT},
                   {MHD_HTTP_METHOD_DELETE, SERVE_DELETE}};
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (strcmp(name, methods[i].name) == 0)
            return methods[i].method;
    return (enum serve_method)0;
}

struct pyro_slice pyro_serve_request_header(const struct serve_request *request, const char *name)
{
    const char *value = NULL;
    size_t len = 0;
    if (!request->transport ||
        MHD_lookup_connection_value_n(request->transport, MHD_HEADER_KIND, name, strlen(name), &value, &len) != MHD_YES)
        return PYRO_SLICE_NULL;
    return value ? (struct pyro_slice){value, len} : PYRO_SLICE_LITERAL("");
}

static struct exchange *begin(struct pyro_server *server, struct MHD_Connection *connection, const char *url,
                              const char *method)
{
    struct exchange *exchange = pyro_allocate(NULL, sizeof(*exchange));
    if (!exchange)
        return NULL;
    *exchange = (struct exchange){.server = server, .connection = connection, .method = read_method(method)};
    size_t limit = exchange->method ? pyro_serve_body_limit(url, exchange->method) : 0;
    bool to_file = limit == SERVE_TO_FILE;
    pyro_body_begin(&exchange->body, to_file ? server->max_upload_bytes : limit,
                    to_file ? server->uploads.folder : NULL);
    return exchange;
}

static void answer_with_service(struct exchange *exchange, struct serve_request *request, const char *url)
{
    struct body *body = &exchange->body;
    pyro_body_finish(body);
    if (!exchange->method) {
        pyro_serve_plain(request, 405, "HTTP 405 Method Not Allowed");
    } else if (body->too_long && body->limit) {
        pyro_serve_plain(request, 413, "the body is longer than %llu bytes, which is the most taken here",
                         (unsigned long long)body->limit);
    } else if (body->error) {
        pyro_serve_plain(request, 507, "the body could not be kept: %s", strerror(body->error));
    } else {
        request->catalog = exchange->server->catalog;
        MHD_get_connection_values_n(exchange->connection, MHD_GET_ARGUMENT_KIND, take_parameter, request);
        pyro_serve_answer(request, url);
    }
}

enum MHD_Result pyro_http_answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                 const char *version, const char *data, size_t *data_size, void **state)
{
    struct pyro_server *server = context;
    struct exchange *exchange = *state;
    (void)version;
    if (!exchange) { /* called first when the headers are there */
        *state = begin(server, connection, url, method);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*data_size) {
        pyro_body_take(&exchange->body, data, *data_size);
        *data_size = 0;
        return MHD_YES;
    }
    struct pyro_strbuf out;
    pyro_strbuf_init(&out, NULL);
    struct serve_request request = {.out = &out,
                                    .method = exchange->method,
                                    .body = pyro_strbuf_slice(&exchange->body.text),
                                    .body_file = exchange->body.path,
                                    .body_bytes = exchange->body.bytes,
                                    .upload_folder = server->uploads.folder,
                                    .role = SERVE_ROLE_ADMIN,
                                    .transport = connection};
    answer_with_service(exchange, &request, url);
    enum MHD_Result result = pyro_http_respond(connection, &request);
    pyro_strbuf_done(&out);
    return result;
}

void pyro_http_end(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *state;
    (void)context;
    (void)connection;
    (void)why;
    if (exchange) {
        pyro_body_done(&exchange->body);
        pyro_release(NULL, exchange);
        *state = NULL;
    }
}
