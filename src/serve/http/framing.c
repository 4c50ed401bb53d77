#include "serve/http/framing.h"

#include <string.h>
#include <strings.h>

#include "serve/request.h"

/* libmicrohttpd up to 0.9.75 takes a line that begins with a blank for more of the name of the header before it, ends
 * lines at a carriage return or a line feed alone, and hands none of that on. What it hands out lies where it was read,
 * with zeros in place of line ends: so names and values must follow each other as sent, from the version to the end of
 * the headers. Later versions refuse such requests themselves. */
struct framing {
    const char *at, *end; /* where the next header is to begin, and where the headers end; NULL: not known */
    unsigned lengths, encodings, hosts, headers, cookies;
    bool wrong;
};

static bool is_number(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (value[i] < '0' || value[i] > '9')
            return false;
    return len > 0;
}

/* RFC 9110, 5.6.2. */
static bool is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char byte = text[i];
        bool letter = (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
        if (!letter && !(byte && strchr("!#$%&'*+-.^_`|~", byte)))
            return false;
    }
    return len > 0;
}

static bool is_text(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return false;
    return true;
}

/* Goes on behind the two zeros that a line end became. */
static bool pass_line_end(struct framing *framing)
{
    if (framing->end - framing->at < 2 || framing->at[0] || framing->at[1])
        return false;
    framing->at += 2;
    return true;
}

static bool stands_next(struct framing *framing, const char *name, size_t name_len, const char *value, size_t value_len)
{
    if (!framing->at)
        return true;
    if (name != framing->at || (size_t)(framing->end - name) <= name_len)
        return false;
    for (framing->at += name_len + 1; framing->at < framing->end && (*framing->at == ' ' || *framing->at == '\t');)
        framing->at++;
    if (value != framing->at || (size_t)(framing->end - value) < value_len)
        return false;
    framing->at += value_len;
    return pass_line_end(framing);
}

static bool is_named(const char *name, size_t len, const char *other)
{
    return len == strlen(other) && strncasecmp(name, other, len) == 0;
}

static enum MHD_Result look(void *context, enum MHD_ValueKind kind, const char *name, size_t name_len,
                            const char *value, size_t value_len)
{
    struct framing *framing = context;
    (void)kind;
    if (!value)
        value = "", value_len = 0;
    framing->headers++;
    framing->wrong |= !is_token(name, name_len) || !is_text(value, value_len) ||
                      !stands_next(framing, name, name_len, value, value_len);
    if (is_named(name, name_len, MHD_HTTP_HEADER_CONTENT_LENGTH)) {
        framing->lengths++;
        framing->wrong |= !is_number(value, value_len);
    } else if (is_named(name, name_len, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        framing->encodings++;
        framing->wrong |= !is_named(value, value_len, "chunked");
    } else if (is_named(name, name_len, MHD_HTTP_HEADER_HOST)) {
        framing->hosts++;
    }
    return MHD_YES;
}

static void find_lines(struct framing *framing, struct MHD_Connection *connection, const char *method,
                       const char *version)
{
#if MHD_VERSION < 0x00097600
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!info)
        return;
    framing->at = version + strlen(version);
    framing->end = method + info->header_size;
    framing->wrong = framing->at < method || framing->at > framing->end || !pass_line_end(framing);
#else
    (void)framing, (void)connection, (void)method, (void)version;
#endif
}

enum http_framing pyro_request_framing(struct MHD_Connection *connection, const char *method, const char *version,
                                       bool *ret_chunked)
{
    struct framing framing = {0};
    bool known = strcmp(version, MHD_HTTP_VERSION_1_1) == 0, old = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
    *ret_chunked = false;
    if (!known && !old)
        return HTTP_WRONG;
    find_lines(&framing, connection, method, version);
    if (framing.wrong)
        return HTTP_WRONG;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, look, &framing);
    if (framing.at && (!pass_line_end(&framing) || framing.at != framing.end))
        return HTTP_WRONG;
    if (framing.wrong || framing.lengths + framing.encodings > 1 || framing.hosts > 1 || (old && framing.encodings))
        return HTTP_WRONG;
    *ret_chunked = framing.encodings > 0;
    if (framing.headers > MOST_HEADERS ||
        MHD_get_connection_values(connection, MHD_COOKIE_KIND, NULL, NULL) > MOST_COOKIES)
        return HTTP_TOO_MANY;
    return HTTP_FRAMED;
}

void *pyro_request_count_parameters(void *context, const char *uri, struct MHD_Connection *connection)
{
    char *query = strchr(uri, '?'); /* of the daemon's buffer, in which it is about to split and decode it */
    size_t count = 1;
    (void)connection;
    for (const char *at = query; at && (at = strchr(at, '&')); at++)
        count++;
    if (!query || count <= SERVE_PARAMETERS)
        return NULL;
    for (char *at = query; (at = strchr(at, '&'));)
        *at = '_';
    return context;
}
