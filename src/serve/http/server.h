/* The parts of the HTTP server, for one another only.
 *
 * Few threads serve many connections: event loops (libmicrohttpd, epoll) read requests and write answers, workers run
 * the services, and each answer that is streamed has a thread of its own while it lasts. A connection costs a thread
 * only while it is being answered. */
#ifndef PYRO_SERVE_HTTP_SERVER_H
#define PYRO_SERVE_HTTP_SERVER_H

#include "libraries/libmicrohttpd.h"
#include <pthread.h>

#include "serve/access/access.h"
#include "serve/http/body.h"
#include "serve/http/certificate.h"
#include "serve/http/connections.h"
#include "serve/http/stream.h"
#include "serve/http/watch_files.h"
#include "serve/http/workers.h"
#include "serve/request.h"
#include "serve/shared.h"
#include "serve/upload_cpu.h"
#include "serve/uploads.h"

struct pyro_server {
    struct MHD_Daemon *daemon;
    struct pyro_catalog *catalog;
    struct serve_shared shared;
    struct serve_limiter limiter;
    struct workers light, heavy, admission; /* the first are never taken by what takes long */
    struct access access;
    struct certificate certificate;
    struct watch watch;
    struct connections connections;
    struct stream_limit streams;
    struct serve_uploads uploads;
    struct serve_upload_cpu upload_cpu;
    uint64_t max_upload_bytes;
    unsigned port, max_connections;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    size_t exchanges; /* requests that are being answered */
    bool stopping;
    uint64_t answer_bytes; /* in memory, of answers that are being sent */
    uint64_t most_answer_bytes;
};

/* What an exchange waits for. */
enum exchange_step {
    EXCHANGE_ADMISSION, /* a worker, who finds out who asks */
    EXCHANGE_ADMITTED,
    EXCHANGE_REFUSED, /* has its answer, before its body came in */
    EXCHANGE_BODY,    /* the rest of the request */
    EXCHANGE_WORK,    /* a worker, who has `connection` suspended meanwhile */
    EXCHANGE_ANSWER,  /* that the answer is queued */
};

/* One request, from its headers to the last byte of its answer. */
struct exchange {
    struct serve_work work; /* first: the workers' part */
    struct pyro_server *server;
    struct MHD_Connection *connection;
    struct connection *place;
    const char *url; /* of the connection */
    enum exchange_step step;
    uint64_t complete_us; /* when the request's last byte came */
    struct body body;
    struct pyro_strbuf out;
    struct serve_request request;
    uint64_t answer_bytes; /* counted in the server's */
    bool chunked;          /* its body comes in chunks */
    bool login;            /* asks for the pages where one logs in */
};

/* The callbacks of the daemon; the context is the server. */
enum MHD_Result pyro_exchange_answer(void *context, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data, size_t *data_size,
                                     void **state);
void pyro_exchange_end(void *context, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode why);

/* Queues the answer; takes over `exchange->request.stream`. */
enum MHD_Result pyro_exchange_respond(struct exchange *exchange);

/* Compresses the answer where the client takes that and it is worth it. */
void pyro_exchange_compress(struct serve_request *request);
bool pyro_server_is_stopping(struct pyro_server *server);

#endif
