/* Requests: what is sent, what is made of the answer, and what is tried again. */
#ifdef HAVE_CURL

#include <signal.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/json/scan.h"
#include "base/numbers/saturate.h"
#include "base/secrets/secrets.h"
#include "base/threads/thread.h"
#include "source/http/http_client.h"

enum {
    EXCERPT_BYTES = 200,  /* of an error's text */
    WINDOW_BYTES = 1024,  /* that are searched for secrets, of which an excerpt may have the beginning */
    LONGEST_PAUSE_S = 60, /* between two tries, whatever the server asks for */
    TICKS_PER_S = 10,     /* of a pause */
    HEADER_BYTES = 256 << 10
};

/* How long an answer may take: the time that its bytes, sent and received, take at the least rate, and twice the
 * timeout. In any case it ends after 12 hours. */
enum { LEAST_BYTES_A_SECOND = 8 << 10, LONGEST_S = 12 * 3600 };

/* Where the body of an answer goes. */
struct sink {
    pyro_http_receiver *receive;
    void *context;
    void (*restart)(void *context); /* forgets what it got, for another try; NULL: it cannot */
    bool every_status;              /* else only the body of status 200 */
    struct pyro_error *error;       /* that the receiver fills in */
};

/* What one try brings. */
struct transfer {
    struct pyro_http *http;
    const struct pyro_http_request *request;
    const struct sink *sink;
    struct pyro_exchange_answer answer;
    int64_t retry_at_s; /* Retry-After as a date; -1: none */
    int64_t began_ms;
    uint64_t header_bytes, refusal_bytes;
    bool refused, too_long, stopped;
    bool too_slow;
    bool cut; /* enough of the body of a status other than 200 was received */
    char excerpt[WINDOW_BYTES + 1];
    size_t excerpt_len;
};

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

static size_t add_excerpt(char *excerpt, size_t used, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len && used < WINDOW_BYTES; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        bool blank = byte <= ' ' || byte == 127;
        if (blank && (used == 0 || excerpt[used - 1] == ' '))
            continue;
        excerpt[used++] = blank ? ' ' : (char)(byte < 0x80 ? byte : '?');
    }
    excerpt[used] = '\0';
    return used;
}

/* No memory: the caller gets nothing. */
static void keep_refusal(struct pyro_strbuf *refusal, const char *bytes, size_t len)
{
    size_t left = PYRO_HTTP_KEPT_BYTES - refusal->len;
    pyro_strbuf_add(refusal, bytes, len < left ? len : left);
}

static size_t take_body(char *bytes, size_t one, size_t len, void *context)
{
    (void)one;
    struct transfer *transfer = context;
    long status = 0;
    curl_easy_getinfo(transfer->http->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && !transfer->sink->every_status) {
        transfer->excerpt_len = add_excerpt(transfer->excerpt, transfer->excerpt_len, bytes, len);
        if (transfer->http->options.refusal)
            keep_refusal(transfer->http->options.refusal, bytes, len);
        transfer->refusal_bytes += len;
        transfer->cut = transfer->refusal_bytes > PYRO_HTTP_KEPT_BYTES;
        return transfer->cut ? 0 : len;
    }
    if (len > transfer->request->limit - transfer->answer.bytes) {
        transfer->too_long = true;
        return 0;
    }
    transfer->answer.bytes += len;
    if (transfer->sink->receive(transfer->sink->context, bytes, len))
        return len;
    transfer->refused = true;
    return 0;
}

/* The value of a header of this name, or a null slice. */
static struct pyro_slice value_of(const char *name, const char *line, size_t len)
{
    size_t skip = strlen(name);
    if (len <= skip || strncasecmp(line, name, skip) != 0 || line[skip] != ':')
        return PYRO_SLICE_NULL;
    for (skip++; skip < len && (line[skip] == ' ' || line[skip] == '\t'); skip++)
        ;
    while (len > skip && (unsigned char)line[len - 1] <= ' ')
        len--;
    return (struct pyro_slice){line + skip, len - skip};
}

/* Seconds since 1970; -1: not a date. */
static int64_t date_of(struct pyro_slice text)
{
    char copy[64];
    if (text.len == 0 || text.len >= sizeof(copy))
        return -1;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    time_t date = curl_getdate(copy, NULL);
    return date < 0 ? -1 : (int64_t)date;
}

/* At most a year: what is beyond says nothing. */
static int64_t seconds_of(struct pyro_slice text)
{
    int64_t seconds = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || seconds > 365 * 86400)
            return -1;
        seconds = 10 * seconds + (text.ptr[i] - '0');
    }
    return text.len ? seconds : -1;
}

static size_t take_header(char *line, size_t one, size_t len, void *context)
{
    struct transfer *transfer = context;
    struct pyro_slice date = value_of("Date", line, len), retry = value_of("Retry-After", line, len);
    (void)one;
    transfer->header_bytes += len;
    if (transfer->header_bytes > HEADER_BYTES) {
        transfer->too_long = true;
        return 0;
    }
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) /* another answer, after a redirection */
        transfer->answer.date_ms = transfer->answer.retry_after_s = transfer->retry_at_s = -1;
    if (date.ptr && date_of(date) >= 0)
        transfer->answer.date_ms = 1000 * date_of(date);
    if (retry.ptr) {
        transfer->answer.retry_after_s = seconds_of(retry);
        transfer->retry_at_s = transfer->answer.retry_after_s < 0 ? date_of(retry) : -1;
    }
    return len;
}

static int64_t taken_ms(const struct transfer *transfer)
{
    return pyro_sub_saturating(pyro_clock_ms(), transfer->began_ms);
}

/* libcurl's own limit of the rate holds for each moment, and is only for servers that send nothing. */
static bool is_too_slow(const struct transfer *transfer, curl_off_t bytes)
{
    int64_t allowed_s = 2 * transfer->http->timeout_s + (int64_t)bytes / LEAST_BYTES_A_SECOND;
    if (allowed_s > LONGEST_S)
        allowed_s = LONGEST_S;
    return taken_ms(transfer) > 1000 * allowed_s;
}

static int show_progress(void *context, curl_off_t total, curl_off_t received, curl_off_t up_total, curl_off_t up)
{
    (void)up_total;
    struct transfer *transfer = context;
    const struct pyro_http_options *options = &transfer->http->options;
    if (total > 0 && transfer->request->method != PYRO_HTTP_HEAD && (uint64_t)total > transfer->request->limit) {
        transfer->too_long = true; /* said in advance: nothing need be fetched */
        return 1;
    }
    transfer->stopped = options->stopped && options->stopped(options->context, (uint64_t)received, (uint64_t)total);
    transfer->too_slow = is_too_slow(transfer, received + up);
    return transfer->stopped || transfer->too_slow;
}

/* ---- One try ----------------------------------------------------------------------------------------------------- */

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

static CURLcode try_once(struct transfer *transfer)
{
    CURL *curl = transfer->http->curl;
    struct pyro_exchange_answer *answer = &transfer->answer;
    const char *type = NULL;
    long status = 0;
    transfer->http->reason[0] = '\0';
    if (transfer->http->options.refusal)
        pyro_strbuf_clear(transfer->http->options.refusal);
    answer->date_ms = answer->retry_after_s = transfer->retry_at_s = -1;
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, show_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
    transfer->began_ms = pyro_clock_ms();
    CURLcode result = perform(curl);
    if (transfer->cut && result == CURLE_WRITE_ERROR)
        result = CURLE_OK; /* its status says all */
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    answer->status = (unsigned)status;
    answer->html = type && strncasecmp(type, "text/html", 9) == 0;
    if (transfer->retry_at_s >= 0) {
        int64_t now_s = answer->date_ms >= 0 ? answer->date_ms / 1000 : (int64_t)time(NULL);
        answer->retry_after_s = transfer->retry_at_s > now_s ? transfer->retry_at_s - now_s : 0;
    }
    return result;
}

/* ---- Several tries ----------------------------------------------------------------------------------------------- */

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

static bool is_busy(unsigned status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static bool is_worth_another_try(const struct transfer *transfer, CURLcode result)
{
    const struct pyro_http_request *request = transfer->request;
    if (transfer->refused || transfer->too_long || transfer->too_slow || transfer->stopped)
        return false;
    if (request->method == PYRO_HTTP_POST && !request->repeatable)
        return false;
    if (transfer->answer.bytes > 0 && !transfer->sink->restart)
        return false;
    return result == CURLE_OK ? is_busy(transfer->answer.status) : is_transient(result) || transfer->answer.bytes > 0;
}

/* Waits before the next try; false: stopped. */
static bool pause_before(const struct pyro_http *http, unsigned tried, int64_t asked_s)
{
    int64_t ticks = 3 << (tried < 8 ? tried : 8), asked = (asked_s < LONGEST_PAUSE_S ? asked_s : LONGEST_PAUSE_S);
    ticks = ticks > asked * TICKS_PER_S ? ticks : asked * TICKS_PER_S;
    for (int64_t tick = 0; tick < ticks; tick++) {
        const struct timespec one = {0, 1000000000 / TICKS_PER_S};
        if (http->options.stopped && http->options.stopped(http->options.context, 0, 0))
            return false;
        nanosleep(&one, NULL);
    }
    return true;
}

static enum pyro_status say_failed(const struct transfer *transfer, CURLcode result, struct pyro_error *error)
{
    const char *why = transfer->http->reason[0] ? transfer->http->reason : curl_easy_strerror(result);
    bool download = !transfer->sink->every_status;
    if (transfer->stopped)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
    uint64_t bytes = transfer->answer.bytes + transfer->refusal_bytes;
    if (transfer->too_slow && bytes > 0)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the server sends too slowly: %llu bytes came in %lld s%s",
                              (unsigned long long)bytes, (long long)taken_ms(transfer) / 1000,
                              download ? ": try again, or raise --timeout" : "");
    if (transfer->too_slow)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "no answer in time: nothing came in %lld s%s",
                              (long long)taken_ms(transfer) / 1000, download ? ": try again, or raise --timeout" : "");
    if (transfer->header_bytes > HEADER_BYTES)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the header of the answer is larger than %d bytes",
                              HEADER_BYTES);
    if (transfer->too_long)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the answer is larger than the limit of %llu bytes%s",
                              (unsigned long long)transfer->request->limit, download ? ": see --max-download" : "");
    switch (result) {
    case CURLE_OUT_OF_MEMORY:
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for an answer");
    case CURLE_COULDNT_RESOLVE_HOST:
        return pyro_error_set(error, PYRO_ERROR_INPUT, "no such host: check the address");
    case CURLE_COULDNT_CONNECT:
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "cannot connect (%s): check the host, the port, and that the server runs", why);
    case CURLE_OPERATION_TIMEDOUT:
        return pyro_error_set(error, PYRO_ERROR_INPUT, "no answer in time (%s): try again%s", why,
                              download ? ", or raise --timeout" : "");
    case CURLE_TOO_MANY_REDIRECTS:
        return pyro_error_set(error, PYRO_ERROR_INPUT, "more than %d redirections: give the final address",
                              PYRO_HTTP_REDIRECTIONS);
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
                              (unsigned long long)transfer->answer.bytes, why);
    }
}

static enum pyro_status say_status(unsigned status, bool download, const char *excerpt, struct pyro_error *error)
{
    const char *advice = "";
    struct pyro_secrets secrets = {.how = PYRO_REDACT_WIDE};
    struct pyro_strbuf found;
    pyro_strbuf_init(&found, NULL);
    struct pyro_slice shown = pyro_secrets_text(&secrets, pyro_slice_from(excerpt), &found);
    int len = (int)(shown.len < EXCERPT_BYTES ? shown.len : EXCERPT_BYTES);
    if (status == 401 && download)
        advice = ": give name and password in PYROMETER_HTTP_USER=NAME:PASSWORD or ~/.netrc, or a token in "
                 "PYROMETER_HTTP_TOKEN";
    else if (status == 401)
        advice = ": it asks for a name and a password, or does not accept those given";
    else if (status == 403)
        advice = ": this user has no permission";
    else if (status == 404 && download)
        advice = ": no such page or application";
    else if (status >= 500)
        advice = ": see the log of the server";
    pyro_error_describe(error, PYRO_ERROR_INPUT, "the server answers %u%s%s%.*s%s", status, advice, len ? " (\"" : "",
                        len, len ? shown.ptr : "", len ? "\")" : "");
    pyro_strbuf_done(&found);
    pyro_secrets_done(&secrets);
    return PYRO_ERROR_INPUT;
}

/* ret->bytes is set in any case. */
static enum pyro_status try_often(struct pyro_http *http, const struct pyro_http_request *request,
                                  const struct sink *sink, struct pyro_exchange_answer *ret, struct pyro_error *error)
{
    for (unsigned tried = 0;; tried++) {
        struct transfer transfer = {.http = http, .request = request, .sink = sink};
        CURLcode result = try_once(&transfer);
        if (tried + 1 < request->tries && is_worth_another_try(&transfer, result)) {
            if (!pause_before(http, tried, result == CURLE_OK ? transfer.answer.retry_after_s : -1))
                return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
            if (sink->restart)
                sink->restart(sink->context);
            continue;
        }
        ret->bytes = transfer.answer.bytes;
        if (result != CURLE_OK)
            return transfer.refused && pyro_error_is_usable(sink->error) ? sink->error->code
                                                                         : say_failed(&transfer, result, error);
        *ret = transfer.answer;
        if (ret->status != 200 && !sink->every_status)
            pyro_ignore_status(say_status(ret->status, true, transfer.excerpt, error),
                               "the caller decides by ret->status");
        return PYRO_OK;
    }
}

enum pyro_status pyro_http_refused(const struct pyro_exchange_answer *answer, struct pyro_slice body,
                                   struct pyro_error *error)
{
    char excerpt[WINDOW_BYTES + 1];
    add_excerpt(excerpt, 0, body.ptr, body.len);
    return say_status(answer->status, false, excerpt, error);
}

/* ---- Setting up a request ---------------------------------------------------------------------------------------- */

/* Appends; false: no memory. */
static bool add_header(struct curl_slist **headers, const char *line)
{
    struct curl_slist *more = curl_slist_append(*headers, line);
    if (more)
        *headers = more;
    return more != NULL;
}

static enum pyro_status list_headers(struct pyro_http *http, const struct pyro_http_request *request,
                                     struct curl_slist **headers, struct pyro_error *error)
{
    struct pyro_strbuf type;
    bool ok = request->method != PYRO_HTTP_POST || request->body.ptr || add_header(headers, "Content-Type:"); /* none */
    for (size_t i = 0; i < request->header_count; i++) {
        if (strpbrk(request->headers[i], "\r\n"))
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a header of a request has more than one line");
        ok = ok && add_header(headers, request->headers[i]);
    }
    if (request->body.ptr) {
        pyro_strbuf_init(&type, http->options.allocator);
        pyro_strbuf_printf(&type, "Content-Type: %s", request->content_type);
        /* libcurl would ask whether it may send a large body, and wait a second for servers that do not answer. */
        ok = ok && !type.failed && add_header(headers, type.data) && add_header(headers, "Expect:");
        pyro_strbuf_done(&type);
    }
    return ok ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a request");
}

static void set_request(CURL *curl, const struct pyro_http_request *request, const struct curl_slist *headers)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};
    bool reads = request->method <= PYRO_HTTP_HEAD, once = request->method == PYRO_HTTP_POST && !request->repeatable;
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L); /* forgets method and body of the request before */
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, NULL);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, reads && request->header_count == 0 ? 1L : 0L);
    /* On a connection that the server closed meanwhile, libcurl sends again by itself. */
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, once ? 1L : 0L);
    if (request->method == PYRO_HTTP_HEAD)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    if (reads)
        return;
    if (request->body.ptr || request->method == PYRO_HTTP_POST) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.ptr ? request->body.ptr : "");
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, names[request->method]);
}

enum pyro_status pyro_http_get(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                               pyro_http_receiver *receive, void *context, struct pyro_exchange_answer *ret,
                               struct pyro_error *error)
{
    const struct pyro_http_request request = {.url = url, .limit = limit, .tries = tries};
    const struct sink sink = {.receive = receive, .context = context, .error = error};
    set_request(http->curl, &request, NULL);
    return try_often(http, &request, &sink, ret, error);
}

/* ---- Into memory ------------------------------------------------------------------------------------------------- */

static bool append(void *context, const void *bytes, size_t len)
{
    struct pyro_strbuf *body = context;
    pyro_strbuf_add(body, bytes, len);
    return !body->failed;
}

static void forget(void *context)
{
    pyro_strbuf_clear(context);
}

static enum pyro_status send_text(struct pyro_http *http, const struct pyro_http_request *request, bool every_status,
                                  struct pyro_strbuf *body, struct pyro_exchange_answer *ret, struct pyro_error *error)
{
    struct pyro_error no_memory = {.size = sizeof(no_memory)};
    const struct sink sink = {
        .receive = append, .context = body, .restart = forget, .every_status = every_status, .error = &no_memory};
    pyro_error_describe(&no_memory, PYRO_ERROR_MEMORY, "out of memory for an answer"); /* if append() refuses */
    pyro_strbuf_clear(body);
    curl_easy_setopt(http->curl, CURLOPT_ACCEPT_ENCODING, "");
    enum pyro_status status = try_often(http, request, &sink, ret, error);
    curl_easy_setopt(http->curl, CURLOPT_ACCEPT_ENCODING, NULL);
    if (status == PYRO_ERROR_MEMORY || (status == PYRO_OK && !pyro_strbuf_reserve(body, PYRO_SCAN_PADDING)))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for an answer");
    if (status == PYRO_OK)
        memset(body->data + body->len, 0, PYRO_SCAN_PADDING);
    return status;
}

enum pyro_status pyro_http_get_text(struct pyro_http *http, const char *url, uint64_t limit, unsigned tries,
                                    struct pyro_strbuf *body, struct pyro_exchange_answer *ret,
                                    struct pyro_error *error)
{
    const struct pyro_http_request request = {.url = url, .limit = limit, .tries = tries};
    set_request(http->curl, &request, NULL);
    return send_text(http, &request, false, body, ret, error);
}

enum pyro_status pyro_http_send(struct pyro_http *http, const struct pyro_http_request *request,
                                struct pyro_strbuf *body, struct pyro_exchange_answer *ret, struct pyro_error *error)
{
    struct curl_slist *headers = NULL;
    enum pyro_status status = list_headers(http, request, &headers, error);
    if (status == PYRO_OK) {
        set_request(http->curl, request, headers);
        status = send_text(http, request, true, body, ret, error);
        curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
    }
    curl_slist_free_all(headers);
    return status;
}

#endif
