/* The part of a stream's file that is in memory. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/trace/ctf/ctf_reader.h"
#include "source/input.h"

/* -1 and errno: it cannot be opened, or a link leads out of the folder that it must lie in. */
static int open_inside(const struct pyro_ctf_stream *stream)
{
    int fd = pyro_open_regular(stream->path.ptr);
    if (fd < 0 || !stream->source->inside.ptr || pyro_lies_inside(fd, stream->source->inside))
        return fd;
    close(fd);
    errno = ELOOP;
    return -1;
}

int pyro_ctf_stream_open(struct pyro_ctf_stream *stream, bool keep_open, const struct pyro_allocator *allocator)
{
    struct stat status;
    int fd = open_inside(stream);
    stream->fd = -1;
    if (fd < 0)
        return errno;
    int failure = fstat(fd, &status) != 0 ? errno : 0;
    if (failure != 0 || !keep_open)
        close(fd);
    else
        stream->fd = fd;
    if (failure != 0)
        return failure;
    stream->size = (uint64_t)status.st_size;
    stream->capacity = stream->size < PYRO_CTF_WINDOW ? (size_t)stream->size : PYRO_CTF_WINDOW;
    stream->window = pyro_allocate(allocator, stream->capacity + PYRO_CTF_PADDING);
    if (!stream->window)
        return ENOMEM;
    memset(stream->window, 0, stream->capacity + PYRO_CTF_PADDING);
    stream->run.registers = pyro_allocate(allocator, stream->source->registers * sizeof(*stream->run.registers));
    if (!stream->run.registers)
        return ENOMEM;
    memset(stream->run.registers, 0, stream->source->registers * sizeof(*stream->run.registers));
    pyro_ctf_go_to(stream, 0);
    return 0;
}

void pyro_ctf_stream_close(struct pyro_ctf_stream *stream, const struct pyro_allocator *allocator)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
    pyro_release(allocator, stream->window);
    pyro_release(allocator, stream->run.registers);
    stream->window = NULL;
    stream->run.registers = NULL;
    stream->capacity = stream->filled = stream->origin = 0;
}

void pyro_ctf_go_to(struct pyro_ctf_stream *stream, uint64_t place)
{
    if (place >= stream->window_at && place - stream->window_at <= stream->filled) {
        stream->origin = (size_t)(place - stream->window_at);
    } else {
        stream->window_at = place;
        stream->filled = stream->origin = 0;
    }
    stream->run.data = stream->window + stream->origin;
    stream->run.at = 0;
}

bool pyro_ctf_set_limit(struct pyro_ctf_stream *stream, uint64_t content)
{
    uint64_t before = (stream->window_at + stream->origin - stream->packet.at) * 8; /* of the packet, not in the run */
    uint64_t here = (uint64_t)(stream->filled - stream->origin) * 8;
    uint64_t left = content > before ? content - before : 0;
    stream->run.limit = here < left ? here : left;
    return here < left;
}

/* How many bytes were read; 0: the end, or they cannot be read. */
static size_t read_piece(const struct pyro_ctf_stream *stream, unsigned char *to, size_t room, uint64_t place)
{
    int fd = stream->fd >= 0 ? stream->fd : open_inside(stream);
    ssize_t got = -1;
    if (fd < 0)
        return 0;
    do
        got = pread(fd, to, room, (off_t)place);
    while (got < 0 && errno == EINTR);
    if (stream->fd < 0)
        close(fd);
    return got > 0 ? (size_t)got : 0;
}

bool pyro_ctf_fill(struct pyro_ctf_stream *stream, uint64_t *from, bool *ret_more,
                   const struct pyro_allocator *allocator)
{
    size_t unneeded = (size_t)(*from / PYRO_CTF_ALIGN_MAX) * (PYRO_CTF_ALIGN_MAX / 8);
    size_t kept_from = stream->origin + unneeded;
    *ret_more = false;
    if (stream->window_at + stream->filled >= stream->size)
        return true;
    if (kept_from > 0) {
        memmove(stream->window, stream->window + kept_from, stream->filled - kept_from);
        stream->window_at += kept_from;
        stream->filled -= kept_from;
        stream->origin = 0;
        *from -= (uint64_t)unneeded * 8;
    }
    if (stream->filled == stream->capacity) {
        size_t capacity = stream->capacity * 2;
        unsigned char *window = NULL;
        if (capacity > PYRO_CTF_WINDOW_MAX)
            return true;
        window = pyro_reallocate(allocator, stream->window, capacity + PYRO_CTF_PADDING);
        if (!window)
            return false;
        stream->window = window;
        stream->capacity = capacity;
    }
    stream->run.data = stream->window;
    uint64_t left = stream->size - stream->window_at - stream->filled;
    size_t room = stream->capacity - stream->filled;
    size_t got = read_piece(stream, stream->window + stream->filled, left < room ? (size_t)left : room,
                            stream->window_at + stream->filled);
    stream->filled += got;
    memset(stream->window + stream->filled, 0, PYRO_CTF_PADDING);
    stream->source->facts.bytes += got;
    *ret_more = got > 0;
    return true;
}
