#include "serve/access/access.h"
#include "text/json_compact.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum pyro_status pyro_access_open(struct access *access, const struct pyro_server_options *options,
                                  struct pyro_error *error)
{
    if (sodium_init() < 0)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "libsodium has no source of randomness on this system");
    if (options->host_count > ACCESS_NAMES || options->origin_count > ACCESS_NAMES)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "at most %d hosts and origins are allowed", ACCESS_NAMES);
    for (size_t i = 0; i < options->host_count; i++)
        access->hosts[access->host_count++] = options->hosts[i];
    for (size_t i = 0; i < options->origin_count; i++)
        access->origins[access->origin_count++] = options->origins[i];
    pyro_sessions_init(&access->sessions);
    pyro_attempts_init(&access->attempts);
    pyro_acls_init(&access->acls, options->acls != 0);
    access->has_tokens = options->tokens != NULL;
    access->secure = options->tls_certificate != NULL;
    return access->has_tokens ? pyro_tokens_open(&access->tokens, options->tokens, error) : PYRO_OK;
}

void pyro_access_close(struct access *access)
{
    pyro_tokens_close(&access->tokens);
    pyro_sessions_done(&access->sessions);
    pyro_attempts_done(&access->attempts);
    pyro_acls_done(&access->acls);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

void pyro_access_refuse(struct serve_request *request, const char *url, unsigned status, const char *code,
                        const char *message)
{
    pyro_serve_plain(request, status, "%s", message);
    if (strncmp(url, "/api/", 5) == 0)
        return;
    pyro_strbuf_clear(request->out);
    pyro_compact_begin(request->out, NULL, '{');
    pyro_compact_begin(request->out, "error", '{');
    pyro_compact_string(request->out, "code", code);
    pyro_compact_string(request->out, "message", message);
    pyro_compact_end(request->out, '}');
    pyro_compact_end(request->out, '}');
    pyro_strbuf_add_char(request->out, '\n');
    request->type = "application/json";
}

static bool wants_page(const struct serve_request *request, const char *url)
{
    struct pyro_slice accepted = pyro_serve_request_header(request, "Accept");
    return request->method == SERVE_GET && accepted.ptr && strncmp(url, "/api/", 5) != 0 &&
           memmem(accepted.ptr, accepted.len, "text/html", 9);
}

static enum access_answer refuse_stranger(struct serve_request *request, const char *url)
{
    if (wants_page(request, url)) {
        pyro_serve_plain(request, 303, "log in first");
        pyro_serve_header(request, "Location", PYRO_SLICE_LITERAL("/login"));
    } else {
        pyro_access_refuse(request, url, 401, "unauthorized",
                           "a token is needed: send it as 'Authorization: Bearer TOKEN', or log in at /login");
        pyro_serve_header(request, "WWW-Authenticate", PYRO_SLICE_LITERAL("Bearer realm=\"pyrometer\""));
    }
    return ACCESS_REFUSED;
}

static enum access_answer refuse_early(struct serve_request *request, const char *url, unsigned seconds)
{
    char text[16];
    pyro_access_refuse(request, url, 429, "too_many_attempts",
                       "too many wrong tokens from this address; try again later");
    int len = snprintf(text, sizeof(text), "%u", seconds);
    pyro_serve_header(request, "Retry-After", (struct pyro_slice){text, (size_t)len});
    return ACCESS_REFUSED;
}

/* ---- Who asks ---------------------------------------------------------------------------------------------------- */

static bool is_visible(void *context, const struct pyro_catalog_seen *seen)
{
    struct serve_request *request = context;
    return pyro_acls_let(request->acls, seen, pyro_slice_from(request->user), pyro_slice_from(request->groups));
}

static enum access_answer let_in(struct access *access, struct serve_request *request, const char *url, bool reads,
                                 const struct serve_token *token)
{
    enum serve_role needed = request->method == SERVE_GET || reads ? SERVE_ROLE_VIEW : SERVE_ROLE_UPLOAD;
    memcpy(request->user, token->name, sizeof(request->user));
    memcpy(request->groups, token->groups, sizeof(request->groups));
    request->role = token->role;
    if (token->role != SERVE_ROLE_ADMIN) {
        request->visible = is_visible;
        request->acls = &access->acls;
    }
    if (token->role >= needed)
        return ACCESS_GRANTED;
    pyro_access_refuse(request, url, 403, "forbidden",
                       "this token allows only reading; this request needs the role upload");
    return ACCESS_REFUSED;
}

/* The token of the Authorization header, or a null slice. */
static struct pyro_slice bearer(const struct serve_request *request)
{
    struct pyro_slice value = pyro_serve_request_header(request, "Authorization");
    if (!value.ptr || value.len < 7 || strncasecmp(value.ptr, "Bearer ", 7) != 0)
        return PYRO_SLICE_NULL;
    value = (struct pyro_slice){value.ptr + 7, value.len - 7};
    while (value.len && *value.ptr == ' ')
        value = (struct pyro_slice){value.ptr + 1, value.len - 1};
    while (value.len && value.ptr[value.len - 1] == ' ')
        value.len--;
    return value;
}

struct pyro_slice pyro_access_cookie(const struct serve_request *request)
{
    static const char name[] = "pyrometer_session=";
    struct pyro_slice rest = pyro_serve_request_header(request, "Cookie");
    while (rest.ptr && rest.len) {
        const char *end = memchr(rest.ptr, ';', rest.len);
        size_t len = end ? (size_t)(end - rest.ptr) : rest.len;
        struct pyro_slice one = {rest.ptr, len};
        while (one.len && *one.ptr == ' ')
            one = (struct pyro_slice){one.ptr + 1, one.len - 1};
        if (one.len > sizeof(name) - 1 && memcmp(one.ptr, name, sizeof(name) - 1) == 0)
            return (struct pyro_slice){one.ptr + sizeof(name) - 1, one.len - (sizeof(name) - 1)};
        rest = (struct pyro_slice){rest.ptr + len + (end != NULL), rest.len - len - (end != NULL)};
    }
    return PYRO_SLICE_NULL;
}

enum access_answer pyro_access_check(struct access *access, struct serve_request *request, const char *url, bool reads,
                                     const struct sockaddr *from)
{
    struct serve_token token;
    if (!pyro_access_origin(access, request))
        return ACCESS_REFUSED;
    if (!access->has_tokens) {
        request->role = SERVE_ROLE_ADMIN;
        return ACCESS_GRANTED;
    }
    struct pyro_slice given = bearer(request), cookie = pyro_access_cookie(request);
    if (given.ptr) {
        enum token_answer answer = pyro_tokens_recall(&access->tokens, given, &token);
        if (answer == TOKEN_RIGHT)
            return let_in(access, request, url, reads, &token);
        unsigned seconds = pyro_attempts_wait(&access->attempts, from);
        if (seconds)
            return refuse_early(request, url, seconds);
        if (answer == TOKEN_UNKNOWN)
            return ACCESS_SLOW;
        pyro_attempts_failed(&access->attempts, from);
    } else if (cookie.ptr && pyro_session_find(&access->sessions, &access->tokens, cookie, &token)) {
        return let_in(access, request, url, reads, &token);
    }
    return refuse_stranger(request, url);
}

enum access_answer pyro_access_compute(struct access *access, struct serve_request *request, const char *url,
                                       bool reads, const struct sockaddr *from)
{
    struct serve_token token;
    struct pyro_slice given = bearer(request);
    /* Others that waited for the same hash may have used the budget up meanwhile. */
    unsigned seconds = pyro_attempts_wait(&access->attempts, from);
    if (pyro_tokens_recall(&access->tokens, given, &token) == TOKEN_RIGHT)
        return let_in(access, request, url, reads, &token);
    if (seconds)
        return refuse_early(request, url, seconds);
    if (pyro_tokens_check(&access->tokens, given, &token))
        return let_in(access, request, url, reads, &token);
    pyro_attempts_failed(&access->attempts, from);
    return refuse_stranger(request, url);
}
