/* What a page of another site may make a browser do: ask this server by another name (DNS rebinding), or send it a form
 * (CSRF). */
#include "serve/access/access.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static bool equals_without_case(struct pyro_slice text, const char *other)
{
    return text.len == strlen(other) && strncasecmp(text.ptr, other, text.len) == 0;
}

/* The host without its port and brackets. */
static struct pyro_slice without_port(struct pyro_slice host)
{
    if (host.len && *host.ptr == '[') {
        const char *end = memchr(host.ptr, ']', host.len);
        return end ? (struct pyro_slice){host.ptr + 1, (size_t)(end - host.ptr) - 1} : PYRO_SLICE_LITERAL("");
    }
    const char *colon = memchr(host.ptr, ':', host.len);
    return colon ? (struct pyro_slice){host.ptr, (size_t)(colon - host.ptr)} : host;
}

static bool copy(struct pyro_slice text, char *buffer, size_t bytes)
{
    if (text.len >= bytes || memchr(text.ptr, '\0', text.len))
        return false;
    memcpy(buffer, text.ptr, text.len);
    buffer[text.len] = '\0';
    return true;
}

/* An address cannot be made to mean another machine, as a name can. */
static bool is_address(struct pyro_slice host)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    return copy(host, text, sizeof(text)) &&
           (inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1);
}

bool pyro_access_is_loopback(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool is_known_host(const struct access *access, struct pyro_slice host)
{
    struct pyro_slice name = without_port(host);
    if (equals_without_case(name, "localhost") || is_address(name))
        return true;
    for (size_t i = 0; i < access->host_count; i++)
        if (equals_without_case(name, access->hosts[i]) || equals_without_case(host, access->hosts[i]))
            return true;
    return false;
}

const char *pyro_access_allowed_origin(const struct access *access, const struct serve_request *request)
{
    struct pyro_slice origin = pyro_serve_request_header(request, "Origin");
    for (size_t i = 0; origin.ptr && i < access->origin_count; i++)
        if (equals_without_case(origin, access->origins[i]))
            return access->origins[i];
    return NULL;
}

/* Whether the page's origin is this server, by the name it was asked for. */
static bool is_own_origin(const struct access *access, struct pyro_slice origin, struct pyro_slice host)
{
    const char *scheme = access->secure ? "https://" : "http://";
    size_t len = strlen(scheme);
    if (origin.len <= len || strncasecmp(origin.ptr, scheme, len) != 0)
        return false;
    struct pyro_slice rest = {origin.ptr + len, origin.len - len};
    return rest.len == host.len && strncasecmp(rest.ptr, host.ptr, host.len) == 0;
}

/* Browsers say where a request that may change something comes from, one way or the other; other clients say nothing.
 */
static bool is_own_page(const struct access *access, const struct serve_request *request, struct pyro_slice host)
{
    struct pyro_slice origin = pyro_serve_request_header(request, "Origin");
    struct pyro_slice site = pyro_serve_request_header(request, "Sec-Fetch-Site");
    if (pyro_access_allowed_origin(access, request))
        return true;
    if (site.ptr && !equals_without_case(site, "same-origin") && !equals_without_case(site, "none"))
        return false;
    /* Behind a proxy that ends TLS the scheme differs; the browser's own word is as good then. */
    return !origin.ptr || is_own_origin(access, origin, host) || (site.ptr && equals_without_case(site, "same-origin"));
}

/* A form can be sent to anywhere without asking first, JSON cannot. */
bool pyro_access_is_form(const struct serve_request *request)
{
    static const char *const types[] = {"text/plain", "multipart/form-data", "application/x-www-form-urlencoded"};
    struct pyro_slice type = pyro_serve_request_header(request, "Content-Type");
    bool browser = pyro_serve_request_header(request, "Origin").ptr != NULL ||
                   pyro_serve_request_header(request, "Sec-Fetch-Site").ptr != NULL;
    for (size_t i = 0; browser && i < sizeof(types) / sizeof(*types); i++)
        if (type.len >= strlen(types[i]) && strncasecmp(type.ptr, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

bool pyro_access_origin(const struct access *access, struct serve_request *request)
{
    struct pyro_slice host = pyro_serve_request_header(request, "Host");
    if (!host.ptr)
        host = PYRO_SLICE_LITERAL("");
    /* With tokens a page under another name has neither the token nor the cookie, which is bound to the name. */
    if (host.len && !access->has_tokens && !is_known_host(access, host)) {
        pyro_access_refuse(request, "/", 421, "forbidden",
                           "this server does not answer to this host name; --allow-host NAME allows it");
        return false;
    }
    if (request->method == SERVE_GET)
        return true;
    if (!is_own_page(access, request, host)) {
        pyro_access_refuse(request, "/", 403, "forbidden",
                           "a page of another origin must not do this; --allow-origin ORIGIN allows it");
        return false;
    }
    return true;
}
