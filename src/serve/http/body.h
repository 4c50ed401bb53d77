/* The body of a request while it comes in: in memory when it is short, in a file where the service asks for one. */
#ifndef PYRO_SERVE_HTTP_BODY_H
#define PYRO_SERVE_HTTP_BODY_H

#include "base/error.h"
#include "base/strings/strbuf.h"
#include "serve/uploads.h"

struct body {
    struct pyro_strbuf text;
    char *path; /* NULL: in memory */
    int file;
    uint64_t bytes, limit, dropped;
    bool too_long;
    int error;                  /* of the file; 0: none */
    bool refused;               /* there is no room, as `upload` says */
    struct serve_upload upload; /* of the file */
};

/* Takes at most `limit` bytes; with uploads: into a new file of theirs, which `announced` bytes (0: not known) are kept
 * free for. Failures show in `error` and `refused`. */
void pyro_body_begin(struct body *body, uint64_t limit, struct serve_uploads *uploads, uint64_t announced);
/* Beyond the limit, without room or after a failure bytes are read and dropped. */
void pyro_body_take(struct body *body, const char *data, size_t len);
/* Nothing more comes: closes the file, which stays until pyro_body_done(). */
void pyro_body_finish(struct body *body);
void pyro_body_done(struct body *body);

#endif
