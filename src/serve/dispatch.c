/* From a path to the row of routes.def that answers it, and what rows share: parameters and errors. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "serve/api.h"

enum scope { SCOPE_ROOT, SCOPE_APP };

static const struct {
    const char *path;
    serve_handler *handler;
    enum scope scope;
} routes[] = {
#define ROUTE(path, handler, scope) {path, pyro_serve_##handler, SCOPE_##scope},
#include "serve/routes.def"
#undef ROUTE
};

void pyro_serve_error(struct serve_request *request, unsigned status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pyro_strbuf_clear(request->out);
    pyro_strbuf_add_text(request->out, text);
    request->status = status;
}

struct pyro_slice pyro_serve_parameter_at(const struct serve_request *request, const char *name, size_t index)
{
    for (size_t i = 0; i < request->parameter_count; i++)
        if (pyro_slice_is(request->parameters[i].name, name) && index-- == 0)
            return request->parameters[i].value;
    return PYRO_SLICE_NULL;
}

struct pyro_slice pyro_serve_parameter(const struct serve_request *request, const char *name)
{
    return pyro_serve_parameter_at(request, name, 0);
}

static bool same_word(struct pyro_slice a, const char *b)
{
    return a.ptr && a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

bool pyro_serve_flag(const struct serve_request *request, const char *name)
{
    return same_word(pyro_serve_parameter(request, name), "true");
}

static bool parse_number(struct pyro_slice text, int64_t *ret)
{
    char buffer[32], *end;
    if (text.len == 0 || text.len >= sizeof(buffer))
        return false;
    memcpy(buffer, text.ptr, text.len);
    buffer[text.len] = '\0';
    *ret = strtoll(buffer, &end, 10);
    return *end == '\0' && *ret <= INT32_MAX && *ret >= INT32_MIN;
}

bool pyro_serve_number(struct serve_request *request, const char *name, int64_t fallback, int64_t *ret)
{
    struct pyro_slice text = pyro_serve_parameter(request, name);
    *ret = fallback;
    if (!text.ptr || parse_number(text, ret))
        return true;
    pyro_serve_error(request, 404, "HTTP 404 Not Found");
    return false;
}

int64_t pyro_serve_id(struct pyro_slice text)
{
    int64_t number;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
    return parse_number(text, &number) ? number : -1;
}

bool pyro_serve_choices(struct serve_request *request, const char *parameter, const char *const *names, size_t count,
                        uint32_t *ret)
{
    *ret = 0;
    struct pyro_slice value;
    for (size_t i = 0; (value = pyro_serve_parameter_at(request, parameter, i)).ptr; i++) {
        size_t found = 0;
        while (found < count && !same_word(value, names[found]))
            found++;
        if (found == count) {
            pyro_serve_error(request, 404, "HTTP 404 Not Found");
            return false;
        }
        *ret |= (uint32_t)1 << found;
    }
    if (*ret == 0)
        *ret = UINT32_MAX;
    return true;
}

bool pyro_serve_quantiles(struct serve_request *request, const char *fallback, double *quantiles, size_t *ret_count)
{
    struct pyro_slice text = pyro_serve_parameter(request, "quantiles");
    if (!text.ptr)
        text = pyro_slice_from(fallback);
    *ret_count = 0;
    for (bool more = true; more && *ret_count < SERVE_QUANTILES;) {
        const char *comma = text.len ? memchr(text.ptr, ',', text.len) : NULL;
        size_t len = comma ? (size_t)(comma - text.ptr) : text.len;
        char word[64] = "", *end;
        memcpy(word, text.ptr, len < sizeof(word) ? len : sizeof(word) - 1);
        double value = strtod(word, &end);
        if (end == word || *end || !isfinite(value) || len >= sizeof(word)) {
            pyro_serve_error(request, 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"%.*s\"",
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

static size_t split(struct pyro_slice path, struct pyro_slice *segments)
{
    size_t count = 0;
    while (path.len) {
        const char *slash = memchr(path.ptr, '/', path.len);
        size_t len = slash ? (size_t)(slash - path.ptr) : path.len;
        if (len) {
            if (count == SERVE_SEGMENTS)
                return SIZE_MAX;
            segments[count++] = (struct pyro_slice){path.ptr, len};
        }
        path = (struct pyro_slice){path.ptr + len + (slash ? 1 : 0), path.len - len - (slash ? 1 : 0)};
    }
    return count;
}

static bool matches(const char *route, const struct pyro_slice *segments, size_t count, struct pyro_slice *arguments)
{
    struct pyro_slice wanted[SERVE_SEGMENTS];
    if (split(pyro_slice_from(route), wanted) != count)
        return false;
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        bool digits = pyro_slice_is(wanted[i], "{#}");
        if (digits ? pyro_serve_id(segments[i]) < 0 : !pyro_slice_eq(wanted[i], segments[i]))
            return false;
        if (digits)
            arguments[taken++] = segments[i];
    }
    return true;
}

static serve_handler *find_route(enum scope scope, const struct pyro_slice *segments, size_t count,
                                 struct serve_request *request)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
        if (routes[i].scope == scope && matches(routes[i].path, segments, count, request->arguments))
            return routes[i].handler;
    return NULL;
}

static void answer_app(struct serve_request *request, serve_handler *handler)
{
    struct pyro_error error = {0};
    struct pyro_history *history = NULL;
    enum pyro_status status =
        pyro_serve_catalog_history(request->catalog, request->app_id, request->attempt_id, &history, &error);
    if (status != PYRO_OK) {
        pyro_serve_error(request, 500, "%s", error.message);
        return;
    }
    if (!history) {
        bool attempt = request->attempt_id.ptr != NULL;
        pyro_serve_error(request, 404, "no such app: %.*s%s%.*s", (int)request->app_id.len, request->app_id.ptr,
                         attempt ? "/" : "", attempt ? (int)request->attempt_id.len : 0,
                         attempt ? request->attempt_id.ptr : "");
        return;
    }
    request->history = history;
    handler(request);
    request->history = NULL;
    pyro_history_release(history);
}

void pyro_serve_dispatch(struct serve_request *request, struct pyro_slice path)
{
    struct pyro_slice segments[SERVE_SEGMENTS];
    size_t count = split(path, segments);
    request->json = (struct serve_json){.out = request->out};
    request->status = 200;
    if (count == SIZE_MAX || count == 0) {
        pyro_serve_error(request, 404, "HTTP 404 Not Found");
        return;
    }
    serve_handler *handler = find_route(SCOPE_ROOT, segments, count, request);
    if (handler) {
        handler(request);
        return;
    }
    if (!pyro_slice_is(segments[0], "applications") || count < 2) {
        pyro_serve_error(request, 404, "HTTP 404 Not Found");
        return;
    }
    request->app_id = segments[1];
    if (count == 2) {
        pyro_serve_application(request);
        return;
    }
    if ((handler = find_route(SCOPE_APP, segments + 2, count - 2, request))) {
        answer_app(request, handler);
        return;
    }
    request->attempt_id = segments[2];
    if (count == 3)
        pyro_serve_application_attempt(request);
    else if ((handler = find_route(SCOPE_APP, segments + 3, count - 3, request)))
        answer_app(request, handler);
    else
        pyro_serve_error(request, 404, "HTTP 404 Not Found");
}
