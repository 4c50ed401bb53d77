/* The daemon and its address. */
#ifndef PYRO_SERVE_HTTP_LISTEN_H
#define PYRO_SERVE_HTTP_LISTEN_H

#include "serve/http/server.h"

/* Listens where the options say. */
enum pyro_status pyro_server_listen(struct pyro_server *server, const struct pyro_server_options *options,
                                    struct pyro_error *error);

#endif
