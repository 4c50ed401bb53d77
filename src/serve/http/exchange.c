/* One request: its headers, its body, the service that answers. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "serve/http/framing.h"
#include "serve/http/server.h"

/* What is read and dropped of a body that is too long, so that the client reads why instead of finding itself cut. */
enum { DROPPED_BYTES = 16 << 20, LOGIN_BYTES = 4096, HEADER_BYTES = 32 << 10 };

#define TOO_LONG "the body is longer than %llu bytes, the maximum here"

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

static const struct sockaddr *address(const struct exchange *exchange)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- The service, on a worker's thread --------------------------------------------------------------------------- */

static void answer_with_service(struct exchange *exchange)
{
    struct body *body = &exchange->body;
    struct serve_request *request = &exchange->request;
    pyro_body_finish(body);
    request->parameter_count = 0; /* a second time, with a ticket */
    if (!request->method) {
        pyro_serve_plain(request, 405, "HTTP 405 Method Not Allowed");
    } else if (body->too_long && body->limit) {
        pyro_serve_plain(request, 413, TOO_LONG, (unsigned long long)body->limit);
    } else if (body->refused) {
        pyro_serve_plain(request, 507, "%s", body->upload.refusal);
    } else if (body->error) {
        pyro_serve_plain(request, 507, "cannot keep the body: %s", strerror(body->error));
    } else {
        request->catalog = exchange->server->catalog;
        MHD_get_connection_values_n(exchange->connection, MHD_GET_ARGUMENT_KIND, take_parameter, request);
        request->body = pyro_strbuf_slice(&body->text);
        request->body_file = body->path;
        request->body_bytes = body->bytes;
        request->uploads = exchange->server->uploads.folder ? &exchange->server->uploads : NULL;
        request->upload = body->path ? &body->upload : NULL;
        if (exchange->login)
            pyro_access_login(&exchange->server->access, request, exchange->url, address(exchange));
        else
            pyro_serve_answer(request, exchange->url);
    }
}

static void enter(struct exchange *exchange);

static void work(struct serve_work *work)
{
    struct exchange *exchange = (struct exchange *)work;
    struct serve_request *request = &exchange->request;
    struct serve_ticket *ticket = request->ticket;
    if (!ticket)
        pyro_limiter_light(&exchange->server->limiter, 1, -1);
    answer_with_service(exchange);
    if (!ticket)
        pyro_limiter_light(&exchange->server->limiter, -1, 0);
    if (request->is_heavy && !ticket && !request->refusal) {
        enter(exchange);
        return;
    }
    pyro_serve_shape_error(&exchange->request, exchange->url);
    pyro_serve_metrics_count(&exchange->server->shared.metrics, pyro_serve_service_of(exchange->url),
                             exchange->request.status, now_us() - exchange->complete_us);
    pyro_exchange_compress(&exchange->request);
    exchange->step = EXCHANGE_ANSWER;
    request->ticket = NULL;
    pyro_ticket_unwatch(ticket, request->stream.read != NULL); /* after the resumption the socket may be closed */
    pyro_ticket_release(ticket);
    MHD_resume_connection(exchange->connection);
}

/* ---- Heavy requests: when there is room for them ---- */

static void run_heavy(void *context, struct serve_ticket *ticket)
{
    struct exchange *exchange = context;
    exchange->request.ticket = ticket;
    exchange->work.run = work;
    pyro_workers_submit(&exchange->server->heavy, &exchange->work);
}

static void run_light_by(struct exchange *exchange, struct workers *workers)
{
    exchange->work.run = work;
    pyro_limiter_light(&exchange->server->limiter, 0, 1);
    pyro_workers_submit(workers, &exchange->work);
}

static void refuse(void *context)
{
    struct exchange *exchange = context;
    exchange->request.refusal = pyro_limiter_busy;
    run_light_by(exchange, &exchange->server->light);
}

/* The connection is suspended. */
static void enter(struct exchange *exchange)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!pyro_limiter_enter(&exchange->server->limiter, info ? info->connect_fd : -1, run_heavy, refuse, exchange))
        refuse(exchange);
}

/* ---- Who may --------------------------------------------------------------------------------------------------- */

static void admit(struct serve_work *work)
{
    struct exchange *exchange = (struct exchange *)work;
    enum access_answer answer = pyro_access_compute(&exchange->server->access, &exchange->request, exchange->url,
                                                    pyro_serve_post_reads(exchange->url), address(exchange));
    exchange->step = answer == ACCESS_GRANTED ? EXCHANGE_ADMITTED : EXCHANGE_REFUSED;
    MHD_resume_connection(exchange->connection);
}

/* Pages of other origins ask first whether they may; false: that is not what is asked. */
static bool answer_preflight(struct exchange *exchange, const char *method)
{
    struct serve_request *request = &exchange->request;
    if (strcmp(method, MHD_HTTP_METHOD_OPTIONS) != 0 || !pyro_access_allowed_origin(&exchange->server->access, request))
        return false;
    pyro_serve_plain(request, 204, "%s", "");
    pyro_serve_header(request, "Access-Control-Allow-Methods", PYRO_SLICE_LITERAL("GET, POST, DELETE"));
    pyro_serve_header(request, "Access-Control-Allow-Headers", PYRO_SLICE_LITERAL("Authorization, Content-Type"));
    pyro_serve_header(request, "Access-Control-Max-Age", PYRO_SLICE_LITERAL("600"));
    return true;
}

static enum access_answer check(struct exchange *exchange, const char *method)
{
    struct access *access = &exchange->server->access;
    struct serve_request *request = &exchange->request;
    if (answer_preflight(exchange, method))
        return ACCESS_REFUSED;
    exchange->login = pyro_access_is_login(access, exchange->url);
    if (exchange->login)
        return pyro_access_origin(access, request) ? ACCESS_GRANTED : ACCESS_REFUSED;
    return pyro_access_check(access, request, exchange->url, pyro_serve_post_reads(exchange->url), address(exchange));
}

/* An upload counts for its user, or for the address (the /64 of IPv6) of one who has no name. */
static void name_payer(struct exchange *exchange)
{
    struct serve_request *request = &exchange->request;
    const struct sockaddr *from = address(exchange);
    if (request->user[0])
        snprintf(request->payer, sizeof(request->payer), "%s", request->user);
    else if (from && from->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)from)->sin_addr, request->payer,
                  sizeof(request->payer));
    else if (from && from->sa_family == AF_INET6) {
        struct in6_addr prefix = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        memset(prefix.s6_addr + 8, 0, 8);
        inet_ntop(AF_INET6, &prefix, request->payer, sizeof(request->payer));
    }
}

/* Reading what this user sent before has taken all the time that it may; false: there is some left. */
static bool is_overdrawn(struct exchange *exchange)
{
    struct serve_request *request = &exchange->request;
    char seconds[16];
    name_payer(exchange);
    unsigned wait = pyro_upload_cpu_wait(&exchange->server->upload_cpu, request->payer, (int64_t)(now_us() / 1000));
    if (!wait)
        return false;
    pyro_access_refuse(request, exchange->url, 429, "too_costly",
                       "reading earlier uploads has used all the CPU time that a user may use in an hour (--user-cpu)");
    snprintf(seconds, sizeof(seconds), "%u", wait);
    pyro_serve_header(request, MHD_HTTP_HEADER_RETRY_AFTER, pyro_slice_from(seconds));
    atomic_fetch_add_explicit(&exchange->server->shared.metrics.uploads_too_costly, 1, memory_order_relaxed);
    return true;
}

/* What is wrong with the body before any of it was read; false: it has its answer. */
static bool begin_body(struct exchange *exchange)
{
    struct pyro_server *server = exchange->server;
    struct serve_request *request = &exchange->request;
    size_t most = !request->method  ? 0
                  : exchange->login ? LOGIN_BYTES
                                    : pyro_serve_body_limit(exchange->url, request->method);
    bool to_file = most == SERVE_TO_FILE;
    uint64_t limit = to_file ? server->max_upload_bytes : most;
    struct pyro_slice length = pyro_serve_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t announced = length.ptr ? strtoull(length.ptr, NULL, 10) : 0;
    if (announced > (limit ? limit : DROPPED_BYTES)) {
        pyro_serve_plain(request, 413, TOO_LONG, (unsigned long long)limit);
        return false;
    }
    if (most && !to_file && !exchange->login && pyro_access_is_form(request)) {
        pyro_access_refuse(request, exchange->url, 415, "bad_request", "send application/json");
        return false;
    }
    if (to_file && request->method == SERVE_POST && is_overdrawn(exchange))
        return false;
    struct body *body = &exchange->body;
    pyro_body_begin(body, limit, to_file ? &server->uploads : NULL, announced);
    /* A client that waits for an answer, or would be cut anyway, gets it before the body; others read it after they
     * have sent. */
    if (!body->refused ||
        (announced <= DROPPED_BYTES && !pyro_serve_request_header(request, MHD_HTTP_HEADER_EXPECT).ptr))
        return true;
    pyro_serve_plain(request, 507, "%s", body->upload.refusal);
    return false;
}

/* ---- The event loop ---------------------------------------------------------------------------------------------- */

static struct exchange *create(struct pyro_server *server, struct MHD_Connection *connection, const char *url,
                               const char *method)
{
    struct exchange *exchange = pyro_allocate(NULL, sizeof(*exchange));
    if (!exchange)
        return NULL;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    *exchange = (struct exchange){.server = server,
                                  .connection = connection,
                                  .place = info ? info->socket_context : NULL,
                                  .url = url,
                                  .body.file = -1,
                                  .request = {.method = read_method(method), .out = &exchange->out}};
    pyro_strbuf_init(&exchange->out, NULL);
    exchange->request.shared = &server->shared;
    exchange->request.transport = connection;
    pyro_connection_takes_body(&server->connections, exchange->place, 0);
    pthread_mutex_lock(&server->mutex);
    server->exchanges++;
    pthread_mutex_unlock(&server->mutex);
    return exchange;
}

static void suspend(struct exchange *exchange, enum exchange_step step)
{
    exchange->step = step;
    exchange->complete_us = now_us();
    pyro_connection_is_worked_on(&exchange->server->connections, exchange->place);
    MHD_suspend_connection(exchange->connection);
}

static void submit_admission(struct exchange *exchange)
{
    suspend(exchange, EXCHANGE_ADMISSION);
    exchange->work.run = admit;
    pyro_workers_submit(&exchange->server->admission, &exchange->work);
}

static void submit_work(struct exchange *exchange)
{
    suspend(exchange, EXCHANGE_WORK);
    if (exchange->login) /* a hash, too */
        run_light_by(exchange, &exchange->server->admission);
    else if (pyro_serve_class(exchange->request.method, exchange->url) == SERVE_HEAVY)
        enter(exchange);
    else
        run_light_by(exchange, &exchange->server->light);
}

static enum MHD_Result proceed(struct exchange *exchange)
{
    if (!begin_body(exchange)) {
        pyro_serve_shape_error(&exchange->request, exchange->url);
        return pyro_exchange_respond(exchange);
    }
    exchange->step = EXCHANGE_BODY;
    pyro_connection_takes_body(&exchange->server->connections, exchange->place, 0);
    return MHD_YES;
}

static enum MHD_Result refuse_headers(struct exchange *exchange, unsigned status, const char *why)
{
    pyro_serve_plain(&exchange->request, status, "%s", why);
    pyro_serve_header(&exchange->request, MHD_HTTP_HEADER_CONNECTION, PYRO_SLICE_LITERAL("close"));
    return pyro_exchange_respond(exchange);
}

static enum MHD_Result begin(struct exchange *exchange, const char *method, const char *version, bool too_many)
{
    if (too_many)
        return refuse_headers(exchange, 414, "the address has too many parameters");
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    switch (pyro_request_framing(exchange->connection, method, version, &exchange->chunked)) {
    case HTTP_WRONG:
        return refuse_headers(exchange, 400, "the headers are ambiguous");
    case HTTP_TOO_MANY:
        return refuse_headers(exchange, 431, "there are too many headers or cookies");
    default:
        break;
    }
    if (info && info->header_size > HEADER_BYTES)
        return refuse_headers(exchange, 431, "the headers are too long");
    switch (check(exchange, method)) {
    case ACCESS_GRANTED:
        return proceed(exchange);
    case ACCESS_SLOW:
        submit_admission(exchange);
        return MHD_YES;
    default:
        return pyro_exchange_respond(exchange);
    }
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t *data_size)
{
    struct body *body = &exchange->body;
    struct connections *connections = &exchange->server->connections;
    pyro_connection_is_worked_on(connections, exchange->place); /* a disk may be slow */
    pyro_body_take(body, data, *data_size);
    *data_size = 0;
    pyro_connection_takes_body(connections, exchange->place, body->bytes + 1);
    return body->dropped > DROPPED_BYTES ? MHD_NO : MHD_YES;
}

enum MHD_Result pyro_exchange_answer(void *context, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data, size_t *data_size,
                                     void **state)
{
    struct pyro_server *server = context;
    struct exchange *exchange = *state;
    bool too_many = exchange && *state == server; /* what pyro_request_count_parameters() gave */
    if (!exchange || too_many) {
        /* Called first when the headers are complete, and again without data when it was suspended then. */
        *state = exchange = create(server, connection, url, method);
        return exchange ? begin(exchange, method, version, too_many) : MHD_NO;
    }
    if (*data_size)
        return take_body(exchange, data, data_size);
    switch (exchange->step) {
    case EXCHANGE_ADMITTED:
        return proceed(exchange);
    case EXCHANGE_BODY:
        submit_work(exchange);
        return MHD_YES;
    case EXCHANGE_REFUSED:
    case EXCHANGE_ANSWER:
        return pyro_exchange_respond(exchange);
    default:
        return MHD_YES;
    }
}

void pyro_exchange_end(void *context, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode why)
{
    struct pyro_server *server = context;
    struct exchange *exchange = *state;
    (void)connection;
    (void)why;
    if (!exchange || *state == context) /* it had no exchange yet */
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
