/* HTTP around the services: libmicrohttpd, one thread a connection. */
#include "base/error.h"
#include "base/memory.h"

#ifdef HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>

#include "serve/request.h"

enum { CONNECTIONS = 128, CONNECTIONS_PER_ADDRESS = 64, IDLE_SECONDS = 30, HEADER_BYTES = 32 << 10 };

struct pyro_server {
    struct MHD_Daemon *daemon;
    pthread_t scanner;
    bool scanning; /* the thread was started */
    char *folder;
    uint64_t memory_bytes;
    unsigned port;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    bool ready;
    struct serve_catalog *catalog; /* NULL once ready: `error` says why */
    struct pyro_error error;
};

static void *scan(void *context)
{
    struct pyro_server *server = context;
    struct serve_catalog *catalog = NULL;
    struct pyro_error error = {0};
    if (pyro_serve_catalog_open(server->folder, server->memory_bytes, &catalog, &error) != PYRO_OK)
        catalog = NULL;
    pthread_mutex_lock(&server->mutex);
    server->catalog = catalog;
    server->error = error;
    server->ready = true;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->mutex);
    return NULL;
}

/* The first scan may still be under way. */
static struct serve_catalog *wait_for_catalog(struct pyro_server *server)
{
    pthread_mutex_lock(&server->mutex);
    while (!server->ready)
        pthread_cond_wait(&server->changed, &server->mutex);
    pthread_mutex_unlock(&server->mutex);
    return server->catalog;
}

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct serve_request *request = context;
    (void)kind;
    if (request->parameter_count < SERVE_PARAMETERS)
        request->parameters[request->parameter_count++] =
            (struct serve_parameter){pyro_slice_from(key), value ? pyro_slice_from(value) : PYRO_SLICE_LITERAL("")};
    return MHD_YES;
}

static enum MHD_Result respond(struct MHD_Connection *connection, const struct serve_request *request)
{
    const struct pyro_strbuf *body = request->out;
    if (body->failed)
        return MHD_NO;
    struct MHD_Response *response = body->len
                                        ? MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY)
                                        : MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, request->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache, no-store, must-revalidate");
    for (size_t i = 0; i < request->header_count; i++)
        MHD_add_response_header(response, request->headers[i].name, request->headers[i].value);
    enum MHD_Result queued = MHD_queue_response(connection, request->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* A request while its body comes in. */
struct exchange {
    struct pyro_strbuf body;
    size_t limit;
    bool too_long;
};

static bool read_method(const char *name, enum serve_method *ret)
{
    static const struct {
        const char *name;
        enum serve_method method;
    } methods[] = {{MHD_HTTP_METHOD_GET, SERVE_GET},
                   {MHD_HTTP_METHOD_HEAD, SERVE_GET},
                   {MHD_HTTP_METHOD_POST, SERVE_POST},
                   {MHD_HTTP_METHOD_PUT, SERVE_PUT},
                   {MHD_HTTP_METHOD_DELETE, SERVE_DELETE}};
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        if (strcmp(name, methods[i].name) == 0) {
            *ret = methods[i].method;
            return true;
        }
    }
    return false;
}

static struct exchange *begin(const char *url, const char *method)
{
    struct exchange *exchange = pyro_allocate(NULL, sizeof(*exchange));
    enum serve_method known;
    if (exchange) {
        *exchange = (struct exchange){.limit = read_method(method, &known) ? pyro_serve_body_limit(url, known) : 0};
        pyro_strbuf_init(&exchange->body, NULL);
    }
    return exchange;
}

static void take_body(struct exchange *exchange, const char *data, size_t len)
{
    exchange->too_long |= len > exchange->limit - exchange->body.len;
    if (!exchange->too_long)
        pyro_strbuf_add(&exchange->body, data, len);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **state)
{
    struct pyro_server *server = context;
    struct exchange *exchange = *state;
    struct pyro_strbuf out;
    (void)version;
    if (!exchange) { /* called first when the headers are there */
        *state = begin(url, method);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*data_size) {
        take_body(exchange, data, *data_size);
        *data_size = 0;
        return MHD_YES;
    }
    pyro_strbuf_init(&out, NULL);
    struct serve_request request = {.out = &out, .body = pyro_strbuf_slice(&exchange->body)};
    if (!read_method(method, &request.method)) {
        pyro_serve_plain(&request, 405, "HTTP 405 Method Not Allowed");
    } else if (exchange->too_long && exchange->limit) {
        pyro_serve_plain(&request, 413, "the body is longer than %zu bytes, which is the most taken here",
                         exchange->limit);
    } else if (!(request.catalog = wait_for_catalog(server))) {
        pyro_serve_plain(&request, 500, "%s", server->error.message);
    } else {
        MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, &request);
        pyro_serve_answer(&request, url);
    }
    enum MHD_Result result = respond(connection, &request);
    pyro_strbuf_done(&out);
    return result;
}

static void end(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *state;
    (void)context;
    (void)connection;
    (void)why;
    if (exchange) {
        pyro_strbuf_done(&exchange->body);
        pyro_release(NULL, exchange);
    }
}

static enum pyro_status listen_on(struct pyro_server *server, const char *host, unsigned port, struct pyro_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%s' is no IPv4 address to listen on", host);
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, (uint16_t)port, NULL, NULL,
        answer, server, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_PER_ADDRESS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
        MHD_OPTION_NOTIFY_COMPLETED, end, NULL, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "cannot listen on %s:%u: is the port taken?", host, port);
    server->port = info->port;
    return PYRO_OK;
}

enum pyro_status pyro_server_start(const char *folder, const struct pyro_server_options *options, pyro_server **ret,
                                   struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!folder || !options || !ret || options->size != sizeof(*options) || options->port > 65535)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_server_start(): no folder, options or port");
    size_t bytes = strlen(folder) + 1;
    struct pyro_server *server = pyro_allocate(NULL, sizeof(*server) + bytes);
    if (!server)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    *server = (struct pyro_server){.folder = (char *)(server + 1),
                                   .memory_bytes = options->memory_bytes ? options->memory_bytes : (uint64_t)1 << 30};
    memcpy(server->folder, folder, bytes);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->changed, NULL);
    enum pyro_status status = listen_on(server, options->host ? options->host : "127.0.0.1", options->port, error);
    if (status == PYRO_OK) {
        server->scanning = pthread_create(&server->scanner, NULL, scan, server) == 0;
        if (!server->scanning)
            scan(server);
        *ret = server;
    } else {
        pyro_server_stop(server);
    }
    return status;
}

unsigned pyro_server_port(const pyro_server *server)
{
    return server->port;
}

void pyro_server_stop(pyro_server *server)
{
    if (!server)
        return;
    if (server->scanning)
        pthread_join(server->scanner, NULL);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    pyro_serve_catalog_close(server->catalog);
    pthread_mutex_destroy(&server->mutex);
    pthread_cond_destroy(&server->changed);
    pyro_release(NULL, server);
}

#else

enum pyro_status pyro_server_start(const char *folder, const struct pyro_server_options *options, pyro_server **ret,
                                   struct pyro_error *error)
{
    (void)folder;
    (void)options;
    (void)ret;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "this build has no server: install libmicrohttpd-dev and build it again");
}

unsigned pyro_server_port(const pyro_server *server)
{
    (void)server;
    return 0;
}

void pyro_server_stop(pyro_server *server)
{
    (void)server;
}
#endif
