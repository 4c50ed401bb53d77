/* Answers that are made while they are sent: a thread fills a bounded buffer, the event loop empties it. */
#ifndef PYRO_SERVE_HTTP_STREAM_H
#define PYRO_SERVE_HTTP_STREAM_H

#include "libraries/libmicrohttpd.h"
#include <pthread.h>
#include <stdbool.h>

#include "serve/http/connections.h"
#include "serve/request.h"

enum { STREAMS = 256 };

/* How streams are ended: those that have nothing to send now; all, at once. */
enum stream_stop { STREAMS_RUN, STREAMS_STOP_WAITING, STREAMS_STOP_ALL };

/* How many there are. */
struct stream_limit {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t count, suspended;
    enum stream_stop stop;
};

void pyro_stream_limit_init(struct stream_limit *limit);
/* No new ones begin. After STREAMS_STOP_ALL no connection is suspended for a stream when this returns. */
void pyro_stream_limit_stop(struct stream_limit *limit, enum stream_stop how);
/* Returns when `close` of all was called. */
void pyro_stream_limit_done(struct stream_limit *limit);

/* The response, which owns the stream; NULL: too many, or no memory (the stream is closed then, too). The thread begins
 * when the first byte is wanted, so never for HEAD. A client that does not take its bytes in time is cut off; one that
 * waits for more is not. `place` is the connection's among `connections`. */
struct MHD_Response *pyro_stream_response(struct stream_limit *limit, const struct serve_stream *stream,
                                          struct MHD_Connection *connection, struct connections *connections,
                                          struct connection *place);

#endif
