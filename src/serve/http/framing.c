#include "serve/http/framing.h"

#include <string.h>
#include <strings.h>

struct framing {
    unsigned lengths, encodings;
    bool wrong;
};

static bool is_number(const char *value)
{
    size_t digits = value ? strspn(value, "0123456789") : 0;
    return digits > 0 && value[digits] == '\0';
}

static enum MHD_Result look(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct framing *framing = context;
    (void)kind;
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        framing->lengths++;
        framing->wrong |= !is_number(value);
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        framing->encodings++;
        framing->wrong |= !value || strcasecmp(value, "chunked") != 0;
    } else {
        framing->wrong |= name[strcspn(name, " \t")] != '\0'; /* "Content-Length : 4" */
    }
    return MHD_YES;
}

bool pyro_http_is_framed(struct MHD_Connection *connection)
{
    struct framing framing = {0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, look, &framing);
    return !framing.wrong && framing.lengths + framing.encodings <= 1;
}
