#include "serve/http/body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

void pyro_body_begin(struct body *body, uint64_t limit, const char *folder)
{
    *body = (struct body){.limit = limit, .file = -1};
    pyro_strbuf_init(&body->text, NULL);
    if (!folder || !limit)
        return;
    static const char name[] = "/" PYRO_BODY_PREFIX "XXXXXX";
    size_t len = strlen(folder);
    body->path = pyro_allocate(NULL, len + sizeof(name));
    if (!body->path) {
        body->error = ENOMEM;
        return;
    }
    memcpy(body->path, folder, len);
    memcpy(body->path + len, name, sizeof(name));
    body->file = mkostemp(body->path, O_CLOEXEC);
    if (body->file < 0) {
        body->error = errno;
        pyro_release(NULL, body->path);
        body->path = NULL;
    }
}

static void write_all(struct body *body, const char *data, size_t len)
{
    while (len && !body->error) {
        ssize_t written = write(body->file, data, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            body->error = written < 0 ? errno : ENOSPC;
            /* Room on a full disk is given back at once, not when the client has sent the rest. */
            if (ftruncate(body->file, 0) != 0)
                return;
        } else {
            data += written;
            len -= (size_t)written;
        }
    }
}

void pyro_body_take(struct body *body, const char *data, size_t len)
{
    body->too_long |= len > body->limit - body->bytes;
    if (body->too_long || body->error) {
        body->dropped += len;
        return;
    }
    body->bytes += len;
    if (body->path)
        write_all(body, data, len);
    else
        pyro_strbuf_add(&body->text, data, len);
}

void pyro_body_finish(struct body *body)
{
    if (body->file >= 0 && close(body->file) != 0 && !body->error)
        body->error = errno;
    body->file = -1;
    if (body->text.failed)
        body->error = ENOMEM;
}

void pyro_body_done(struct body *body)
{
    pyro_body_finish(body);
    if (body->path)
        unlink(body->path); /* gone already where the service kept it */
    pyro_release(NULL, body->path);
    body->path = NULL;
    pyro_strbuf_done(&body->text);
}
