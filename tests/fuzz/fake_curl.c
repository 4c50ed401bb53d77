#include "fake_curl.h"

#ifdef HAVE_CURL

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/collections/hash.h"
#include "fuzz_kit.h"
#include "libraries/libcurl.h"

/* What the program sets of a handle, as far as it changes what the program gets. */
struct transfer {
    char *url;
    const char *method; /* NULL: GET, HEAD or POST */
    char *reason;
    curl_write_callback write, header;
    curl_xferinfo_callback progress;
    void *write_to, *header_to, *progress_to;
    const char *body;
    curl_off_t body_len;
    long redirections;
    bool follows, without_body, posts;
    long status;
    char type[256];
};

static fake_answer_function *answer_function;

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

static CURLcode init_all(long flags)
{
    (void)flags;
    return CURLE_OK;
}

static CURL *init(void)
{
    struct transfer *transfer = calloc(1, sizeof(*transfer));
    FUZZ_CHECK(transfer);
    return transfer;
}

static void cleanup(CURL *handle)
{
    struct transfer *transfer = handle;
    if (!transfer)
        return;
    free(transfer->url);
    free(transfer);
}

static void set_url(struct transfer *transfer, const char *url)
{
    free(transfer->url);
    transfer->url = strdup(url);
    FUZZ_CHECK(transfer->url);
}

static CURLcode set(CURL *handle, CURLoption option, ...)
{
    struct transfer *transfer = handle;
    va_list values;
    va_start(values, option);
    switch (option) {
    case CURLOPT_URL:
        set_url(transfer, va_arg(values, const char *));
        break;
    case CURLOPT_HTTPGET:
        transfer->without_body = transfer->posts = false;
        transfer->body = NULL;
        break;
    case CURLOPT_NOBODY:
        transfer->without_body = va_arg(values, long) != 0;
        break;
    case CURLOPT_CUSTOMREQUEST:
        transfer->method = va_arg(values, const char *);
        break;
    case CURLOPT_POSTFIELDSIZE_LARGE:
        transfer->body_len = va_arg(values, curl_off_t);
        break;
    case CURLOPT_POSTFIELDS:
        transfer->body = va_arg(values, const char *);
        transfer->posts = true;
        break;
    case CURLOPT_FOLLOWLOCATION:
        transfer->follows = va_arg(values, long) != 0;
        break;
    case CURLOPT_MAXREDIRS:
        transfer->redirections = va_arg(values, long);
        break;
    case CURLOPT_ERRORBUFFER:
        transfer->reason = va_arg(values, char *);
        break;
    case CURLOPT_WRITEFUNCTION:
        transfer->write = va_arg(values, curl_write_callback);
        break;
    case CURLOPT_WRITEDATA:
        transfer->write_to = va_arg(values, void *);
        break;
    case CURLOPT_HEADERFUNCTION:
        transfer->header = va_arg(values, curl_write_callback);
        break;
    case CURLOPT_HEADERDATA:
        transfer->header_to = va_arg(values, void *);
        break;
    case CURLOPT_XFERINFOFUNCTION:
        transfer->progress = va_arg(values, curl_xferinfo_callback);
        break;
    case CURLOPT_XFERINFODATA:
        transfer->progress_to = va_arg(values, void *);
        break;
    default: /* of sockets, TLS and names */
        break;
    }
    va_end(values);
    return CURLE_OK;
}

static CURLcode get_info(CURL *handle, CURLINFO info, ...)
{
    struct transfer *transfer = handle;
    va_list values;
    va_start(values, info);
    if (info == CURLINFO_RESPONSE_CODE)
        *va_arg(values, long *) = transfer->status;
    else if (info == CURLINFO_CONTENT_TYPE)
        *va_arg(values, const char **) = transfer->type[0] ? transfer->type : NULL;
    va_end(values);
    return CURLE_OK;
}

/* ---- One answer -------------------------------------------------------------------------------------------------- */

/* What goes into the first line of a request: an id of a server must not become a part of it. */
static void check_url(const char *url)
{
    FUZZ_CHECK(strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0);
    for (const char *at = url; *at; at++)
        FUZZ_CHECK((unsigned char)*at > ' ' && (unsigned char)*at < 127);
}

static bool put_header(const struct transfer *transfer, const char *line)
{
    char text[1024];
    int len = snprintf(text, sizeof(text), "%s\r\n", line);
    FUZZ_CHECK(len > 0 && (size_t)len < sizeof(text));
    return transfer->header(text, 1, (size_t)len, transfer->header_to) == (size_t)len;
}

static bool put_headers(struct transfer *transfer, const struct fake_reply *reply)
{
    char line[600];
    snprintf(line, sizeof(line), "HTTP/1.1 %u", reply->status);
    bool ok = put_header(transfer, line);
    for (size_t i = 0; i < reply->header_count && ok; i++)
        ok = put_header(transfer, reply->headers[i]);
    snprintf(transfer->type, sizeof(transfer->type), "%s", reply->type ? reply->type : "");
    snprintf(line, sizeof(line), "Content-Type: %s", transfer->type);
    return ok && (!reply->type || put_header(transfer, line)) && put_header(transfer, "");
}

static CURLcode put_body(const struct transfer *transfer, const struct fake_reply *reply)
{
    size_t most = reply->failure == FAKE_CUT && reply->sent < reply->body.len ? reply->sent : reply->body.len;
    size_t piece = reply->piece ? reply->piece : most;
    curl_off_t total = reply->no_length ? 0 : (curl_off_t)reply->body.len;
    for (size_t at = 0; at < most; at += piece) {
        size_t len = most - at < piece ? most - at : piece;
        if (transfer->progress(transfer->progress_to, total, (curl_off_t)at, 0, 0))
            return CURLE_ABORTED_BY_CALLBACK;
        /* A copy, so that sanitizers see a byte read behind it. */
        char *copy = malloc(len ? len : 1);
        FUZZ_CHECK(copy);
        memcpy(copy, reply->body.data + at, len);
        size_t taken = transfer->write(copy, 1, len, transfer->write_to);
        free(copy);
        if (taken != len)
            return CURLE_WRITE_ERROR;
    }
    return reply->failure == FAKE_CUT ? CURLE_PARTIAL_FILE : CURLE_OK;
}

static CURLcode fail(const struct transfer *transfer, CURLcode code, const char *reason)
{
    if (transfer->reason)
        snprintf(transfer->reason, CURL_ERROR_SIZE, "%s", reason);
    return code;
}

static CURLcode put_reply(struct transfer *transfer, const struct fake_reply *reply)
{
    static const CURLcode codes[] = {[FAKE_NO_HOST] = CURLE_COULDNT_RESOLVE_HOST,
                                     [FAKE_NO_CONNECTION] = CURLE_COULDNT_CONNECT,
                                     [FAKE_TIMEOUT] = CURLE_OPERATION_TIMEDOUT,
                                     [FAKE_NOTHING] = CURLE_GOT_NOTHING,
                                     [FAKE_CUT] = CURLE_OK};
    if (reply->failure && codes[reply->failure] != CURLE_OK)
        return fail(transfer, codes[reply->failure], "the server is a fake one");
    transfer->status = (long)reply->status;
    if (!put_headers(transfer, reply))
        return CURLE_WRITE_ERROR;
    return transfer->without_body ? CURLE_OK : put_body(transfer, reply);
}

static bool is_redirection(const struct fake_reply *reply)
{
    return reply->location && !reply->failure && (reply->status == 301 || reply->status == 302 || reply->status == 307);
}

static CURLcode perform(CURL *handle)
{
    struct transfer *transfer = handle;
    transfer->status = 0;
    transfer->type[0] = '\0';
    uint64_t first = pyro_hash_slice(pyro_slice_from(transfer->url));
    for (long redirections = 0;; redirections++) {
        const char *usual = transfer->posts ? "POST" : transfer->without_body ? "HEAD" : "GET";
        const struct fake_question question = {
            .method = transfer->method ? transfer->method : usual,
            .url = transfer->url,
            .body = {transfer->body, transfer->body ? (size_t)transfer->body_len : 0},
            .first = first};
        struct fake_reply reply = {.status = 200};
        check_url(transfer->url);
        pyro_strbuf_init(&reply.body, NULL);
        answer_function(&question, &reply);
        FUZZ_CHECK(!reply.body.failed);
        bool again = is_redirection(&reply) && transfer->follows;
        CURLcode code = CURLE_OK;
        if (!again)
            code = put_reply(transfer, &reply);
        else if (!put_headers(transfer, &reply))
            code = CURLE_WRITE_ERROR;
        else if (redirections >= transfer->redirections)
            code = fail(transfer, CURLE_TOO_MANY_REDIRECTS, "too many");
        else if (strncmp(reply.location, "http", 4) != 0)
            code = fail(transfer, CURLE_UNSUPPORTED_PROTOCOL, "not followed");
        if (again && code == CURLE_OK)
            set_url(transfer, reply.location);
        pyro_strbuf_done(&reply.body);
        if (!again || code != CURLE_OK)
            return code;
    }
}

bool fake_curl_install(fake_answer_function *answer)
{
    if (pyro_curl_load(NULL) != PYRO_OK)
        return false;
    answer_function = answer;
    curl_easy_cleanup = cleanup;
    curl_easy_getinfo = get_info;
    curl_easy_init = init;
    curl_easy_perform = perform;
    curl_easy_setopt = set;
    curl_global_init = init_all;
    return true;
}

#else

bool fake_curl_install(fake_answer_function *answer)
{
    (void)answer;
    return false;
}

#endif
