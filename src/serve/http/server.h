/* The parts of the HTTP server, for one another only. */
#ifndef PYRO_SERVE_HTTP_SERVER_H
#define PYRO_SERVE_HTTP_SERVER_H

#include <microhttpd.h>

#include "serve/http/body.h"
#include "serve/http/spool.h"
#include "serve/request.h"

struct pyro_server {
    struct MHD_Daemon *daemon;
    struct serve_catalog *catalog;
    struct spool uploads;
    uint64_t max_upload_bytes;
    unsigned port;
};

/* One request, from its headers to the last byte of its answer. */
struct exchange {
    struct pyro_server *server;
    struct MHD_Connection *connection;
    enum serve_method method; /* 0: one that no service knows */
    struct body body;
};

/* The callbacks of the daemon; the context is the server. */
enum MHD_Result pyro_http_answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                 const char *version, const char *data, size_t *data_size, void **state);
void pyro_http_end(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why);

/* Queues the answer; takes over `request->stream`. */
enum MHD_Result pyro_http_respond(struct MHD_Connection *connection, struct serve_request *request);

#endif
