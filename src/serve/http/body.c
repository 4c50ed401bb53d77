#include "serve/http/body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/new_file.h"
#include "base/memory/allocator.h"

static void open_file(struct body *body, const char *folder)
{
    static const char name[] = "/" PYRO_UPLOAD_PREFIX "XXXXXX";
    size_t len = strlen(folder);
    body->path = pyro_allocate(NULL, len + sizeof(name));
    if (!body->path) {
        body->error = ENOMEM;
        return;
    }
    memcpy(body->path, folder, len);
    memcpy(body->path + len, name, sizeof(name));
    body->file = pyro_new_file_like(body->path);
    if (body->file < 0) {
        body->error = errno;
        pyro_release(NULL, body->path);
        body->path = NULL;
    }
}

void pyro_body_begin(struct body *body, uint64_t limit, struct serve_uploads *uploads, uint64_t announced)
{
    *body = (struct body){.limit = limit, .file = -1};
    pyro_strbuf_init(&body->text, NULL);
    if (!uploads || !uploads->folder || !limit)
        return;
    body->refused = !pyro_upload_begin(&body->upload, uploads, announced);
    if (!body->refused)
        open_file(body, uploads->folder);
}

/* Room is given back at once, not when the client has sent the rest. */
static void drop_file(struct body *body)
{
    pyro_upload_end(&body->upload);
    if (ftruncate(body->file, 0) != 0) /* removed at the end in any case */
        return;
}

static void write_all(struct body *body, const char *data, size_t len)
{
    while (len && !body->error) {
        ssize_t written = write(body->file, data, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            body->error = written < 0 ? errno : ENOSPC;
            drop_file(body);
        } else {
            data += written;
            len -= (size_t)written;
        }
    }
}

void pyro_body_take(struct body *body, const char *data, size_t len)
{
    bool full = body->too_long || body->refused || body->error;
    body->too_long |= len > body->limit - body->bytes;
    if (!full && !body->too_long && body->path)
        body->refused = !pyro_upload_take(&body->upload, len);
    if (!full && (body->too_long || body->refused) && body->path)
        drop_file(body);
    if (full || body->too_long || body->refused) {
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

/* More than once: what is not removed now stays until the server starts again. */
static void remove_file(const char *path)
{
    for (int i = 0; i < 3 && unlink(path) != 0 && errno != ENOENT; i++)
        continue;
}

void pyro_body_done(struct body *body)
{
    pyro_body_finish(body);
    pyro_upload_end(&body->upload); /* first: after the file is removed, its space must be free */
    if (body->path)
        remove_file(body->path); /* the service that kept it has another name for it */
    pyro_release(NULL, body->path);
    body->path = NULL;
    pyro_strbuf_done(&body->text);
}
