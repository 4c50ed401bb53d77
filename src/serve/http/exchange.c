/* One request: its headers, its body, the service that answers. */
#include "base/memory.h"
#include "serve/http/server.h"

/* What is read and dropped of a body that is too long, so that the client reads why instead of finding itself cut. */
enum { DROPPED_BYTES = 16 << 20 };

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
    } methods[] = {{MHD_HTTP_METHOD_GET, SERVE_GET},       {MHD_HTTP_METHOD_HEAD, SERVE_GET},
                   {MHD_HTTP_METHOD_POST, SERVE_POST},     {MHD_HTTP_METHOD_PUT, SERVE_PUT},
                   {MHD_HTTP_METHOD_DELETE, SERVE_DELETE}, {MHD_HTTP_METHOD_OPTIONS, SERVE_OPTIONS}};
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

/* ---- The service, on a worker's thread --------------------------------------------------------------------------- */

static void answer_with_service(struct exchange *exchange)
{
    struct body *body = &exchange->body;
    struct serve_request *request = &exchange->request;
    pyro_body_finish(body);
    if (!request->method) {
        pyro_serve_plain(request, 405, "HTTP 405 Method Not Allowed");
    } else if (body->too_long && body->limit) {
        pyro_serve_plain(request, 413, "the body is longer than %llu bytes, which is the most taken here",
                         (unsigned long long)body->limit);
    } else if (body->error) {
        pyro_serve_plain(request, 507, "the body could not be kept: %s", strerror(body->error));
    } else {
        request->catalog = exchange->server->catalog;
        MHD_get_connection_values_n(exchange->connection, MHD_GET_ARGUMENT_KIND, take_parameter, request);
        request->body = pyro_strbuf_slice(&body->text);
        request->body_file = body->path;
        request->body_bytes = body->bytes;
        request->upload_folder = exchange->server->uploads.folder;
        pyro_serve_answer(request, exchange->url);
    }
}

static void work(struct work *work)
{
    struct exchange *exchange = (struct exchange *)work;
    answer_with_service(exchange);
    exchange->step = EXCHANGE_ANSWER;
    MHD_resume_connection(exchange->connection);
}

/* ---- The event loop ---------------------------------------------------------------------------------------------- */

static struct exchange *begin(struct pyro_server *server, struct MHD_Connection *connection, const char *url,
                              const char *method)
{
    struct exchange *exchange = pyro_allocate(NULL, sizeof(*exchange));
    if (!exchange)
        return NULL;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    *exchange = (struct exchange){.work.run = work,
                                  .server = server,
                                  .connection = connection,
                                  .place = info ? info->socket_context : NULL,
                                  .url = url,
                                  .request = {.method = read_method(method), .out = &exchange->out}};
    pyro_strbuf_init(&exchange->out, NULL);
    exchange->request.role = SERVE_ROLE_ADMIN;
    exchange->request.transport = connection;
    size_t limit = exchange->request.method ? pyro_serve_body_limit(url, exchange->request.method) : 0;
    bool to_file = limit == SERVE_TO_FILE;
    pyro_body_begin(&exchange->body, to_file ? server->max_upload_bytes : limit,
                    to_file ? server->uploads.folder : NULL);
    pyro_connection_takes_body(&server->connections, exchange->place, 0);
    pthread_mutex_lock(&server->mutex);
    server->exchanges++;
    pthread_mutex_unlock(&server->mutex);
    return exchange;
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t *data_size)
{
    struct body *body = &exchange->body;
    pyro_body_take(body, data, *data_size);
    *data_size = 0;
    pyro_connection_takes_body(&exchange->server->connections, exchange->place, body->bytes + 1);
    return body->dropped > DROPPED_BYTES ? MHD_NO : MHD_YES;
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
    if (*data_size)
        return take_body(exchange, data, data_size);
    if (exchange->step == EXCHANGE_ANSWER)
        return pyro_http_respond(exchange);
    if (exchange->step == EXCHANGE_BODY) {
        exchange->step = EXCHANGE_WORK;
        pyro_connection_is_worked_on(&server->connections, exchange->place);
        MHD_suspend_connection(connection);
        pyro_workers_submit(&server->workers, &exchange->work);
    }
    return MHD_YES;
}

void pyro_http_end(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    struct pyro_server *server = context;
    struct exchange *exchange = *state;
    (void)connection;
    (void)why;
    if (!exchange)
        return;
    pyro_connection_waits(&server->connections, exchange->place);
    pyro_body_done(&exchange->body);
    pyro_strbuf_done(&exchange->out);
    pthread_mutex_lock(&server->mutex);
    server->answer_bytes -= exchange->answer_bytes;
    server->exchanges--;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->mutex);
    pyro_release(NULL, exchange);
    *state = NULL;
}
