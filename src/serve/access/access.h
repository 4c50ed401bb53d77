/* Who may ask for what: the checks that every request passes before a service sees it. */
#ifndef PYRO_SERVE_ACCESS_ACCESS_H
#define PYRO_SERVE_ACCESS_ACCESS_H

#include "serve/access/acl.h"
#include "serve/access/attempts.h"
#include "serve/access/sessions.h"
#include "serve/access/tokens.h"

enum { ACCESS_NAMES = 16 };

struct access {
    bool has_tokens, secure; /* secure: TLS */
    struct serve_tokens tokens;
    struct sessions sessions;
    struct serve_attempts attempts;
    struct acls acls;
    /* By which names the server may be asked for and from which origins pages may read; from the options, which keep
     * them. */
    const char *hosts[ACCESS_NAMES], *origins[ACCESS_NAMES];
    size_t host_count, origin_count;
};

enum pyro_status pyro_access_open(struct access *access, const struct pyro_server_options *options,
                                  struct pyro_error *error);
void pyro_access_close(struct access *access);

enum access_answer { ACCESS_GRANTED, ACCESS_REFUSED, ACCESS_SLOW };
/* Whether the request may go on; it then says who asks. Refused: it has its answer. ACCESS_SLOW: a hash must be
 * computed, by pyro_access_compute() on a thread that has the time. `reads`: a POST that changes nothing. */
enum access_answer pyro_access_check(struct access *access, struct serve_request *request, const char *url, bool reads,
                                     const struct sockaddr *from);
enum access_answer pyro_access_compute(struct access *access, struct serve_request *request, const char *url,
                                       bool reads, const struct sockaddr *from);

/* The pages for clients without a login. */
bool pyro_access_is_login(const struct access *access, const char *url);
void pyro_access_login(struct access *access, struct serve_request *request, const char *url,
                       const struct sockaddr *from);

/* The Host that was asked for and the page's Origin, as a browser gives them; false: refused. */
bool pyro_access_origin(const struct access *access, struct serve_request *request);
/* Whether a browser sends what a form of any page could; refused where JSON is wanted. */
bool pyro_access_is_form(const struct serve_request *request);
/* The value of the session's cookie, or a null slice. */
struct pyro_slice pyro_access_cookie(const struct serve_request *request);
/* The origin that may read the answer, to name in it; NULL: none. */
const char *pyro_access_allowed_origin(const struct access *access, const struct serve_request *request);
/* An error as the path's clients expect one: JSON, or text below Spark's. */
void pyro_access_refuse(struct serve_request *request, const char *url, unsigned status, const char *code,
                        const char *message);

/* Whether an address is one of this machine alone. */
bool pyro_access_is_loopback(const char *host);

#endif
