/* Requests over HTTP and HTTPS, by libcurl: addresses and options in http.c, requests in http_send.c. One thread uses a
 * client at a time. */
#ifndef PYRO_SOURCE_HTTP_HTTP_H
#define PYRO_SOURCE_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/slice.h"
#include "base/strings/strbuf.h"

/* Whether a path is an address: begins with http:// or https:// in any case. */
bool pyro_is_url(const char *path);
/* False: this build has no libcurl, and every function below fails with PYRO_ERROR_INPUT that says so. */
bool pyro_http_available(void);
/* "libcurl 7.88.1 OpenSSL/3.0.11", or how to get it. Static. */
const char *pyro_http_description(void);

struct pyro_http_options {
    const struct pyro_allocator *allocator;
    const char *user;    /* "NAME:PASSWORD"; NULL: what the address or ~/.netrc says */
    const char *token;   /* a bearer token; NULL: none */
    const char *ca_file; /* certificates of authorities, as PEM; NULL: CURL_CA_BUNDLE, SSL_CERT_FILE or the system's */
    bool cookies;        /* those that an answer sets go with later requests of this client */
    /* An answer with less than a few bytes a second during this time is given up, and one that takes more than twice
     * this time and a second for every 8 KiB; 0: 120. */
    unsigned timeout_s;
    /* Asked several times a second; true stops the request with PYRO_ERROR_CANCELLED. May be NULL. */
    bool (*stopped)(void *context, uint64_t received, uint64_t expected);
    void *context;
    /* Gets the body of the last answer that is of another status than 200, up to PYRO_HTTP_KEPT_BYTES (an answer is
     * given up there, and counts as complete), where only an
     * excerpt goes into the message; empty after any other answer. NULL: not wanted. */
    struct pyro_strbuf *refusal;
};
enum { PYRO_HTTP_KEPT_BYTES = 1 << 20 };

struct pyro_http;

enum pyro_status pyro_http_open(const struct pyro_http_options *options, struct pyro_http **ret,
                                struct pyro_error *error);
void pyro_http_close(struct pyro_http *http);

struct pyro_exchange_answer {
    unsigned status;       /* 200, 404, ... */
    uint64_t bytes;        /* of the body that were handed over */
    bool html;             /* Content-Type says so */
    int64_t retry_after_s; /* the server's Retry-After, whether seconds or a date; -1: none */
    int64_t date_ms;       /* the server's clock (Date), in milliseconds since 1970; -1: unknown */
};

/* Where a body goes. False ends the request; the receiver has filled in an error. */
typedef bool pyro_http_receiver(void *context, const void *bytes, size_t len);

/* Gets an address and follows at most 5 redirections, to http and https only; names and passwords do not follow to
 * another host. The body of an answer of status 200 goes to `receive`, at most `limit` bytes after decompression; of
 * any other answer at most 200 characters go into `error`'s message, which is filled in for these too, though the call
 * succeeds. Connections that break and answers 429, 502, 503 and 504 are tried again, `tries` times in all with growing
 * pauses or those that the server asks for (at most 60 s each), as long as no body was handed over.
 * PYRO_ERROR_INPUT: no answer, one that broke off or is too long; the message says why and what to do. */
enum pyro_status pyro_http_get(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                               pyro_http_receiver *receive, void *context, struct pyro_exchange_answer *ret,
                               struct pyro_error *error);

/* The body in memory, followed by PYRO_SCAN_PADDING zero bytes that `body->len` does not count. Answers that broke off
 * are tried again too. */
enum pyro_status pyro_http_get_text(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                                    struct pyro_strbuf *body, struct pyro_exchange_answer *ret,
                                    struct pyro_error *error);

enum pyro_http_method {
    PYRO_HTTP_GET,
    PYRO_HTTP_HEAD,
    PYRO_HTTP_POST,
    PYRO_HTTP_PUT,
    PYRO_HTTP_DELETE,
};

struct pyro_http_request {
    enum pyro_http_method method;
    const char *url;
    struct pyro_slice body;     /* null: none. Not with GET and HEAD */
    const char *content_type;   /* of `body`: "application/json" */
    const char *const *headers; /* more of them, "Name: value"; may be NULL */
    size_t header_count;
    uint64_t limit;  /* bytes of the answer after decompression */
    unsigned tries;  /* in all; 0: 1 */
    bool repeatable; /* a POST that does no harm when the server gets it twice. All other methods are */
};

/* Sends a request and gives the body of the answer in `body`, padded as pyro_http_get_text() does, whatever the
 * answer's status: `ret->status` says which, and pyro_http_refused() makes an error of it. Tried again as
 * pyro_http_get_text() does, but only what is repeatable. Redirections are followed by GET and HEAD without headers of
 * their own; otherwise the redirection is the answer.
 * Messages name neither the address nor what the request contains. */
enum pyro_status pyro_http_send(struct pyro_http *http, const struct pyro_http_request *request,
                                struct pyro_strbuf *body, struct pyro_exchange_answer *ret, struct pyro_error *error);
/* "the server answers 503: see the log of the server ("BODY")". Returns PYRO_ERROR_INPUT. */
enum pyro_status pyro_http_refused(const struct pyro_exchange_answer *answer, struct pyro_slice body,
                                   struct pyro_error *error);

/* The address without name, password, query and fragment: what may be shown. Appends to `text`. */
void pyro_http_label(const char *url, struct pyro_strbuf *text);
/* The same in the arena, NUL-terminated; null: no memory. */
struct pyro_slice pyro_http_label_in(struct pyro_arena *arena, const char *url);
/* Appends a text as one part of an address: all but letters, digits and -._~ as %XX. */
void pyro_http_escape(struct pyro_strbuf *to, struct pyro_slice text);
/* The same, but the characters of `kept` stay too, such as the slashes of a path. */
void pyro_http_escape_but(struct pyro_strbuf *to, struct pyro_slice text, const char *kept);

#endif
