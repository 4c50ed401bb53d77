#include "serve/failure_answer.h"

#include <stdio.h>
#include <string.h>

unsigned pyro_failure_status(const struct pyro_error *error)
{
    switch (error->code) {
    case PYRO_ERROR_INPUT:
        return error->lasting ? 422 : 503;
    case PYRO_ERROR_MEMORY:
    case PYRO_ERROR_OUTPUT: /* of a store; what the writer of an answer refuses is not shown */
    case PYRO_ERROR_CANCELLED:
        return 503;
    default:
        return 500;
    }
}

void pyro_failure_text(const struct pyro_error *error, char *text)
{
    const char *slash = strrchr(error->path, '/'), *name = slash ? slash + 1 : error->path;
    const char *why = error->message[0] ? error->message : "it failed";
    bool again = pyro_failure_status(error) == 503 && !strstr(why, "try again");
    snprintf(text, SERVE_FAILURE_BYTES, "%s%s%s%s", name, name[0] ? ": " : "", why, again ? ": try again later" : "");
}

void pyro_failure_headers(struct serve_request *request, unsigned status)
{
    size_t kept = 0;
    bool cached = false, again = false;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct serve_header *header = &request->headers[i];
        bool no_store = strcmp(header->name, "Cache-Control") == 0 && strstr(header->value, "no-store");
        cached |= no_store;
        again |= strcmp(header->name, "Retry-After") == 0;
        if (strcmp(header->name, "ETag") == 0 || (strcmp(header->name, "Cache-Control") == 0 && !no_store))
            continue;
        request->headers[kept++] = *header;
    }
    request->header_count = kept;
    if (!cached)
        pyro_serve_header(request, "Cache-Control", PYRO_SLICE_LITERAL("no-store"));
    if (status == 503 && !again)
        pyro_serve_header(request, "Retry-After", PYRO_SLICE_LITERAL("2"));
}

void pyro_serve_failure(struct serve_request *request, const struct pyro_error *error)
{
    char text[SERVE_FAILURE_BYTES];
    unsigned status = pyro_failure_status(error);
    pyro_failure_text(error, text);
    pyro_serve_plain(request, status, "%s", text);
}
