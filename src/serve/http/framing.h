/* Where a request ends. */
#ifndef PYRO_SERVE_HTTP_FRAMING_H
#define PYRO_SERVE_HTTP_FRAMING_H

#include <microhttpd.h>
#include <stdbool.h>

/* Whether the headers say in one way only how long the body is (RFC 9112, 6.3). libmicrohttpd takes several lengths, or
 * a length beside chunks, and chooses; a proxy in front may choose otherwise and pass the rest on as somebody else's
 * request. Such a request is to be refused, and its connection closed. */
bool pyro_http_is_framed(struct MHD_Connection *connection);

#endif
