#include "source/http.h"

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
    size_t len = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', len);
    const char *shown = at ? at + 1 : host;
    pyro_strbuf_add(text, url, (size_t)(host - url));
    pyro_strbuf_add(text, shown, strcspn(shown, "?#"));
}

#ifndef HAVE_CURL

bool pyro_http_available(void)
{
    return false;
}

const char *pyro_http_description(void)
{
    return "History Servers and addresses as inputs; install libcurl (Debian: libcurl4-openssl-dev) and build again";
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
                               pyro_http_receiver *receive, void *context, struct pyro_http_answer *ret,
                               struct pyro_error *error)
{
    (void)http, (void)url, (void)limit, (void)tries, (void)receive, (void)context, (void)ret;
    return unavailable(error);
}

enum pyro_status pyro_http_get_text(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                                    struct pyro_strbuf *body, struct pyro_http_answer *ret, struct pyro_error *error)
{
    (void)http, (void)url, (void)limit, (void)tries, (void)body, (void)ret;
    return unavailable(error);
}

#else

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/memory.h"
#include "base/scan.h"

enum {
    TIMEOUT_S = 120,
    CONNECT_TIMEOUT_S = 20,
    LEAST_BYTES_A_SECOND = 16,
    REDIRECTIONS = 5,
    EXCERPT_BYTES = 200 /* of an error's text */
};

/* One request, while it runs. */
struct request {
    struct pyro_http *http;
    uint64_t limit, received;
    bool compressed; /* the length that the server gives is not that of the body */
    pyro_http_receiver *receive;
    void *context;
    struct pyro_error *error;
    bool refused, too_long, stopped;
    char excerpt[EXCERPT_BYTES + 1];
    size_t excerpt_len;
};

struct pyro_http {
    struct pyro_http_options options;
    CURL *curl;
    char reason[CURL_ERROR_SIZE];
    struct request *request;
    char agent[64];
};

bool pyro_http_available(void)
{
    return true;
}

const char *pyro_http_description(void)
{
    return "History Servers, live UIs and addresses as inputs; libcurl " LIBCURL_VERSION;
}

/* libcurl's own global state; it offers no other way. */
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void prepare(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

static void keep_excerpt(struct request *request, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len && request->excerpt_len < EXCERPT_BYTES; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        bool blank = byte <= ' ' || byte == 127;
        if (blank && (request->excerpt_len == 0 || request->excerpt[request->excerpt_len - 1] == ' '))
            continue;
        request->excerpt[request->excerpt_len++] = blank ? ' ' : (char)(byte < 0x80 ? byte : '?');
    }
}

static size_t take_body(char *bytes, size_t one, size_t len, void *context)
{
    (void)one;
    struct request *request = context;
    long status = 0;
    curl_easy_getinfo(request->http->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        keep_excerpt(request, bytes, len);
        return len;
    }
    if (len > request->limit - request->received) {
        request->too_long = true;
        return 0;
    }
    request->received += len;
    if (request->receive(request->context, bytes, len))
        return len;
    request->refused = true;
    return 0;
}

static int show_progress(void *context, curl_off_t total, curl_off_t received, curl_off_t up_total, curl_off_t up)
{
    (void)up_total;
    (void)up;
    struct pyro_http *http = context;
    if (total > 0 && !http->request->compressed && (uint64_t)total > http->request->limit) {
        http->request->too_long = true; /* said in advance: nothing need be fetched */
        return 1;
    }
    http->request->stopped =
        http->options.stopped && http->options.stopped(http->options.context, (uint64_t)received, (uint64_t)total);
    return http->request->stopped;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

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

static void set_options(struct pyro_http *http)
{
    CURL *curl = http->curl;
    long timeout = http->options.timeout_s ? (long)http->options.timeout_s : TIMEOUT_S;
    set_protocols(curl);
    set_credentials(http);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTIONS);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, timeout < CONNECT_TIMEOUT_S ? timeout : (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)LEAST_BYTES_A_SECOND);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, timeout);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "pyrometer/" PYROMETER_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->reason);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, show_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
}

enum pyro_status pyro_http_open(const struct pyro_http_options *options, struct pyro_http **ret,
                                struct pyro_error *error)
{
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

/* ---- One request ------------------------------------------------------------------------------------------------- */

/* A peer that goes away must not kill the process while TLS writes to it; the caller's handlers stay as they are. */
static CURLcode perform(CURL *curl)
{
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    CURLcode result = curl_easy_perform(curl);
    const struct timespec none = {0, 0};
    if (!was_pending)
        sigtimedwait(&pipe, NULL, &none);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static bool is_transient(CURLcode result)
{
    switch (result) {
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static bool is_busy(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Waits before the next try; false: stopped. */
static bool pause_before(struct pyro_http *http, unsigned tried)
{
    for (unsigned step = 0; step < 3u << tried; step++) {
        const struct timespec tenth = {0, 100000000};
        if (http->options.stopped && http->options.stopped(http->options.context, 0, 0))
            return false;
        nanosleep(&tenth, NULL);
    }
    return true;
}

static enum pyro_status say_failed(const struct pyro_http *http, const struct request *request, CURLcode result,
                                   struct pyro_error *error)
{
    const char *why = http->reason[0] ? http->reason : curl_easy_strerror(result);
    if (request->stopped)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
    if (request->too_long)
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "the answer is larger than the limit of %llu bytes: see --max-download",
                              (unsigned long long)request->limit);
    switch (result) {
    case CURLE_OUT_OF_MEMORY:
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for an answer");
    case CURLE_COULDNT_RESOLVE_HOST:
        return pyro_error_set(error, PYRO_ERROR_INPUT, "no such host: check the address");
    case CURLE_COULDNT_CONNECT:
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "cannot connect (%s): check the host, the port, and that the server runs", why);
    case CURLE_OPERATION_TIMEDOUT:
        return pyro_error_set(error, PYRO_ERROR_INPUT, "no answer in time (%s): try again, or raise --timeout", why);
    case CURLE_TOO_MANY_REDIRECTS:
        return pyro_error_set(error, PYRO_ERROR_INPUT, "more than %d redirections: give the final address",
                              REDIRECTIONS);
    case CURLE_UNSUPPORTED_PROTOCOL:
        return pyro_error_set(
            error, PYRO_ERROR_INPUT,
            "the server redirects to an address that is neither http nor https, which is not followed");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "the certificate of the server is not trusted (%s): name the authority in CURL_CA_BUNDLE",
                              why);
    default:
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the answer broke off after %llu bytes (%s): try again",
                              (unsigned long long)request->received, why);
    }
}

static void say_status(const struct request *request, long status, struct pyro_error *error)
{
    const char *advice = status == 401   ? ": give name and password in PYROMETER_HTTP_USER=NAME:PASSWORD or ~/.netrc, "
                                           "or a token in PYROMETER_HTTP_TOKEN"
                         : status == 403 ? ": this user has no permission"
                         : status == 404 ? ": no such page or application"
                         : status >= 500 ? ": see the log of the server"
                                         : "";
    pyro_error_set(error, PYRO_ERROR_INPUT, "the server answers %ld%s%s%s%s", status, advice,
                   request->excerpt_len ? " (\"" : "", request->excerpt, request->excerpt_len ? "\")" : "");
}

static CURLcode try_once(struct pyro_http *http, struct request *request, long *ret_status)
{
    http->reason[0] = '\0';
    http->request = request;
    curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, request);
    CURLcode result = perform(http->curl);
    *ret_status = 0;
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, ret_status);
    return result;
}

enum pyro_status pyro_http_get(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                               pyro_http_receiver *receive, void *context, struct pyro_http_answer *ret,
                               struct pyro_error *error)
{
    curl_easy_setopt(http->curl, CURLOPT_URL, url);
    for (unsigned tried = 0;; tried++) {
        struct request request = {.http = http, .limit = limit, .receive = receive, .context = context, .error = error};
        long status;
        const char *type = NULL;
        CURLcode result = try_once(http, &request, &status);
        bool again =
            result == CURLE_OK ? is_busy(status) : is_transient(result) && !request.refused && !request.too_long;
        if (again && request.received == 0 && tried + 1 < tries) {
            if (pause_before(http, tried))
                continue;
            return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
        }
        ret->bytes = request.received;
        if (result != CURLE_OK)
            return request.refused && pyro_error_is_usable(error) ? error->code
                                                                  : say_failed(http, &request, result, error);
        curl_easy_getinfo(http->curl, CURLINFO_CONTENT_TYPE, &type);
        ret->status = (unsigned)status;
        ret->html = type && strncasecmp(type, "text/html", 9) == 0;
        if (status != 200)
            say_status(&request, status, error);
        return PYRO_OK;
    }
}

/* ---- Into memory ------------------------------------------------------------------------------------------------- */

static bool append(void *context, const void *bytes, size_t len)
{
    struct pyro_strbuf *body = context;
    pyro_strbuf_add(body, bytes, len);
    return !body->failed;
}

enum pyro_status pyro_http_get_text(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                                    struct pyro_strbuf *body, struct pyro_http_answer *ret, struct pyro_error *error)
{
    enum pyro_status status;
    curl_easy_setopt(http->curl, CURLOPT_ACCEPT_ENCODING, "");
    for (unsigned tried = 0;; tried++) {
        pyro_strbuf_clear(body);
        pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for an answer"); /* if append() refuses */
        status = pyro_http_get(http, url, limit, tries, append, body, ret, error);
        if (status != PYRO_ERROR_INPUT || ret->bytes == 0 || ret->bytes >= limit || tried + 1 >= tries ||
            !pause_before(http, tried))
            break;
    }
    curl_easy_setopt(http->curl, CURLOPT_ACCEPT_ENCODING, NULL);
    if (status == PYRO_OK && ret->status == 200) {
        pyro_error_clear(error);
        if (!pyro_strbuf_reserve(body, PYRO_SCAN_PADDING))
            return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for an answer");
        memset(body->data + body->len, 0, PYRO_SCAN_PADDING);
    }
    return status;
}

#endif
