/* What http.c opens and http_send.c uses. Only in builds with libcurl. */
#ifndef PYRO_SOURCE_HTTP_HTTP_CLIENT_H
#define PYRO_SOURCE_HTTP_HTTP_CLIENT_H

#include "libraries/libcurl.h"

#include "source/http/http.h"

enum { PYRO_HTTP_REDIRECTIONS = 5 };

struct pyro_http {
    struct pyro_http_options options;
    CURL *curl;
    int64_t timeout_s;            /* of the options, or the default */
    char reason[CURL_ERROR_SIZE]; /* of the last failure */
};

#endif
