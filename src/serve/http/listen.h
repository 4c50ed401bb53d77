/* The daemon and its address. */
#ifndef PYRO_SERVE_HTTP_LISTEN_H
#define PYRO_SERVE_HTTP_LISTEN_H

#include "serve/http/server.h"

/* Listens on a numeric address, or localhost. */
enum pyro_status pyro_http_listen(struct pyro_server *server, const char *host, unsigned port,
                                  struct pyro_error *error);

#endif
