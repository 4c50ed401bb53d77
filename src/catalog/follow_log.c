/* Following a log that is being written: what was read once is not read again. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "catalog/follow_log.h"
#include "catalog/log.h"

enum { PIECE_BYTES = 1 << 20 };

bool pyro_catalog_can_follow(const struct pyro_catalog_log *log)
{
    return log->log.in_progress && log->log.part_count > 0 && !log->log.compacted && log->log.missing_parts == 0 &&
           !log->log.parts[0].member.ptr;
}

static bool same_file(struct pyro_file_stamp a, struct pyro_file_stamp b)
{
    return a.device == b.device && a.inode == b.inode;
}

bool pyro_catalog_position_fits(const struct pyro_catalog_position *position, const struct pyro_catalog_log *log)
{
    const struct pyro_catalog_log *before = position->log;
    if (!before)
        return position->part == 0 && position->offset == 0;
    if (log->log.part_count < before->log.part_count)
        return false;
    for (size_t i = 0; i < before->log.part_count; i++)
        if (!same_file(before->stamps[i], log->stamps[i]) || log->stamps[i].bytes < before->stamps[i].bytes)
            return false;
    return true;
}

/* What follows the position in its part. */
static enum pyro_status read_part(struct pyro_catalog_position *position, const struct pyro_log_part *part,
                                  char *buffer, pyro_catalog_feed *feed, void *context, struct pyro_error *error)
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
        len = pread(fd, buffer, PIECE_BYTES, (off_t)position->offset);
        if (len < 0)
            status = pyro_error_set(error, PYRO_ERROR_INPUT, "cannot read: %s", strerror(errno));
        else if (len > 0)
            status = feed(context, buffer, (size_t)len, error);
        if (status == PYRO_OK)
            position->offset += (uint64_t)len;
    }
    if (status == PYRO_ERROR_INPUT)
        pyro_error_at(error, part->path.ptr, UINT64_MAX);
    pyro_reader_close(reader);
    return status;
}

enum pyro_status pyro_catalog_read_on(struct pyro_catalog_position *position, const struct pyro_catalog_log *log,
                                      pyro_catalog_feed *feed, void *context, struct pyro_error *error)
{
    char *buffer = pyro_allocate(NULL, PIECE_BYTES);
    if (!buffer)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to read a log");
    enum pyro_status status = PYRO_OK;
    for (; status == PYRO_OK; position->part++, position->offset = 0) {
        status = read_part(position, &log->log.parts[position->part], buffer, feed, context, error);
        if (status != PYRO_OK || position->part + 1 == log->log.part_count)
            break;
    }
    pyro_release(NULL, buffer);
    if (status == PYRO_OK) {
        const struct pyro_catalog_log *before = position->log;
        position->log = pyro_catalog_log_retain(log);
        pyro_catalog_log_release(before);
    }
    return status;
}

void pyro_catalog_position_done(struct pyro_catalog_position *position)
{
    pyro_catalog_log_release(position->log);
    *position = (struct pyro_catalog_position){0};
}
