/* From a path to the service that answers it, and what services share. */
#include "serve/request.h"

#include "serve/failure_answer.h"

#include "serve/api/api_request.h"
#include "text/json_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *prefix, *name;
    serve_service *service;
    unsigned methods;
    size_t body_bytes;
    serve_class_of *class;
} services[] = {
#define SERVICE(prefix, service, methods, body_bytes, class)                                                           \
    {prefix, #service, pyro_serve_##service, methods, body_bytes, class},
#include "serve/services.def"
#undef SERVICE
};

enum { SERVICES = sizeof(services) / sizeof(*services) };

/* SERVICES: none */
static size_t find_service(const char *url)
{
    size_t i = 0;
    while (i < SERVICES && strncmp(url, services[i].prefix, strlen(services[i].prefix)) != 0)
        i++;
    return i;
}

bool pyro_serve_post_reads(const char *url)
{
    size_t i = find_service(url);
    return i < SERVICES && (services[i].methods & SERVE_POST_READS);
}

size_t pyro_serve_service_of(const char *url)
{
    return find_service(url);
}

const char *pyro_serve_service_name(size_t row)
{
    return row < SERVICES ? services[row].name : NULL;
}

size_t pyro_serve_body_limit(const char *url, enum serve_method method)
{
    size_t i = find_service(url);
    bool sent = method == SERVE_POST || method == SERVE_PUT;
    return i < SERVICES && sent && (services[i].methods & method) ? services[i].body_bytes : 0;
}

enum serve_class pyro_serve_is_light(enum serve_method method, const char *path)
{
    (void)method;
    (void)path;
    return SERVE_LIGHT;
}

enum serve_class pyro_serve_is_heavy(enum serve_method method, const char *path)
{
    (void)method;
    (void)path;
    return SERVE_HEAVY;
}

enum serve_class pyro_serve_class(enum serve_method method, const char *url)
{
    size_t i = find_service(url);
    return i < SERVICES && (services[i].methods & method) ? services[i].class(method, url + strlen(services[i].prefix))
                                                          : SERVE_LIGHT;
}

void pyro_serve_unavailable(struct serve_request *request, const char *words)
{
    char seconds[16];
    int len = snprintf(seconds, sizeof(seconds), "%d", SERVE_RETRY_SECONDS);
    pyro_serve_plain(request, 503, "%s", words);
    pyro_serve_header(request, "Retry-After", (struct pyro_slice){seconds, (size_t)len});
}

void pyro_serve_answer(struct serve_request *request, const char *url)
{
    size_t i = find_service(url);
    request->status = 200;
    request->type = "application/json";
    if (i == SERVICES) {
        pyro_serve_plain(request, 404, "HTTP 404 Not Found");
    } else if (!(services[i].methods & request->method)) {
        pyro_serve_plain(request, 405, "HTTP 405 Method Not Allowed");
    } else {
        request->path = pyro_slice_from(url + strlen(services[i].prefix));
        if (request->refusal && services[i].service != pyro_serve_mcp) /* which has a form of its own for it */
            pyro_serve_unavailable(request, request->refusal);
        else
            services[i].service(request);
    }
    pyro_catalog_list_release(request->list);
    request->list = NULL;
    request->narrowed = false;
}

const struct pyro_catalog_list *pyro_serve_list(struct serve_request *request)
{
    if (!request->list && !request->narrowed) /* narrowed to NULL: there was no memory, and nothing may be seen */
        request->list = pyro_catalog_list(request->catalog);
    if (request->visible && !request->narrowed) {
        const struct pyro_catalog_list *all = request->list;
        request->list = pyro_catalog_list_visible(all, request->visible, request);
        request->narrowed = true;
        pyro_catalog_list_release(all);
    }
    return request->list;
}

void pyro_serve_shape_error(struct serve_request *request, const char *url)
{
    static const struct {
        unsigned status;
        const char *code;
    } codes[] = {{400, "bad_request"},        {401, "unauthorized"}, {403, "forbidden"},   {404, "not_found"},
                 {405, "method_not_allowed"}, {409, "conflict"},     {413, "too_large"},   {415, "bad_request"},
                 {422, "unreadable"},         {429, "too_many"},     {503, "unavailable"}, {507, "no_space"}};
    static const char prefix[] = "/pyrometer/v1/";
    if (request->status >= 400)
        pyro_failure_headers(request, request->status);
    if (request->status == 405 && strncmp(url, prefix, sizeof(prefix) - 1) == 0)
        pyro_api_allow(request, url + sizeof(prefix) - 1);
    if (request->status < 400 || request->stream.read || !request->type ||
        strncmp(url, prefix, sizeof(prefix) - 1) != 0 || strncmp(request->type, "text/plain", 10) != 0)
        return;
    const char *code = request->status < 500 ? "bad_request" : "internal";
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (codes[i].status == request->status)
            code = codes[i].code;
    struct pyro_strbuf text;
    struct pyro_json_writer json;
    struct pyro_output output;
    const struct pyro_writer writer = pyro_strbuf_writer(&text);
    pyro_strbuf_init(&text, NULL);
    pyro_output_init(&output, &writer, NULL);
    pyro_json_writer_init(&json, &output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_begin(&json, "error", '{');
    pyro_json_string(&json, "code", code);
    pyro_json_text(&json, "message", pyro_strbuf_slice(request->out));
    pyro_json_end(&json, '}');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output.buffer, '\n');
    enum pyro_status written = pyro_output_done(&output, NULL);
    pyro_strbuf_clear(request->out);
    pyro_strbuf_add_slice(request->out, pyro_strbuf_slice(&text));
    request->out->failed |= text.failed || written != PYRO_OK;
    request->type = "application/json";
    pyro_strbuf_done(&text);
}

void pyro_serve_plain(struct serve_request *request, unsigned status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pyro_strbuf_clear(request->out);
    pyro_strbuf_add_text(request->out, text);
    request->status = status;
    request->type = "text/plain;charset=utf-8";
}

void pyro_serve_header(struct serve_request *request, const char *name, struct pyro_slice value)
{
    struct serve_header *header = &request->headers[request->header_count];
    if (request->header_count == SERVE_HEADERS || value.len >= sizeof(header->value))
        return;
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < ' ')
            return;
    header->name = name;
    memcpy(header->value, value.ptr, value.len);
    header->value[value.len] = '\0';
    request->header_count++;
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

bool pyro_serve_parse_number(struct pyro_slice text, int64_t *ret)
{
    char buffer[32], *end;
    bool sign = text.len > 0 && (*text.ptr == '+' || *text.ptr == '-');
    if (text.len <= sign || text.len >= sizeof(buffer) || text.ptr[sign] < '0' || text.ptr[sign] > '9')
        return false;
    memcpy(buffer, text.ptr, text.len);
    buffer[text.len] = '\0';
    *ret = strtoll(buffer, &end, 10);
    return *end == '\0' && *ret <= INT32_MAX && *ret >= INT32_MIN;
}

int64_t pyro_serve_id(struct pyro_slice text)
{
    int64_t number;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
    return pyro_serve_parse_number(text, &number) ? number : -1;
}

size_t pyro_serve_split(struct pyro_slice path, struct pyro_slice *segments)
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

bool pyro_serve_matches(const char *route, const struct pyro_slice *segments, size_t count,
                        struct pyro_slice *arguments, size_t argument_limit)
{
    struct pyro_slice wanted[SERVE_SEGMENTS];
    if (pyro_serve_split(pyro_slice_from(route), wanted) != count)
        return false;
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        bool digits = pyro_slice_is(wanted[i], "{#}"), any = pyro_slice_is(wanted[i], "{}");
        if (digits ? pyro_serve_id(segments[i]) < 0 : !any && !pyro_slice_eq(wanted[i], segments[i]))
            return false;
        if ((digits || any) && taken < argument_limit)
            arguments[taken++] = segments[i];
    }
    return true;
}
