/* libcurl's functions without sockets: a function gives the answer to each request. The program's table of its
 * functions (libraries/libcurl.h) is filled with these, so that all that is sent, read, followed and tried again is the
 * library's own. */
#ifndef PYRO_FUZZ_FAKE_CURL_H
#define PYRO_FUZZ_FAKE_CURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings/slice.h"
#include "base/strings/strbuf.h"

enum { FAKE_REPLY_HEADERS = 8 };

struct fake_question {
    const char *method, *url;
    struct pyro_slice body;
    uint64_t first; /* hash of the address that was asked for before all redirections */
};

/* How a transfer ends that does not end well. */
enum fake_failure { FAKE_WHOLE, FAKE_NO_HOST, FAKE_NO_CONNECTION, FAKE_TIMEOUT, FAKE_NOTHING, FAKE_CUT };

struct fake_reply {
    unsigned status;
    enum fake_failure failure;
    const char *headers[FAKE_REPLY_HEADERS]; /* "Name: value"; they live as long as the process */
    size_t header_count;
    const char *type;        /* Content-Type; NULL: none */
    const char *location;    /* of a redirection */
    struct pyro_strbuf body; /* ended by the caller of the function that fills it */
    size_t piece;            /* bytes that are handed over at a time; 0: all */
    size_t sent;             /* with FAKE_CUT: bytes that come */
    bool no_length;          /* nothing says how long the body is */
};

/* Called on the thread that asks, by several at the same time. */
typedef void fake_answer_function(const struct fake_question *question, struct fake_reply *ret);

/* Replaces libcurl's functions. False: this build has none. */
bool fake_curl_install(fake_answer_function *answer);

#endif
