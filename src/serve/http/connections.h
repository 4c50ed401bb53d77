/* The connections there are, and until when each may be in what it does: a client that sends or reads a byte now and
 * then is not idle, but no request and no answer may take unlimited time. */
#ifndef PYRO_SERVE_HTTP_CONNECTIONS_H
#define PYRO_SERVE_HTTP_CONNECTIONS_H

#include "libraries/libmicrohttpd.h"
#include <stdbool.h>
#include <stdint.h>

#include "base/threads/thread.h"

/* Seconds for a request's headers, also of the next one on the same connection; seconds and bytes a second for bodies
 * and answers. */
enum { HEADER_SECONDS = 30, GRACE_SECONDS = 60, SLOWEST_BYTES = 8 << 10 };

struct connection {
    struct connection *next, *previous;
    struct connections *all;
    int socket;
    int64_t deadline_ms; /* INT64_MAX: none; guarded by the connections' mutex */
    int64_t begun_ms;    /* of the body */
    /* Guarded by the mutex too: whether its client is to send something; how often that changed; and that number when
     * it was last found to send nothing more, 0: it was not. */
    bool awaited;
    uint64_t steps, ended_at;
};

struct certificate;

struct connections {
    struct certificate *certificate; /* for their TLS */
    struct pyro_thread reaper;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct connection all; /* a ring */
    size_t count;
    bool stopping;
};

void pyro_connections_start(struct connections *connections);
void pyro_connections_stop(struct connections *connections);
/* For MHD_OPTION_NOTIFY_CONNECTION; the context is the struct connections, the state a struct connection. */
void pyro_connections_notify(void *context, struct MHD_Connection *connection, void **state,
                             enum MHD_ConnectionNotificationCode code);

/* What the connection does now. `place` may be NULL. */
void pyro_connection_takes_body(struct connections *connections, struct connection *place, uint64_t bytes);
void pyro_connection_is_worked_on(struct connections *connections, struct connection *place);
void pyro_connection_sends(struct connections *connections, struct connection *place, uint64_t bytes);
void pyro_connection_waits(struct connections *connections, struct connection *place);

#endif
