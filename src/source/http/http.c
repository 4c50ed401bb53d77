#include "source/http/http.h"

#include <string.h>
#include <strings.h>

bool pyro_is_url(const char *path)
{
    return strncasecmp(path, "http://", 7) == 0 || strncasecmp(path, "https://", 8) == 0;
}

/* By hand, so that the whole library agrees on it with and without libcurl. */
void pyro_http_label(const char *url, struct pyro_strbuf *text)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t len = strcspn(host, "?#"); /* a password may have a slash */
    const char *at = memrchr(host, '@', len);
    const char *shown = at ? at + 1 : host;
    pyro_strbuf_add(text, url, (size_t)(host - url));
    pyro_strbuf_add(text, shown, strcspn(shown, "?#"));
}

struct pyro_slice pyro_http_label_in(struct pyro_arena *arena, const char *url)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, arena->allocator);
    pyro_http_label(url, &text);
    struct pyro_slice label = text.failed ? PYRO_SLICE_NULL : pyro_arena_copy(arena, pyro_strbuf_slice(&text));
    pyro_strbuf_done(&text);
    return label;
}

void pyro_http_escape(struct pyro_strbuf *to, struct pyro_slice text)
{
    pyro_http_escape_but(to, text, "");
}

void pyro_http_escape_but(struct pyro_strbuf *to, struct pyro_slice text, const char *kept)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        bool plain = (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
                     (byte && (strchr("-._~", byte) || strchr(kept, byte)));
        if (plain)
            pyro_strbuf_add_char(to, (char)byte);
        else
            pyro_strbuf_printf(to, "%%%02X", byte);
    }
}

#ifndef HAVE_CURL

bool pyro_http_available(void)
{
    return false;
}

const char *pyro_http_description(void)
{
    return "History Servers and addresses as inputs, stores on OpenSearch; install libcurl (Debian: "
           "libcurl4-openssl-dev) and build again";
}

static enum pyro_status unavailable(struct pyro_error *error)
{
    return pyro_error_set(
        error, PYRO_ERROR_INPUT,
        "this build has no network parts, and so reads no addresses: build it with libcurl, or save the log to a file");
}

enum pyro_status pyro_http_open(const struct pyro_http_options *options, struct pyro_http **ret,
                                struct pyro_error *error)
{
    (void)options;
    (void)ret;
    return unavailable(error);
}

void pyro_http_close(struct pyro_http *http)
{
    (void)http;
}

enum pyro_status pyro_http_get(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                               pyro_http_receiver *receive, void *context, struct pyro_exchange_answer *ret,
                               struct pyro_error *error)
{
    (void)http, (void)url, (void)limit, (void)tries, (void)receive, (void)context, (void)ret;
    return unavailable(error);
}

enum pyro_status pyro_http_get_text(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                                    struct pyro_strbuf *body, struct pyro_exchange_answer *ret,
                                    struct pyro_error *error)
{
    (void)http, (void)url, (void)limit, (void)tries, (void)body, (void)ret;
    return unavailable(error);
}

enum pyro_status pyro_http_send(struct pyro_http *http, const struct pyro_http_request *request,
                                struct pyro_strbuf *body, struct pyro_exchange_answer *ret, struct pyro_error *error)
{
    (void)http, (void)request, (void)body, (void)ret;
    return unavailable(error);
}

enum pyro_status pyro_http_refused(const struct pyro_exchange_answer *answer, struct pyro_slice body,
                                   struct pyro_error *error)
{
    (void)answer, (void)body;
    return unavailable(error);
}

#else

#include <pthread.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "source/http/http_client.h"

enum { TIMEOUT_S = 120, CONNECT_TIMEOUT_S = 20, AWAKE_BYTES_A_SECOND = 16 };

bool pyro_http_available(void)
{
    return true;
}

const char *pyro_http_description(void)
{
    return "History Servers, live UIs and addresses as inputs, stores on OpenSearch; libcurl " LIBCURL_VERSION;
}

/* libcurl's own global state; it offers no other way. */
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void prepare(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void set_protocols(CURL *curl)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void set_credentials(struct pyro_http *http)
{
    const struct pyro_http_options *options = &http->options;
    if (options->token) {
        curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(http->curl, CURLOPT_XOAUTH2_BEARER, options->token);
        return;
    }
    curl_easy_setopt(http->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    if (options->user)
        curl_easy_setopt(http->curl, CURLOPT_USERPWD, options->user);
}

/* libcurl itself asks neither variable, though its command does. */
static const char *authorities(const struct pyro_http_options *options)
{
    static const char *const variables[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    const char *file = options->ca_file;
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && (!file || !*file); i++)
        file = getenv(variables[i]);
    return file && *file ? file : NULL;
}

static void set_options(struct pyro_http *http)
{
    const char *ca_file = authorities(&http->options);
    CURL *curl = http->curl;
    long timeout = http->options.timeout_s ? (long)http->options.timeout_s : TIMEOUT_S;
    http->timeout_s = timeout;
    set_protocols(curl);
    set_credentials(http);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)PYRO_HTTP_REDIRECTIONS);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, timeout < CONNECT_TIMEOUT_S ? timeout : (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)AWAKE_BYTES_A_SECOND);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, timeout);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "pyrometer/" PYROMETER_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->reason);
    if (http->options.cookies)
        curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");
    if (ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
}

enum pyro_status pyro_http_open(const struct pyro_http_options *options, struct pyro_http **ret,
                                struct pyro_error *error)
{
    PYRO_TRY(pyro_curl_load(error));
    pthread_once(&prepared, prepare);
    struct pyro_http *http = pyro_allocate(options->allocator, sizeof(*http));
    if (!http)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a connection");
    memset(http, 0, sizeof(*http));
    http->options = *options;
    http->curl = curl_easy_init();
    if (!http->curl) {
        pyro_release(options->allocator, http);
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a connection");
    }
    set_options(http);
    *ret = http;
    return PYRO_OK;
}

void pyro_http_close(struct pyro_http *http)
{
    if (!http)
        return;
    curl_easy_cleanup(http->curl);
    pyro_release(http->options.allocator, http);
}

#endif
