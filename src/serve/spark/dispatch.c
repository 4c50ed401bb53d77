/* From a path to the row of routes.def that answers it, and what rows share: parameters and errors. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "serve/spark/api.h"

enum scope { SCOPE_ROOT, SCOPE_APP };

static const struct {
    const char *path;
    spark_handler *handler;
    enum scope scope;
} routes[] = {
#define ROUTE(path, handler, scope) {path, pyro_spark_##handler, SCOPE_##scope},
#include "serve/spark/routes.def"
#undef ROUTE
};

void pyro_spark_error(struct spark_request *request, unsigned status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pyro_serve_plain(request->http, status, "%s", text);
}

static bool same_word(struct pyro_slice a, const char *b)
{
    return a.ptr && a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

bool pyro_spark_flag(const struct spark_request *request, const char *name)
{
    return same_word(pyro_serve_parameter(request->http, name), "true");
}

bool pyro_spark_number(struct spark_request *request, const char *name, int64_t fallback, int64_t *ret)
{
    struct pyro_slice text = pyro_serve_parameter(request->http, name);
    *ret = fallback;
    if (!text.ptr || pyro_serve_parse_number(text, ret))
        return true;
    pyro_spark_error(request, 404, "HTTP 404 Not Found");
    return false;
}

bool pyro_spark_choices(struct spark_request *request, const char *parameter, const char *const *names, size_t count,
                        uint32_t *ret)
{
    *ret = 0;
    struct pyro_slice value;
    for (size_t i = 0; (value = pyro_serve_parameter_at(request->http, parameter, i)).ptr; i++) {
        size_t found = 0;
        while (found < count && !same_word(value, names[found]))
            found++;
        if (found == count) {
            pyro_spark_error(request, 404, "HTTP 404 Not Found");
            return false;
        }
        *ret |= (uint32_t)1 << found;
    }
    if (*ret == 0)
        *ret = UINT32_MAX;
    return true;
}

bool pyro_spark_quantiles(struct spark_request *request, const char *fallback, double *quantiles, size_t *ret_count)
{
    struct pyro_slice text = pyro_serve_parameter(request->http, "quantiles");
    if (!text.ptr)
        text = pyro_slice_from(fallback);
    *ret_count = 0;
    for (bool more = true; more && *ret_count < SPARK_QUANTILES;) {
        const char *comma = text.len ? memchr(text.ptr, ',', text.len) : NULL;
        size_t len = comma ? (size_t)(comma - text.ptr) : text.len;
        char word[64] = "", *end;
        memcpy(word, text.ptr, len < sizeof(word) ? len : sizeof(word) - 1);
        double value = strtod(word, &end);
        if (end == word || *end || !isfinite(value) || len >= sizeof(word)) {
            pyro_spark_error(request, 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"%.*s\"",
                             (int)(len < 200 ? len : 200), text.ptr);
            return false;
        }
        quantiles[(*ret_count)++] = value;
        more = comma != NULL;
        text = comma ? (struct pyro_slice){comma + 1, text.len - len - 1} : text;
    }
    return true;
}

/* ---- Routes ---- */

static spark_handler *find_route(enum scope scope, const struct pyro_slice *segments, size_t count,
                                 struct spark_request *request)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
        if (routes[i].scope == scope &&
            pyro_serve_matches(routes[i].path, segments, count, request->arguments, SPARK_ARGUMENTS))
            return routes[i].handler;
    return NULL;
}

static void answer_app(struct spark_request *request, spark_handler *handler)
{
    struct pyro_error error = {0};
    struct pyro_history *history = NULL;
    enum pyro_status status =
        pyro_serve_catalog_history(request->catalog, request->app_id, request->attempt_id, &history, &error);
    if (status != PYRO_OK) {
        pyro_spark_error(request, 500, "%s", error.message);
        return;
    }
    if (!history) {
        bool attempt = request->attempt_id.ptr != NULL;
        pyro_spark_error(request, 404, "no such app: %.*s%s%.*s", (int)request->app_id.len, request->app_id.ptr,
                         attempt ? "/" : "", attempt ? (int)request->attempt_id.len : 0,
                         attempt ? request->attempt_id.ptr : "");
        return;
    }
    request->history = history;
    handler(request);
    request->history = NULL;
    pyro_history_release(history);
}

static void dispatch(struct spark_request *request)
{
    struct pyro_slice segments[SERVE_SEGMENTS];
    size_t count = pyro_serve_split(request->http->path, segments);
    if (count == SIZE_MAX || count == 0) {
        pyro_spark_error(request, 404, "HTTP 404 Not Found");
        return;
    }
    spark_handler *handler = find_route(SCOPE_ROOT, segments, count, request);
    if (handler) {
        handler(request);
        return;
    }
    if (!pyro_slice_is(segments[0], "applications") || count < 2) {
        pyro_spark_error(request, 404, "HTTP 404 Not Found");
        return;
    }
    request->app_id = segments[1];
    if (count == 2) {
        pyro_spark_application(request);
        return;
    }
    if ((handler = find_route(SCOPE_APP, segments + 2, count - 2, request))) {
        answer_app(request, handler);
        return;
    }
    request->attempt_id = segments[2];
    if (count == 3)
        pyro_spark_application_attempt(request);
    else if ((handler = find_route(SCOPE_APP, segments + 3, count - 3, request)))
        answer_app(request, handler);
    else
        pyro_spark_error(request, 404, "HTTP 404 Not Found");
}

void pyro_serve_spark(struct serve_request *http)
{
    struct spark_request request = {.http = http, .catalog = http->catalog, .json = {.out = http->out}};
    dispatch(&request);
}
