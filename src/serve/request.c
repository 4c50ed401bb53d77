/* From a path to the service that answers it, and what services share. */
#include "serve/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *prefix;
    serve_service *service;
    unsigned methods;
    size_t body_bytes;
} services[] = {
#define SERVICE(prefix, service, methods, body_bytes) {prefix, pyro_serve_##service, methods, body_bytes},
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

size_t pyro_serve_body_limit(const char *url, enum serve_method method)
{
    size_t i = find_service(url);
    bool sent = method == SERVE_POST || method == SERVE_PUT;
    return i < SERVICES && sent && (services[i].methods & method) ? services[i].body_bytes : 0;
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
        services[i].service(request);
    }
    pyro_serve_list_release(request->list);
    request->list = NULL;
}

const struct serve_list *pyro_serve_list(struct serve_request *request)
{
    if (!request->list)
        request->list = pyro_serve_catalog_list(request->catalog);
    return request->list;
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
    if (text.len == 0 || text.len >= sizeof(buffer))
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
