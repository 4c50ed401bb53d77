/* libmicrohttpd's functions without sockets: requests are structs, answers are collected. The program's table of its
 * functions (libraries/libmicrohttpd.h) is filled with these, so that all of the server that is not libmicrohttpd
 * runs. */
#ifndef PYRO_FUZZ_FAKE_HTTPD_H
#define PYRO_FUZZ_FAKE_HTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings/strbuf.h"

enum { FAKE_HEADERS = 12, FAKE_PARAMETERS = 12 };

struct fake_pair {
    const char *name, *value;
};

struct fake_request {
    const char *method, *path; /* the path decoded, as libmicrohttpd hands it over */
    struct fake_pair parameters[FAKE_PARAMETERS], headers[FAKE_HEADERS];
    size_t parameter_count, header_count;
    const void *body;
    size_t body_len;
};

struct fake_answer {
    unsigned status;
    bool streamed;
    char type[128];
    struct pyro_strbuf body; /* of a stream: how it begins */
};

/* Replaces libmicrohttpd's functions; before the server is started. False: this build has none. */
bool fake_httpd_install(void);
/* One request to the server that was started, from its headers to the last byte of its answer. The caller ends
 * `ret->body`. */
void fake_httpd_send(const struct fake_request *request, struct fake_answer *ret);

#endif
