/* Where a request ends, and what it may have before its body. */
#ifndef PYRO_SERVE_HTTP_FRAMING_H
#define PYRO_SERVE_HTTP_FRAMING_H

#include "libraries/libmicrohttpd.h"
#include <stdbool.h>

enum { MOST_HEADERS = 200, MOST_COOKIES = 100 };

enum http_framing {
    HTTP_FRAMED,
    HTTP_WRONG,   /* 400: it can be read in two ways */
    HTTP_TOO_MANY /* 431: headers or cookies */
};

/* Whether the headers can be read in one way only: lines that end in CR LF, none continued on the next one (RFC 9112,
 * 2.2 and 5.2), names that are tokens, one Host, one length or chunks (6.3). A proxy in front may choose another way,
 * and pass the rest on as a request of another client. Such a request is to be refused, and its connection closed.
 * `method` and `version` are those that the daemon handed out. *ret_chunked: its body ends where chunks say; lines
 * among those are not looked at, so that its connection is to be closed too. */
enum http_framing pyro_request_framing(struct MHD_Connection *connection, const char *method, const char *version,
                                       bool *ret_chunked);

/* For MHD_OPTION_URI_LOG_CALLBACK; the context is what it gives where there are too many parameters (414), which are
 * then taken for none, else NULL. Each would take room that the answer needs. */
void *pyro_request_count_parameters(void *context, const char *uri, struct MHD_Connection *connection);

#endif
