/* A member of an archive: read where it lies in a zip or tar archive or in the list's file, else by libarchive, which
 * goes through all before it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source/archives/archive_formats.h"
#include "source/archives/tar.h"
#include "source/archives/unpack.h"
#include "source/input.h"

static enum pyro_status seek_member(struct pyro_input *input, const struct pyro_log_part *part,
                                    enum pyro_archive_format format, struct pyro_error *error)
{
    struct archive_entry *entry = NULL;
    bool ended = false;
    while (pyro_archive_next(input->archive, &entry, &ended)) {
        if (part->check)
            PYRO_TRY(part->check->go_on(part->check->context, error));
        if (!pyro_slice_eq(part->member, pyro_archive_entry_name(entry, format)))
            continue;
        if (archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0)
            input->total = (uint64_t)archive_entry_size(entry);
        return PYRO_OK;
    }
    return pyro_error_set(error, PYRO_ERROR_INPUT, "cannot find the member %s of the archive: %s", part->member.ptr,
                          ended ? "the archive has changed" : pyro_archive_reason(input->archive));
}

static enum pyro_archive_format format_of(int fd)
{
    unsigned char head[PYRO_ARCHIVE_HEAD];
    const char *compressor;
    ssize_t len = pread(fd, head, sizeof(head), 0);
    enum pyro_archive_format format = pyro_archive_of_bytes(head, len > 0 ? (size_t)len : 0, &compressor);
    return format == PYRO_ARCHIVE_NONE ? PYRO_ARCHIVE_TAR : format; /* a compressed one */
}

/* Bytes that lie one after the other in a file. */
static bool open_range(struct pyro_input *input, int fd, uint64_t at, uint64_t bytes)
{
    input->range = (struct pyro_input_range){.fd = fd, .at = at, .left = bytes, .open = true};
    input->total = bytes;
    return true;
}

/* False: only libarchive can read it, by going through what is before it. */
static bool open_directly(struct pyro_input *input, const struct pyro_log_part *part)
{
    struct pyro_zip_record record;
    uint64_t bytes;
    if (input->owns_fd && part->place && pyro_tar_member_at(input->fd, part->member, part->place, &bytes))
        return open_range(input, input->fd, part->place, bytes);
    if (!input->owns_fd || !pyro_zip_find(input->fd, part->member, part->place, input->allocator, &record))
        return false;
    input->zip = pyro_zip_member_open(input->fd, &record, input->allocator);
    input->total = input->zip ? record.bytes : 0;
    return input->zip;
}

enum pyro_status pyro_member_open(struct pyro_input *input, const struct pyro_log_part *part, struct pyro_error *error)
{
    enum pyro_status status;
    if (part->unpacked) {
        open_range(input, part->unpacked->fd, part->unpacked->at, part->unpacked->bytes);
        return PYRO_OK;
    }
    input->fd = pyro_open_regular(part->path.ptr);
    input->owns_fd = input->fd >= 0;
    if (input->owns_fd && part->inside.ptr && !pyro_lies_inside(input->fd, part->inside)) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, PYRO_LEADS_OUT);
        pyro_error_at(error, part->path.ptr, UINT64_MAX);
        pyro_input_close(input);
        return PYRO_ERROR_INPUT;
    }
    if (open_directly(input, part))
        return PYRO_OK;
    int failure = errno;
    struct pyro_utf8_scope scope = pyro_utf8_enter();
    enum pyro_archive_format format = input->owns_fd ? format_of(input->fd) : PYRO_ARCHIVE_NONE;
    if (!input->owns_fd)
        status = pyro_error_set(error, PYRO_ERROR_INPUT, "cannot open: %s", strerror(failure));
    else if ((status = pyro_archive_open(input->fd, format, &input->archive, error)) == PYRO_OK)
        status = seek_member(input, part, format, error);
    pyro_utf8_leave(scope);
    if (status == PYRO_OK)
        return PYRO_OK;
    pyro_error_at(error, part->path.ptr, UINT64_MAX);
    pyro_input_close(input);
    return status;
}

/* A damaged member is an end, as damage inside a codec is. */
static void say_damage(struct pyro_input *input, const char *reason)
{
    snprintf(input->text, sizeof(input->text), "archive is damaged: %s", reason);
    input->damage = input->text;
}

static enum pyro_status read_range(struct pyro_input *input, void *buffer, size_t capacity, size_t *ret_len)
{
    struct pyro_input_range *range = &input->range;
    size_t wanted = range->left < capacity ? (size_t)range->left : capacity;
    ssize_t got;
    do {
        got = wanted ? pread(range->fd, buffer, wanted, (off_t)range->at) : 0;
    } while (got < 0 && errno == EINTR);
    if (got <= 0 && wanted > 0)
        say_damage(input, got < 0 ? strerror(errno) : "a member ends early");
    *ret_len = got > 0 ? (size_t)got : 0;
    range->at += *ret_len;
    range->left -= *ret_len;
    return PYRO_OK;
}

enum pyro_status pyro_member_read(struct pyro_input *input, void *buffer, size_t capacity, size_t *ret_len)
{
    const char *reason = NULL;
    if (input->damage)
        return PYRO_OK;
    if (input->range.open)
        return read_range(input, buffer, capacity, ret_len);
    if (input->zip) {
        *ret_len = pyro_zip_member_read(input->zip, buffer, capacity, &reason);
        if (reason)
            say_damage(input, reason);
        return PYRO_OK;
    }
    if (!pyro_archive_read(input->archive, &input->block, buffer, capacity, ret_len))
        say_damage(input, pyro_archive_reason(input->archive));
    return PYRO_OK;
}

void pyro_member_close(struct pyro_input *input)
{
    if (input->archive)
        archive_read_free(input->archive);
    pyro_zip_member_close(input->zip);
    input->archive = NULL;
    input->zip = NULL;
    input->range.open = false;
}
