/* pyro_send_telemetry(): OTLP over HTTP, in JSON: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
#include <stdio.h>

#include "base/options.h"
#include "export/telemetry/telemetry.h"
#include "source/http/http.h"

enum { TRIES = 4, ANSWER_BYTES = 1 << 20 };

struct sending {
    struct pyro_http *http;
    struct pyro_slice endpoint;
    struct pyro_strbuf line, url, answer;
    struct pyro_error *error;
    enum pyro_status status;
};

/* Which path takes a request: its first member says what it is. */
static const char *path_of(struct pyro_slice request)
{
    static const struct {
        const char *begin, *path;
    } paths[] = {
        {"{\"resourceSpans\"", "/v1/traces"},
        {"{\"resourceLogs\"", "/v1/logs"},
        {"{\"resourceMetrics\"", "/v1/metrics"},
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (pyro_slice_starts_with(request, paths[i].begin))
            return paths[i].path;
    return "";
}

static enum pyro_status send_line(struct sending *sending)
{
    struct pyro_exchange_answer answer;
    struct pyro_slice body = pyro_strbuf_slice(&sending->line);
    pyro_strbuf_clear(&sending->url);
    pyro_strbuf_add_slice(&sending->url, sending->endpoint);
    pyro_strbuf_add_text(&sending->url, path_of(body));
    if (sending->url.failed || sending->line.failed)
        return pyro_no_memory(sending->error);
    /* Ids are the same each time, so that a request which arrives twice does no harm. */
    const struct pyro_http_request request = {.method = PYRO_HTTP_POST,
                                              .url = sending->url.data,
                                              .body = body,
                                              .content_type = "application/json",
                                              .limit = ANSWER_BYTES,
                                              .tries = TRIES,
                                              .repeatable = true};
    PYRO_TRY(pyro_http_send(sending->http, &request, &sending->answer, &answer, sending->error));
    return answer.status / 100 == 2 ? PYRO_OK
                                    : pyro_http_refused(&answer, pyro_strbuf_slice(&sending->answer), sending->error);
}

static int take(void *context, const void *data, size_t len)
{
    struct sending *sending = context;
    const char *at = data, *end = at + len;
    while (at < end && sending->status == PYRO_OK) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        pyro_strbuf_add(&sending->line, at, (size_t)((newline ? newline : end) - at));
        at = newline ? newline + 1 : end;
        if (!newline)
            break;
        sending->status = send_line(sending);
        pyro_strbuf_clear(&sending->line);
    }
    return sending->status == PYRO_OK ? 0 : 1;
}

enum pyro_status pyro_send_telemetry(const pyro_app *app, const char *endpoint, const struct pyro_options *options,
                                     struct pyro_error *error)
{
    struct pyro_options own;
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    if (!app || !endpoint || !pyro_is_url(endpoint))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the application is missing, or the endpoint is not an address");
    struct sending sending = {.endpoint = pyro_slice_from(endpoint), .error = error, .status = PYRO_OK};
    while (sending.endpoint.len > 0 && sending.endpoint.ptr[sending.endpoint.len - 1] == '/')
        sending.endpoint.len--;
    const struct pyro_http_options http = {.allocator = own.allocator};
    PYRO_TRY(pyro_http_open(&http, &sending.http, error));
    pyro_strbuf_init(&sending.line, own.allocator);
    pyro_strbuf_init(&sending.url, own.allocator);
    pyro_strbuf_init(&sending.answer, own.allocator);
    const struct pyro_writer writer = {.size = sizeof(writer), .write = take, .context = &sending};
    struct pyro_error written = {.size = sizeof(written)};
    enum pyro_status status = pyro_export_telemetry(app, PYRO_TELEMETRY_OTLP, options, &writer, &written);
    if (sending.status == PYRO_OK && status != PYRO_OK)
        sending.status = pyro_error_set(error, status, "%s", written.message);
    if (sending.status == PYRO_ERROR_INPUT) { /* what a client of HTTP calls it: there was no answer, or a refusal */
        char reason[sizeof(written.message)];
        snprintf(reason, sizeof(reason), "%s", error->message);
        sending.status = pyro_error_set(error, PYRO_ERROR_OUTPUT, "the collector did not take it: %s", reason);
        pyro_strbuf_clear(&sending.url);
        pyro_http_label(endpoint, &sending.url);
        if (!sending.url.failed)
            pyro_error_at(error, sending.url.data, UINT64_MAX);
    }
    pyro_strbuf_done(&sending.line);
    pyro_strbuf_done(&sending.url);
    pyro_strbuf_done(&sending.answer);
    pyro_http_close(sending.http);
    return sending.status;
}
