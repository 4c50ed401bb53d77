/* Following a log that is being written: what was read once is not read again. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "serve/catalog/parts.h"

enum { PIECE_BYTES = 1 << 20 };

bool pyro_serve_can_follow(const struct serve_log *log)
{
    return log->log.in_progress && log->log.part_count > 0 && !log->log.compacted && log->log.missing_parts == 0 &&
           !log->log.parts[0].member.ptr;
}

static bool same_file(struct serve_stamp a, struct serve_stamp b)
{
    return a.device == b.device && a.inode == b.inode;
}

bool pyro_serve_place_fits(const struct serve_place *place, const struct serve_log *log)
{
    const struct serve_log *before = place->log;
    if (!before)
        return place->part == 0 && place->offset == 0;
    if (log->log.part_count < before->log.part_count)
        return false;
    for (size_t i = 0; i < before->log.part_count; i++)
        if (!same_file(before->stamps[i], log->stamps[i]) || log->stamps[i].bytes < before->stamps[i].bytes)
            return false;
    return true;
}

/* What stands behind the place in its part. */
static enum pyro_status read_part(struct serve_place *place, const struct pyro_log_part *part, char *buffer,
                                  serve_feed *feed, void *context, struct pyro_error *error)
{
    struct pyro_reader *reader = NULL;
    int fd;
    uint64_t size;
    ssize_t len = 1;
    PYRO_TRY(pyro_reader_open(part, NULL, &reader, error));
    enum pyro_status status = PYRO_OK;
    if (!pyro_reader_is_plain_file(reader, &fd, &size))
        status = pyro_error_set(error, PYRO_ERROR_ARGUMENT, "only plain files can be followed");
    while (status == PYRO_OK && len > 0) {
        len = pread(fd, buffer, PIECE_BYTES, (off_t)place->offset);
        if (len < 0)
            status = pyro_error_set(error, PYRO_ERROR_INPUT, "cannot read: %s", strerror(errno));
        else if (len > 0)
            status = feed(context, buffer, (size_t)len, error);
        if (status == PYRO_OK)
            place->offset += (uint64_t)len;
    }
    if (status == PYRO_ERROR_INPUT)
        pyro_error_at(error, part->path.ptr, UINT64_MAX);
    pyro_reader_close(reader);
    return status;
}

enum pyro_status pyro_serve_read_on(struct serve_place *place, const struct serve_log *log, serve_feed *feed,
                                    void *context, struct pyro_error *error)
{
    char *buffer = pyro_allocate(NULL, PIECE_BYTES);
    if (!buffer)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left while a log was read");
    enum pyro_status status = PYRO_OK;
    for (; status == PYRO_OK; place->part++, place->offset = 0) {
        status = read_part(place, &log->log.parts[place->part], buffer, feed, context, error);
        if (status != PYRO_OK || place->part + 1 == log->log.part_count)
            break;
    }
    pyro_release(NULL, buffer);
    if (status == PYRO_OK) {
        const struct serve_log *before = place->log;
        place->log = pyro_serve_log_retain(log);
        pyro_serve_log_release(before);
    }
    return status;
}

void pyro_serve_place_done(struct serve_place *place)
{
    pyro_serve_log_release(place->log);
    *place = (struct serve_place){0};
}
