/* The form by which a browser turns a token into a session. */
#include "serve/access/access.h"

#include <stdio.h>
#include <string.h>

static const char page[] =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Pyrometer: log in</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<h1>Pyrometer</h1>\n<p>%s</p>\n"
    "<form method=\"post\" action=\"/login\"><label>Token <input type=\"password\" name=\"token\" size=\"60\" "
    "required\n"
    "autocomplete=\"current-password\" autofocus></label> <button>Log in</button></form>\n</html>\n";

static void show(struct serve_request *request, unsigned status, const char *text)
{
    pyro_strbuf_clear(request->out);
    pyro_strbuf_printf(request->out, page, text);
    request->status = status;
    request->type = "text/html;charset=utf-8";
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* The field `token` of a form, decoded; false: there is none, or it is not a token. */
static bool read_token(struct pyro_slice form, char *ret, size_t bytes)
{
    static const char field[] = "token=";
    size_t len = 0;
    if (form.len < sizeof(field) - 1 || memcmp(form.ptr, field, sizeof(field) - 1) != 0)
        return false;
    for (size_t i = sizeof(field) - 1; i < form.len && form.ptr[i] != '&'; i++) {
        char c = form.ptr[i] == '+' ? ' ' : form.ptr[i];
        if (c == '%' && i + 2 < form.len && hex(form.ptr[i + 1]) >= 0 && hex(form.ptr[i + 2]) >= 0) {
            c = (char)(hex(form.ptr[i + 1]) << 4 | hex(form.ptr[i + 2]));
            i += 2;
        }
        if (c == ' ') /* pasted with it */
            continue;
        if (len + 1 >= bytes)
            return false;
        ret[len++] = c;
    }
    ret[len] = '\0';
    return len > 0;
}

static void set_cookie(const struct access *access, struct serve_request *request, const char *value, int seconds)
{
    char text[256];
    int len = snprintf(text, sizeof(text), "pyrometer_session=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s",
                       value, seconds, access->secure ? "; Secure" : "");
    pyro_serve_header(request, "Set-Cookie", (struct pyro_slice){text, (size_t)len});
}

static void log_in(struct access *access, struct serve_request *request, const struct sockaddr *from)
{
    char given[TOKEN_BYTES], cookie[SESSION_BYTES];
    struct serve_token token;
    if (pyro_attempts_wait(&access->attempts, from)) {
        show(request, 429, "Too many wrong tokens from this address. Try again later.");
    } else if (!read_token(request->body, given, sizeof(given)) ||
               !pyro_tokens_check(&access->tokens, pyro_slice_from(given), &token)) {
        pyro_attempts_failed(&access->attempts, from);
        show(request, 401, "This is not a token of this server.");
    } else {
        pyro_session_begin(&access->sessions, &token, cookie);
        pyro_serve_plain(request, 303, "logged in");
        pyro_serve_header(request, "Location", PYRO_SLICE_LITERAL("/"));
        set_cookie(access, request, cookie, SESSION_SECONDS);
    }
}

bool pyro_access_is_login(const struct access *access, const char *url)
{
    return access->has_tokens && (strcmp(url, "/login") == 0 || strcmp(url, "/logout") == 0);
}

void pyro_access_login(struct access *access, struct serve_request *request, const char *url,
                       const struct sockaddr *from)
{
    bool out = strcmp(url, "/logout") == 0;
    if (request->method == SERVE_GET && !out) {
        show(request, 200, "This server requires a token.");
    } else if (request->method != SERVE_POST) {
        pyro_serve_plain(request, 405, "HTTP 405 Method Not Allowed");
    } else if (out) {
        struct pyro_slice cookie = pyro_access_cookie(request);
        if (cookie.ptr)
            pyro_session_end(&access->sessions, cookie);
        pyro_serve_plain(request, 303, "logged out");
        pyro_serve_header(request, "Location", PYRO_SLICE_LITERAL("/login"));
        set_cookie(access, request, "", 0);
    } else {
        log_in(access, request, from);
    }
}
